"""Carrying out what was accepted: intent first, then the effect, then what digests show of it.

Closed files are staged before buffers are touched and put in place after; an answer of the client is never believed,
only compared with what the buffer holds. What to do after a crash is `core/recovering.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from remit.core import editing, ending, moving, plan, retracting
from remit.core import events as e
from remit.core.editing import Flight
from remit.core.effects import (
    DiskChange,
    EditBuffers,
    Edited,
    FilesDone,
    Operated,
    RestoreFiles,
    SettleFiles,
    StageFiles,
    Wake,
)
from remit.core.faults import UserFault
from remit.core.model import fingerprint
from remit.core.proposal import Proposal
from remit.core.turn import Turn

ANSWER, CONFIRM, QUIET = editing.ANSWER, editing.CONFIRM, editing.QUIET
"""Seconds: until the client must have answered; then until its buffer must show it; and of no typing beforehand, for a
client that does not compare versions."""


def demand_able(turn: Turn, proposal: Proposal) -> None:
    """Refuse what this session cannot do. UserFaults: no_editor, client_cannot_apply, target_open."""
    if turn.state.mode != "editor":
        raise UserFault("no_editor", "A session without an editor applies nothing.", remedy="Open the editor.")
    for file in proposal.files:
        for path in file.touches():
            if path not in turn.memory.mirror.buffers:
                continue
            if file.executable is not None:
                raise UserFault("target_open", f"{path} is open in the editor.", remedy="Close it first.", path=path)
            if not turn.memory.can_edit:
                raise UserFault(
                    "client_cannot_apply",
                    f"{path} is open, and this editor cannot take edits from a language server.",
                    remedy="Close the file, and accept again.",
                    path=path,
                )
    moving.demand(turn, proposal)


def begin(turn: Turn, proposal: Proposal, approval: e.Approval) -> str:
    """Write the intent and start; the action's id."""
    targets = tuple(target for file in proposal.files for target in plan.targets(turn, file))
    name = turn.state.next_id("A")
    turn.emit(
        e.ActionPlanned(
            action=name,
            kind="apply",
            subject=proposal.id,
            task=proposal.task,
            parameters=fingerprint([target.wire() for target in targets]),
            approval=approval,
            targets=targets,
        )
    )
    ending.move(turn, name, "authorized")
    flight = Flight(proposal, "waiting", any(t.via == "disk" for t in targets), turn.clock + ANSWER)
    flight.guard = "versions" if turn.memory.compares_versions else "verify-after"
    turn.memory.inflight[name] = flight
    _start(turn, name, flight)
    return name


def edited(turn: Turn, outcome: Edited) -> None:
    """The client answered an edit; what its buffer shows decides."""
    flight = _flight(turn, outcome.action)
    # An answer to the edit, if it comes when that is being taken back already, says nothing of the taking back.
    if flight is None or flight.phase != ("undo" if outcome.undo else "buffers") or flight.moving not in ("", "edit"):
        return
    _answered(turn, flight, outcome)


def operated(turn: Turn, outcome: Operated) -> None:
    """The client answered a file operation; what is on disk and open decides."""
    flight = _flight(turn, outcome.action)
    if flight is not None and flight.moving == ("back" if outcome.undo else "out"):
        _answered(turn, flight, outcome)


def _answered(turn: Turn, flight: Flight, outcome: Edited | Operated) -> None:
    flight.answered = bool(outcome.applied)
    flight.said = flight.said if outcome.undo else outcome.reason
    flight.deadline = turn.clock + CONFIRM
    turn.act(Wake(CONFIRM))
    look_again(turn, outcome.action)


def files_done(turn: Turn, outcome: FilesDone) -> None:
    """A step with closed files ended."""
    flight = _flight(turn, outcome.action)
    if flight is None:
        return
    step = (outcome.step, outcome.result)
    if step == ("stage", "done"):
        _edit_buffers(turn, outcome.action, flight)
    elif step == ("commit", "done"):
        _operate(turn, outcome.action, flight)
    elif step == ("revert", "done"):
        retracting.begin(turn, outcome.action, flight, flight.said)
    elif outcome.step == "finish":
        # Whatever was said of it: every file is in place, and what was saved meanwhile is in a copy.
        ending.end(turn, outcome.action, "succeeded", outcome.reason)
    elif outcome.result == "unknown":
        ending.lose(turn, outcome.action, outcome.reason)
    elif outcome.step == "stage":
        ending.end(turn, outcome.action, "failed_without_effect", outcome.reason)
    elif outcome.step == "commit":
        retracting.begin(turn, outcome.action, flight, outcome.reason)


def woken(turn: Turn) -> None:
    """Time has passed: whatever waited for quiet or for a sign is looked at again."""
    for name, flight in list(turn.memory.inflight.items()):
        assert isinstance(flight, Flight)
        if flight.phase == "waiting":
            _start(turn, name, flight)
        elif flight.phase == "undo" and not flight.wanted:
            retracting.again(turn, name, flight)
        elif flight.moving == "due":
            _operate(turn, name, flight)
        else:
            look_again(turn, name)


