"""What an agent may look at: contract, files, proposals, the page that brings a model back.

Reads the state and frozen looks; the only events it says are receipts of what was shown.
"""

from __future__ import annotations

from remit.core import checking, codec, deciding, paths, staleness, verdict
from remit.core import events as e
from remit.core.answers import (
    ChecksResult,
    ContractResult,
    ListResult,
    ProposalResult,
    ReadResult,
    StatusResult,
    TaskView,
)
from remit.core.faults import AgentFault
from remit.core.permission import Allow, Ask, may_write, rights
from remit.core.requests import ListParams, ReadParams
from remit.core.snapshot import Snapshot
from remit.core.text import split_lines
from remit.core.turn import Turn

CUT = "\n… (cut; the hunks say the rest)\n"
PAGE_ENTRIES = 20
"""The status page names at most this many of each kind: it must fit into a model that has lost its history."""


def contract(turn: Turn, agent: str, task: str | None) -> ContractResult:
    drafts = tuple(
        deciding.view(entry)
        for entry in turn.state.pending_decisions()
        if entry.asked.kind in ("contract", "bind") and entry.asked.agent == agent
    )
    if task is None:
        waiting = (
            "Your draft waits for the human: call wait_for_decision." if drafts else "Draft one: propose_contract."
        )
        return ContractResult(
            active=False, session=turn.state.mode, drafts=drafts, next=f"No contract is active. You can read. {waiting}"
        )
    following = "Read files with read_file, then propose_patch bound to their digests."
    if turn.state.mode == "headless":
        following += " No editor is open: proposals and decisions wait until one is."
    return ContractResult(
        active=True, session=turn.state.mode, task=task_view(turn, task), drafts=drafts, next=following
    )


def task_view(turn: Turn, task: str) -> TaskView:
    value, policy = turn.contract(task), turn.policy()
    _, active = turn.state.contracts[task]
    return TaskView(
        task_id=task,
        goal=value.goal,
        write_scope=value.write_scope,
        rights=rights(value, policy),
        checks=checking.views(turn, task),
        network=value.network,
        delivery=value.delivery,
        review=value.review if policy.review.after else "before",
        commit_allowed=value.commit_allowed and policy.limits.commit_allowed,
        placement=policy.placement.allow,
        contract_path=active.path,
        contract_digest=active.contract,
        policy_digest=turn.policy_digest(),
    )


def task_view_rights(turn: Turn, task: str) -> tuple[str, ...]:
    """The rights that are really there."""
    return rights(turn.contract(task), turn.policy())


def checks(turn: Turn, task: str) -> ChecksResult:
    return ChecksResult(checks=checking.views(turn, task))


def list_files(turn: Turn, task: str | None, params: ListParams) -> ListResult:
    under = paths.parse(params.under, portable=False).rstrip("/") + "/" if params.under not in ("", ".", "./") else ""
    every = sorted({*turn.files(), *turn.memory.mirror.buffers})
    found = [path for path in every if path.startswith(under)]
    shown = found[: params.limit]
    return ListResult(
        files=tuple(shown),
        writable=tuple(path for path in shown if _writable(turn, task, path)),
        truncated=len(found) > len(shown),
    )


def _writable(turn: Turn, task: str | None, path: str) -> bool:
    return task is not None and isinstance(may_write(path, turn.contract(task), turn.policy()), Allow | Ask)


def read_file(turn: Turn, agent: str, task: str | None, params: ReadParams) -> ReadResult:
    """The present text, with a receipt.

    AgentFaults: not_found, buffer_unknown, outside_scope, not_a_file, too_large.
    """
    snapshot = turn.look(paths.parse(params.path, portable=False))
    if not snapshot.trusted:
        staleness.demand_known(snapshot, snapshot.digest, AgentFault)
    if snapshot.origin == "absent":
        raise AgentFault(
            "not_found",
            f"{params.path} does not exist.",
            remedy="See list_files. To create it, bind the proposal to absent.",
            path=params.path,
        )
    turn.keep(codec.encode(snapshot.text, snapshot.charset))
    shown = turn.state.receipts.get((agent, snapshot.path))
    if shown is None or (shown.digest, shown.origin) != (snapshot.digest, snapshot.origin):
        turn.emit(e.Shown(agent=agent, path=snapshot.path, digest=snapshot.digest, origin=snapshot.origin))
    lines = split_lines(snapshot.text)
    part = lines[params.first_line - 1 : params.last_line]
    return ReadResult(
        path=snapshot.path,
        text="".join(part),
        digest=snapshot.digest,
        origin=snapshot.origin,
        version=snapshot.version,
        unsaved=not snapshot.clean,
        line_count=len(lines),
        line_ends=codec.eol_style(snapshot.text),
        encoding=snapshot.charset.name,
        encoding_note=_encoding_note(snapshot),
        writable=_writable(turn, task, snapshot.path),
        partial=len(part) != len(lines),
    )


