"""The human decides about a proposal: accept, reject, hunk by hunk, or rebase it onto the present.

Each act answers an offer and binds exactly what was shown. What applying then does is `core/applying.py`.
"""

from __future__ import annotations

from collections.abc import Collection

from remit.core import applying, asking, codec, diff, staleness
from remit.core import events as e
from remit.core.faults import Json, UserFault
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal, hunks_of, keep
from remit.core.state import ProposalEntry
from remit.core.turn import Act, Turn


def shows(turn: Turn, entry: ProposalEntry) -> dict[str, Json]:
    """Everything that showing a proposal for an answer shows: it, and what it is held to."""
    task = entry.outline.task
    active = turn.state.contracts.get(task)
    return {
        "proposal": entry.outline.digest,
        "contract": active[1].contract if active else None,
        "policy": turn.policy_digest(),
    }


def offer(turn: Turn, entry: ProposalEntry, act: Act, hunk: str = "") -> str:
    return turn.offer(act, entry.outline.proposal, shows(turn, entry), hunk)


def accept(turn: Turn, name: str, act: Act = "accept") -> str:
    """Accept a proposal, or one hunk of it; the id of the action that applies it.

    UserFaults: already_decided, approval_unknown, approval_stale, stale, disk_conflict, buffer_unknown,
    protected_path, outside_scope, client_cannot_apply, target_open, no_editor, busy.
    """
    subject = turn.answer(name, act)
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    demand_free(turn, proposal)
    if proposal.made != "remit":
        # The scope may have narrowed since, or a path may have become one that needs its own yes.
        asking.demand_permitted(turn, proposal)
    chosen = _part(turn, proposal, {subject.hunk}) if subject.hunk else proposal
    demand_fresh(turn, chosen)
    applying.demand_able(turn, chosen)
    approval = turn.approve(name, subject, shows(turn, entry))
    if chosen is not proposal:
        turn.record(chosen)
    return applying.begin(turn, chosen, approval)


def reject(turn: Turn, name: str, act: Act = "reject") -> str:
    """Reject a proposal, or one hunk of it; the id of the proposal that holds the rest, or of the rejected one."""
    subject = turn.answer(name, act)
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    demand_free(turn, proposal)
    approval = turn.approve(name, subject, shows(turn, entry))
    every = [hunk.id for _, hunk in proposal.hunks()]
    gone = [subject.hunk] if subject.hunk else every
    turn.emit(e.Rejected(proposal=proposal.id, hunks=tuple(gone), approval=approval))
    asking.withdraw(turn, proposal.id, "its proposal was rejected")
    left = set(every) - set(gone)
    if not left:
        return proposal.id
    rest = _part(turn, proposal, left).model_copy(update={"made": "rest"})
    _succeed(turn, proposal, rest)
    return rest.id


def rebase(turn: Turn, name: str) -> str:
    """Make the stale proposal anew on the present text; the new proposal waits for its own approval.

    UserFault("conflict") when both sides changed the same lines; nothing is guessed.
    """
    subject = turn.answer(name, "rebase")
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    demand_free(turn, proposal)
    new_id = turn.state.next_id("P")
    files: list[FileChange] = []
    for file in proposal.files:
        files.append(_rebased(turn, file, new_id, 1 + sum(len(done.hunks) for done in files)))
    turn.approve(name, subject, shows(turn, entry))
    files = [file for file in files if file.hunks]
    if not files:
        turn.emit(e.Withdrawn(proposal=proposal.id, reason="the file already holds all of it"))
        return proposal.id
    made = proposal.model_copy(
        update={"id": new_id, "files": tuple(files), "parent": proposal.id, "made": "rebase"}
        | {"contract": turn.contract_digest(proposal.task), "policy": turn.policy_digest()}
    )
    _succeed(turn, proposal, made)
    return new_id


def _succeed(turn: Turn, proposal: Proposal, made: Proposal) -> None:
    """Put `made` in the place of a proposal, and ask anew what was asked about the old one."""
    turn.record(made)
    turn.emit(e.Superseded(proposal=proposal.id, replaced_by=(made.id,)))
    asking.withdraw(turn, proposal.id, f"{made.id} took its place")
    if proposal.made != "remit":
        asking.ask_all(turn, made)


