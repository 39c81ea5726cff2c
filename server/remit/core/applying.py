"""Carrying out what was accepted: intent first, then the effect, then what digests show of it.

Closed files are staged before buffers are touched and put in place after; an answer of the client is never believed,
only compared with what the buffer holds. What to do after a crash is `core/recovering.py`.
"""

from __future__ import annotations

from remit.core import asking, ending
from remit.core import events as e
from remit.core.effects import BufferEdit, DiskChange, EditBuffers, Edited, FilesDone, SettleFiles, StageFiles, Wake
from remit.core.faults import UserFault
from remit.core.mirror import Buffer
from remit.core.model import ABSENT, fingerprint
from remit.core.proposal import FileChange, Proposal
from remit.core.text import Edit, Position, Range
from remit.core.turn import Inflight, Turn

ANSWER, CONFIRM, QUIET = 30.0, 5.0, 1.0
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
            if file.op in ("delete", "rename") or file.executable is not None:
                raise UserFault("target_open", f"{path} is open in the editor.", remedy="Close it first.", path=path)
            if not turn.memory.can_edit:
                raise UserFault(
                    "client_cannot_apply",
                    f"{path} is open, and this editor cannot take edits from a language server.",
                    remedy="Close the file, and accept again.",
                    path=path,
                )


def begin(turn: Turn, proposal: Proposal, approval: e.Approval) -> str:
    """Write the intent and start; the action's id."""
    targets = tuple(target for file in proposal.files for target in _targets(turn, file))
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
    flight = Inflight(proposal, "waiting", any(t.via == "disk" for t in targets), turn.clock + ANSWER)
    flight.guard = "versions" if turn.memory.compares_versions else "verify-after"
    turn.memory.inflight[name] = flight
    _start(turn, name, flight)
    return name


def edited(turn: Turn, outcome: Edited) -> None:
    """The client answered an edit; what its buffer shows decides."""
    flight = turn.memory.inflight.get(outcome.action)
    if flight is None or flight.phase not in ("buffers", "undo"):
        return
    flight.answered, flight.said = bool(outcome.applied), outcome.reason
    flight.deadline = turn.clock + CONFIRM
    turn.act(Wake(CONFIRM))
    look_again(turn, outcome.action)


def files_done(turn: Turn, outcome: FilesDone) -> None:
    """A step with closed files ended."""
    flight = turn.memory.inflight.get(outcome.action)
    if flight is None:
        return
    step = (outcome.step, outcome.result)
    if step == ("stage", "done"):
        _edit_buffers(turn, outcome.action, flight)
    elif step == ("commit", "done"):
        turn.act(SettleFiles(outcome.action, "finish"))
    elif outcome.step == "finish":
        # Whatever was said of it: every file is in place, and what was saved meanwhile is in a copy.
        ending.end(turn, outcome.action, "succeeded", outcome.reason)
    elif outcome.result == "unknown":
        ending.lose(turn, outcome.action, outcome.reason)
    elif outcome.step == "stage":
        ending.end(turn, outcome.action, "failed_without_effect", outcome.reason)
    elif outcome.step == "commit":
        _undo_buffers(turn, outcome.action, flight, outcome.reason)


def woken(turn: Turn) -> None:
    """Time has passed: whatever waited for quiet or for a sign is looked at again."""
    for name, flight in list(turn.memory.inflight.items()):
        if flight.phase == "waiting":
            _start(turn, name, flight)
        else:
            look_again(turn, name)


def look_again(turn: Turn, name: str) -> None:
    """Compare what the buffers hold with what was promised; settle if that says enough."""
    flight = turn.memory.inflight.get(name)
    if flight is not None and flight.phase in ("stage", "commit"):
        # These end within the turn that begins them: the journal refused to take down how.
        turn.memory.inflight.pop(name)
        ending.move(turn, name, "outcome_unknown", "the outcome could not be recorded")
        return
    if flight is None or flight.phase not in ("buffers", "undo"):
        return
    targets = [target for target in turn.state.actions[name].plan.targets if target.via == "buffer"]
    found = turn.found(target.path for target in targets)
    wanted = {target.path: target.after if flight.phase == "buffers" else target.before for target in targets}
    before = {target.path: target.before for target in targets}
    if found == wanted:
        _buffers_done(turn, name, flight)
    elif flight.phase == "buffers" and flight.answered is False and found == before:
        if flight.disk:
            turn.act(SettleFiles(name, "abort"))
        ending.end(turn, name, "failed_without_effect", flight.said or "the editor refused the edit")
    elif flight.answered is False or turn.clock >= flight.deadline:
        if flight.disk and flight.phase == "buffers":
            turn.act(SettleFiles(name, "abort"))
        ending.lose(turn, name, _doubt(flight))


# --- the steps --------------------------------------------------------------------------------------------------------


def _targets(turn: Turn, file: FileChange) -> list[e.Target]:
    via = "buffer" if file.path in turn.memory.mirror.buffers and file.op == "modify" else "disk"
    if file.op == "rename":
        return [
            e.Target(path=file.path, via="disk", before=ABSENT, after=file.result),
            e.Target(path=file.origin, via="disk", before=file.base, after=ABSENT),
        ]
    return [e.Target(path=file.path, via="buffer" if via == "buffer" else "disk", before=file.base, after=file.result)]


