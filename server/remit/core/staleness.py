"""What a stale answer carries: what moved since the base, where it is now, and whether the change still fits.

Judging freshness is `core/snapshot.py`; here is only the account of it for whoever must go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from remit.core import codec, diff
from remit.core.answers import StaleView
from remit.core.codec import Charset
from remit.core.faults import AgentFault, Fault, UserFault
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal
from remit.core.snapshot import Fresh, Parted, Snapshot, Stale, Unknown, judge
from remit.core.text import split_lines
from remit.core.turn import Turn

Rebase = Literal["clean", "conflict", "not_possible"]

DIFF_LIMIT = 16_000
"""Characters of a diff that an answer carries; a model that gets more reads the file again instead."""

REMEDY = "Read the file again, and propose the change bound to the digest you are given."


def base_text(turn: Turn, binding: str, charset: Charset) -> str | None:
    """The text a change was made from, if its content was ever kept here."""
    if binding == ABSENT:
        return ""
    data = turn.content(binding)
    data = turn.blobs.get(binding) if data is None else data
    try:
        return None if data is None else codec.decode_as(data, charset)
    except Fault:
        return codec.decode(data).text if data is not None else None


def describe(turn: Turn, snapshot: Snapshot, binding: str, result: str | None) -> StaleView:
    """Why a change bound to `binding`, leading to the text `result`, does not fit `snapshot`."""
    base = base_text(turn, binding, snapshot.charset)
    moved = "" if base is None else diff.unified(base, snapshot.text, snapshot.path, snapshot.path)
    return StaleView(
        path=snapshot.path,
        base=binding,
        current=snapshot.digest,
        origin=snapshot.source,
        diff=moved if len(moved) <= DIFF_LIMIT else moved[:DIFF_LIMIT] + "\n… (cut; read the file again)\n",
        line_ends_only=base is not None and base != snapshot.text and codec.same_text(base, snapshot.text),
        rebase=_rebase(base, snapshot, result),
    )


def _rebase(base: str | None, snapshot: Snapshot, result: str | None) -> Rebase:
    if base is None or result is None or snapshot.origin == "absent":
        return "not_possible"
    merged = diff.merge(base, snapshot.text, result)
    return "clean" if isinstance(merged, diff.Merged) else "conflict"


@dataclass(frozen=True, slots=True)
class Moved:
    """A file of a proposal that is not what it was made from any more."""

    base: str
    snapshot: Snapshot
    charset: Charset
    rebase: Rebase


def moves(turn: Turn, proposal: Proposal) -> tuple[Moved, ...]:
    """The files of a proposal that are not what it was made from. Empty when all is fresh. Cheap: asked with each
    keystroke, for everything that waits."""
    found = []
    for file in proposal.files:
        snapshot = turn.glance(file.origin)
        if isinstance(judge(snapshot, file.base if file.op != "create" else ABSENT), Stale):
            found.append(Moved(file.base, snapshot, file.encoding(), _fits(turn, file, snapshot)))
        elif file.op == "rename" and (there := turn.glance(file.path)).digest != ABSENT:
            found.append(Moved(ABSENT, there, file.encoding(), "not_possible"))
    return tuple(found)


def _fits(turn: Turn, file: FileChange, snapshot: Snapshot) -> Rebase:
    """As `_rebase`, from the changed lines alone."""
    since = moved(turn, file.base, file.encoding(), snapshot)
    if since is None or file.result == ABSENT or snapshot.origin == "absent":
        return "not_possible"
    if not diff.joins(since, [hunk.span() for hunk in file.hunks]):
        return "conflict"
    return "clean" if file.op == "modify" else "not_possible"


def moved(turn: Turn, base: str, charset: Charset, snapshot: Snapshot) -> tuple[diff.Span, ...] | None:
    """The lines that changed between a content and what is there now; None when that content was never kept here."""

    def compare() -> tuple[diff.Span, ...]:
        before = base_text(turn, base, charset)
        if before is None:
            raise LookupError(base)  # not remembered: it may be kept later
        return diff.spans(split_lines(before), turn.lines(snapshot))

    try:
        return turn.memory.moved.get((base, snapshot.digest), compare)
    except LookupError:
        return None


def views(turn: Turn, proposal: Proposal) -> tuple[StaleView, ...]:
    """For each file of a proposal that is not what it was made from: what moved. Empty when all is fresh."""
    return tuple(_told(turn, move) for move in moves(turn, proposal))


def _told(turn: Turn, move: Moved) -> StaleView:
    path, current = move.snapshot.path, move.snapshot.digest

    def tell() -> tuple[str, bool]:
        view = describe(turn, move.snapshot, move.base, None)
        return view.diff, view.line_ends_only

    said, line_ends_only = turn.memory.told.get((path, move.base, current), tell)
    return StaleView(
        path=path,
        base=move.base,
        current=current,
        origin=move.snapshot.source,
        diff=said,
        line_ends_only=line_ends_only,
        rebase=move.rebase,
    )


def result_text(turn: Turn, file: FileChange) -> str | None:
    if file.result == ABSENT:
        return None
    return codec.decode_as(turn.kept(file.result), file.encoding())


def is_fresh(turn: Turn, proposal: Proposal) -> bool:
    """Whether every file still is what the proposal was made from, and no buffer has parted from its disk."""
    return all(isinstance(judge(turn.glance(file.origin), file.base), Fresh) for file in proposal.files) and all(
        turn.glance(file.path).digest == ABSENT for file in proposal.files if file.op == "rename"
    )


def doubt(turn: Turn, proposal: Proposal) -> str:
    """Why nothing can be said of a file of a proposal now; empty when there is no doubt."""
    try:
        for file in proposal.files:
            demand_known(turn.glance(file.origin), file.base, AgentFault)
    except AgentFault as fault:
        return fault.message
    return ""


def demand_known(snapshot: Snapshot, binding: str, party: type[AgentFault] | type[UserFault]) -> None:
    """Refuse a file whose content is in doubt. Faults: buffer_unknown, disk_conflict."""
    match judge(snapshot, binding):
        case Unknown():
            raise party(
                "buffer_unknown",
                f"The editor has {snapshot.path} open, but what is in it is not known for certain.",
                remedy="Close the file and open it again in the editor.",
                path=snapshot.path,
            )
        case Parted(buffer, disk):
            raise party(
                "disk_conflict",
                f"{snapshot.path} was changed on disk while it is open in the editor with other text.",
                remedy="Nothing is applied until the human has saved or reloaded it in the editor.",
                path=snapshot.path,
                buffer=buffer,
                disk=disk,
            )
        case Fresh() | Stale():
            return
