"""An action: anything with an effect, in the journal from before it starts. The table of its moves.

What happened outside is found out elsewhere; here is only which words may follow which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from remit.core.faults import OurFault

ActionState = Literal[
    "planned",
    "authorized",
    "dispatched",
    "succeeded",
    "failed_without_effect",
    "outcome_unknown",
    "safe_to_retry",
    "needs_human_decision",
]

MOVES: Mapping[ActionState, frozenset[ActionState]] = {
    "planned": frozenset({"authorized", "failed_without_effect"}),
    "authorized": frozenset({"dispatched", "failed_without_effect"}),
    "dispatched": frozenset({"succeeded", "failed_without_effect", "outcome_unknown"}),
    "outcome_unknown": frozenset({"succeeded", "safe_to_retry", "needs_human_decision"}),
    # A human says what was found; or later content shows it.
    "needs_human_decision": frozenset({"succeeded", "failed_without_effect"}),
    "succeeded": frozenset(),
    "failed_without_effect": frozenset(),
    "safe_to_retry": frozenset(),
}

SETTLED: frozenset[ActionState] = frozenset(state for state, after in MOVES.items() if not after)


def move(state: ActionState, to: ActionState) -> ActionState:
    """`to`, if it may follow `state`; anything else is our bug."""
    if to not in MOVES[state]:
        raise OurFault("illegal_move", f"An action that is {state} cannot become {to}.")
    return to