def _start(turn: Turn, name: str, flight: Inflight) -> None:
    buffers = [turn.memory.mirror.buffers.get(target.path) for target in _plan(turn, name) if target.via == "buffer"]
    if flight.guard == "verify-after" and any(b and turn.clock - b.changed_at < QUIET for b in buffers):
        turn.act(Wake(QUIET))
        return
    if reason := _displaced(turn, name) or _changed(turn, name):
        ending.end(turn, name, "failed_without_effect", reason)
        return
    ending.move(turn, name, "dispatched", guard=flight.guard)
    flight.deadline = turn.clock + ANSWER
    if flight.disk:
        flight.phase = "stage"
        turn.act(StageFiles(name, _disk_changes(turn, flight.proposal, name)))
    else:
        _edit_buffers(turn, name, flight)


def _displaced(turn: Turn, name: str) -> str:
    """Why the targets cannot be reached as planned any more: while a document is open, its buffer is the truth."""
    for target in _plan(turn, name):
        if (target.path in turn.memory.mirror.buffers) != (target.via == "buffer"):
            return f"{target.path} was {'closed' if target.via == 'buffer' else 'opened'} meanwhile"
    return ""


def _changed(turn: Turn, name: str) -> str:
    buffers = [target for target in _plan(turn, name) if target.via == "buffer"]
    found = turn.found(target.path for target in buffers)
    moved = (target.path for target in buffers if found.get(target.path) != target.before)
    return next((f"{path} changed before the edit was sent" for path in moved), "")


def _plan(turn: Turn, name: str) -> tuple[e.Target, ...]:
    return turn.state.actions[name].plan.targets


def _disk_changes(turn: Turn, proposal: Proposal, name: str) -> tuple[DiskChange, ...]:
    files = {path: file for file in proposal.files for path in file.touches()}
    changes = []
    for target in (target for target in _plan(turn, name) if target.via == "disk"):
        file = files[target.path]
        changes.append(
            DiskChange(
                target.path,
                before=None if target.before == ABSENT else target.before,
                after=None if target.after == ABSENT else turn.kept(target.after),
                mode_from=file.source if target.after != ABSENT else None,
                executable=file.executable,
                break_link=asking.is_allowed(turn, proposal.id, target.path),
            )
        )
    return tuple(changes)


def _edit_buffers(turn: Turn, name: str, flight: Inflight) -> None:
    paths = [target.path for target in _plan(turn, name) if target.via == "buffer"]
    if not paths:
        flight.phase = "commit"
        turn.act(SettleFiles(name, "commit"))
        return
    flight.phase, flight.answered = "buffers", None
    edits = tuple(_buffer_edit(turn, file, undo=False) for file in flight.proposal.files if file.path in paths)
    turn.act(EditBuffers(name, f"Remit: {flight.proposal.id}", edits))
    turn.act(Wake(ANSWER))


def _buffer_edit(turn: Turn, file: FileChange, *, undo: bool) -> BufferEdit:
    buffer = turn.memory.mirror.buffers[file.path]
    edits = []
    for hunk in file.hunks:
        start, old, new = hunk.old_start, hunk.old, hunk.new
        if undo:
            start, old, new = hunk.new_start, hunk.new, hunk.old
        edits.append(Edit("".join(new), _lines(turn, buffer, start, start + len(old))))
    return BufferEdit(file.path, buffer.version, tuple(edits))


def _lines(turn: Turn, buffer: Buffer, start: int, end: int) -> Range:
    last = buffer.text.end(turn.memory.mirror.encoding)

    def point(line: int) -> Position:
        return Position(line, 0) if line < buffer.text.line_count else last

    return Range(point(start), point(end))


def _buffers_done(turn: Turn, name: str, flight: Inflight) -> None:
    if flight.phase == "undo":
        ending.end(turn, name, "failed_without_effect", flight.said)
    elif flight.disk and (reason := _displaced(turn, name)):
        turn.act(SettleFiles(name, "abort"))
        _undo_buffers(turn, name, flight, reason)
    elif flight.disk:
        flight.phase = "commit"
        turn.act(SettleFiles(name, "commit"))
    else:
        ending.end(turn, name, "succeeded")


def _undo_buffers(turn: Turn, name: str, flight: Inflight, reason: str) -> None:
    """Closed files could not be put in place, and are as before: take the edits back if they are there as made."""
    targets = [target for target in _plan(turn, name) if target.via == "buffer"]
    if not targets:
        ending.end(turn, name, "failed_without_effect", reason)
        return
    buffers = turn.memory.mirror.buffers
    found = turn.found(target.path for target in targets)
    if any(target.path not in buffers or found.get(target.path) != target.after for target in targets):
        ending.lose(turn, name, f"{reason}; the open files were edited meanwhile")
        return
    flight.phase, flight.answered, flight.said = "undo", None, reason
    flight.deadline = turn.clock + ANSWER
    paths = {target.path for target in targets}
    edits = tuple(_buffer_edit(turn, file, undo=True) for file in flight.proposal.files if file.path in paths)
    turn.act(EditBuffers(name, f"Remit: take back {flight.proposal.id}", edits, undo=True))
    turn.act(Wake(ANSWER))


def _doubt(flight: Inflight) -> str:
    if flight.answered is None:
        return "the editor did not answer"
    said = "applied" if flight.answered else f"not applied ({flight.said or 'no reason given'})"
    return f"the editor said {said}, but its text is not what that would mean"
