"""A text as lines, under one way to compare them: to the byte, or but for line ends or blanks.

Does not live here: which of several places is meant (`seek`), the text that a change makes (`place`).
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from itertools import accumulate
from typing import Literal

from remit.core.faults import AgentFault
from remit.core.text import split_lines

MANY = 100  # no more places than this are counted: nobody reads a longer list of candidates
SEARCHED = 2_000_000_000  # characters that one patch may have looked through: about a second
EACH = 1000  # the same for one line that an anchor may mean
Alike = Literal["exact", "line_ends", "trailing_blanks", "blanks"]
"""In what lines may differ that count as equal: each looser than the one before."""


class View:
    """A text as lines, and what is compared of each. "exact" lines end at \\n only, as those of a patch do."""

    def __init__(self, text: str, alike: Alike) -> None:
        self.text = text
        self.alike: Alike = alike
        self.lines = self._split(text)
        self.keys = [self._key(line) for line in self.lines]
        self.starts = [0, *accumulate(map(len, self.lines))]
        self._hay = "\n".join(["", *self.keys, ""])
        self._mixed = "\r" in text
        self._searched = 0
        self._places: dict[str, list[int]] = {}

    def _split(self, text: str) -> list[str]:
        return StringIO(text, newline="\n").readlines() if self.alike == "exact" else split_lines(text)

    def _key(self, line: str) -> str:
        bare = self.bare(line)
        if self.alike == "blanks":
            return "".join(bare.split())
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
        """Every line where `want` begins, up to MANY of them. The search is C's, over the joined text.

        AgentFault: search_too_long, once many chunks have each been looked for in all of a large text.
        """
        self._spend(len(self._hay))
        needle = "\n".join(["", *want, ""])
        lines: list[int] = []
        at = line = 0
        while (hit := self._hay.find(needle, at)) >= 0 and len(lines) < MANY:
            line += self._hay.count("\n", at, hit)
            lines.append(line)
            at, line = hit + 1, line + 1
        return lines

    def standing(self, key: str) -> list[int]:
        """The lines whose key this is, blanks around it aside. AgentFault as in `find`."""
        if not self._places:
            for line, known in enumerate(self.keys):
                self._places.setdefault(known.strip(), []).append(line)
        found = self._places.get(key.strip(), [])
        self._spend(EACH * len(found))
        return found

    def _spend(self, characters: int) -> None:
        self._searched += characters
        if self._searched > SEARCHED:
            raise AgentFault(
                "search_too_long",
                "Finding all these places in so large a file takes too long.",
                remedy="Give the right line numbers, or send it in parts.",
            )

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


def bare_line(line: str) -> str:
    """A line of `split_lines` without its end."""
    return line.rstrip("\r\n")


def line_at(text: str, at: int) -> int:
    """The 0-based line, as `split_lines` counts, of the character at `at`."""
    before = text[:at]
    return before.count("\n") if "\r" not in before else len(split_lines(before + (text[at : at + 1] or " "))) - 1
