"""`remit.rebase: auto`: what waits moves along while the human types elsewhere in the file. Never applied by it.

Done when the typing has paused, and not with each keystroke: each move is a proposal of its own in the journal, so how
many there are is bounded (`core/room.py`). What has not moved along is shown fitted to the present all the same.
"""

from __future__ import annotations

from remit.core import asking, rebasing, reviewing, room
from remit.core.faults import Fault
from remit.core.proposal import Proposal
from remit.core.turn import Turn

PAUSE = 2.0
"""Seconds without typing in a file after which what waits for it moves along."""


def concerns(turn: Turn, path: str) -> bool:
    """Whether something waits that a change of this file may have left behind."""
    return any(path == file.path for entry in turn.state.open_proposals() for file in entry.outline.files)


def along(turn: Turn) -> float | None:
    """Make anew, on the present text, what waits for open files that the human has stopped typing in, and still fits.

    In how many seconds to come again, where the human is still typing or more is left to do.
    """
    done, size, again = 0, 0, None
    for entry in turn.state.open_proposals():
        proposal = turn.proposal(entry.outline.proposal)
        if entry.state != "pending" or not _moves(turn, proposal):
            continue
        if (left := _typing(turn, proposal)) > 0:
            again = min(left, again or left)
            continue
        if done >= room.ALONG or size >= room.ALONG_BYTES:
            return PAUSE
        size += _along(turn, proposal)
        done += 1
    return again


def _moves(turn: Turn, proposal: Proposal) -> bool:
    """Whether a proposal is one that moves by itself: clean, something left of it, nothing else asked about it."""
    shown = rebasing.shown(turn, proposal)
    if not rebasing.fits(shown) or not rebasing.left(shown) or asking.own(turn, proposal):
        return False
    if any(one.standing == "clean" and one.snapshot.origin != "buffer" for one in shown):
        return False
    touched = set(proposal.touches())
    busy = {target.path for running in turn.state.running() for target in running.plan.targets}
    return not touched & busy and _moved(turn, proposal) < room.ALONG_EACH


def _moved(turn: Turn, proposal: Proposal) -> int:
    """How often it was made anew already, since somebody last decided about it."""
    times, outline = 0, turn.state.proposals[proposal.id].outline
    while outline.made == "rebase" and outline.parent is not None and times < room.ALONG_EACH:
        times, outline = times + 1, turn.state.proposals[outline.parent].outline
    return times


def _typing(turn: Turn, proposal: Proposal) -> float:
    """Seconds until the human has paused in all of its files."""
    buffers = (turn.memory.mirror.buffers.get(path) for path in proposal.touches())
    last = max((buffer.changed_at for buffer in buffers if buffer is not None), default=turn.clock)
    return max(0.0, last + PAUSE - turn.clock)


def _along(turn: Turn, proposal: Proposal) -> int:
    """Put the rebased proposal in the place of the old one; the bytes of its texts. Nothing where that cannot be."""
    try:
        made = rebasing.make(turn, proposal)
    except Fault:
        return 0
    reviewing.succeed(turn, proposal, made)
    return sum(len(turn.blobs.get(file.result, b"")) for file in made.files)
