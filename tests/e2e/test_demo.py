"""The demo as people run it, and as it must not end: with a part that breaks a promise, it fails and names it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from remit.core.faults import UserFault
from remit.edges.demo.editor import Editor
from remit.edges.demo.show import Wish, show
from remit.edges.demo.story import PATTERNS, STORY

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "demo.svg"
PROMISES = 47


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a name short enough for sockets below it."""
    with tempfile.TemporaryDirectory(prefix="rd-") as folder:
        yield Path(folder)


def run(short: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`remit demo` in a process of its own, without a terminal; its folders are to be found below `short`."""
    folders = {name: short / name for name in ("tmp", "mine", "state")}
    for folder in folders.values():
        folder.mkdir(mode=0o700)
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")},
        "PYTHONPATH": str(ROOT / "server"),
        "TMPDIR": str(folders["tmp"]),
        "REMIT_HOME": str(folders["mine"]),
        "XDG_STATE_HOME": str(folders["state"]),
        "GIT_DIR": str(short / "elsewhere"),
    }
    command = [sys.executable, "-m", "remit", "demo", *options]
    return subprocess.run(command, env=environment, cwd=short, capture_output=True, text=True, timeout=120, check=False)


def test_every_promise_is_kept_and_nothing_is_left_behind(short: Path) -> None:
    drawn = short / "demo.svg"
    done = run(short, "--json", "--svg", str(drawn))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    promises = [promise for step in found["steps"] for promise in step["promises"]]
    assert [promise["text"] for promise in promises if promise["kept"] is not True] == []
    assert (found["kept"], found["broken"], found["untold"]) == (PROMISES, 0, [])
    assert len(promises) == PROMISES
    assert [step["title"] for step in found["steps"]] == [step.title for step in STORY]
    assert all(step["promises"] for step in found["steps"])
    assert found["seconds"] < 60
    assert done.stderr == ""
    assert {name: list((short / name).iterdir()) for name in ("tmp", "mine", "state")} == {
        "tmp": [],
        "mine": [],
        "state": [],
    }
    assert drawn.read_text() == PICTURE.read_text(), "docs/demo.svg is old: remit demo --svg docs/demo.svg"


def test_drawn_without_a_terminal_it_fits_80_columns_and_the_folder_can_be_kept(short: Path) -> None:
    done = run(short, "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.split("\n")
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in lines) <= 80
    assert [step.title for step in STORY if not any(step.title in line for line in lines)] == []
    assert f"{PROMISES} promises kept, 0 broken" in done.stdout
    (kept,) = (short / "tmp").iterdir()
    assert (kept / "project" / ".git").is_dir()
    assert "(?P<section>" in (kept / "project" / PATTERNS).read_text()
    assert "The folder is kept: " in done.stdout


class Lenient(Editor):
    """An editor with a part that lets a stale proposal through, as far as anybody is told."""

    async def run(self, command: str, **argument: Any) -> Any:
        try:
            return await super().run(command, **argument)
        except UserFault as fault:
            return {"result": "A1", "instead of": fault.code}


def test_a_stale_accept_that_goes_through_is_a_broken_promise() -> None:
    out = io.StringIO()
    assert show(Wish(as_json=True), out, Lenient) == 1
    found = json.loads(out.getvalue())
    broken = [promise for step in found["steps"] for promise in step["promises"] if not promise["kept"]]
    assert [promise["text"] for promise in broken] == ["A yes to what was shown before is not applied."]
    assert "not refused" in broken[0]["seen"] and "'instead of': 'stale'" in broken[0]["seen"]
    assert found["broken"] == 1
    assert found["untold"] == [step.title for step in STORY[6:]]


class Sloppy(Editor):
    """An editor that puts one character too many into the buffer with every edit of the server."""

    def take(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        result = super().take(params)
        self.type(PATTERNS, 0, 0, "#")
        return result


def test_a_byte_too_many_in_the_buffer_is_named_on_the_screen() -> None:
    out = io.StringIO()
    assert show(Wish(), out, Sloppy) == 1
    text = " ".join(out.getvalue().split())
    assert "Broken: The buffer holds that hunk and what you typed, byte for byte." in text
    assert "+## -*- coding: utf-8 -*-" in text
    assert "Broken in step 8, “You take one hunk and leave the other”" in text
    assert ", 1 broken, in " in text
