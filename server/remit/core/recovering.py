"""After a crash: what was begun and not settled is found out by digests, else handed to the human.

Unknown is written first, decided second; nothing with an effect is done again. Each step may itself be cut off.
"""

from __future__ import annotations

from remit.core import ending, retracting
from remit.core import events as e
from remit.core.editing import Flight
from remit.core.effects import DiskChange, FilesDone, RestoreFiles, Wake
from remit.core.entries import ActionEntry
from remit.core.model import ABSENT
from remit.core.turn import Turn

GRACE = 2.0
"""Seconds after an editor has come back in which it may still open the documents it holds."""


def start(turn: Turn) -> None:
    """A session begins: nothing that the last one had under way is under way any more."""
    for entry in turn.state.running():
        name = entry.plan.action
        if entry.state in ("planned", "authorized"):
            _move(turn, entry, "failed_without_effect", "it had not begun when the session ended")
        elif entry.state == "dispatched":
            _move(turn, entry, "outcome_unknown", "the session ended before the outcome was known")
        if turn.state.actions[name].state == "outcome_unknown":
            reconcile(turn, entry)
        elif entry.state == "needs_human_decision" and not _asked(turn, name):
            # No way out of it but an answer, so the question is put again.
            again = _ask_about_run if entry.plan.kind == "check" else _ask_about_apply
            again(turn, entry)


def _ask_about_apply(turn: Turn, entry: ActionEntry) -> None:
    ending.ask(turn, entry, entry.reason)


def _asked(turn: Turn, action: str) -> bool:
    return any(entry.asked.subject == action for entry in turn.state.pending_decisions())


def attached(turn: Turn) -> None:
    """An editor is there: what it holds open can tell, once it has had time to say so."""
    if any(entry.state == "outcome_unknown" for entry in turn.state.running()):
        turn.act(Wake(GRACE))


def look_again(turn: Turn) -> None:
    """Something was opened, changed, or time has passed: unknown outcomes may be knowable now."""
    for entry in turn.state.running():
        if entry.plan.action in turn.memory.inflight:
            continue
        if entry.state == "outcome_unknown":
            reconcile(turn, entry)
        elif (
            entry.state == "needs_human_decision"
            and entry.plan.kind == "apply"
            and _found(turn, entry) == _after(entry)
        ):
            _move(turn, entry, "succeeded", "the promised text is there")
            ending.after_success(turn, entry.plan.action)


def reconcile(turn: Turn, entry: ActionEntry) -> None:
    """Settle one unknown outcome if what is there tells; else ask, or wait for the editor."""
    if entry.plan.kind == "check":
        _move(turn, entry, "needs_human_decision", "a run without a sandbox was cut off")
        _ask_about_run(turn, entry)
        return
    if not _tellable(turn, entry):
        return
    found, after = _found(turn, entry), _after(entry)
    before = {target.path: target.before for target in entry.plan.targets}
    if found == after:
        _move(turn, entry, "succeeded", "every file holds the new content")
        ending.after_success(turn, entry.plan.action)
    elif found == before:
        _move(turn, entry, "safe_to_retry", "every file holds the old content")
    elif not _can_go_back(turn, entry, found):
        ending.ask_about(turn, entry, "the files hold neither all of the old nor all of the new content")
    elif images := _before_images(turn, entry, found):
        turn.act(RestoreFiles(entry.plan.action, images))
    else:
        _take_back(turn, entry)


def _take_back(turn: Turn, entry: ActionEntry) -> None:
    """Only the editor's part is there, in documents that are open again: take it out of them."""
    name = entry.plan.action
    flight = Flight(turn.proposal(entry.plan.subject), "undo", False, turn.clock, recovered=True)
    flight.guard = "versions" if turn.memory.compares_versions else "verify-after"
    turn.memory.inflight[name] = flight
    retracting.begin(turn, name, flight, "the session ended in the middle of it")


def restored(turn: Turn, outcome: FilesDone) -> None:
    """Half-applied files were put back, or could not be."""
    entry = turn.state.actions[outcome.action]
    turn.memory.inflight.pop(outcome.action, None)
    if entry.state != "outcome_unknown":
        return
    if outcome.result == "done":
        reconcile(turn, entry)
    else:
        ending.ask_about(turn, entry, f"half of the files could not be put back: {outcome.reason}")


def _tellable(turn: Turn, entry: ActionEntry) -> bool:
    """Whether what we can see is what there is: a buffer that an editor may still bring back cannot be seen."""
    buffers = [target.path for target in entry.plan.targets if target.via != "disk"]
    if all(path in turn.memory.mirror.buffers for path in buffers):
        return True
    since = turn.memory.attached_at
    return since is not None and turn.clock - since >= GRACE


def _found(turn: Turn, entry: ActionEntry) -> dict[str, str]:
    return turn.found(target.path for target in entry.plan.targets)


def _after(entry: ActionEntry) -> dict[str, str]:
    return {target.path: target.after for target in entry.plan.targets}


def _can_go_back(turn: Turn, entry: ActionEntry, found: dict[str, str]) -> bool:
    """Whether each file is wholly old or new, and the new ones are closed files or texts that the editor has open."""
    whole = all(found.get(target.path) in (target.before, target.after) for target in entry.plan.targets)
    new = [target for target in entry.plan.targets if found.get(target.path) != target.before]
    able = turn.state.mode == "editor" and turn.memory.can_edit
    held = turn.memory.mirror.buffers if able else {}
    return whole and all(target.via == "disk" or (target.via == "buffer" and target.path in held) for target in new)


def _before_images(turn: Turn, entry: ActionEntry, found: dict[str, str]) -> tuple[DiskChange, ...]:
    return tuple(
        DiskChange(
            target.path,
            before=None if target.after == ABSENT else target.after,
            after=None if target.before == ABSENT else turn.kept(target.before),
        )
        for target in entry.plan.targets
        if target.via == "disk" and found[target.path] != target.before
    )


def _move(turn: Turn, entry: ActionEntry, to: str, reason: str) -> None:
    found = _found(turn, entry) if entry.plan.kind == "apply" and to != "failed_without_effect" else {}
    turn.emit(e.ActionMoved.model_validate({"action": entry.plan.action, "to": to, "reason": reason, "found": found}))


def _ask_about_run(turn: Turn, entry: ActionEntry) -> None:
    """A run without a sandbox may have had any effect: only a human can say that it may count as not run."""
    turn.emit(
        e.DecisionAsked(
            decision=turn.state.next_id("D"),
            kind="unknown_outcome",
            task=entry.plan.task,
            question=f"The check {entry.plan.subject} was cut off while it ran ({entry.plan.action}).",
            why="It ran without a sandbox, so what it did is not known. Its result is lost.",
            options=(e.Option(id="not_run", title="Count it as not run", effect="It can be run again."),),
            subject=entry.plan.action,
            binding=entry.plan.parameters,
        )
    )
