"""The account of a task: done, failed, not run, to be confirmed. Computed from events and present digests alone.

What the agent says of itself is attached, and moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from remit.core import checking, inputs, standing
from remit.core.entries import ActionEntry
from remit.core.model import Binding, Digest, Model
from remit.core.turn import Turn

List = Literal["done", "failed", "not_run", "to_be_confirmed"]


class Evidence(Model):
    """Where a line comes from: journal events by sequence number, contents by digest."""

    events: tuple[int, ...]
    digests: tuple[Binding, ...] = ()


class Line(Model):
    kind: Literal["change", "check", "decision", "proposal"]
    subject: str
    text: str
    evidence: Evidence


class Claim(Model):
    """The agent's own words."""

    agent: str
    text: str
    event: int


class Report(Model):
    """The report of one task. Each line cites its evidence."""

    task_id: str
    goal: str
    contract: Digest
    policy: Digest
    activated_by: str
    done: tuple[Line, ...] = ()
    failed: tuple[Line, ...] = ()
    not_run: tuple[Line, ...] = ()
    to_be_confirmed: tuple[Line, ...] = ()
    refused: tuple[Line, ...] = Field(default=(), description="What was asked for outside the remit, and refused.")
    write_scope: tuple[str, ...] = ()
    touched: tuple[str, ...] = Field(default=(), description="Files that accepted changes wrote.")
    guards: tuple[str, ...] = Field(default=(), description="What really stood guard.")
    claims: tuple[Claim, ...] = ()


def report(turn: Turn, task: str) -> Report:
    """The report as of now: every file it speaks of is read again. UserFault("no_such_task")."""
    turn.sight.forget()
    contract = turn.contract(task)
    seq, active = turn.state.contracts[task]
    lines: dict[List, list[Line]] = {"done": [], "failed": [], "not_run": [], "to_be_confirmed": []}
    for part in (_changes, _checks, _waiting):
        for where, line in part(turn, task):
            lines[where].append(line)
    applied = [
        entry for entry in turn.state.actions.values() if _is(entry, task, "apply") and entry.state == "succeeded"
    ]
    return Report(
        task_id=task,
        goal=contract.goal,
        contract=active.contract,
        policy=active.policy,
        activated_by=f"{active.approval.by}, event {seq}",
        **{name: tuple(found) for name, found in lines.items()},
        refused=tuple(_refused(turn, task)),
        write_scope=contract.write_scope,
        touched=tuple(dict.fromkeys(target.path for entry in applied for target in entry.plan.targets)),
        guards=_guards(turn),
        claims=tuple(
            Claim(agent=event.agent, text=event.summary, event=number)
            for number, event in turn.state.finished.get(task, [])
        ),
    )


def open_points(found: Report) -> tuple[str, ...]:
    """What still stands in the way of done, a line each."""
    return tuple(line.text for line in (*found.failed, *found.not_run, *found.to_be_confirmed))


def _is(entry: ActionEntry, task: str, kind: str) -> bool:
    return entry.plan.task == task and entry.plan.kind == kind


def _changes(turn: Turn, task: str) -> Iterator[tuple[List, Line]]:
    for entry in turn.state.actions.values():
        if not _is(entry, task, "apply"):
            continue
        evidence = Evidence(events=_events(turn, entry), digests=tuple(t.after for t in entry.plan.targets))
        subject, paths = entry.plan.subject, ", ".join(target.path for target in entry.plan.targets)
        outline = turn.state.proposals[subject].outline
        if turn.state.proposals[subject].state == "undone":
            continue  # the line of what took it back says so
        if entry.state == "succeeded":
            said = f"{subject} took back {outline.parent}" if outline.made == "undo" else f"{subject} applied"
            if gone := standing.gone(turn, entry):
                said += ", not reviewed" * turn.state.proposals[subject].unseen
                text = f"{said}: {paths}; but {', '.join(gone)} was changed there since, or does not hold it."
                yield "to_be_confirmed", Line(kind="change", subject=subject, text=text, evidence=evidence)
            else:
                unsaved = standing.unsaved(turn, entry)
                saved = f" Not saved yet: {', '.join(unsaved)}." if unsaved else ""
                unseen = turn.state.proposals[subject].unseen
                said += ", not reviewed" if unseen else _how(entry)
                line = Line(kind="change", subject=subject, text=f"{said}: {paths}.{saved}", evidence=evidence)
                yield "to_be_confirmed" if unseen else "done", line
        elif entry.state in ("failed_without_effect", "safe_to_retry"):
            text = f"{subject} was not applied to {paths}: {entry.reason}. Nothing was changed."
            yield "failed", Line(kind="change", subject=subject, text=text, evidence=evidence)
        else:
            text = f"{subject}: whether {paths} was written is not known ({entry.reason or entry.state})."
            yield "to_be_confirmed", Line(kind="change", subject=subject, text=text, evidence=evidence)


