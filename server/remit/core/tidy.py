"""Of all ways to say how two texts differ, one that a person likes to read.

Where changes stand close together, they are told anew by the lines that are rare (git's histogram): a shared brace
does not tear a rewritten function apart. Does not live here: finding the differences (`align`), where a change comes
to rest that could stand in several places (`slide`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from remit.core.align import Block, blocks

NEAR = 8  # changes with fewer shared lines between them are told anew together
CLOSE = 8_000  # but not where they hold more lines than so many: that is not read line by line
COMMON = 64  # a line that stands more often than this in such a place says nothing about it
WORTH = 3  # lines that may change more where that saves a change
EFFORT = 16  # steps of the search for each line of such a place; where they are used up, the least change is told


def tidy(old: Sequence[str], new: Sequence[str], found: Sequence[Block]) -> list[Block]:
    """The same change in fewer blocks, or in blocks that a reader follows; they are in order and may touch."""
    told: list[Block] = []
    for group in _groups(found):
        told += _retold(old, new, group) if len(group) > 1 else group
    return told


def _groups(found: Sequence[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in found:
        if group and block.old - group[-1].old_end >= NEAR:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _retold(old: Sequence[str], new: Sequence[str], group: list[Block]) -> list[Block]:
    first, last = group[0], group[-1]
    size = last.old_end - first.old + last.new_end - first.new
    if size > CLOSE or not _doubtful(old, new, group):
        return group
    told = list(_Search(old, new, EFFORT * size).told(first.old, last.old_end, first.new, last.new_end))
    return min(told, group, key=_cost)


def _doubtful(old: Sequence[str], new: Sequence[str], group: Sequence[Block]) -> bool:
    """Could a line that goes or comes also be told as one that stays?"""
    first, last = group[0], group[-1]
    before, after = set(old[first.old : last.old_end]), set(new[first.new : last.new_end])
    return not all(
        after.isdisjoint(old[block.old : block.old_end]) and before.isdisjoint(new[block.new : block.new_end])
        for block in group
    )


def _cost(group: Sequence[Block]) -> int:
    return WORTH * len(group) + sum(block.old_count + block.new_count for block in group)


class _Run(NamedTuple):
    """Equal lines: `old` up to `old_end`, from `new` on; the rarest of them stands `rarity` times in the old side."""

    old: int
    old_end: int
    new: int
    new_end: int
    rarity: int


class _Search:
    """Histogram diff as git does it (xdiff/xhistogram.c), with a bound on the steps."""

    def __init__(self, old: Sequence[str], new: Sequence[str], steps: int) -> None:
        self.old = old
        self.new = new
        self.steps = steps

    def told(self, at: int, stop: int, there: int, stop_new: int) -> Iterator[Block]:
        """The changes between two stretches, in order."""
        waiting = [(at, stop, there, stop_new)]
        while waiting:
            at, stop, there, stop_new = waiting.pop()
            while at < stop and there < stop_new and self.old[at] == self.new[there]:
                at, there = at + 1, there + 1
            while at < stop and there < stop_new and self.old[stop - 1] == self.new[stop_new - 1]:
                stop, stop_new = stop - 1, stop_new - 1
            if at == stop or there == stop_new:
                if at < stop or there < stop_new:
                    yield Block(at, stop - at, there, stop_new - there)
                continue
            places = self._places(at, stop)
            run = self._best(places, at, stop, there, stop_new)
            if run is not None and self.steps >= 0:
                waiting.append((run.old_end, stop, run.new_end, stop_new))
                waiting.append((at, run.old, there, run.new))
            elif any(token in places for token in self.new[there:stop_new]):
                # Only common lines are shared, or the steps are used up.
                for block in blocks(self.old[at:stop], self.new[there:stop_new]):
                    yield block._replace(old=at + block.old, new=there + block.new)
            else:
                yield Block(at, stop - at, there, stop_new - there)

    def _places(self, at: int, stop: int) -> dict[str, list[int]]:
        self.steps -= stop - at
        places: dict[str, list[int]] = {}
        for place in range(at, stop):
            places.setdefault(self.old[place], []).append(place)
        return places

    def _best(self, places: dict[str, list[int]], at: int, stop: int, there: int, stop_new: int) -> _Run | None:
        """The longest run of shared lines, or one whose rarest line is rarer."""
        best: _Run | None = None
        here = there
        while here < stop_new and self.steps >= 0:
            self.steps -= 1
            step = here + 1
            spots = places.get(self.new[here], ())
            limit = best.rarity if best else COMMON
            end = at
            for spot in spots if len(spots) <= limit else ():
                if spot < end:
                    continue  # inside the run before
                run = self._run(places, spot, here, (at, stop, there, stop_new))
                end, step = run.old_end, max(step, run.new_end)
                if best is None or run.old_end - run.old > best.old_end - best.old or run.rarity < best.rarity:
                    best = run
            here = step
        return best

    def _run(self, places: dict[str, list[int]], spot: int, here: int, bounds: tuple[int, int, int, int]) -> _Run:
        at, stop, there, stop_new = bounds
        old, new = self.old, self.new
        start, begin, end, finish = spot, here, spot + 1, here + 1
        while start > at and begin > there and old[start - 1] == new[begin - 1]:
            start, begin = start - 1, begin - 1
        while end < stop and finish < stop_new and old[end] == new[finish]:
            end, finish = end + 1, finish + 1
        self.steps -= end - start
        count = min(len(places[old[place]]) for place in range(start, end))
        return _Run(start, end, begin, finish, count)
