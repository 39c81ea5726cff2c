"""The session as a whole: who owns a workspace, how each kind of client is served, what other programs write.

Each test drives real processes; `test_cases` has the cases of public reports.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from lsprotocol import types

from remit.edges.demo.editor import Editor, capable
from remit.home import home, place
from world import CASES, World, offer_of, refused, settled, sha

POLICY = """\
[checks.unit]
argv = ["python3", "-c", "print('looked at', open('a.txt').read())"]
inputs = ["a.txt"]
"""


async def test_one_root_has_one_owner_whatever_the_homes(world: World) -> None:
    """Two homes have two lock files; the root's inode is one."""
    world.put("a.txt", "a\n")
    editor = await world.active()
    other = Editor(world.root, environment={"REMIT_HOME": str(world.base.parent / "other")})
    world.editors.append(other)
    await other.start()
    await other.until(lambda: any("owns this workspace" in message for message in other.messages))
    assert (await refused(other.view())).code == "workspace_owned"
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_po_02_edits_are_counted_as_the_client_counts(world: World, encoding: str) -> None:
    (world.root / "e.txt").write_bytes((CASES / "PO-02" / "before" / "e.txt").read_bytes())
    editor = await world.active(editor=await world.editor(capabilities=capable(encodings=[encoding])))
    assert editor.encoding == encoding
    editor.open("e.txt")
    behind = {"utf-8": 2, "utf-16": 1, "utf-32": 1}[encoding]
    editor.type("e.txt", 0, behind, "z")
    agent = await world.agent()
    assert (await agent("read_file", path="e.txt"))["text"] == "ñzom\n"
    name = await agent.propose("e.txt", "ñzom", "ñ🌲zo")
    await editor.until(lambda: editor.codes("e.txt") == ["patch-pending"])
    shown = editor.diagnostics[editor.uri("e.txt")][0].range
    assert shown.end.character == {"utf-8": 5, "utf-16": 4, "utf-32": 4}[encoding]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("e.txt") == "ñ🌲zo\n"


async def test_a_client_that_pulls_is_not_pushed_to_for_what_it_has_open(world: World) -> None:
    world.put("a.txt", "a\n")
    world.put("b.txt", "b\n")
    editor = await world.active(editor=await world.editor(capabilities=capable(pull=True)))
    refreshed: list[None] = []
    editor.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(lambda *_: refreshed.append(None))
    editor.open("a.txt")
    agent = await world.agent()
    await agent.propose("a.txt", "a", "A")
    await agent.propose("b.txt", "b", "B")
    await editor.until(lambda: editor.codes("b.txt") == ["patch-pending"])
    assert editor.codes("a.txt") == []
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(editor.uri("a.txt")))
    report = await editor.client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    assert [one.code for one in report.items] == ["patch-pending"]
    assert refreshed
    editor.open("b.txt")
    await editor.until(lambda: editor.codes("b.txt") == [])


