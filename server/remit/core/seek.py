"""Where in a text the old lines of a chunk stand; or nowhere, or in several places: refused with what is most alike.

Exact first: the whole old text at its declared line is taken there without a search. Only then is it looked for.
Does not live here: the text that a chunk makes there (`place`), which rules may be used (policy).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from remit.core.chunk import Chunk
from remit.core.faults import AgentFault, Json
from remit.core.lines import Alike, View, bare_line
from remit.core.text import split_lines

Rule = Literal["exact", "offset", "trailing_blanks", "line_ends"]


@dataclass(frozen=True, slots=True)
class Site:
    """`count` lines from `line` on, in the lines of `view`; `offset` lines from the declared one, by `rule`."""

    view: View
    line: int
    count: int
    rule: Rule
    offset: int


def locate(view: Callable[[Alike], View], number: int, chunk: Chunk, rules: Sequence[Rule]) -> Site:
    """Where chunk `number` (0-based, for the refusals) stands in the text that `view` shows.

    The declared line first, under every rule: a loose hit there is better than an exact one far away.
    AgentFault: no_match, context_not_found, ambiguous_match, insertion_point_unclear; lines in their data are 1-based.
    """
    looser: tuple[Alike, ...] = ("line_ends", "trailing_blanks")
    alikes: list[Alike] = ["exact", *(alike for alike in looser if alike in rules)]
    if not chunk.old:
        return _inserted(view, number, chunk, rules)
    if chunk.line is not None:
        for alike in alikes:
            if _fits(view(alike), chunk, chunk.line):
                return _site(view(alike), chunk, chunk.line)
    for alike in alikes if chunk.line is None or "offset" in rules else ():
        lines = _matches(view(alike), number, chunk)
        if len(lines) > 1:
            raise ambiguous(number, [view(alike).house_line(line) for line in lines])
        if lines:
            return _site(view(alike), chunk, lines[0])
    raise unfound(view("exact").text, number, chunk.line, chunk.old)


def _inserted(view: Callable[[Alike], View], number: int, chunk: Chunk, rules: Sequence[Rule]) -> Site:
    exact = view("exact")
    declared = chunk.line is not None and _fits(exact, chunk, chunk.line)
    line = chunk.line if declared and chunk.line is not None else _insertion(exact, number, chunk)
    # Lines that come without any old text cannot show their style of line ends: they take that of the place.
    if "line_ends" in rules and not any(line.endswith("\r") for line in chunk.new):
        house = exact.house_line(line)
        if view("line_ends").style(house) != "\n":
            return _site(view("line_ends"), chunk, house)
    return _site(exact, chunk, line)


def _site(view: View, chunk: Chunk, line: int) -> Site:
    moved = line - chunk.line if chunk.line is not None else 0
    rule: Rule = "offset" if moved else "exact"
    if view.alike == "line_ends" or view.alike == "trailing_blanks":
        rule = view.alike
    return Site(view, line, len(view.read(chunk.old)), rule, moved)


def _fits(view: View, chunk: Chunk, line: int) -> bool:
    """Does the whole old text stand at this line, its end included?"""
    want = view.wanted(chunk.old)
    end = line + len(want)
    if end > len(view.lines) or view.keys[line:end] != want:
        return False
    if (chunk.at_end or chunk.old_final_newline is False or chunk.new_final_newline is False) and end < len(view.lines):
        return False
    if view.alike != "exact" or not want or chunk.old_final_newline is None:
        return True
    return bool(view.end(end - 1)) is chunk.old_final_newline


def _matches(view: View, number: int, chunk: Chunk) -> list[int]:
    """The lines where the old text fits; with anchors, the first one under each place that the anchors name."""
    lines = [line for line in view.find(view.wanted(chunk.old)) if _fits(view, chunk, line)]
    return _under(_anchored(view, number, chunk.anchors), lines) if chunk.anchors else lines


def _insertion(view: View, number: int, chunk: Chunk) -> int:
    """Where lines go that come without any old text: under their anchor, or where the text ends."""
    if chunk.line is None and not chunk.anchors and (chunk.at_end or not view.lines):
        return len(view.lines)
    floors = _anchored(view, number, chunk.anchors) if chunk.anchors else []
    if len(floors) == 1 and not chunk.at_end:
        return floors[0] + 1
    raise AgentFault(
        "insertion_point_unclear",
        f"Chunk {number + 1} only adds lines, and it is not clear where.",
        remedy="Send the lines around the place as context.",
        chunk=number,
        candidates=[view.house_line(line) + 1 for line in floors],
    )


def _anchored(view: View, number: int, anchors: Sequence[str]) -> list[int]:
    """The lines of the last anchor, each looked for below the one before. Blanks around an anchor may differ."""
    floors = [0]
    for step, anchor in enumerate(anchors):
        alike = view.standing(anchor)
        hits = [line for line in alike if view.keys[line] == anchor] or alike
        floors = _under([floor + 1 for floor in floors], hits) if step else hits
        if not floors:
            raise AgentFault(
                "context_not_found",
                f"Chunk {number + 1}: its @@ line is not in the file.",
                remedy="Read the file again and copy the line behind @@ from it.",
                chunk=number,
                anchor=_shown(anchor),
            )
    return floors


def _under(floors: Sequence[int], lines: Sequence[int]) -> list[int]:
    """For each floor, the first line at or below it; `lines` are in order."""
    found = (bisect_left(lines, floor) for floor in floors)
    return sorted({lines[at] for at in found if at < len(lines)})


def ambiguous(number: int, lines: Sequence[int]) -> AgentFault:
    """The refusal `ambiguous_match`; `lines` are 0-based."""
    return AgentFault(
        "ambiguous_match",
        f"Chunk {number + 1}: its old text stands in {len(lines)} places.",
        remedy="Send more of the lines around it, so that one place is left.",
        chunk=number,
        count=len(lines),
        candidates=[line + 1 for line in lines],
    )


def unfound(text: str, number: int, declared: int | None, old: Sequence[str]) -> AgentFault:
    """The refusal `no_match`; `declared` is 0-based, `old` is not empty."""
    return AgentFault(
        "no_match",
        f"Chunk {number + 1}: its old text is not in the file.",
        remedy="Read the file again and make the change from what it has now.",
        chunk=number,
        nearest=_nearest(text, declared or 0, old),
    )


def _nearest(text: str, declared: int, old: Sequence[str]) -> Json:
    """The most similar place, and in what it differs from what was sent: only a hint, nothing is placed by it."""
    names: dict[Alike, str] = {
        "exact": "place",
        "line_ends": "line_ends",
        "trailing_blanks": "blanks",
        "blanks": "blanks",
    }
    for alike, differs in names.items():
        view = View(text, alike)
        if places := view.find(view.wanted(old)):
            line = min(places, key=lambda line: abs(line - declared))
            pairs = [(view.bare(has), sent) for has, sent in zip(view.lines[line:], view.read(old), strict=False)]
            step = next((step for step, (has, sent) in enumerate(pairs) if has != sent), 0)
            return _contrast(view.house_line(line) + step, differs, *pairs[step])
    sent = max(old, key=len)
    words = set(re.findall(r"\w+", sent))
    lines = split_lines(text)
    shared = [len(words.intersection(re.findall(r"\w+", line))) for line in lines]
    line = max(range(len(lines)), key=lambda line: (shared[line], -abs(line - declared)), default=0)
    return _contrast(line, "text", bare_line(lines[line]), sent) if any(shared) else None


def _contrast(line: int, differs: str, has: str, sent: str) -> Json:
    found: dict[str, Json] = {"line": line + 1, "differs": differs, "file": _shown(has), "request": _shown(sent)}
    if differs == "blanks":
        found |= {"file_blanks": _blanks(has, sent), "request_blanks": _blanks(sent, has)}
    return found


def _blanks(line: str, other: str) -> str:
    """The blanks of a line where it parts from another, spelled out: 1 tab (0x09)."""
    at = next(
        (at for at, (one, two) in enumerate(zip(line, other, strict=False)) if one != two), min(len(line), len(other))
    )
    start = len(line[:at].rstrip())
    run = line[start : len(line) - len(line[at:].lstrip())]
    counted = [(char, len(list(same))) for char, same in groupby(run)]
    names = {" ": "space", "\t": "tab"}
    return (
        ", ".join(f"{n} {names.get(char, 'blank')}{'s' * (n > 1)} (0x{ord(char):02x})" for char, n in counted) or "none"
    )


def _shown(text: str) -> str:
    """What JSON can carry: a byte that is no text in its escaped form, and not too much of it."""
    return text[:200].encode(errors="backslashreplace").decode()
