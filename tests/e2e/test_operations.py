"""What is open is deleted and renamed by the editor itself, if it said that it can; through the real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from remit.core.faults import UserFault
from remit.edges.demo.editor import Editor, capable
from world import World, offer_of, refused, settled

MOVE = "diff --git a/a.txt b/sub/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to sub/c.txt\n"
EDIT = "--- a/a.txt\n+++ b/sub/c.txt\n@@ -1 +1 @@\n-a\n+A\n"


async def opened(world: World, *operations: str) -> Editor:
    world.put("a.txt", "a\n")
    world.put("b.txt", "b\n")
    editor = await world.active(editor=await world.editor(capabilities=capable(operations=operations)))
    editor.open("a.txt")
    return editor


async def accept(editor: Editor, name: str) -> dict[str, Any]:
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    return await settled(editor, action)


def operations(editor: Editor) -> list[Any]:
    changes = [change for edit in editor.edits for change in edit.edit.document_changes or []]
    return [change for change in changes if not isinstance(change, types.TextDocumentEdit)]


async def test_an_open_file_is_renamed_and_then_edited(world: World) -> None:
    editor = await opened(world, "rename")
    agent = await world.agent()
    digest = await agent.read("a.txt")
    name = (await agent("propose_patch", patch=MOVE + EDIT, bases={"a.txt": digest}))["proposalId"]
    assert (await accept(editor, name))["state"] == "succeeded"
    assert (editor.text("sub/c.txt"), "a.txt" in editor.documents) == ("A\n", False)
    assert world.bytes("sub/c.txt") == b"a\n" and not (world.root / "a.txt").exists()
    first, second = (edit.edit.document_changes for edit in editor.edits)
    assert first is not None and len(first) == 1 and isinstance(first[0], types.RenameFile)
    assert first[0].options == types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
    assert second is not None and [type(change) for change in second] == [types.TextDocumentEdit]


async def test_an_open_file_is_deleted_with_closed_ones_changed(world: World) -> None:
    editor = await opened(world, "delete")
    agent = await world.agent()
    bases = {path: await agent.read(path) for path in ("a.txt", "b.txt")}
    files = [{"path": "a.txt", "content": None}, {"path": "b.txt", "content": "B\n"}]
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    assert (await accept(editor, name))["state"] == "succeeded"
    assert not (world.root / "a.txt").exists() and world.bytes("b.txt") == b"B\n"
    (operation,) = operations(editor)
    assert operation.options == types.DeleteFileOptions(recursive=False, ignore_if_not_exists=False)
    assert [path.name for path in world.root.iterdir() if path.name.startswith(".remit-")] == []


@pytest.mark.parametrize("answer", ["refused", "lied"])
async def test_what_the_editor_did_not_do_is_taken_back_or_unknown(world: World, answer: str) -> None:
    editor = await opened(world, "delete")
    agent = await world.agent()
    bases = {path: await agent.read(path) for path in ("a.txt", "b.txt")}
    files = [{"path": "a.txt", "content": None}, {"path": "b.txt", "content": "B\n"}]
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    editor.answer_edit = lambda _editor, _params: types.ApplyWorkspaceEditResult(applied=answer == "lied")
    found = await accept(editor, name)
    assert world.bytes("a.txt") == b"a\n"
    if answer == "refused":
        assert (found["state"], world.bytes("b.txt")) == ("failed_without_effect", b"b\n")
    else:
        assert found["state"] == "needs_human_decision"


async def test_ls_06_no_operation_is_sent_that_was_not_announced(world: World) -> None:
    editor = await opened(world, "create", "rename")
    agent = await world.agent()
    files = [{"path": "a.txt", "content": None}]
    bases = {"a.txt": await agent.read("a.txt")}
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    offer = await offer_of(editor, name)
    fault = await refused(editor.run("remit.accept", offer=offer))
    assert isinstance(fault, UserFault) and fault.code == "target_open"
    assert editor.edits == []
    editor.close("a.txt")
    assert (await accept(editor, name))["state"] == "succeeded"
    assert (operations(editor), (world.root / "a.txt").exists()) == ([], False)


async def test_unsaved_text_is_asked_to_be_saved_first(world: World) -> None:
    editor = await opened(world, "delete")
    editor.type("a.txt", 0, 0, "my ")
    agent = await world.agent()
    files = [{"path": "a.txt", "content": None}]
    name = (await agent("propose_patch", files=files, bases={"a.txt": await agent.read("a.txt")}))["proposalId"]
    fault = await refused(editor.run("remit.accept", offer=await offer_of(editor, name)))
    assert (fault.code, fault.remedy) == ("target_open", "Save or close it first.")
    editor.save("a.txt")
    async with asyncio.timeout(15):
        while (await editor.view())["proposals"][0]["accept"] is None:
            continue
    assert (await accept(editor, name))["state"] == "succeeded"
