"""The agent socket over a real Unix socket and a fake desk: who gets in, one answer a frame, waits, and links."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket as plain
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.core.faults import AgentFault, Fault, Json, OurFault, WorldFault
from remit.core.verbs import VERBS, Hello
from remit.edges.socket import Client, ConnectionLost, Link, Server, serve, wire
from remit.edges.socket import client as client_end
from remit.edges.socket import server as server_end

TOKEN = "0123456789abcdef" * 4
AGENT = "agent-000001"
DECISION: dict[str, Json] = {"decisionId": "d1", "kind": "question", "state": "pending", "question": "Which one?"}


class MemoryDesk:
    """Answers each verb with its own name; a decision is settled when the test says so."""

    def __init__(self) -> None:
        self.hellos: list[Hello] = []
        self.peers: list[int | None] = []
        self.left: list[str] = []
        self.calls: list[tuple[str, str, dict[str, Json]]] = []
        self.listeners: list[Callable[[], None]] = []
        self.watched = asyncio.Event()
        self.gone = asyncio.Event()
        self.settled = False
        self.handed_over = 0
        self.fault: Exception | None = None
        self.result: dict[str, Json] = {}

    def connect(self, hello: Hello, peer: int | None) -> str:
        if self.fault is not None:
            raise self.fault
        self.hellos.append(hello)
        self.peers.append(peer)
        return f"c{len(self.hellos)}"

    def disconnect(self, connection: str) -> None:
        self.left.append(connection)
        self.gone.set()

    def call(self, connection: str, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        self.calls.append((connection, verb, dict(params)))
        if self.fault is not None:
            raise self.fault
        if verb.startswith("wait_"):
            self.change()  # the worst desk: even asking is a change
            self.watched.set()
            return {"decision": DECISION, "settled": self.settled, "next": "wait"}
        return {"verb": verb, **self.result}

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def change(self) -> None:
        for listener in list(self.listeners):
            listener()

    def describe(self) -> dict[str, Json]:
        return {"mode": "headless", "pid": os.getpid(), "version": "1.2.3", "root": "/project"}

    def hand_over(self) -> None:
        self.handed_over += 1


class Raw:
    """A peer that writes bytes and reads lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, *frames: bytes) -> None:
        self.writer.write(b"".join(frames))
        await self.writer.drain()

    async def answer(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self.reader.readline(), 10))  # type: ignore[no-any-return]

    async def ask(self, message: object) -> dict[str, Any]:
        await self.send(frame(message))
        return await self.answer()

    async def closed(self) -> bytes:
        """What came before the other side closed."""
        try:
            return await asyncio.wait_for(self.reader.read(), 10)
        except ConnectionError:  # closed with our bytes unread
            return b""


