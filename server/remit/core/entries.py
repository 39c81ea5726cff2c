"""The entries that the journal adds up to: one for each proposal, action, decision and agent, with its evidence.

Values and what can be told from one alone. How they come to be and change is `state`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from remit.core import events as e
from remit.core.action import ActionState
from remit.core.proposal import OPEN, ProposalState

HunkState = Literal["pending", "applied", "rejected", "replaced", "undone"]


@dataclass(slots=True)
class ProposalEntry:
    outline: e.Proposed
    state: ProposalState = "pending"
    reason: str = ""
    replaced_by: tuple[str, ...] = ()
    unseen: bool = False
    seqs: list[int] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Whether the human can decide it. A part and an undo live only while they are applied."""
        return self.state in OPEN and self.outline.made not in ("part", "undo")


@dataclass(slots=True)
class ActionEntry:
    plan: e.ActionPlanned
    state: ActionState = "planned"
    reason: str = ""
    found: dict[str, str] = field(default_factory=dict)
    finished: e.CheckFinished | None = None
    at: str = ""
    seqs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class DecisionEntry:
    asked: e.DecisionAsked
    state: Literal["pending", "answered", "withdrawn"] = "pending"
    option: str = ""
    text: str = ""
    reason: str = ""
    by: str = ""
    offer: str = ""
    at: str = ""
    seqs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AgentEntry:
    name: str
    version: str
    process: int | None
    task: str | None = None


T = TypeVar("T")


def living(names: dict[str, None], known: Mapping[str, T], over: Callable[[T], bool]) -> list[T]:
    """The entries by these names that are not over for good; the others are dropped from the names.

    Asked with each keystroke: it costs what is under way, not what has ever been.
    """
    for name in [name for name in names if over(known[name])]:
        del names[name]
    return [known[name] for name in names]
