"""Findings about the human's own files: contracts, the policy, and the checks a contract names.

Shown in the text as it is now; whether it counts is decided by what was activated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from remit.core import activating, checking, staleness
from remit.core.contract import TaskContract
from remit.core.finding import Doable, Finding, Severity, in_contract, region_of, short
from remit.core.paths import Scope
from remit.core.permission import excess
from remit.core.source import Problem, Source
from remit.core.source import contract as read_contract
from remit.core.source import policy as read_policy
from remit.core.turn import Turn


def contracts(turn: Turn) -> Iterator[Finding]:
    """contract-invalid, contract-not-active, contract-changed, contract-exceeds-policy, scope-empty."""
    active = {event.path: task for task, (_, event) in turn.state.contracts.items()}
    opened = {path for path in turn.memory.mirror.buffers if activating.is_contract(path)}
    for path in sorted(opened | set(active)):
        snapshot = turn.glance(path)
        if snapshot.origin == "absent":
            continue
        source = read_contract(snapshot.text, guessed=staleness.guessed(snapshot))
        for problem in source.problems:
            yield _problem("contract-invalid", path, source.text, problem)
        if source.value is not None:
            yield from _standing(turn, path, source, source.value, active.get(path))
            yield from _scope(turn, path, source, source.value)


def _problem(code: str, path: str, text: str, problem: Problem) -> Finding:
    region = region_of(text, problem.span)
    fix: tuple[Doable, ...] = ()
    if problem.fix:
        fix = (Doable(f"Change to {problem.fix}", "edit", path, preferred=True, edit=(region, problem.fix)),)
    return Finding(code, path, region, "error", short(problem.message), fix)


def _standing(
    turn: Turn, path: str, source: Source[TaskContract], value: TaskContract, task: str | None
) -> Iterator[Finding]:
    place = region_of(source.text, source.at("taskId"))
    activate = (Doable(f"Activate the contract of {value.task_id}", "activate", path, preferred=True),)
    wider = excess(value, turn.policy())
    for pointer, message in wider:
        region = region_of(source.text, source.at(*pointer))
        show = (Doable("Show the policy", "show", activating.POLICY_PATH),)
        yield Finding("contract-exceeds-policy", path, region, "error", short(message), show)
    if wider:
        return
    if task is None:
        message = f"This contract is not active: nothing may be done under it yet ({value.task_id})."
        yield Finding("contract-not-active", path, place, "information", short(message), activate)
    elif turn.kept(turn.contract_digest(task)).decode() != source.text:
        message = f"Changed since activation: the activated text of {task} stays in force."
        yield Finding("contract-changed", path, place, "warning", short(message), activate)


def _scope(turn: Turn, path: str, source: Source[TaskContract], value: TaskContract) -> Iterator[Finding]:
    files: list[str] | None = None
    for index, entry in enumerate(value.write_scope):
        if entry.startswith("!"):
            continue
        files = turn.files() if files is None else files
        scope = Scope((entry,))
        if any(scope.match(file) is not None for file in files):
            continue
        region = region_of(source.text, source.at("writeScope", index))
        show = (Doable("Show the contract", "show", path),)
        yield Finding("scope-empty", path, region, "warning", short(f"“{entry}” matches no file yet."), show)


def policies(turn: Turn) -> Iterator[Finding]:
    """policy-invalid, policy-changed."""
    path = activating.POLICY_PATH
    snapshot = turn.glance(path)
    if snapshot.origin == "absent":
        return
    source = read_policy(snapshot.text, guessed=staleness.guessed(snapshot))
    for problem in source.problems:
        yield _problem("policy-invalid", path, source.text, problem)
    if source.problems:
        return
    activate = (Doable("Activate this policy", "activate", path, preferred=True),)
    place = region_of(source.text, source.at())
    if turn.state.policy is None:
        message = "This policy is not active: no check is defined until you activate it."
        yield Finding("policy-changed", path, place, "warning", message, activate)
    elif turn.kept(turn.state.policy).decode() != source.text:
        message = "Changed since activation: the activated text stays in force."
        yield Finding("policy-changed", path, place, "warning", message, activate)


CHECKS: Mapping[str, tuple[str, str]] = {
    "not_run": ("check-not-run", "has not run"),
    "forbidden": ("check-not-run", "is forbidden by this contract, and is reported as not run"),
    "stale": ("check-stale", "ran before the last change; its result no longer counts"),
    "failed": ("check-failed", "failed"),
}


def checks(turn: Turn) -> Iterator[Finding]:
    """check-not-run, check-stale, check-failed: at the check's name in the contract."""
    for task in turn.state.contracts:
        contract = turn.contract(task)
        for view in checking.views(turn, task):
            if view.status not in CHECKS:
                continue
            code, words = CHECKS[view.status]
            severity: Severity = {"check-failed": "error", "check-stale": "warning"}.get(code, "hint")  # type: ignore[assignment]
            if code == "check-not-run" and view.required:
                severity = "information"
            path, region = in_contract(turn, task, *_named(contract, view.check_id))
            verb = "Sign off" if view.kind == "human" else "Run"
            doable = (
                ()
                if view.status == "forbidden"
                else (Doable(f"{verb} {view.check_id}", "runCheck", view.check_id, task),)
            )
            show = (Doable("Show the contract", "show", path),)
            message = short(f"The check {view.check_id} {words}.")
            yield Finding(code, path, region, severity, message, doable or show, data={"check": view.check_id})


def _named(contract: TaskContract, check: str) -> tuple[str | int, ...]:
    for field in ("required", "allowed", "forbidden"):
        names: tuple[str, ...] = getattr(contract.verification, field)
        if check in names:
            return ("verification", field, names.index(check))
    return ("verification",)