def _encoding_note(snapshot: Snapshot) -> str | None:
    """What an agent must know of an encoding that is a guess."""
    if snapshot.charset.name == codec.OPAQUE.name:
        return (
            f"The encoding is not known. {codec.stray(snapshot.text)} bytes are no text: each byte XX stands here as "
            "the character U+F7XX. Send those back as they are where a line stays or is replaced, and add only ASCII."
        )
    if staleness.guessed(snapshot):
        return "A guess: the bytes are not UTF-8. Add only ASCII, and characters of the lines you replace."
    return None


# --- the page ---------------------------------------------------------------------------------------------------------


def status(turn: Turn, agent: str, task: str | None) -> StatusResult:
    mine = [
        entry for entry in turn.state.proposals.values() if entry.outline.task == task and entry.outline.made != "part"
    ]
    shown = mine[-PAGE_ENTRIES:]
    decisions = [
        entry
        for entry in turn.state.decisions.values()
        if deciding.is_visible(entry, agent, task) and (entry.state == "pending" or entry.asked.task == task)
    ][-PAGE_ENTRIES:]
    results = tuple(verdict.proposal(turn, entry.outline.proposal) for entry in shown)
    return StatusResult(
        page="\n".join(_page(turn, agent, task, results, tuple(deciding.view(d) for d in decisions))) + "\n",
        task=None if task is None else task_view(turn, task),
        proposals=results,
        decisions=tuple(deciding.view(d) for d in decisions),
    )


def _page(
    turn: Turn, agent: str, task: str | None, proposals: tuple[ProposalResult, ...], decisions: tuple[object, ...]
) -> list[str]:
    name = turn.state.agents[agent].name if agent in turn.state.agents else agent
    lines = [f"You are {name}, working through Remit. Session: {turn.state.mode}."]
    if task is None:
        return [*lines, "No contract is active. You can read files and call propose_contract."]
    view = task_view(turn, task)
    lines += [
        f"Task {task}: {view.goal}",
        f"You may write: {', '.join(view.write_scope) or 'nothing'}. Rights: {', '.join(view.rights) or 'none'}.",
    ]
    lines += [f"Check {c.check_id}: {c.status}{' (required)' if c.required else ''}" for c in view.checks]
    for result in proposals:
        stale = ", stale" if result.stale else ""
        hunks = ", ".join(f"{hunk.id} {hunk.path} {hunk.state}" for hunk in result.hunks)
        lines.append(f"Proposal {result.proposal_id}: {result.state}{stale} ({hunks})")
    for entry in list(turn.state.decisions.values())[-PAGE_ENTRIES:]:
        if deciding.view(entry) in decisions:
            said = f": {entry.option}{' ' + entry.text if entry.text else ''}" if entry.state == "answered" else ""
            lines.append(f"Decision {entry.asked.decision} ({entry.state}): {entry.asked.question}{said}")
    mine = [(path, shown) for (who, path), shown in turn.state.receipts.items() if who == agent][-PAGE_ENTRIES:]
    read = [
        f"{path} {shown.digest[:12]}…{'' if turn.glance(path).is_named(shown.digest) else ' (changed since)'}"
        for path, shown in mine
    ]
    lines += [f"You were shown: {', '.join(read)}"] if read else []
    waits = [r.proposal_id for r in proposals if not r.settled]
    return [*lines, f"Waiting for the human: {', '.join(waits) or 'nothing of yours'}."]
