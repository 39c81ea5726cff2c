"""What both ends of the agent socket agree on: frames, limits, and how a fault crosses.

One frame is one JSON-RPC 2.0 object in UTF-8 on one line. No socket is opened here and no verb is known.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Final

from pydantic_core import from_json

from remit.core import plain
from remit.core.faults import AgentFault, Fault, Json, OurFault, Party, WorldFault, from_dict, no_unicode, to_dict

PROTOCOL: Final = 1
FRAME_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of one frame, its newline left out, in either direction."""
DEPTH_LIMIT: Final = 64
"""Arrays and objects inside one another, the message itself included."""
CODES: Final[Mapping[Party, int]] = {"agent": -32001, "user": -32002, "world": -32003, "us": -32004}
_CHUNK: Final = 64 * 1024


class Frames:
    """Lines off a stream, `limit` bytes at most each."""

    def __init__(self, reader: asyncio.StreamReader, limit: int) -> None:
        self.limit = limit
        self._reader = reader
        self._held = bytearray()

    async def next(self, *, skip: bool = True) -> bytes | None:
        """The next line without its newline; None at the end, where an unfinished line is dropped.

        Raises Malformed `frame_too_large`: once the whole line has been skipped, so that the next call reads on behind
        it, or without `skip` as soon as the line is too long.
        """
        seen = 0
        dropped = 0
        while (end := self._held.find(b"\n", seen)) < 0:
            seen = len(self._held)
            if seen > self.limit:
                if not skip:
                    raise too_large(seen, self.limit)
                dropped, seen = dropped + seen, 0
                self._held.clear()
            chunk = await self._reader.read(_CHUNK)
            if not chunk:
                return None
            self._held += chunk
        frame = bytes(self._held[:end])
        del self._held[: end + 1]
        if dropped or end > self.limit:
            raise too_large(dropped + end, self.limit)
        return frame


class Malformed(AgentFault):
    """A frame that JSON-RPC itself refuses; `rpc` is its code, `request` the id if one could be read."""

    def __init__(self, rpc: int, code: str, message: str, *, remedy: str = "", request: Json = None, **data: Json):
        super().__init__(code, message, remedy=remedy or "Send it anew, as contracts/methods.md says.", **data)
        self.rpc = rpc
        self.request = request


class ConnectionLost(WorldFault):
    """The session's socket closed, or nobody listens on it; the request may or may not have arrived."""

    def __init__(self, code: str = "session_lost", message: str = "The connection to the Remit session was lost."):
        super().__init__(code, message, remedy="Call again: a call with the same key has its effect only once.")


def parse(frame: bytes) -> dict[str, Json]:
    """The JSON object in a frame. Raises Malformed: `not_json`, `invalid_unicode`, `too_deep`, `not_a_request`."""
    try:
        message = from_json(frame, allow_inf_nan=False)
    except ValueError as error:
        if (broken := _no_unicode(frame)) is not None:
            raise broken from None
        raise Malformed(-32700, "not_json", "The line is not JSON in UTF-8.", reason=str(error)[:200]) from None
    if not isinstance(message, dict):
        raise Malformed(-32600, "not_a_request", "A message is one JSON object.", remedy="Batches are not spoken here.")
    if not _shallow(message):
        deep = f"JSON may be nested {DEPTH_LIMIT} deep."
        raise Malformed(-32600, "too_deep", deep, request=identity(message))
    return message


def _no_unicode(frame: bytes) -> Malformed | None:
    """The refusal of a frame that would be JSON, but for half characters or bytes that are not UTF-8 in its strings."""
    try:
        message = json.loads(frame.decode(errors="surrogateescape"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or (place := plain.half(message)) is None:
        return None
    told = no_unicode(place.removeprefix("params."))
    request = identity(message)
    if isinstance(request, str) and plain.half(request) is not None:
        request = None
    return Malformed(-32602, told.code, told.message, remedy=told.remedy, request=request, **told.data)


def identity(message: Mapping[str, Json]) -> str | int | None:
    """A message's id, None if it has none that JSON-RPC knows."""
    found = message.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def encode(message: Mapping[str, Json]) -> bytes:
    """The frame, newline included. Raises AgentFault `frame_too_large` or WorldFault `not_unicode`."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        frame = text.encode()
    except UnicodeEncodeError:
        raise WorldFault("not_unicode", "The message holds characters that are not Unicode text.") from None
    if len(frame) > FRAME_LIMIT:
        raise too_large(len(frame), FRAME_LIMIT)
    return frame + b"\n"


def refusal(request: Json, fault: Fault) -> bytes:
    """The frame of an error answer. A fault's own data may not stop it: what JSON cannot say is said as text."""
    code = fault.rpc if isinstance(fault, Malformed) else CODES[fault.party]
    error = {"code": code, "message": str(fault), "data": to_dict(fault)}
    text = json.dumps({"jsonrpc": "2.0", "id": request, "error": error}, default=str)
    if len(text) > FRAME_LIMIT:
        error["data"] = {**to_dict(fault), "data": {}}
        text = json.dumps({"jsonrpc": "2.0", "id": request, "error": error})
    return text.encode() + b"\n"


def received(error: Mapping[str, Json]) -> Fault:
    """The fault that an error answer carries."""
    data = error.get("data")
    if not isinstance(data, dict):
        return OurFault("internal", str(error.get("message", "The session answered without a result."))[:100])
    return ConnectionLost() if data.get("code") == "session_lost" else from_dict(data)


def too_large(size: int, limit: int) -> Malformed:
    """The refusal of a frame of `size` bytes."""
    remedy = "Ask for less at a time: fewer files, or a range of lines."
    message = f"A line of {size} bytes is over the limit of {limit}."
    return Malformed(-32600, "frame_too_large", message, remedy=remedy, size=size, limit=limit)


def _shallow(message: dict[str, Json]) -> bool:
    layer: list[list[Json] | dict[str, Json]] = [message]
    for _ in range(DEPTH_LIMIT):
        inner = [child for node in layer for child in (node.values() if isinstance(node, dict) else node)]
        layer = [child for child in inner if isinstance(child, dict | list)]
        if not layer:
            return True
    return False
