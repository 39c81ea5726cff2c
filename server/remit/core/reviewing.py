"""The human decides about a proposal: accept, reject, hunk by hunk, or rebase it onto the present.

Each act answers an offer and binds exactly what was shown. What applying then does is `core/applying.py`.
"""

from __future__ import annotations

from collections.abc import Collection

from remit.core import applying, asking, codec, ending, rebasing, staleness
from remit.core import events as e
from remit.core.entries import ProposalEntry
from remit.core.faults import Json, UserFault
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal, keep
from remit.core.turn import Act, Subject, Turn


def shows(turn: Turn, entry: ProposalEntry, act: Act, hunk: str = "") -> dict[str, Json]:
    """Everything that showing a proposal for an answer shows: it, what it is held to, and where the text has moved,
    what it is on the present one. A no is to the proposal, wherever its lines are; a rebase applies nothing, and what
    it makes is looked at anew."""
    task = entry.outline.task
    active = turn.state.contracts.get(task)
    held: dict[str, Json] = {
        "proposal": entry.outline.digest,
        "contract": active[1].contract if active else None,
        "policy": turn.policy_digest(),
    }
    if act in ("reject", "rejectHunk", "rebase"):
        return held
    there = rebasing.present(turn, turn.proposal(entry.outline.proposal), hunk)
    return {**held, "present": there} if there else held


def offer(turn: Turn, entry: ProposalEntry, act: Act, hunk: str = "") -> str:
    return turn.offer(act, entry.outline.proposal, shows(turn, entry, act, hunk), hunk)


def accept(turn: Turn, name: str, act: Act = "accept") -> str:
    """Accept a proposal, or one hunk of it, as it is shown; the id of the action that applies it.

    Where the text has moved and the rebase is clean, that is one act: the rebased proposal takes its place, and is
    approved and applied. UserFaults: already_decided, approval_unknown, approval_stale, stale, disk_conflict,
    buffer_unknown, protected_path, outside_scope, client_cannot_apply, target_open, no_editor, no_change, busy.
    """
    subject = turn.answer(name, act)
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    ending.demand_free(turn, proposal)
    if proposal.made != "remit":
        # The scope may have narrowed since, or a path may have become one that needs its own yes.
        asking.demand_permitted(turn, proposal)
    chosen = _part(turn, proposal, {subject.hunk}) if subject.hunk else proposal
    shown = shows(turn, entry, act, subject.hunk)
    made = None
    if staleness.moves(turn, chosen) and _is_shown(turn, name, subject, shown):
        made = _fitted(turn, proposal, subject.hunk)
    if made is None:
        demand_fresh(turn, chosen)
        applying.demand_able(turn, chosen)
    approval = turn.approve(name, subject, shown)
    if made is not None:
        succeed(turn, proposal, made)
        chosen = _part(turn, made, _of(made, subject.hunk)) if subject.hunk else made
    if subject.hunk:
        turn.record(chosen)
    return applying.begin(turn, chosen, approval)


def onto_present(turn: Turn, name: str, subject: Subject, shown: dict[str, Json], proposal: Proposal) -> Proposal:
    """The proposal as the offer shows it: itself while it is fresh, else its rebase, with every file and not recorded.

    UserFaults: stale, disk_conflict, buffer_unknown.
    """
    stale = staleness.moves(turn, proposal)
    if stale and _is_shown(turn, name, subject, shown) and rebasing.fits(rebasing.shown(turn, proposal)):
        return rebasing.make(turn, proposal, empty=True)
    demand_fresh(turn, proposal)
    return proposal


def _is_shown(turn: Turn, name: str, subject: Subject, shown: dict[str, Json]) -> bool:
    """Whether the offer shows what is there now; it is not used up by this."""
    return turn.offer(subject.act, subject.target, shown, subject.hunk) == name


def _fitted(turn: Turn, proposal: Proposal, hunk: str) -> Proposal | None:
    """The rebase that was shown, if it is clean and its answer may be one act with it."""
    if not rebasing.fits(rebasing.shown(turn, proposal)):
        return None
    if owned := asking.own(turn, proposal):
        raise UserFault(
            "protected_path",
            f"{owned[0]} needs a yes of its own for the text as it would be now.",
            remedy="Rebase it first, then answer the decision about it.",
            path=owned[0],
        )
    made = rebasing.make(turn, proposal)
    wanted = _of(made, hunk) if hunk else {each.id for _, each in made.hunks()}
    if not wanted:
        raise UserFault("no_change", f"The file already holds {hunk or 'all of it'}.", remedy="Rebase or reject it.")
    files = tuple(file for file in made.files if any(each.id in wanted for each in file.hunks))
    applying.demand_able(turn, made.model_copy(update={"files": files}))
    return made


def _of(made: Proposal, hunk: str) -> set[str]:
    return {each.id for _, each in made.hunks() if each.was == hunk}


def reject(turn: Turn, name: str, act: Act = "reject") -> str:
    """Reject a proposal, or one hunk of it; the id of the proposal that holds the rest, or of the rejected one."""
    subject = turn.answer(name, act)
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    ending.demand_free(turn, proposal)
    approval = turn.approve(name, subject, shows(turn, entry, act))
    every = [hunk.id for _, hunk in proposal.hunks()]
    gone = [subject.hunk] if subject.hunk else every
    turn.emit(e.Rejected(proposal=proposal.id, hunks=tuple(gone), approval=approval))
    asking.withdraw(turn, proposal.id, "its proposal was rejected")
    left = set(every) - set(gone)
    if not left:
        return proposal.id
    rest = _part(turn, proposal, left).model_copy(update={"made": "rest"})
    succeed(turn, proposal, rest)
    return rest.id


def rebase(turn: Turn, name: str) -> str:
    """Make the stale proposal anew on the present text; the new proposal waits for its own approval.

    UserFault("conflict") when both sides changed the same lines; nothing is guessed.
    """
    subject = turn.answer(name, "rebase")
    entry = open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    ending.demand_free(turn, proposal)
    made = rebasing.make(turn, proposal)
    turn.approve(name, subject, shows(turn, entry, "rebase"))
    if not made.files:
        turn.emit(e.Withdrawn(proposal=proposal.id, reason="the file already holds all of it"))
        return proposal.id
    succeed(turn, proposal, made)
    return made.id


def succeed(turn: Turn, proposal: Proposal, made: Proposal) -> None:
    """Put `made` (recorded here) in the place of a proposal, and ask anew what was asked about the old one."""
    turn.record(made)
    turn.emit(e.Superseded(proposal=proposal.id, replaced_by=(made.id,)))
    asking.withdraw(turn, proposal.id, f"{made.id} took its place")
    if proposal.made != "remit":
        asking.ask_all(turn, made)


# --- what must hold ---------------------------------------------------------------------------------------------------


def open_entry(turn: Turn, name: str) -> ProposalEntry:
    """A proposal that can be decided. UserFaults: approval_unknown, already_decided."""
    entry = turn.state.proposals.get(name)
    if entry is None:
        raise UserFault("approval_unknown", f"There is no proposal {name}.")
    if not entry.open:
        new = " and ".join(entry.replaced_by)
        raise UserFault(
            "already_decided",
            f"{name} is {entry.state} already{f' by {new}' if new else ''}.",
            remedy=f"Look at {new} instead." if new else "",
            state=entry.state,
            replacedBy=[*entry.replaced_by],
        )
    return entry


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
            remedy="Look again: it is shown as it fits the present text. Rebase it, or accept that."
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
