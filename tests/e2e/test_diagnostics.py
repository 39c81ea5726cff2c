"""Each diagnostic code that exists, seen by a pytest-lsp client on a real server, with its code actions.

The client is a plain one: pushed diagnostics, UTF-8 columns for one test, pulled diagnostics for another.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from remit.core.verbs import Hello
from remit.edges.socket import Client
from remit.home import home, live, place
from world import CONTRACT, Agent


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


POLICY = """\
[checks.unit]
argv = ["python3", "-c", "import sys; sys.exit(open('docs/a.md').read().count('BAD'))"]
inputs = ["docs/"]

[limits]
writeScope = ["docs/", "src/"]
"""


TEXT = "one\ntwo\nthree\nfour\nfive\n"
PATCH = """--- a/docs/a.md
+++ b/docs/a.md
@@ -1,5 +1,5 @@
 one
-two
+TWO
 three
 four
-five
+FIVE
"""


class Desk:
    """A pytest-lsp client, its workspace and the agent beside it."""

    def __init__(self, client: LanguageClient, root: Path, base: Path) -> None:
        self.client, self.root, self.base = client, root, base
        self.versions: dict[str, int] = {}
        self.agents: list[Agent] = []

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def put(self, path: str, text: str) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)

    def open(self, path: str) -> None:
        self.versions[path] = 1
        item = types.TextDocumentItem(self.uri(path), "x", 1, (self.root / path).read_text())
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, path: str, text: str) -> None:
        self.versions[path] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=self.uri(path), version=self.versions[path]),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def watched(self, path: str) -> None:
        """Tell the server that the file changed on disk."""
        event = types.FileEvent(self.uri(path), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def shown(self, path: str, code: str, *, gone: bool = False) -> list[types.Diagnostic]:
        """Wait until a code is shown for a file, or is gone from it."""

        def right(found: list[types.Diagnostic]) -> bool:
            return any(one.code == code for one in found) is not gone

        return [one for one in await self.until(path, right) if one.code == code]

    async def until(self, path: str, right: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        """Wait until what is shown for a file is right."""
        async with asyncio.timeout(15):
            while not right(found := list(self.client.diagnostics.get(self.uri(path), []))):
                await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return found

    async def actions(self, path: str, diagnostic: types.Diagnostic) -> dict[str, types.CodeAction]:
        """The quick fixes of a diagnostic by title; each must carry a command of ours."""
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(self.uri(path)), diagnostic.range, types.CodeActionContext([diagnostic])
            )
        )
        actions = [one for one in found or [] if isinstance(one, types.CodeAction)]
        mine = [one for one in actions if one.diagnostics and one.diagnostics[0].code == diagnostic.code]
        assert all(one.edit or (one.command and one.command.command.startswith("remit.")) for one in mine)
        return {one.title: one for one in mine}

    async def run(self, action: types.CodeAction) -> Any:
        assert action.command is not None
        return await self.client.workspace_execute_command_async(
            types.ExecuteCommandParams(action.command.command, action.command.arguments)
        )

    async def press(self, path: str, code: str, title: str) -> None:
        """Press the quick fix of a shown code."""
        diagnostic = (await self.shown(path, code))[0]
        await self.run((await self.actions(path, diagnostic))[title])

    async def agent(self) -> Agent:
        session = live(place(self.root, home({"REMIT_HOME": str(self.base)})))
        assert session is not None
        hello = Hello(token=session.token.read_text(), agent=secrets.token_hex(8), name="codex", version="1")
        self.agents.append(Agent(await Client.connect(session.socket, hello)))
        return self.agents[-1]

    async def active(self, policy: str | None = None, **contract: Any) -> Agent:
        """Activate policy and contract by their quick fixes; the agent."""
        if policy is not None:
            self.put(".remit/policy.toml", policy)
            self.open(".remit/policy.toml")
            await self.press(".remit/policy.toml", "policy-changed", "Activate this policy")
        self.put("t.contract.json", json.dumps({**CONTRACT, **contract}, indent=1))
        self.open("t.contract.json")
        await self.press("t.contract.json", "contract-not-active", "Activate the contract of task-one")
        await self.shown("t.contract.json", "contract-not-active", gone=True)
        return await self.agent()


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A client on a server of its own, initialised with what a plain editor can do."""
    root, base = tmp_path / "ws", tmp_path / "home"
    (root / "docs").mkdir(parents=True)
    (root / "docs/a.md").write_text(TEXT)
    command = [sys.executable, "-m", "remit", "lsp"]
    client = await ClientServerConfig(command, server_env={**os.environ, "REMIT_HOME": str(base)}).start()
    assert isinstance(client, LanguageClient)
    client.protocol._converter.register_structure_hook(types.Command | types.CodeAction, _command_or_action)
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
        ),
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, code_description_support=True, data_support=True
            ),
            code_action=types.CodeActionClientCapabilities(is_preferred_support=True, data_support=True),
        ),
        window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True)),
    )
    await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            root_uri=root.as_uri(),
            client_info=types.ClientInfo("Plain", "1"),
            initialization_options={"prompts": False},
        )
    )
    desk = Desk(client, root, base)
    yield desk
    for agent in desk.agents:
        await agent.client.close()
    await client.shutdown_session()


