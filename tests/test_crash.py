"""After a kill at any step of an apply, and at any step of the recovery, all files are old or all are new.

The killing itself is in `crash.py`; the same kills without a recovery must leave halves, or there was nothing to see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def points(base: Path, *words: str) -> list[dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": f"{HERE.parent / 'server'}{os.pathsep}{HERE}"}
    command = [sys.executable, str(HERE / "crash.py"), str(base), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("words", [(), ("editor",)], ids=["closed", "mixed"])
def test_killed_at_each_step_of_apply_and_recovery_all_is_old_or_all_is_new(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """`mixed`: one of the files is open in an editor that lives on."""
    found = points(tmp_path, *words)
    assert len({point["at"] for point in found}) >= 10, "the apply has steps to be killed at"
    assert any(point["again"] for point in found), "the recovery has steps to be killed at"
    for point in found:
        assert point["files"] in ("old", "new"), point
        assert point["leftover"] == [], point
        assert point["questions"] == [], point
        state = {"old": ("pending", "failed_without_effect"), "new": ("applied",)}[point["files"]]
        assert point["state"] in state, point
    assert {point["files"] for point in found} == {"old", "new"}


@pytest.mark.parametrize("words", [(), ("editor",)], ids=["closed", "mixed"])
def test_without_recovery_there_are_halves_to_be_seen(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The control of the zeros above: the same kills, and nobody recovers."""
    found = points(tmp_path, "unrecovered", *words)
    assert {point["files"] for point in found} == {"old", "mixed", "new"}
    assert any(point["leftover"] for point in found)
