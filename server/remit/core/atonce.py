"""`review: after`: what a contract and the policy let be applied at once, to be looked at afterwards.

Only what a human would not have to be asked about: in scope, onto fresh and saved text, nothing that can make programs
run code. Everything else waits as if the contract said `before`, and the agent is told why.
"""

from __future__ import annotations

from remit.core import applying, ending, room
from remit.core import events as e
from remit.core.approval import CONTRACT, Approval
from remit.core.entries import ProposalEntry
from remit.core.faults import Fault, Json, UserFault
from remit.core.model import ABSENT, fingerprint
from remit.core.permission import after
from remit.core.proposal import FileChange, Proposal
from remit.core.snapshot import Fresh, judge
from remit.core.turn import Turn


def begin(turn: Turn, proposal: Proposal) -> str:
    """Apply a proposal that was just made, if that may be done at once; else why it waits. Empty: begun."""
    try:
        if because := _because(turn, proposal):
            return because
        ending.demand_free(turn, proposal)
        applying.demand_able(turn, proposal)
    except Fault as fault:
        return fault.message
    contract, policy = turn.contract_digest(proposal.task), turn.policy_digest()
    binding = fingerprint({"proposal": proposal.digest(), "contract": contract, "policy": policy})
    offer = f"contract:{proposal.id}"
    approval = Approval(by=CONTRACT, offer=offer, binding=binding, contract=contract, policy=policy)
    applying.begin(turn, proposal, approval)
    return ""


def _because(turn: Turn, proposal: Proposal) -> str:
    contract, policy = turn.contract(proposal.task), turn.policy()
    if contract.review != "after":
        return "the contract says so (review: before)"
    if turn.state.mode != "editor":
        return "no editor is open"
    if (unseen := sum(entry.unseen for entry in turn.state.proposals.values())) >= room.UNSEEN:
        return f"{unseen} changes wait to be looked at already"
    for file in proposal.files:
        for path in file.touches():
            if reason := after(path, contract, policy):
                return reason
        if reason := _doubtful(turn, file):
            return reason
    return ""


def _doubtful(turn: Turn, file: FileChange) -> str:
    """Why a file is not one to write without asking, as it is now."""
    if file.executable:
        return f"{file.path} would become executable"
    for path in file.touches():
        found = turn.look(path)
        if not isinstance(judge(found, file.base if path == file.origin and file.op != "create" else ABSENT), Fresh):
            return f"{path} is not what it was made from any more"
        if not found.clean:
            return f"{path} holds text that is not saved"
        # Of an open file too: a save writes through to its other names.
        lying = turn.sight.files.read(path)
        if lying is not None and lying.links > 1:
            return f"{path} has other names on disk"
    return ""


# --- looking at it afterwards -----------------------------------------------------------------------------------------


def shows(turn: Turn, entry: ProposalEntry) -> dict[str, Json]:
    """What a showing of something applied shows: the proposal, and what is in its files now."""
    files: list[Json] = [[file.path, turn.glance(file.path).digest] for file in entry.outline.files]
    return {"proposal": entry.outline.digest, "files": files}


def offer(turn: Turn, entry: ProposalEntry) -> str:
    return turn.offer("seen", entry.outline.proposal, shows(turn, entry))


def seen(turn: Turn, name: str) -> str:
    """The human has looked at what was applied at once; the proposal. UserFaults: already_decided, approval_unknown,
    approval_stale."""
    subject = turn.answer(name, "seen")
    entry = turn.state.proposals[subject.target]
    if not entry.unseen:
        raise UserFault("already_decided", f"{subject.target} is {entry.state}, and was seen.", state=entry.state)
    approval = turn.approve(name, subject, shows(turn, entry))
    turn.emit(e.Seen(proposal=subject.target, approval=approval))
    return subject.target
