"""Where the story plays: a fresh git copy of published source, an editor, an agent, and a home that is nobody's.

Makes the workspace, starts and ends the processes, and looks at things the way a witness does. Tells nothing.
"""

from __future__ import annotations

import asyncio
import importlib.resources
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types

from remit.core.faults import Fault, UserFault, WorldFault
from remit.edges.demo.agent import Agent, connected
from remit.edges.demo.editor import Editor
from remit.home import home, live, place

SOURCE = "unidiff"
CONTRACT, POLICY = "task.contract.json", ".remit/policy.toml"
TASK = "named-groups"
PATIENCE = 8.0
"""Seconds after which a problem that should be shown counts as not shown."""

CONTRACT_TEXT = f"""{{
  "taskId": "{TASK}",
  "goal": "Name the groups of the hunk header, and say when the parser gives up.",
  "writeScope": ["{SOURCE}/"],
  "allowedTools": ["read_file", "apply_patch", "run_check"],
  "network": "disabled",
  "verification": {{ "required": ["unit"], "forbidden": ["publish"] }},
  "delivery": "local_files",
  "commitAllowed": false
}}
"""

POLICY_TEXT = """[checks.unit]
title = "Unit tests"
argv = ["{python}", "-m", "unittest", "-q", "tests.test_headers"]
inputs = ["unidiff/", "tests/"]
timeout = 60
"""

TEST_TEXT = '''"""What must stay true of the header pattern, whatever its groups are called."""

import pathlib
import unittest

from unidiff import PatchSet, constants


class Headers(unittest.TestCase):
    def test_this_copy_is_tested(self):
        self.assertEqual(pathlib.Path(constants.__file__).parents[1], pathlib.Path.cwd())

    def test_positions_are_kept(self):
        found = constants.RE_HUNK_HEADER.match("@@ -3,4 +5,6 @@ def f():")
        self.assertEqual(found.groups(), ("3", "4", "5", "6", "def f():"))

    def test_a_patch_is_read(self):
        patch = PatchSet("--- a/x\\n+++ b/x\\n@@ -1 +1,2 @@\\n one\\n+two\\n")
        self.assertEqual((patch.added, patch.removed), (1, 0))
'''