def _command_or_action(raw: dict[str, Any], _: Any) -> types.Command | types.CodeAction:
    """lsprotocol takes every action with a command for a command (2025.0.0)."""
    if isinstance(raw.get("command"), str):
        return get_converter().structure(raw, types.Command)
    return get_converter().structure(raw, types.CodeAction)


async def propose(agent: Agent) -> str:
    base = await agent.read("docs/a.md")
    name: str = (await agent("propose_patch", patch=PATCH, bases={"docs/a.md": base}))["proposalId"]
    return name


def spot(diagnostic: types.Diagnostic) -> tuple[int, int, int, int]:
    found = diagnostic.range
    return (found.start.line, found.start.character, found.end.line, found.end.character)


async def test_contract_invalid_at_the_exact_place_with_a_fix(desk: Desk) -> None:
    text = '{\n "taskId": "é",\n "gaol": "g",\n "writeScope": [], "allowedTools": ["read_fle"]\n}\n'
    desk.put("t.contract.json", text)
    desk.open("t.contract.json")
    found = await desk.shown("t.contract.json", "contract-invalid")
    assert [(spot(one), one.message[:24]) for one in found] == [
        ((0, 0, 0, 1), "“goal” is missing."),
        ((1, 11, 1, 14), "“taskId”: use 1 to 64 le"),
        ((2, 1, 2, 7), "Unknown field “gaol”."),
        ((3, 36, 3, 46), "Unknown right “read_fle”"),
    ]
    edit = (await desk.actions("t.contract.json", found[2]))['Change to "goal"'].edit
    assert edit is not None and edit.changes is not None
    assert edit.changes[desk.uri("t.contract.json")][0].new_text == '"goal"'
    assert 'Change to "read_file"' in await desk.actions("t.contract.json", found[3])


async def test_contract_not_active_then_changed(desk: Desk) -> None:
    await desk.active()
    desk.change("t.contract.json", json.dumps({**CONTRACT, "goal": "Another."}))
    changed = (await desk.shown("t.contract.json", "contract-changed"))[0]
    assert changed.severity is types.DiagnosticSeverity.Warning
    await desk.press("t.contract.json", "contract-changed", "Activate the contract of task-one")
    await desk.shown("t.contract.json", "contract-changed", gone=True)


async def test_contract_exceeds_policy(desk: Desk) -> None:
    await desk.active(POLICY, writeScope=["docs/"])
    desk.change("t.contract.json", json.dumps({**CONTRACT, "writeScope": ["docs/", "etc/"]}, indent=1))
    found = (await desk.shown("t.contract.json", "contract-exceeds-policy"))[0]
    assert spot(found) == (5, 2, 5, 8)
    await desk.run((await desk.actions("t.contract.json", found))["Show the policy"])
    await desk.agents[0].read("docs/a.md")
    async with asyncio.timeout(15):
        while not desk.client.shown_documents:
            await desk.agents[0].read("docs/a.md")
    assert desk.client.shown_documents[0].uri == desk.uri(".remit/policy.toml")


