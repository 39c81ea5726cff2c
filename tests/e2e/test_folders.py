"""Every case whose input is a proposal, through the real server: an agent on a real `remit mcp`, a human in an editor.

One server takes them all, one after another: the tree is put back in between. What is expected is in the folders.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from folders import CASES, PLACED, SAID, Proposed, Tree, proposals, tree
from remit.core import codec
from remit.core.faults import to_dict
from remit.edges.demo.editor import Editor
from shims import Raw, shim
from world import Agent, World, offer_of, settled, sha

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTRACT_FILE = "task.contract.json"
LEGACY = {"shop.c": "cp1252", "t.dat": "cp1252"}
"""How a human who knows these files would have opened them."""

HALVES = [one for one in proposals() if one.wanted == "invalid_unicode"]
CLOSED = [one for one in proposals() if one not in HALVES]
OPEN = [one for one in CLOSED if isinstance(one.wanted, str) or one.changed()]


@dataclass
class Desk:
    """One server with a human and two agents, and a tree that is laid anew for each case."""

    world: World
    editor: Editor
    agent: Agent
    raw: Agent

    def lay(self, before: Path) -> None:
        """Close everything and put this tree there."""
        for path in list(self.editor.documents):
            self.editor.close(path)
        for full in self.world.root.iterdir():
            if full.is_dir() and not full.is_symlink():
                shutil.rmtree(full)
            elif full.name != CONTRACT_FILE:
                full.unlink()
        shutil.copytree(before, self.world.root, dirs_exist_ok=True)

    def tree(self) -> Tree:
        found = tree(self.world.root)
        found.pop(CONTRACT_FILE)
        return found

    def state(self) -> tuple[Tree, dict[str, int], dict[str, str]]:
        """Every byte, mode and buffer."""
        modes = {path: (self.world.root / path).stat().st_mode for path in self.tree()}
        return self.tree(), modes, {path: self.editor.text(path) for path in self.editor.documents}

    async def bases(self) -> dict[str, str]:
        """What an agent binds to: the digest of each file, as read_file gives it."""
        return {path: await self.agent.read(path) for path in self.tree()}

    async def accept(self, name: str) -> str:
        """The human's yes; how the action ended."""
        action = (await self.editor.run("remit.accept", offer=await offer_of(self.editor, name)))["result"]
        state: str = (await settled(self.editor, action))["state"]
        return state


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    root = tmp_path_factory.mktemp("folders") / "ws"
    root.mkdir()
    world = World(root.parent / "home", root)
    try:
        editor = await world.active(writeScope=["**"])
        yield Desk(world, editor, await shim(world), Agent(await Raw.start(world)))
    finally:
        await world.close()


async def check(desk: Desk, proposed: Proposed, agent: Agent) -> None:
    """Propose it; then what was promised is there byte for byte, or it was refused and nothing at all moved."""
    sent: dict[str, Any] = {**proposed.params(), "bases": await desk.bases()}
    if isinstance(proposed.wanted, str):
        await check_refused(desk, proposed, agent, sent)
    else:
        await check_applied(desk, proposed, proposed.wanted, await agent("propose_patch", **sent))


async def check_refused(desk: Desk, proposed: Proposed, agent: Agent, sent: dict[str, Any]) -> None:
    before, waiting = desk.state(), (await desk.editor.view())["proposals"]
    fault = await agent.refused("propose_patch", **sent)
    assert fault.code == proposed.wanted, fault
    assert fault.remedy
    said = SAID.get(str(proposed), {})
    assert holds(fault.data, said), (fault.data, said)
    if fault.code == "bad_patch_envelope":
        assert fault.data["received"] == sent["patch"][:40]
    assert to_dict(await agent.refused("propose_patch", **sent)) == to_dict(fault), "the same request, another answer"
    assert desk.state() == before
    assert (await desk.editor.view())["proposals"] == waiting
    assert (await agent("get_contract"))["active"] is True


async def check_applied(desk: Desk, proposed: Proposed, wanted: Tree, answer: dict[str, Any]) -> None:
    before, opened = proposed.before, set(desk.editor.documents)
    made = {file["path"]: file for file in answer["files"]}
    touched = {path for path, data in wanted.items() if before.get(path) != data} | proposed.modes.keys()
    gone = before.keys() - wanted.keys()
    moved = {file["source"]: path for path, file in made.items() if file["op"] == "rename"}
    assert made.keys() == touched | (gone - moved.keys()), "exactly the operations that the case names"
    for path, file in made.items():
        assert file["result"] == (sha(wanted[path]) if path in wanted else "absent")
        assert file["base"] == (sha(before[file.get("source", path)]) if file["op"] != "create" else "absent")
    assert {hunk["placed"] for hunk in answer["hunks"]} >= set(filter(None, [PLACED.get(str(proposed))]))

    assert await desk.accept(answer["proposalId"]) == "succeeded"
    after = await desk.agent("wait_for_review", proposalId=answer["proposalId"], seconds=1)
    assert (after["state"], after["settled"]) == ("applied", True)
    for path in opened:
        assert desk.editor.text(path) == codec.decode_as(wanted[path], codec.decode(before[path]).charset)
        assert desk.world.bytes(path) == before[path], "nothing is saved for the human"
        desk.editor.save(path)
    assert desk.tree() == wanted
    for path, mode in proposed.modes.items():
        assert stat.S_IMODE((desk.world.root / path).stat().st_mode) == mode
    await desk.editor.view()
    for path, data in wanted.items():
        read = await desk.agent("read_file", path=path)
        assert (read["digest"], read["unsaved"]) == (sha(data), False)


def holds(has: Any, wants: Any) -> bool:
    """Whether everything wanted is there; more may be."""
    if isinstance(wants, dict):
        return isinstance(has, dict) and all(name in has and holds(has[name], want) for name, want in wants.items())
    return bool(has == wants)


@pytest.mark.parametrize("proposed", CLOSED, ids=str)
async def test_case_with_its_files_closed(desk: Desk, proposed: Proposed) -> None:
    desk.lay(CASES / proposed.case / "before")
    await check(desk, proposed, desk.agent)


@pytest.mark.parametrize("proposed", OPEN, ids=str)
async def test_case_with_its_files_open(desk: Desk, proposed: Proposed) -> None:
    desk.lay(CASES / proposed.case / "before")
    for path in proposed.before if isinstance(proposed.wanted, str) else proposed.changed():
        if b"\0" not in proposed.before[path] or path.endswith(".psd1"):
            desk.editor.open(path, encoding=LEGACY.get(path, "utf-8"))
    await check(desk, proposed, desk.agent)


@pytest.mark.parametrize("proposed", HALVES, ids=str)
async def test_case_that_no_good_client_can_send(desk: Desk, proposed: Proposed) -> None:
    desk.lay(CASES / proposed.case / "before")
    await check(desk, proposed, desk.raw)