async def test_what_another_program_writes_is_noticed_without_being_told(world: World) -> None:
    world.put("a.txt", "a\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    await editor.until(lambda: editor.codes("a.txt") == ["patch-pending"])
    world.put("a.txt", "somebody else\n")
    await editor.until(lambda: "disk-conflict" in editor.codes("a.txt"))
    status = await agent("proposal_status", proposalId=name)
    assert (status["fresh"], status["settled"]) == (False, False)
    assert "changed on disk" in status["reason"] and "Wait for the human" in status["next"]
    world.put("a.txt", "a\n")
    await editor.until(lambda: editor.codes("a.txt") == ["patch-pending"])


async def test_several_files_open_and_closed_are_one(world: World) -> None:
    """An open, dirty buffer, a closed file, a new one and a deletion: all of it, and nothing is saved."""
    for name in ("open.txt", "closed.txt", "gone.txt"):
        world.put(name, f"{name}\n")
    editor = await world.active()
    editor.open("open.txt")
    editor.type("open.txt", 0, 0, "typed ")
    agent = await world.agent()
    files = [
        {"path": "open.txt", "content": "typed by both\n"},
        {"path": "closed.txt", "content": "changed\n"},
        {"path": "new/made.txt", "content": "made\n"},
        {"path": "gone.txt", "content": None},
    ]
    bases = {
        "open.txt": sha(b"typed open.txt\n"),
        "closed.txt": sha(b"closed.txt\n"),
        "new/made.txt": "absent",
        "gone.txt": sha(b"gone.txt\n"),
    }
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("open.txt") == "typed by both\n"
    assert world.bytes("open.txt") == b"open.txt\n"
    assert (world.bytes("closed.txt"), world.bytes("new/made.txt")) == (b"changed\n", b"made\n")
    assert not (world.root / "gone.txt").exists()


async def test_an_open_file_that_moved_takes_the_closed_ones_with_it(world: World) -> None:
    world.put("open.txt", "o\n")
    world.put("closed.txt", "c\n")
    editor = await world.active()
    editor.open("open.txt")
    agent = await world.agent()
    files = [{"path": "open.txt", "content": "O\n"}, {"path": "closed.txt", "content": "C\n"}]
    bases = {"open.txt": sha(b"o\n"), "closed.txt": sha(b"c\n")}
    name = (await agent("propose_patch", files=files, bases=bases))["proposalId"]

    def refuse(_editor: Any, _params: Any) -> types.ApplyWorkspaceEditResult:
        return types.ApplyWorkspaceEditResult(applied=False)

    editor.answer_edit = refuse
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "failed_without_effect"
    assert world.bytes("closed.txt") == b"c\n"
    assert [path.name for path in world.root.iterdir() if path.name.startswith(".remit-")] == []


async def test_a_check_answers_to_the_question_that_allowed_it(world: World) -> None:
    world.put("a.txt", "a\n")
    verification = {"required": ["unit"], "allowed": [], "forbidden": []}
    editor = await world.active(policy=POLICY, verification=verification)
    agent = await world.agent()
    asked = await agent("run_check", checkId="unit")
    decision = (await editor.view())["decisions"][0]
    assert decision["decision"] == asked["decisionId"]
    await editor.run("remit.decide", offer=decision["offer"], option="run")
    done = await agent("wait_for_decision", decisionId=asked["decisionId"], seconds=20)
    assert (done["settled"], done["run"]["state"], done["run"]["fresh"]) == (True, "passed", True)
    assert done["run"]["output"] == "looked at a\n\n"
    assert done["run"]["sandbox"] == "none"
    world.put("a.txt", "b\n")
    assert (await agent("wait_for_decision", decisionId=asked["decisionId"]))["run"]["fresh"] is False
    report = await editor.run("remit.report", format="json")
    assert [line["subject"] for line in report["toBeConfirmed"]] == ["unit"]
    assert report["done"] == []


async def test_a_contract_drafted_by_an_agent_is_in_force_after_one_click(world: World) -> None:
    world.put("docs/a.md", "a\n")
    editor = await world.editor()
    editor.open("docs/a.md")
    agent = await world.agent()
    contract = await agent("get_contract")
    assert (contract["active"], "propose_contract" in contract["next"]) == (False, True)
    assert (await agent.refused("finish_task", summary="done")).code == "no_contract"
    drafted = await agent("propose_contract", goal="Better words.", writeScope=["docs/"], taskId="words")
    await editor.until(lambda: "decision-pending" in editor.codes("docs/a.md"))
    decision = (await editor.view())["decisions"][0]
    await editor.run("remit.decide", offer=decision["offer"], option="activate")
    answer = await agent("wait_for_decision", decisionId=drafted["decision"]["decisionId"])
    assert answer["decision"]["answer"] == "Activate as drafted"
    assert (await agent("get_contract"))["task"]["writeScope"] == ["docs/"]
    written = json.loads(world.bytes(".remit/contracts/words.contract.json"))
    assert (written["taskId"], written["commitAllowed"]) == ("words", False)
    await agent.propose("docs/a.md", "a", "b")

    more = await agent("request_amendment", writeScope=["src/"], why="The example is there.")
    decision = next(one for one in (await editor.view())["decisions"] if one["kind"] == "amendment")
    assert '+    "src/"' in decision["why"]
    await editor.run("remit.decide", offer=decision["offer"], option="allow")
    assert (await agent("wait_for_decision", decisionId=more["decision"]["decisionId"]))["settled"]
    assert (await agent("get_contract"))["task"]["writeScope"] == ["docs/", "src/"]
    assert json.loads(world.bytes(".remit/contracts/words.contract.json"))["writeScope"] == ["docs/", "src/"]


async def test_a_prompt_is_shown_once_and_its_answer_counts(world: World) -> None:
    editor = await world.active()
    agent = await world.agent()
    editor.answer_prompt = lambda prompt: prompt.actions[1].title if prompt.actions else None
    asked = await agent("ask_human", question="Tabs?", options=["yes", "no"])
    done = await agent("wait_for_decision", decisionId=asked["decision"]["decisionId"], seconds=20)
    assert done["decision"]["answer"] == "no"
    assert [prompt.message for prompt in editor.prompts] == ["D1: codex asks: Tabs?"]


async def test_no_prompt_comes_between_keystrokes(world: World) -> None:
    """Where a prompt takes the keyboard, a keystroke meant for the text would answer it."""
    world.put("a.txt", "a\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    editor.type("a.txt", 0, 0, "x")
    await agent("ask_human", question="Tabs?", options=["yes", "no"])
    await editor.until(lambda: "decision-pending" in editor.codes("task.contract.json"))
    for _ in range(5):
        editor.type("a.txt", 0, 0, "x")
        await editor.view()
        assert editor.prompts == []
    await editor.until(lambda: editor.prompts)


async def test_the_seed_contract_works_as_it_stands_in_an_empty_folder(world: World) -> None:
    seed = (CASES.parent.parent / "contracts/examples/valid/seed.contract.json").read_bytes()
    world.put("seed.contract.json", seed)
    editor = await world.editor()
    editor.open("seed.contract.json")
    await editor.until(lambda: "contract-not-active" in editor.codes("seed.contract.json"))
    shown = editor.diagnostics[editor.uri("seed.contract.json")]
    assert types.DiagnosticSeverity.Error not in [one.severity for one in shown]
    await editor.activate("seed.contract.json")
    agent = await world.agent()
    task = (await agent("get_contract"))["task"]
    assert (task["rights"], task["commitAllowed"]) == (["read_file", "apply_patch"], False)
    standing = {check["checkId"]: (check["kind"], check["status"]) for check in task["checks"]}
    assert standing["editorial_review"] == ("human", "not_run")
    assert {standing[name][1] for name in ("build", "product_tests")} == {"forbidden"}
    assert (await agent.refused("run_check", checkId="editorial_review")).code == "right_missing"

    new = [{"path": "docs/editorial/guide.md", "content": "# Guide\n"}]
    name = (await agent("propose_patch", files=new, bases={"docs/editorial/guide.md": "absent"}))["proposalId"]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert world.bytes("docs/editorial/guide.md") == b"# Guide\n"
    checks = {check["checkId"]: check for check in (await editor.view())["tasks"][0]["checks"]}
    await editor.run("remit.runCheck", offer=checks["editorial_review"]["offer"])
    report = await editor.run("remit.report", format="json")
    assert [line["subject"] for line in report["done"]] == [name, "editorial_review"]
    assert sorted(line["subject"] for line in report["notRun"]) == ["build", "product_tests"]
    world.put("docs/editorial/guide.md", "# Another\n")
    report = await editor.run("remit.report", format="json")
    assert [line["subject"] for line in report["toBeConfirmed"]] == [name, "editorial_review"]


async def test_a_file_open_under_two_names_is_left_alone_until_one_is_closed(world: World) -> None:
    """A link and its target are two documents and one file: closing one does not make the disk the truth."""
    world.put("a.txt", "a\n")
    (world.root / "link.txt").symlink_to("a.txt")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    await editor.until(lambda: editor.codes("a.txt") == ["patch-pending"])
    offer = await offer_of(editor, name)
    editor.open("link.txt")
    fault = await refused(editor.run("remit.accept", offer=offer))
    assert fault.code == "buffer_unknown"
    await editor.until(lambda: any("under another name" in one.message for one in editor.logged))
    editor.type("a.txt", 0, 0, "mine ")
    assert (await agent.refused("read_file", path="link.txt")).code == "buffer_unknown"
    editor.close("link.txt")
    await editor.until(lambda: editor.codes("a.txt") == ["patch-stale"] and not editor.codes("link.txt"))
    assert (await agent("read_file", path="a.txt"))["text"] == "mine a\n"
    fault = await refused(editor.run("remit.accept", offer=offer))
    assert (fault.code, world.bytes("a.txt"), editor.edits) == ("stale", b"a\n", [])


async def test_an_editor_without_an_agents_door_says_so(world: World) -> None:
    socket = place(world.root, home({"REMIT_HOME": str(world.base)})).socket
    socket.parent.mkdir(parents=True, mode=0o700)
    socket.write_text("something else")
    editor = await world.editor()
    await editor.until(lambda: any("agent socket's path" in message for message in editor.messages))
    assert (await editor.view())["mode"] == "editor"


async def test_a_file_with_two_names_needs_a_yes_that_says_so(world: World) -> None:
    world.put("a.txt", "a\n")
    (world.root / "b.txt").hardlink_to(world.root / "a.txt")
    editor = await world.active()
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    assert (await refused(editor.run("remit.accept", offer=await offer_of(editor, name)))).code == "protected_path"
    decision = (await editor.view())["decisions"][0]
    assert "keep the old text" in decision["why"]
    await editor.run("remit.decide", offer=decision["offer"], option="allow")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert (world.bytes("a.txt"), world.bytes("b.txt")) == (b"A\n", b"a\n")


async def test_an_accepted_change_is_taken_back_and_what_was_typed_since_stays(world: World) -> None:
    world.put("a.txt", "one\ntwo\nthree\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "one", "ONE")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    await settled(editor, action)
    editor.type("a.txt", 2, 0, "my ")
    shown = next(one for one in (await editor.view())["applied"] if one["proposal"] == name)
    action = (await editor.run("remit.undo", offer=shown["undo"]))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == "one\ntwo\nmy three\n"
    assert await agent.state(name) == "undone"
