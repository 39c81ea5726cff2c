"""Where in a text the old lines of a chunk stand; or nowhere, or in several places: refused with what is most alike.

Exact first: the whole old text at its declared line is taken there without a search. Only then is it looked for.
Does not live here: the text that a chunk makes there (`place`), which rules may be used (policy).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import Any

from remit.core.chunk import EVERY, Chunk, Rule
from remit.core.faults import AgentFault, Json
from remit.core.hint import shown, unfound
from remit.core.indent import same_indentation
from remit.core.lines import EACH, MANY, Alike, View, bare_line
from remit.core.placed import Placement
from remit.core.text import split_lines

LOOSER: tuple[Alike, ...] = ("line_ends", "trailing_blanks", "tabs")
FIRST = ("no_match", "context_not_found", "ambiguous_match", "insertion_point_unclear")
"""Of several refusals, which one is given: the order of the chunks must not decide."""


@dataclass(frozen=True, slots=True)
class Site:
    """`count` lines from `line` on, in the lines of `view`; `offset` lines from the declared one, by `rule`.

    `also`: rules that were needed besides.
    """

    view: View
    line: int
    count: int
    rule: Rule
    offset: int
    also: tuple[Rule, ...] = ()


def locate(view: Callable[[Alike], View], number: int, chunk: Chunk, rules: Sequence[Rule]) -> Site:
    """Where chunk `number` (0-based, for the refusals) stands in the text that `view` shows.

    The declared line first, under every rule: a loose hit there is better than an exact one far away.
    AgentFault: no_match, context_not_found, ambiguous_match, insertion_point_unclear; lines in their data are 1-based.
    """
    try:
        return seek(view, number, chunk, rules)
    except AgentFault as fault:
        raise explained(view("exact").text, number, chunk, fault) from None


def seek(view: Callable[[Alike], View], number: int, chunk: Chunk, rules: Sequence[Rule]) -> Site:
    """As `locate`, with refusals that do not yet say what would help: finding that out costs more than the search."""
    if not chunk.old:
        return _inserted(view, number, chunk, rules)
    # Each is made when it is needed: most chunks stand exactly where they say.
    sought = cache(lambda alike: _Sought(view(alike), chunk, rules))
    alikes = [alike for alike in ("exact", *LOOSER) if alike == "exact" or alike in rules]
    if chunk.line is not None:
        for alike in alikes:
            if sought(alike).fits(chunk.line):
                return sought(alike).site(chunk.line)
    for alike in alikes if chunk.line is None or "offset" in rules else ():
        lines = sought(alike).places(number)
        if len(lines) > 1:
            raise ambiguous(number, [view(alike).house_line(line) for line in lines])
        if lines:
            return sought(alike).site(lines[0])
    raise absent(number)


def absent(number: int) -> AgentFault:
    """The refusal `no_match`, before it is said what is most alike."""
    return AgentFault(
        "no_match",
        f"Chunk {number + 1}: its old text is not in the file.",
        remedy="Read the file again and make the change from what it has now.",
        chunk=number,
    )


def explained(text: str, number: int, chunk: Chunk, fault: AgentFault) -> AgentFault:
    """A refusal of `seek` with the place that is most like what was sent."""
    return unfound(text, number, chunk.line, chunk.old) if fault.code == "no_match" else fault


def switched_off(fault: AgentFault, rules: Sequence[Rule], would: Callable[[], Placement]) -> AgentFault:
    """The refusal, with the rules that are not allowed and by which it `would` be placed, and where; if there are any.

    `would` places by every rule, or raises.
    """
    if fault.code not in ("no_match", "insertion_point_unclear"):
        return fault
    try:
        found = would()
    except AgentFault:
        return fault
    used = {found.rule, *found.also, *(("offset",) if found.offset else ())}
    if off := ", ".join(rule for rule in EVERY if rule in used and rule not in rules):
        fault.data |= {"rule_off": off, "place": found.line + 1}
        fault.remedy = (
            f"It stands at line {found.line + 1} but for {off}, which the policy does not allow: copy it as it is."
        )
    return fault


def foremost(faults: Mapping[int, tuple[AgentFault, Chunk]]) -> int:
    """Which of several refusals is given, by what was asked and not by the order in which it was."""

    def key(number: int) -> Any:
        fault, chunk = faults[number]
        rank = FIRST.index(fault.code) if fault.code in FIRST else len(FIRST)
        line = -1 if chunk.line is None else chunk.line
        return (rank, fault.code, line, chunk.old, chunk.new, chunk.anchors, chunk.at_end)

    return min(faults, key=key)


def _inserted(view: Callable[[Alike], View], number: int, chunk: Chunk, rules: Sequence[Rule]) -> Site:
    exact = view("exact")
    declared = chunk.line is not None and _Sought(exact, chunk, rules).fits(chunk.line)
    if chunk.line is not None and not declared and "offset" not in rules:
        raise _unclear(number, [])
    line = chunk.line if declared and chunk.line is not None else _insertion(exact, number, chunk)
    # Lines that come without any old text cannot show their style of line ends: they take that of the place.
    if "line_ends" in rules and not any(line.endswith("\r") for line in chunk.new):
        house = exact.house_line(line)
        if view("line_ends").style(house) != "\n":
            return _Sought(view("line_ends"), chunk, rules).site(house)
    return _Sought(exact, chunk, rules).site(line)


class _Sought:
    """A chunk's old lines, as they are looked for in one view. Each is read once, however many places are tried."""

    def __init__(self, view: View, chunk: Chunk, rules: Sequence[Rule]) -> None:
        self.view, self.chunk, self.rules = view, chunk, rules
        self.sent = view.read(chunk.old)
        self.want = view.wanted(chunk.old)

    def site(self, line: int) -> Site:
        """`line` must fit."""
        moved = line - self.chunk.line if self.chunk.line is not None else 0
        needed = self.needed(line) or ()
        rule = needed[-1] if needed else "offset" if moved else "exact"
        return Site(self.view, line, len(self.sent), rule, moved, tuple(needed[:-1]))

    def fits(self, line: int) -> bool:
        """Does the whole old text stand at this line, its end included, by rules that are allowed?"""
        chunk, view = self.chunk, self.view
        end = line + len(self.want)
        if end > len(view.lines) or view.keys[line:end] != self.want:
            return False
        last = chunk.at_end or chunk.old_final_newline is False or chunk.new_final_newline is False
        if last and end < len(view.lines):
            return False
        if view.alike != "exact":
            needed = self.needed(line)
            return needed is not None and all(rule in self.rules for rule in needed)
        if not self.want or chunk.old_final_newline is None:
            return True
        return bool(view.end(end - 1)) is chunk.old_final_newline

    def places(self, number: int) -> list[int]:
        """The lines where the old text fits; with anchors, the first one under each place that the anchors name."""
        if not self.chunk.anchors:
            return list(islice(filter(self.fits, self.view.hits(self.want)), MANY))
        found: list[int] = []
        for floor in _anchored(self.view, number, self.chunk.anchors):
            if found and floor <= found[-1]:
                continue  # the same place is the first one under this anchor too
            line = next(filter(self.fits, self.view.hits(self.want, floor)), None)
            if line is None or len(found) == MANY:
                break
            found.append(line)
        return found

    def needed(self, line: int) -> tuple[Rule, ...] | None:
        """The rules it takes to stand at this line, beside an offset, from strict to loose; None: not even by them."""
        view = self.view
        if view.alike == "exact":
            return ()
        if view.alike == "line_ends":
            return ("line_ends",)
        view.spend(EACH * len(self.sent))
        has = view.lines[line : line + len(self.sent)]
        if view.alike == "tabs" and not same_indentation(map(bare_line, has), self.sent):
            return None
        ends = [one[len(bare_line(one)) :] for one in has]
        said = self._ends
        if self.chunk.old_final_newline is False or (self.chunk.old_final_newline is None and not ends[-1]):
            said = [*said[:-1], ""]
        loosest: Rule = "tabs" if view.alike == "tabs" else "trailing_blanks"
        return (loosest,) if ends == said else ("line_ends", loosest)

    @cached_property
    def _ends(self) -> list[str]:
        """How the lines of the patch end."""
        return [line[len(bare_line(line)) :] for line in split_lines("".join(f"{one}\n" for one in self.chunk.old))]


def _insertion(view: View, number: int, chunk: Chunk) -> int:
    """Where lines go that come without any old text: under their anchor, or where the text ends."""
    if chunk.line is None and not chunk.anchors and (chunk.at_end or not view.lines):
        return len(view.lines)
    floors = _anchored(view, number, chunk.anchors) if chunk.anchors else []
    if len(floors) == 1 and not chunk.at_end:
        return floors[0] + 1
    raise _unclear(number, [view.house_line(line) + 1 for line in floors])


def _unclear(number: int, candidates: list[Json]) -> AgentFault:
    return AgentFault(
        "insertion_point_unclear",
        f"Chunk {number + 1} only adds lines, and it is not clear where.",
        remedy="Send the lines around the place as context.",
        chunk=number,
        candidates=candidates,
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
                anchor=shown(anchor),
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
