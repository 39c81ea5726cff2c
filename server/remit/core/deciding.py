"""Decisions: what only a human may answer. Asked durably, answered once, withdrawn when moot.

What an answer sets going is in the module it is about; the table `CARRY_OUT` joins the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from remit.core import activating, checking, ending, paths, plain, room
from remit.core import events as e
from remit.core.answers import DecisionResult, DecisionView
from remit.core.entries import ActionEntry, DecisionEntry
from remit.core.faults import AgentFault, Json, UserFault
from remit.core.finding import agent_name
from remit.core.model import fingerprint
from remit.core.requests import AskParams
from remit.core.turn import Turn

FREE_TEXT = "text"
"""The option under which a free text is recorded."""

NO_TASK = "-"
"""The option that binds an agent to no task; no task can have this name."""


def ask(turn: Turn, agent: str, task: str | None, params: AskParams) -> str:
    """An agent's question; the decision's id. AgentFaults: invalid_params, bad_path, outside_scope, too_many_open."""
    about = None if params.about is None else paths.parse(params.about, portable=False)
    titles = [plain.visible(" ".join(title.split())) for title in params.options]
    if "" in titles or len({paths.fold(title) for title in titles}) < len(titles):
        raise AgentFault("invalid_params", "Two of the options read alike, or one is empty.", remedy="Name them apart.")
    room.demand_question(turn, agent)
    name = turn.state.next_id("D")
    options = tuple(e.Option(id=f"option_{i}", title=title) for i, title in enumerate(titles, 1))
    turn.emit(
        e.DecisionAsked(
            decision=name,
            kind="question",
            task=task,
            agent=agent,
            question=plain.prose(params.question),
            why=plain.prose(params.why),
            options=options,
            about=about,
            binding=fingerprint({"question": params.question, "options": list(params.options)}),
        )
    )
    return name


def bind(turn: Turn, agent: str) -> str:
    """Several tasks are active: ask which one this agent is to work on; the decision's id.

    Asked once for the same tasks: an agent that was told “none of them” cannot have the human asked over and over.
    """
    tasks = sorted(turn.state.contracts)
    for entry in [d for d in turn.state.decisions.values() if (d.asked.kind, d.asked.agent) == ("bind", agent)]:
        if entry.asked.binding == fingerprint(tasks):
            return entry.asked.decision
        if entry.state == "pending":
            turn.emit(e.DecisionWithdrawn(decision=entry.asked.decision, reason="there are other tasks by now"))
    room.demand_question(turn, agent)
    name = turn.state.next_id("D")
    turn.emit(
        e.DecisionAsked(
            decision=name,
            kind="bind",
            agent=agent,
            question=f"Which task is {agent_name(turn, agent)} to work on?",
            why="Several tasks are active; an agent never chooses its own.",
            options=(
                e.Option(id=NO_TASK, title="None of them", effect="It can read, and draft a contract of its own."),
                *(e.Option(id=task, title=task, effect=f"It works under the contract of {task}.") for task in tasks),
            ),
            binding=fingerprint(tasks),
        )
    )
    return name


def result(turn: Turn, name: str) -> DecisionResult:
    """How a decision stands, with the run it allowed."""
    entry = turn.state.decisions[name]
    run = _run_of(turn, entry) if entry.asked.kind == "run" else None
    shown = None if run is None else checking.run_view(turn, run)
    settled = entry.state != "pending" and (shown is None or shown.state != "running")
    words = {"pending": f"Not answered yet: call wait_for_decision with {name} again.", "withdrawn": entry.reason}
    following = words.get(entry.state, "Answered." if settled else "It is running: call wait_for_decision again.")
    return DecisionResult(decision=view(entry), settled=settled, run=shown, next=following)


def demand_visible(turn: Turn, agent: str, task: str | None, name: str) -> None:
    """Refuse what is neither this agent's nor of its task. AgentFault("unknown_decision")."""
    entry = turn.state.decisions.get(name)
    if entry is None or not is_visible(entry, agent, task):
        raise AgentFault("unknown_decision", f"There is no decision {name}.", remedy="Call task_status.")


def is_visible(entry: DecisionEntry, agent: str, task: str | None) -> bool:
    """Whether an agent may see a decision: its own, or one of its task."""
    return entry.asked.agent == agent or (task is not None and entry.asked.task == task)


def _run_of(turn: Turn, entry: DecisionEntry) -> ActionEntry | None:
    """The run that the answer allowed; or the one the human started instead of answering."""
    if entry.state == "withdrawn":
        return turn.state.last_run(entry.asked.subject, entry.asked.task or "")
    return turn.state.run_under(entry.offer)


