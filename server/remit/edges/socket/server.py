"""The session's end of the agent socket: who may come in, and one answer for each request.

It knows the verbs' parameters and which verbs wait; the rest is the desk's. Nobody gets an answer before the token.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from pydantic import ValidationError

from remit.core.faults import AgentFault, Fault, Json, OurFault, WorldFault
from remit.core.model import Model
from remit.core.requests import DecisionParams, WaitProposalParams
from remit.core.verbs import VERBS, Hello
from remit.edges.socket.wire import FRAME_LIMIT, PROTOCOL, Frames, Malformed, encode, identity, parse, refusal

HELLO_LIMIT: Final = 4 * 1024
HELLO_SECONDS: Final = 10.0
VISITS_LIMIT: Final = 128
"""Connections at a time, those that have not said hello yet among them."""
WAITS_LIMIT: Final = 32
"""Waiting calls that one connection may have open at a time."""
WAITING: Final = frozenset(
    name for name, verb in VERBS.items() if issubclass(verb.params, WaitProposalParams | DecisionParams)
)
YIELD: Final = "session/yield"
_PATH_LIMIT: Final = 103 if sys.platform == "darwin" else 107
"""Bytes of a socket's path: sun_path (unix(4), unix(7)) less its final NUL."""

log = logging.getLogger(__name__)
AnyModel = TypeVar("AnyModel", bound=Model)


class Desk(Protocol):
    """What the session offers its visitors; synchronous, on the event loop's thread."""

    def connect(self, hello: Hello, peer: int | None) -> str:
        """The connection's id; `peer` is the process on the other side, if known. May raise a Fault."""

    def disconnect(self, connection: str) -> None: ...

    def call(self, connection: str, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The verb's result, at once; a waiting verb says `settled`, and is asked again after each change."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after each change, until the returned function is called."""

    def describe(self) -> dict[str, Json]:
        """The `session` object of a hello result: mode, pid, version, root."""

    def hand_over(self) -> None:
        """An editor wants the workspace: end soon. The answer is sent after this returns."""


async def serve(desk: Desk, path: Path, token: str) -> Server:
    """Listen at `path`, in a folder that the caller has made 0700 and verified, with the workspace's lock held.

    Raises WorldFault: `socket_path_too_long`, `socket_occupied`, `socket_failed`; OurFault: `no_token`.
    """
    if len(token) < 32:
        raise OurFault("no_token", "A session's token has at least 32 characters.")
    server = Server(desk, token, path)
    await server.listen(_bind(path))
    return server


class Server:
    """A listening agent socket and its visits."""

    def __init__(self, desk: Desk, token: str, path: Path) -> None:
        self._desk = desk
        self._token = token
        self._path = path
        self._identity = (-1, -1)
        self._visits: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    async def listen(self, bound: socket.socket) -> None:
        """Take visits on a bound Unix socket."""
        self._identity = _inode(self._path)
        self._listener = await asyncio.start_unix_server(self._admit, sock=bound)

    async def close(self) -> None:
        """End every visit and remove the socket file, if it is still ours."""
        if self._listener is not None:
            self._listener.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        if self._listener is not None:
            with suppress(TimeoutError):  # a peer that does not read its last answer cannot hold us up
                await asyncio.wait_for(self._listener.wait_closed(), 1.0)
        with suppress(FileNotFoundError):
            if _inode(self._path) == self._identity:
                self._path.unlink()

    def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._visits) >= VISITS_LIMIT:
            writer.close()  # each costs a descriptor, and the disk needs some
            return
        visit = asyncio.get_running_loop().create_task(_Visit(self._desk, self._token, reader, writer).run())
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)


@dataclass(frozen=True, slots=True)
class _Request:
    id: Json
    method: str
    params: dict[str, Json]


