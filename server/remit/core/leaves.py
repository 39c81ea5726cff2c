"""The lines of a long text in runs: an edit costs what it touches, and what has not changed is not gone over again.

`Lines` is edited, `Frozen` is how it stood at one moment; both share every leaf that neither has changed. So two states
of one text are compared by the few leaves that differ, and a leaf is turned into bytes once.
Does not live here: what ends a line, columns (`text`), encodings (`codec`). A line is any string.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import overload

LEAF = 512
"""Lines of a new leaf. A line more or less moves half as many pointers; a changed leaf is encoded anew as a whole."""

FULL = 2 * LEAF
"""Lines beyond which a leaf is divided."""


class Leaf:
    """A run of lines. `owner` is who may still change it in place; everybody else copies it before."""

    __slots__ = ("_encoded", "lines", "owner")

    def __init__(self, lines: list[str], owner: object) -> None:
        self.lines = lines
        self.owner = owner
        self._encoded: tuple[str, bytes] | None = None

    def encoded(self, charset: str, write: Callable[[str], bytes]) -> bytes:
        """The lines as bytes in a charset of that name, worked out once."""
        if self._encoded is None or self._encoded[0] != charset:
            self._encoded = (charset, write("".join(self.lines)))
        return self._encoded[1]

    def touch(self) -> None:
        """The lines have changed."""
        self._encoded = None


class Frozen(Sequence[str]):
    """Lines as they stood at one moment. Equal when their lines are; cheap to compare with a later state of them."""

    __slots__ = ("_starts", "_text", "leaves")

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = leaves
        self._starts: list[int] | None = None
        self._text: str | None = None

    @classmethod
    def of(cls, lines: Sequence[str]) -> Frozen:
        return Lines(lines).freeze()

    def __str__(self) -> str:
        if self._text is None:
            self._text = "".join(chain.from_iterable(leaf.lines for leaf in self.leaves))
        return self._text

    def __len__(self) -> int:
        return self._from()[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(leaf.lines for leaf in self.leaves)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._slice(start, stop)[::step] if step > 0 else list(self)[index]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        leaf = bisect_right(self._from(), at) - 1
        return self.leaves[leaf].lines[at - self._from()[leaf]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frozen):
            return NotImplemented
        return self.leaves is other.leaves or agree(self, other, lambda lines: lines)

    __hash__ = object.__hash__  # as a key it stands for this moment

    def bare(self) -> Frozen:
        """The same without the text that was put together once: to be kept for long."""
        return self if self._text is None else Frozen(self.leaves)

    def _from(self) -> list[int]:
        """The first line of each leaf, and how many lines there are."""
        if self._starts is None:
            self._starts = list(accumulate((len(leaf.lines) for leaf in self.leaves), initial=0))
        return self._starts

    def _slice(self, start: int, stop: int) -> list[str]:
        out: list[str] = []
        leaf = bisect_right(self._from(), start) - 1
        while start < stop and leaf < len(self.leaves):
            first = self._from()[leaf]
            lines = self.leaves[leaf].lines
            out += lines[start - first : stop - first]
            leaf, start = leaf + 1, first + len(lines)
        return out


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines from `start` to `end` stand where the other text has those from `other_start` to `other_end`."""

    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def level(self) -> bool:
        """Whether both have equally many."""
        return self.end - self.start == self.other_end - self.other_start


def apart(one: Frozen, two: Frozen) -> list[Gap]:
    """Where two texts do not hold the same leaves, in order. No line is looked at: lines in a gap may be equal, and two
    texts that never shared a leaf are one gap. Leaves keep their order as long as they live, so they need no search.
    """
    a, b = one.leaves, two.leaves
    head = _same(a, b)
    tail = _same(a[head:][::-1], b[head:][::-1])
    there = {leaf: at for at, leaf in enumerate(b[head : len(b) - tail], head)}
    gaps: list[Gap] = []
    at = other = head
    for now, leaf in enumerate(a[head : len(a) - tail], head):
        if (found := there.get(leaf)) is not None:
            gaps.append(_gap(one, two, (at, now), (other, found)))
            at, other = now + 1, found + 1
    gaps.append(_gap(one, two, (at, len(a) - tail), (other, len(b) - tail)))
    return [gap for gap in gaps if gap.start < gap.end or gap.other_start < gap.other_end]


def _gap(one: Frozen, two: Frozen, here: tuple[int, int], there: tuple[int, int]) -> Gap:
    start, end = (one._from()[leaf] for leaf in here)
    other_start, other_end = (two._from()[leaf] for leaf in there)
    return Gap(start, end, other_start, other_end)


def agree(one: Frozen, two: Frozen, key: Callable[[list[str]], list[str]]) -> bool:
    """Whether two texts have the same lines by a key; only what they do not share is looked at."""
    if len(one) != len(two):
        return False
    gaps = apart(one, two)
    if not all(gap.level for gap in gaps):
        # What is between may be shifted by as much as it repeats: from the first to the last they are held together.
        gaps = [Gap(gaps[0].start, gaps[-1].end, gaps[0].other_start, gaps[-1].other_end)]
    return all(key(one[gap.start : gap.end]) == key(two[gap.other_start : gap.other_end]) for gap in gaps)


