"""The text that the chunks of a patch make, once each has found its place; all else stays byte for byte.

Whatever was looser than "exact" is told in the result. Two places that fit are refused, never chosen between.
Does not live here: looking for the places (`seek`), reading a patch (`patch`), which rules may be used (policy), files
and encodings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

from remit.core.chunk import Chunk
from remit.core.diff import spans
from remit.core.faults import AgentFault
from remit.core.lines import MANY, Alike, View, bare_line, line_at
from remit.core.seek import Rule, Site, ambiguous, locate, unfound
from remit.core.text import split_lines

__all__ = ["RULES", "Placed", "Placement", "Rule", "place", "replace"]

RULES: tuple[Rule, ...] = ("exact", "offset", "line_ends")


MOST = 10_000
"""Places of one search text, at most: nobody reviews more."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Chunk `chunk` (0-based, as given) stands at `line` (0-based, old text), `offset` lines from the declared one."""

    chunk: int
    line: int
    rule: Rule
    offset: int


@dataclass(frozen=True, slots=True)
class Placed:
    """The whole new text, and how each chunk found its place, in the order of the chunks."""

    text: str
    placements: tuple[Placement, ...]


def place(text: str, chunks: Sequence[Chunk], rules: Sequence[Rule] = RULES) -> Placed:
    """Carry out the chunks, all of them made for `text` as it stands; their order does not matter.

    "exact" is always tried. Another style of line ends, or a final newline that only one side has, is a matter of
    "line_ends": lines that stay keep their bytes, new ones end like their neighbours.
    AgentFault: no_match, context_not_found, ambiguous_match, insertion_point_unclear, overlapping_chunks. Lines in
    their data are 1-based.
    """
    seen: dict[Alike, View] = {}

    def view(alike: Alike) -> View:
        if alike not in seen:
            seen[alike] = View(text, alike)
        return seen[alike]

    sites = [locate(view, number, chunk, rules) for number, chunk in enumerate(chunks)]
    edits = chain.from_iterable(_edits(number, sites[number], chunk) for number, chunk in enumerate(chunks))
    return Placed(_written(text, sorted(edits)), tuple(_placement(*each) for each in enumerate(sites)))


@dataclass(frozen=True, slots=True)
class Swap:
    """Put `new`, literally, in the place of `search`, which must occur `count` times (None: once or more)."""

    search: str
    new: str
    count: int | None = 1


def swap(text: str, swaps: Sequence[Swap], rules: Sequence[Rule] = RULES) -> Placed:
    """Carry out search and replace, all of them made for `text` as it stands; their order does not matter.

    AgentFault: no_match, ambiguous_match, overlapping_chunks, empty_search, too_many_changes.
    """
    edits: list[_Edit] = []
    placements: list[Placement] = []
    for number, one in enumerate(swaps):
        found, rule = _swapped(text, number, one, rules)
        edits += found
        placements += [Placement(number, line, rule, 0) for line in _lines_at(text, [edit.start for edit in found])]
    return Placed(_written(text, sorted(edits)), tuple(placements))


def replace(text: str, search: str, new: str, count: int | None = 1, rules: Sequence[Rule] = RULES) -> Placed:
    """`swap` with one of them."""
    return swap(text, [Swap(search, new, count)], rules)


def _swapped(text: str, number: int, one: Swap, rules: Sequence[Rule]) -> tuple[list[_Edit], Rule]:
    if not one.search:
        raise AgentFault("empty_search", "The search text is empty.", remedy="Name the text to replace.")
    loose = "line_ends" in rules
    found = _occurrences(text, re.escape(one.search))
    literal = bool(found) and ("\n" in one.search or "\r" in one.search or not loose)
    if not found and loose:
        found = _occurrences(text, r"(?:\r\n|\r|\n)".join(map(re.escape, re.split(r"\r\n|\r|\n", one.search))))
    if not found:
        raise unfound(text, number, None, [line.rstrip("\r\n") for line in split_lines(one.search)])
    if one.count is not None and one.count != len(found):
        raise ambiguous(number, _lines_at(text, [start for start, _ in found[:MANY]]))
    if len(found) > MOST:
        raise AgentFault(
            "too_many_changes",
            f"Chunk {number + 1}: its old text stands in more than {MOST} places.",
            remedy="Send it in parts.",
            chunk=number,
            limit=MOST,
        )
    edits = [
        _Edit(start, end, number, one.new if literal else _fitted(text, start, end, one.new)) for start, end in found
    ]
    exact = all(edit.text == one.new for edit in edits) and text[slice(*found[0])] == one.search
    return edits, "exact" if exact else "line_ends"


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """`text` comes in the place of the characters from `start` to `end`."""

    start: int
    end: int
    chunk: int
    text: str