def frame(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def request(method: str, params: object = None, ident: object = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": {} if params is None else params}


def hello(**changes: object) -> dict[str, object]:
    return request("hello", {"token": TOKEN, "agent": AGENT, "name": "tester", "version": "9"} | changes, ident=0)


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not tmp_path: a socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="remit-") as name:
        yield Path(name)


@pytest.fixture
async def desk() -> MemoryDesk:
    return MemoryDesk()


@pytest.fixture
async def server(desk: MemoryDesk, folder: Path) -> AsyncIterator[Server]:
    running = await serve(desk, folder / "s", TOKEN)
    yield running
    await running.close()


@asynccontextmanager
async def visit(folder: Path) -> AsyncIterator[Raw]:
    raw = Raw(*await asyncio.open_unix_connection(folder / "s"))
    try:
        yield raw
    finally:
        raw.writer.close()


@asynccontextmanager
async def agent(folder: Path, **changes: object) -> AsyncIterator[Raw]:
    async with visit(folder) as raw:
        assert "result" in await raw.ask(hello(**changes))
        yield raw


@pytest.fixture
async def known(server: Server, folder: Path) -> AsyncIterator[Raw]:
    assert server is not None
    async with agent(folder) as raw:
        yield raw


# --- coming in -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("server")
async def test_hello_is_answered_with_the_session(desk: MemoryDesk, folder: Path) -> None:
    async with visit(folder) as raw:
        assert await raw.ask(hello()) == {
            "jsonrpc": "2.0",
            "id": 0,
            "result": {"protocol": 1, "session": desk.describe(), "connection": "c1"},
        }
    assert (desk.hellos[0].name, desk.hellos[0].role) == ("tester", "agent")
    assert desk.peers == [os.getpid()]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "first",
    [
        frame(hello(token="f" * 64)),
        frame(hello(token="")),
        frame(hello(token=None)),
        frame(hello(token=TOKEN + "0")),
        frame(hello(token=[TOKEN])),
        b'{"jsonrpc":"2.0","id":0,"method":"hello","params":{"token":"\\ud800","agent":"agent-000001"}}\n',
        frame(request("get_contract")),
        frame(request("get_contract", {"token": TOKEN})),
        frame({"method": "hello", "params": {"token": TOKEN, "agent": AGENT}, "id": 0}),
        frame({"jsonrpc": "2.0", "method": "hello", "params": {"token": TOKEN, "agent": AGENT}}),
        frame([hello()]),
        b"\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        frame(hello(name="x" * 4096)),
        b"{" * 5000,
    ],
)
async def test_a_wrong_first_frame_is_closed_without_a_word(desk: MemoryDesk, folder: Path, first: bytes) -> None:
    async with visit(folder) as raw:
        await raw.send(first, frame(hello()), frame(request("get_contract")))
        assert await raw.closed() == b""
    assert desk.hellos == []
    async with agent(folder):  # the control: a good hello still gets in
        assert len(desk.hellos) == 1


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("changes", "code"),
    [({"agent": "no"}, "invalid_params"), ({"colour": 1}, "invalid_params"), ({"protocol": 2}, "protocol_unsupported")],
)
async def test_a_hello_that_cannot_be_used_is_told_why(folder: Path, changes: dict[str, object], code: str) -> None:
    async with visit(folder) as raw:
        answer = await raw.ask(hello(**changes))
        assert answer["error"]["data"]["code"] == code
        assert TOKEN not in json.dumps(answer)
        assert await raw.closed() == b""


@pytest.mark.usefixtures("server")
async def test_the_desk_may_refuse_a_hello(desk: MemoryDesk, folder: Path) -> None:
    desk.fault = WorldFault("read_only", "This session is read-only.")
    async with visit(folder) as raw:
        assert (await raw.ask(hello()))["error"]["code"] == -32003
        assert await raw.closed() == b""
    assert desk.left == []


@pytest.mark.usefixtures("server")
async def test_a_silent_visitor_is_sent_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_end, "HELLO_SECONDS", 0.05)
    async with visit(folder) as raw:
        await raw.send(b'{"jsonrpc":')
        assert await raw.closed() == b""


@pytest.mark.usefixtures("server")
async def test_none_of_300_random_handshakes_gets_in(desk: MemoryDesk, folder: Path) -> None:
    chance = random.Random(20261)
    good = frame(hello())
    for turn in range(300):
        if turn % 2:
            noise = chance.randbytes(chance.randrange(1, 300)) + b"\n"
        else:  # near misses: bytes of the token in a good hello are changed
            at = good.index(TOKEN.encode()) + chance.randrange(len(TOKEN))
            noise = good[:at] + bytes([good[at] ^ chance.randrange(1, 256)]) + good[at + 1 :]
        async with visit(folder) as raw:
            await raw.send(noise)
            raw.writer.write_eof()
            assert await raw.closed() == b""
    assert desk.hellos == []
    async with agent(folder):
        assert len(desk.hellos) == 1


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("sandboxed", [True, False])
async def test_a_peer_from_another_user_namespace_is_refused(
    desk: MemoryDesk, folder: Path, monkeypatch: pytest.MonkeyPatch, sandboxed: bool
) -> None:
    monkeypatch.setattr(server_end, "_same_namespace", lambda _: not sandboxed)
    async with visit(folder) as raw:
        await raw.send(frame(hello()))
        raw.writer.write_eof()
        assert (await raw.closed() == b"") is sandboxed
    assert len(desk.hellos) == (0 if sandboxed else 1)


def test_namespaces_are_compared() -> None:
    assert server_end._same_namespace(os.getpid())
    assert not server_end._same_namespace(2**22 + 1)  # over the kernel's highest pid: nobody


