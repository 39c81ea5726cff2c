"""The blanks that lines begin with: when tabs and blanks mean the same, and how a file would begin a new line.

Used only where the policy allows the rule "tabs": nobody's indentation is converted in silence.
Does not live here: where lines stand (`seek`), the text that is made (`place`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remit.core.faults import AgentFault
from remit.core.lines import EACH, View, bare_line
from remit.core.reader import shown

WIDTHS = range(2, 9)
"""Columns from one tab stop to the next that people set."""
LONGEST = 1000
"""Blanks at the beginning of a line, at most, that are read as others in a row."""


def lead(line: str) -> str:
    """The tabs and blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def same_indentation(has: Iterable[str], sent: Sequence[str]) -> bool:
    """Do these lines begin with the same columns of blanks, all by one width of the tabs?"""
    pairs = {(lead(one), lead(two)) for one, two in zip(has, sent, strict=True)}
    return any(all(one.expandtabs(width) == two.expandtabs(width) for one, two in pairs) for width in WIDTHS)


class Indentation:
    """How a file begins lines that a patch begins with other blanks, learned from lines that are in both."""

    def __init__(self, number: int, view: View, raw: Sequence[str], old: Sequence[str]) -> None:
        self.number, self.view = number, view
        self.known: dict[str, set[str]] = {"": {""}}
        for has, sent in zip(raw, old, strict=True):
            self.known.setdefault(lead(sent), set()).add(lead(bare_line(has)))
        self.lengths = sorted({len(blanks) for blanks in self.known if blanks})

    def of(self, line: str) -> str:
        """The new line as the file would indent it. AgentFault: indentation_unclear."""
        blanks = lead(line)
        if blanks not in self.known:
            self.known[blanks] = self._composed(blanks)
        if len(self.known[blanks]) != 1:
            raise AgentFault(
                "indentation_unclear",
                f"Chunk {self.number + 1}: it is not clear how the file would indent a new line.",
                remedy="Indent the lines with the same tabs and blanks as the file does.",
                chunk=self.number,
                line=shown(line[:200]),
            )
        return "".join(self.known[blanks]) + line[len(blanks) :]

    def _composed(self, blanks: str) -> set[str]:
        """Blanks never seen, as known ones in a row: every reading, but no more than two of them."""
        if len(blanks) > LONGEST:
            return set()
        self.view.spend(EACH * (1 + len(blanks) * len(self.lengths)))
        reached: list[set[str]] = [{""}]
        for end in range(1, len(blanks) + 1):
            ways = {
                before + after
                for length in self.lengths
                if length <= end and reached[end - length]
                for after in self.known.get(blanks[end - length : end], ())
                for before in reached[end - length]
            }
            reached.append(set(sorted(ways)[:2]))
        return reached[-1]
