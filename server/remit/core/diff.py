"""How two texts differ, line by line, and how two changes of one text join.

Lives here: spans between texts, their application, the printable unified form and the three-way merge.
Does not live here: reading a diff (`patch`), finding its place (`place`), files, encodings.

Lines end at \\n, \\r\\n and \\r. The comparison is libgit2's xdiff (through pygit2), which splits at \\n only and takes
NUL for binary; so each distinct line becomes a token, and the tokens are what it compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain
from typing import Literal

import pygit2
from pygit2.enums import DiffOption

from remit.core.faults import OurFault
from remit.core.text import split_lines

# Up to so many lines between the first and the last difference the least change is found; beyond, xdiff's quick guess
# at it: shuffled lines cost 0.2 s here and grow with the square.
LEAST = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """`old` at line `old_start` becomes `new` at line `new_start`: 0-based, no context, lines with their ends."""

    old_start: int
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]

    @property
    def old_end(self) -> int:
        return self.old_start + len(self.old)


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the base (0-based first line, texts) that both sides changed, each in its own way."""

    base_start: int
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    regions: tuple[Region, ...]


def between(old: str, new: str) -> tuple[Span, ...]:
    """The least set of changed lines that leads from `old` to `new`, in order (see `LEAST` for very large changes)."""
    return () if old == new else spans(split_lines(old), split_lines(new))


def spans(old: Sequence[str], new: Sequence[str]) -> tuple[Span, ...]:
    """`between` for lines that are already split (anywhere: a line here is any string)."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    mid_old, mid_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not mid_old and not mid_new:
        return ()
    return tuple(
        Span(head + i, tuple(mid_old[i : i + n]), head + j, tuple(mid_new[j : j + m]))
        for i, n, j, m in _hunks(mid_old, mid_new)
    )


def apply(old: str, changes: Sequence[Span]) -> str:
    """`old` with the spans carried out. OurFault("span_mismatch") where a span's old lines do not stand there."""
    lines = split_lines(old)
    out: list[str] = []
    at = 0
    for span in changes:
        if span.old_start < at or tuple(lines[span.old_start : span.old_end]) != span.old or span.old_end > len(lines):
            raise OurFault(
                "span_mismatch",
                f"A change was made for another text (line {span.old_start + 1}).",
                remedy="Compute the change again from the present text.",
                line=span.old_start + 1,
            )
        out += lines[at : span.old_start]
        out += span.new
        at = span.old_end
    return "".join(chain(out, lines[at:]))


def merge(base: str, ours: str, theirs: str) -> Merged | Conflict:
    """Join two changes of one text. Edits that overlap or touch conflict, unless both sides made the same one."""
    lines = split_lines(base)
    out: list[str] = []
    conflicts: list[Region] = []
    at = 0
    for low, high, mine, other in _groups(between(base, ours), between(base, theirs)):
        left, right = (_rewrite(lines, low, high, part) for part in (mine, other))
        if mine and other and left != right:
            conflicts.append(Region(low, "".join(lines[low:high]), left, right))
        out += lines[at:low]
        out.append(left if mine else right)
        at = high
    return Conflict(tuple(conflicts)) if conflicts else Merged("".join(chain(out, lines[at:])))


def joins(ours: Sequence[Span], theirs: Sequence[Span]) -> bool:
    """Whether `merge` would join two changes of one text, told from the changes alone."""
    for low, high, mine, other in _groups(ours, theirs):
        if mine and other:
            # Spans that overlap or touch leave no line between them: together they hold the whole stretch.
            lines = [""] * (high - low)
            for span in (*mine, *other):
                lines[span.old_start - low : span.old_end - low] = span.old
            left, right = (
                _rewrite(lines, 0, high - low, [replace(s, old_start=s.old_start - low) for s in part])
                for part in (mine, other)
            )
            if left != right:
                return False
    return True