async def test_another_user_is_refused(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server is not None
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    async with visit(folder) as raw:
        assert await raw.closed() == b""


# --- frames ----------------------------------------------------------------------------------------------------------


async def test_a_verb_reaches_the_desk_as_it_was_sent(desk: MemoryDesk, known: Raw) -> None:
    params = {"files": [{"path": "a", "content": None}], "bases": {"a": "absent"}}
    assert await known.ask(request("propose_patch", params, "x")) == {
        "jsonrpc": "2.0",
        "id": "x",
        "result": {"verb": "propose_patch"},
    }
    assert desk.calls == [("c1", "propose_patch", params)]


DEEP = b'{"jsonrpc":"2.0","id":5,"method":"get_contract","params":' + b'{"a":' * 64 + b"1" + b"}" * 64 + b"}\n"


@pytest.mark.parametrize(
    ("bad", "number", "code", "ident"),
    [
        (b"{nonsense\n", -32700, "not_json", None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n', -32602, "invalid_unicode", 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"get_contract\xff}\n', -32700, "not_json", None),
        (b'{"jsonrpc":"2.0","id":1,"method":"get_contract","params":{"a":NaN}}\n', -32700, "not_json", None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n', -32602, "invalid_unicode", 1),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"get_contract"}\n', -32602, "invalid_unicode", None),
        (b'{"jsonrpc":"2.0","id":1,"method":"read_file","params":{"path":"\\udc00"}}\n', -32602, "invalid_unicode", 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"read_file","params":{"\\udc00":1}}\n', -32602, "invalid_unicode", 1),
        (b"[" * 100_000 + b"\n", -32700, "not_json", None),
        (b"\n", -32700, "not_json", None),
        (DEEP, -32600, "too_deep", 5),
        (frame([request("get_contract")]), -32600, "not_a_request", None),
        (frame({"jsonrpc": "1.0", "id": 4, "method": "get_contract"}), -32600, "not_a_request", 4),
        (frame({"jsonrpc": "2.0", "method": "get_contract"}), -32600, "not_a_request", None),
        (frame(request("get_contract", ident=True)), -32600, "not_a_request", None),
        (frame(request("get_contract", ident=1.5)), -32600, "not_a_request", None),
        (frame(request("approve", ident=7)), -32601, "unknown_method", 7),
        (frame(hello()), -32601, "unknown_method", 0),
        (frame(request("get_contract", [1], 8)), -32602, "invalid_params", 8),
        (frame(request("get_contract", {"more": 1}, 9)), -32602, "invalid_params", 9),
        (frame(request("read_file", {}, 10)), -32602, "invalid_params", 10),
        (frame(request("proposal_status", {"proposal_id": "p"}, 11)), -32602, "invalid_params", 11),
    ],
)
async def test_a_bad_frame_is_answered_and_so_is_the_next(
    desk: MemoryDesk, known: Raw, bad: bytes, number: int, code: str, ident: object
) -> None:
    await known.send(bad, frame(request("get_contract", ident="next")))
    refused = await known.answer()
    assert (refused["error"]["code"], refused["error"]["data"]["code"], refused["id"]) == (number, code, ident)
    assert refused["error"]["data"]["party"] == "agent"
    assert len(refused["error"]["data"]["message"]) <= 100
    assert refused["error"]["data"]["remedy"]
    assert (await known.answer())["id"] == "next"
    assert [verb for _, verb, _ in desk.calls] == ["get_contract"]


async def test_nesting_up_to_the_limit_is_read() -> None:
    deepest: Json = {}
    for _ in range(wire.DEPTH_LIMIT - 1):
        deepest = [deepest]
    assert wire.parse(json.dumps({"a": deepest[0] if isinstance(deepest, list) else {}}).encode())
    with pytest.raises(wire.Malformed) as refused:
        wire.parse(json.dumps({"a": deepest}).encode())
    assert refused.value.code == "too_deep"


async def test_an_over_long_frame_is_skipped_to_its_end(known: Raw, desk: MemoryDesk) -> None:
    long = b'{"jsonrpc":"2.0","id":1,"method":"get_contract","x":"' + b"a" * wire.FRAME_LIMIT + b'"}\n'
    sending = asyncio.create_task(known.send(long, frame(request("get_contract", ident=2))))
    refused = await known.answer()
    assert refused["id"] is None
    assert refused["error"]["code"] == -32600
    assert refused["error"]["data"]["code"] == "frame_too_large"
    assert refused["error"]["data"]["data"] == {"size": len(long) - 1, "limit": wire.FRAME_LIMIT}
    assert (await known.answer())["id"] == 2
    await sending
    assert len(desk.calls) == 1


@pytest.mark.parametrize("chunk", [1, 3, 7])
async def test_frames_are_cut_alike_however_the_bytes_arrive(chunk: int) -> None:
    reader = asyncio.StreamReader()
    for at in range(0, len(stream := b"abc\n\n12345678\n12345\nrest"), chunk):
        reader.feed_data(stream[at : at + chunk])
    reader.feed_eof()
    frames, seen = wire.Frames(reader, 5), list[object]()
    while True:
        try:
            one = await frames.next()
        except wire.Malformed as fault:
            seen.append(fault.data["size"])
            continue
        if one is None:
            break
        seen.append(one)
    assert seen == [b"abc", b"", 8, b"12345"]


async def test_duplicate_ids_are_each_answered(known: Raw) -> None:
    await known.send(frame(request("get_contract", ident=1)), frame(request("list_checks", ident=1)))
    assert [(await known.answer())["result"]["verb"] for _ in range(2)] == ["get_contract", "list_checks"]


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        (AgentFault("stale", "It moved.", remedy="Read it again.", current="d", lines=[1, {"a": None}]), -32001),
        (WorldFault("disk", "The disk is full."), -32003),
        (OurFault("bug", "Oops."), -32004),
    ],
)
async def test_a_fault_crosses_whole(
    desk: MemoryDesk, server: Server, folder: Path, fault: Fault, number: int, known: Raw
) -> None:
    assert server is not None
    client = await connected(folder)
    desk.fault = fault
    with pytest.raises(type(fault)) as caught:
        await client.call("read_file", {"path": "a"})
    assert (caught.value.code, str(caught.value), caught.value.data) == (fault.code, str(fault), fault.data)
    answer = await known.ask(request("read_file", {"path": "a"}))
    assert (answer["error"]["code"], answer["error"]["message"]) == (number, str(fault))
    await client.close()


