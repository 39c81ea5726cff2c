"""No save is lost in a race that a naive writer loses, whichever way the editor saves: read from `tests/race.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depth import depth
from remit.edges.disk import Disk, Moves

HERE = Path(__file__).parents[1]
ROUNDS = depth(2_000, 20_000)
MEMORY = Path("/dev/shm")
"""A file system in memory: the rounds cost what the calls cost, not what the disk's cache does."""


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.mark.deep
def test_no_save_is_lost_in_a_race_that_a_naive_writer_loses(base: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{HERE.parent / 'server'}{os.pathsep}{HERE}"}
    command = [sys.executable, str(HERE / "race.py"), str(base), str(ROUNDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    assert {"by_rename", "in_place"} < set(found)
    for save, figures in found.items():
        ours = figures["careful"]
        assert (ours["lost"], ours["torn"]) == (0, 0), (save, ours)
        assert ours["outcomes"]["done"] > 0 and ours["outcomes"]["stale"] > 0, (save, ours)
        if save in ("by_rename", "in_place"):
            assert ours["rounds"] == ROUNDS
            assert figures["naive"]["lost"] > 0, (save, figures["naive"])
            assert ours["outcomes"]["caught"] > 0, "the save fell between look and exchange, and was seen there"


def test_the_race_is_run_where_the_kernel_exchanges(base: Path) -> None:
    for name in "ab":
        (base / name).write_bytes(name.encode())
    disk = Disk(base)
    with disk._root.directory("") as folder:
        assert Moves().exchange(folder, "a", "b") is True
    disk.close()
    assert (base / "a").read_bytes() == b"b"
