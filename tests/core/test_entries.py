"""`core.entries`: what can be told from one entry, and that what is over weighs on nothing."""

from __future__ import annotations

from typing import get_args

import pytest

from remit.core.entries import living
from remit.core.proposal import CLOSED, MOVES, OPEN, ProposalState


def test_what_is_over_is_dropped_and_the_rest_keeps_its_order() -> None:
    known = {name: name for name in "abcd"}
    names = dict.fromkeys("dbca")
    asked: list[str] = []

    def over(entry: str) -> bool:
        asked.append(entry)
        return entry in "bc"

    assert living(names, known, over) == ["d", "a"]
    assert living(names, known, over) == ["d", "a"]
    assert asked == ["d", "b", "c", "a", "d", "a"], "what was over is not asked about again"


@pytest.mark.parametrize("state", get_args(ProposalState))
def test_a_proposal_is_over_exactly_when_no_move_leads_back(state: ProposalState) -> None:
    reached, waiting = set[ProposalState](), [state]
    while waiting:
        here = waiting.pop()
        reached.add(here)
        waiting += [after for (before, _), after in MOVES.items() if before == here and after not in reached]
    assert (state in CLOSED) == (not reached & OPEN)