async def test_policy_invalid_and_policy_changed(desk: Desk) -> None:
    await desk.active(POLICY, writeScope=["docs/"])
    desk.change(".remit/policy.toml", POLICY.replace("inputs", "inptus"))
    found = (await desk.shown(".remit/policy.toml", "policy-invalid"))[0]
    assert (spot(found), found.message) == ((2, 0, 2, 6), "Unknown field “inptus”.")
    assert "Change to inputs" in await desk.actions(".remit/policy.toml", found)
    desk.change(".remit/policy.toml", POLICY + "\n")
    await desk.press(".remit/policy.toml", "policy-changed", "Activate this policy")
    await desk.shown(".remit/policy.toml", "policy-changed", gone=True)


async def test_scope_empty_and_outside_scope(desk: Desk) -> None:
    desk.put("other.py", "x = 1\n")
    await desk.active(writeScope=["docs/", "nothing/"])
    empty = (await desk.shown("t.contract.json", "scope-empty"))[0]
    assert (spot(empty), empty.severity) == ((5, 2, 5, 12), types.DiagnosticSeverity.Warning)
    assert "Show the contract" in await desk.actions("t.contract.json", empty)
    desk.open("other.py")
    hint = (await desk.shown("other.py", "outside-scope"))[0]
    assert hint.severity is types.DiagnosticSeverity.Hint
    assert "Show the contract" in await desk.actions("other.py", hint)


async def test_patch_pending_by_hunk_accepted_and_rejected(desk: Desk) -> None:
    agent = await desk.active()
    await propose(agent)
    found = await desk.shown("docs/a.md", "patch-pending")
    assert [spot(one) for one in found] == [(1, 0, 1, 3), (4, 0, 4, 4)]
    assert found[0].severity is types.DiagnosticSeverity.Information
    assert set(await desk.actions("docs/a.md", found[0])) == {
        "Accept this hunk (P1.1)",
        "Reject this hunk (P1.1)",
        "Accept P1",
        "Reject P1",
    }
    await desk.run((await desk.actions("docs/a.md", found[1]))["Accept this hunk (P1.2)"])
    await desk.until("docs/a.md", lambda found: [spot(one) for one in found] == [(1, 0, 1, 3)])
    assert (desk.root / "docs/a.md").read_text() == "one\ntwo\nthree\nfour\nFIVE\n"
    await desk.press("docs/a.md", "patch-pending", "Reject P3")
    await desk.shown("docs/a.md", "patch-pending", gone=True)
    where = types.TextDocumentIdentifier(desk.uri("docs/a.md"))
    assert not await desk.client.text_document_code_lens_async(types.CodeLensParams(where))


async def test_patch_pending_in_lenses_and_hover(desk: Desk) -> None:
    await propose(await desk.active())
    await desk.shown("docs/a.md", "patch-pending")
    where = types.TextDocumentIdentifier(desk.uri("docs/a.md"))
    lenses = await desk.client.text_document_code_lens_async(types.CodeLensParams(where)) or []
    titles = [(lens.range.start.line, lens.command.title) for lens in lenses if lens.command]
    assert (1, "Accept this hunk (P1.1)") in titles and (4, "Reject this hunk (P1.2)") in titles
    hover = await desk.client.text_document_hover_async(types.HoverParams(where, types.Position(1, 1)))
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert "-two\n+TWO\n" in hover.contents.value
    assert await desk.client.text_document_hover_async(types.HoverParams(where, types.Position(2, 0))) is None


async def test_patch_stale_follows_the_lines_and_rebases(desk: Desk) -> None:
    agent = await desk.active()
    desk.open("docs/a.md")
    await propose(agent)
    await desk.shown("docs/a.md", "patch-pending")
    desk.change("docs/a.md", "zero\n" + TEXT)
    found = await desk.shown("docs/a.md", "patch-stale")
    assert [spot(one) for one in found] == [(2, 0, 2, 3), (5, 0, 5, 4)]
    related = found[0].related_information
    assert related is not None and related[0].location.range.start.line == 0
    await desk.press("docs/a.md", "patch-stale", "Rebase P1 onto the present text")
    again = await desk.shown("docs/a.md", "patch-pending")
    assert [spot(one) for one in again] == [(2, 0, 2, 3), (5, 0, 5, 4)]
    assert await agent.state("P1") == "superseded"


