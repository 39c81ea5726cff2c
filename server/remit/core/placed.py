"""What came of placing: the new text, and how each chunk found its place, told for each hunk that a human sees.

Values only. Does not live here: looking for the places (`seek`), making the text (`place`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from remit.core.chunk import Rule
from remit.core.diff import Span
from remit.core.text import split_lines


@dataclass(frozen=True, slots=True)
class Placement:
    """Chunk `chunk` (0-based, as given) stands at `line` (0-based, old text), `offset` lines from the declared one.

    `rule`: the loosest that was needed; `also`: what was needed besides.
    """

    chunk: int
    line: int
    rule: Rule
    offset: int
    also: tuple[Rule, ...] = ()

    @property
    def word(self) -> str:
        """As it is told: `exact`, `offset(5)`, `offset(-1), line_ends`."""
        loose: list[str] = [rule for rule in (*self.also, self.rule) if rule not in ("exact", "offset")]
        return ", ".join([f"offset({self.offset})"] * bool(self.offset) + loose) or "exact"


@dataclass(frozen=True, slots=True)
class Placed:
    """The whole new text, and how each chunk found its place, in the order of the chunks.

    `changed`: each stretch of the old text (characters from, to) that was replaced, in order, and its placement's word.
    """

    text: str
    placements: tuple[Placement, ...]
    changed: tuple[tuple[int, int, str], ...] = ()


def words(text: str, placed: Placed, changes: Sequence[Span]) -> tuple[str, ...]:
    """For each change of `text` (in order, of its lines), how what it comes from was placed; two chunks, two words.

    Equal lines can be told apart in more than one way, so a change that no chunk touches is the nearest one's.
    """
    starts = [0, *accumulate(map(len, split_lines(text)))]
    regions = [(starts[change.old_start], starts[change.old_end]) for change in changes]
    told: list[dict[str, None]] = [{} for _ in regions]
    ends = [end for _, end in regions]
    for start, end, word in placed.changed if regions else ():
        at = first = bisect_left(ends, start)
        while at < len(regions) and regions[at][0] <= end:
            told[at][word] = None
            at += 1
        if at == first:
            near = [one for one in (first - 1, first) if 0 <= one < len(regions)]
            told[min(near, key=lambda one: _gap(regions[one], start, end))][word] = None
    for region, found in zip(regions, told, strict=True):
        if not found and placed.changed:
            found[min(placed.changed, key=lambda one: _gap(region, one[0], one[1]))[2]] = None
    return tuple(", ".join(found) or "exact" for found in told)


def _gap(region: tuple[int, int], start: int, end: int) -> int:
    return max(region[0] - end, start - region[1])
