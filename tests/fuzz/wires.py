"""What is fuzzed at the doors: frames and messages of the agent socket and of LSP, as functions of bytes.

The streams are fed at once or in pieces and never wait, so no loop runs. The targets of the core are in `targets`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lsprotocol import types
from pydantic import ValidationError
from pydantic_core import from_json
from pygls.lsp.server import LanguageServer

from fuzz.targets import JSON_WORDS, Target, put, text_of, told
from remit import mediator
from remit.core import paths
from remit.core.faults import AgentFault, Fault
from remit.core.model import Model
from remit.core.verbs import VERBS, Hello
from remit.edges.lsp import convert
from remit.edges.lsp import wire as lsp
from remit.edges.socket import server, wire

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


# --- requests ---------------------------------------------------------------------------------------------------------


def check_request(data: bytes) -> None:
    """A frame is a request of some verb with parameters as its model has them, or is refused under its id."""
    try:
        request = server._request(data)
        model: type[Model] = Hello if request.method == "hello" else VERBS[request.method].params
    except KeyError:
        return
    except Fault as fault:
        told(fault, wire.Malformed)
        assert isinstance(fault, wire.Malformed)
        json.loads(wire.refusal(fault.request, fault))
        return
    inside = None
    if request.method in VERBS:
        try:
            inside = mediator._parsed(request.method, request.params)[1]
        except Fault as fault:
            told(fault, AgentFault)
            assert fault.code == "invalid_params"
    try:
        params = server._checked(model, request)
    except Fault as fault:
        told(fault, wire.Malformed)
        assert inside is None
        return
    assert inside in (None, params) and (inside is not None or model is Hello)
    again = params.model_dump(mode="json", by_alias=True)
    assert model.model_validate(again, by_alias=True, by_name=False) == params


def bug_request() -> None:
    """Where a fault stands is put together from names, and nobody thought of places in a list."""
    checked: Any = server._checked

    def careless(model: Any, request: Any) -> Any:
        try:
            return model.model_validate(request.params, by_alias=True, by_name=False)
        except ValidationError as error:
            steps: Any = error.errors()[0]["loc"]
            assert ".".join(steps) is not None
            return checked(model, request)

    put(server, "_checked", careless)


# --- URIs -------------------------------------------------------------------------------------------------------------

ROOT = Path("/nowhere/ü x")


def check_uri(data: bytes) -> None:
    """Any text names a file below the root or nothing; the URI that Remit writes for a file names that file."""
    text = text_of(data)
    for uri in (text, ROOT.as_uri() + "/" + text):
        path = convert.Uris(ROOT).from_uri(uri)
        if path is not None:
            assert paths.parse(path) == path
            assert convert.Uris(ROOT).from_uri(convert.Uris(ROOT).to_uri(path)) == path


def bug_uri() -> None:
    """A per cent sign stays as it is."""
    put(convert, "quote", lambda text, safe: quote(text, safe=safe + "%"))


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
    served = LanguageServer("fuzz", "1", protocol_cls=lsp.Protocol)
    for method in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE):
        served.feature(method)(lambda params: None)
    served.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: None)
    assert isinstance(served.protocol, lsp.Protocol)
    return served.protocol


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

_D = "0" * 64


def _asked(verb: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": verb, "params": params}).encode()


_REQUESTS = (
    _asked("propose_patch", {"patch": "x", "bases": {"a": _D, "b": "absent"}, "note": "n", "key": "k"}),
    _asked("propose_patch", {"files": [{"path": "a", "content": None}, {"path": "b", "content": "x"}]}),
    _asked("propose_patch", {"edits": [{"path": "a", "search": "x", "replace": "y", "count": None}]}),
    _asked("read_file", {"path": "a", "firstLine": 2, "lastLine": 3}),
    _asked("ask_human", {"question": "q", "options": ["a", "b"], "why": "w", "about": "a"}),
    _asked("request_amendment", {"writeScope": ["a/"], "allowedTools": ["run_check", "external:x"], "why": "w"}),
    _asked("wait_for_decision", {"decisionId": "D1", "seconds": 2.5}),
    _asked("hello", {"token": "t", "role": "agent", "agent": "agent-0001", "name": "n", "version": "1"}),
)
_VERB_WORDS = tuple(f'"{name}"' for name in VERBS)
_FIELD_WORDS = tuple(
    f'"{field.alias}":' for verb in VERBS.values() for field in verb.params.model_fields.values() if field.alias
)

_ALL = (
    Target("request", check_request, bug_request, _REQUESTS, (*JSON_WORDS, *_VERB_WORDS, *_FIELD_WORDS)),
    Target(
        "uri",
        check_uri,
        bug_uri,
        (b"file:///nowhere/%C3%BC%20x/a.py", b"a/b.py", b"file://localhost/x", b"untitled:Untitled-1"),
        ("file://", "%2F", "%2e%2e", "..", "//", "%25", "%", "[", "]", "?", "#", "@", ":", "%00", "\\", "%ff", "./"),
    ),
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

TARGETS = {target.name: target for target in _ALL}
