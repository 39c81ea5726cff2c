"""What a stale answer carries: what moved since the base, where it is now, and whether the change still fits.

Judging freshness is `core/snapshot.py`; here is only the account of it for whoever must go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from remit.core import codec, diff, movers
from remit.core.answers import ConflictView, StaleView
from remit.core.codec import Charset
from remit.core.faults import AgentFault, Fault, UserFault
from remit.core.fitting import Clash, fit
from remit.core.leaves import Frozen, apart
from remit.core.mirror import Held, grafted
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal
from remit.core.snapshot import Content, Fresh, Parted, Snapshot, Stale, Unknown, judge
from remit.core.text import frozen
from remit.core.turn import Turn

Rebase = Literal["clean", "conflict", "not_possible"]

DIFF_LIMIT = 16_000
"""Characters of a diff that an answer carries; a model that gets more reads the file again instead."""

REGIONS, LINES, WIDTH = 20, 40, 400
"""Regions of a conflict that an answer carries, lines of each side of one, and characters of a line."""

REMEDY = "Read the file again, and propose the change bound to the digest you are given."


def base_text(turn: Turn, binding: str, charset: Charset) -> str | None:
    """The text a change was made from, if its content was ever kept here."""
    if binding == ABSENT:
        return ""
    data = turn.content(binding)
    data = turn.blobs.get(binding) if data is None else data  # an empty content is one too
    try:
        return None if data is None else codec.decode_as(data, charset)
    except Fault:
        return codec.decode(data).text if data is not None else None


def describe(turn: Turn, snapshot: Snapshot, binding: str, result: str | None) -> StaleView:
    """Why a change bound to `binding`, leading to the text `result`, does not fit `snapshot`."""
    base = base_text(turn, binding, snapshot.charset)
    moved = "" if base is None else diff.unified(base, snapshot.text, snapshot.path, snapshot.path)
    rebase, clashes = _rebase(base, snapshot, result)
    return StaleView(
        path=snapshot.path,
        base=binding,
        current=snapshot.digest,
        origin=snapshot.source,
        diff=moved if len(moved) <= DIFF_LIMIT else moved[:DIFF_LIMIT] + "\n… (cut; read the file again)\n",
        moved_by=movers.since(turn, snapshot, binding),
        line_ends_only=base is not None and base != snapshot.text and codec.same_text(base, snapshot.text),
        rebase=rebase,
        conflicts=conflicts(clashes),
    )


def _rebase(base: str | None, snapshot: Snapshot, result: str | None) -> tuple[Rebase, tuple[Clash, ...]]:
    if base is None or result is None or snapshot.origin == "absent":
        return "not_possible", ()
    clashes = fit(diff.since(base, snapshot.text), diff.between(base, result)).clashes
    return "conflict" if clashes else "clean", clashes


def conflicts(clashes: Iterable[Clash]) -> tuple[ConflictView, ...]:
    """Both sides of each conflict, for whoever must go on; long ones are cut, and say so."""
    return tuple(_both(clash) for clash in [*clashes][:REGIONS])


def _both(clash: Clash) -> ConflictView:
    sides = (clash.base, clash.present, clash.proposed)
    base, present, proposed = (tuple(_short(side)) for side in sides)
    return ConflictView(
        base_line=clash.base_start + 1,
        base=base,
        line=clash.present_start + 1,
        present=present,
        proposed=proposed,
        cut=(base, present, proposed) != sides,
    )


def _short(lines: tuple[str, ...]) -> Iterator[str]:
    yield from (line if len(line) <= WIDTH else line[:WIDTH] + "…" for line in lines[:LINES])


@dataclass(frozen=True, slots=True)
class Moved:
    """A file of a proposal that is not what it was made from any more."""

    base: str
    snapshot: Snapshot
    charset: Charset
    rebase: Rebase
    clashes: tuple[Clash, ...] = ()


def moves(turn: Turn, proposal: Proposal) -> tuple[Moved, ...]:
    """The files of a proposal that are not what it was made from. Empty when all is fresh. Cheap: asked with each
    keystroke, for everything that waits."""
    found = []
    for file in proposal.files:
        snapshot = turn.glance(file.origin)
        if isinstance(judge(snapshot, file.base if file.op != "create" else ABSENT), Stale):
            found.append(Moved(file.base, snapshot, file.encoding(), *_fits(turn, file, snapshot)))
        elif file.op == "rename" and (there := turn.glance(file.path)).digest != ABSENT:
            found.append(Moved(ABSENT, there, file.encoding(), "not_possible"))
    return tuple(found)


def _fits(turn: Turn, file: FileChange, snapshot: Snapshot) -> tuple[Rebase, tuple[Clash, ...]]:
    """As `_rebase`, from the changed lines alone."""
    charset = shared_charset(file, snapshot)
    since, changes = moved(turn, file.base, charset, snapshot), spans(turn, file, charset)
    if since is None or changes is None or file.result == ABSENT or snapshot.origin == "absent":
        return "not_possible", ()
    if clashes := fit(since, changes).clashes:
        return "conflict", clashes
    return "clean" if file.op == "modify" and holds(snapshot.charset, file, charset) else "not_possible", ()


def spans(turn: Turn, file: FileChange, charset: Charset) -> list[diff.Span] | None:
    """The changes of its hunks, read in a charset; None where they are not the same ones there."""
    if charset == file.encoding() or file.result == ABSENT:
        return [hunk.span() for hunk in file.hunks]
    base, result = base_text(turn, file.base, charset), result_text(turn, file, charset)
    spans = None if base is None or result is None else list(diff.between(base, result))
    return spans if spans is not None and len(spans) == len(file.hunks) else None


def holds(charset: Charset, file: FileChange, read: Charset) -> bool:
    """Whether the new lines of a change, read in `read`, mean the same in the encoding that the file has now."""
    same = charset.name in (file.charset, read.name)
    return same or all(line.isascii() for hunk in file.hunks for line in hunk.new)


def moved(turn: Turn, base: str, charset: Charset, snapshot: Snapshot) -> tuple[diff.Span, ...] | None:
    """The lines that changed between a content and what is there now; None when that content was never kept here."""

    def compare() -> tuple[diff.Span, ...]:
        before = _lines(turn, base, charset, snapshot.content)
        if before is None:
            raise LookupError(base)  # not remembered: it may be kept later
        return _between(before, snapshot.lines)

    try:
        return turn.memory.moved.get((base, charset, snapshot.lines), compare)
    except LookupError:
        return None


def _lines(turn: Turn, base: str, charset: Charset, now: Content) -> Frozen | None:
    """The lines of a base, sharing what they have in common with the buffer they are compared with."""
    known = now.known.get(base) if isinstance(now, Held) and now.charset == charset else None
    if known is not None:
        return known
    before = base_text(turn, base, charset)
    if before is None or not isinstance(now, Held):
        return None if before is None else frozen(before)
    made = grafted(now.lines, before)
    now.check(base, made)
    return made


def _between(old: Frozen, new: Frozen) -> tuple[diff.Span, ...]:
    """The changed lines, from the parts that the two do not share."""
    spans: list[diff.Span] = []
    for gap in apart(old, new):
        one, two = old[gap.start : gap.end], new[gap.other_start : gap.other_end]
        if gap.end == len(old):
            # What LSP counts as a last, empty line is no line of a change.
            one, two = (lines[:-1] if lines and not lines[-1] else lines for lines in (one, two))
        for span in diff.spans(one, two):
            start, new_start = span.old_start + gap.start, span.new_start + gap.other_start
            spans.append(replace(span, old_start=start, new_start=new_start))
    return tuple(spans)


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
        moved_by=movers.since(turn, move.snapshot, move.base),
        line_ends_only=line_ends_only,
        rebase=move.rebase,
        conflicts=conflicts(move.clashes),
    )


def result_text(turn: Turn, file: FileChange, charset: Charset | None = None) -> str | None:
    if file.result == ABSENT:
        return None
    return codec.decode_as(turn.kept(file.result), charset or file.encoding())


def guessed(snapshot: Snapshot) -> bool:
    """Whether nothing proves how this text is written: not its bytes, and no editor that has it open."""
    name = snapshot.charset.name
    return name == codec.OPAQUE.name or (name in codec.GUESSED and snapshot.origin != "buffer")


def shared_charset(file: FileChange, snapshot: Snapshot) -> Charset:
    """How to read a change's own contents so that its lines can be merged into what is there now.

    A guess reads any bytes, and differently for other bytes: two guesses in one merge would write what nobody wrote.
    """
    own, now = file.encoding(), snapshot.charset
    both = own.name in codec.GUESSED and now.name in codec.GUESSED
    return now if both or now.name == codec.OPAQUE.name else own


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
