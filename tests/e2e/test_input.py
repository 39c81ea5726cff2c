"""Bad input at every door gets a typed error that names the fault; the next request is still answered, and nothing on
disk has changed.

The LSP door is spoken to in bytes here, without any client library.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from remit.edges.lsp.wire import FRAME_LIMIT, REQUEST_FAILED
from world import World, refused


class Wire:
    """A client that can say anything."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.last = 0

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def frame(self, body: bytes) -> None:
        self.send(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def message(self, **message: Any) -> None:
        self.frame(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def next(self) -> dict[str, Any]:
        """The next answer; what the server says by itself is passed over."""
        assert self.process.stdout is not None
        async with asyncio.timeout(20):
            while True:
                head = await self.process.stdout.readuntil(b"\r\n\r\n")
                length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
                found: dict[str, Any] = json.loads(await self.process.stdout.readexactly(length))
                if "method" not in found:
                    return found

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        self.last += 1
        self.message(id=self.last, method=method, params=params)
        answer = await self.next()
        assert answer["id"] == self.last
        return answer

    async def alive(self) -> None:
        """A normal request is still answered."""
        answer = await self.ask("remit/view", {})
        assert answer["result"]["mode"] == "editor"


@pytest_asyncio.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "remit",
        "lsp",
        env={**os.environ, "REMIT_HOME": str(tmp_path / "home")},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    wire = Wire(process)
    await wire.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
    wire.message(method="initialized", params={})
    yield wire
    process.kill()
    await process.wait()
    assert (root / "a.txt").read_bytes() == b"a\n"
    assert [path.name for path in root.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("body", "code", "name"),
    [
        (b"{", -32700, "parse_error"),
        (b"\xff\xfe", -32700, "parse_error"),
        (b"[" * 100_000 + b"]" * 100_000, -32700, "parse_error"),
        (b"[]", -32600, "not_a_message"),
        (b'"text"', -32600, "not_a_message"),
        (b'{"jsonrpc":"1.0","id":7,"method":"x"}', -32600, "not_a_message"),
        (b'{"jsonrpc":"2.0","id":7}', -32600, "not_a_message"),
        (b'{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"position":3}}', -32602, "bad_params"),
    ],
    ids=["cut", "not-utf8", "deep", "list", "text", "version", "empty", "params"],
)
async def test_malformed_messages(wire: Wire, body: bytes, code: int, name: str) -> None:
    wire.frame(body)
    answer = await wire.next()
    assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (code, name)
    assert answer["id"] == (7 if b'"id":7' in body else None)
    await wire.alive()


async def test_an_oversized_frame_is_skipped(wire: Wire) -> None:
    size = FRAME_LIMIT + 1
    wire.send(b"Content-Length: %d\r\n\r\n" % size)
    for _ in range(size >> 20):
        wire.send(b"x" * (1 << 20))
        assert wire.process.stdin is not None
        await wire.process.stdin.drain()
    wire.send(b"x" * (size & ((1 << 20) - 1)))
    answer = await wire.next()
    assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32600, "frame_too_large")
    await wire.alive()


async def test_headers_that_are_none(wire: Wire) -> None:
    wire.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = await wire.next()
    assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32700, "bad_header")
    wire.send(b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 2\r\n\r\n{}")
    assert (await wire.next())["error"]["data"]["code"] == "not_a_message"
    wire.send(b"x" * 10_000 + b"\r\n\r\n")
    assert (await wire.next())["error"]["data"]["code"] == "bad_header"
    await wire.alive()


async def test_unknown_methods_commands_and_ids(wire: Wire) -> None:
    assert (await wire.ask("textDocument/fold", {}))["error"]["code"] == -32601
    command = {"command": "remit.nothing", "arguments": []}
    assert (await wire.ask("workspace/executeCommand", command))["error"]["code"] == -32602
    wire.message(id=999, result=None)
    wire.message(method="$/cancelRequest", params={"id": 12345})
    for arguments in ([], [{"offer": "never"}], [{"offer": 1}], ["text"], [{"offer": "x", "more": 1}]):
        answer = await wire.ask("workspace/executeCommand", {"command": "remit.accept", "arguments": arguments})
        assert answer["error"]["code"] == REQUEST_FAILED
        assert answer["error"]["data"]["code"] in ("approval_unknown", "invalid_params")
        assert answer["error"]["data"]["party"] == "user"
    await wire.alive()


@pytest.mark.parametrize(
    "uri",
    ["file:///%FF%FE.txt", "file:///", "untitled:Untitled-1", "file://host/share/a.txt", "not a uri", "file:///a%00b"],
)
async def test_documents_that_are_not_the_workspaces(wire: Wire, uri: str) -> None:
    item = {"uri": uri, "languageId": "x", "version": 1, "text": "t"}
    wire.message(method="textDocument/didOpen", params={"textDocument": item})
    lenses = await wire.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert lenses["result"] == []
    await wire.alive()


async def test_a_path_that_is_not_utf_8_is_refused_by_name(world: World) -> None:
    await world.active()
    agent = await world.agent()
    world.put("a.txt", "a\n")
    for path in ("\udcff.txt", "a\x00b", "../out", "/etc/passwd", "", "a\u202eb"):
        fault = await agent.refused("read_file", path=path)
        assert fault.code in ("bad_path", "outside_scope", "invalid_params", "not_unicode"), (path, fault.code)
    assert (await agent("read_file", path="a.txt"))["text"] == "a\n"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"patch": "no patch at all"}, "malformed_patch"),
        (
            {"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,9 @@\n-a\n+b\n+"},
            ("malformed_patch", "hunk_counts", "missing_base_hash"),
        ),
        ({"patch": "*** Begin Patch\n*** Update File: a.txt\n"}, ("malformed_patch", "bad_patch_envelope")),
        ({}, "invalid_params"),
        ({"patch": "x", "files": []}, "invalid_params"),
        ({"files": []}, "no_change"),
        ({"files": [{"path": "a.txt"}]}, "invalid_params"),
        ({"files": [{"path": "a.txt", "content": "b\n"}], "bases": {"a.txt": "nonsense"}}, "invalid_params"),
        ({"files": [{"path": "a.txt", "content": "b\n"}], "unknown": 1}, "invalid_params"),
        ({"files": [{"path": "a.txt", "content": "b"}, {"path": "A.txt", "content": "c"}]}, "duplicate_path"),
    ],
)
async def test_bad_proposals(world: World, params: dict[str, Any], code: str | tuple[str, ...]) -> None:
    world.put("a.txt", "a\n")
    await world.active()
    agent = await world.agent()
    fault = await agent.refused("propose_patch", **params)
    assert fault.code in (code if isinstance(code, tuple) else (code,)), fault.code
    assert fault.message
    assert world.bytes("a.txt") == b"a\n"
    assert (await agent("task_status"))["proposals"] == []


