"""Every case whose input is a proposal, through the real server: an agent on a real `remit mcp`, a human in an editor.

One server takes them all, one after another: the tree is put back in between. What is expected is in the folders.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

import kinds
from folders import Proposed, Tree, proposals, tree
from remit.core import codec
from remit.core.faults import Fault, to_dict
from remit.edges.demo.editor import Editor
from shims import Raw, shim
from world import Agent, World, offer_of, settled, sha

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTRACT_FILE = "task.contract.json"
HALVES = [one for one in proposals() if one.wanted == "invalid_unicode"] + [
    Proposed(f"EN-06 {at}", {"e.txt": b"x\n"}, sent, "invalid_unicode", said={"field": at})
    for at, sent in kinds.HALVES.items()
]
CLOSED = [*(one for one in proposals() if one.wanted != "invalid_unicode"), *kinds.OWN]
OPEN = [one for one in CLOSED if isinstance(one.wanted, str) or one.changed()]


@dataclass
class Desk:
    """One server with a human and two agents, and a tree that is laid anew for each case."""

    world: World
    editor: Editor
    agent: Agent
    raw: Agent

    def lay(self, before: Tree) -> None:
        """Close everything and put this tree there."""
        for path in list(self.editor.documents):
            self.editor.close(path)
        for full in self.world.root.iterdir():
            if full.is_dir() and not full.is_symlink():
                shutil.rmtree(full)
            elif full.name != CONTRACT_FILE:
                full.unlink()
        for path, data in before.items():
            self.world.put(path, data)

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
    sent: dict[str, Any] = {**proposed.sent, "bases": await desk.bases()}
    if isinstance(proposed.wanted, str):
        await check_refused(desk, proposed, agent, sent)
    else:
        await check_applied(desk, proposed, proposed.wanted, await agent("propose_patch", **sent))


async def check_refused(desk: Desk, proposed: Proposed, agent: Agent, sent: dict[str, Any]) -> None:
    before, waiting = desk.state(), (await desk.editor.view())["proposals"]
    fault = await agent.refused("propose_patch", **sent)
    assert fault.code == proposed.wanted, fault
    assert fault.remedy
    assert holds(fault.data, proposed.said), (fault.data, proposed.said)
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
    assert proposed.placed is None or proposed.placed in [hunk["placed"] for hunk in answer["hunks"]]

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
    programs = {path for path in wanted if (desk.world.root / path).stat().st_mode & 0o100}
    assert programs == {path for path, mode in proposed.modes.items() if mode & 0o100}
    await desk.editor.view()
    for path, data in wanted.items():
        read = await desk.agent("read_file", path=path)
        assert (read["digest"], read["unsaved"]) == (sha(data), False)


def shown_as(data: bytes) -> str | None:
    """How an editor shows a file with all its bytes: by its mark, as UTF-8, in the human's legacy encoding; or None."""
    charset = codec.decode(data).charset
    if charset.bom or charset == codec.UTF8:
        return None if b"\0" in data and not charset.bom else "utf-8"
    holes = set(data) & {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return "cp1252" if charset == codec.WINDOWS_1252 and not holes else None


def holds(has: Any, wants: Any) -> bool:
    """Whether everything wanted is there; more may be."""
    if isinstance(wants, dict):
        return isinstance(has, dict) and all(name in has and holds(has[name], want) for name, want in wants.items())
    return bool(has == wants)


@pytest.mark.parametrize("proposed", CLOSED, ids=str)
async def test_case_with_its_files_closed(desk: Desk, proposed: Proposed) -> None:
    desk.lay(proposed.before)
    await check(desk, proposed, desk.agent)


@pytest.mark.parametrize("proposed", OPEN, ids=str)
async def test_case_with_its_files_open(desk: Desk, proposed: Proposed) -> None:
    desk.lay(proposed.before)
    # The mode of a file that is open is not changed: only closed ones are written by the server.
    for path in proposed.before if isinstance(proposed.wanted, str) else proposed.changed() - proposed.modes.keys():
        if (encoding := shown_as(proposed.before[path])) is not None:
            desk.editor.open(path, encoding=encoding)
    await check(desk, proposed, desk.agent)


@pytest.mark.parametrize("proposed", HALVES, ids=str)
async def test_case_that_no_good_client_can_send(desk: Desk, proposed: Proposed) -> None:
    desk.lay(proposed.before)
    await check(desk, proposed, desk.raw)


@pytest.mark.parametrize(
    "wrong",
    [
        Proposed("other bytes", {"a": b"x\n"}, {"edits": [{"path": "a", "search": "x", "replace": "y"}]}, {"a": b"y"}),
        Proposed("another file", {"a": b"x\n", "b": b""}, {"files": [{"path": "b", "content": None}]}, {"b": b""}),
        Proposed("no refusal", {"a": b"x\n"}, {"edits": [{"path": "a", "search": "x", "replace": "y"}]}, "no_match"),
        Proposed("another code", {"a": b"x\n"}, {"edits": [{"path": "a", "search": "z", "replace": "y"}]}, "stale"),
        Proposed(
            "other data",
            {"a": b"x\n"},
            {"edits": [{"path": "a", "search": "z", "replace": "y"}]},
            "no_match",
            said={"chunk": 5},
        ),
    ],
    ids=str,
)
async def test_the_check_can_fail(desk: Desk, wrong: Proposed) -> None:
    desk.lay(wrong.before)
    with pytest.raises(AssertionError):
        await check(desk, wrong, desk.agent)


@pytest.mark.parametrize("there", ["folder", "dangling link", "unsaved buffer"])
async def test_pl_09_kind_whatever_has_the_name_is_in_the_way(desk: Desk, there: str) -> None:
    desk.lay({"keep": b"k\n"})
    root = desk.world.root
    if there == "folder":
        (root / "notes.txt").mkdir()
    elif there == "dangling link":
        (root / "notes.txt").symlink_to("nowhere")
    else:
        desk.editor.open("notes.txt", "mine, not saved\n")
        await desk.editor.view()
    patch = "*** Begin Patch\n*** Add File: notes.txt\n+new\n*** End Patch\n"
    fault = await desk.agent.refused("propose_patch", patch=patch)
    assert fault.code in {"folder": ("not_a_file",), "dangling link": ("outside_scope",)}.get(there, ("target_exists",))
    assert (desk.tree(), (root / "nowhere").exists()) == ({"keep": b"k\n"}, False)


async def test_en_03_an_editor_that_makes_all_line_ends_one(desk: Desk) -> None:
    """As VS Code does: an agent may bind to what a save would write, which it is shown, or to what is on disk."""
    disk = b"p=1\r\nq=2\nr=3"
    for base in (disk, disk.replace(b"\r", b"")):
        desk.lay({"f.txt": disk})
        desk.editor.open("f.txt", one_end="\n")
        read = await desk.agent("read_file", path="f.txt")
        assert (read["text"], read["lineEnds"], read["digest"]) == (
            "p=1\nq=2\nr=3",
            "lf",
            sha(disk.replace(b"\r", b"")),
        )
        edits = [{"path": "f.txt", "search": "r=3", "replace": "r=9"}]
        name = (await desk.agent("propose_patch", edits=edits, bases={"f.txt": sha(base)}))["proposalId"]
        assert await desk.accept(name) == "succeeded"
        assert (desk.editor.text("f.txt"), desk.world.bytes("f.txt")) == ("p=1\nq=2\nr=9", disk)


async def test_en_06_bytes_that_are_no_utf_8_never_become_another_character(desk: Desk) -> None:
    """Not even in a request: what is not text is refused by the name of its field, and nothing is proposed."""
    desk.lay({"e.txt": b"x\n"})
    raw = desk.raw.client
    assert isinstance(raw, Raw)
    base = await desk.agent.read("e.txt")
    raw.last += 1
    head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"propose_patch","arguments":' % raw.last
    sent = b'{"edits":[{"path":"e.txt","search":"x","replace":"caf\xe9"}],"bases":{"e.txt":"%s"}}}}' % base.encode()
    result = await raw.exchange(head + sent)
    with pytest.raises(Fault) as caught:
        raw.read(result)
    assert (caught.value.code, caught.value.data) == ("invalid_unicode", {"field": "edits.0.replace"})
    assert (await desk.raw("read_file", path="e.txt"))["text"] == "x\n"
    assert desk.tree() == {"e.txt": b"x\n"}


async def test_en_06_kind_half_a_character_in_a_buffer_is_in_doubt_until_it_is_gone(desk: Desk) -> None:
    """JavaScript's strings may hold one; no encoding can, so nobody knows what a save would write."""
    desk.lay({"e.txt": b"x\n"})
    desk.editor.open("e.txt", "half \ud83d\n")
    await desk.editor.view()
    for agent in (desk.agent, desk.raw):
        assert (await agent.refused("read_file", path="e.txt")).code == "buffer_unknown"
        edits = [{"path": "e.txt", "search": "half", "replace": "y"}]
        fault = await agent.refused("propose_patch", edits=edits, bases={"e.txt": sha(b"x\n")})
        assert fault.code == "buffer_unknown"
    desk.editor.type("e.txt", 0, 5, "whole", end=(0, 6))
    assert (await desk.agent("read_file", path="e.txt"))["text"] == "half whole\n"


async def test_en_06_kind_a_name_that_is_no_text_hides_no_other_file(desk: Desk) -> None:
    desk.lay({"e.txt": b"x\n"})
    (desk.world.root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"y\n")
    async with asyncio.timeout(10):
        while "e.txt" not in (found := await desk.agent("list_files"))["files"]:
            await desk.editor.view()
    assert [name for name in found["files"] if "caf" in name] in ([], ["caf\\xe9.txt"])
    assert (await desk.agent("read_file", path="e.txt"))["text"] == "x\n"
