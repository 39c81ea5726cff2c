"""Which open proposals are about the same or adjoining lines: seen before either is applied, through the present text.

Two changes that touch are two that cannot both be rebased without a look, so this is the rule of the three-way merge.
What a proposal is on the present text is `core/rebasing.py`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from remit.core import rebasing
from remit.core.answers import OverlapView
from remit.core.events import FileOutline
from remit.core.proposal import Proposal
from remit.core.rebasing import WHOLE, Shown
from remit.core.turn import Turn

EACH = 5
"""Others that are named for one hunk, at most: who is told of five looks at the file."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A hunk of another open proposal that touches the one it is told for. Present lines, 0-based, end exclusive."""

    path: str
    proposal: str
    hunk: str
    start: int
    end: int


Overlaps = Mapping[str, tuple[Touch, ...]]
"""The touches of each hunk that has any, by its name."""


def overlaps(shown: Mapping[str, Sequence[Shown]]) -> Overlaps:
    """Every overlap among proposals, by name, as they are on the present text. Linear in their hunks, sorting aside."""
    by_path: dict[str, list[Touch]] = defaultdict(list)
    for name, files in shown.items():
        for one in files:
            for touch in _touches(name, one):
                by_path[touch.path].append(touch)
    found: dict[str, list[Touch]] = defaultdict(list)
    for touches in by_path.values():
        if any(touch.proposal != touches[0].proposal for touch in touches):
            _sweep(sorted(touches, key=lambda touch: (touch.start, touch.end)), found)
    return {hunk: tuple(others) for hunk, others in found.items() if others}


def _touches(name: str, one: Shown) -> Iterator[Touch]:
    if one.file.op == "modify" and one.file.result == one.file.base:
        return  # the mode alone: no line of it
    whole = one.file.op != "modify" or one.standing == "not_possible"
    done = {hunk.id for hunk in one.file.hunks} - {hunk.id for hunk in one.hunks}
    if whole:
        yield from (Touch(path, name, one.file.hunks[0].id, *WHOLE) for path in one.file.touches())
        return
    for hunk in one.file.hunks:
        if hunk.id not in done:
            own = one.spots.get(hunk.id, (hunk.old_start, hunk.old_start + len(hunk.old)))
            yield Touch(one.file.path, name, hunk.id, *own)


def _sweep(touches: Sequence[Touch], found: dict[str, list[Touch]]) -> None:
    """Down the lines of one file; `near` is what may still be touched. Who has `EACH` others is looked at no more."""
    near: list[Touch] = []
    for touch in touches:
        near = [other for other in near if other.end >= touch.start and len(found[other.hunk]) < EACH]
        for other in near:
            if other.proposal != touch.proposal:
                found[other.hunk].append(touch)
                if len(found[touch.hunk]) < EACH:
                    found[touch.hunk].append(other)
        near.append(touch)


def standing(turn: Turn) -> dict[str, tuple[Shown, ...]]:
    """All that waits, as it is on the present text, by name."""
    names = (entry.outline.proposal for entry in turn.state.open_proposals())
    return {name: rebasing.shown(turn, turn.proposal(name)) for name in names}


def told(turn: Turn, proposal: Proposal) -> tuple[OverlapView, ...]:
    """What the agent of a new proposal is told: which others, not what they say."""
    paths = set(proposal.touches())
    waiting = turn.state.open_proposals()
    near = (each.outline.proposal for each in waiting if paths & _paths(each.outline.files))
    shown = {name: rebasing.shown(turn, turn.proposal(name)) for name in near}
    found = overlaps({**shown, proposal.id: rebasing.shown(turn, proposal)})
    return tuple(
        OverlapView(
            hunk_id=hunk.id,
            path=touch.path,
            proposal_id=touch.proposal,
            yours=turn.state.proposals[touch.proposal].outline.agent == proposal.agent,
            same_task=turn.state.proposals[touch.proposal].outline.task == proposal.task,
        )
        for _, hunk in proposal.hunks()
        for touch in found.get(hunk.id, ())
    )


def _paths(files: Iterable[FileOutline]) -> set[str]:
    return {path for file in files for path in (file.path, file.source) if path is not None}