@dataclass(slots=True)
class Stage:
    """Everything that is on stage. `known` is what one step leaves for the next."""

    root: Path
    outside: Path
    environment: Mapping[str, str]
    editor: Editor
    agent: Agent
    known: dict[str, Any] = field(default_factory=dict)

    def disk(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def buffer(self, path: str) -> str:
        return self.editor.text(path)

    def git(self, *arguments: str) -> str:
        """What git, which knows nothing of Remit, says."""
        return _git(self.root, *arguments)

    async def settled(self) -> None:
        """Wait until the server has taken in everything the editor sent before."""
        await self.editor.view()

    async def sees(self, path: str, code: str, count: int = 1) -> list[types.Diagnostic]:
        """The problems of a code that the editor shows for a file; waits for `count` of them, and no longer."""

        def found() -> list[types.Diagnostic]:
            shown = self.editor.diagnostics.get(self.editor.uri(path), [])
            return [one for one in shown if one.code == code]

        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.editor.until(lambda: len(found()) == count)
        return found()

    async def proposal(self, name: str) -> dict[str, Any]:
        """A proposal as the editor is shown it now, with its offers; empty when it does not wait."""
        shown = (await self.editor.view())["proposals"]
        return next((one for one in shown if one["proposal"] == name), {})

    async def rest(self, of: str) -> dict[str, Any]:
        """What still waits of a proposal once a hunk of it was applied; TimeoutError when that does not come."""
        async with asyncio.timeout(PATIENCE):
            while True:
                shown = (await self.editor.view())["proposals"]
                if shown and all(one["proposal"] != of for one in shown):
                    return dict(shown[0])
                # The outcome of an edit comes back by a way of its own.
                await asyncio.sleep(0.02)

    async def decision(self, name: str) -> dict[str, Any]:
        """A decision that waits, with its offer. LookupError when it does not."""
        shown = (await self.editor.view())["decisions"]
        return next((one for one in shown if one["decision"] == name), None) or _missing(name)

    async def check(self, name: str) -> dict[str, Any]:
        """How a check stands, as the editor is shown it."""
        tasks = (await self.editor.view())["tasks"]
        return next((one for one in tasks[0]["checks"] if one["checkId"] == name), None) or _missing(name)


async def attempt(act: Coroutine[Any, Any, Any]) -> dict[str, Any]:
    """What the human's act led to: `{"done": …}`, or the refusal in the form an agent gets it."""
    try:
        return {"done": await act}
    except Fault as fault:
        return {"refused": fault.code, "message": fault.message, "remedy": fault.remedy, "data": fault.data}


def _missing(name: str) -> dict[str, Any]:
    raise LookupError(f"{name} does not wait")


# --- setting it up ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def raised(folder: Path, cast: type[Editor] = Editor) -> AsyncIterator[Stage]:
    """The stage in `folder` (empty, private), with the editor open on it. Raises the Faults of setting it up."""
    root, outside, own = folder / "project", folder / "outside", folder / "home"
    await asyncio.to_thread(_build, root, outside)
    own.mkdir(mode=0o700)
    environment = {**_clean(), "REMIT_HOME": str(own)}
    editor = await cast(root, environment=environment).start()
    try:
        async with connected(root, environment) as agent:
            yield Stage(root, outside, environment, editor, agent)
    finally:
        if editor.process.returncode is None:
            await _ended(editor)
        _end_headless(root, environment)


async def _ended(editor: Editor) -> None:
    """Leave as an editor does; a server that does not answer any more is killed."""
    try:
        await editor.stop()
    except TimeoutError:
        await editor.kill()


@contextmanager
def folder(keep: bool) -> Iterator[Path]:
    """A private folder, gone afterwards unless it is to be kept."""
    made = Path(tempfile.mkdtemp(prefix="remit-demo-")).resolve()
    try:
        yield made
    finally:
        if not keep:
            shutil.rmtree(made, ignore_errors=True)


def published() -> str:
    """Which source the workspace is a copy of."""
    return f"{SOURCE} {version(SOURCE)}"


def _build(root: Path, outside: Path) -> None:
    """The workspace: a package as published, a small test, the human's two papers, and a link that leads out."""
    source = importlib.resources.files(SOURCE)
    (root / SOURCE).mkdir(parents=True)
    for file in source.iterdir():
        if file.name.endswith(".py"):
            (root / SOURCE / file.name).write_bytes(file.read_bytes())
    outside.mkdir()
    (outside / "notes.txt").write_bytes(b"not part of the project\n")
    (root / SOURCE / "shortcut").symlink_to(outside)
    for path, text in (
        ("tests/__init__.py", ""),
        ("tests/test_headers.py", TEST_TEXT),
        (CONTRACT, CONTRACT_TEXT),
        (POLICY, POLICY_TEXT.replace("{python}", sys.executable.replace("\\", "\\\\"))),
    ):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(text.encode())
    _git(root, "init", "--quiet", "--template=")
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", "As published")


def _git(root: Path, *arguments: str) -> str:
    """Run git with nobody's configuration, hooks or identity. UserFault("no_git"), WorldFault("git_failed")."""
    settings = ("core.hooksPath=/dev/null", "commit.gpgSign=false", "core.autocrlf=false", "core.fsmonitor=false")
    who = ("user.name=Remit demo", "user.email=demo@localhost")
    command = ["git", *(part for one in (*settings, *who) for part in ("-c", one)), *arguments]
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(command, cwd=root, env={**_clean(), **quiet}, capture_output=True, timeout=60, check=True)
    except FileNotFoundError as error:
        raise UserFault("no_git", "The demo needs git, and finds none.", remedy="Install git.") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()[-200:]
        raise WorldFault("git_failed", f"git {arguments[0]} failed in the demo's folder.", said=said) from error
    return done.stdout.decode("utf-8", "replace")


def _clean() -> dict[str, str]:
    """This environment without what would point git or Remit elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "REMIT_"))}


def _end_headless(root: Path, environment: Mapping[str, str]) -> None:
    """A session without an editor outlives its agent for a while; this one's workspace is about to go."""
    left = live(place(root, home(environment)))
    if left is not None and left.role == "headless":
        with suppress(ProcessLookupError):
            os.kill(left.pid, signal.SIGTERM)
