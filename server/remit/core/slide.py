"""Where a change comes to rest that could stand a few lines higher or lower, as all of git's diffs have it.

A function put in between two others may be told as beginning with the brace that ends the one before. Lines that were
only added or only taken away are moved to where they begin and end at little indentation and next to blank lines:
git's indent heuristic, with its weights (xdiff/xdiffi.c). Where such lines can touch another change, they join it.
Does not live here: which lines changed (`align`, `tidy`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from remit.core.align import Block

REACH = 200  # lines that a change is moved at most, up or down
WEIGHED = 100  # places that are weighed against each other
BLANKS = 20  # blank lines that are counted beside a place
DEEPEST = 200  # columns of indentation that are told apart
NONE = -1  # the indentation of a blank line, and of what lies outside of the text

_SPACE = " \t\n\r\v\f"


def slide(old: Sequence[str], new: Sequence[str], found: Sequence[Block]) -> list[Block]:
    """The blocks at rest, apart, and no more of them than before. `old` and `new` are whole texts, as lines."""
    sides = (_Side(old), _Side(new))
    waiting = deque(found)
    out: list[Block] = []
    while waiting:
        block = waiting.popleft()
        above = out[-1] if out else None
        below = waiting[0] if waiting else None
        if above and above.old_end == block.old:
            waiting.appendleft(_joined(out.pop(), block))
        elif below and below.old == block.old_end:
            waiting[0] = _joined(block, below)
        elif block.old_count and block.new_count:
            bare = _bare(old, new, block)
            if bare == block:
                out.append(block)
            elif bare.old_count or bare.new_count:
                waiting.appendleft(bare)
        else:
            # A side's lines are the same before and behind by as much as the block can move.
            side, first, end = (
                (sides[1], block.new, block.new_end) if block.new_count else (sides[0], block.old, block.old_end)
            )
            room_above = block.new - above.new_end if above else block.new
            room_below = below.new - block.new_end if below else len(new) - block.new_end
            down = side.down(first, end, room_below)
            up = side.up(first, end, room_above)
            if below and down == room_below:
                waiting[0] = _joined(_moved(block, down), below)
            elif above and up == room_above:
                waiting.appendleft(_joined(out.pop(), _moved(block, -up)))
            elif up or down:
                out.append(_moved(block, side.rest(first, end, up, down)))
            else:
                out.append(block)
    return out


def _moved(block: Block, lines: int) -> Block:
    return block._replace(old=block.old + lines, new=block.new + lines)


def _joined(one: Block, two: Block) -> Block:
    return Block(one.old, two.old_end - one.old, one.new, two.new_end - one.new)


def _bare(old: Sequence[str], new: Sequence[str], block: Block) -> Block:
    """A block without the lines that both of its sides begin or end with."""
    at, stop, there, stop_new = block.old, block.old_end, block.new, block.new_end
    while at < stop and there < stop_new and old[at] == new[there]:
        at, there = at + 1, there + 1
    while at < stop and there < stop_new and old[stop - 1] == new[stop_new - 1]:
        stop, stop_new = stop - 1, stop_new - 1
    return Block(at, stop - at, there, stop_new - there)


class _Side:
    """The lines of one text, and how good a place between two of them is to begin or end a change."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._known: dict[str, int] = {}

    def up(self, first: int, end: int, room: int) -> int:
        """How far a block can move up, with the same text before and after."""
        lines, most = self.lines, min(room, REACH)
        return next((by for by in range(most) if lines[first - 1 - by] != lines[end - 1 - by]), most)

    def down(self, first: int, end: int, room: int) -> int:
        lines, most = self.lines, min(room, REACH)
        return next((by for by in range(most) if lines[first + by] != lines[end + by]), most)

    def rest(self, first: int, end: int, up: int, down: int) -> int:
        """By how many lines to move, up is negative."""
        nearest = max(-up, down - (end - first) - 1, down - WEIGHED)
        best, chosen = None, down
        for by in range(nearest, down + 1):
            one, two = self._weight(end + by), self._weight(first + by)
            score = (one[0] + two[0], one[1] + two[1])
            if best is None or 60 * ((score[0] > best[0]) - (score[0] < best[0])) + score[1] - best[1] <= 0:
                best, chosen = score, by
        return chosen

    def _weight(self, place: int) -> tuple[int, int]:
        """(indentation of what follows, penalty) of a place before a line: less of both is better."""
        here = self._indent(place)
        before, blanks_before = self._beyond(place, -1)
        behind, blanks_behind = self._beyond(place, 1)
        penalty = (before == NONE and not blanks_before) + 21 * (place >= len(self.lines))
        following = 1 + blanks_behind if here == NONE else 0
        blanks = blanks_before + following
        penalty += 6 * following - 30 * blanks
        indent = behind if here == NONE else here
        if NONE in (indent, before) or indent == before:
            return indent, penalty
        if indent > before:
            return indent, penalty + (10 if blanks else -4)
        if behind > indent:
            return indent, penalty + (17 if blanks else 24)
        return indent, penalty + (17 if blanks else 23)

    def _beyond(self, place: int, step: int) -> tuple[int, int]:
        """The indentation of the next line that is not blank, and how many blank ones lie before it."""
        blanks = 0
        place += step
        while 0 <= place < len(self.lines):
            if (indent := self._indent(place)) != NONE:
                return indent, blanks
            blanks += 1
            if blanks == BLANKS:
                return 0, blanks
            place += step
        return NONE, blanks

    def _indent(self, place: int) -> int:
        if place >= len(self.lines):
            return NONE
        line = self.lines[place]
        known = self._known.get(line)
        if known is None:
            bare = line.lstrip(_SPACE)
            head = line[: len(line) - len(bare)][:DEEPEST]
            known = self._known[line] = min(DEEPEST, len(head.expandtabs(8))) if bare else NONE
        return known
