"""What the editor shows as diagnostics: each finding with its place, its words and what can be done about it.

Computed from the state and frozen looks, in core words; doors turn regions into their own positions. The codes are
those of the table in `docs/diagnostics.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from remit.core import activating, atonce, checking, deciding, paperwork, pending, questions, reviewing, undoing
from remit.core.events import FileOutline
from remit.core.faults import UserFault
from remit.core.finding import TOP, Doable, Finding, Severity, agent_name, in_contract, short
from remit.core.permission import Allow, Ask, may_write
from remit.core.plain import visible
from remit.core.turn import Turn

REFUSALS = 50
"""Refused paths that are shown, the newest ones; the report has all of them."""


def findings(turn: Turn, *, outside_hints: bool = True) -> tuple[Finding, ...]:
    """Everything there is to show now, in a stable order."""
    found: list[Finding] = []
    for source_of in SOURCES:
        found.extend(source_of(turn))
    if outside_hints:
        found.extend(_outside(turn))
    # Names in files, names of files and agents' words all come together here.
    found = [replace(one, message=visible(one.message)) for one in found]
    return tuple(sorted(found, key=lambda one: (one.path, one.region, one.code, one.message)))


# --- files ------------------------------------------------------------------------------------------------------------


def _conflicts(turn: Turn) -> Iterator[Finding]:
    for path in turn.memory.mirror.buffers:
        snapshot = turn.glance(path)
        if snapshot.parted:
            yield Finding(
                "disk-conflict",
                path,
                TOP,
                "error",
                "This file changed on disk while it has other text here. Nothing is applied to it until they agree.",
                (Doable("Show this file", "show", path),),
                data={"buffer": snapshot.digest, "disk": snapshot.disk},
            )


def _outside(turn: Turn) -> Iterator[Finding]:
    if not turn.state.contracts:
        return
    policy = turn.policy()
    contracts = {task: turn.contract(task) for task in turn.state.contracts}
    active = {entry.path for _, entry in turn.state.contracts.values()}
    for path in turn.memory.mirror.buffers:
        if path in active or activating.is_contract(path) or path == activating.POLICY_PATH:
            continue
        if not any(isinstance(may_write(path, one, policy), Allow | Ask) for one in contracts.values()):
            names = ", ".join(sorted(contracts))
            first = next(iter(turn.state.contracts.values()))[1].path
            yield Finding(
                "outside-scope",
                path,
                TOP,
                "hint",
                short(f"{names} may not change this file."),
                (Doable("Show the contract", "show", first),),
            )


def _refusals(turn: Turn) -> Iterator[Finding]:
    """What agents were refused since the contract was activated, newest first, once a path."""
    seen: set[tuple[str, str]] = set()
    for seq, _, event in reversed(turn.state.refusals):
        task = event.task
        if event.path is None or task not in turn.state.contracts or (event.path, event.code) in seen:
            continue
        if event.code not in ("outside_scope", "protected_path") or seq < turn.state.contracts[task][0]:
            continue
        if len(seen) >= REFUSALS:
            return
        seen.add((event.path, event.code))
        yield from _refusal(turn, task, event.agent, event.path, event.code)


def _refusal(turn: Turn, task: str, agent: str, path: str, code: str) -> Iterator[Finding]:
    who = agent_name(turn, agent)
    contract_path, entry = in_contract(turn, task, "writeScope")
    kind: str = "scope-violation" if code == "outside_scope" else "protected-path"
    severity: Severity = "error" if code == "outside_scope" else "warning"
    message = short(f"{who} was refused to write {path}.")
    show_file = (Doable("Show the contract", "show", contract_path),)
    if turn.exists(path):
        yield Finding(kind, path, TOP, severity, message, show_file, ((contract_path, entry, "The scope."),))
        yield Finding(
            kind,
            contract_path,
            entry,
            severity,
            message,
            (Doable(f"Show {path}", "show", path),),
            ((path, TOP, "The target."),),
        )
    else:
        yield Finding(kind, contract_path, entry, severity, message, show_file)


SOURCES: tuple[Callable[[Turn], Iterator[Finding]], ...] = (
    pending.proposals,
    pending.unseen,
    _conflicts,
    _refusals,
    questions.decisions,
    paperwork.contracts,
    paperwork.policies,
    paperwork.checks,
)


def offer(turn: Turn, doable: Doable) -> str:
    """The offer id under which something doable is shown now; empty for what needs none."""
    match doable.act:
        case "show" | "edit":
            return ""
        case "activate":
            return activating.offer(turn, doable.target)
        case "decide":
            return deciding.offer(turn, turn.state.decisions[doable.target])
        case "runCheck":
            return checking.offer(turn, doable.hunk, doable.target)
        case "seen":
            return atonce.offer(turn, turn.state.proposals[doable.target])
        case "undo":
            return undoing.offer(turn, turn.state.proposals[doable.target]) or ""
        case "accept" | "reject" | "acceptHunk" | "rejectHunk" | "rebase" | "amend":
            return reviewing.offer(turn, turn.state.proposals[doable.target], doable.act, doable.hunk)
        case never:
            assert_never(never)


def only_task(turn: Turn) -> str:
    """The one active task. UserFault("no_such_task") when there is none, or several."""
    if len(turn.state.contracts) != 1:
        known = ", ".join(sorted(turn.state.contracts)) or "none is active"
        raise UserFault("no_such_task", f"Which task? ({known})", remedy="Name it.")
    return next(iter(turn.state.contracts))


def watched(turn: Turn) -> set[str]:
    """The files that something shown is about: open ones, those of open proposals, contracts and the policy."""
    proposed = {path for entry in turn.state.open_proposals() for file in entry.outline.files for path in _paths(file)}
    contracts = {event.path for _, event in turn.state.contracts.values()}
    return {*turn.memory.mirror.buffers, *proposed, *contracts, activating.POLICY_PATH}


def _paths(file: FileOutline) -> tuple[str, ...]:
    return (file.path,) if file.source is None else (file.path, file.source)
