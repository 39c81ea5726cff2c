"""An apply as its intent says: which files, by whose hand, from which content to which; and whether that still holds.

Carries nothing out.
"""

from __future__ import annotations

from typing import Literal

from remit.core import asking
from remit.core import events as e
from remit.core.effects import DiskChange
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Proposal
from remit.core.turn import Turn


def targets(turn: Turn, file: FileChange) -> list[e.Target]:
    """What a change does to which paths, and by whose hand: while a document is open, that is the editor's."""
    open_now = file.origin in turn.memory.mirror.buffers
    via: Literal["buffer", "editor", "disk"] = "disk" if not open_now else "buffer" if file.op == "modify" else "editor"
    if file.op == "rename":
        return [
            e.Target(path=file.path, via=via, before=ABSENT, after=file.result),
            e.Target(path=file.origin, via=via, before=file.base, after=ABSENT),
        ]
    return [e.Target(path=file.path, via=via, before=file.base, after=file.result)]


def displaced(turn: Turn, name: str) -> str:
    """Why the targets cannot be reached as planned any more: while a document is open, its buffer is the truth."""
    for target in of(turn, name):
        held = target.via == "buffer" or (target.via == "editor" and target.before != ABSENT)
        if (target.path in turn.memory.mirror.buffers) != held:
            return f"{target.path} was {'closed' if held else 'opened'} meanwhile"
    return ""


def changed(turn: Turn, name: str) -> str:
    """Which buffer does not hold any more what the edit was made for; empty when all do."""
    edited = [target for target in of(turn, name) if target.via == "buffer"]
    found = turn.found(target.path for target in edited)
    moved = (target.path for target in edited if found.get(target.path) != target.before)
    return next((f"{path} changed before the edit was sent" for path in moved), "")


def of(turn: Turn, name: str) -> tuple[e.Target, ...]:
    """The targets of an action, as its intent says."""
    return turn.state.actions[name].plan.targets


def disk_changes(turn: Turn, proposal: Proposal, name: str) -> tuple[DiskChange, ...]:
    """The closed files of an action, as the disk is to change them."""
    files = {path: file for file in proposal.files for path in file.touches()}
    changes = []
    for target in (target for target in of(turn, name) if target.via == "disk"):
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


def buffers(turn: Turn, name: str) -> list[str]:
    """The open files of an action whose text changes in the editor."""
    return [target.path for target in of(turn, name) if target.via == "buffer"]


def operated(turn: Turn, name: str, proposal: Proposal) -> FileChange | None:
    """The open file of an action that the editor deletes or renames."""
    paths = {target.path for target in of(turn, name) if target.via == "editor"}
    return next((file for file in proposal.files if file.origin in paths), None)
