"""How a change of an old text fits the present one, from the changed lines alone: moved, there already, or not.

The same verdict and the same text as `diff.merge` gives (the tests hold the two together), at the cost of the changes
and not of the text: it is asked with each keystroke for everything that waits. Files and proposals are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remit.core.diff import Span


@dataclass(frozen=True, slots=True)
class Clash:
    """A stretch that both sides changed, each in its own way. Lines with their ends; first lines 0-based."""

    base_start: int
    base: tuple[str, ...]
    present_start: int
    present: tuple[str, ...]
    proposed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """`kept`: which changes (by index) are left to be made, as changes of the present text, in order. `there`: those
    that the present text holds already. It is clean when nothing clashes. `spots`: for each change, the lines of the
    present text that it is about (0-based, end exclusive)."""

    kept: tuple[tuple[int, Span], ...]
    there: tuple[int, ...]
    clashes: tuple[Clash, ...]
    spots: tuple[tuple[int, int], ...]


def fit(since: Sequence[Span], changes: Sequence[Span]) -> Fit:
    """Fit changes of a text to what it has become; both are made from the same text and in its order."""
    kept: list[tuple[int, Span]] = []
    there: list[int] = []
    clashes: list[Clash] = []
    spots = [(0, 0)] * len(changes)
    moved = added = 0  # lines that `since` has put before this place, and those that the kept changes have
    for low, mine, theirs in _groups(since, changes):
        if not mine:
            for index in theirs:
                change = changes[index]
                start = change.old_start + moved
                spots[index] = (start, start + len(change.old))
                kept.append((index, Span(start, change.old, start + added, change.new)))
                added += len(change.new) - len(change.old)
        elif theirs:
            # Spans that overlap or touch leave no line between them: together they hold the whole stretch.
            ours, wanted = [since[i] for i in mine], [changes[i] for i in theirs]
            base = _stretch(low, [*ours, *wanted])
            present, proposed = _rewrite(low, base, ours), _rewrite(low, base, wanted)
            for index in theirs:
                spots[index] = (low + moved, low + moved + len(present))
            if "".join(present) == "".join(proposed):
                there += theirs
            else:
                clashes.append(Clash(low, base, low + moved, present, proposed))
        moved += sum(len(since[i].new) - len(since[i].old) for i in mine)
    return Fit(tuple(kept), tuple(there), tuple(clashes), tuple(spots))


def _groups(since: Sequence[Span], changes: Sequence[Span]) -> Iterator[tuple[int, list[int], list[int]]]:
    """Runs of changes that overlap or touch: (first line, indices of either side)."""
    tagged = [(span.old_start, span.old_end, 0, index) for index, span in enumerate(since)]
    tagged += [(span.old_start, span.old_end, 1, index) for index, span in enumerate(changes)]
    tagged.sort()
    sides: tuple[list[int], list[int]] = ([], [])
    low = high = 0
    for start, end, side, index in tagged:
        if (sides[0] or sides[1]) and start > high:
            yield low, *sides
            sides = ([], [])
        if not (sides[0] or sides[1]):
            low = high = start
        high = max(high, end)
        sides[side].append(index)
    if sides[0] or sides[1]:
        yield low, *sides


def _stretch(low: int, spans: Sequence[Span]) -> tuple[str, ...]:
    lines = [""] * (max(span.old_end for span in spans) - low)
    for span in spans:
        lines[span.old_start - low : span.old_end - low] = span.old
    return tuple(lines)


def _rewrite(low: int, base: tuple[str, ...], spans: Sequence[Span]) -> tuple[str, ...]:
    out: list[str] = []
    at = 0
    for span in spans:
        out += base[at : span.old_start - low]
        out += span.new
        at = span.old_end - low
    return (*out, *base[at:])