def can_rebase(turn: Turn, proposal: Proposal) -> bool:
    """Whether every stale file of it merges cleanly with the present."""
    stale = staleness.moves(turn, proposal)
    return bool(stale) and all(move.rebase == "clean" for move in stale)


# --- what must hold ---------------------------------------------------------------------------------------------------


def open_entry(turn: Turn, name: str) -> ProposalEntry:
    """A proposal that can be decided. UserFaults: approval_unknown, already_decided."""
    entry = turn.state.proposals.get(name)
    if entry is None:
        raise UserFault("approval_unknown", f"There is no proposal {name}.")
    if not entry.open:
        raise UserFault("already_decided", f"{name} is {entry.state} already.", state=entry.state)
    return entry


def demand_free(turn: Turn, proposal: Proposal) -> None:
    """Refuse while another apply is writing one of its files. UserFault("busy")."""
    touched = set(proposal.touches())
    for running in turn.state.running():
        if running.plan.kind == "apply" and touched & {target.path for target in running.plan.targets}:
            raise UserFault(
                "busy",
                f"{running.plan.action} is still writing {running.plan.targets[0].path} ({running.state}).",
                remedy="Wait for it, or answer its decision.",
                action=running.plan.action,
            )


def demand_fresh(turn: Turn, proposal: Proposal) -> None:
    """Refuse what is not made from the present content. UserFaults: stale, disk_conflict, buffer_unknown."""
    for file in proposal.files:
        staleness.demand_known(turn.look(file.origin), file.base, UserFault)
    views = staleness.views(turn, proposal)
    if views:
        first = views[0]
        raise UserFault(
            "stale",
            f"{first.path} has changed since {proposal.id} was made; it is now {first.current[:12]}… ({first.origin}).",
            remedy="Rebase it onto the present text, or have it proposed anew."
            if all(view.rebase == "clean" for view in views)
            else "Have it proposed anew.",
            stale=[view.wire() for view in views],
            proposal=proposal.id,
        )


# --- making the parts -------------------------------------------------------------------------------------------------


def _part(turn: Turn, proposal: Proposal, hunks: Collection[str]) -> Proposal:
    """The proposal with only these hunks, on the same bases, with digests of its own."""
    files = []
    for file in proposal.files:
        ids = [hunk.id for hunk in file.hunks]
        chosen = [hunk for hunk in ids if hunk in hunks]
        if len(chosen) == len(ids):
            files.append(file)
        elif chosen:
            files.append(_kept(turn, file, chosen))
    update = {"id": turn.state.next_id("P"), "files": tuple(files), "parent": proposal.id, "made": "part", "note": ""}
    return proposal.model_copy(update=update)


def _kept(turn: Turn, file: FileChange, chosen: Collection[str]) -> FileChange:
    base = "" if file.base == ABSENT else codec.decode_as(turn.kept(file.base), file.encoding())
    text = keep(file, chosen, file.result).text(base)
    return keep(file, chosen, turn.keep(codec.encode(text, file.encoding())))


def _rebased(turn: Turn, file: FileChange, name: str, first: int) -> FileChange:
    snapshot = turn.look(file.origin)
    staleness.demand_known(snapshot, snapshot.digest, UserFault)
    charset = staleness.shared_charset(file, snapshot)
    base = staleness.base_text(turn, file.base, charset)
    result = staleness.result_text(turn, file, charset)
    if snapshot.is_named(file.base):
        spans = tuple(hunk.span() for hunk in file.hunks)
        return file.model_copy(update={"hunks": hunks_of(name, spans, first)})
    if base is None or result is None or file.op != "modify" or snapshot.origin == "absent":
        raise UserFault("conflict", f"{file.path} cannot be rebased.", remedy="Have it proposed anew.", path=file.path)
    merged = diff.merge(base, snapshot.text, result)
    if isinstance(merged, diff.Conflict):
        raise UserFault(
            "conflict",
            f"{file.path}: the same lines were changed on both sides.",
            remedy="Have it proposed anew.",
            path=file.path,
            lines=[region.base_start + 1 for region in merged.regions],
        )
    return file.model_copy(
        update={
            "base": snapshot.digest,
            "result": turn.keep(codec.encode(merged.text, snapshot.charset)),
            "hunks": hunks_of(name, diff.between(snapshot.text, merged.text), first),
            "charset": snapshot.charset.name,
            "bom": snapshot.charset.bom.hex(),
        }
    )
