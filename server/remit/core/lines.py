"""A text as lines, under one way to compare them: to the byte, or but for line ends or blanks.

Does not live here: which of several places is meant (`seek`), the text that a change makes (`place`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from io import StringIO
from itertools import accumulate, chain, islice
from typing import Literal, overload

from remit.core.faults import AgentFault
from remit.core.text import split_lines

MANY = 100  # no more places than this are counted: nobody reads a longer list of candidates
SEARCHED = 2_000_000_000  # characters that one patch may have looked through: about a second
FEW = 16  # times that a text is searched as a whole before its lines are indexed
EACH = 1000  # the same for one line that an anchor may mean
Alike = Literal["exact", "line_ends", "trailing_blanks", "tabs", "blanks"]
"""In what lines may differ that count as equal. "tabs": in the blanks they begin with; whether those are the same
indentation is for `seek` to say."""

# What is not compared, taken out of all lines at once. No blank is looked at twice, however many stand in a row.
_LOOSE: Mapping[Alike, Callable[[str], str]] = {
    "line_ends": str,
    "trailing_blanks": partial(re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE).sub, ""),
    "tabs": partial(re.compile(r"^[ \t]+", re.MULTILINE).sub, ""),
    "blanks": partial(re.compile(r"[^\S\n]+").sub, ""),
}


class View:
    """A text as lines, and what is compared of each. "exact" lines end at \\n only, as those of a patch do."""

    def __init__(self, text: str, alike: Alike) -> None:
        self.text = text
        self.alike: Alike = alike
        self._mixed = "\r" in text
        self._searched = 0
        self._sought = 0
        self._places: dict[str, list[int]] = {}
        self._index: dict[str, list[int]] = {}

    # What follows is made when it is asked for: of an exact change at its declared line, only the keys and its start.

    @cached_property
    def keys(self) -> Sequence[str]:
        """What is compared of each line."""
        return self._plain if self.alike == "exact" else _Keys(self.lines, self.key)

    @cached_property
    def _plain(self) -> Sequence[str]:
        """What stands between the \\n."""
        plain = self.text.split("\n")
        return plain if plain[-1] else plain[:-1]

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines, with their ends."""
        if self.alike != "exact" and self._mixed:
            return split_lines(self.text)
        return _Ended(self._plain, self.text.endswith("\n"))

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each line starts in the text, and where the last one ends."""
        if self.alike != "exact" and self._mixed:
            return _Starts(self.lines)
        return _Starts(self._plain, 1, len(self.text))

    @cached_property
    def _hay(self) -> str:
        """The keys, each between two \n: made of the whole text at once, by C."""
        text = self.text
        if self.alike != "exact":
            text = _LOOSE[self.alike](text.replace("\r\n", "\n").replace("\r", "\n") if self._mixed else text)
        ends = "\n" if self.alike == "exact" else "\r\n"
        return f"\n{text}" if not self.text or self.text[-1] in ends else f"\n{text}\n"

    def _split(self, text: str) -> list[str]:
        return StringIO(text, newline="\n").readlines() if self.alike == "exact" else split_lines(text)

    def key(self, line: str) -> str:
        """What is compared of a line."""
        bare = self.bare(line)
        if self.alike == "blanks":
            return "".join(bare.split())
        if self.alike == "tabs":
            return bare.lstrip(" \t")
        return bare.rstrip(" \t") if self.alike == "trailing_blanks" else bare

    def bare(self, line: str) -> str:
        """A line of this view without its end."""
        return line.removesuffix("\n") if self.alike == "exact" else line.rstrip("\r\n")

    def read(self, lines: Sequence[str]) -> list[str]:
        """Lines of a patch as this view has lines, without their ends."""
        return [self.bare(line) for line in self._split("".join(f"{line}\n" for line in lines))]

    def wanted(self, lines: Sequence[str]) -> list[str]:
        """Lines of a patch as they are compared with `keys`."""
        return [self.key(line) for line in self.read(lines)]

    def find(self, want: Sequence[str]) -> list[int]:
        """Every line where `want` begins, up to MANY of them. AgentFault as in `hits`."""
        return list(islice(self.hits(want), MANY))

    def hits(self, want: Sequence[str], floor: int = 0) -> Iterator[int]:
        """Every line from `floor` on where `want`, not empty, begins, in order.

        The first few times the joined text is searched, by C; whoever looks for more gets an index of the lines.
        AgentFault: search_too_long, once many chunks have each been tried in too many places.
        """
        self._sought += 1
        return self._searched_for(want, floor) if self._sought <= FEW else self._tried(want, floor)

    def _searched_for(self, want: Sequence[str], floor: int) -> Iterator[int]:
        at = sum(map(len, islice(self.keys, floor))) + floor if floor else 0
        self.spend(len(self._hay) - at)
        needle, line = "\n".join(["", *want, ""]), floor
        while (hit := self._hay.find(needle, at)) >= 0:
            line += self._hay.count("\n", at, hit)
            yield line
            at, line = hit + 1, line + 1

    def _tried(self, want: Sequence[str], floor: int) -> Iterator[int]:
        """Where the rarest line of it stands."""
        if not self._index:
            self.spend(len(self.text))
            for line, known in enumerate(self.keys):
                self._index.setdefault(known, []).append(line)
        sought, size = list(want), len(want) + sum(map(len, want))
        self.spend(size)
        rarest = min(range(len(sought)), key=lambda at: len(self._index.get(sought[at], ())))
        places = self._index.get(sought[rarest], [])
        for at in range(bisect_left(places, floor + rarest), len(places)):
            self.spend(size)
            line = places[at] - rarest
            if self.keys[line : line + len(sought)] == sought:
                yield line

    def standing(self, key: str) -> list[int]:
        """The lines whose key this is, blanks around it aside. AgentFault as in `find`."""
        if not self._places:
            for line, known in enumerate(self.keys):
                self._places.setdefault(known.strip(), []).append(line)
        found = self._places.get(key.strip(), [])
        self.spend(EACH * len(found))
        return found

    def spend(self, characters: int) -> None:
        """Reckon with work that looks at so many characters. AgentFault: search_too_long."""
        self._searched += characters
        if self._searched > SEARCHED:
            raise too_long()

    def end(self, line: int) -> str:
        """How this line ends ("" for a last one that does not, and outside of the text)."""
        return self.lines[line][len(self.bare(self.lines[line])) :] if 0 <= line < len(self.lines) else ""

    def style(self, line: int) -> str:
        """How a line ends that is put in before this one."""
        return self.end(line - 1) or self.end(line) or self.end(line - 2) or "\n"

    def house_line(self, line: int) -> int:
        """The line as everybody else counts it, where \\r alone ends one too."""
        if self.alike != "exact" or not self._mixed:
            return line
        return line_at(self.text, self.starts[line]) if line < len(self.lines) else len(split_lines(self.text))


@dataclass(frozen=True, slots=True)
class _Ended(Sequence[str]):
    """Lines that are held without the \\n that ends each, but for the last where the text has none at its end."""

    keys: Sequence[str]
    final: bool

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        if not self.keys:
            return iter(())
        rest = islice(self.keys, len(self.keys) - 1)
        return chain((f"{key}\n" for key in rest), [self[-1]])

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self.keys)))]
        key = self.keys[at]
        return f"{key}\n" if self.final or (at if at >= 0 else at + len(self.keys)) < len(self.keys) - 1 else key


@dataclass(frozen=True, slots=True)
class _Keys(Sequence[str]):
    """What is compared of each line, made for the lines that are asked for."""

    lines: Sequence[str]
    key: Callable[[str], str]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[str]:
        return map(self.key, self.lines)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        return [self.key(line) for line in self.lines[at]] if isinstance(at, slice) else self.key(self.lines[at])


class _Starts(Sequence[int]):
    """Running sums of the lengths of lines, each with `more` characters behind it, up to `end`.

    The first few that are asked for are added up each: all of them at once are dear.
    """

    FEW = 4

    def __init__(self, lines: Sequence[str], more: int = 0, end: int | None = None) -> None:
        self._lines = lines
        self._more = more
        self._end = end
        self._asked = 0
        self._sums: list[int] = []

    def __len__(self) -> int:
        return len(self._lines) + 1

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        self._asked += 1
        if self._asked > self.FEW and not self._sums:
            self._sums = [0, *accumulate(map(len, self._lines))]
        before = self._sums[at] if self._sums else sum(map(len, islice(self._lines, at)))
        found = before + self._more * at
        return found if self._end is None else min(found, self._end)


def too_long() -> AgentFault:
    """The refusal `search_too_long`."""
    return AgentFault(
        "search_too_long",
        "Finding all these places in so large a file takes too long.",
        remedy="Give the right line numbers, or send it in parts.",
    )


def bare_line(line: str) -> str:
    """A line of `split_lines` without its end."""
    return line.rstrip("\r\n")


def line_at(text: str, at: int) -> int:
    """The 0-based line, as `split_lines` counts, of the character at `at`."""
    before = text[:at]
    return before.count("\n") if "\r" not in before else len(split_lines(before + (text[at : at + 1] or " "))) - 1


def lines_at(text: str, places: Sequence[int]) -> list[int]:
    """`line_at` for places in order, each before the end of the text."""
    if len(places) < 2:
        return [line_at(text, at) for at in places]
    starts = [0, *accumulate(map(len, split_lines(text)))]
    return [bisect_right(starts, at) - 1 for at in places]
