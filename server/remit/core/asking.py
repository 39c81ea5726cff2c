"""Paths with an approval of their own: the question about a change of one, and whether it was answered with yes.

A yes is for one exact proposal; whatever takes its place is asked about anew. What an answer does: `core/deciding.py`.
"""

from __future__ import annotations

from remit.core import events as e
from remit.core.entries import DecisionEntry
from remit.core.faults import Fault, UserFault
from remit.core.permission import Ask, Refuse, may_write
from remit.core.proposal import Proposal
from remit.core.turn import Turn


def ask_all(turn: Turn, proposal: Proposal) -> None:
    """Ask about every path of a proposal that needs its own yes."""
    contract, policy = turn.contract(proposal.task), turn.policy()
    for path in proposal.touches():
        decision = may_write(path, contract, policy)
        because = decision if isinstance(decision, Ask) else _shared_if_known(turn, path)
        if because is not None:
            ask(turn, proposal, path, because)


def own(turn: Turn, proposal: Proposal) -> list[str]:
    """The paths of a proposal that need a yes of their own: by what was asked about it, or by what holds now."""
    contract, policy = turn.contract(proposal.task), turn.policy()
    asked = [d.asked.about or "" for d in turn.state.decisions.values() if is_about(d, proposal.id)]
    needed = (
        path
        for path in proposal.touches()
        if isinstance(may_write(path, contract, policy), Ask) or shared(turn, path) is not None
    )
    return [*asked, *needed]


def is_about(entry: DecisionEntry, proposal: str) -> bool:
    """Whether a decision is about a path of this very proposal that needs its own yes."""
    return (entry.asked.kind, entry.asked.subject) == ("protected_path", proposal)


def _shared_if_known(turn: Turn, path: str) -> Ask | None:
    """`shared`, where it can be said: what has happened must be written down, also while another file is unreadable.
    Before anything is written to that one it is looked at again."""
    try:
        return shared(turn, path)
    except Fault:
        return None


def shared(turn: Turn, path: str) -> Ask | None:
    """A closed file with other names on disk (hard links): replacing it leaves those with the old text."""
    if path in turn.memory.mirror.buffers or turn.look(path).links < 2:
        return None
    return Ask("hard link", f"{path} has other names on disk; they would keep the old text.")


def is_allowed(turn: Turn, proposal: str, path: str) -> bool:
    """Whether the human said yes to changing this path by this very proposal."""
    asked = (d for d in turn.state.decisions.values() if d.asked.kind == "protected_path")
    return any((d.asked.subject, d.asked.about, d.option) == (proposal, path, "allow") for d in asked)


def ask(turn: Turn, proposal: Proposal, path: str, because: Ask) -> str:
    """Ask for the own yes that a change of this path needs; the decision's id."""
    name = turn.state.next_id("D")
    turn.emit(
        e.DecisionAsked(
            decision=name,
            kind="protected_path",
            task=proposal.task,
            agent=proposal.agent,
            question=f"{proposal.id} changes {path}. Allow this change to be accepted?",
            why=because.reason,
            options=(
                e.Option(id="refuse", title="Refuse", effect=f"{proposal.id} is withdrawn; nothing is written."),
                e.Option(
                    id="allow",
                    title="Allow this change",
                    effect=f"{proposal.id}, exactly as it is now, can be reviewed and accepted.",
                ),
            ),
            about=path,
            subject=proposal.id,
            binding=proposal.digest(),
        )
    )
    return name


def demand_permitted(turn: Turn, proposal: Proposal) -> None:
    """Refuse what the present scope does not hold, or what needs a yes that this very proposal has not got.

    UserFaults: outside_scope, protected_path (with `decision` where one waits).
    """
    contract, policy = turn.contract(proposal.task), turn.policy()
    line = _line(turn, proposal.id)
    asked = [entry for entry in turn.state.decisions.values() if entry.asked.kind == "protected_path"]
    waiting = {d.asked.about: d.asked.decision for d in asked if d.state == "pending" and d.asked.subject in line}
    # By its own name too, where a link leads elsewhere; what it was made from may have touched more.
    needed = {d.asked.about for d in asked if d.asked.subject == proposal.id}
    for path in proposal.touches():
        decision = may_write(path, contract, policy)
        if isinstance(decision, Refuse):
            raise UserFault(decision.code, decision.reason, remedy="Widen the contract first.", path=path)
        if isinstance(decision, Ask) or shared(turn, path) is not None:
            needed.add(path)
    given = {d.asked.about for d in asked if (d.asked.subject, d.option) == (proposal.id, "allow")}
    for about in sorted(path for path in needed - given if path is not None):
        if about in waiting:
            raise UserFault(
                "protected_path",
                f"{about} needs its own yes first ({waiting[about]}).",
                remedy="Answer that decision.",
                decision=waiting[about],
            )
        raise UserFault(
            "protected_path",
            f"{about} needs a yes of its own, and nobody was asked about {proposal.id}.",
            remedy="Reject this one, and have it proposed anew.",
        )


def _line(turn: Turn, name: str) -> list[str]:
    """A proposal and those it was made from."""
    names = [name]
    while (parent := turn.state.proposals[names[-1]].outline.parent) is not None:
        names.append(parent)
    return names


def withdraw(turn: Turn, subject: str, reason: str) -> None:
    """Questions about something that is settled are withdrawn."""
    for entry in turn.state.pending_decisions():
        if entry.asked.subject == subject:
            turn.emit(e.DecisionWithdrawn(decision=entry.asked.decision, reason=reason))