async def test_disk_conflict_stops_everything(desk: Desk) -> None:
    agent = await desk.active()
    desk.open("docs/a.md")
    await propose(agent)
    pending = (await desk.shown("docs/a.md", "patch-pending"))[0]
    accept = (await desk.actions("docs/a.md", pending))["Accept P1"]
    desk.put("docs/a.md", "somebody else\n")
    desk.watched("docs/a.md")
    found = (await desk.shown("docs/a.md", "disk-conflict"))[0]
    assert found.severity is types.DiagnosticSeverity.Error
    assert "Show this file" in await desk.actions("docs/a.md", found)
    with pytest.raises(JsonRpcException, match="changed on disk"):
        await desk.run(accept)
    files = [{"path": "docs/a.md", "content": "n\n"}]
    fault = await agent.refused("propose_patch", files=files, bases={"docs/a.md": sha(TEXT)})
    assert fault.code == "disk_conflict"
    assert (desk.root / "docs/a.md").read_text() == "somebody else\n"


async def test_scope_violation_on_target_and_contract(desk: Desk) -> None:
    desk.put("other.py", "x = 1\n")
    agent = await desk.active(writeScope=["docs/"])
    files = [{"path": "other.py", "content": "y\n"}]
    fault = await agent.refused("propose_patch", files=files, bases={"other.py": await agent.read("other.py")})
    assert fault.code == "outside_scope"
    assert (await desk.shown("other.py", "scope-violation"))[0].severity is types.DiagnosticSeverity.Error
    found = (await desk.shown("t.contract.json", "scope-violation"))[0]
    assert spot(found)[0] == 3
    assert "Show other.py" in await desk.actions("t.contract.json", found)


async def test_protected_path_needs_its_own_yes(desk: Desk) -> None:
    desk.put(".vscode/tasks.json", "{}\n")
    agent = await desk.active(writeScope=["docs/", ".vscode/"])
    files = [{"path": ".vscode/tasks.json", "content": '{"tasks": []}\n'}]
    bases = {".vscode/tasks.json": await agent.read(".vscode/tasks.json")}
    await agent("propose_patch", files=files, bases=bases)
    found = (await desk.shown(".vscode/tasks.json", "protected-path"))[0]
    pending = (await desk.shown(".vscode/tasks.json", "patch-pending"))[0]
    with pytest.raises(JsonRpcException, match="needs its own yes"):
        await desk.run((await desk.actions(".vscode/tasks.json", pending))["Accept P1"])
    await desk.run((await desk.actions(".vscode/tasks.json", found))["D1: Allow this change"])
    await desk.shown(".vscode/tasks.json", "protected-path", gone=True)
    await desk.press(".vscode/tasks.json", "patch-pending", "Accept P1")
    await desk.shown(".vscode/tasks.json", "patch-pending", gone=True)
    assert (desk.root / ".vscode/tasks.json").read_text() == '{"tasks": []}\n'


async def test_decision_pending_is_answered_once(desk: Desk) -> None:
    agent = await desk.active()
    await agent("ask_human", question="Tabs or blanks?", options=["tabs", "blanks"], about="docs/a.md")
    found = (await desk.shown("docs/a.md", "decision-pending"))[0]
    assert found.message == "D1: codex asks: Tabs or blanks?"
    answers = await desk.actions("docs/a.md", found)
    await desk.run(answers["D1: blanks"])
    await desk.shown("docs/a.md", "decision-pending", gone=True)
    with pytest.raises(JsonRpcException, match="already decided"):
        await desk.run(answers["D1: tabs"])
    assert (await agent("wait_for_decision", decisionId="D1"))["decision"]["answer"] == "blanks"