async def test_a_bug_is_logged_once_and_answered_once(
    desk: MemoryDesk, known: Raw, caplog: pytest.LogCaptureFixture
) -> None:
    desk.fault = ZeroDivisionError("secret detail")
    answer = await known.ask(request("get_contract"))
    desk.fault = None
    assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32004, "internal")
    assert "secret" not in json.dumps(answer)
    assert len(caplog.records) == 1
    assert (await known.ask(request("get_contract")))["result"] == {"verb": "get_contract"}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"text": "x" * wire.FRAME_LIMIT}, "frame_too_large"),
        ({"text": "\udc80"}, "not_unicode"),
        ({"n": float("nan")}, "internal"),
    ],
)
async def test_a_result_that_cannot_be_sent_is_a_fault(
    desk: MemoryDesk, known: Raw, result: dict[str, Json], code: str
) -> None:
    desk.result = result
    assert (await known.ask(request("read_file", {"path": "a"})))["error"]["data"]["code"] == code


async def test_a_fault_that_json_cannot_say_is_still_answered(desk: MemoryDesk, known: Raw) -> None:
    desk.fault = AgentFault("odd", "Odd \udc80.", what=Path("x"))  # type: ignore[arg-type]
    assert (await known.ask(request("get_contract")))["error"]["data"]["data"] == {"what": "x"}
    desk.fault = AgentFault("wide", "Wide.", diff="x" * wire.FRAME_LIMIT)
    assert (await known.ask(request("get_contract")))["error"]["data"]["data"] == {}


# --- waiting ---------------------------------------------------------------------------------------------------------


