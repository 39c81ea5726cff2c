"""What is fuzzed at the doors: frames and messages of the agent socket and of LSP, as functions of bytes.

The streams are fed at once or in pieces and never wait, so no loop runs. The targets of the core are in `targets`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from lsprotocol import types
from pydantic_core import from_json
from pygls.lsp.server import LanguageServer

from fuzz.targets import JSON_WORDS, Target, put, told
from remit.core.faults import Fault
from remit.edges.lsp import wire as lsp
from remit.edges.socket import wire

LIMIT = 64
"""Bytes of a frame in these runs, so that short inputs reach it."""


def done(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits although all input is there")


# --- the agent socket -------------------------------------------------------------------------------------------------


class Pieces(asyncio.StreamReader):
    """A stream whose reads give so many bytes."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size = data, size

    async def read(self, n: int = -1) -> bytes:
        part, self.data = self.data[: self.size], self.data[self.size :]
        return part


def check_frames(data: bytes) -> None:
    """The frames are the lines, whatever pieces they come in; a long one is refused once and the next one read."""
    size = data[0] % 16 + 1 if data else 1
    frames, seen = wire.Frames(Pieces(data, size), LIMIT), list[bytes | None]()
    while True:
        try:
            frame = done(frames.next())
        except wire.Malformed as fault:
            told(fault, wire.Malformed)
            seen.append(None)
            continue
        if frame is None:
            break
        seen.append(frame)
    assert seen == [line if len(line) <= LIMIT else None for line in data.split(b"\n")[:-1]]


def check_socket(data: bytes) -> None:
    check_frames(data)
    try:
        message = wire.parse(data)
    except Fault as fault:
        assert isinstance(fault, wire.Malformed)
        json.loads(wire.refusal(fault.request, fault))
        return
    request = wire.identity(message)
    assert request is None or (isinstance(request, str | int) and not isinstance(request, bool))
    if "Infinity" in json.dumps(message):
        return  # 1e400: a number in JSON that no reader holds; every field that takes one has bounds
    try:
        again = wire.encode(message)
    except Fault:
        return
    assert again.endswith(b"\n") and again.count(b"\n") == 1
    assert wire.parse(again[:-1]) == message
    error = message.get("error")
    if isinstance(error, dict):
        wire.received(error)


def bug_socket() -> None:
    """A list of messages is a message."""

    def careless(frame: bytes) -> Any:
        try:
            return parse(frame)
        except wire.Malformed as fault:
            if fault.code == "not_a_request":
                return from_json(frame)
            raise

    parse = wire.parse
    put(wire, "parse", careless)


# --- LSP --------------------------------------------------------------------------------------------------------------


class Kept:
    """A writer that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.said.append(data)

    def close(self) -> None:
        """Nothing is open."""


def _server() -> lsp.Protocol:
    server = LanguageServer("fuzz", "1", protocol_cls=lsp.Protocol)
    for method in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE):
        server.feature(method)(lambda params: None)
    server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: None)
    assert isinstance(server.protocol, lsp.Protocol)
    return server.protocol


_held: list[lsp.Protocol] = []


def protocol() -> lsp.Protocol:
    """One server for all inputs: making one takes longer than a thousand messages."""
    if not _held:
        _held.append(_server())
    return _held[0]


def answers(said: list[bytes]) -> list[dict[str, Any]]:
    """The responses among what was written, each a whole frame."""
    found = []
    for frame in said:
        head, _, body = frame.partition(b"\r\n\r\n")
        assert int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) == len(body)
        message = json.loads(body)
        if "method" not in message:
            found.append(message)
    return found


def check_message(data: bytes) -> None:
    """Any bytes are handled: nothing is raised, and a request that has an id is answered once, under it."""
    here, kept = protocol(), Kept()
    here._request_futures.clear()
    here._shutdown = False
    here.set_writer(kept)
    try:
        here.take(data)
    except SystemExit:
        assert json.loads(data)["method"] == "exit"
        return
    told_back = answers(kept.said)
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict) or raw.get("jsonrpc") != "2.0":
        assert len(told_back) == 1 and "error" in told_back[0]
    elif (
        isinstance(raw.get("method"), str) and type(raw.get("id")) in (int, str) and not {"result", "error"} & set(raw)
    ):
        assert [answer["id"] for answer in told_back] == [raw["id"]]


def check_framing(data: bytes) -> None:
    """A header is found or not, the rest is read on from there; frames that are whole arrive as they were sent."""
    here, kept = protocol(), Kept()
    here.set_writer(kept)
    sent = b"Content-Length: %d\r\n\r\n%s" % (len(data), data)
    for stream, wanted in ((data, None), (sent + sent, data)):
        reader = asyncio.StreamReader(limit=lsp.HEADER_LIMIT, loop=_NoLoop())  # type: ignore[arg-type]
        reader.feed_data(stream)
        reader.feed_eof()
        seen = []
        while (length := done(lsp._length(reader, here))) is not None:
            assert length >= 0
            try:
                seen.append(done(reader.readexactly(length)))
            except asyncio.IncompleteReadError:
                break
        assert wanted is None or seen == [wanted, wanted]
    assert all("error" in answer for answer in answers(kept.said))


class _NoLoop:
    """A loop that is never asked for anything."""

    def get_debug(self) -> bool:
        return False


def check_lsp(data: bytes) -> None:
    check_message(data)
    check_framing(data)


def bug_lsp() -> None:
    """Whatever is no message has an id at least."""

    def careless(raw: Any) -> Any:
        return raw["id"] if isinstance(raw, dict) else None

    put(lsp, "_id", careless)


_HOVER = (
    '{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},'
    '"position":{"line":0,"character":1}}}'
)
_CHANGED = (
    '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a","version":2},'
    '"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"text":"x"}]}}'
)
_CALL = '{"jsonrpc":"2.0","id":"a1","method":"read_file","params":{"path":"a"}}'
_ANSWER = '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"m","data":{"code":"c","party":"agent"}}}'
_WORDS = (
    *JSON_WORDS,
    *('"jsonrpc":"2.0"', '"id":', '"method":', '"params":', '"result":', '"error":', "$/cancelRequest", "exit"),
    *("shutdown", "initialize", "Content-Length: ", "\r\n\r\n", "content-type:", '"id":[]', '"id":{}', '"id":null'),
)

WIRES = (
    Target(
        "socket",
        check_socket,
        bug_socket,
        (_CALL.encode(), _ANSWER.encode(), b'{"id":1}', b'\x02{"a":1}\n{}\n' + b"x" * 70),
        _WORDS,
    ),
    Target(
        "lsp",
        check_lsp,
        bug_lsp,
        tuple(
            text.encode() for text in (_HOVER, _CHANGED, _ANSWER, "Content-Length: 2\r\n\r\n{}" * 2, '{"id":1}', "[1]")
        ),
        _WORDS,
    ),
)
