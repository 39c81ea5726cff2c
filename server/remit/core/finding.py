"""One thing to show in the editor: its place, its words, and what can be done about it.

The values and how places are named; which findings there are is `core/findings.py` and `core/paperwork.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from remit.core import plain
from remit.core.events import DecisionAsked
from remit.core.faults import Json
from remit.core.source import Span
from remit.core.source import contract as read_contract
from remit.core.text import split_lines
from remit.core.turn import Act, Turn

Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True, slots=True, order=True)
class Region:
    """Zero-based lines and code point columns, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


TOP = Region(0, 0, 0, 0)

NAME = 30
"""Characters of an agent's name that are shown."""


@dataclass(frozen=True, slots=True)
class Doable:
    """Something a human can do about a finding. The offer is made when it is shown.

    `show` opens a file; `edit` writes `text` over a region of the human's own file.
    """

    title: str
    act: Act | Literal["show", "edit"]
    target: str
    hunk: str = ""
    option: str = ""
    preferred: bool = False
    edit: tuple[Region, str] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    path: str
    region: Region
    severity: Severity
    message: str
    doable: tuple[Doable, ...] = ()
    related: tuple[tuple[str, Region, str], ...] = ()
    data: Mapping[str, Json] | None = None


def region_of(text: str, span: Span) -> Region:
    """The region of code point offsets."""
    return Region(*_point(text, span.start), *_point(text, span.end))


def _point(text: str, offset: int) -> tuple[int, int]:
    lines = split_lines(text[:offset])
    if not lines or lines[-1].endswith(("\n", "\r")):
        return len(lines), 0
    return len(lines) - 1, len(lines[-1])


def in_contract(turn: Turn, task: str, *pointer: str | int) -> tuple[str, Region]:
    """A place in the contract's file as it is now; its top when the text no longer has that place."""
    path = turn.state.contracts[task][1].path
    text = turn.glance(path).text
    return path, region_of(text, read_contract(text).at(*pointer)) if text else TOP


def lines_region(lines: Sequence[str], start: int, count: int) -> Region:
    """The region of whole lines, without the last one's line end. A last, empty line is none."""
    many = len(lines)
    if many and not lines[many - 1]:
        many -= 1
    if not many:
        return TOP
    start = min(start, many - 1)
    if count == 0:
        return Region(start, 0, start, 0)
    end = min(start + count, many) - 1
    return Region(start, 0, end, len(lines[end].rstrip("\r\n")))


def agent_name(turn: Turn, agent: str) -> str:
    """What people call an agent: the name it claims, never so long that what it wants is cut off."""
    known = turn.state.agents.get(agent)
    return plain.line(known.name if known and known.name.strip() else agent, NAME)


def asks(turn: Turn, asked: DecisionAsked) -> str:
    """The question of a decision; an agent's own words are never taken for Remit's."""
    if asked.kind != "question" or asked.agent is None:
        return asked.question
    return f"{agent_name(turn, asked.agent)} asks: {asked.question}"


def short(message: str) -> str:
    """One line of at most 100 characters: what a problem list shows. A file's name is at its end, so the end stays."""
    return plain.line(message, 100)