def look_again(turn: Turn, name: str) -> None:
    """Compare what the buffers hold with what was promised; settle if that says enough."""
    flight = _flight(turn, name)
    if flight is not None and flight.phase in ("stage", "commit"):
        # These end within the turn that begins them: the journal refused to take down how.
        turn.memory.inflight.pop(name)
        ending.move(turn, name, "outcome_unknown", "the outcome could not be recorded")
    elif flight is not None and flight.phase == "undo" and flight.wanted:
        retracting.look(turn, name, flight)
    elif flight is not None and flight.moving:
        _operating(turn, name, flight)
    elif flight is not None and flight.phase == "buffers":
        found = turn.found(plan.buffers(turn, name))
        if found == {target.path: target.after for target in plan.of(turn, name) if target.via == "buffer"}:
            for path in found.keys() & turn.memory.mirror.buffers.keys():
                turn.memory.mirror.buffers[path].strokes.proposed(flight.proposal.id)
            _buffers_done(turn, name, flight)
        elif flight.answered is False or turn.clock >= flight.deadline:
            _buffers_failed(turn, name, flight, found)


# --- the steps --------------------------------------------------------------------------------------------------------


def _guard(turn: Turn, name: str, flight: Flight) -> str:
    """What stands guard, for the record: a closed file may be open, and dirty, in an editor that is not attached."""
    closed = any(target.via == "disk" for target in plan.of(turn, name))
    return f"{flight.guard}; buffers: attached only" if closed else flight.guard


def _flight(turn: Turn, name: str) -> Flight | None:
    found = turn.memory.inflight.get(name)
    return found if isinstance(found, Flight) else None


def _start(turn: Turn, name: str, flight: Flight) -> None:
    if not editing.quiet(turn, flight, plan.buffers(turn, name)):
        turn.act(Wake(QUIET))
        return
    if reason := plan.displaced(turn, name) or plan.changed(turn, name):
        ending.end(turn, name, "failed_without_effect", reason)
        return
    ending.move(turn, name, "dispatched", guard=_guard(turn, name, flight))
    flight.deadline = turn.clock + ANSWER
    if flight.disk:
        flight.phase = "stage"
        turn.act(StageFiles(name, plan.disk_changes(turn, flight.proposal, name)))
    else:
        _edit_buffers(turn, name, flight)


def _edit_buffers(turn: Turn, name: str, flight: Flight) -> None:
    paths = plan.buffers(turn, name)
    if not paths:
        _commit(turn, name, flight)
        return
    flight.phase, flight.answered = "buffers", None
    turn.act(EditBuffers(name, f"Remit: {flight.proposal.id}", editing.edits(turn, flight.proposal, paths)))
    turn.act(Wake(ANSWER))


def _buffers_done(turn: Turn, name: str, flight: Flight) -> None:
    if flight.disk and (reason := plan.displaced(turn, name)):
        turn.act(SettleFiles(name, "abort"))
        retracting.begin(turn, name, flight, reason)
    else:
        _commit(turn, name, flight)


def _commit(turn: Turn, name: str, flight: Flight) -> None:
    if flight.disk:
        flight.phase = "commit"
        turn.act(SettleFiles(name, "commit"))
    else:
        _operate(turn, name, flight)


def _operate(turn: Turn, name: str, flight: Flight) -> None:
    """All else is in place: what the editor has to delete or rename comes last, since the rest can be taken back."""
    file = plan.operated(turn, name, flight.proposal)
    if file is None:
        _finish(turn, name, flight)
        return
    flight.phase = "buffers"
    _after(turn, name, flight, moving.begin(turn, name, flight, file))


def _operating(turn: Turn, name: str, flight: Flight) -> None:
    file = plan.operated(turn, name, flight.proposal)
    if file is not None:
        _after(turn, name, flight, moving.look(turn, name, flight, file))


def _after(turn: Turn, name: str, flight: Flight, verdict: moving.Verdict) -> None:
    if verdict == "done":
        _finish(turn, name, flight)
    elif verdict == "lost":
        ending.lose(turn, name, flight.said)
    elif verdict == "rescue":
        # Under way until that is done (see `recovering.restored`): nothing is settled by what is there in between.
        flight.phase, flight.moving = "revert", ""
        ending.move(turn, name, "outcome_unknown", flight.said)
        path = next(target.path for target in plan.of(turn, name) if target.via == "editor")
        turn.act(RestoreFiles(name, (DiskChange(path, None, turn.kept(flight.typed)),)))
    elif verdict == "failed":
        flight.moving = ""
        if flight.disk:
            turn.act(SettleFiles(name, "revert"))
        else:
            retracting.begin(turn, name, flight, flight.said)


def _finish(turn: Turn, name: str, flight: Flight) -> None:
    if flight.disk:
        flight.phase = "commit"
        turn.act(SettleFiles(name, "finish"))
    else:
        ending.end(turn, name, "succeeded")


def _buffers_failed(turn: Turn, name: str, flight: Flight, found: Mapping[str, str]) -> None:
    """The client has answered, or its time is over, and the buffers do not hold what was promised."""
    if flight.disk:
        turn.act(SettleFiles(name, "abort"))
    before = {target.path: target.before for target in plan.of(turn, name) if target.via == "buffer"}
    if flight.answered is False and found == before:
        ending.end(turn, name, "failed_without_effect", flight.said or "the editor refused the edit")
    else:
        ending.lose(turn, name, editing.doubt(turn, flight, plan.buffers(turn, name)))