async def test_checks_not_run_failed_passed_stale(desk: Desk) -> None:
    verification = {"required": ["unit"], "allowed": [], "forbidden": ["build"]}
    agent = await desk.active(POLICY, writeScope=["docs/"], verification=verification)
    found = await desk.shown("t.contract.json", "check-not-run")
    assert [(one.severity, one.message) for one in found] == [
        (types.DiagnosticSeverity.Information, "The check unit has not run."),
        (types.DiagnosticSeverity.Hint, "The check build is forbidden by this contract, and is reported as not run."),
    ]
    assert list(await desk.actions("t.contract.json", found[0])) == ["Run unit"]
    desk.put("docs/a.md", "BAD\n")
    desk.watched("docs/a.md")
    await desk.press("t.contract.json", "check-not-run", "Run unit")
    failed = (await desk.shown("t.contract.json", "check-failed"))[0]
    assert failed.severity is types.DiagnosticSeverity.Error
    desk.put("docs/a.md", "good\n")
    desk.watched("docs/a.md")
    await desk.press("t.contract.json", "check-stale", "Run unit")
    await desk.until("t.contract.json", lambda found: not any("unit" in one.message for one in found))
    async with asyncio.timeout(15):
        while (standing := await _standing(agent))[0][1] == "running":
            continue
    assert standing == [("unit", "passed"), ("build", "forbidden")]
    desk.open("docs/a.md")
    desk.change("docs/a.md", "typed, not saved\n")
    stale = (await desk.shown("t.contract.json", "check-stale"))[0]
    assert stale.severity is types.DiagnosticSeverity.Warning


async def _standing(agent: Agent) -> list[tuple[str, str]]:
    return [(check["checkId"], check["status"]) for check in (await agent("list_checks"))["checks"]]


async def test_outcome_unknown_when_the_editor_lies(desk: Desk) -> None:
    agent = await desk.active()
    desk.open("docs/a.md")

    def lie(_params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        return types.ApplyWorkspaceEditResult(applied=True)

    desk.client.feature(types.WORKSPACE_APPLY_EDIT)(lie)
    await propose(agent)
    await desk.press("docs/a.md", "patch-pending", "Accept P1")
    found = (await desk.shown("docs/a.md", "outcome-unknown"))[0]
    assert found.severity is types.DiagnosticSeverity.Error
    await desk.run((await desk.actions("docs/a.md", found))["D1: It was not applied"])
    await desk.shown("docs/a.md", "outcome-unknown", gone=True)
    await desk.shown("docs/a.md", "patch-pending")


async def test_every_message_is_one_short_line_with_a_page(desk: Desk) -> None:
    await propose(await desk.active())
    await desk.shown("docs/a.md", "patch-pending")
    every = [one for diagnostics in desk.client.diagnostics.values() for one in diagnostics]
    assert every
    for one in every:
        assert one.source == "remit" and len(one.message) <= 100 and "\n" not in one.message
        assert one.code_description is not None and one.code_description.href.endswith(f"#{one.code}")


async def test_columns_are_counted_as_the_client_counts(desk: Desk) -> None:
    """Two astral characters before the place: four units of UTF-16."""
    text = '{"taskId": "t", "goal": "🌲🌵", "oops": 1, "writeScope": [], "allowedTools": []}'
    desk.put("t.contract.json", text)
    desk.open("t.contract.json")
    found = (await desk.shown("t.contract.json", "contract-invalid"))[0]
    assert spot(found) == (0, 32, 0, 38)


async def test_what_was_accepted_is_taken_back_by_a_code_action(desk: Desk) -> None:
    agent = await desk.active()
    await propose(agent)
    await desk.press("docs/a.md", "patch-pending", "Accept P1")
    await desk.shown("docs/a.md", "patch-pending", gone=True)
    found = await desk.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(desk.uri("docs/a.md")),
            types.Range(types.Position(0, 0), types.Position(0, 0)),
            types.CodeActionContext([]),
        )
    )
    (action,) = [one for one in found or [] if isinstance(one, types.CodeAction)]
    assert (action.title, action.kind) == ("Take back P1, keep what was written since", types.CodeActionKind.Source)
    await desk.run(action)
    assert await agent.state("P1") == "undone"
    assert (desk.root / "docs/a.md").read_text() == TEXT