async def test_a_wait_ends_with_the_change_that_settles_it(desk: MemoryDesk, known: Raw) -> None:
    await known.send(frame(request("wait_for_decision", {"decisionId": "d1", "seconds": 25}, "w")))
    await desk.watched.wait()
    assert (await known.ask(request("get_contract", ident="meanwhile")))["id"] == "meanwhile"
    desk.watched.clear()
    desk.change()  # something else happened: asked again, not answered
    await desk.watched.wait()
    desk.settled = True
    desk.change()
    answer = await known.answer()
    assert (answer["id"], answer["result"]["settled"]) == ("w", True)
    assert sum(verb == "wait_for_decision" for _, verb, _ in desk.calls) == 3
    assert desk.listeners == []


@pytest.mark.parametrize("seconds", [0, 0.05])
async def test_a_wait_that_times_out_gives_the_last_answer(desk: MemoryDesk, known: Raw, seconds: float) -> None:
    answer = await known.ask(request("wait_for_review", {"proposalId": "p1", "seconds": seconds}))
    assert answer["result"]["settled"] is False
    assert desk.listeners == []


async def test_a_wait_longer_than_the_limit_is_refused(desk: MemoryDesk, known: Raw) -> None:
    answer = await known.ask(request("wait_for_review", {"proposalId": "p", "seconds": 26}))
    assert (answer["error"]["code"], answer["error"]["data"]["data"]["problems"][0]["at"]) == (-32602, "seconds")
    assert desk.calls == []


async def test_a_wait_that_becomes_a_fault_is_answered(desk: MemoryDesk, known: Raw) -> None:
    await known.send(frame(request("wait_for_decision", {"decisionId": "d1"})))
    await desk.watched.wait()
    desk.fault = AgentFault("gone", "Withdrawn.")
    desk.change()
    assert (await known.answer())["error"]["data"]["code"] == "gone"
    assert desk.listeners == []


@pytest.mark.usefixtures("server")
async def test_who_leaves_while_waiting_is_cleaned_up(desk: MemoryDesk, folder: Path) -> None:
    async with agent(folder) as raw:
        await raw.send(frame(request("wait_for_decision", {"decisionId": "d1"})))
        await desk.watched.wait()
        assert len(desk.listeners) == 1
    await asyncio.wait_for(desk.gone.wait(), 10)
    assert (desk.left, desk.listeners) == (["c1"], [])


async def test_too_many_waits_are_refused(desk: MemoryDesk, known: Raw) -> None:
    waits = [frame(request("wait_for_decision", {"decisionId": "d1"}, n)) for n in range(server_end.WAITS_LIMIT + 1)]
    await known.send(*waits)
    refused = await known.answer()
    assert (refused["id"], refused["error"]["data"]["code"]) == (server_end.WAITS_LIMIT, "too_many_waits")
    desk.settled = True
    desk.change()
    released = [await known.answer() for _ in range(server_end.WAITS_LIMIT)]
    assert {one["id"] for one in released} == set(range(server_end.WAITS_LIMIT))


# --- roles -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("server")
async def test_an_editor_may_only_ask_for_the_workspace(desk: MemoryDesk, folder: Path) -> None:
    async with agent(folder, role="editor") as raw:
        for verb in VERBS:
            answer = await raw.ask(request(verb))
            assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32001, "role_refused")
        assert (desk.calls, desk.handed_over) == ([], 0)
        assert (await raw.ask(request("session/yield")))["result"] == {}
    assert desk.handed_over == 1


async def test_an_agent_may_not_ask_for_the_workspace(desk: MemoryDesk, known: Raw) -> None:
    answer = await known.ask(request("session/yield"))
    assert (answer["error"]["data"]["code"], desk.handed_over) == ("role_refused", 0)


# --- the socket file -------------------------------------------------------------------------------------------------


async def test_the_socket_is_private_and_goes_with_its_server(desk: MemoryDesk, folder: Path) -> None:
    before = os.umask(0o022)
    try:
        running = await serve(desk, folder / "s", TOKEN)
        assert os.umask(0o022) == 0o022  # put back
    finally:
        os.umask(before)
    found = (folder / "s").stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    async with agent(folder) as raw:
        await running.close()
        assert await raw.closed() == b""
    assert not (folder / "s").exists()
    assert desk.left == ["c1"]


