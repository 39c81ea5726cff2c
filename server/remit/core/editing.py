"""The editor's part of an apply: the edits that are sent, how to take them back, and in words what came of them.

Whole lines are replaced, never parts of one: every client takes those alike. When to send, and what follows, is
decided in `core/applying.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from remit.core import codec, diff, staleness
from remit.core.diff import Span
from remit.core.effects import BufferEdit
from remit.core.mirror import Buffer
from remit.core.proposal import FileChange, Proposal
from remit.core.text import Edit, Position, Range, split_lines
from remit.core.turn import Inflight, Turn

ANSWER, CONFIRM, QUIET = 30.0, 5.0, 1.0
"""Seconds: until the client must have answered; then until its buffer must show it; and of no typing beforehand, for a
client that does not compare versions."""


@dataclass(slots=True)
class Flight(Inflight):
    """`wanted`: the digest of each buffer once the edits are taken back; empty until that was asked for. `seen`: what
    they held when it was; `tries`: how often it was.

    `moving`: how far the editor is with deleting or renaming a file (see `core/moving.py`); `typed`: the digest of a
    text that was typed into it meanwhile. `recovered`: it was cut off in another session, and is only taken back.
    """

    wanted: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    tries: int = 0
    moving: Literal["", "due", "out", "edit", "back"] = ""
    typed: str = ""
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class Reversal:
    """Edits that take back what was put into some buffers, and the digest each then has."""

    edits: tuple[BufferEdit, ...]
    wanted: Mapping[str, str]


def edits(turn: Turn, proposal: Proposal, paths: Iterable[str]) -> tuple[BufferEdit, ...]:
    """What makes the promised text of these open files: one edit for each hunk."""
    chosen = set(paths)
    return tuple(
        replaced(turn, file.path, [hunk.span() for hunk in file.hunks])
        for file in proposal.files
        if file.path in chosen
    )


def replaced(turn: Turn, path: str, spans: Sequence[Span]) -> BufferEdit:
    """Spans of an open file's present text as edits of its present version."""
    buffer = turn.memory.mirror.buffers[path]
    last = buffer.text.end(turn.memory.mirror.encoding)

    def point(line: int) -> Position:
        return Position(line, 0) if line < buffer.text.line_count else last

    made = [Edit("".join(span.new), Range(point(span.old_start), point(span.old_end))) for span in spans]
    return BufferEdit(path, buffer.version, tuple(made))


def reversal(turn: Turn, proposal: Proposal, paths: Iterable[str]) -> Reversal | str:
    """How to take the agent's hunks back out of these open files and leave what was typed since; or why not."""
    made: list[BufferEdit] = []
    wanted: dict[str, str] = {}
    chosen = set(paths)
    for file in proposal.files:
        if file.path not in chosen:
            continue
        buffer = turn.memory.mirror.buffers.get(file.path)
        if buffer is None or buffer.charset is None or not buffer.trusted:
            return f"{file.path} is not open any more as it was"
        text, back = str(buffer.text), _without(turn, file, buffer)
        if back is None:
            return f"the same lines of {file.path} were edited meanwhile"
        wanted[file.path] = codec.digest(codec.encode(back, buffer.charset))
        if back != text:
            made.append(replaced(turn, file.path, diff.between(text, back)))
    return Reversal(tuple(made), wanted)


def quiet(turn: Turn, flight: Flight, paths: Iterable[str]) -> bool:
    """Whether an edit may be sent: a client that does not compare versions could put it beside what is being typed."""
    buffers = [turn.memory.mirror.buffers.get(path) for path in paths]
    return flight.guard != "verify-after" or all(b is None or turn.clock - b.changed_at >= QUIET for b in buffers)


def doubt(turn: Turn, flight: Inflight, paths: Sequence[str]) -> str:
    """Why it is not known what became of an edit: what the editor said, and how its texts differ from the promise."""
    if flight.answered is None:
        return "the editor did not answer"
    said = "applied" if flight.answered else f"not applied ({flight.said or 'no reason given'})"
    found = [difference for file in flight.proposal.files if file.path in paths if (difference := _differs(turn, file))]
    if not found:
        return f"the editor said {said}, but its text is not what that would mean"
    return f"the editor said {said}, but {'; '.join(found)}"


def _differs(turn: Turn, file: FileChange) -> str:
    buffer, promised = turn.memory.mirror.buffers.get(file.path), staleness.result_text(turn, file)
    if buffer is None or promised is None:
        return f"{file.path} is not open any more"
    text = str(buffer.text)
    if text == promised:
        return ""
    if text == staleness.base_text(turn, file.base, file.encoding()):
        return f"{file.path} still has the old text"
    for how, same in _HARMLESS:
        if same(text, promised):
            return f"{how} in {file.path}"
    count = len(diff.between(promised, text))
    return f"{file.path} differs from what was promised in {count} place{'s' * (count != 1)}"


def _bare(text: str, blanks: str = "") -> list[str]:
    return [line.rstrip("\r\n" + blanks) for line in split_lines(text)]


_HARMLESS: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("the editor changed line ends", codec.same_text),
    ("the editor added or took away the last line end", lambda one, two: _bare(one) == _bare(two)),
    ("the editor stripped trailing blanks", lambda one, two: _bare(one, " \t") == _bare(two, " \t")),
    ("the editor changed blanks or line breaks", lambda one, two: one.split() == two.split()),
)
"""What editors do to a text on their own: in words, and whether nothing but that lies between two texts."""


def _without(turn: Turn, file: FileChange, buffer: Buffer) -> str | None:
    """The buffer's text without the agent's hunks; None when they cannot be told from what was typed."""
    before, after = staleness.base_text(turn, file.base, file.encoding()), staleness.result_text(turn, file)
    if before is None or after is None:
        return None
    text = str(buffer.text)
    if text in (before, after):
        return before
    merged = diff.merge(after, text, before)
    return merged.text if isinstance(merged, diff.Merged) else None
