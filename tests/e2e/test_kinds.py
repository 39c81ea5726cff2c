"""The kinds behind the cases of `test_cases`: other public reports of staleness, approvals and editors' behaviour.

Each test's name begins with the case's id; the folder `tests/cases/ID` says where it comes from.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import Any

import pytest
from lsprotocol import types

from remit.edges.demo.editor import Editor
from world import World, offer_of, refused, settled, sha

CHECK = """\
[checks.script]
argv = ["sh", "check.sh"]
inputs = ["a.txt"]
"""


async def accept(editor: Editor, proposal: str) -> str:
    """Accept what is shown now; how the action ended."""
    action = (await editor.run("remit.accept", offer=await offer_of(editor, proposal)))["result"]
    state: str = (await settled(editor, action))["state"]
    return state


async def test_st_02_a_time_stamp_is_no_change_and_no_proof(world: World) -> None:
    editor = await world.case("ST-02").active()
    agent = await world.agent()
    digest = await agent.read("a.txt")
    path = world.root / "a.txt"
    os.utime(path)
    path.write_bytes(b"hello\n")
    shutil.copy(path, world.root / "copy")
    os.replace(world.root / "copy", path)
    assert await accept(editor, await agent.propose("a.txt", "hello", "hallo there", base=digest)) == "succeeded"

    path.write_bytes(b"hello\n")
    digest, before = await agent.read("a.txt"), path.stat()
    name = await agent.propose("a.txt", "hello", "HELLO", base=digest)
    offer = await offer_of(editor, name)
    path.write_bytes(b"hallo\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "stale"
    files = [{"path": "a.txt", "content": "HELLO\n"}]
    assert (await agent.refused("propose_patch", files=files, bases={"a.txt": digest})).code == "stale"
    assert path.read_bytes() == b"hallo\n"


async def test_st_03_a_formatter_on_save_makes_stale_and_one_retry_is_enough(world: World) -> None:
    editor = await world.case("ST-03").active()
    editor.open("a.py")
    agent = await world.agent()
    assert await accept(editor, await agent.propose("a.py", "x=1", "x=10")) == "succeeded"
    after = sha(b"x=10\ny=2\n")
    editor.save("a.py")
    editor.type("a.py", 0, 0, "x = 10\ny = 2\n", end=(2, 0))
    editor.save("a.py")
    await editor.view()
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-y=2\n+y=3\n*** End Patch\n"
    fault = await agent.refused("propose_patch", patch=patch, bases={"a.py": after})
    stale: Any = fault.data["stale"]
    assert (fault.code, stale[0]["current"]) == ("stale", sha(b"x = 10\ny = 2\n"))
    assert "+y = 2" in stale[0]["diff"]
    assert stale[0]["movedBy"] == [{"who": "formatter"}]
    name = await agent.propose("a.py", "y = 2", "y = 3", base=stale[0]["current"])
    assert await accept(editor, name) == "succeeded"
    assert editor.text("a.py") == "x = 10\ny = 3\n"


async def test_st_06_a_branch_switch_under_open_buffers(world: World) -> None:
    editor = await world.case("ST-06").active()
    editor.open("a.txt")
    editor.open("only1.txt")
    editor.type("only1.txt", 0, 0, "mine ")
    agent = await world.agent()
    clean = await agent.propose("a.txt", "branch1", "BRANCH1")
    dirty = await agent.propose("only1.txt", "mine x", "theirs")
    offers = [await offer_of(editor, clean), await offer_of(editor, dirty)]
    world.put("a.txt", "branch2\n")
    (world.root / "only1.txt").unlink()
    codes = [(await refused(editor.run("remit.accept", offer=offer))).code for offer in offers]
    assert all(code in ("stale", "disk_conflict") for code in codes), codes
    assert world.bytes("a.txt") == b"branch2\n"
    assert not (world.root / "only1.txt").exists()
    assert (editor.text("a.txt"), editor.text("only1.txt")) == ("branch1\n", "mine x\n")


async def test_st_08_a_buffer_made_clean_by_undo_over_a_changed_disk_is_a_conflict(world: World) -> None:
    editor = await world.case("ST-08").active()
    editor.open("a.txt")
    await editor.view()
    editor.type("a.txt", 0, 0, "typed ")
    world.put("a.txt", "new\n")
    editor.type("a.txt", 0, 0, "", end=(0, 6))
    assert editor.text("a.txt") == "old\n"
    agent = await world.agent()
    files = [{"path": "a.txt", "content": "OLD\n"}]
    fault = await agent.refused("propose_patch", files=files, bases={"a.txt": sha(b"old\n")})
    assert (fault.code, fault.data["buffer"], fault.data["disk"]) == ("disk_conflict", sha(b"old\n"), sha(b"new\n"))
    await editor.until(lambda: "disk-conflict" in editor.codes("a.txt"))
    assert (world.bytes("a.txt"), editor.text("a.txt")) == (b"new\n", "old\n")


@pytest.mark.parametrize("leaves", ["shutdown", "exit", "eof"])
async def test_ls_03_leaving_while_an_edit_is_unanswered(world: World, leaves: str) -> None:
    editor = await world.case("LS-03").active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "x", "X")
    offer = await offer_of(editor, name)
    never = asyncio.Event()

    async def silent(_params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        await never.wait()
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.client.protocol.fm._features[types.WORKSPACE_APPLY_EDIT] = silent
    await editor.run("remit.accept", offer=offer)
    process = editor.process
    assert process.stdin is not None
    if leaves == "shutdown":
        await asyncio.wait_for(editor.client.shutdown_async(None), 2)
    editor.client._stop_event.set()
    if leaves == "eof":
        process.stdin.close()
    else:
        body = b'{"jsonrpc":"2.0","method":"exit"}'
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    code = await asyncio.wait_for(process.wait(), 2)
    assert code == (0 if leaves == "shutdown" else 1)
    never.set()
    await editor._drop()

    editor.documents.clear()
    await editor.restart()
    again = await world.agent()
    async with asyncio.timeout(15):
        while (state := await again.state(name)) == "outcome_unknown":
            await editor.view()
    assert state == "failed_without_effect", "the digest on disk is the old one, and no buffer came back"
    assert world.bytes("a.txt") == b"x\n"


async def test_ls_05_a_new_server_gets_old_news(world: World) -> None:
    editor = await world.case("LS-05").active()
    editor.open("a.txt", text="dirty text\n")
    agent = await world.agent()
    name = await agent.propose("a.txt", "dirty text", "dirty TEXT")
    old = await offer_of(editor, name)
    document = editor.documents["a.txt"]
    document.version = 9
    await editor.kill()
    await editor.restart()
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 5)), "X")
    stale = types.VersionedTextDocumentIdentifier(uri=document.uri, version=7)
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(stale, [change]))
    await editor.view()
    again = await world.agent()
    assert (await again.refused("read_file", path="a.txt")).code == "buffer_unknown"
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(document.uri)))
    editor._open(document)
    await editor.view()
    assert (await again("read_file", path="a.txt"))["text"] == "dirty text\n"
    assert (await refused(editor.run("remit.accept", offer=old))).code == "approval_unknown"
    assert await accept(editor, name) == "succeeded"
    assert editor.text("a.txt") == "dirty TEXT\n"
    assert world.bytes("a.txt") == b"disk\n"


def capabilities(apply_edit: bool | None, document_changes: bool | None) -> types.ClientCapabilities:
    edit = types.WorkspaceEditClientCapabilities(document_changes=document_changes)
    workspace = types.WorkspaceClientCapabilities(apply_edit=apply_edit, workspace_edit=edit)
    return types.ClientCapabilities(workspace=workspace)


async def test_ls_06_a_client_that_takes_no_edits_is_asked_for_none(world: World) -> None:
    world.case("LS-06")
    editor = await world.active(editor=await world.editor(capabilities=capabilities(None, None)))
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "x", "y")
    fault = await refused(editor.run("remit.accept", offer=await offer_of(editor, name)))
    assert (fault.code, editor.edits) == ("client_cannot_apply", [])
    editor.close("a.txt")
    assert await accept(editor, name) == "succeeded"
    assert world.bytes("a.txt") == b"y\n"


async def test_ls_06_a_client_without_versions_gets_plain_changes_and_is_verified(world: World) -> None:
    world.case("LS-06")
    editor = await world.active(editor=await world.editor(name="Old", capabilities=capabilities(True, None)))
    editor.open("a.txt")

    def plain(here: Editor, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        assert params.edit.document_changes is None and params.edit.changes is not None
        here.type("a.txt", 0, 0, "y\n", end=(1, 0))
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.answer_edit = plain
    agent = await world.agent()
    assert await accept(editor, await agent.propose("a.txt", "x", "y")) == "succeeded"
    assert editor.text("a.txt") == "y\n"


async def test_ap_01_what_was_shown_for_a_run_is_what_runs_or_nothing(world: World) -> None:
    world.case("AP-01")
    verification = {"required": ["script"], "allowed": [], "forbidden": []}
    editor = await world.active(policy=CHECK, verification=verification)
    agent = await world.agent()
    asked = await agent("run_check", checkId="script")
    shown = (await editor.view())["decisions"][0]
    world.put("check.sh", "echo evil > evil.txt\n")
    assert (await refused(editor.run("remit.decide", offer=shown["offer"], option="run"))).code == "approval_stale"
    assert not (world.root / "evil.txt").exists()
    anew = (await editor.view())["decisions"][0]
    assert (anew["decision"], anew["offer"] != shown["offer"]) == (shown["decision"], True)
    world.put("check.sh", "echo safe\n")
    assert (await refused(editor.run("remit.decide", offer=anew["offer"], option="run"))).code == "approval_stale"
    last = (await editor.view())["decisions"][0]
    await editor.run("remit.decide", offer=last["offer"], option="run")
    done = await agent("wait_for_decision", decisionId=asked["decisionId"], seconds=20)
    assert (done["run"]["state"], done["run"]["output"]) == ("passed", "safe\n")


async def test_ap_05_a_yes_is_for_one_revision(world: World) -> None:
    editor = await world.case("AP-05").active()
    agent = await world.agent()
    first = await agent.propose("RULES.md", "a", "b")
    offer = await offer_of(editor, first)
    action = (await editor.run("remit.accept", offer=offer))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    second = await agent.propose("RULES.md", "b", "c")
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "already_decided"
    assert world.bytes("RULES.md") == b"b\n"
    assert await accept(editor, second) == "succeeded"
    again = await agent.propose("RULES.md", "c", "b")
    assert await agent.state(again) == "pending"
    assert world.bytes("RULES.md") == b"c\n"


async def test_ap_05_a_protected_path_asks_for_each_revision(world: World) -> None:
    world.put("AGENTS.md", "a\n")
    editor = await world.active()
    agent = await world.agent()
    first = await agent.propose("AGENTS.md", "a", "b")
    decision = (await editor.view())["decisions"][0]
    await editor.run("remit.decide", offer=decision["offer"], option="allow")
    second = await agent.propose("AGENTS.md", "a", "evil")
    fault = await refused(editor.run("remit.accept", offer=await offer_of(editor, second)))
    assert fault.code == "protected_path"
    assert await accept(editor, first) == "succeeded"
    assert world.bytes("AGENTS.md") == b"b\n"
