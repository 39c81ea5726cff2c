"""What the editor shows as diagnostics: each finding with its place, its words and what can be done about it.

Computed from the state and frozen looks, in core words; doors turn regions into their own positions. The codes are
those of the table in `docs/diagnostics.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from remit.core import activating, checking, deciding, diff, paperwork, questions, reviewing, staleness, undoing
from remit.core.events import FileOutline
from remit.core.faults import UserFault
from remit.core.finding import TOP, Doable, Finding, Region, Severity, agent_name, in_contract, lines_region, short
from remit.core.permission import Allow, Ask, may_write
from remit.core.plain import visible
from remit.core.proposal import FileChange, Hunk, Proposal
from remit.core.state import ProposalEntry
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


# --- proposals --------------------------------------------------------------------------------------------------------


def _proposals(turn: Turn) -> Iterator[Finding]:
    for entry in turn.state.open_proposals():
        proposal = turn.proposal(entry.outline.proposal)
        stale = {move.snapshot.path: move for move in staleness.moves(turn, proposal)}
        clean = all(move.rebase == "clean" for move in stale.values())
        for file in proposal.files:
            if file.origin in stale or (file.op == "rename" and file.path in stale):
                yield from _stale(turn, proposal, file, clean)
            else:
                yield from _pending(turn, entry, proposal, file)


def _pending(turn: Turn, entry: ProposalEntry, proposal: Proposal, file: FileChange) -> Iterator[Finding]:
    who = agent_name(turn, proposal.agent)
    many = sum(1 for _ in proposal.hunks())
    failed = f" Last attempt failed: {entry.reason}." if entry.state == "failed_without_effect" else ""
    lines = turn.lines(turn.glance(file.origin))
    for number, hunk in enumerate(file.hunks, 1):
        path, region = file.origin, lines_region(lines, hunk.old_start, len(hunk.old))
        if file.op == "create":
            path, region = _home(turn, proposal.task, file.path)
        yield Finding(
            "patch-pending",
            path,
            region,
            "information",
            short(f"{proposal.id} by {who} {_what(file, hunk, number)}.{failed}"),
            _answers(proposal, hunk, many),
            data={"proposal": proposal.id, "hunk": hunk.id},
        )


def _home(turn: Turn, task: str, path: str) -> tuple[str, Region]:
    """A file that does not exist cannot carry a mark: its contract does."""
    return in_contract(turn, task, "writeScope") if task in turn.state.contracts else (path, TOP)


def _what(file: FileChange, hunk: Hunk, number: int) -> str:
    mode = {None: "", True: ", executable", False: ", not executable" * (file.op != "create")}[file.executable]
    if file.op == "create":
        copied = f" as a copy of {file.copy_of}" if file.copy_of is not None else ""
        return f"would create {file.path}{copied}{mode}"
    if file.op == "delete":
        return "would delete this file"
    if file.op == "rename":
        return f"would {'change and ' * (file.result != file.base)}move this file to {file.path}{mode}"
    if file.result == file.base:
        return f"would make this file{mode[1:]}"
    place = f" ({number} of {len(file.hunks)})" if len(file.hunks) > 1 else ""
    how = f", placed by {hunk.placed}" if hunk.placed != "exact" else ""
    return f"would change {_count(len(hunk.old))} into {_count(len(hunk.new))}{place}{mode}{how}"


def _count(lines: int) -> str:
    return {0: "no line", 1: "1 line"}.get(lines, f"{lines} lines")


def _answers(proposal: Proposal, hunk: Hunk, many: int) -> tuple[Doable, ...]:
    files = len(proposal.files)
    # What is accepted is more than what this file shows: the title says so.
    also = f" (all {files} files)" if files > 1 else ""
    whole = (
        Doable(f"Accept {proposal.id}{also}", "accept", proposal.id, preferred=many == 1),
        Doable(f"Reject {proposal.id}{also}", "reject", proposal.id),
    )
    if many == 1:
        return whole
    return (
        Doable(f"Accept this hunk ({hunk.id})", "acceptHunk", proposal.id, hunk.id, preferred=True),
        Doable(f"Reject this hunk ({hunk.id})", "rejectHunk", proposal.id, hunk.id),
        *whole,
    )


def _stale(turn: Turn, proposal: Proposal, file: FileChange, clean: bool) -> Iterator[Finding]:
    snapshot = turn.glance(file.origin)
    moved = staleness.moved(turn, file.base, file.encoding(), snapshot) or ()
    lines = turn.lines(snapshot)
    related = tuple(
        (file.origin, lines_region(lines, span.new_start, len(span.new)), "This has changed since.")
        for span in moved[:5]
    )
    doable: tuple[Doable, ...] = (Doable(f"Reject {proposal.id}", "reject", proposal.id),)
    if clean:
        doable = (Doable(f"Rebase {proposal.id} onto the present text", "rebase", proposal.id, preferred=True), *doable)
    tail = "It fits by a rebase." if clean else "It does not fit any more."
    for hunk in file.hunks:
        yield Finding(
            "patch-stale",
            file.origin,
            lines_region(lines, _moved(moved, hunk.old_start), len(hunk.old)),
            "warning",
            short(f"{proposal.id} by {agent_name(turn, proposal.agent)} was made from a text that has changed. {tail}"),
            doable,
            related,
            {"proposal": proposal.id, "hunk": hunk.id, "base": file.base, "current": snapshot.digest},
        )


def _moved(spans: tuple[diff.Span, ...], line: int) -> int:
    """Where a line of the base is now, or where it would be."""
    shift = 0
    for span in spans:
        if span.old_start >= line:
            break
        if span.old_start + len(span.old) > line:
            return span.new_start
        shift += len(span.new) - len(span.old)
    return line + shift


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
    _proposals,
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
