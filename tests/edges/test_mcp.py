"""The MCP door through the SDK's own client: the tool list, results and refusals, waiting, and the way to a session."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Implementation, TextContent

from remit.core import answers
from remit.core.faults import AgentFault, Json
from remit.core.model import Model
from remit.core.verbs import VERBS, Hello
from remit.edges import mcp as door
from remit.edges.socket import Link, serve

Era = Literal["legacy", "auto"]
ERAS: list[Era] = ["legacy", "auto"]
SERVER = Path(__file__).resolve().parents[2] / "server"
DIGEST = "ab" * 32
TOKEN = "0123456789abcdef" * 4

HUNK = answers.HunkView(
    id="p1:1", path="a.md", old_start=1, old_lines=1, new_start=1, new_lines=2, placed="offset(3)", state="pending"
)
DECISION = answers.DecisionView(decision_id="d1", kind="question", state="pending", question="Which?")
PROPOSAL = answers.ProposalResult(
    proposal_id="p1", state="pending", fresh=True, settled=False, hunks=(HUNK,), next="Wait."
)
TASK = answers.TaskView(
    task_id="t",
    goal="g",
    write_scope=("docs/",),
    rights=("read_file",),
    checks=(),
    network="disabled",
    delivery="local_files",
    commit_allowed=False,
    contract_path="t.contract.json",
    contract_digest=DIGEST,
    policy_digest=DIGEST,
)
ANSWERED = answers.DecisionResult(decision=DECISION, settled=False, next="Wait again.")
RESULTS: dict[str, Model] = {
    "get_contract": answers.ContractResult(active=True, session="editor", task=TASK, next="Read."),
    "list_files": answers.ListResult(files=("a.md",), writable=(), truncated=False),
    "read_file": answers.ReadResult(
        path="a.md",
        text="one\ntwo\n",
        digest=DIGEST,
        origin="buffer",
        version=3,
        unsaved=True,
        line_count=2,
        line_ends="lf",
        writable=True,
    ),
    "propose_patch": answers.ProposeResult(
        proposal_id="p1",
        state="pending",
        files=(answers.FileView(path="a.md", op="create", base="absent", result=DIGEST),),
        hunks=(HUNK,),
        decisions=("d1",),
        next="Call wait_for_review.",
    ),
    "proposal_status": PROPOSAL,
    "wait_for_review": PROPOSAL,
    "list_checks": answers.ChecksResult(
        checks=(
            answers.CheckView(
                check_id="unit", title="Unit", kind="command", status="not_run", required=True, may_run=True
            ),
        )
    ),
    "withdraw_proposal": PROPOSAL,
    "run_check": answers.RunResult(
        check_id="unit",
        run=answers.RunView(run_id="r1", check_id="unit", state="passed", fresh=True),
        next="Go on.",
    ),
    "ask_human": ANSWERED,
    "wait_for_decision": ANSWERED,
    "propose_contract": ANSWERED,
    "request_amendment": ANSWERED,
    "task_status": answers.StatusResult(page="Nothing has run.\nOne proposal waits.", proposals=(PROPOSAL,)),
    "finish_task": answers.FinishResult(report="# Report\nnot run: unit", open=("unit has not run",)),
}


class MemoryLink:
    """Answers from RESULTS, or raises, or hangs until it is let go."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Json]]] = []
        self.fault: Exception | None = None
        self.hold = False
        self.entered, self.let_go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def call(self, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        self.calls.append((verb, dict(params)))
        self.entered.set()
        try:
            if self.hold:
                await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.fault is not None:
            raise self.fault
        return RESULTS[verb].wire()


class Links:
    """What the door asks for a link, and by which name."""

    def __init__(self) -> None:
        self.link = MemoryLink()
        self.made: list[tuple[str, str]] = []

    def __call__(self, name: str, version: str) -> MemoryLink:
        self.made.append((name, version))
        return self.link


@pytest.fixture
async def links() -> Links:
    return Links()


@asynccontextmanager
async def opened(links: Any, era: Era) -> AsyncIterator[McpClient]:
    info = Implementation(name="tester", version="9")
    """Not a fixture: the SDK's client must be closed by the task that opened it."""
    async with McpClient(door.build(links, "1.2.3"), mode=era, client_info=info) as running:
        yield running


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


# --- the list --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_every_verb_is_a_tool_and_no_session_is_needed(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(VERBS)
        for tool in tools:
            verb = VERBS[tool.name]
            assert (tool.title, tool.description) == (verb.title, verb.description)
            assert tool.annotations is not None
            hints = tool.annotations.model_dump(exclude={"title"})
            assert hints == {
                "read_only_hint": verb.read_only,
                "destructive_hint": False,
                "idempotent_hint": verb.read_only,
                "open_world_hint": False,
            }
        assert links.made == []


@pytest.mark.parametrize("verb", list(VERBS))
def test_schemas_are_strict_and_have_no_title_on_top(verb: str) -> None:
    for model in (VERBS[verb].params, VERBS[verb].result):
        schema = door.schema_of(model)
        Draft202012Validator.check_schema(schema)
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert "title" not in schema
        assert set(schema["properties"]) == {field.alias for field in model.model_fields.values()}


@pytest.mark.parametrize("verb", list(VERBS))
def test_a_result_on_the_wire_fits_the_schema_that_was_promised(verb: str) -> None:
    promised = Draft202012Validator(door.schema_of(VERBS[verb].result))
    assert list(promised.iter_errors(RESULTS[verb].wire())) == []
    assert list(promised.iter_errors({"nothing": 1})) != []


@pytest.mark.parametrize("era", ERAS)
async def test_the_server_says_who_it_is_and_how_to_work(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("remit", "1.2.3")
        assert client.instructions == door.INSTRUCTIONS
        assert len(door.INSTRUCTIONS) < 2000
        named = set(VERBS) - {"list_files", "proposal_status", "list_checks", "propose_contract"}
        assert [verb for verb in named if verb not in door.INSTRUCTIONS] == []


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_every_result_is_structured_and_is_text(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        for verb, result in RESULTS.items():
            answer = await client.call_tool(verb, {"any": ["thing", None]})  # the client holds it against the schema
            assert not answer.is_error
            assert answer.structured_content == result.wire()
            assert texts(answer) == [door.text_of(verb, result.wire())]
        assert links.link.calls == [(verb, {"any": ["thing", None]}) for verb in RESULTS]
        assert links.made == [("tester", "9")]


def test_a_files_text_comes_whole_under_one_line_of_facts() -> None:
    head, _, text = door.text_of("read_file", RESULTS["read_file"].wire()).partition("\n")
    assert text == "one\ntwo\n"
    assert head == (
        f"[a.md; digest {DIGEST}; origin buffer v3, unsaved; 2 lines (lf); writable] The text begins on the next line."
    )


def test_a_proposal_says_what_to_do_next() -> None:
    assert door.text_of("propose_patch", RESULTS["propose_patch"].wire()) == (
        "proposalId p1: pending, 1 hunk.\np1:1 in a.md was placed: offset(3).\n"
        "Decisions to be answered first: d1.\nCall wait_for_review."
    )


def test_pages_and_reports_are_given_as_they_are() -> None:
    assert door.text_of("task_status", RESULTS["task_status"].wire()) == "Nothing has run.\nOne proposal waits."
    assert door.text_of("finish_task", RESULTS["finish_task"].wire()) == (
        "# Report\nnot run: unit\n\nStill open:\n- unit has not run"
    )
    assert json.loads(door.text_of("list_files", RESULTS["list_files"].wire())) == RESULTS["list_files"].wire()


@pytest.mark.parametrize("era", ERAS)
async def test_a_refusal_is_a_result_the_model_can_read(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        links.link.fault = AgentFault("stale", "a.md has moved.", remedy="Read it again.", current=DIGEST)
        answer = await client.call_tool("propose_patch", {"patch": "x"})
        assert answer.is_error
        assert answer.structured_content is None
        words, facts = texts(answer)
        assert words == "stale: a.md has moved. Read it again."
        assert json.loads(facts) == {
            "code": "stale",
            "party": "agent",
            "message": "a.md has moved.",
            "remedy": "Read it again.",
            "data": {"current": DIGEST},
        }


@pytest.mark.parametrize("era", ERAS)
async def test_a_bug_is_logged_once_and_keeps_its_details(
    era: Era, links: Links, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(links, era) as client:
        links.link.fault = ZeroDivisionError("secret detail")
        answer = await client.call_tool("get_contract")
        assert answer.is_error
        assert texts(answer)[0].startswith("internal: ")
        assert "secret" not in "".join(texts(answer))
        assert len([record for record in caplog.records if record.name == door.__name__]) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_is_a_protocol_error(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        with pytest.raises(MCPError, match="Unknown tool: approve"):
            await client.call_tool("approve", {})
        assert links.made == []


# --- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_long_wait_shows_signs_of_life(era: Era, links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(links, era) as client:
        monkeypatch.setattr(door, "PROGRESS_SECONDS", 0.01)
        links.link.hold = True
        seen: list[tuple[float, str | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            assert total is None
            seen.append((progress, message))
            if len(seen) == 3:
                links.link.let_go.set()

        answer = await client.call_tool("wait_for_review", {"proposalId": "p1"}, progress_callback=on_progress)
        assert answer.structured_content == PROPOSAL.wire()
        assert [progress for progress, _ in seen] == sorted({progress for progress, _ in seen})
        assert all(message and "Waiting for Remit" in message for _, message in seen)


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_ends_its_wait(era: Era, links: Links) -> None:
    async with opened(links, era) as client:
        links.link.hold = True
        wait = asyncio.create_task(client.call_tool("wait_for_decision", {"decisionId": "d1"}))
        await links.link.entered.wait()
        wait.cancel()
        await asyncio.wait_for(links.link.cancelled.wait(), 10)
        links.link.hold = False
        assert (await client.call_tool("task_status")).is_error is False


# --- the way to a session --------------------------------------------------------------------------------------------


class MemoryDesk:
    """The least a session can be."""

    def __init__(self) -> None:
        self.hellos: list[Hello] = []
        self.calls: list[dict[str, Json]] = []

    def connect(self, hello: Hello, _peer: int | None) -> str:
        self.hellos.append(hello)
        return "c"

    def disconnect(self, connection: str) -> None: ...

    def call(self, _connection: str, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        self.calls.append(dict(params))
        return RESULTS[verb].wire()

    def subscribe(self, _listener: object) -> Any:
        return lambda: None

    def describe(self) -> dict[str, Json]:
        return {}

    def hand_over(self) -> None: ...


async def test_the_door_finds_its_session_again_after_it_was_closed_and_opened() -> None:
    desk = MemoryDesk()
    with tempfile.TemporaryDirectory(prefix="remit-") as folder:
        path = Path(folder) / "s"

        async def find() -> tuple[Path, str]:
            return path, TOKEN

        session = await serve(desk, path, TOKEN)
        async with opened(lambda name, version: Link(find, name, version, (0.001,)), "legacy") as client:
            assert not (await client.call_tool("run_check", {"checkId": "unit"})).is_error
            await session.close()
            lost = await client.call_tool("run_check", {"checkId": "unit"})
            assert lost.is_error
            assert texts(lost)[0].startswith("session_lost: ")
            session = await serve(desk, path, TOKEN)
            assert not (await client.call_tool("run_check", {"checkId": "unit"})).is_error
            wrong = await client.call_tool("run_check", {"check": "unit"})
            assert texts(wrong)[0].startswith("invalid_params: checkId: ")
        await session.close()
    assert [hello.name for hello in desk.hellos] == ["tester", "tester"]
    assert len({str(call["key"]) for call in desk.calls}) == 2


PROGRAM = """
import asyncio, sys
from remit.edges import mcp
class Link:
    async def call(self, verb, params):
        print("stray words on stdout")
        return {"files": [verb], "writable": [], "truncated": False}
def link_for(name, version):
    print("link for", name, file=sys.stderr, flush=True)
    return Link()
asyncio.run(mcp.run(link_for, "7"))
"""


@pytest.mark.parametrize("era", ERAS)
async def test_over_stdio_nothing_but_the_protocol_is_on_stdout(era: Era) -> None:
    program = StdioServerParameters(
        command=sys.executable, args=["-c", PROGRAM], env={"PYTHONPATH": str(SERVER)}, encoding_error_handler="strict"
    )
    with tempfile.TemporaryFile("w+") as words:
        async with McpClient(stdio_client(program, errlog=words), mode=era) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(VERBS)
            answer = await client.call_tool("list_files")
            assert answer.structured_content == {"files": ["list_files"], "writable": [], "truncated": False}
        words.seek(0)
        assert "link for mcp" in words.read()


def test_the_door_is_cheap_to_import() -> None:
    program = "import sys, remit.edges.mcp; print({'mcp', 'mcp_types', 'starlette'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(SERVER)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "set()"
