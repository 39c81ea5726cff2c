"""What a check looks at, by digest, and whether it is still that: a result counts for this content and no other.

Which checks there are and what a run showed is `core/checking.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from remit.core.contract import TaskContract
from remit.core.entries import ActionEntry
from remit.core.model import ABSENT, fingerprint
from remit.core.paths import Scope
from remit.core.policy import Check
from remit.core.snapshot import Snapshot
from remit.core.turn import Turn


def paths(turn: Turn, check: Check, contract: TaskContract) -> list[str]:
    """The files a check looks at: its inputs, else the write scope for a human look, else every file."""
    patterns = check.inputs or (contract.write_scope if check.kind == "human" else ())
    if not patterns:
        return turn.files()
    scope = Scope(patterns)
    return [path for path in turn.files() if scope.match(path) is not None]


def unsaved(turn: Turn, looked_at: list[str]) -> tuple[str, ...]:
    """Those of the files whose open buffer holds text that is not on disk, and new ones that exist only there."""
    return tuple(path for path in looked_at if path in turn.memory.mirror.buffers and not turn.glance(path).clean)


def is_fresh(turn: Turn, run: ActionEntry) -> bool:
    """Whether the check is still the one that ran, and everything it looked at still what it was, unsaved edits
    included. A run under which its inputs moved says nothing, even when they have moved back."""
    if run.plan.inputs is None or (run.finished is not None and not run.finished.held):
        return False
    contract, check = turn.contract(run.plan.task), turn.policy().check(run.plan.subject)
    if run.plan.argv != check.argv or run.plan.definition not in (None, definition(check)):
        return False
    seen, now = _seen(turn, run), paths(turn, check, contract)
    return sorted(seen) == sorted(now) and all(_same(turn.skim(path), seen[path]) for path in now)


def _same(look: Snapshot, seen: str) -> bool:
    if seen == ABSENT:
        return look.digest == ABSENT  # it could not be looked at; `unlooked` says so
    return look.trusted and not look.parted and look.is_named(seen)


def unlooked(turn: Turn, run: ActionEntry) -> tuple[str, ...]:
    """Inputs of a run that are there and could not be looked at (too large, no right to read): no digest of them."""
    return () if run.plan.inputs is None else tuple(path for path, seen in _seen(turn, run).items() if seen == ABSENT)


def _seen(turn: Turn, run: ActionEntry) -> Mapping[str, str]:
    seen: Mapping[str, str] = json.loads(turn.kept(run.plan.inputs or ""))
    return seen


def definition(check: Check) -> str:
    """Fingerprint of what makes a check this check: a result of another program is no result of it."""
    return fingerprint({"argv": check.argv, "cwd": check.cwd, "environment": check.environment, "kind": check.kind})


def listed(turn: Turn, looked_at: list[str], *, disk: bool) -> str:
    """Keep the list of inputs with their digests: what a program sees is the disk, what a person sees the editor."""
    looks = {path: turn.skim(path) for path in looked_at}
    listed = {path: look.disk if disk else look.digest for path, look in looks.items()}
    return turn.keep(json.dumps(listed, sort_keys=True).encode())
