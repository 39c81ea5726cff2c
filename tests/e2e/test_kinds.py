"""The kinds behind the cases of `test_cases`: other public reports of staleness, approvals and editors' behaviour.

Each test's name begins with the case's id; the folder `tests/cases/ID` says where it comes from.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from remit.edges.demo.editor import Editor
from world import CASES, World, offer_of, refused, settled, sha

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


# --- taking back ------------------------------------------------------------------------------------------------------


async def take_back(editor: Editor, proposal: str) -> str:
    """Undo what was applied, by the offer that the view makes; how it ended."""
    shown = next(one for one in (await editor.view())["applied"] if one["proposal"] == proposal)
    action = (await editor.run("remit.undo", offer=shown["undo"]))["result"]
    state: str = (await settled(editor, action))["state"]
    return state


@pytest.mark.parametrize("opened", [False, True], ids=["closed", "open"])
async def test_st_07_taking_back_leaves_what_the_human_wrote_since(world: World, opened: bool) -> None:
    editor = await world.case("ST-07").active()
    if opened:
        editor.open("a.py")
    agent = await world.agent()
    name = await agent.propose("a.py", "two", "TWO")
    assert await accept(editor, name) == "succeeded"
    if opened:
        editor.type("a.py", 2, 0, "THREE", end=(2, 5))
        editor.save("a.py")
    else:
        world.put("a.py", world.bytes("a.py").replace(b"three", b"THREE"))
    assert world.bytes("a.py") == b"one\nTWO\nTHREE\n"
    assert await take_back(editor, name) == "succeeded"
    if opened:
        assert (editor.text("a.py"), world.bytes("a.py")) == ("one\ntwo\nTHREE\n", b"one\nTWO\nTHREE\n")
        editor.save("a.py")
    assert world.bytes("a.py") == b"one\ntwo\nTHREE\n"
    assert await agent.state(name) == "undone"


async def test_st_07_lines_that_the_human_wrote_anew_are_not_taken_back(world: World) -> None:
    editor = await world.case("ST-07").active()
    agent = await world.agent()
    name = await agent.propose("a.py", "two", "TWO")
    assert await accept(editor, name) == "succeeded"
    shown = next(one for one in (await editor.view())["applied"] if one["proposal"] == name)
    world.put("a.py", "one\nTWO and mine\nthree\n")
    fault = await refused(editor.run("remit.undo", offer=shown["undo"]))
    assert fault.code in ("conflict", "approval_stale", "stale")
    assert world.bytes("a.py") == b"one\nTWO and mine\nthree\n"


async def test_st_07_a_file_that_was_made_goes_only_while_it_is_as_made(world: World) -> None:
    editor = await world.case("ST-07").active()
    agent = await world.agent()
    for path, later in (("kept.txt", b"made\nmine\n"), ("gone.txt", None)):
        files = [{"path": path, "content": "made\n"}]
        name = (await agent("propose_patch", files=files, bases={path: "absent"}))["proposalId"]
        assert await accept(editor, name) == "succeeded"
        shown = next(one for one in (await editor.view())["applied"] if one["proposal"] == name)
        if later is not None:
            world.put(path, later)
            assert (await refused(editor.run("remit.undo", offer=shown["undo"]))).code in ("conflict", "approval_stale")
            assert world.bytes(path) == later
        else:
            assert await take_back(editor, name) == "succeeded"
            assert not (world.root / path).exists()


# --- what the client says it can do, and how it answers ---------------------------------------------------------------

ANNOUNCED: list[dict[str, Any]] = json.loads((CASES / "LS-06" / "scenario.json").read_bytes())["capabilities"]


@pytest.mark.parametrize("announced", ANNOUNCED, ids=["nothing", "edits", "versions", "creations"])
async def test_ls_06_nothing_is_asked_of_a_client_that_it_did_not_announce(
    world: World, announced: dict[str, Any]
) -> None:
    """Text edits of open files by what there is; files are made, moved and deleted on disk, and only closed ones."""
    world.case("LS-06")
    world.put("closed.txt", "c\n")
    told = get_converter().structure(announced, types.ClientCapabilities)
    able = announced.get("workspace", {})
    editor = await world.active(editor=await world.editor(name="Plain", capabilities=told))
    editor.open("a.txt")

    def take(here: Editor, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        if params.edit.document_changes is not None:
            return here.take(params)
        here.type("a.txt", 0, 0, "y\n", end=(1, 0))
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.answer_edit = take
    agent = await world.agent()
    name = await agent.propose("a.txt", "x", "y")
    if able.get("applyEdit"):
        assert await accept(editor, name) == "succeeded"
        assert (editor.text("a.txt"), world.bytes("a.txt")) == ("y\n", b"x\n")
    else:
        fault = await refused(editor.run("remit.accept", offer=await offer_of(editor, name)))
        assert (fault.code, editor.text("a.txt"), editor.edits) == ("client_cannot_apply", "x\n", [])
    moves = [{"path": f, "op": t} for f, t in (("closed.txt", "moved.txt"), ("a.txt", "b.txt"))]
    for move in moves:
        source, target = move["path"], move["op"]
        patch = f"diff --git a/{source} b/{target}\nsimilarity index 100%\nrename from {source}\nrename to {target}\n"
        base = await agent.read(source)
        move["id"] = (await agent("propose_patch", patch=patch, bases={source: base}))["proposalId"]
    assert await accept(editor, moves[0]["id"]) == "succeeded"
    assert (world.bytes("moved.txt"), (world.root / "closed.txt").exists()) == (b"c\n", False)
    fault = await refused(editor.run("remit.accept", offer=await offer_of(editor, moves[1]["id"])))
    refusal = "target_open" if able.get("applyEdit") else "client_cannot_apply"
    assert (fault.code, (world.root / "b.txt").exists()) == (refusal, False)
    made = (await agent("propose_patch", files=[{"path": "n.txt", "content": "n\n"}], bases={"n.txt": "absent"}))[
        "proposalId"
    ]
    assert await accept(editor, made) == "succeeded"
    assert world.bytes("n.txt") == b"n\n"
    for one in editor.edits:
        versioned = able.get("workspaceEdit", {}).get("documentChanges", False)
        assert (one.edit.document_changes is not None, one.edit.changes is not None) == (versioned, not versioned)
        assert all(isinstance(part, types.TextDocumentEdit) for part in one.edit.document_changes or ())


async def test_ls_07_an_answer_that_comes_before_its_change_is_waited_for(world: World) -> None:
    editor = await world.case("LS-07").active()
    editor.open("a.txt")
    loop = asyncio.get_running_loop()

    def early(here: Editor, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        loop.call_later(0.5, here.take, params)
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.answer_edit = early
    agent = await world.agent()
    assert await accept(editor, await agent.propose("a.txt", "a", "A")) == "succeeded"
    assert (editor.text("a.txt"), len(editor.edits)) == ("A\n", 1)


async def test_ls_07_answers_nobody_asked_for_are_no_answers(world: World) -> None:
    """Twice the same one, and one with an id that was never given out: nothing is taken for applied by them."""
    editor = await world.case("LS-07").active()
    editor.open("a.txt")
    editor.open("b.txt")
    agent = await world.agent()

    def answers(*numbers: Any) -> None:
        assert editor.process.stdin is not None
        for number in numbers:
            body = json.dumps({"jsonrpc": "2.0", "id": number, "result": {"applied": True}}).encode()
            editor.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    seen: list[Any] = []
    protocol: Any = editor.client.protocol
    plain = protocol._send_data

    def noted(data: Any) -> None:
        if isinstance(getattr(data, "result", None), types.ApplyWorkspaceEditResult):
            seen.append(data.id)
        plain(data)

    protocol._send_data = noted
    answers("never", 4711, None)
    name = await agent.propose("a.txt", "a", "A")
    assert await accept(editor, name) == "succeeded"
    assert seen, "the id of the one that counted"
    answers(*seen, *seen)
    second = await agent.propose("b.txt", "b", "B")
    editor.answer_edit = lambda _editor, _params: types.ApplyWorkspaceEditResult(applied=False)
    answers(*seen)
    assert await accept(editor, second) == "failed_without_effect"
    assert (editor.text("a.txt"), editor.text("b.txt"), len(editor.edits)) == ("A\n", "b\n", 2)


@pytest.mark.long
async def test_ls_07_no_answer_at_all_is_unknown_in_the_end(world: World) -> None:
    editor = await world.case("LS-07").active()
    editor.open("a.txt")
    agent = await world.agent()
    never = asyncio.Event()

    async def silent(_params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        await never.wait()
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.client.protocol.fm._features[types.WORKSPACE_APPLY_EDIT] = silent
    name = await agent.propose("a.txt", "a", "A")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    async with asyncio.timeout(60):
        while (found := (await editor.view())["actions"][action])["state"] == "dispatched":
            editor._moved.clear()
            await asyncio.wait_for(editor._moved.wait(), 40)
    never.set()
    assert found["state"] in ("needs_human_decision", "failed_without_effect")
    assert (await agent.state(name), editor.text("a.txt"), world.bytes("a.txt")) != ("applied", "A\n", b"A\n")
    assert editor.text("a.txt") == "a\n"


async def test_ls_03_no_check_outlives_its_server(world: World) -> None:
    world.case("LS-03")
    mark = f"61.{os.getpid()}"
    policy = f'[checks.script]\nargv = ["sleep", "{mark}"]\ninputs = ["a.txt"]\n'
    verification = {"required": ["script"], "allowed": [], "forbidden": []}
    editor = await world.active(policy=policy, verification=verification)
    agent = await world.agent()
    await agent("run_check", checkId="script")
    shown = (await editor.view())["decisions"][0]
    await editor.run("remit.decide", offer=shown["offer"], option="run")
    async with asyncio.timeout(15):
        while not running(mark):
            await editor.view()
    assert await editor.stop() == 0
    async with asyncio.timeout(5):
        while running(mark):
            await asyncio.to_thread(running, mark)


def running(mark: str) -> list[str]:
    """The processes with this word in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and b"sleep" in words[0]:
            found.append(folder.name)
    return found


async def test_st_06_a_real_branch_switch_is_told_as_gits_and_a_commit_is_not(world: World) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=world.root, check=True, capture_output=True)

    async def moved_by(base: str) -> list[dict[str, str]]:
        files = [{"path": "a.txt", "content": "agent\n"}]
        fault = await agent.refused("propose_patch", files=files, bases={"a.txt": base})
        stale: Any = fault.data["stale"]
        return list(stale[0]["movedBy"])

    world.put("a.txt", "branch1\n")
    await world.active()
    git("init", "-q", "-b", "one")
    git("add", "a.txt")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "two")
    world.put("a.txt", "branch2\n")
    git("commit", "-qam", "two")
    git("checkout", "-q", "one")
    agent = await world.agent()
    base = await agent.read("a.txt")
    git("checkout", "-q", "two")
    assert await moved_by(base) == [{"who": "git"}]
    world.put("a.txt", "by hand, elsewhere\n")
    git("commit", "-qam", "three")
    assert await moved_by(base) == [{"who": "unknown"}]
