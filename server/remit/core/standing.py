"""Whether an applied change is still there: by the digests, else line by line in the present text.

A change that was applied and is not in the file any more is no evidence of anything. Who changed it is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from remit.core import codec, diff
from remit.core.entries import ActionEntry
from remit.core.events import Target
from remit.core.faults import Fault
from remit.core.proposal import FileChange, Hunk
from remit.core.snapshot import Snapshot
from remit.core.turn import Turn


def gone(turn: Turn, entry: ActionEntry) -> tuple[str, ...]:
    """The targets of a succeeded apply that do not hold all of it any more, or that cannot be looked at."""
    files = {file.path: file for file in turn.proposal(entry.plan.subject).files}
    return tuple(t.path for t in entry.plan.targets if not _holds(turn, entry, t, files.get(t.path)))


def unsaved(turn: Turn, entry: ActionEntry) -> tuple[str, ...]:
    """The targets that hold it only in the editor."""
    return tuple(t.path for t in entry.plan.targets if (look := _look(turn, t.path)) and not look.clean)


def _holds(turn: Turn, entry: ActionEntry, target: Target, file: FileChange | None) -> bool:
    later = next(_later(turn, entry, target.path), None)
    if later is not None and later.before == target.after:
        return True  # what was accepted next was made from it
    if later is None:
        look = _look(turn, target.path)
        if look is None or look.is_named(target.after):
            return look is not None
        present = look.text
    else:
        present = "" if file is None else _text(turn, later.before, file)
    if file is None or file.op != "modify":
        return False
    moved = diff.since(_text(turn, target.after, file), present)
    return not any(_touched(hunk, span) for hunk in file.hunks for span in moved)


def _later(turn: Turn, entry: ActionEntry, path: str) -> Iterator[Target]:
    """The same file in what was applied afterwards, in order."""
    names = list(turn.state.actions)
    for name in names[names.index(entry.plan.action) + 1 :]:
        other = turn.state.actions[name]
        if other.plan.kind == "apply" and other.state == "succeeded":
            yield from (target for target in other.plan.targets if target.path == path)


def _touched(hunk: Hunk, span: diff.Span) -> bool:
    """Whether a later change took away from a hunk; one that deleted lines is undone by an insertion at its place."""
    start, end = hunk.new_start, hunk.new_start + len(hunk.new)
    if start == end:
        return span.old_start <= start <= span.old_end
    return span.old_start < end and span.old_end > start


def _look(turn: Turn, path: str) -> Snapshot | None:
    try:
        look = turn.look(path)
    except Fault:
        return None
    return look if look.trusted else None


def _text(turn: Turn, digest: str, file: FileChange) -> str:
    try:
        return codec.decode_as_or(turn.kept(digest), file.encoding())
    except Fault:
        return ""