async def test_a_stale_socket_is_replaced_and_a_live_one_is_not(desk: MemoryDesk, folder: Path) -> None:
    with plain.socket(plain.AF_UNIX, plain.SOCK_STREAM) as dead:
        dead.bind(str(folder / "s"))
    running = await serve(desk, folder / "s", TOKEN)
    with pytest.raises(WorldFault) as refused:
        await serve(desk, folder / "s", TOKEN)
    assert refused.value.code == "socket_occupied"
    async with agent(folder):
        assert len(desk.hellos) == 1
    await running.close()


async def test_what_is_no_socket_stays(desk: MemoryDesk, folder: Path) -> None:
    (folder / "s").write_text("mine")
    with pytest.raises(WorldFault) as refused:
        await serve(desk, folder / "s", TOKEN)
    assert refused.value.code == "socket_occupied"
    assert (folder / "s").read_text() == "mine"


async def test_another_ones_socket_is_not_removed(desk: MemoryDesk, folder: Path) -> None:
    first = await serve(desk, folder / "s", TOKEN)
    (folder / "s").rename(folder / "old")
    second = await serve(desk, folder / "s", TOKEN)
    await first.close()
    async with agent(folder):
        assert len(desk.hellos) == 1
    await second.close()
    assert not (folder / "s").exists()


@pytest.mark.parametrize(
    ("name", "token", "code"),
    [("x" * 120, TOKEN, "socket_path_too_long"), ("no/s", TOKEN, "socket_failed"), ("s", "", "no_token")],
)
async def test_what_cannot_be_served(desk: MemoryDesk, folder: Path, name: str, token: str, code: str) -> None:
    with pytest.raises(Fault) as refused:
        await serve(desk, folder / name, token)
    assert refused.value.code == code


# --- the shim's end --------------------------------------------------------------------------------------------------


async def connected(folder: Path, token: str = TOKEN) -> Client:
    return await Client.connect(folder / "s", Hello(token=token, agent=AGENT))


async def test_a_client_knows_its_session_and_overlaps_calls(desk: MemoryDesk, server: Server, folder: Path) -> None:
    client = await connected(folder)
    assert client.welcome["session"] == desk.describe()
    wait = asyncio.create_task(client.call("wait_for_decision", {"decisionId": "d1"}))
    await desk.watched.wait()
    assert (await client.call("list_checks", {}))["verb"] == "list_checks"
    wait.cancel()
    assert isinstance((await asyncio.gather(wait, return_exceptions=True))[0], asyncio.CancelledError)
    assert (await client.call("get_contract", {}))["verb"] == "get_contract"
    await server.close()
    with pytest.raises(ConnectionLost):
        await client.call("get_contract", {})
    assert not client.alive
    await client.close()


async def test_a_call_that_waits_when_the_session_goes_is_told(desk: MemoryDesk, server: Server, folder: Path) -> None:
    client = await connected(folder)
    wait = asyncio.create_task(client.call("wait_for_decision", {"decisionId": "d1"}))
    await desk.watched.wait()
    await server.close()
    with pytest.raises(ConnectionLost) as lost:
        await wait
    assert lost.value.code == "session_lost"
    await client.close()


@pytest.mark.usefixtures("server")
async def test_a_client_with_a_wrong_token_is_told_so(folder: Path) -> None:
    with pytest.raises(ConnectionLost) as refused:
        await connected(folder, token="f" * 64)
    assert refused.value.code == "session_refused"


async def test_no_session_is_a_lost_one(folder: Path) -> None:
    with pytest.raises(ConnectionLost) as lost:
        await connected(folder)
    assert lost.value.code == "session_lost"


@pytest.mark.usefixtures("server")
async def test_a_request_too_large_is_refused_before_it_is_sent(desk: MemoryDesk, folder: Path) -> None:
    client = await connected(folder)
    with pytest.raises(AgentFault) as refused:
        await client.call("propose_patch", {"patch": "x" * wire.FRAME_LIMIT})
    assert (refused.value.code, desk.calls) == ("frame_too_large", [])
    assert (await client.call("get_contract", {}))["verb"] == "get_contract"
    await client.close()