class _Visit:
    """One connection from its first byte to its last."""

    def __init__(self, desk: Desk, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._desk = desk
        self._token = token
        self._frames = Frames(reader, HELLO_LIMIT)
        self._writer = writer
        self._waits: set[asyncio.Task[None]] = set()
        self._connection: str | None = None
        self._role = ""

    async def run(self) -> None:
        try:
            peer = _peer(self._writer.get_extra_info("socket"))
            hello = await self._first_frame()
            if hello is None:
                return
            await self._answer(hello.id, self._welcome(hello, peer))
            if self._connection is not None:
                self._frames.limit = FRAME_LIMIT
                await self._converse()
        except Fault as refused:
            log.warning("a connection was refused: %s", refused)
        except OSError:
            log.debug("a connection broke off")
        finally:
            await self._leave()

    async def _leave(self) -> None:
        for wait in self._waits:
            wait.cancel()
        self._writer.close()
        await asyncio.gather(*self._waits, return_exceptions=True)
        if self._connection is not None:
            self._desk.disconnect(self._connection)

    async def _first_frame(self) -> _Request | None:
        """The hello that carries the token; None for anything else, without a word on why."""
        with suppress(TimeoutError, Fault):
            async with asyncio.timeout(HELLO_SECONDS):
                request = _request(await self._frames.next(skip=False) or b"")
            offered = request.params.get("token")
            known = isinstance(offered, str) and hmac.compare_digest(offered.encode(), self._token.encode())
            if known and request.method == "hello":
                return request
        return None

    async def _welcome(self, request: _Request, peer: int | None) -> dict[str, Json]:
        hello = _checked(Hello, request)
        if hello.protocol != PROTOCOL:
            raise AgentFault(
                "protocol_unsupported",
                f"This session speaks protocol {PROTOCOL}, not {hello.protocol}.",
                remedy="Use the same version of Remit on both sides.",
                supported=[PROTOCOL],
            )
        connection = self._desk.connect(hello, peer)
        self._connection, self._role = connection, hello.role
        return {"protocol": PROTOCOL, "session": self._desk.describe(), "connection": connection}

    async def _converse(self) -> None:
        while True:
            try:
                frame = await self._frames.next()
                if frame is None:
                    return
                request = _request(frame)
                if request.method in WAITING and len(self._waits) >= WAITS_LIMIT:
                    raise Malformed(-32600, "too_many_waits", "Too many waits are open.", request=request.id)
            except Malformed as fault:
                await self._send(refusal(fault.request, fault))
                continue
            work = self._answer(request.id, self._do(request))
            if request.method in WAITING:
                wait = asyncio.get_running_loop().create_task(work)
                self._waits.add(wait)
                wait.add_done_callback(self._waits.discard)
            else:
                await work

    async def _do(self, request: _Request) -> dict[str, Json]:
        verb = VERBS.get(request.method)
        if verb is None and request.method != YIELD:
            raise Malformed(-32601, "unknown_method", f"There is no method {request.method[:60]!r}.")
        if (request.method == YIELD) != (self._role == "editor"):
            raise AgentFault("role_refused", f"The role {self._role!r} may not call {request.method}.")
        if verb is None:
            self._desk.hand_over()
            return {}
        params = _checked(verb.params, request)
        if isinstance(params, WaitProposalParams | DecisionParams):
            return await self._settled(request, params.seconds)
        return self._desk.call(self._connection or "", request.method, request.params)

    async def _settled(self, request: _Request, seconds: float) -> dict[str, Json]:
        """Ask again after each change, until settled, or something else stands in its place than at first, or `seconds`
        have passed; then the last answer."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        changed = asyncio.Event()
        unsubscribe = self._desk.subscribe(changed.set)
        at_first: Json = None
        try:
            while True:
                answer = self._desk.call(self._connection or "", request.method, request.params)
                changed.clear()  # after the call: a change that asking itself made must not wake us
                at_first = answer.get("replacedBy") if at_first is None else at_first
                if answer.get("settled") or answer.get("replacedBy") != at_first or loop.time() >= deadline:
                    return answer
                try:
                    async with asyncio.timeout_at(deadline):
                        await changed.wait()
                except TimeoutError:
                    return answer
        finally:
            unsubscribe()

    async def _answer(self, request: Json, work: Coroutine[Any, Any, dict[str, Json]]) -> None:
        """Whatever happens in `work`, one answer goes out."""
        try:
            frame = encode({"jsonrpc": "2.0", "id": request, "result": await work})
        except Fault as fault:
            frame = refusal(request, fault)
        except Exception:
            log.exception("a request failed inside Remit")
            internal = OurFault("internal", "Remit failed on this request.", remedy="Read task_status, then go on.")
            frame = refusal(request, internal)
        await self._send(frame)

    async def _send(self, frame: bytes) -> None:
        with suppress(ConnectionError):
            self._writer.write(frame)
            await self._writer.drain()


def _request(frame: bytes) -> _Request:
    """Raises Malformed, with the id as far as there is one."""
    message = parse(frame)
    request, method, params = identity(message), message.get("method"), message.get("params", {})
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or request is None:
        shape = 'A request has jsonrpc "2.0", a method and an id that is a string or a whole number.'
        raise Malformed(-32600, "not_a_request", shape, request=request)
    if not isinstance(params, dict):
        raise Malformed(-32602, "invalid_params", "`params` is an object with names.", request=request)
    return _Request(request, method, params)


def _checked(model: type[AnyModel], request: _Request) -> AnyModel:
    """The parameters as `model`, by their wire names only. Raises Malformed `invalid_params`, naming each place."""
    try:
        return model.model_validate(request.params, by_alias=True, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        problems: list[Json] = [
            {"at": ".".join(str(step) for step in one["loc"]), "problem": one["msg"]} for one in found[:10]
        ]
        first = f"{'.'.join(str(step) for step in found[0]['loc'])}: {found[0]['msg']}"
        remedy = f"Correct the parameters of {request.method}."
        raise Malformed(-32602, "invalid_params", first[:100], remedy=remedy, problems=problems) from None


# --- the socket file and the peer ------------------------------------------------------------------------------------


def _bind(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > _PATH_LIMIT:
        message = f"The socket's path is longer than {_PATH_LIMIT} bytes."
        raise WorldFault("socket_path_too_long", message, remedy="Set XDG_RUNTIME_DIR to a short path.", path=str(path))
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _clear(path)
        before = os.umask(0o177)  # the file must not be open to others even for a moment
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
        bound.listen(64)
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        raise WorldFault("socket_failed", f"The agent socket could not be made: {error.strerror}.") from error
    except BaseException:
        bound.close()
        raise
    return bound


def _clear(path: Path) -> None:
    """Remove a socket file that nobody answers at; anything else stays and is refused."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid() or _answers(path):
        message = "Something else stands or answers at the agent socket's path."
        raise WorldFault(
            "socket_occupied", message, remedy="Close the other session, or remove the file.", path=str(path)
        )
    path.unlink()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # a full backlog or no permission: somebody is there
        return True


def _inode(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _peer(connected: socket.socket) -> int | None:
    """The process on the other side, None where the system does not tell. Raises AgentFault `peer_refused`.

    Linux: SO_PEERCRED, unix(7). macOS: LOCAL_PEERCRED and LOCAL_PEERPID, xnu bsd/sys/un.h and ucred.h. Elsewhere the
    folder's mode and the token stand alone.
    """
    if sys.platform == "linux":
        pid, uid, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        # A sandboxed process may look like this user; its user namespace tells it apart.
        if uid != os.getuid() or not _same_namespace(pid):
            raise AgentFault("peer_refused", "The peer is another user, or lives in another user namespace.")
        return int(pid)
    if sys.platform == "darwin":
        _, uid = struct.unpack_from("=2I", connected.getsockopt(0, 0x001, 76))
        if uid != os.getuid():
            raise AgentFault("peer_refused", "The peer is another user.")
        return int(struct.unpack("=i", connected.getsockopt(0, 0x002, 4))[0])
    return None


def _same_namespace(pid: int) -> bool:
    try:
        ours = os.stat("/proc/self/ns/user")
    except OSError:
        return True  # no user namespaces on this kernel, or no /proc to ask
    try:
        theirs = os.stat(f"/proc/{pid}/ns/user")
    except OSError:
        return False
    return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)
