"""The review as a human sees it, through a real server: the present, moved along, after the fact, two at once."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from lsprotocol import types

from remit.edges.demo.editor import Editor
from world import Agent, World, offer_of, refused, settled, sha

LINES = [f"line {number}\n" for number in range(1, 11)]
TEXT = "".join(LINES)
POLICY = '[review]\nafter = ["docs/"]\n'


async def shown(editor: Editor, proposal: str) -> dict[str, Any]:
    """What the view says of a proposal."""
    return next(one for one in (await editor.view())["proposals"] if one["proposal"] == proposal)


async def propose(agent: Agent, path: str, new: str, **more: Any) -> dict[str, Any]:
    """Propose a whole new text, bound to what is there now; the answer."""
    bases = {path: await agent.read(path)}
    return await agent("propose_patch", files=[{"path": path, "content": new}], bases=bases, **more)


async def lenses(editor: Editor, path: str) -> dict[str, types.Command]:
    """The lenses of a file by title."""
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(editor.uri(path)))
    )
    return {lens.command.title: lens.command for lens in found or [] if lens.command is not None}


async def click(editor: Editor, path: str, title: str) -> str:
    """Do what a lens offers; what it led to."""
    command = (await lenses(editor, path))[title]
    argument: Any = (command.arguments or [{}])[0]
    found: str = (await editor.run(command.command, **argument))["result"]
    return found


# --- the present ------------------------------------------------------------------------------------------------------


async def test_what_moved_is_shown_on_the_present_text_and_accepted_as_shown(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    await propose(agent, "a.txt", TEXT.replace("line 3", "LINE 3").replace("line 8", "LINE 8"))
    await editor.until(lambda: editor.codes("a.txt") == ["patch-pending"] * 2)
    editor.type("a.txt", 4, 0, "mine\n")
    await editor.until(lambda: editor.codes("a.txt") == ["patch-stale"] * 2)
    first, second = editor.diagnostics[editor.uri("a.txt")]
    assert first.message == "P1 by codex, fitted to the present text, would change 1 line into 1 line (1 of 2)."
    assert second.message == "P1 by codex, moved 1 line down, would change 1 line into 1 line (2 of 2)."
    assert second.range == types.Range(types.Position(8, 0), types.Position(8, 6))
    found = await shown(editor, "P1")
    now = TEXT.replace("line 5", "mine\nline 5")
    wanted = now.replace("line 3", "LINE 3").replace("line 8", "LINE 8")
    assert found["shown"] == "rebased"
    assert [(file["base"], file["result"]) for file in found["files"]] == [(sha(now.encode()), sha(wanted.encode()))]

    action = await click(editor, "a.txt", "Accept P1 as shown")
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == wanted and world.bytes("a.txt") == TEXT.encode()
    status = await agent("proposal_status", proposalId="P1")
    assert (status["state"], status["replacedBy"], status["settled"]) == ("superseded", ["P2"], True)
    assert [file["result"] for file in status["replacements"][0]["files"]] == [sha(wanted.encode())]
    assert [hunk["was"] for hunk in (await agent("proposal_status", proposalId="P2"))["hunks"]] == ["P1.1", "P1.2"]


async def test_one_hunk_as_shown_and_a_move_that_voids_it(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    await propose(agent, "a.txt", TEXT.replace("line 3", "LINE 3").replace("line 8", "LINE 8"))
    editor.type("a.txt", 0, 0, "zero\n")
    found = await shown(editor, "P1")
    offers = {hunk["id"]: hunk["accept"] for hunk in found["hunks"]}
    editor.type("a.txt", 0, 0, "more\n")
    assert (await refused(editor.run("remit.acceptHunk", offer=offers["P1.2"]))).code == "stale"
    editor.type("a.txt", 0, 0, "", end=(1, 0))
    action = (await editor.run("remit.acceptHunk", offer=offers["P1.2"]))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == "zero\n" + TEXT.replace("line 8", "LINE 8")
    (rest,) = (await editor.view())["proposals"]
    assert [hunk["new"] for hunk in rest["hunks"]] == [["LINE 3\n"]] and rest["fresh"]


async def test_undo_in_the_editor_brings_the_first_offer_back(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "line 8", "LINE 8")
    offer = await offer_of(editor, name)
    editor.type("a.txt", 7, 0, "x")
    assert (await agent("proposal_status", proposalId=name))["fresh"] is False
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "stale"
    editor.type("a.txt", 7, 0, "", end=(7, 1))
    assert (await agent("proposal_status", proposalId=name))["fresh"] is True
    action = (await editor.run("remit.accept", offer=offer))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == TEXT.replace("line 8", "LINE 8")


async def test_a_conflict_is_shown_with_both_sides_to_human_and_agent(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    base = await agent.read("a.txt")
    name = await agent.propose("a.txt", "line 8", "LINE 8")
    editor.type("a.txt", 0, 0, "zero\n")
    editor.type("a.txt", 8, 0, "my ")
    await editor.until(
        lambda: any("It does not fit" in one.message for one in editor.diagnostics.get(editor.uri("a.txt"), []))
    )
    (problem,) = editor.diagnostics[editor.uri("a.txt")]
    assert problem.related_information is not None
    assert problem.related_information[0].location.range.start.line == 8
    both = {"baseLine": 8, "base": ["line 8\n"], "line": 9, "present": ["my line 8\n"], "proposed": ["LINE 8\n"]}
    found = await shown(editor, name)
    assert found["accept"] is None and found["stale"][0]["conflicts"] == [{**both, "cut": False}]
    assert (await agent("proposal_status", proposalId=name))["stale"][0]["conflicts"] == [{**both, "cut": False}]
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-line 8\n+LINE 8\n*** End Patch\n"
    fault = await agent.refused("propose_patch", patch=patch, bases={"a.txt": base})
    stale: Any = fault.data["stale"]
    assert (fault.code, stale[0]["conflicts"]) == ("stale", [{**both, "cut": False}])
    assert set(await lenses(editor, "a.txt")) == {f"Reject {name}"}


async def test_what_is_shown_rebased_is_amended_on_the_present_text(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "line 8", "LINE 8")
    editor.type("a.txt", 0, 0, "zero\n")
    text = "zero\n" + TEXT.replace("line 8", "Line eight")
    made = await editor.run("remit.amend", offer=await offer_of(editor, name, "amend"), files={"a.txt": text})
    action = (await editor.run("remit.accept", offer=await offer_of(editor, made["result"])))["result"]
    assert (await settled(editor, action))["state"] == "succeeded" and editor.text("a.txt") == text


# --- moving along -----------------------------------------------------------------------------------------------------


async def test_with_auto_what_waits_moves_along_and_the_waiting_agent_is_told(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active(editor=await world.editor(options={"rebase": "auto"}))
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "line 8", "LINE 8")
    waiting = asyncio.ensure_future(agent("wait_for_review", proposalId=name, seconds=20))
    for column, letter in enumerate("zero\n"):
        editor.type("a.txt", 0, column, letter)
    told = await asyncio.wait_for(waiting, 15)
    assert (told["state"], told["settled"], told["replacedBy"]) == ("superseded", False, ["P2"])
    (new,) = told["replacements"]
    now = "zero\n" + TEXT
    assert (new["made"], new["files"][0]["base"]) == ("rebase", sha(now.encode()))
    assert editor.text("a.txt") == now and editor.edits == []
    assert (await agent("proposal_status", proposalId="P2"))["fresh"] is True
    action = (await editor.run("remit.accept", offer=await offer_of(editor, "P2")))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == now.replace("line 8", "LINE 8")


async def test_the_setting_can_be_changed_at_any_time(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "line 8", "LINE 8")
    editor.type("a.txt", 0, 0, "zero\n")
    told = await agent("wait_for_review", proposalId=name, seconds=3)
    assert (told["state"], told["replacedBy"]) == ("pending", []), "ask is the word unless it is said"
    settings = types.DidChangeConfigurationParams({"remit": {"rebase": "auto"}})
    editor.client.workspace_did_change_configuration(settings)
    told = await agent("wait_for_review", proposalId=name, seconds=20)
    assert told["replacedBy"] == ["P2"] and editor.text("a.txt") == "zero\n" + TEXT


# --- reviewed after ---------------------------------------------------------------------------------------------------


async def test_review_after_applies_at_once_and_is_not_done_until_seen(world: World) -> None:
    world.put("docs/a.md", TEXT)
    world.put("docs/Makefile", "all:\n")
    editor = await world.active(POLICY, writeScope=["docs/"], review="after")
    editor.open("docs/a.md")
    agent = await world.agent()
    wanted = TEXT.replace("line 3", "LINE 3")
    answer = await propose(agent, "docs/a.md", wanted)
    assert answer["state"] == "accepted" and "applied at once" in answer["next"]
    told = await agent("wait_for_review", proposalId="P1", seconds=20)
    assert (told["state"], editor.text("docs/a.md")) == ("applied", wanted)
    await editor.until(lambda: editor.codes("docs/a.md") == ["applied-not-reviewed"])
    (problem,) = editor.diagnostics[editor.uri("docs/a.md")]
    assert problem.message == "P1 by codex was applied without a review: 1 line became 1 line."
    report = await editor.run("remit.report", format="json")
    assert [line["text"] for line in report["toBeConfirmed"] if line["kind"] == "change"] == [
        "P1 applied, not reviewed: docs/a.md. Not saved yet: docs/a.md."
    ]

    answer = await propose(agent, "docs/a.md", wanted.replace("line 4", "LINE 4"))
    assert answer["state"] == "pending" and "docs/a.md holds text that is not saved" in answer["next"]
    answer = await propose(agent, "docs/Makefile", "none:\n")
    assert answer["state"] == "pending" and world.bytes("docs/Makefile") == b"all:\n"

    await click(editor, "docs/a.md", "I have seen P1")
    report = await editor.run("remit.report", format="json")
    assert [line["text"] for line in report["done"]] == [
        "P1 applied at once, and seen after: docs/a.md. Not saved yet: docs/a.md."
    ]
    await editor.until(lambda: editor.codes("docs/a.md") == ["patch-pending"])


async def test_review_after_beyond_the_policy_is_an_error_and_activates_nothing(world: World) -> None:
    world.put("docs/a.md", TEXT)
    editor = await world.editor()
    contract = {"taskId": "t", "goal": "g", "writeScope": ["docs/"], "allowedTools": ["apply_patch"], "review": "after"}
    world.put("t.contract.json", json.dumps(contract, indent=1))
    editor.open("t.contract.json")
    await editor.until(lambda: editor.codes("t.contract.json") == ["contract-exceeds-policy"])
    (problem,) = editor.diagnostics[editor.uri("t.contract.json")]
    line = editor.text("t.contract.json").split("\n")[problem.range.start.line]
    assert line.strip() == '"review": "after"'
    assert "docs/" in problem.message


async def test_a_file_with_two_names_is_never_written_at_once(world: World) -> None:
    world.put("docs/a.md", TEXT)
    os.link(world.root / "docs/a.md", world.root / "docs/b.md")
    editor = await world.active(POLICY, writeScope=["docs/"], review="after")
    editor.open("docs/a.md")
    agent = await world.agent()
    answer = await propose(agent, "docs/a.md", "x\n")
    assert answer["state"] == "pending" and "docs/a.md has other names on disk" in answer["next"]
    assert world.bytes("docs/b.md") == TEXT.encode() and editor.edits == []


# --- two agents, one file ---------------------------------------------------------------------------------------------


async def test_two_agents_for_the_same_lines_are_shown_before_either_is_applied(world: World) -> None:
    world.put("a.txt", TEXT)
    editor = await world.active()
    editor.open("a.txt")
    one, two = await world.agent("codex"), await world.agent("claude")
    assert (await propose(one, "a.txt", TEXT.replace("line 3", "LINE 3")))["overlaps"] == []
    answer = await propose(two, "a.txt", TEXT.replace("line 4", "four"))
    mine = {"hunkId": "P2.1", "path": "a.txt", "proposalId": "P1", "yours": False, "sameTask": True}
    assert answer["overlaps"] == [mine]
    await editor.until(lambda: len(editor.codes("a.txt")) == 2)
    first, second = editor.diagnostics[editor.uri("a.txt")]
    assert first.message.endswith("P2 would too.") and second.message.endswith("P1 would too.")
    assert first.related_information is not None
    (related,) = first.related_information
    assert (related.message, related.location.range.start.line) == ("P2 by claude is about these lines too (P2.1).", 3)
    assert (await shown(editor, "P1"))["hunks"][0]["overlaps"][0]["proposal"] == "P2"

    action = (await editor.run("remit.accept", offer=await offer_of(editor, "P1")))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    found = await shown(editor, "P2")
    assert found["accept"] is None and found["stale"][0]["rebase"] == "conflict"
    assert (await two("proposal_status", proposalId="P2"))["stale"][0]["conflicts"][0]["proposed"] == [
        "line 3\n",
        "four\n",
    ]
    assert editor.text("a.txt") == TEXT.replace("line 3", "LINE 3")
