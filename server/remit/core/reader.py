"""The lines of a patch, how far they have been read, and the refusal of what is no patch.

Does not live here: what the lines mean; that is the business of each form (`unified`, `envelope`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from remit.core.faults import AgentFault


@dataclass(slots=True)
class Reader:
    """`lines` end at \\n only and come without it; `at` to `end` is still to be read. `notes` are for the result."""

    lines: Sequence[str]
    at: int
    end: int
    notes: list[str] = field(default_factory=list)

    def peek(self, ahead: int = 0) -> str:
        """A line for looking at its form: "" past the end, no "\\r" at its end."""
        at = self.at + ahead
        return self.lines[at].removesuffix("\r") if at < self.end else ""

    def take(self) -> str:
        """The next line as it stands. Only where there is one."""
        self.at += 1
        return self.lines[self.at - 1]


def malformed(message: str, line: int | None, remedy: str = "Send the patch again in the right form.") -> AgentFault:
    """The refusal `malformed_patch`; `line` is 1-based."""
    return AgentFault("malformed_patch", message, remedy=remedy, **({} if line is None else {"line": line}))


def shown(text: str) -> str:
    """What JSON can carry: a byte that is no text in its escaped form."""
    return text.encode(errors="backslashreplace").decode()
