"""The editor's text as LSP means it: lines, positions and edits.

Lines end at `\\n`, `\\r\\n` and `\\r` and nowhere else; a position counts code units of the encoding that client and
server agreed on (LSP 3.18, "Text Documents"). `Text` is the mirror of one open buffer.

Does not know bytes, digests or files (`codec` does), nor versions and trust: whoever owns the mirror keeps those.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import Literal, assert_never

from remit.core.faults import WorldFault
from remit.core.leaves import Frozen, Lines

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]

WIDEST: dict[PositionEncoding, int] = {"utf-8": 4, "utf-16": 2, "utf-32": 1}  # code units one character can take


@dataclass(frozen=True, order=True, slots=True)
class Position:
    """Zero-based line, and code units from its start (which code units, the encoding says)."""

    line: int
    character: int


@dataclass(frozen=True, order=True, slots=True)
class Range:
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of `range`; without a range, in the place of the whole text."""

    text: str
    range: Range | None = None


class Text:
    """One buffer, edited in place. An edit costs the lines it touches, whatever the size of the text.

    Positions past the end of a line mean the place before its line end, lines past the last mean the end of the text,
    and a position inside a character means that character's start. A range or position that no text could have
    raises `WorldFault("bad_range")` and changes nothing: the client and this mirror have parted.
    """

    __slots__ = ("_lines",)

    # Joined, the lines are the text. Each has its line end, but for the last, which never has one and may be empty.
    _lines: Lines

    def __init__(self, text: str) -> None:
        self._lines = Lines(_counted_lines(text))

    def __str__(self) -> str:
        return str(self.freeze())

    def freeze(self) -> Frozen:
        """How the text stands now, with an empty last line where LSP counts one; the same object until it changes."""
        return self._lines.freeze()

    @property
    def line_count(self) -> int:
        """How many lines LSP counts: one more than there are line ends."""
        return len(self._lines)

    def line(self, index: int) -> str:
        """The line with its line end ("" for an empty last one). `IndexError` outside `0 <= index < line_count`."""
        return self._lines[index]

    def edit(self, edit: Edit, encoding: PositionEncoding) -> None:
        """Make one change of a `didChange` list; the list's changes are made one after the other."""
        if edit.range is None:
            self._lines.become(_counted_lines(edit.text))
            return
        start, end = edit.range.start, edit.range.end
        if start > end:
            raise _bad_range("A change starts after its own end.", start, end)
        top, left, first = self._resolve(start, encoding)
        bottom, right, last = (top, left, first) if start == end else self._resolve(end, encoding)
        piece = first[:left] + edit.text + last[right:]
        if top > 0 and piece.startswith("\n") and (before := self._lines[top - 1]).endswith("\r"):
            # The carriage return that ended the line before has just become the first half of "\r\n".
            top -= 1
            piece = before + piece
        reaches_end = bottom == len(self._lines) - 1
        self._lines.splice(top, bottom + 1, _counted_lines(piece) if reaches_end else split_lines(piece))

    def offset(self, position: Position, encoding: PositionEncoding) -> int:
        """How many characters (code points) of the text lie before `position`."""
        line, column, _ = self._resolve(position, encoding)
        return sum(map(len, islice(self.freeze(), line))) + column

    def position(self, line: int, column: int, encoding: PositionEncoding) -> Position:
        """The position of the character `column` (code points) of `line`, clamped like any position."""
        line, column, whole = self._resolve(Position(line, column), "utf-32")
        return Position(line, _units(whole[:column], encoding))

    def end(self, encoding: PositionEncoding) -> Position:
        """The position after the last character."""
        last = len(self._lines) - 1
        return Position(last, _units(self._lines[last], encoding))

    def _resolve(self, position: Position, encoding: PositionEncoding) -> tuple[int, int, str]:
        """Line and column in code points, both inside the text, and the line itself."""
        if position.line < 0 or position.character < 0:
            raise _bad_range("A position lies before the text.", position, position)
        if position.line >= len(self._lines):
            last = len(self._lines) - 1
            line = self._lines[last]
            return last, len(line), line
        line = self._lines[position.line]
        return position.line, _column(line, position.character, encoding), line


def frozen(text: str) -> Frozen:
    """The lines of a text that nobody edits, as LSP counts them."""
    return Text(text).freeze()


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their line ends; joined they are `text`. A final line end opens no further line."""
    # newline="" is Python's "universal newlines, untranslated": exactly LSP's three line ends, in C.
    return StringIO(text, newline="").readlines()


def _counted_lines(text: str) -> list[str]:
    """The lines as LSP counts them: after a final line end comes one more, empty line."""
    lines = split_lines(text)
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def _column(line: str, units: int, encoding: PositionEncoding) -> int:
    """The code point column of a code unit column, at most the place before the line end."""
    limit = len(line.removesuffix("\n").removesuffix("\r"))
    if line.isascii() or encoding == "utf-32":
        return min(units, limit)
    column, widest = 0, WIDEST[encoding]
    while column < limit and units >= widest:
        # So many characters fit for certain, measured at once; what is left shrinks with each round.
        step = line[column : min(limit, column + units // widest)]
        column += len(step)
        units -= _units(step, encoding)
    while column < limit and (width := _units(line[column], encoding)) <= units:
        column += 1
        units -= width
    return column


def _units(text: str, encoding: PositionEncoding) -> int:
    """How many code units `text` takes. A lone surrogate, which JSON can carry, counts as a character of its own."""
    if text.isascii():
        return len(text)
    match encoding:
        case "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        case "utf-16":
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case "utf-32":
            return len(text)
        case never:
            assert_never(never)


def _bad_range(message: str, start: Position, end: Position) -> WorldFault:
    return WorldFault(
        "bad_range",
        message,
        remedy="Close the file in the editor and open it again.",
        start=[start.line, start.character],
        end=[end.line, end.character],
    )
