"""Everything that waits for the human, as plain data, each thing with the offer that answers it.

What an extension draws and a plain client can list; the words of it are in `contracts/methods.md` (`remit/view`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.core import (
    activating,
    asking,
    atonce,
    checking,
    deciding,
    overlapping,
    proposing,
    reading,
    rebasing,
    reviewing,
    staleness,
    undoing,
)
from remit.core.entries import ProposalEntry
from remit.core.faults import Json
from remit.core.overlapping import Overlaps, Touch
from remit.core.proposal import FileChange, Proposal
from remit.core.rebasing import Shown
from remit.core.source import contract as read_contract
from remit.core.source import policy as read_policy
from remit.core.turn import Turn

APPLIED = 20
"""The newest applied proposals that the view carries, each with the offer to take it back."""

ACTIONS = 50
"""The newest actions that the view carries."""


def overview(turn: Turn) -> dict[str, Json]:
    """The view: session, tasks with checks, proposals, decisions, and what could be activated."""
    return {
        "seq": turn.state.seq,
        "mode": turn.state.mode,
        "tasks": [_task(turn, task) for task in turn.state.contracts],
        "proposals": [*_proposals(turn)],
        "decisions": [_decision(turn, name) for name in turn.state.decisions if _waits(turn, name)],
        "applied": [_applied(turn, entry) for entry in _newest_applied(turn)],
        "actions": {name: _action(turn, name) for name in list(turn.state.actions)[-ACTIONS:]},
        "activations": [*_activations(turn)],
        "agents": [{"agent": key, "name": one.name, "version": one.version} for key, one in turn.state.agents.items()],
    }


def _task(turn: Turn, task: str) -> Json:
    wire: dict[str, Json] = reading.task_view(turn, task).wire()
    wire["checks"] = [
        {**view.wire(), "offer": checking.offer(turn, task, view.check_id) if view.may_run else None}
        for view in checking.views(turn, task)
    ]
    return wire


def _proposals(turn: Turn) -> Iterator[Json]:
    shown = overlapping.standing(turn)
    others = overlapping.overlaps(shown)
    for name, files in shown.items():
        entry, proposal = turn.state.proposals[name], turn.proposal(name)
        yield {**_proposal(turn, entry, proposal, files), "hunks": [*_hunks(turn, entry, files, others)]}


def _proposal(turn: Turn, entry: ProposalEntry, proposal: Proposal, files: Sequence[Shown]) -> dict[str, Json]:
    stale = staleness.views(turn, proposal)
    fresh, fits = not stale and staleness.is_fresh(turn, proposal), rebasing.fits(files)
    whole = not stale or (fits and rebasing.left(files) and not asking.own(turn, proposal))
    return {
        "proposal": proposal.id,
        "task": proposal.task,
        "agent": proposal.agent,
        "note": proposal.note,
        "state": entry.state,
        "reason": entry.reason,
        "made": proposal.made,
        "fresh": fresh,
        "shown": "rebased" if fits else "proposed",
        "stale": [view.wire() for view in stale],
        "accept": reviewing.offer(turn, entry, "accept") if whole else None,
        "reject": reviewing.offer(turn, entry, "reject"),
        "rebase": reviewing.offer(turn, entry, "rebase") if fits else None,
        "amend": reviewing.offer(turn, entry, "amend") if fresh or fits else None,
        "files": [proposing.file_view(_file(one, fits)).wire() for one in files],
    }


def _file(one: Shown, fits: bool) -> FileChange:
    """The file change that is shown: of one that fits by a rebase, that one, with the digests it would have."""
    return rebasing.change(one)[0] if fits and one.standing == "clean" else one.file


def _hunks(turn: Turn, entry: ProposalEntry, files: Sequence[Shown], others: Overlaps) -> Iterator[Json]:
    fits, owned = rebasing.fits(files), asking.own(turn, turn.proposal(entry.outline.proposal))
    for one in files:
        for hunk in one.hunks if fits else one.file.hunks:
            may = one.standing == "fresh" or (fits and not owned)
            yield {
                **proposing.hunk_view(turn, one.file, hunk).wire(),
                "old": list(hunk.old),
                "new": list(hunk.new),
                "overlaps": [_overlap(turn, touch) for touch in others.get(hunk.id, ())],
                "accept": reviewing.offer(turn, entry, "acceptHunk", hunk.id) if may else None,
                "reject": reviewing.offer(turn, entry, "rejectHunk", hunk.id),
            }


def _overlap(turn: Turn, touch: Touch) -> Json:
    return {"proposal": touch.proposal, "hunk": touch.hunk, "agent": turn.state.proposals[touch.proposal].outline.agent}


def _newest_applied(turn: Turn) -> list[ProposalEntry]:
    """The newest, and those that nobody has looked at, however old."""
    entries = [e for e in turn.state.proposals.values() if e.state == "applied" and e.outline.made != "undo"]
    return [e for e in entries[:-APPLIED] if e.unseen] + entries[-APPLIED:]


def _applied(turn: Turn, entry: ProposalEntry) -> Json:
    files: list[Json] = [file.path for file in entry.outline.files]
    return {
        "proposal": entry.outline.proposal,
        "files": files,
        "undo": undoing.offer(turn, entry),
        "reviewed": not entry.unseen,
        "seen": atonce.offer(turn, entry) if entry.unseen else None,
    }


def _waits(turn: Turn, name: str) -> bool:
    return turn.state.decisions[name].state == "pending"


def _decision(turn: Turn, name: str) -> Json:
    entry = turn.state.decisions[name]
    return {
        **entry.asked.wire(),
        "offer": deciding.offer(turn, entry),
        "askedAt": entry.at,
    }


def _action(turn: Turn, name: str) -> Json:
    entry = turn.state.actions[name]
    return {
        "kind": entry.plan.kind,
        "subject": entry.plan.subject,
        "state": entry.state,
        "reason": entry.reason,
        "found": dict(entry.found),
    }


def _activations(turn: Turn) -> Iterator[Json]:
    """Contracts and the policy whose present text is valid and not the one in force."""
    known = {path for path in {*turn.files(), *turn.memory.mirror.buffers} if activating.is_contract(path)}
    in_force = {event.path: event.contract for _, event in turn.state.contracts.values()}
    for path in sorted({*known, *in_force, *_drafts(turn)}):
        there = turn.glance(path)
        text, value = there.text, read_contract(there.text, guessed=staleness.guessed(there)).value
        if value is not None and (path not in in_force or turn.kept(in_force[path]).decode() != text):
            yield {"path": path, "task": value.task_id, "offer": activating.offer(turn, path)}
    snapshot = turn.glance(activating.POLICY_PATH)
    readable = read_policy(snapshot.text, guessed=staleness.guessed(snapshot)).value is not None
    if snapshot.origin != "absent" and readable:
        active = turn.state.policy
        if active is None or turn.kept(active).decode() != snapshot.text:
            yield {"path": activating.POLICY_PATH, "offer": activating.offer(turn, activating.POLICY_PATH)}


def _drafts(turn: Turn) -> Iterator[str]:
    """Drafts lie in a folder that listing leaves out; what was ever drafted is in the journal."""
    for entry in turn.state.decisions.values():
        if entry.asked.kind == "contract" and entry.asked.about is not None:
            yield entry.asked.about