def unified(old: str, new: str, old_name: str, new_name: str, context: int = 3) -> str:
    """A diff that `git apply` takes: `old_name`/`new_name` as they shall stand there (`a/x`, `b/x`, `/dev/null`).

    Equal texts give "". Lines end at \\n only here, as git counts them. Format: git-diff(1), "Generating patch text".
    """
    before, after = _lf_lines(old), _lf_lines(new)
    out: list[str] = []
    for group in _gather(spans(before, after), context):
        first, last = group[0], group[-1]
        low, high = max(0, first.old_start - context), min(len(before), last.old_end + context)
        shift = last.new_start + len(last.new) - last.old_end
        start = first.new_start - (first.old_start - low)
        out.append(f"@@ -{_range(low, high - low)} +{_range(start, high + shift - start)} @@\n")
        out += _body(before, group, low, high)
    return "".join([f"--- {_name(old_name)}\n", f"+++ {_name(new_name)}\n", *out]) if out else ""


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    """How many first items are equal. Halving over slices keeps the comparing in C."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """(old index, old count, new index, new count) of each change."""
    numbers: dict[str, int] = {}
    one, two = (
        "".join(f"{numbers.setdefault(line, len(numbers)):x}\n" for line in side).encode() for side in (old, new)
    )
    flag = DiffOption.FORCE_TEXT | (DiffOption.MINIMAL if len(old) + len(new) <= LEAST else DiffOption.NORMAL)
    patch = pygit2.Patch.create_from(one, two, flag=flag, context_lines=0, interhunk_lines=0)
    for hunk in patch.hunks:
        # A side without lines is numbered by the line before it (git-diff's convention).
        i = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        j = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        yield i, hunk.old_lines, j, hunk.new_lines


Side = Literal[0, 1]


def _groups(ours: Sequence[Span], theirs: Sequence[Span]) -> Iterator[tuple[int, int, list[Span], list[Span]]]:
    """Runs of spans that overlap or touch: (first base line, end, ours, theirs)."""
    tagged: list[tuple[Span, Side]] = [(span, 0) for span in ours]
    tagged += [(span, 1) for span in theirs]
    tagged.sort(key=lambda item: (item[0].old_start, item[0].old_end))
    sides: tuple[list[Span], list[Span]] = ([], [])
    low = high = 0
    for span, side in tagged:
        if (sides[0] or sides[1]) and span.old_start > high:
            yield low, high, *sides
            sides = ([], [])
        if not (sides[0] or sides[1]):
            low = high = span.old_start
        high = max(high, span.old_end)
        sides[side].append(span)
    if sides[0] or sides[1]:
        yield low, high, *sides


def _rewrite(lines: Sequence[str], low: int, high: int, part: Sequence[Span]) -> str:
    out: list[str] = []
    for span in part:
        out += lines[low : span.old_start]
        out += span.new
        low = span.old_end
    return "".join(chain(out, lines[low:high]))


def _gather(changes: Sequence[Span], context: int) -> list[list[Span]]:
    """Spans whose context would meet share a hunk."""
    groups: list[list[Span]] = []
    for span in changes:
        if groups and span.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _body(before: Sequence[str], group: Sequence[Span], low: int, high: int) -> Iterator[str]:
    for span in group:
        yield from (_marked(" ", line) for line in before[low : span.old_start])
        yield from (_marked("-", line) for line in span.old)
        yield from (_marked("+", line) for line in span.new)
        low = span.old_end
    yield from (_marked(" ", line) for line in before[low:high])


def _marked(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _range(start: int, count: int) -> str:
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _lf_lines(text: str) -> list[str]:
    return StringIO(text, newline="\n").readlines()


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r"}
_ESCAPES |= {'"': '\\"', "\\": "\\\\", "\x7f": "\\177"}
_ESCAPES |= {chr(code): f"\\{code:03o}" for code in range(32) if chr(code) not in _ESCAPES}


def _name(name: str) -> str:
    """git's spelling of a name: C-quoted where it has to be, a tab behind one that has blanks."""
    quoted = "".join(_ESCAPES.get(char, char) for char in name)
    if quoted != name:
        return f'"{quoted}"'
    return name + "\t" if " " in name else name