def _same(one: Sequence[object], two: Sequence[object]) -> int:
    """How many first leaves, or lines, are equal. Halving over slices keeps the comparing in C."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Lines:
    """Lines that can be changed: in the cost of the change, and of the logarithm of how many there are."""

    __slots__ = ("_frozen", "_leaves", "_owner", "_span", "_tree")

    def __init__(self, lines: Sequence[str]) -> None:
        self._owner = object()
        self._frozen = lines.bare() if isinstance(lines, Frozen) else None
        self._leaves = list(lines.leaves) if isinstance(lines, Frozen) else self._leafed(lines)
        self._count_anew()

    def __len__(self) -> int:
        return self._before(len(self._leaves))

    def __getitem__(self, index: int) -> str:
        leaf, at = self._find(index)
        return self._leaves[leaf].lines[at]

    def splice(self, start: int, end: int, lines: list[str]) -> None:
        """Put `lines` in the place of those from `start` up to, not including, `end`; 0 <= start <= end <= len."""
        self._frozen = None
        first, at = self._place(start)
        last, until = (first, at) if start == end else self._find(end - 1)
        until += start != end
        leaf = self._leaves[first]
        if first == last and 0 < len(leaf.lines) - (until - at) + len(lines) <= FULL:
            self._own(first).lines[at:until] = lines
            self._add(first, len(lines) - (until - at))
            return
        kept = [*leaf.lines[:at], *lines, *self._leaves[last].lines[until:]]
        if len(kept) < LEAF // 2 and last + 1 < len(self._leaves):
            last += 1  # what has become short joins its neighbour
            kept += self._leaves[last].lines
        self._leaves[first : last + 1] = self._leafed(kept) if kept or len(self._leaves) == last - first + 1 else []
        self._count_anew()

    def become(self, lines: list[str]) -> None:
        """Put `lines` in the place of all; what is the same at both ends stays, and stays shared."""
        there = self.freeze()[:]
        head = _same(there, lines)
        tail = _same(there[head:][::-1], lines[head:][::-1])
        if head + tail < max(len(there), len(lines)):
            self.splice(head, len(there) - tail, lines[head : len(lines) - tail])

    def freeze(self) -> Frozen:
        """How the lines stand now; the same object until they change."""
        if self._frozen is None:
            self._owner = object()  # no leaf is ours alone any more
            self._frozen = Frozen(list(self._leaves))
        return self._frozen

    def _leafed(self, lines: Sequence[str]) -> list[Leaf]:
        """Leaves of about one size; at least one."""
        runs = range(0, max(1, len(lines)), LEAF)
        return [Leaf(list(lines[at : at + LEAF]), self._owner) for at in runs]

    def _own(self, index: int) -> Leaf:
        """The leaf, ours alone."""
        leaf = self._leaves[index]
        if leaf.owner is not self._owner:
            leaf = self._leaves[index] = Leaf(list(leaf.lines), self._owner)
        leaf.touch()
        return leaf

    # How many lines stand before a leaf: a Fenwick tree over their counts.

    def _count_anew(self) -> None:
        tree = [0, *(len(leaf.lines) for leaf in self._leaves)]
        for at in range(1, len(tree)):
            above = at + (at & -at)
            if above < len(tree):
                tree[above] += tree[at]
        self._tree = tree
        self._span = 1 << (len(self._leaves).bit_length() - 1)

    def _add(self, leaf: int, lines: int) -> None:
        at = leaf + 1
        while lines and at < len(self._tree):
            self._tree[at] += lines
            at += at & -at

    def _before(self, leaf: int) -> int:
        total = 0
        while leaf:
            total += self._tree[leaf]
            leaf &= leaf - 1
        return total

    def _find(self, line: int) -> tuple[int, int]:
        """The leaf that holds a line, and where in it."""
        leaf, rest, step, tree = 0, line, self._span, self._tree
        while step:
            if leaf + step < len(tree) and tree[leaf + step] <= rest:
                leaf += step
                rest -= tree[leaf]
            step >>= 1
        if line < 0 or leaf >= len(self._leaves):
            raise IndexError(line)
        return leaf, rest

    def _place(self, line: int) -> tuple[int, int]:
        """As `_find`, but the place behind the last line is one too."""
        if line == len(self):
            return len(self._leaves) - 1, len(self._leaves[-1].lines)
        return self._find(line)


def spliced(lines: Frozen, changes: Iterable[tuple[int, int, Sequence[str]]]) -> Frozen:
    """The lines with each (start, end, new lines) carried out: all made for `lines`, in order, without overlap."""
    made = Lines(lines)
    for start, end, new in reversed(list(changes)):
        made.splice(start, end, list(new))
    return made.freeze()
