"""A proposal: file changes, each bound to the content it was made from, and the hunks a human decides on.

Pure values and the table of moves. Placing a patch is `core/place.py`; who may accept is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from remit.core import diff
from remit.core.codec import Charset
from remit.core.faults import OurFault
from remit.core.model import Binding, Model, fingerprint

ProposalState = Literal[
    "pending",
    "accepted",
    "applied",
    "undone",
    "rejected",
    "superseded",
    "withdrawn",
    "failed_without_effect",
    "outcome_unknown",
]
Move = Literal["accept", "reject", "supersede", "withdraw", "apply", "fail", "lose", "undo"]

MOVES: Mapping[tuple[ProposalState, Move], ProposalState] = {
    ("pending", "accept"): "accepted",
    ("pending", "reject"): "rejected",
    ("pending", "supersede"): "superseded",
    ("pending", "withdraw"): "withdrawn",
    ("accepted", "apply"): "applied",
    ("accepted", "fail"): "failed_without_effect",
    ("accepted", "lose"): "outcome_unknown",
    ("applied", "undo"): "undone",
    ("outcome_unknown", "apply"): "applied",
    ("outcome_unknown", "fail"): "failed_without_effect",
    # Nothing happened, so the human may try again, or decide otherwise.
    ("failed_without_effect", "accept"): "accepted",
    ("failed_without_effect", "reject"): "rejected",
    ("failed_without_effect", "supersede"): "superseded",
    ("failed_without_effect", "withdraw"): "withdrawn",
}

OPEN: frozenset[ProposalState] = frozenset({"pending", "failed_without_effect"})
"""States in which the human can still decide. Stale is not a state: it comes and goes with the content."""

CLOSED: frozenset[ProposalState] = frozenset({"applied", "undone", "rejected", "superseded", "withdrawn"})
"""States from which no move leads back to an open one."""


def move(state: ProposalState, by: Move) -> ProposalState:
    """The state after a move; an illegal move is our bug."""
    after = MOVES.get((state, by))
    if after is None:
        raise OurFault("illegal_move", f"A proposal that is {state} cannot {by}.")
    return after


Made = Literal["agent", "part", "rest", "rebase", "amend", "undo", "remit"]


class Hunk(Model):
    """The smallest part that can be decided alone. Lines are 0-based and keep their ends."""

    id: str
    old_start: int
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]
    placed: str = "exact"
    was: str | None = Field(default=None, description="The hunk of the older proposal that a rebase made it from.")

    def span(self) -> diff.Span:
        return diff.Span(self.old_start, self.old, self.new_start, self.new)


class FileChange(Model):
    """What happens to one file. `base` is the digest it is bound to, `result` the one it leads to.

    A create and a rename are bound to an absent `path`; a rename is bound to `base` at `source`.
    """

    path: str
    op: Literal["create", "modify", "delete", "rename"]
    source: str | None = None
    base: Binding
    result: Binding
    hunks: tuple[Hunk, ...] = Field(description="At least one; a change that cannot be divided has exactly one.")
    executable: bool | None = None
    copy_of: str | None = Field(default=None, description="Where the text of a new file was taken from.")
    kept: tuple[Literal["bom", "line_ends"], ...] = Field(
        default=(), description="What of the file's form stays although the text that was sent has another."
    )
    charset: str = "utf-8"
    bom: str = Field(default="", description="The byte order mark in hex.")

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What nothing was said of is left out: the digests of proposals made before there was a word for it stand."""
        value: dict[str, Any] = write(self)
        unsaid = ["kept"] * (not self.kept) + ["copy_of", "copyOf"] * (self.copy_of is None)
        return {key: found for key, found in value.items() if key not in unsaid}

    def encoding(self) -> Charset:
        return Charset(self.charset, bytes.fromhex(self.bom))

    @property
    def origin(self) -> str:
        """The path whose content `base` names."""
        return self.source or self.path

    @property
    def divisible(self) -> bool:
        return self.op == "modify" and len(self.hunks) > 1

    def touches(self) -> tuple[str, ...]:
        return (self.path,) if self.source is None else (self.source, self.path)

    def text(self, base: str) -> str:
        """The text after the change, from the text before; OurFault when `base` is not that text."""
        return diff.apply(base, [hunk.span() for hunk in self.hunks])


class Proposal(Model):
    """A set of file changes that is reviewed together."""

    id: str
    task: str
    agent: str
    note: str = ""
    files: tuple[FileChange, ...]
    contract: str = Field(description="Digest of the contract it was made under.")
    policy: str = Field(description="Digest of the policy it was made under.")
    parent: str | None = None
    made: Made = Field(
        default="agent",
        description="By the agent; by the human: an amended or taken back one; by Remit: a part, the rest, a rebase, "
        "a contract change.",
    )

    def digest(self) -> str:
        """What an approval binds to, besides the contract and the policy in force."""
        return fingerprint([_text(self.model_dump(mode="json", exclude=_LINEAGE))])

    def body(self) -> bytes:
        """All of it as ASCII; `parse` is the inverse."""
        return _text(self.model_dump(mode="json")).encode()

    @classmethod
    def parse(cls, body: bytes) -> Proposal:
        return cls.model_validate(json.loads(body))

    def hunks(self) -> Iterator[tuple[FileChange, Hunk]]:
        for file in self.files:
            for hunk in file.hunks:
                yield file, hunk

    def hunk(self, hunk_id: str) -> tuple[FileChange, Hunk] | None:
        return next(((file, hunk) for file, hunk in self.hunks() if hunk.id == hunk_id), None)

    def touches(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for file in self.files for path in file.touches()))


_LINEAGE: Any = {"id": True, "note": True, "parent": True, "made": True}
_LINEAGE |= {"files": {"__all__": {"hunks": {"__all__": {"was"}}}}}
"""What a proposal is called and where it comes from: no part of what it does."""


def _text(value: Mapping[str, Any]) -> str:
    """JSON in ASCII: lines of a file in no known encoding hold half characters, which UTF-8 JSON cannot say."""
    return json.dumps(value, sort_keys=True)


def hunks_of(prefix: str, spans: tuple[diff.Span, ...], first: int = 1, placed: str = "exact") -> tuple[Hunk, ...]:
    """The hunks of a file change, named `prefix.1`, `prefix.2`, …"""
    return tuple(
        Hunk(
            id=f"{prefix}.{number}",
            old_start=span.old_start,
            old=span.old,
            new_start=span.new_start,
            new=span.new,
            placed=placed,
        )
        for number, span in enumerate(spans, first)
    )


def keep(change: FileChange, chosen: Collection[str], result: str) -> FileChange:
    """The change with only the chosen hunks, on the same base; `result` is the digest it then leads to."""
    hunks, moved = [], 0
    for hunk in change.hunks:
        if hunk.id in chosen:
            hunks.append(hunk.model_copy(update={"new_start": hunk.old_start + moved}))
            moved += len(hunk.new) - len(hunk.old)
    return change.model_copy(update={"hunks": tuple(hunks), "result": result})


def rebind(change: FileChange, done: Collection[str], base: str) -> FileChange:
    """The change without the hunks in `done`, bound to the content (`base`) in which those are applied.

    Exact: the end result is the same text, and every remaining hunk moves by what the applied ones added before it.
    """
    hunks, moved = [], 0
    for hunk in change.hunks:
        if hunk.id in done:
            moved += len(hunk.new) - len(hunk.old)
        else:
            hunks.append(hunk.model_copy(update={"old_start": hunk.old_start + moved}))
    return change.model_copy(update={"hunks": tuple(hunks), "base": base})
