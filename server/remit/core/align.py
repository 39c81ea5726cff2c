"""Which lines two texts share, by libgit2's xdiff (through pygit2), in work that grows with the lines and no faster.

Does not live here: which of several equal answers reads best (`tidy`), what is made of the answer (`diff`).

xdiff splits at \\n only and takes NUL for binary; so each distinct line becomes a token, and tokens are what it
compares. Its work grows with the power 1.5 where little is shared, so it is never shown more than WINDOW lines at once.
Its patience mode stays off: it recurses as deep as a hostile text wants, with all of its memory at each step.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import pygit2
from pygit2.enums import DiffOption

WINDOW = 16_000  # lines of each side that are compared together; shuffled ones cost 20 ms
LEAST = 2_000  # up to so many lines of both sides the least change is found; the work grows with their square
EDGE = 32  # a window's last part in so many, where its answer is shaped by where it ends
STEP = 4  # where fewer than one line in so many is shared, the two sides may be out of step


class Block(NamedTuple):
    """`old_count` items from `old` on were replaced by `new_count` items from `new` on; 0-based."""

    old: int
    old_count: int
    new: int
    new_count: int

    @property
    def old_end(self) -> int:
        return self.old + self.old_count

    @property
    def new_end(self) -> int:
        return self.new + self.new_count


def common(one: Sequence[str], two: Sequence[str]) -> int:
    """How many first items are equal. Halving over slices keeps the comparing in C."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(one: Sequence[str], two: Sequence[str], head: int) -> int:
    """How many last items are equal, the first `head` ones left out."""
    first, second = len(one), len(two)
    low, high = 0, min(first, second) - head
    while low < high:
        middle = (low + high + 1) // 2
        if one[first - middle : first - low] == two[second - middle : second - low]:
            low = middle
        else:
            high = middle - 1
    return low


def tokens(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides with a short token for each line: the same for equal lines, but one for all that a side has alone."""
    shared = set(new)
    known = {line: f"{number:x}\n" for number, line in enumerate(dict.fromkeys(old)) if line in shared}
    return list(map(known.get, old, repeat("-\n"))), list(map(known.get, new, repeat("+\n")))


def blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    """What differs between two lists of tokens, in order; two blocks may touch."""
    at = there = 0
    anchors: list[tuple[int, int]] | None = None
    while at < len(old) and there < len(new):
        stop, stop_new = min(len(old), at + WINDOW), min(len(new), there + WINDOW)
        found = _compare(old, new, at, stop, there, stop_new)
        last = stop == len(old) and stop_new == len(new)
        if not last and _shared(found, stop - at) * STEP < min(stop - at, stop_new - there):
            if anchors is None:
                anchors = _anchors(old, new, at, there)
            stop, stop_new = _in_step(anchors, at, there, len(old), len(new))
            yield from _pieces(old, new, at, stop, there, stop_new)
        elif not last:
            found, stop, stop_new = _cut(found, at, stop, there, stop_new)
            yield from found
        else:
            yield from found
        at, there = stop, stop_new
    if at < len(old) or there < len(new):
        yield Block(at, len(old) - at, there, len(new) - there)


def _compare(old: Sequence[str], new: Sequence[str], at: int, stop: int, there: int, stop_new: int) -> list[Block]:
    one, two = "".join(old[at:stop]).encode(), "".join(new[there:stop_new]).encode()
    least = stop - at + stop_new - there <= LEAST
    flag = DiffOption.FORCE_TEXT | (DiffOption.MINIMAL if least else DiffOption.NORMAL)
    patch = pygit2.Patch.create_from(one, two, flag=flag, context_lines=0, interhunk_lines=0)
    # A side without lines is numbered by the line before it (git-diff's convention).
    return [
        Block(
            at + hunk.old_start - (hunk.old_lines > 0),
            hunk.old_lines,
            there + hunk.new_start - (hunk.new_lines > 0),
            hunk.new_lines,
        )
        for hunk in patch.hunks
    ]


def _shared(found: Sequence[Block], lines: int) -> int:
    return lines - sum(block.old_count for block in found)


def _cut(found: list[Block], at: int, stop: int, there: int, stop_new: int) -> tuple[list[Block], int, int]:
    """What is certain of a window's answer: up to the middle of the longest run near its end that both sides share.

    What is told behind the last such run is not: the window may have cut off its other half.
    """
    ends = [(at, there), *((block.old_end, block.new_end) for block in found)]
    starts = [*((block.old, block.new) for block in found), (stop, stop_new)]
    runs = [start - end for (start, _), (end, _) in zip(starts, ends, strict=True)]
    edge = stop + stop_new - (stop - at + stop_new - there) // EDGE
    last = max(step for step, run in enumerate(runs) if run)
    near = (step for step in range(last, -1, -1) if sum(ends[step]) >= edge)
    best = max(near, key=runs.__getitem__, default=last)
    run = (runs[best] + 1) // 2
    return found[:best], ends[best][0] + run, ends[best][1] + run


def _anchors(old: Sequence[str], new: Sequence[str], at: int, there: int) -> list[tuple[int, int]]:
    """Lines that each side has once, those of them that come in the same order: pairs of places, in order."""
    ours, theirs = Counter(old[at:]), Counter(new[there:])
    places = {token: place for place, token in enumerate(new[there:], there) if theirs[token] == 1}
    pairs = [(place, places[token]) for place, token in enumerate(old[at:], at) if ours[token] == 1 and token in places]
    # The longest rising run: for each length, the pair with the least place that ends a run so long.
    tails: list[int] = []
    ending: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        tails[length : length + 1] = [place]
        ending[length : length + 1] = [number]
        before.append(ending[length - 1] if length else -1)
    chain: list[tuple[int, int]] = []
    number = ending[-1] if ending else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _in_step(anchors: Sequence[tuple[int, int]], at: int, there: int, end: int, end_new: int) -> tuple[int, int]:
    """The last anchor inside the window, else the first one behind it, else the end of both sides."""
    first = bisect_right(anchors, (at, there))
    while first < len(anchors) and anchors[first][1] < there:
        first += 1
    best = first
    while best < len(anchors) and anchors[best][0] - at <= WINDOW and anchors[best][1] - there <= WINDOW:
        best += 1
    if best > first:
        return anchors[best - 1]
    return anchors[first] if first < len(anchors) else (end, end_new)


def _pieces(old: Sequence[str], new: Sequence[str], at: int, stop: int, there: int, stop_new: int) -> Iterator[Block]:
    """A stretch of any length, window by window, without looking for the step again."""
    while at < stop and there < stop_new:
        middle, middle_new = min(stop, at + WINDOW), min(stop_new, there + WINDOW)
        yield from _compare(old, new, at, middle, there, middle_new)
        at, there = middle, middle_new
    if at < stop or there < stop_new:
        yield Block(at, stop - at, there, stop_new - there)
