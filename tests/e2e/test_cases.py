"""Public bug reports as cases, through the real server: an editor on one side, agents on its socket on the other.

Each case's folder says where it comes from (`tests/cases/ID/case.json`). The kind behind each is tested too.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass
from typing import Any

import pytest
from lsprotocol import types

from remit.core.faults import Fault
from remit.edges.demo.editor import Editor
from shims import shim
from world import CASES, Agent, World, offer_of, refused, settled, sha


def whole(path: str, content: str, base: str) -> dict[str, Any]:
    return {"files": [{"path": path, "content": content}], "bases": {path: base}}


async def test_st_01_unsaved_text_is_read_and_patched_and_never_saved(world: World) -> None:
    editor = await world.case("ST-01").active()
    disk = world.bytes("a.py")
    editor.open("a.py")
    editor.type("a.py", 0, 0, "# mine\n")
    agent = await world.agent()
    read = await agent("read_file", path="a.py")
    assert (read["text"], read["origin"], read["unsaved"]) == ("# mine\nx = 1\ny = 1\n", "buffer", True)
    assert read["digest"] == sha(b"# mine\nx = 1\ny = 1\n")

    name = await agent.propose("a.py", "y = 1", "y = 2", base=read["digest"])
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    sent = editor.edits[-1].edit.document_changes
    assert sent is not None and isinstance(sent[0], types.TextDocumentEdit)
    assert sent[0].text_document.version == 2
    assert editor.text("a.py") == "# mine\nx = 1\ny = 2\n"
    assert world.bytes("a.py") == disk

    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-y = 1\n+y = 3\n*** End Patch\n"
    fault = await agent.refused("propose_patch", patch=patch, bases={"a.py": sha(disk)})
    assert fault.code == "stale"
    stale: Any = fault.data["stale"]
    assert stale[0]["origin"] == "buffer v3"
    assert stale[0]["current"] == sha(b"# mine\nx = 1\ny = 2\n")


async def test_st_01_kind_typing_makes_stale_and_undo_makes_fresh_again(world: World) -> None:
    editor = await world.case("ST-01").active()
    editor.open("a.py")
    agent = await world.agent()
    name = await agent.propose("a.py", "y = 1", "y = 2")
    await editor.until(lambda: editor.codes("a.py") == ["patch-pending"])
    offer = await offer_of(editor, name)
    editor.type("a.py", 0, 0, "#")
    await editor.until(lambda: editor.codes("a.py") == ["patch-stale"])
    fault = await refused(editor.run("remit.accept", offer=offer))
    assert fault.code == "stale"
    seen: Any = fault.data["stale"]
    assert seen[0]["rebase"] == "conflict", "neighbouring lines are never merged by guess"
    assert "+#x = 1" in seen[0]["diff"]
    assert editor.text("a.py") == "#x = 1\ny = 1\n"
    editor.type("a.py", 0, 0, "", end=(0, 1))
    await editor.until(lambda: editor.codes("a.py") == ["patch-pending"])
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.py") == "x = 1\ny = 2\n"


async def test_st_04_a_whole_file_from_an_old_read_is_refused(world: World) -> None:
    await world.case("ST-04").active()
    agent = await world.agent()
    old = await agent.read("log.md")
    world.put("log.md", "- a\n- b\n")
    whole = [{"path": "log.md", "content": "- a\n- c\n"}]
    assert (await agent.refused("propose_patch", files=whole, bases={"log.md": old})).code == "stale"
    assert (await agent.refused("propose_patch", files=whole)).code == "missing_base_hash"
    assert world.bytes("log.md") == b"- a\n- b\n"
    assert (await agent.refused("propose_patch", files=whole, bases={"log.md": "absent"})).code == "target_exists"
    new = [{"path": "new.md", "content": "n\n"}]
    assert (await agent.refused("propose_patch", files=new)).code == "missing_base_hash"
    assert (await agent("propose_patch", files=new, bases={"new.md": "absent"}))["state"] == "pending"


async def test_st_04_kind_a_creation_whose_target_appears_meanwhile_is_not_applied(world: World) -> None:
    editor = await world.case("ST-04").active()
    agent = await world.agent()
    new = [{"path": "new.md", "content": "agent\n"}]
    name = (await agent("propose_patch", files=new, bases={"new.md": "absent"}))["proposalId"]
    offer = await offer_of(editor, name)
    world.put("new.md", "human\n")
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "stale"
    assert world.bytes("new.md") == b"human\n"


@dataclass
class Racer:
    """An agent on a shim of its own, and the line it counts up."""

    agent: Agent
    side: str
    proposal: str = ""

    async def propose(self, round_: int, base: str | None = None) -> None:
        old, new = f"{self.side}={round_ - 1}", f"{self.side}={round_}"
        self.proposal = await self.agent.propose("state.txt", old, new, base=base)

    async def start(self, barrier: asyncio.Barrier, round_: int, base: str) -> None:
        await barrier.wait()
        await self.propose(round_, base)


async def test_st_05_two_agents_on_two_shims_one_file_one_wins_each_round(world: World) -> None:
    editor = await world.case("ST-05").active()
    racers = [Racer(await shim(world, side), side) for side in ("left", "right")]
    barrier, succeeded = asyncio.Barrier(2), 0
    for round_ in range(1, 101):
        base = await racers[0].agent.read("state.txt")
        await asyncio.gather(*(racer.start(barrier, round_, base) for racer in racers))
        old = {racer.side: racer.proposal for racer in racers}
        offers = [await offer_of(editor, racer.proposal) for racer in racers]
        answers = await asyncio.gather(*(editor.run("remit.accept", offer=o) for o in offers), return_exceptions=True)
        won = [answer for answer in answers if not isinstance(answer, BaseException)]
        lost = [answer for answer in answers if isinstance(answer, Fault)]
        assert len(won) == 1 and [fault.code for fault in lost] == ["stale"]
        assert (await settled(editor, won[0]["result"]))["state"] == "succeeded"
        succeeded += 1
        loser = racers[answers.index(lost[0])]
        assert (await loser.agent.refused("propose_patch", **whole("state.txt", "x\n", base))).code == "stale"
        await loser.propose(round_)
        action = (await editor.run("remit.accept", offer=await offer_of(editor, loser.proposal)))["result"]
        assert (await settled(editor, action))["state"] == "succeeded"
        succeeded += 1
        await editor.run("remit.reject", offer=await offer_of(editor, old[loser.side], "reject"))
        assert world.bytes("state.txt") == f"left={round_}\nright={round_}\n".encode()
    assert succeeded == 200


async def test_st_05_kind_a_second_server_owns_nothing(world: World) -> None:
    editor = await world.case("ST-05").active()
    agent = await world.agent()
    name = await agent.propose("state.txt", "left=0", "left=1")
    offer = await offer_of(editor, name)
    second = await world.editor()
    await second.until(lambda: any("owns this workspace" in message for message in second.messages))
    assert (await refused(second.run("remit.accept", offer=offer))).code == "workspace_owned"
    assert world.bytes("state.txt") == b"left=0\nright=0\n"
    action = (await editor.run("remit.accept", offer=offer))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"


async def test_po_05_an_edit_for_an_older_document_is_not_sent(world: World) -> None:
    editor = await world.case("PO-05").active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "pale moon", "full moon")
    offer = await offer_of(editor, name)
    editor.type("a.txt", 0, 0, "big sun", end=(0, 9))
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "stale"
    assert editor.edits == []
    assert editor.text("a.txt") == "big sun\n"


async def test_po_05_a_change_that_crosses_the_edit_is_never_applied(world: World) -> None:
    editor = await world.case("PO-05").active()
    editor.open("a.txt")
    agent = await world.agent()

    def lie(here: Editor, _params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        here.type("a.txt", 0, 0, "big sun", end=(0, 9))
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.answer_edit = lie
    name = await agent.propose("a.txt", "pale moon", "full moon")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    found = await settled(editor, action)
    assert found["state"] == "needs_human_decision"
    assert found["found"] == {"a.txt": sha(b"big sun\n")}
    assert await agent.state(name) == "outcome_unknown"
    version = editor.edits[0].edit.document_changes
    assert version is not None and isinstance(version[0], types.TextDocumentEdit)
    assert version[0].text_document.version == 1


async def test_ls_01_a_document_that_was_never_opened_is_unknown(world: World) -> None:
    editor = await world.case("LS-01").active()
    agent = await world.agent()
    client, uri = editor.client, editor.uri("a.txt")
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 1)), "X")
    versioned = types.VersionedTextDocumentIdentifier(uri=uri, version=5)
    client.text_document_did_change(types.DidChangeTextDocumentParams(versioned, [change]))
    client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    warned = await editor.until(lambda: [one for one in editor.logged if uri in one.message])
    assert len(warned) == 1
    fault = await agent.refused(
        "propose_patch", files=[{"path": "a.txt", "content": "n\n"}], bases={"a.txt": sha(b"abc\n")}
    )
    assert fault.code == "buffer_unknown"
    assert (await agent.refused("read_file", path="a.txt")).code == "buffer_unknown"
    whole = types.TextDocumentContentChangeWholeDocument("told at last\n")
    client.text_document_did_change(types.DidChangeTextDocumentParams(versioned, [whole]))
    await editor.view()
    assert (await agent("read_file", path="a.txt"))["text"] == "told at last\n"
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    editor.open("a.txt")
    await editor.view()
    assert (await agent("read_file", path="a.txt"))["text"] == "abc\n"
    assert (await editor.stop()) == 0


def _silent(_editor: Editor, _params: Any) -> types.ApplyWorkspaceEditResult:
    return types.ApplyWorkspaceEditResult(applied=True)


def _elsewhere(editor: Editor, _params: Any) -> types.ApplyWorkspaceEditResult:
    editor.type("b.txt", 0, 0, "A")
    return types.ApplyWorkspaceEditResult(applied=True)


def _half(editor: Editor, _params: Any) -> types.ApplyWorkspaceEditResult:
    editor.type("a.txt", 0, 0, "A", end=(0, 1))
    return types.ApplyWorkspaceEditResult(applied=False, failed_change=1)


def _refusing(_editor: Editor, _params: Any) -> types.ApplyWorkspaceEditResult:
    return types.ApplyWorkspaceEditResult(applied=False, failure_reason="not now")


@pytest.mark.parametrize(
    ("answer", "state", "found"),
    [
        (_silent, "needs_human_decision", {"a.txt": b"a\n", "b.txt": b"b\n"}),
        (_elsewhere, "needs_human_decision", {"a.txt": b"a\n", "b.txt": b"Ab\n"}),
        (_half, "needs_human_decision", {"a.txt": b"A\n", "b.txt": b"b\n"}),
        (_refusing, "failed_without_effect", {"a.txt": b"a\n", "b.txt": b"b\n"}),
        (Editor.take, "succeeded", {"a.txt": b"A\n", "b.txt": b"B\n"}),
    ],
    ids=["silent", "elsewhere", "half", "refusing", "honest"],
)
async def test_ls_07_only_the_promised_text_counts_as_applied(
    world: World, answer: Any, state: str, found: dict[str, bytes]
) -> None:
    editor = await world.case("LS-07").active()
    editor.open("a.txt")
    editor.open("b.txt")
    agent = await world.agent()
    editor.answer_edit = answer
    files = [{"path": "a.txt", "content": "A\n"}, {"path": "b.txt", "content": "B\n"}]
    bases = {"a.txt": sha(b"a\n"), "b.txt": sha(b"b\n")}
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    seen = await settled(editor, action)
    assert seen["state"] == state
    assert seen["found"] == {path: sha(data) for path, data in found.items()}
    assert len(editor.edits) == 1, "an edit is never sent again by itself"
    assert world.bytes("a.txt") == b"a\n"


async def test_ls_07_an_unknown_outcome_is_the_humans_to_settle(world: World) -> None:
    editor = await world.case("LS-07").active()
    editor.open("a.txt")
    agent = await world.agent()
    editor.answer_edit = _silent
    name = (await agent("propose_patch", files=[{"path": "a.txt", "content": "A\n"}], bases={"a.txt": sha(b"a\n")}))[
        "proposalId"
    ]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    await settled(editor, action)
    await editor.until(lambda: "outcome-unknown" in editor.codes("a.txt"))
    decision = (await editor.view())["decisions"][0]
    await editor.run("remit.decide", offer=decision["offer"], option="not_applied")
    assert await agent.state(name) == "failed_without_effect"
    await editor.until(lambda: editor.codes("a.txt") == ["patch-pending"])
    editor.answer_edit = None
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == "A\n"


async def test_ap_02_a_prompt_from_before_a_crash_answers_nothing(world: World) -> None:
    editor = await world.case("AP-02").active()
    agent = await world.agent()
    name = await agent.propose("a.txt", "x", "y")
    old = await offer_of(editor, name)
    await editor.kill()
    await editor.restart()
    assert (await refused(editor.run("remit.accept", offer=old))).code == "approval_unknown"
    assert (await refused(editor.run("remit.accept", offer="never-was"))).code == "approval_unknown"
    assert world.bytes("a.txt") == b"x\n"
    again = await world.agent()
    assert await again.state(name) == "pending"
    new = await offer_of(editor, name)
    assert new != old
    action = (await editor.run("remit.accept", offer=new))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert world.bytes("a.txt") == b"y\n"


async def test_ap_02_kind_an_answer_that_was_used_before_the_crash_says_so(world: World) -> None:
    editor = await world.case("AP-02").active()
    agent = await world.agent()
    offer = await offer_of(editor, await agent.propose("a.txt", "x", "y"))
    action = (await editor.run("remit.accept", offer=offer))["result"]
    await settled(editor, action)
    await editor.kill()
    await editor.restart()
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "already_decided"
    assert world.bytes("a.txt") == b"y\n"


async def test_ap_03_the_first_answer_wins(world: World) -> None:
    editor = await world.case("AP-03").active()
    agent = await world.agent()
    offer = await offer_of(editor, await agent.propose("a.txt", "x", "x\n+once"))
    answers = await asyncio.gather(*(editor.run("remit.accept", offer=offer) for _ in range(2)), return_exceptions=True)
    assert isinstance(answers[0], dict)
    assert isinstance(answers[1], Fault) and answers[1].code == "already_decided"
    await settled(editor, answers[0]["result"])
    assert world.bytes("a.txt") == b"x\nonce\n"

    name = await agent.propose("a.txt", "x", "z")
    yes, no = await offer_of(editor, name), await offer_of(editor, name, "reject")
    both = (editor.run("remit.accept", offer=yes), editor.run("remit.reject", offer=no))
    accepted, rejected = list(await asyncio.gather(*both, return_exceptions=True))
    assert isinstance(accepted, dict)
    assert isinstance(rejected, Fault) and rejected.code == "already_decided"
    await settled(editor, accepted["result"])
    assert world.bytes("a.txt") == b"z\nonce\n"


async def test_ap_03_kind_the_same_key_and_body_gets_the_same_answer(world: World) -> None:
    await world.case("AP-03").active()
    agent = await world.agent()
    files, bases = [{"path": "a.txt", "content": "y\n"}], {"a.txt": sha(b"x\n")}
    first = await agent("propose_patch", files=files, bases=bases, key="k")
    assert await agent("propose_patch", files=files, bases=bases, key="k") == first
    other = [{"path": "a.txt", "content": "z\n"}]
    assert (await agent.refused("propose_patch", files=other, bases=bases, key="k")).code == "key_reused"
    assert len((await agent("task_status"))["proposals"]) == 1


async def test_jr_01_a_patch_whose_later_part_fails_changes_nothing(world: World) -> None:
    editor = await world.case("JR-01").active()
    agent = await world.agent()
    before = {path: world.bytes(path) for path in ("ledger.csv", "b.txt")}
    patch = (CASES / "JR-01" / "patch.apply_patch").read_text()
    bases = {path: sha(data) for path, data in before.items()}
    fault = await agent.refused("propose_patch", patch=patch, bases=bases)
    assert fault.code == "target_missing"
    assert {path: world.bytes(path) for path in before} == before
    assert (await editor.view())["proposals"] == []


async def test_jr_01_kind_a_write_that_fails_leaves_all_files_old(world: World) -> None:
    """The second file's folder goes away between review and apply: nothing of the first may stay."""
    editor = await world.case("JR-01").active(writeScope=["*", "sub/"])
    world.put("sub/c.txt", "c\n")
    agent = await world.agent()
    files = [{"path": "b.txt", "content": "B\n"}, {"path": "sub/new/d.txt", "content": "d\n"}]
    bases = {"b.txt": sha(b"b\n"), "sub/new/d.txt": "absent"}
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    offer = await offer_of(editor, name)
    shutil.rmtree(world.root / "sub")
    (world.root / "sub").write_text("a file where a folder was\n")
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "not_a_file"
    assert world.bytes("b.txt") == b"b\n"
    assert sorted(path.name for path in world.root.iterdir() if path.name.startswith(".remit-")) == []


def test_every_case_folder_is_the_one_that_was_collected() -> None:
    """The files of a case are kept byte for byte: their digests are written in it."""
    for name in ("ST-01", "ST-04", "ST-05", "PO-05", "LS-01", "LS-07", "AP-02", "AP-03", "JR-01"):
        case = json.loads((CASES / name / "case.json").read_text())
        found = {path.name: sha(path.read_bytes()) for path in (CASES / name / "before").iterdir()}
        assert found == case["before_sha256"]
