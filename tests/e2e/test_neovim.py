"""A real Neovim as the editor, set up by the lines of docs/editors.md: problems seen, a change accepted, not saved.

What a person does is in nvim.lua; what is expected of it is here. Where there is no Neovim, `conftest.py` says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

from world import CONTRACT, World

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs" / "editors.md"
GUIDE = "# Guide\n\nOne line.\nTwo lines.\n"


def snippet() -> str:
    """The lines of docs/editors.md that start the server in Neovim."""
    found = re.search(r"^```lua\n(.*?)^```$", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, "docs/editors.md has no Lua block"
    return found[1]


def leave_of(world: World) -> Path:
    """The file that tells Neovim to end: before that, the server could not say how the change came out."""
    return world.base.parent / "leave"


async def neovim(world: World) -> Process:
    """Neovim in the workspace, with nobody's settings, and this environment's `remit` first on the path."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join([here, os.environ.get("PATH", "")])
    name = shutil.which("nvim", path=path)
    assert name is not None, "Neovim (nvim) is not installed; see docs/editors.md"
    (start := world.base.parent / "snippet.lua").write_text(snippet(), encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(world.base.parent),
        "LEAVE": str(leave_of(world)),
        "PATH": path,
        "REMIT_HOME": str(world.base),
        "SNIPPET": str(start),
        "XDG_STATE_HOME": str(world.base.parent / "nvim"),
    }
    script = str(HERE / "nvim.lua")
    arguments = ("--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}")
    return await asyncio.create_subprocess_exec(
        name, *arguments, cwd=world.root, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE
    )


async def step(process: Process, name: str) -> dict[str, Any]:
    """The next thing Neovim says; it must be this step."""
    assert process.stdout is not None and process.stderr is not None
    line = await asyncio.wait_for(process.stdout.readline(), 30)
    assert line, (await process.stderr.read()).decode(errors="replace")
    found: dict[str, Any] = json.loads(line)
    assert found["step"] == name, found
    return found


def test_the_readme_shows_the_same_lines() -> None:
    assert f"```lua\n{snippet()}```" in (ROOT / "README.md").read_text(encoding="utf-8")


async def test_neovim_activates_sees_and_accepts_and_saves_nothing(world: World) -> None:
    world.put(".git/HEAD", "ref: refs/heads/main\n")
    world.put("task.contract.json", json.dumps({**CONTRACT, "writeScope": ["docs/"]}, indent=2))
    world.put("docs/guide.md", GUIDE)
    process = await neovim(world)
    try:
        contract = await step(process, "contract")
        assert "contract-not-active" in contract["codes"]
        opened = await step(process, "opened")
        assert (opened["clients"], opened["server"]["name"]) == (1, "remit")

        agent = await world.agent()
        read = await agent("read_file", path="docs/guide.md")
        assert (read["origin"], read["text"]) == ("buffer", GUIDE)
        name = await agent.propose("docs/guide.md", "One line.", "One better line.", base=read["digest"])

        pending = await step(process, "pending")
        assert pending["lines"] == ["# Guide", "", "One line.", "Two lines."]
        assert pending["codes"] == ["patch-pending"]
        assert "-One line.\n+One better line.\n" in pending["hover"]
        accepted = await step(process, "accepted")
        assert accepted["lines"] == ["# Guide", "", "One better line.", "Two lines."]
        assert (accepted["modified"], accepted["disk"]) == (True, pending["lines"])
        settled = await agent("wait_for_review", proposalId=name, seconds=20)
        assert (settled["state"], settled["settled"]) == ("applied", True)
        leave_of(world).touch()
        assert world.bytes("docs/guide.md") == GUIDE.encode()
        assert await asyncio.wait_for(process.wait(), 30) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