@pytest.mark.usefixtures("server")
async def test_a_silent_session_is_a_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await connected(folder)
    monkeypatch.setattr(client_end, "CALL_SECONDS", 0.05)
    with pytest.raises(WorldFault) as silent:
        await client.call("wait_for_decision", {"decisionId": "d1"})
    assert silent.value.code == "session_silent"
    await client.close()


def test_every_verb_with_an_effect_takes_a_key() -> None:
    assert [name for name, verb in VERBS.items() if not verb.read_only and "key" not in verb.params.model_fields] == []


class Found:
    """Where a link is told to look, and how often it asked."""

    def __init__(self, folder: Path) -> None:
        self.path, self.token, self.asked = folder / "s", TOKEN, 0
        self.then: Callable[[], Any] | None = None

    async def __call__(self) -> tuple[Path, str]:
        self.asked += 1
        if self.then is not None and self.asked == 2:
            await self.then()
        return self.path, self.token


async def test_a_link_connects_once_and_adds_a_key_where_one_is_missing(
    desk: MemoryDesk, server: Server, folder: Path
) -> None:
    assert server is not None
    found = Found(folder)
    link = Link(found, "n" * 200, "1.0")
    assert found.asked == 0
    await asyncio.gather(*(link.call("propose_patch", {"patch": "p"}) for _ in range(3)))
    await link.call("propose_patch", {"patch": "p", "key": "mine"})
    await link.call("get_contract", {})
    keys = [params.get("key") for _, _, params in desk.calls]
    assert (found.asked, len(desk.hellos), desk.hellos[0].name) == (1, 1, "n" * 100)
    assert keys[3:] == ["mine", None]
    assert len(set(keys[:3])) == 3
    await link.close()


async def test_a_link_comes_back_to_a_new_session_with_the_same_name_and_key(desk: MemoryDesk, folder: Path) -> None:
    first = await serve(desk, folder / "s", TOKEN)
    found = Found(folder)
    link = Link(found, "n", "1", backoff=(0.001, 0.001))
    await link.call("get_contract", {})
    await first.close()
    second: list[Server] = []

    async def start() -> None:
        found.token = "e" * 64
        second.append(await serve(desk, folder / "s", found.token))

    found.then = start
    desk.calls.clear()
    await link.call("ask_human", {"question": "?"})
    assert (found.asked, desk.hellos[0].agent) == (2, desk.hellos[1].agent)
    assert [params.keys() for _, _, params in desk.calls] == [{"question", "key"}]
    await link.close()
    await second[0].close()


async def test_a_call_cut_off_is_sent_again_with_the_same_key(desk: MemoryDesk, server: Server, folder: Path) -> None:
    found = Found(folder)
    link = Link(found, "n", "1", backoff=(0.001, 0.001))
    await link.call("get_contract", {})
    again: list[Server] = []

    async def start() -> None:
        again.append(await serve(desk, folder / "s", TOKEN))
        desk.settled = True

    found.then = start
    wait = asyncio.create_task(link.call("wait_for_decision", {"decisionId": "d1"}))
    await desk.watched.wait()
    await server.close()
    assert (await wait)["settled"] is True
    desk.fault = WorldFault("session_lost", "Handing over.")
    with pytest.raises(ConnectionLost):
        await link.call("run_check", {"checkId": "unit"})
    sent = [params for _, verb, params in desk.calls if verb == "run_check"]
    assert (len(sent), len({str(params["key"]) for params in sent})) == (3, 1)
    await link.close()
    await again[0].close()


async def test_a_link_gives_up_after_its_last_try(folder: Path) -> None:
    found = Found(folder)
    with pytest.raises(ConnectionLost):
        await Link(found, "n", "1", backoff=(0, 0)).call("get_contract", {})
    assert found.asked == 3
    assert 8 < sum(client_end.BACKOFF) < 12


async def test_connections_without_end_leave_room_for_the_disk(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server is not None
    monkeypatch.setattr(server_end, "VISITS_LIMIT", 2)
    async with agent(folder) as first, agent(folder):
        async with visit(folder) as third:
            await third.send(frame(hello()))
            assert await third.closed() == b""
        assert "result" in await first.ask(request("get_contract"))
