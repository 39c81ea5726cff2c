"""What a change is bound to: the digest it was made from, and the refusal when that is no longer the file's.

The text of what is asked for is `core/proposing.py`'s; the account of a stale answer is `core/staleness.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from remit.core import codec, place, staleness
from remit.core.codec import Charset
from remit.core.faults import AgentFault, Json
from remit.core.model import ABSENT, fingerprint
from remit.core.patch import Chunk
from remit.core.place import Placed, Swap
from remit.core.snapshot import Snapshot
from remit.core.turn import Turn

MARK = "\ufeff"
"""The byte order mark as text."""

REPEATS = 3
"""The third equal stale refusal in a row says stop and ask."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for one file, not yet placed. `content` is a whole new text; None with no chunks deletes."""

    path: str
    op: str
    source: str | None = None
    content: str | None = None
    chunks: tuple[Chunk, ...] = ()
    swaps: tuple[Swap, ...] = ()
    executable: bool | None = None
    old_blob: str | None = None

    def onto(self, text: str, charset: Charset) -> Placed:
        """The new text from the old one, both without the file's byte order mark, which a patch may quote.

        AgentFaults: those of placing, byte_order_mark.
        """
        if not charset.bom or text.startswith(MARK):
            return self._placed(text)
        quoted = any(line.startswith(MARK) for chunk in self.chunks for line in chunk.old[:1])
        if not quoted and not any(one.search.startswith(MARK) for one in self.swaps):
            placed = self._placed(text)
            return Placed(placed.text.removeprefix(MARK), placed.placements)
        placed = self._placed(MARK + text)
        if not placed.text.startswith(MARK) and self.op != "delete":
            raise AgentFault(
                "byte_order_mark",
                f"The change takes the byte order mark (U+FEFF) of {self.path} away.",
                remedy="Keep the mark on the first line, or leave it out of old and new lines: it stays as it is.",
                path=self.path,
            )
        return Placed(placed.text.removeprefix(MARK), placed.placements)

    def _placed(self, text: str) -> Placed:
        if self.content is not None:
            return Placed(self.content, ())
        return place.swap(text, self.swaps) if self.swaps else place.place(text, self.chunks)


def demand(turn: Turn, agent: str, wish: Wish, snapshot: Snapshot, bases: Mapping[str, str]) -> None:
    """Refuse a change that is not bound to what is there.

    AgentFaults: missing_base_hash, target_missing, target_exists, stale, disk_conflict, buffer_unknown.
    """
    asked = wish.source or wish.path
    binding = bases.get(asked) or bases.get(snapshot.path) or _implied(wish, snapshot)
    makes = wish.op in ("write", "create") and binding in (None, ABSENT)
    if snapshot.origin == "absent" and snapshot.trusted and not makes:
        raise AgentFault("target_missing", f"{asked} does not exist.", remedy="Check the path.", path=asked)
    if binding is None:
        raise AgentFault(
            "missing_base_hash",
            f"{asked} has no base digest, so nobody can tell what it was made from.",
            remedy="Read the file and put its digest into bases (absent for a new file).",
            path=asked,
        )
    staleness.demand_known(snapshot, binding, AgentFault)
    if binding == ABSENT and snapshot.origin != "absent":
        raise AgentFault(
            "target_exists",
            f"{asked} exists already.",
            remedy="Read it and propose a change of it.",
            path=asked,
            current=snapshot.digest,
            origin=snapshot.source,
        )
    if binding != ABSENT and wish.op == "create":
        raise AgentFault(
            "target_exists",
            f"{asked} exists already.",
            remedy="Read it and propose a change of it.",
            path=asked,
            current=snapshot.digest,
        )
    if not snapshot.is_named(binding):
        raise _stale(turn, agent, wish, snapshot, binding)


def _implied(wish: Wish, snapshot: Snapshot) -> str | None:
    """Bindings a format carries itself: a creation is bound to absence, an `index` line to a full blob id."""
    if wish.op == "create":
        return ABSENT
    if wish.old_blob is not None and snapshot.origin != "absent" and snapshot.clean:
        data = codec.encode(snapshot.text, snapshot.charset)
        return snapshot.digest if codec.blob_id(data) == wish.old_blob else None
    return None


def _stale(turn: Turn, agent: str, wish: Wish, snapshot: Snapshot, binding: str) -> AgentFault:
    result: str | None = None
    base = staleness.base_text(turn, binding, snapshot.charset)
    if base is not None and wish.op != "delete":
        try:
            result = wish.onto(base, snapshot.charset).text
        except AgentFault:
            result = None
    view = staleness.describe(turn, snapshot, binding, result)
    same = fingerprint({"path": snapshot.path, "base": binding, "current": snapshot.digest})
    before, times = turn.memory.repeats.get(agent, ("", 0))
    times = times + 1 if before == same else 1
    turn.memory.repeats[agent] = (same, times)
    again = times >= REPEATS
    data: dict[str, Json] = {"stale": [view.wire()], "path": snapshot.path, "current": snapshot.digest}
    return AgentFault(
        "stale",
        f"{snapshot.path} has changed since {binding[:12]}…; it is now {snapshot.digest[:12]}… ({snapshot.source}).",
        remedy="The same patch was refused three times: stop, and ask the human." if again else staleness.REMEDY,
        **data,
    )
