"""How two texts differ, line by line, and how two changes of one text join.

Lives here: spans between texts, their application, the printable unified form and the three-way merge.
Does not live here: comparing lines (`align`), telling a change so that it reads well (`tidy`, `slide`), reading a diff
(`patch`), finding its place (`place`), files, encodings.

Lines end at \\n, \\r\\n and \\r.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain
from typing import Literal

from remit.core.align import Block, blocks, common, common_end, tokens
from remit.core.faults import OurFault
from remit.core.slide import BLANKS, REACH, slide
from remit.core.text import split_lines
from remit.core.tidy import tidy

# Where both texts share fewer than one in so many of the lines that say something, one was written anew: one change
# that is read from top to bottom, not shreds of it around the lines that happen to be alike.
ANEW = 20
ROOM = REACH + BLANKS + 2


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
    """The changed lines that lead from `old` to `new`, in order: few, in few spans, and where a reader looks for them.

    As `git diff --histogram` tells it, but for long stretches that share little: there the least change is told, or
    (see `ANEW`) one change of everything.
    """
    if old == new:
        return ()
    # The ends that are equal need not be split, but for some lines beside the change, where it may come to rest.
    head = old.rfind("\n", 0, common(old, new)) + 1
    tail = common_end(old, new, head)
    head, stop = _up(old, head), _down(old, len(old) - tail)
    if len(old) < 2 * (stop - head):
        return _told(split_lines(old), split_lines(new), all_of_it=True)
    first = len(split_lines(old[:head])) if "\r" in old else old.count("\n", 0, head)
    found = _told(split_lines(old[head:stop]), split_lines(new[head : len(new) - len(old) + stop]))
    return tuple(replace(span, old_start=first + span.old_start, new_start=first + span.new_start) for span in found)


def spans(old: Sequence[str], new: Sequence[str]) -> tuple[Span, ...]:
    """The change that keeps the most lines, for whoever asks which ones stay; a line here is any string.

    What could stand higher or lower stands as low as it can, as git's merges have it: a copy of a text put in behind it
    is not told as a part of the first one and a part of the second.
    """
    return _told(old, new, plain=True)


def told(old: Sequence[str], new: Sequence[str]) -> tuple[Span, ...]:
    """As `between` tells it, for lines that are split already, and never as one change of everything."""
    return _told(old, new)


def since(old: str, new: str) -> tuple[Span, ...]:
    """`spans` of two texts."""
    return spans(split_lines(old), split_lines(new))


def _told(old: Sequence[str], new: Sequence[str], *, plain: bool = False, all_of_it: bool = False) -> tuple[Span, ...]:
    """How `old` becomes `new`: told for reading, if not `plain`; as one change, if `all_of_it` was written anew."""
    head = common(old, new)
    tail = common_end(old, new, head)
    mid_old, mid_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not mid_old and not mid_new:
        return ()
    whole = Block(head, len(mid_old), head, len(mid_new))
    found = [whole]
    if mid_old and mid_new:
        one, two = tokens(mid_old, mid_new)
        least = list(blocks(one, two))
        found = [Block(head + i, n, head + j, m) for i, n, j, m in (least if plain else tidy(one, two, least))]
    if all_of_it and len(found) > 1 and _anew(old, new, found):
        found = [whole]
    rested = _joined(found) if plain else slide(old, new, found)
    return tuple(Span(i, tuple(old[i : i + n]), j, tuple(new[j : j + m])) for i, n, j, m in rested)


def _joined(found: Sequence[Block]) -> Iterator[Block]:
    """Blocks that touch are one."""
    last: Block | None = None
    for block in found:
        if last is not None and last.old_end == block.old and last.new_end == block.new:
            block = Block(last.old, block.old_end - last.old, last.new, block.new_end - last.new)
        elif last is not None:
            yield last
        last = block
    if last is not None:
        yield last


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
    for low, high, mine, other in _groups(since(base, ours), since(base, theirs)):
        left, right = (_rewrite(lines, low, high, part) for part in (mine, other))
        if mine and other and left != right:
            conflicts.append(Region(low, "".join(lines[low:high]), left, right))
        out += lines[at:low]
        out.append(left if mine else right)
        at = high
    return Conflict(tuple(conflicts)) if conflicts else Merged("".join(chain(out, lines[at:])))


def unified(old: str, new: str, old_name: str, new_name: str, context: int = 3) -> str:
    """A diff that `git apply` takes: `old_name`/`new_name` as they shall stand there (`a/x`, `b/x`, `/dev/null`).

    Equal texts give "". Lines end at \\n only here, as git counts them. Format: git-diff(1), "Generating patch text".
    """
    before, after = _lf_lines(old), _lf_lines(new)
    out: list[str] = []
    for group in _gather(_told(before, after), context):
        first, last = group[0], group[-1]
        low, high = max(0, first.old_start - context), min(len(before), last.old_end + context)
        shift = last.new_start + len(last.new) - last.old_end
        start = first.new_start - (first.old_start - low)
        out.append(f"@@ -{_range(low, high - low)} +{_range(start, high + shift - start)} @@\n")
        out += _body(before, group, low, high)
    return "".join([f"--- {_name(old_name)}\n", f"+++ {_name(new_name)}\n", *out]) if out else ""


def _up(text: str, at: int) -> int:
    """The start of a line so far above that no change at `at` looks beyond it."""
    for _ in range(ROOM):
        at = text.rfind("\n", 0, max(0, at - 1)) + 1
    return at


def _down(text: str, at: int) -> int:
    for _ in range(ROOM):
        at = text.find("\n", at) + 1 or len(text)
    return at


def _anew(old: Sequence[str], new: Sequence[str], found: Sequence[Block]) -> bool:
    """Is so little shared that the one text is not an edit of the other?"""
    if sum(block.old_count for block in found) * 2 < len(old):
        return False  # the quick answer for nearly all there is
    gone = _telling(chain.from_iterable(old[block.old : block.old_end] for block in found))
    come = _telling(chain.from_iterable(new[block.new : block.new_end] for block in found))
    kept = _telling(old) - gone
    return kept * ANEW < min(gone, come) + kept


def _telling(lines: Iterable[str]) -> int:
    """How many lines have a letter or a digit: others (blank, a brace) say nothing about where a text is from."""
    return sum(map(bool, map(_WORD.search, lines)))


_WORD = re.compile(r"\w")


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
