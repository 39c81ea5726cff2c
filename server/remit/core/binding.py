"""What a change is bound to: the digest it was made from, and the refusal when that is no longer the file's.

The text of what is asked for is `core/proposing.py`'s; the account of a stale answer is `core/staleness.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from remit.core import codec, staleness
from remit.core.faults import AgentFault, Json
from remit.core.model import ABSENT, fingerprint
from remit.core.snapshot import Snapshot
from remit.core.turn import Turn
from remit.core.wish import Wish

REPEATS = 3
"""The third equal stale refusal in a row says stop and ask."""


def demand(turn: Turn, agent: str, wish: Wish, snapshot: Snapshot, bases: Mapping[str, str]) -> None:
    """Refuse a change that is not bound to what is there.

    AgentFaults: missing_base_hash, base_mismatch, target_missing, target_exists, stale, disk_conflict, buffer_unknown.
    """
    asked = wish.source or wish.path
    told = bases.get(asked) or bases.get(snapshot.path)
    binding = told or _implied(turn, agent, wish, snapshot)
    makes = wish.op in ("write", "create") and binding in (None, ABSENT)
    if snapshot.origin == "absent" and snapshot.trusted and not makes:
        raise AgentFault("target_missing", f"{asked} does not exist.", remedy="Check the path.", path=asked)
    if binding is None:
        raise AgentFault(
            "missing_base_hash",
            f"{asked} has no base digest, so nobody can tell what it was made from.",
            remedy="Read the file and put its digest into bases (absent for a new file)."
            + (" The patch has no index line with full blob ids (git diff --full-index)." if wish.copies else ""),
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
    if told and wish.old_blob is not None and wish.old_blob not in _blobs(turn, snapshot, wish.old_blob):
        raise AgentFault(
            "base_mismatch",
            f"The index line of the patch and bases name two different contents of {asked}.",
            remedy="Leave the index line out if the patch was made from the text that you read.",
            path=asked,
            index=wish.old_blob,
            current=snapshot.digest,
        )


def blob_id(data: bytes, like: str) -> str:
    """The id that git gives a blob of these bytes, in the format (SHA-1 or SHA-256) that the id `like` has."""
    # https://git-scm.com/docs/hash-function-transition, "Object names": the same preimage, another hash.
    return codec.blob_id(data) if len(like) == 40 else sha256(b"blob %d\0" % len(data) + data).hexdigest()


def _blobs(turn: Turn, snapshot: Snapshot, like: str) -> set[str]:
    """The ids of what is there. A clean buffer whose line ends the editor changed in loading it has the disk's too."""
    found = {blob_id(codec.encode(snapshot.text, snapshot.charset), like)}
    if snapshot.origin == "buffer" and snapshot.clean and snapshot.digest != snapshot.disk:
        data = turn.sight.bytes(snapshot.path)
        if data is not None and codec.digest(data) == snapshot.disk:
            found.add(blob_id(data, like))
    return found


def _implied(turn: Turn, agent: str, wish: Wish, snapshot: Snapshot) -> str | None:
    """Bindings a format carries itself: a creation is bound to absence, an `index` line to a full blob id.

    AgentFault stale where that id is not what is there.
    """
    if wish.op == "create":
        return ABSENT
    if wish.old_blob is None or snapshot.origin == "absent" or not snapshot.trusted:
        return None
    if wish.old_blob in _blobs(turn, snapshot, wish.old_blob):
        return snapshot.digest
    shown = turn.state.receipts.get((agent, snapshot.path))
    seen = turn.content(shown.digest) if shown is not None else None
    if shown is not None and seen is not None and blob_id(seen, wish.old_blob) == wish.old_blob:
        return shown.digest  # what the agent was shown before: then all that moved since can be told
    raise AgentFault(
        "stale",
        f"The index line says that {snapshot.path} was blob {wish.old_blob[:12]}…; it is not ({snapshot.source}).",
        remedy=_remedy(turn, agent, snapshot, wish.old_blob),
        path=snapshot.path,
        current=snapshot.digest,
        index=wish.old_blob,
    )


def _stale(turn: Turn, agent: str, wish: Wish, snapshot: Snapshot, binding: str) -> AgentFault:
    result: str | None = None
    base = staleness.base_text(turn, binding, snapshot.charset)
    if base is not None and wish.op != "delete":
        try:
            rules = turn.policy().placement.allow
            result = wish.onto(base, rules, marked=bool(snapshot.charset.bom))[0].text
        except AgentFault:
            result = None
    view = staleness.describe(turn, snapshot, binding, result)
    data: dict[str, Json] = {"stale": [view.wire()], "path": snapshot.path, "current": snapshot.digest}
    return AgentFault(
        "stale",
        f"{snapshot.path} has changed since {binding[:12]}…; it is now {snapshot.digest[:12]}… ({snapshot.source}).",
        remedy=_remedy(turn, agent, snapshot, binding),
        **data,
    )


def _remedy(turn: Turn, agent: str, snapshot: Snapshot, binding: str) -> str:
    """What to do about a stale change: something else, once the same was refused so often."""
    same = fingerprint({"path": snapshot.path, "base": binding, "current": snapshot.digest})
    before, times = turn.memory.repeats.get(agent, ("", 0))
    times = times + 1 if before == same else 1
    turn.memory.repeats[agent] = (same, times)
    if times >= REPEATS:
        return "The same patch was refused three times: stop, and ask the human."
    return staleness.REMEDY
