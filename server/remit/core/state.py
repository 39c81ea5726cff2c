"""What the journal adds up to: the one `fold`, and the entries it keeps. Nothing else changes them.

Every entry knows the sequence numbers of the events that made it: they are the evidence a report cites.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from remit.core import action as actions
from remit.core import events as e
from remit.core import proposal as proposals
from remit.core.action import ActionState
from remit.core.entries import ActionEntry, AgentEntry, DecisionEntry, HunkState, ProposalEntry, living


@dataclass(slots=True)
class State:
    """Everything that survives a crash."""

    seq: int = 0
    mode: Literal["editor", "headless"] = "headless"
    sessions: list[tuple[int, e.SessionOpened]] = field(default_factory=list)
    policy: str | None = None
    contracts: dict[str, tuple[int, e.ContractActivated]] = field(default_factory=dict)
    agents: dict[str, AgentEntry] = field(default_factory=dict)
    receipts: dict[tuple[str, str], e.Shown] = field(default_factory=dict)
    refusals: list[tuple[int, str, e.Refused]] = field(default_factory=list)
    proposals: dict[str, ProposalEntry] = field(default_factory=dict)
    hunks: dict[str, HunkState] = field(default_factory=dict)
    rejections: list[tuple[int, e.Rejected]] = field(default_factory=list)
    answers: dict[tuple[str, str], e.Answered] = field(default_factory=dict)
    actions: dict[str, ActionEntry] = field(default_factory=dict)
    decisions: dict[str, DecisionEntry] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    finished: dict[str, list[tuple[int, e.Finished]]] = field(default_factory=dict)
    # The names of those that are not over, so that what was does not weigh on what is.
    _open: dict[str, None] = field(default_factory=dict, compare=False)
    _running: dict[str, None] = field(default_factory=dict, compare=False)
    _asked: dict[str, None] = field(default_factory=dict, compare=False)

    def fold(self, seq: int, at: str, event: e.Event) -> None:
        """Take in one event. OurFault("illegal_move") when it cannot follow what came before."""
        self.seq = seq
        FOLDS[type(event)](self, seq, at, event)

    def next_id(self, kind: Literal["P", "D", "A"]) -> str:
        """The next name of a proposal, decision or action: short, never used twice."""
        counts = {"P": len(self.proposals), "D": len(self.decisions), "A": len(self.actions)}
        return f"{kind}{counts[kind] + 1}"

    def open_proposals(self) -> list[ProposalEntry]:
        waiting = living(self._open, self.proposals, lambda entry: entry.state in proposals.CLOSED)
        return [entry for entry in waiting if entry.open]

    def pending_decisions(self) -> list[DecisionEntry]:
        return living(self._asked, self.decisions, lambda entry: entry.state != "pending")

    def running(self) -> list[ActionEntry]:
        """Actions that have begun and are not settled."""
        return living(self._running, self.actions, lambda entry: entry.state in actions.SETTLED)

    def run_under(self, offer: str) -> ActionEntry | None:
        """The run that one answer allowed."""
        runs = (entry for entry in self.actions.values() if entry.plan.kind == "check")
        return next((run for run in runs if offer and run.plan.approval.offer == offer), None)

    def last_run(self, check: str, task: str) -> ActionEntry | None:
        """The newest run of a check under a task that was at least dispatched."""
        runs = (a for a in reversed(self.actions.values()) if a.plan.kind == "check" and a.plan.subject == check)
        return next((run for run in runs if run.plan.task == task and run.state != "planned"), None)


# --- folding, one function an event -----------------------------------------------------------------------------------


def _session_opened(state: State, seq: int, _at: str, event: e.SessionOpened) -> None:
    state.mode = event.mode
    state.sessions.append((seq, event))


def _policy_activated(state: State, _seq: int, _at: str, event: e.PolicyActivated) -> None:
    state.policy = event.policy
    state.used[event.approval.offer] = "the policy was activated"


def _contract_activated(state: State, seq: int, _at: str, event: e.ContractActivated) -> None:
    # One file is one contract: under a new name it is the same task, renamed or replaced.
    for task in [name for name, (_, known) in state.contracts.items() if known.path == event.path]:
        del state.contracts[task]
    state.contracts[event.task] = (seq, event)
    state.used.setdefault(event.approval.offer, f"the contract of {event.task} was activated")


def _agent_connected(state: State, _seq: int, _at: str, event: e.AgentConnected) -> None:
    known = state.agents.get(event.agent)
    state.agents[event.agent] = AgentEntry(event.name, event.version, event.process, known.task if known else None)


def _agent_bound(state: State, _seq: int, _at: str, event: e.AgentBound) -> None:
    state.agents[event.agent].task = event.task


def _shown(state: State, _seq: int, _at: str, event: e.Shown) -> None:
    state.receipts[(event.agent, event.path)] = event


def _refused(state: State, seq: int, at: str, event: e.Refused) -> None:
    state.refusals.append((seq, at, event))


def _proposed(state: State, seq: int, _at: str, event: e.Proposed) -> None:
    state.proposals[event.proposal] = ProposalEntry(event, seqs=[seq])
    state._open[event.proposal] = None
    if event.made != "part":
        for hunk in (hunk for file in event.files for hunk in file.hunks):
            state.hunks.setdefault(hunk, "pending")


def _move_proposal(state: State, seq: int, name: str, by: proposals.Move, reason: str = "") -> ProposalEntry:
    entry = state.proposals[name]
    entry.state = proposals.move(entry.state, by)
    entry.reason = reason
    entry.seqs.append(seq)
    return entry


def _rejected(state: State, seq: int, _at: str, event: e.Rejected) -> None:
    state.rejections.append((seq, event))
    for hunk in event.hunks:
        state.hunks[hunk] = "rejected"
    state.used[event.approval.offer] = f"{event.proposal}: rejected"
    outline = state.proposals[event.proposal].outline
    if set(event.hunks) >= {hunk for file in outline.files for hunk in file.hunks}:
        _move_proposal(state, seq, event.proposal, "reject")


def _superseded(state: State, seq: int, _at: str, event: e.Superseded) -> None:
    entry = _move_proposal(state, seq, event.proposal, "supersede")
    entry.replaced_by = event.replaced_by
    carried = {
        hunk for name in event.replaced_by for file in state.proposals[name].outline.files for hunk in file.hunks
    }
    for hunk in (hunk for file in entry.outline.files for hunk in file.hunks):
        if hunk not in carried and state.hunks[hunk] == "pending":
            state.hunks[hunk] = "replaced"


def _undone(state: State, seq: int, _at: str, event: e.Undone) -> None:
    entry = _move_proposal(state, seq, event.proposal, "undo", f"taken back by {event.by}")
    entry.unseen = False  # who takes it back has looked
    for hunk in (hunk for file in entry.outline.files for hunk in file.hunks):
        state.hunks[hunk] = "undone"


def _seen(state: State, seq: int, _at: str, event: e.Seen) -> None:
    entry = state.proposals[event.proposal]
    entry.unseen, state.used[event.approval.offer] = False, f"{event.proposal}: seen"
    entry.seqs.append(seq)


def _withdrawn(state: State, seq: int, _at: str, event: e.Withdrawn) -> None:
    _move_proposal(state, seq, event.proposal, "withdraw", event.reason)


def _answered(state: State, _seq: int, _at: str, event: e.Answered) -> None:
    state.answers[(event.agent, event.key)] = event


def _action_planned(state: State, seq: int, at: str, event: e.ActionPlanned) -> None:
    state.actions[event.action] = ActionEntry(event, at=at, seqs=[seq])
    state._running[event.action] = None
    state.used.setdefault(event.approval.offer, f"{event.subject}: {event.kind} begun ({event.action})")
    if event.kind == "apply":
        _move_proposal(state, seq, event.subject, "accept")


def _action_moved(state: State, seq: int, _at: str, event: e.ActionMoved) -> None:
    entry = state.actions[event.action]
    entry.state = actions.move(entry.state, event.to)
    entry.reason, entry.found = event.reason, dict(event.found)
    entry.seqs.append(seq)
    if entry.plan.kind == "apply":
        _apply_moved(state, seq, entry, event)


APPLY_MOVES: Mapping[ActionState, proposals.Move] = {
    "succeeded": "apply",
    "failed_without_effect": "fail",
    "safe_to_retry": "fail",
    "outcome_unknown": "lose",
}


def _apply_moved(state: State, seq: int, entry: ActionEntry, event: e.ActionMoved) -> None:
    by = APPLY_MOVES.get(event.to)
    if by is None:
        return
    proposal = _move_proposal(state, seq, entry.plan.subject, by, event.reason)
    if event.to == "succeeded":
        proposal.unseen = entry.plan.approval.unasked
        for hunk in (hunk for file in proposal.outline.files for hunk in file.hunks):
            state.hunks[hunk] = "applied"


def _check_finished(state: State, seq: int, _at: str, event: e.CheckFinished) -> None:
    entry = state.actions[event.action]
    entry.finished = event
    entry.seqs.append(seq)


def _decision_asked(state: State, seq: int, at: str, event: e.DecisionAsked) -> None:
    state.decisions[event.decision] = DecisionEntry(event, at=at, seqs=[seq])
    state._asked[event.decision] = None


def _decision_answered(state: State, seq: int, at: str, event: e.DecisionAnswered) -> None:
    entry = state.decisions[event.decision]
    entry.state, entry.option, entry.text = "answered", event.option, event.text
    entry.by, entry.offer, entry.at = event.approval.by, event.approval.offer, at
    entry.seqs.append(seq)
    state.used[event.approval.offer] = f"{event.decision}: answered “{event.option}”"


def _decision_withdrawn(state: State, seq: int, _at: str, event: e.DecisionWithdrawn) -> None:
    entry = state.decisions[event.decision]
    entry.state, entry.reason = "withdrawn", event.reason
    entry.seqs.append(seq)


def _finished(state: State, seq: int, _at: str, event: e.Finished) -> None:
    state.finished.setdefault(event.task, []).append((seq, event))


FOLDS: Mapping[type[Any], Callable[[State, int, str, Any], None]] = {
    e.SessionOpened: _session_opened,
    e.PolicyActivated: _policy_activated,
    e.ContractActivated: _contract_activated,
    e.AgentConnected: _agent_connected,
    e.AgentBound: _agent_bound,
    e.Shown: _shown,
    e.Refused: _refused,
    e.Proposed: _proposed,
    e.Rejected: _rejected,
    e.Superseded: _superseded,
    e.Undone: _undone,
    e.Seen: _seen,
    e.Withdrawn: _withdrawn,
    e.Answered: _answered,
    e.ActionPlanned: _action_planned,
    e.ActionMoved: _action_moved,
    e.CheckFinished: _check_finished,
    e.DecisionAsked: _decision_asked,
    e.DecisionAnswered: _decision_answered,
    e.DecisionWithdrawn: _decision_withdrawn,
    e.Finished: _finished,
}
