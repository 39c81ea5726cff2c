"""Checks: which may run, whether a result still stands for the present content, and what a run showed.

Running the program is the world's part. A result counts only for the digests of what it looked at.
"""

from __future__ import annotations

from remit.core import events as e
from remit.core import inputs, room
from remit.core.answers import CheckView, RunResult, RunView
from remit.core.contract import TaskContract
from remit.core.effects import CheckDone, RunCheck
from remit.core.entries import ActionEntry, DecisionEntry
from remit.core.faults import AgentFault, Json, UserFault
from remit.core.model import fingerprint
from remit.core.policy import Check
from remit.core.requests import RunParams
from remit.core.turn import Turn

OUTPUT_SHOWN = 4000
"""Characters of a run's output that an answer carries."""


def views(turn: Turn, task: str) -> tuple[CheckView, ...]:
    """How every check that the contract names stands."""
    contract = turn.contract(task)
    named = dict.fromkeys((*contract.checks(), *contract.verification.forbidden))
    return tuple(view(turn, task, contract, check) for check in named)


def view(turn: Turn, task: str, contract: TaskContract, check_id: str) -> CheckView:
    check = turn.policy().check(check_id)
    forbidden = check_id in contract.verification.forbidden
    run = None if forbidden else turn.state.last_run(check_id, task)
    shown = None if run is None else run_view(turn, run)
    waits = _waiting(turn, task, check_id) is not None
    status = "forbidden" if forbidden else "waiting" if waits else _status(shown)
    return CheckView.model_validate(
        {
            "check_id": check_id,
            "title": check.title or check_id,
            "kind": check.kind,
            "status": status,
            "required": check_id in contract.verification.required,
            "may_run": not forbidden,
            "reason": "The contract forbids it." if forbidden else "",
            "last_run": shown,
        }
    )


def _status(run: RunView | None) -> str:
    if run is None or run.state == "not_started":
        return "not_run"
    if run.state == "outcome_unknown" or run.state == "running":
        return run.state
    if not run.fresh:
        return "stale"
    return "passed" if run.state == "passed" else "failed"


def run_view(turn: Turn, run: ActionEntry) -> RunView:
    done = run.finished
    state = done.result if done else "running" if run.state in ("authorized", "dispatched") else "outcome_unknown"
    if done is None and run.state == "failed_without_effect":
        state = "not_started"
    output = turn.kept(done.output).decode("utf-8", "replace") if done and done.output else ""
    return RunView.model_validate(
        {
            "run_id": run.plan.action,
            "check_id": run.plan.subject,
            "state": state,
            "fresh": inputs.is_fresh(turn, run),
            "exit_code": done.exit_code if done else None,
            "output": output if len(output) <= OUTPUT_SHOWN else f"…{output[-OUTPUT_SHOWN:]}",
            "sandbox": done.sandbox if done else "none",
            "not_seen": run.plan.not_seen,
        }
    )


# --- asking for a run -------------------------------------------------------------------------------------------------


def shows(turn: Turn, task: str, check_id: str) -> dict[str, Json]:
    """What showing a run for a yes shows: the program, the files it names, the rules and the content it looks at."""
    check, contract = turn.policy().check(check_id), turn.contract(task)
    files = set(turn.files())
    named = {arg: turn.glance(arg).digest for arg in check.argv if arg in files}
    paths = inputs.paths(turn, check, contract)
    return {
        "task": task,
        "argv": list(check.argv),
        "cwd": check.cwd,
        "environment": list(check.environment),
        "named": dict(named),
        "inputs": fingerprint({path: turn.skim(path).digest for path in paths}),
        "contract": turn.contract_digest(task),
        "policy": turn.policy_digest(),
    }


def request(turn: Turn, agent: str, task: str, params: RunParams) -> RunResult:
    """An agent asks for a run: a human must say yes to it while no sandbox is there.

    AgentFaults: check_forbidden, check_not_allowed, needs_save.
    """
    contract = turn.contract(task)
    demand_allowed(contract, params.check_id, AgentFault)
    check = turn.policy().check(params.check_id)
    dirty = inputs.unsaved(turn, inputs.paths(turn, check, contract)) if check.kind == "command" else ()
    if dirty:
        raise AgentFault(
            "needs_save",
            f"{', '.join(dirty)} has unsaved edits that the check would not see.",
            remedy="Ask the human to save, then ask for the run again.",
            paths=list(dirty),
        )
    demand_idle(turn, task, params.check_id, AgentFault)
    waiting = _waiting(turn, task, params.check_id)
    name = waiting.asked.decision if waiting else _ask(turn, agent, task, params.check_id, check)
    return RunResult(check_id=params.check_id, decision_id=name, next=f"Call wait_for_decision with {name}.")


def _waiting(turn: Turn, task: str, check_id: str) -> DecisionEntry | None:
    """The question whether this check may run for this task, if it is pending."""
    wanted = ("run", check_id, task)
    pending = turn.state.pending_decisions()
    return next((d for d in pending if (d.asked.kind, d.asked.subject, d.asked.task) == wanted), None)


def demand_idle(turn: Turn, task: str, check_id: str, party: type[AgentFault] | type[UserFault]) -> None:
    """Refuse a second run of a check while the first is under way. Fault: busy."""
    run = turn.state.last_run(check_id, task)
    if run is not None and run.state in ("authorized", "dispatched"):
        name = run.plan.action
        raise party("busy", f"The check {check_id} is running ({name}).", remedy="Wait for its result.", action=name)


