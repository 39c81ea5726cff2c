"""A text as lines, under one way to compare them: to the byte, or but for line ends or blanks.

Does not live here: which of several places is meant (`seek`), the text that a change makes (`place`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import accumulate, islice
from typing import Literal

from remit.core.faults import AgentFault
from remit.core.text import split_lines

MANY = 100  # no more places than this are counted: nobody reads a longer list of candidates
SEARCHED = 2_000_000_000  # characters that one patch may have compared: some seconds
EACH = 1000  # the same for one line that is looked at by itself
Alike = Literal["exact", "line_ends", "trailing_blanks", "tabs", "blanks"]
"""In what lines may differ that count as equal. "tabs": in the blanks they begin with; whether those are the same
indentation is for `seek` to say."""


class View:
    """A text as lines, and what is compared of each. "exact" lines end at \\n only, as those of a patch do."""

    def __init__(self, text: str, alike: Alike) -> None:
        self.text = text
        self.alike: Alike = alike
        self.lines = self._split(text)
        self.keys = [self._key(line) for line in self.lines]
        self.starts = [0, *accumulate(map(len, self.lines))]
        self._mixed = "\r" in text
        self._searched = 0
        self._places: dict[str, list[int]] = {}
        self._index: dict[str, list[int]] = {}

    def _split(self, text: str) -> list[str]:
        return StringIO(text, newline="\n").readlines() if self.alike == "exact" else split_lines(text)

    def _key(self, line: str) -> str:
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
        return [self._key(line) for line in self.read(lines)]

    def find(self, want: Sequence[str]) -> list[int]:
        """Every line where `want` begins, up to MANY of them. AgentFault as in `hits`."""
        return list(islice(self.hits(want), MANY))

    def hits(self, want: Sequence[str], floor: int = 0) -> Iterator[int]:
        """Every line from `floor` on where `want`, not empty, begins, in order: tried where its rarest line stands.

        AgentFault: search_too_long, once many chunks have each been tried in too many places.
        """
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
