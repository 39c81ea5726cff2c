"""What a check looks at, by digest, and whether it is still that: a result counts for this content and no other.

Which checks there are and what a run showed is `core/checking.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from remit.core.contract import TaskContract
from remit.core.paths import Scope
from remit.core.policy import Check
from remit.core.state import ActionEntry
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
    """Whether everything the run looked at is still what it was, unsaved edits included."""
    if run.plan.inputs is None:
        return False
    seen: Mapping[str, str] = json.loads(turn.kept(run.plan.inputs))
    contract, check = turn.contract(run.plan.task), turn.policy().check(run.plan.subject)
    now = paths(turn, check, contract)
    return sorted(seen) == sorted(now) and all(seen[path] in turn.skim(path).names() for path in now)


def listed(turn: Turn, looked_at: list[str], *, disk: bool) -> str:
    """Keep the list of inputs with their digests: what a program sees is the disk, what a person sees the editor."""
    looks = {path: turn.glance(path) for path in looked_at}
    listed = {path: look.disk if disk else look.digest for path, look in looks.items()}
    return turn.keep(json.dumps(listed, sort_keys=True).encode())