def view(entry: DecisionEntry) -> DecisionView:
    title = next((o.title for o in entry.asked.options if o.id == entry.option), entry.option or None)
    return DecisionView(
        decision_id=entry.asked.decision,
        kind=entry.asked.kind,
        state=entry.state,
        question=entry.asked.question,
        options=tuple(option.title for option in entry.asked.options),
        answer=title,
        text=entry.text or None,
    )


# --- the human's answer -----------------------------------------------------------------------------------------------


def shows(turn: Turn, entry: DecisionEntry) -> dict[str, Json]:
    """What showing a decision shows, as it stands in the world now."""
    asked = entry.asked
    if asked.kind == "run" and asked.task in turn.state.contracts:
        return {"binding": fingerprint(checking.shows(turn, asked.task, asked.subject))}
    return {"binding": asked.binding}


def offer(turn: Turn, entry: DecisionEntry) -> str:
    return turn.offer("decide", entry.asked.decision, shows(turn, entry))


def answer(turn: Turn, name: str, option: str | None, text: str) -> str:
    """The human answers; the decision's id. UserFaults: already_decided, approval_unknown, approval_stale,
    unknown_option, and whatever stands in the way of what the answer sets going."""
    subject = turn.answer(name, "decide")
    entry = turn.state.decisions[subject.target]
    if entry.state != "pending":
        raise UserFault(
            "already_decided",
            f"{subject.target} was {entry.state} already" + (f": “{entry.option}”." if entry.option else "."),
            decided=entry.option or entry.state,
        )
    chosen = _chosen(entry, option, text)
    approval = turn.approve(name, subject, shows(turn, entry))
    turn.emit(e.DecisionAnswered(decision=subject.target, option=chosen, text=text, approval=approval))
    CARRY_OUT[entry.asked.kind](turn, entry, chosen, approval)
    return subject.target


def _chosen(entry: DecisionEntry, option: str | None, text: str) -> str:
    if not entry.asked.options:
        if not text.strip():
            raise UserFault("unknown_option", "The answer is empty.", remedy="Write an answer.")
        return FREE_TEXT
    # An id is what it says, even where an agent has named another option after it.
    known = {o.title: o.id for o in entry.asked.options} | {o.id: o.id for o in entry.asked.options}
    if option not in known:
        raise UserFault(
            "unknown_option",
            f"“{option}” is not an answer to {entry.asked.decision}.",
            remedy="Choose one of its options.",
            options=[o.id for o in entry.asked.options],
        )
    return known[option]


def _nothing(_turn: Turn, _entry: DecisionEntry, _option: str, _approval: e.Approval) -> None:
    """The answer itself is all."""


def _run(turn: Turn, entry: DecisionEntry, option: str, approval: e.Approval) -> None:
    if option in ("run", "sign_off", "object") and entry.asked.task is not None:
        checking.demand_allowed(turn.contract(entry.asked.task), entry.asked.subject, UserFault)
        checking.start(turn, entry.asked.task, entry.asked.subject, approval, option)


def _contract(turn: Turn, entry: DecisionEntry, option: str, approval: e.Approval) -> None:
    if option in ("edit", "activate", "allow"):
        activating.carry_out(turn, entry, option, approval)


def _protected(turn: Turn, entry: DecisionEntry, option: str, _approval: e.Approval) -> None:
    name = entry.asked.subject
    if option == "refuse" and turn.state.proposals[name].open:
        turn.emit(e.Withdrawn(proposal=name, reason=f"changing {entry.asked.about} was refused"))


def _unknown(turn: Turn, entry: DecisionEntry, option: str, _approval: e.Approval) -> None:
    action = entry.asked.subject
    to = "succeeded" if option == "applied" else "failed_without_effect"
    turn.emit(e.ActionMoved.model_validate({"action": action, "to": to, "reason": "a human said so"}))
    if option == "applied" and turn.state.actions[action].plan.kind == "apply":
        ending.after_success(turn, action)


def _bind(turn: Turn, entry: DecisionEntry, option: str, approval: e.Approval) -> None:
    if option != NO_TASK and entry.asked.agent is not None:
        turn.emit(e.AgentBound(agent=entry.asked.agent, task=option, approval=approval))


CARRY_OUT: Mapping[str, Callable[[Turn, DecisionEntry, str, e.Approval], None]] = {
    "question": _nothing,
    "run": _run,
    "contract": _contract,
    "amendment": _contract,
    "protected_path": _protected,
    "unknown_outcome": _unknown,
    "bind": _bind,
}
