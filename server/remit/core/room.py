"""How much may wait for one human: caps on what agents put before them, so that nothing drowns what matters.

What a single patch may hold is `core/patch.py`'s; budgets of a task are not here.
"""

from __future__ import annotations

from remit.core.faults import AgentFault
from remit.core.turn import Turn

QUESTIONS = 50
"""Decisions that agents have asked for and that wait."""
QUESTIONS_EACH = 20
"""The same for one agent."""
PROPOSALS = 2_000
"""Proposals that wait for review."""
ALONG = 20
"""Proposals that move along with what the human types in one pause, without being asked to."""
ALONG_BYTES = 4_000_000
"""Bytes of the texts that one pause makes anew that way."""
ALONG_EACH = 50
"""How often the same proposal is made anew that way; after that it waits to be asked."""
PROTECTED = 20
"""Paths of one proposal that need a yes of their own."""
FILES = 2_000
HUNKS = 10_000
"""Files and hunks of one proposal."""


def demand_question(turn: Turn, agent: str) -> None:
    """Room for one more decision that this agent asks for. AgentFault("too_many_open")."""
    waiting = [entry.asked.agent for entry in turn.state.pending_decisions() if entry.asked.agent is not None]
    if len(waiting) >= QUESTIONS or waiting.count(agent) >= QUESTIONS_EACH:
        raise _full("decisions", len(waiting))


def demand_proposal(turn: Turn) -> None:
    """Room for one more proposal. AgentFault("too_many_open")."""
    if (waiting := len(turn.state.open_proposals())) >= PROPOSALS:
        raise _full("proposals", waiting)


def demand_size(files: int, hunks: int = 0, protected: int = 0) -> None:
    """A proposal that a human can review. AgentFault("too_many_changes")."""
    for what, count, limit in (
        ("files", files, FILES),
        ("hunks", hunks, HUNKS),
        ("protected paths", protected, PROTECTED),
    ):
        if count > limit:
            raise AgentFault(
                "too_many_changes",
                f"The proposal has {count} {what}; {limit} can be reviewed together.",
                remedy="Send it in parts.",
                count=count,
                limit=limit,
            )


def _full(what: str, waiting: int) -> AgentFault:
    return AgentFault(
        "too_many_open",
        f"{waiting} {what} wait for the human already.",
        remedy="Wait for the answers before you ask for more.",
        waiting=waiting,
    )
