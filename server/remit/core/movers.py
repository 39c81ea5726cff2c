"""Who moved a file away from the content that a change was made from: for the account of a stale answer.

The buffer's own story first (`strokes`); for what lies on disk, what the journal, the last save and git's HEAD show.
Not known is said. Nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from remit.core import codec
from remit.core.answers import Mover
from remit.core.snapshot import Snapshot
from remit.core.strokes import Stroke
from remit.core.turn import Turn

UNKNOWN = Mover(who="unknown")


def since(turn: Turn, snapshot: Snapshot, base: str) -> tuple[Mover, ...]:
    """Everybody who is known to have moved the file from `base` to what it is now, oldest first; each once."""
    return tuple(dict.fromkeys(_movers(turn, snapshot, base)))


def _movers(turn: Turn, snapshot: Snapshot, base: str) -> Iterator[Mover]:
    buffer = turn.memory.mirror.buffers.get(snapshot.path)
    if buffer is None or snapshot.origin != "buffer":
        yield _on_disk(turn, snapshot.path, snapshot.digest)
        return
    strokes = buffer.strokes.since(base)
    if strokes is None:
        yield _on_disk(turn, snapshot.path, buffer.loaded)
        strokes = buffer.strokes.every()
    for stroke in strokes:
        yield _by(turn, snapshot.path, stroke)


def _by(turn: Turn, path: str, stroke: Stroke) -> Mover:
    match stroke.by:
        case "user" | "formatter":
            return Mover(who=stroke.by)
        case "disk":
            return _on_disk(turn, path, stroke.name)
        case "proposal":
            return _proposal(turn, stroke.name)


def _on_disk(turn: Turn, path: str, digest: str) -> Mover:
    """Who brought a file on disk to that content."""
    for entry in reversed(turn.state.actions.values()):
        if entry.plan.kind == "apply" and entry.state == "succeeded":
            for target in entry.plan.targets:
                if (target.path, target.via, target.after) == (path, "disk", digest):
                    return _proposal(turn, entry.plan.subject)
    if turn.memory.saves.get(path) == digest:
        return Mover(who="user")
    data = turn.sight.bytes(path)
    # git writes whole files: what is, to the byte, what HEAD has came from there.
    if data is not None and codec.digest(data) == digest and turn.sight.committed(path) == codec.blob_id(data):
        return Mover(who="git")
    return UNKNOWN


def _proposal(turn: Turn, name: str) -> Mover:
    known = turn.state.agents.get(turn.state.proposals[name].outline.agent)
    return Mover(who="proposal", proposal=name, agent=known.name if known else None)