def _placement(number: int, site: Site) -> Placement:
    return Placement(number, site.view.house_line(site.line), site.rule, site.offset)


def _edits(number: int, site: Site, chunk: Chunk) -> list[_Edit]:
    view, line, end = site.view, site.line, site.line + site.count
    old, new = view.read(chunk.old), view.read(chunk.new)
    if line == end == len(view.lines) and line and not view.end(line - 1):
        line -= 1  # lines behind a last line without end: that line needs one first
        old, new = [view.bare(view.lines[line])], [view.bare(view.lines[line]), *new]
    raw = view.lines[line:end]
    made = _ended(raw, old, new, view.style(line), view.bare)
    if made and end == len(view.lines) and not _final_newline(view, chunk):
        made[-1] = view.bare(made[-1])
    starts = view.starts
    return [
        _Edit(starts[line + span.old_start], starts[line + span.old_end], number, "".join(span.new))
        for span in spans(raw, made)
    ]


def _final_newline(view: View, chunk: Chunk) -> bool:
    """Shall the new text end in one? What the patch does not change stays as it is in the file."""
    has = not view.lines or bool(view.end(len(view.lines) - 1))
    said = chunk.new_final_newline
    if said is None or (chunk.old and view.alike != "exact" and said == chunk.old_final_newline):
        return has
    return said


def _ended(
    raw: Sequence[str], old: Sequence[str], new: Sequence[str], style: str, bare: Callable[[str], str]
) -> list[str]:
    """`new` with line ends: lines that `old` has too keep those of `raw` (the same lines as `old`, from the file)."""
    made: list[str] = []
    at = 0

    def keep(until: int) -> None:
        nonlocal at, style
        for line in raw[at:until]:
            style = line[len(bare(line)) :] or style
            made.append(bare(line) + style)
        at = until

    for span in spans(old, new):
        keep(span.old_start)
        replaced = "".join(line[len(bare(line)) :] for line in raw[at : at + 1]) or style
        made += [line + replaced for line in span.new]
        at = span.old_end
    keep(len(raw))
    return made


def _written(text: str, edits: Sequence[_Edit]) -> str:
    """`text` with the edits, which are in order, carried out; all else stays byte for byte."""
    for one, two in pairwise(edits):
        if two.start < one.end or (one.start, one.end) == (two.start, two.end):
            raise AgentFault(
                "overlapping_chunks",
                f"Chunks {one.chunk + 1} and {two.chunk + 1} change the same place.",
                remedy="Send one chunk for this place.",
                chunks=[one.chunk, two.chunk],
            )
    ends = [0, *(edit.end for edit in edits)]
    parts = [text[end : edit.start] + edit.text for end, edit in zip(ends, edits, strict=False)]
    return "".join(parts) + text[ends[-1] :]


def _occurrences(text: str, pattern: str) -> list[tuple[int, int]]:
    """Where the pattern is found, overlapping places too: they are places that fit.

    No more than MANY when some overlap, which is never carried out; else no more than MOST and one.
    """
    found: list[tuple[int, int]] = []
    search, most = re.compile(pattern).search, MOST + 1
    while len(found) < most and (hit := search(text, found[-1][0] + 1 if found else 0)):
        if found and hit.start() < found[-1][1]:
            most = MANY
        found.append(hit.span())
    return found[:most]


def _lines_at(text: str, places: Sequence[int]) -> list[int]:
    """`line_at` for places in order, each before the end of the text."""
    if len(places) < 2:
        return [line_at(text, at) for at in places]
    starts = [0, *accumulate(map(len, split_lines(text)))]
    return [bisect_right(starts, at) - 1 for at in places]


_LINE_END = re.compile(r"\r\n|\r|\n")


def _fitted(text: str, start: int, end: int, new: str) -> str:
    """`new` with the line ends of its place; lines of the old text that come again keep their own."""
    near = _LINE_END.search(text, start) or re.search(r"(\r\n|\r|\n)(?=[^\r\n]*$)", text[:start])
    style, lines = (near[0] if near else "\n"), split_lines(new)
    raw = split_lines(text[start:end])
    made = _ended(raw, [bare_line(line) for line in raw], [bare_line(line) for line in lines], style, bare_line)
    return (
        "".join(made) if not lines or bare_line(lines[-1]) != lines[-1] else "".join([*made[:-1], bare_line(made[-1])])
    )
