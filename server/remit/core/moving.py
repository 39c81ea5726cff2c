"""Deleting and renaming a file that the editor has open: the editor does it, by one request of its own, and is watched.

Only what is clean, only what the client announced, never over anything, and last, when all else is in place. A rename
comes before the edit of the renamed file: a clean file is moved back by the same means, and no client has to carry
unsaved text to another name. What follows from how it went is decided in `core/applying.py`.
"""

from __future__ import annotations

from typing import Literal

from remit.core import codec, diff, editing, staleness
from remit.core.editing import ANSWER, QUIET, Flight
from remit.core.effects import EditBuffers, OperateFile, Wake
from remit.core.faults import Fault, UserFault
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal
from remit.core.turn import Turn

Verdict = Literal["wait", "done", "failed", "lost", "rescue"]
"""`rescue`: it is done, and took with it what was typed meanwhile, which `Flight.typed` names."""


def _is_theirs(turn: Turn, file: FileChange) -> bool:
    return file.op in ("delete", "rename") and file.origin in turn.memory.mirror.buffers


def demand(turn: Turn, proposal: Proposal) -> None:
    """Refuse what the editor cannot be asked to do with its open files. UserFault: target_open."""
    found = [file for file in proposal.files if _is_theirs(turn, file)]
    for file in proposal.files:
        path = file.path
        if path in turn.memory.mirror.buffers and file.op in ("create", "rename"):
            raise _open(path, f"The editor has a text open as {path}, which is not on disk.")
    for file in found:
        if file.executable is not None or file.op not in turn.state.sessions[-1][1].operations:
            raise _open(file.origin, f"{file.origin} is open in the editor.", "Close it first.")
        if not _clean(turn, file):
            raise _open(file.origin, f"{file.origin} is open with unsaved changes.")
    if len(found) > 1:
        raise _open(
            found[1].origin,
            "The editor has several of the files open that are deleted or renamed.",
            "Close them first.",
        )


def begin(turn: Turn, name: str, flight: Flight, file: FileChange) -> Verdict:
    """Ask the editor, if all is as it was accepted and nobody types."""
    buffer = turn.memory.mirror.buffers.get(file.origin)
    # No operation carries a version: whoever types now would lose it, with any client.
    if buffer is not None and turn.clock - buffer.changed_at < QUIET:
        flight.moving = "due"
        turn.act(Wake(QUIET))
        return "wait"
    if buffer is None or not _clean(turn, file) or (file.op == "rename" and turn.found([file.path]) != _absent(file)):
        flight.said = f"{file.origin} or its new place is not as it was any more"
        return "failed"
    _ask(turn, name, flight, file, back=False)
    return "wait"


def look(turn: Turn, name: str, flight: Flight, file: FileChange) -> Verdict:
    """What the disk and the open documents say of it by now."""
    over = flight.answered is False or turn.clock >= flight.deadline
    if flight.moving == "due":
        return "wait"
    if flight.moving == "edit":
        return _edited(turn, name, flight, file, over=over)
    if flight.moving == "back":
        if _stands(turn, file, moved=False):
            return "failed"
        flight.said = f"{flight.said}; {file.path} could not be renamed back" if over else flight.said
        return "lost" if over else "wait"
    _keep_typed(turn, flight, file)
    if _stands(turn, file, moved=True):
        return _moved(turn, name, flight, file)
    if flight.answered is False and _clean(turn, file):
        flight.said = flight.said or f"the editor refused to {file.op} {file.origin}"
        return "failed"
    if over:
        said = {None: "nothing", True: "it was done", False: "it was not done"}[flight.answered]
        flight.said = f"the editor was asked to {file.op} {file.origin} and said {said}, but that is not what is there"
    return "lost" if over else "wait"


def _moved(turn: Turn, name: str, flight: Flight, file: FileChange) -> Verdict:
    if flight.typed and file.op == "delete":
        flight.said = f"{file.origin} was edited while it was deleted; what was typed is put back"
        return "rescue"
    if file.op == "delete" or file.result == file.base:
        return "done"
    text = staleness.result_text(turn, file)
    buffer = turn.memory.mirror.buffers.get(file.path)
    if buffer is None or text is None:
        if turn.clock < flight.deadline:
            return "wait"
        flight.said = f"the editor did not open {file.path} under its new name"
        _ask(turn, name, flight, file, back=True)
        return "wait"
    edit = editing.replaced(turn, file.path, diff.between(str(buffer.text), text))
    flight.moving, flight.answered, flight.said, flight.deadline = "edit", None, "", turn.clock + ANSWER
    turn.act(EditBuffers(name, f"Remit: {flight.proposal.id}", (edit,)))
    turn.act(Wake(ANSWER))
    return "wait"


def _edited(turn: Turn, name: str, flight: Flight, file: FileChange, *, over: bool) -> Verdict:
    found = turn.found([file.path]).get(file.path)
    if found == file.result:
        return "done"
    if flight.answered is False and found == file.base:
        flight.said = flight.said or f"the editor refused the edit of {file.path}"
        _ask(turn, name, flight, file, back=True)
        return "wait"
    if over:
        flight.said = editing.doubt(turn, flight, [file.path])
    return "lost" if over else "wait"


def _ask(turn: Turn, name: str, flight: Flight, file: FileChange, *, back: bool) -> None:
    flight.moving, flight.answered, flight.deadline = "back" if back else "out", None, turn.clock + ANSWER
    label = f"Remit: {'take back ' if back else ''}{flight.proposal.id}"
    to = file.path if file.op == "rename" else None
    pair = (to, file.origin) if back and to is not None else (file.origin, to)
    turn.act(OperateFile(name, label, *pair, undo=back))
    turn.act(Wake(ANSWER))


def _clean(turn: Turn, file: FileChange) -> bool:
    """Whether the editor and the disk hold exactly what the change was made from."""
    try:
        found = turn.look(file.origin)
    except Fault:
        return False
    return found.trusted and found.origin == "buffer" and found.digest == found.disk == file.base and not found.parted


def _stands(turn: Turn, file: FileChange, *, moved: bool) -> bool:
    """Whether the file is at its new place (a deleted one: nowhere), or at its old one, and only there."""
    old, new = (file.origin, file.path) if moved or file.op == "delete" else (file.path, file.origin)
    if old in turn.memory.mirror.buffers or turn.found([old]).get(old) != ABSENT:
        return False
    return file.op == "delete" or turn.found([new]).get(new) == file.base


def _keep_typed(turn: Turn, flight: Flight, file: FileChange) -> None:
    buffer = turn.memory.mirror.buffers.get(file.origin)
    if buffer is not None and (now := buffer.digest()) not in (None, file.base) and now != flight.typed:
        flight.typed = turn.keep(codec.encode(str(buffer.text), buffer.charset or codec.UTF8))


def _absent(file: FileChange) -> dict[str, str]:
    return {file.path: ABSENT}


def _open(path: str, message: str, remedy: str = "Save or close it first.") -> UserFault:
    return UserFault("target_open", message, remedy=remedy, path=path)
