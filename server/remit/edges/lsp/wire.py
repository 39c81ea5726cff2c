"""Frames of the base protocol and what is answered to broken ones, around pygls' protocol class.

Reads stdin without a thread, bounds a frame, gives every malformed message one typed error, and turns a Fault into
one. pygls' own documents are switched off: Remit keeps the buffers itself. Knows no method's meaning.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from concurrent.futures import Future
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from remit.core.faults import Fault, to_dict

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of one message. Editors send whole documents at opening; more than this is refused, and skipped."""

HEADER_LIMIT = 4096
REQUEST_FAILED = -32803
"""LSP's code for a request that was understood and could not be done; the fault is in `data`."""

_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*$", re.IGNORECASE)
log = logging.getLogger(__name__)


class Refused(JsonRpcException):
    """A fault as the wire knows it."""

    CODE = REQUEST_FAILED
    MESSAGE = "Refused"


def refusal(fault: Fault) -> types.ResponseError:
    """The error a Fault becomes: its words as the message, all of it as data."""
    return types.ResponseError(code=REQUEST_FAILED, message=str(fault), data=to_dict(fault))


class Protocol(LanguageServerProtocol):
    """pygls' protocol, without its documents, and with typed answers to what goes wrong."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        fault = None if future.cancelled() else future.exception()
        if isinstance(fault, Fault):
            self._request_futures.pop(msg_id, None)
            self._result_types.pop(msg_id, None)
            self._send_response(msg_id, error=refusal(fault))
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _check_handler_result(self, future: Future[Any]) -> None:
        fault = None if future.cancelled() else future.exception()
        if isinstance(fault, Fault):
            log.warning("%s", fault)
            return
        super()._check_handler_result(future)

    def take(self, body: bytes) -> None:
        """One message's bytes: handled, or answered with the error it deserves."""
        try:
            raw = json.loads(body)
        except (ValueError, RecursionError) as error:
            self.complain(None, -32700, "parse_error", f"Not JSON: {error}.")
            return
        if not isinstance(raw, dict) or raw.get("jsonrpc") != "2.0":
            self.complain(_id(raw), -32600, "not_a_message", "Not a JSON-RPC 2.0 message.")
            return
        if not ("method" in raw or "result" in raw or "error" in raw):
            self.complain(_id(raw), -32600, "not_a_message", "A message needs a method, a result or an error.")
            return
        try:
            message = self.structure_message(raw)
        except JsonRpcException:
            self._structure_failed(raw)
            return
        self.handle_message(message)

    def _structure_failed(self, raw: dict[str, Any]) -> None:
        if "method" in raw and "id" in raw:
            self.complain(raw["id"], -32602, "bad_params", f"The parameters of {raw['method']} are not as LSP says.")
        elif "method" not in raw and (future := self._request_futures.pop(raw.get("id", ""), None)) is not None:
            future.set_exception(JsonRpcException("The client's answer is not as LSP says."))
        else:
            log.warning("A notification %r with wrong parameters was ignored.", raw.get("method"))

    def complain(self, msg_id: Any, code: int, name: str, message: str) -> None:
        """Answer a message that cannot be understood. Nothing was done about it."""
        log.warning("%s", message)
        data = {"code": name, "party": "world", "message": message, "remedy": "Send it anew.", "data": {}}
        self._send_data(
            {"jsonrpc": "2.0", "id": msg_id, "error": {"code": code, "message": message[:500], "data": data}}
        )


def _id(raw: Any) -> Any:
    found = raw.get("id") if isinstance(raw, dict) else None
    return found if isinstance(found, str | int) else None


class _Out:
    """stdout, for pygls."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


async def loop(server: LanguageServer) -> None:
    """Read messages from stdin until it ends; each is handled before the next is read."""
    protocol = server.protocol
    assert isinstance(protocol, Protocol)
    protocol.set_writer(_Out(sys.stdout.buffer))
    reader = asyncio.StreamReader(limit=HEADER_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while True:
        length = await _length(reader, protocol)
        if length is None:
            return
        if length > FRAME_LIMIT:
            await _skip(reader, length)
            protocol.complain(None, -32600, "frame_too_large", f"A message of {length} bytes is too large.")
        elif length > 0:
            try:
                protocol.take(await reader.readexactly(length))
            except asyncio.IncompleteReadError:
                return


async def _length(reader: asyncio.StreamReader, protocol: Protocol) -> int | None:
    """The next frame's length; None at the end of input. Lines that are no headers are complained of, once a frame."""
    length, strange = -1, False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed or 1)
            strange = True
            continue
        if match := _LENGTH.match(line.rstrip(b"\r\n")):
            length = int(match[1])
        elif line.strip():
            strange = strange or not line.lower().startswith(b"content-type:")
        elif length >= 0 or strange:
            if strange:
                protocol.complain(None, -32700, "bad_header", "A message had a header that is not LSP's.")
            return max(length, 0)


async def _skip(reader: asyncio.StreamReader, length: int) -> None:
    while length > 0:
        part = await reader.read(min(length, 1 << 16))
        if not part:
            return
        length -= len(part)
