"""Every parser under fuzzed inputs: only our own faults, no hang, and what each target promises besides.

Each fuzzer first has to find a bug that was put into the code for it (see `drive`).
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import pytest

from depth import LONG, depth
from fuzz import records, targets, texts, wires
from fuzz.drive import LONG_RUN, RUNS

TESTS = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.deep
ALL = {**targets.TARGETS, **texts.TARGETS, **records.TARGETS, **wires.TARGETS}
IN_CI = {name: runs for module in RUNS.values() for name, runs in module.items()}


def test_each_target_says_how_often_it_runs() -> None:
    found = {module.__name__.rsplit(".")[-1]: set(module.TARGETS) for module in (targets, texts, records, wires)}
    assert found == {module: set(runs) for module, runs in RUNS.items()}


@pytest.mark.parametrize("name", ALL)
def test_it_finds_a_seeded_bug_and_none_of_ours(name: str, tmp_path: Path) -> None:
    runs = depth(IN_CI[name], LONG_RUN)
    path = os.pathsep.join([str(TESTS.parent / "server"), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.drive", name, str(runs), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=3 * 3600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"Done {runs} runs" in done.stdout
    assert len(list((tmp_path / "control").glob("crash-*"))) == 1


@pytest.mark.parametrize("name", ALL)
def test_long_inputs_take_no_longer_than_their_length(name: str) -> None:
    """Each seed and word, over and over: what costs by the square of it would take minutes."""
    target, size = ALL[name], depth(10_000, 100_000)
    words = target.pieces()
    pieces = [*target.seeds, *words, *(word + b"\n" for word in words), b"\n", b" ", b"diff --git a a", b"@@ a\n-a\n"]
    heads = [b"", *(seed[:11] for seed in target.seeds[:2])] if LONG else [b""]
    slow = []
    for piece in pieces:
        for head in heads:
            start = process_time()
            target.check(head + piece * (size // len(piece)))
            spent = process_time() - start
            if spent > depth(2, 8):
                slow.append((round(spent, 1), head, piece[:60]))
    assert not slow


def test_where_libfuzzer_can_be_had_it_leads() -> None:
    here = sys.platform == "linux" and platform.machine() == "x86_64" and sys.version_info < (3, 14)
    assert bool(find_spec("atheris")) >= here