def _events(turn: Turn, entry: ActionEntry) -> tuple[int, ...]:
    """What made it so; for what was applied at once, the showing after too."""
    proposal = turn.state.proposals[entry.plan.subject]
    seen = proposal.seqs if entry.plan.approval.unasked and not proposal.unseen else []
    return tuple(sorted({*entry.seqs, *seen}))


def _how(entry: ActionEntry) -> str:
    return " at once, and seen after" if entry.plan.approval.unasked else ""


def _checks(turn: Turn, task: str) -> Iterator[tuple[List, Line]]:
    for view in checking.views(turn, task):
        run = turn.state.last_run(view.check_id, task)
        digests = (run.plan.inputs,) if run and run.plan.inputs else ()
        evidence = Evidence(events=tuple(run.seqs) if run else (turn.state.contracts[task][0],), digests=digests)
        where, words = _STANDING[view.status]
        seen, blind = view.last_run, inputs.unlooked(turn, run) if run else ()
        if blind and where == "done":
            where, words = "to_be_confirmed", f"passed, but {', '.join(blind)} cannot be looked at"
        without = " in no sandbox" if seen and seen.sandbox == "none" and where in ("done", "failed") else ""
        unseen = f" It did not see unsaved text of {', '.join(seen.not_seen)}." if seen and seen.not_seen else ""
        needed = " It is required." if view.required and where != "done" else ""
        text = f"Check {view.check_id} {words}{without}.{unseen}{needed}"
        yield where, Line(kind="check", subject=view.check_id, text=text, evidence=evidence)


_STANDING: dict[str, tuple[List, str]] = {
    "passed": ("done", "passed on the present content"),
    "failed": ("failed", "failed on the present content"),
    "not_run": ("not_run", "has not run"),
    "waiting": ("not_run", "has not run: it waits for a human"),
    "forbidden": ("not_run", "was not run: the contract forbids it"),
    "running": ("to_be_confirmed", "is running"),
    "stale": ("to_be_confirmed", "ran before the last change"),
    "outcome_unknown": ("to_be_confirmed", "was cut off; its outcome is not known"),
}


def _waiting(turn: Turn, task: str) -> Iterator[tuple[List, Line]]:
    for entry in turn.state.open_proposals():
        if entry.outline.task == task:
            name = entry.outline.proposal
            paths = ", ".join(file.path for file in entry.outline.files)
            evidence = Evidence(events=tuple(entry.seqs), digests=tuple(file.base for file in entry.outline.files))
            text = f"{name} waits for review: {paths}."
            yield "to_be_confirmed", Line(kind="proposal", subject=name, text=text, evidence=evidence)
    for decision in turn.state.pending_decisions():
        if decision.asked.task == task:
            name = decision.asked.decision
            text = f"{name} waits for an answer: {decision.asked.question}"
            evidence = Evidence(events=tuple(decision.seqs))
            yield "to_be_confirmed", Line(kind="decision", subject=name, text=text, evidence=evidence)


def _refused(turn: Turn, task: str) -> Iterator[Line]:
    for seq, _, event in turn.state.refusals:
        if event.task == task and event.code != "stale":
            subject = event.path or event.verb
            yield Line(kind="proposal", subject=subject, text=event.message, evidence=Evidence(events=(seq,)))


def _guards(turn: Turn) -> tuple[str, ...]:
    return turn.state.sessions[-1][1].guards if turn.state.sessions else ()


# --- for people -------------------------------------------------------------------------------------------------------

_HEADS: tuple[tuple[List, str], ...] = (
    ("done", "Done"),
    ("failed", "Failed"),
    ("not_run", "Not run"),
    ("to_be_confirmed", "To be confirmed"),
)


def markdown(found: Report) -> str:
    """The report for people."""
    out = [f"# Report: {_plain(found.task_id)}", "", _plain(found.goal), ""]
    for name, head in _HEADS:
        out += [f"## {head}", "", *([_item(line) for line in getattr(found, name)] or ["Nothing."]), ""]
    if found.refused:
        out += ["## Refused", "", *(_item(line) for line in found.refused), ""]
    out += ["## Scope and guards", ""]
    out += [f"- May write: {', '.join(map(_plain, found.write_scope)) or 'nothing'}"]
    out += [f"- Wrote: {', '.join(map(_plain, found.touched)) or 'nothing'}"]
    out += [f"- Guards: {', '.join(found.guards) or 'none recorded'}"]
    out += [f"- Contract {found.contract[:12]}…, policy {found.policy[:12]}…, activated by {found.activated_by}", ""]
    if found.claims:
        out += ["## What the agent says (not evidence)", ""]
        out += [f"> {_plain(claim.text)} (event {claim.event})" for claim in found.claims] + [""]
    return "\n".join(out)


def _item(line: Line) -> str:
    events = ", ".join(str(number) for number in line.evidence.events)
    digests = "".join(f", {digest[:12]}" for digest in line.evidence.digests[:4])
    return f"- {_plain(line.text)} (event {events}{digests})"


def _plain(text: str) -> str:
    """One line, with nothing in it that Markdown or a terminal would act on."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "�" for c in line).replace("<", "&lt;").replace("](", "] (")