async def test_unknown_ids_are_named(world: World) -> None:
    editor = await world.active()
    agent = await world.agent()
    for verb, params in (
        ("proposal_status", {"proposalId": "P9"}),
        ("wait_for_review", {"proposalId": "P9"}),
        ("wait_for_decision", {"decisionId": "D9"}),
    ):
        fault = await agent.refused(verb, **params)
        assert fault.code in ("unknown_proposal", "unknown_decision")
        assert next(iter(params.values())) in fault.message
    assert (await agent.refused("run_check", checkId="nothing")).code == "check_not_allowed"
    assert (await refused(editor.run("remit.report", task="other"))).code == "no_such_task"


async def test_a_broken_contract_is_not_activated(world: World) -> None:
    editor = await world.editor()
    world.put("broken.contract.json", '{"taskId": "t", ')
    editor.open("broken.contract.json")
    await editor.until(lambda: editor.codes("broken.contract.json") == ["contract-invalid"])
    assert (await editor.view())["activations"] == []
    agent = await world.agent()
    fault = await agent.refused("propose_patch", files=[{"path": "a", "content": "b"}], bases={"a": "absent"})
    assert fault.code == "no_contract"


async def test_a_new_file_behind_a_link_is_judged_by_where_it_would_be(world: World) -> None:
    world.put("a.txt", "a\n")
    (world.root / ".git/hooks").mkdir(parents=True)
    (world.root / "link").symlink_to(".git")
    await world.active()
    agent = await world.agent()
    new, base = {"path": "link/hooks/pre-commit", "content": "x\n"}, {"link/hooks/pre-commit": "absent"}
    assert (await agent.refused("propose_patch", files=[new], bases=base)).code == "protected_path"
    move = "diff --git a/a.txt b/link/hooks/x\nsimilarity index 100%\nrename from a.txt\nrename to link/hooks/x\n"
    fault = await agent.refused("propose_patch", patch=move, bases={"a.txt": await agent.read("a.txt")})
    assert fault.code == "protected_path"
    assert list((world.root / ".git/hooks").iterdir()) == []
