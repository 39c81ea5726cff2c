"""The text that the chunks of a patch make, once each has found its place; all else stays byte for byte.

Whatever was looser than "exact" is told in the result. Two places that fit are refused, never chosen between.
Does not live here: looking for the places (`seek`), reading a patch (`patch`), which rules may be used (policy), files
and encodings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from remit.core import lines
from remit.core.chunk import EVERY, USUAL, Chunk, Rule
from remit.core.diff import spans
from remit.core.faults import AgentFault
from remit.core.indent import Indentation
from remit.core.lines import MANY, Alike, View, bare_line, lines_at
from remit.core.placed import Placed, Placement, words
from remit.core.seek import Site, absent, ambiguous, explained, foremost, seek, switched_off
from remit.core.text import split_lines

__all__ = ["RULES", "Placed", "Placement", "Rule", "Swap", "apart", "ended", "place", "replace", "swap", "words"]

RULES = USUAL

MOST = 10_000
"""Places of one search text, at most: nobody reviews more."""


def place(text: str, chunks: Sequence[Chunk], rules: Sequence[Rule] = RULES) -> Placed:
    """Carry out the chunks, all of them made for `text` as it stands; their order does not matter.

    "exact" is always tried. Another style of line ends, or a final newline that only one side has, is a matter of
    "line_ends": lines that stay keep their bytes, new ones end like their neighbours. By "tabs", new lines are
    indented as the file indents the old lines that came with the same blanks.
    AgentFault: no_match, context_not_found, ambiguous_match, insertion_point_unclear, indentation_unclear,
    line_ends_join, overlapping_chunks, search_too_long. Lines in their data are 1-based.
    """
    view = _views(text)

    def one(number: int, rules: Sequence[Rule]) -> tuple[list[_Edit], list[Placement]]:
        site = seek(view, number, chunks[number], rules)
        return _edits(number, site, chunks[number]), [_placement(number, site)]

    return _carried_out(text, chunks, rules, one)


def _carried_out(
    text: str,
    chunks: Sequence[Chunk],
    rules: Sequence[Rule],
    one: Callable[[int, Sequence[Rule]], tuple[list[_Edit], list[Placement]]],
) -> Placed:
    """Each chunk by itself, then all of them together. Of several refusals, the one that their order has no part in."""
    edits: list[_Edit] = []
    placements: list[Placement] = []
    faults: dict[int, AgentFault] = {}
    for number in range(len(chunks)):
        try:
            made, told = one(number, rules)
        except AgentFault as fault:
            if fault.code == "search_too_long":
                raise  # it will be so in any order
            faults[number] = fault
        else:
            edits += made
            placements += told
    if faults:
        number = foremost({number: (fault, chunks[number]) for number, fault in faults.items()})
        refusal = explained(text, number, chunks[number], faults[number])
        raise switched_off(refusal, rules, lambda: one(number, EVERY)[1][0])
    edits.sort()
    known = {placement.chunk: placement.word for placement in placements}
    changed = tuple((edit.start, edit.end, known[edit.chunk]) for edit in edits)
    return Placed(_written(text, edits), tuple(placements), changed)


def _views(text: str) -> Callable[[Alike], View]:
    """The text as each way of comparing has it; made once, for all that is looked for in it."""
    return cache(lambda alike: View(text, alike))


@dataclass(frozen=True, slots=True)
class Swap:
    """Put `new`, literally, in the place of `search`, which must occur `count` times (None: once or more)."""

    search: str
    new: str
    count: int | None = 1


def swap(text: str, swaps: Sequence[Swap], rules: Sequence[Rule] = RULES) -> Placed:
    """Carry out search and replace, all of them made for `text` as it stands; their order does not matter.

    AgentFault: no_match, ambiguous_match, overlapping_chunks, empty_search, indentation_unclear, search_too_long,
    too_many_changes.
    """
    if len(swaps) * len(text) > lines.SEARCHED:
        raise lines.too_long()
    view = _views(text)
    return _carried_out(
        text, [_lines_of(one) for one in swaps], rules, lambda number, by: _swapped(view, number, swaps[number], by)
    )


def replace(text: str, search: str, new: str, count: int | None = 1, rules: Sequence[Rule] = RULES) -> Placed:
    """`swap` with one of them."""
    return swap(text, [Swap(search, new, count)], rules)


def _lines_of(one: Swap) -> Chunk:
    """A search text as the lines of a chunk."""
    old, new = (tuple(bare_line(line) for line in split_lines(text)) for text in (one.search, one.new))
    return Chunk(old, new)


def _swapped(
    view: Callable[[Alike], View], number: int, one: Swap, rules: Sequence[Rule]
) -> tuple[list[_Edit], list[Placement]]:
    text, loose = view("exact").text, "line_ends" in rules
    if not one.search:
        raise AgentFault("empty_search", "The search text is empty.", remedy="Name the text to replace.")
    found = _occurrences(text, re.escape(one.search))
    literal = bool(found) and ("\n" in one.search or "\r" in one.search or not loose)
    if not found and loose:
        found = _occurrences(text, r"(?:\r\n|\r|\n)".join(map(re.escape, re.split(r"\r\n|\r|\n", one.search))))
    looser = {"trailing_blanks", "tabs"}.intersection(rules)
    if not found and looser and one.count in (None, 1) and one.search.endswith("\n") == one.new.endswith("\n"):
        # Looser rules know whole lines only: the search text is a chunk then.
        chunk = _lines_of(one)
        site = seek(view, number, chunk, rules)
        return _edits(number, site, chunk), [_placement(number, site)]
    if not found:
        raise absent(number)
    if one.count is not None and one.count != len(found):
        raise ambiguous(number, lines_at(text, [start for start, _ in found[:MANY]]))
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
    rule: Rule = "exact" if exact else "line_ends"
    return edits, [Placement(number, line, rule, 0) for line in lines_at(text, [edit.start for edit in edits])]


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """`text` comes in the place of the characters from `start` to `end`."""

    start: int
    end: int
    chunk: int
    text: str


def _placement(number: int, site: Site) -> Placement:
    return Placement(number, site.view.house_line(site.line), site.rule, site.offset, site.also)


def _edits(number: int, site: Site, chunk: Chunk) -> list[_Edit]:
    view, line, end = site.view, site.line, site.line + site.count
    old, new = view.read(chunk.old), view.read(chunk.new)
    if line == end == len(view.lines) and line and not view.end(line - 1):
        line -= 1  # lines behind a last line without end: that line needs one first
        old, new = [view.bare(view.lines[line])], [view.bare(view.lines[line]), *new]
    raw = view.lines[line:end]
    fit = Indentation(number, view, raw, old).of if view.alike == "tabs" else str
    made = ended(raw, old, new, view.style(line), view.bare, fit)
    if made and end == len(view.lines) and not _final_newline(view, chunk):
        made[-1] = view.bare(made[-1]) or made[-1]  # an empty line is one by its end alone
    starts = view.starts
    if view.alike != "exact":
        made = apart(view.text[: starts[line]], made, view.text[starts[end] :], raw, number)
    return [
        _Edit(starts[line + span.old_start], starts[line + span.old_end], number, "".join(span.new))
        for span in spans(raw, made)
    ]


def apart(before: str, made: Sequence[str], after: str, kept: Sequence[str] = (), number: int = 0) -> list[str]:
    """The lines `made`, so that none is lost where one that ends in \\r comes to stand before an empty one.

    Only a text in which lines end in several ways has such places. AgentFault: line_ends_join, where a line of the
    text itself (one of `kept`, or the one `before`) would have to end otherwise.
    """
    found, last = list[str](), before[-1:]
    for line in made:
        joins = last == "\r" and line == "\n"
        if joins and line in kept:
            raise _joins(number)
        found.append("\r" if joins else line)
        last = found[-1][-1:]
    if last == "\r" and after[:1] == "\n":
        if not found or found[-1] in kept:
            raise _joins(number)
        found[-1] = found[-1][:-1] + "\n"
    return found


def _joins(number: int) -> AgentFault:
    return AgentFault(
        "line_ends_join",
        f"Chunk {number + 1}: what it takes away keeps two line ends from becoming one.",
        remedy="Send the lines on both sides as old lines, and as they shall be.",
        chunk=number,
    )


def _final_newline(view: View, chunk: Chunk) -> bool:
    """Shall the new text end in one? What the patch does not change stays as it is in the file."""
    has = not view.lines or bool(view.end(len(view.lines) - 1))
    said = chunk.new_final_newline
    if said is None or (chunk.old and view.alike != "exact" and said == chunk.old_final_newline):
        return has
    return said


def ended(
    raw: Sequence[str],
    old: Sequence[str],
    new: Sequence[str],
    style: str,
    bare: Callable[[str], str],
    fit: Callable[[str], str] = str,
) -> list[str]:
    """`new` with line ends: lines that `old` has too keep those of `raw` (the same lines as `old`, from the file).

    `fit` makes of a new line what the file would have.
    """
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
        made += [fit(line) + replaced for line in span.new]
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


_LINE_END = re.compile(r"\r\n|\r|\n")


def _fitted(text: str, start: int, end: int, new: str) -> str:
    """`new` with the line ends of its place; lines of the old text that come again keep their own."""
    near = _LINE_END.search(text, start) or re.search(r"(\r\n|\r|\n)(?=[^\r\n]*$)", text[:start])
    style, lines = (near[0] if near else "\n"), split_lines(new)
    raw = split_lines(text[start:end])
    made = ended(raw, [bare_line(line) for line in raw], [bare_line(line) for line in lines], style, bare_line)
    return (
        "".join(made) if not lines or bare_line(lines[-1]) != lines[-1] else "".join([*made[:-1], bare_line(made[-1])])
    )
