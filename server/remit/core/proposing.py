"""An agent proposes: from a patch or whole texts to a proposal bound to digests, or a refusal that says what to do.

Everything is worked out in memory first; a refusal leaves no trace of half a proposal. Deciding about it is
`core/reviewing.py`.
"""

from __future__ import annotations

from remit.core import asking, atonce, making, overlapping, paths, plain, room, wish
from remit.core import events as e
from remit.core.answers import FileView, HunkView, ProposeResult
from remit.core.faults import AgentFault
from remit.core.proposal import FileChange, Hunk, Proposal
from remit.core.requests import ProposeParams
from remit.core.turn import Turn


def propose(turn: Turn, agent: str, task: str, params: ProposeParams) -> ProposeResult:
    """File a proposal. AgentFaults: see `contracts/methods.md` under `propose_patch`."""
    wishes, notes = wish.wishes(params)
    room.demand_size(len(wishes))
    bases = {paths.parse(path, portable=False): bound for path, bound in params.bases.items()}
    asks = making.permitted(turn, task, [path for one in wishes for path in one.touches()])
    name = turn.state.next_id("P")
    files: list[FileChange] = []
    for one in wishes:
        first = 1 + sum(len(file.hunks) for file in files)
        files.append(making.change(turn, agent, task, one, bases, name, first))
    touched = [path for file in files for path in file.touches()]
    wish.once(touched)  # a link and its target are one file
    asks |= making.permitted(turn, task, touched)
    asks |= {path: why for path in touched if path not in asks and (why := asking.shared(turn, path)) is not None}
    room.demand_size(len(files), sum(len(file.hunks) for file in files), len(asks))
    replaced = _replaced(turn, agent, params.replaces)
    if replaced is None:
        room.demand_proposal(turn)
    proposal = Proposal(
        id=name,
        task=task,
        agent=agent,
        note=plain.prose(params.note),
        files=tuple(files),
        contract=turn.contract_digest(task),
        policy=turn.policy_digest(),
        parent=replaced,
    )
    turn.record(proposal)
    if replaced is not None:
        turn.emit(e.Superseded(proposal=replaced, replaced_by=(name,)))
        asking.withdraw(turn, replaced, f"{name} took its place")
    decisions = tuple(asking.ask(turn, proposal, path, why) for path, why in asks.items())
    turn.memory.repeats.pop(agent, None)
    because = "" if decisions else atonce.begin(turn, proposal)
    return ProposeResult(
        proposal_id=name,
        state=turn.state.proposals[name].state,
        files=tuple(file_view(file) for file in files),
        hunks=tuple(hunk_view(turn, file, hunk) for file, hunk in proposal.hunks()),
        decisions=decisions,
        notes=notes,
        overlaps=overlapping.told(turn, proposal),
        next=_next(turn, proposal, because),
    )


def _next(turn: Turn, proposal: Proposal, because: str) -> str:
    if turn.state.proposals[proposal.id].state != "pending":
        return "It is applied at once and reviewed after: call wait_for_review to see what came of it."
    asked = turn.contract(proposal.task).review == "after" and because
    why = f" It is not applied at once: {because.rstrip('.')}." if asked else ""
    if turn.state.mode != "editor":
        return "No editor is open, so nothing is applied yet; it waits. Go on, or call wait_for_review later."
    return f"It waits for the human's review: call wait_for_review.{why}"


def withdraw(turn: Turn, agent: str, name: str) -> None:
    """An agent takes back its own proposal before it was decided. AgentFaults: unknown_proposal, not_pending."""
    _replaced(turn, agent, name)
    turn.emit(e.Withdrawn(proposal=name, reason="its agent withdrew it"))
    asking.withdraw(turn, name, "its proposal was withdrawn")


def file_view(file: FileChange) -> FileView:
    return FileView(
        path=file.path,
        op=file.op,
        source=file.source,
        base=file.base,
        result=file.result,
        executable=file.executable,
        copy_of=file.copy_of,
        kept=file.kept or None,
    )


def hunk_view(turn: Turn, file: FileChange, hunk: Hunk) -> HunkView:
    return HunkView(
        id=hunk.id,
        path=file.path,
        old_start=hunk.old_start + bool(hunk.old),
        old_lines=len(hunk.old),
        new_start=hunk.new_start + bool(hunk.new),
        new_lines=len(hunk.new),
        state=turn.state.hunks.get(hunk.id, "pending"),
        placed=hunk.placed,
        was=hunk.was,
    )


def _replaced(turn: Turn, agent: str, name: str | None) -> str | None:
    if name is None:
        return None
    entry = turn.state.proposals.get(name)
    if entry is None or entry.outline.agent != agent:
        raise AgentFault("unknown_proposal", f"You have no proposal {name}.", remedy="Call task_status.")
    if not entry.open:
        raise AgentFault(
            "not_pending",
            f"{name} is {entry.state}; it cannot be replaced.",
            remedy="Propose without `replaces`.",
            state=entry.state,
        )
    return name