def demand_allowed(contract: TaskContract, check_id: str, party: type[AgentFault] | type[UserFault]) -> None:
    if check_id in contract.verification.forbidden:
        raise party(
            "check_forbidden",
            f"The contract forbids the check {check_id}. It is reported as not run.",
            remedy="Do not run it by other means, and do not claim it.",
            check=check_id,
        )
    if check_id not in contract.checks():
        raise party(
            "check_not_allowed",
            f"The contract does not name the check {check_id}.",
            remedy="See list_checks, or request_amendment.",
            check=check_id,
        )


def _ask(turn: Turn, agent: str, task: str, check_id: str, check: Check) -> str:
    room.demand_question(turn, agent)
    name = turn.state.next_id("D")
    human = check.kind == "human"
    question = (
        f"Sign off “{check.title or check_id}” for {task}?"
        if human
        else f"Run the check “{check.title or check_id}” without a sandbox: {' '.join(check.argv)}"
    )
    options = (
        (
            e.Option(id="not_yet", title="Not yet", effect="It stays not run."),
            e.Option(id="sign_off", title="Sign off", effect="It counts as passed for the present content."),
            e.Option(id="object", title="Object", effect="It counts as failed for the present content."),
        )
        if human
        else (
            e.Option(id="refuse", title="Do not run", effect="It stays not run."),
            e.Option(id="run", title="Run once", effect="Runs with your rights, on your machine, this once."),
        )
    )
    turn.emit(
        e.DecisionAsked(
            decision=name,
            kind="run",
            task=task,
            agent=agent,
            question=question,
            why="A person looks at it." if human else "No sandbox is there: it can do whatever you can.",
            options=options,
            subject=check_id,
            binding=fingerprint(shows(turn, task, check_id)),
        )
    )
    return name


def offer(turn: Turn, task: str, check_id: str) -> str:
    return turn.offer("runCheck", check_id, {**shows(turn, task, check_id), "task": task}, task)


def run_now(turn: Turn, name: str, *, anyway: bool, verdict: str = "sign_off") -> str:
    """The human runs a check, or signs it off, from what they were shown; the action's id."""
    subject = turn.answer(name, "runCheck")
    task, check_id = subject.hunk, subject.target
    contract = turn.contract(task)
    demand_allowed(contract, check_id, UserFault)
    dirty = inputs.unsaved(turn, inputs.paths(turn, turn.policy().check(check_id), contract))
    if dirty and not anyway and turn.policy().check(check_id).kind == "command":
        raise UserFault(
            "needs_save",
            f"{', '.join(dirty)} has unsaved edits that the check would not see.",
            remedy="Save first, or run it anyway.",
            paths=list(dirty),
        )
    approval = turn.approve(name, subject, {**shows(turn, task, check_id), "task": task})
    return start(turn, task, check_id, approval, verdict)


def start(turn: Turn, task: str, check_id: str, approval: e.Approval, verdict: str) -> str:
    """Begin an allowed run, or record a person's verdict; the action's id."""
    demand_idle(turn, task, check_id, UserFault)
    check, contract = turn.policy().check(check_id), turn.contract(task)
    paths = inputs.paths(turn, check, contract)
    human = check.kind == "human"
    name = turn.state.next_id("A")
    turn.emit(
        e.ActionPlanned(
            action=name,
            kind="check",
            subject=check_id,
            task=task,
            parameters=fingerprint(shows(turn, task, check_id)),
            approval=approval,
            inputs=inputs.listed(turn, paths, disk=not human),
            argv=check.argv,
            definition=inputs.definition(check),
            not_seen=() if human else inputs.unsaved(turn, paths),
        )
    )
    turn.emit(e.ActionMoved(action=name, to="authorized"))
    turn.emit(e.ActionMoved(action=name, to="dispatched", guard="a person" if human else "no sandbox"))
    if human:
        result = "failed" if verdict == "object" else "passed"
        turn.emit(
            e.CheckFinished.model_validate({"action": name, "check": check_id, "result": result, "sandbox": "a person"})
        )
        turn.emit(e.ActionMoved(action=name, to="succeeded"))
    else:
        turn.act(RunCheck(name, check_id, check.argv, check.cwd, check.environment, check.timeout, check.output_limit))
    for entry in turn.state.pending_decisions():
        if entry.asked.kind == "run" and entry.asked.subject == check_id and entry.asked.task == task:
            turn.emit(e.DecisionWithdrawn(decision=entry.asked.decision, reason=f"it runs already ({name})"))
    return name


def done(turn: Turn, outcome: CheckDone) -> None:
    """A run ended, one way or another."""
    run = turn.state.actions[outcome.action]
    if run.state != "dispatched":
        return
    output = turn.keep(outcome.output) if outcome.output else None
    after = inputs.paths(turn, turn.policy().check(run.plan.subject), turn.contract(run.plan.task))
    turn.emit(
        e.CheckFinished(
            action=outcome.action,
            check=run.plan.subject,
            result=outcome.result,
            exit_code=outcome.exit_code,
            output=output,
            output_bytes=outcome.output_bytes,
            output_cut=outcome.output_bytes > len(outcome.output),
            seconds=round(outcome.seconds, 3),
            held=inputs.listed(turn, after, disk=True) == run.plan.inputs,
        )
    )
    ended = "failed_without_effect" if outcome.result == "not_started" else "succeeded"
    turn.emit(e.ActionMoved.model_validate({"action": outcome.action, "to": ended, "reason": outcome.reason}))
