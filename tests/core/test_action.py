"""The moves of an action: every pair of states is either in the table or refused."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from remit.core.action import MOVES, SETTLED, ActionState, move
from remit.core.faults import OurFault

STATES: tuple[ActionState, ...] = get_args(ActionState)


def test_the_table_names_every_state_and_no_other() -> None:
    assert set(MOVES) == set(STATES)
    assert {to for after in MOVES.values() for to in after} <= set(STATES)


@pytest.mark.parametrize(("state", "to"), list(product(STATES, STATES)))
def test_a_move_is_in_the_table_or_a_bug(state: ActionState, to: ActionState) -> None:
    if to in MOVES[state]:
        assert move(state, to) == to
    else:
        with pytest.raises(OurFault, match="cannot become"):
            move(state, to)


def reachable(start: ActionState, without: ActionState) -> set[ActionState]:
    found, pending = {start}, [start]
    while pending:
        for after in MOVES[pending.pop()] - found - {without}:
            found.add(after)
            pending.append(after)
    return found


def test_nothing_succeeds_that_was_not_authorized_and_dispatched() -> None:
    assert "succeeded" not in reachable("planned", "authorized")
    assert "succeeded" not in reachable("planned", "dispatched")


def test_every_state_has_a_way_to_an_end() -> None:
    assert {"succeeded", "failed_without_effect", "safe_to_retry"} == SETTLED
    nowhere: ActionState = "planned"
    assert all(reachable(state, nowhere) & SETTLED for state in STATES if state != nowhere)


def test_what_is_unknown_is_never_simply_failed() -> None:
    assert "failed_without_effect" not in MOVES["outcome_unknown"]
    assert "dispatched" not in {to for state in ("outcome_unknown", "needs_human_decision") for to in MOVES[state]}
