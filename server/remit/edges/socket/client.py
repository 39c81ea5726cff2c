"""The shim's end of the agent socket: a connection, and a link that makes it again when the session has gone.

Where a session is and how one is started is asked of the caller; nothing here reads the disk or the environment.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from remit.core.faults import Fault, Json, WorldFault
from remit.core.verbs import VERBS, Hello
from remit.edges.socket.wire import FRAME_LIMIT, ConnectionLost, Frames, encode, parse, received

CALL_SECONDS: Final = 40.0
"""How long a client waits for an answer: longer than any wait, shorter than the 60 s of impatient agents."""
BACKOFF: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 3.2)

log = logging.getLogger(__name__)


class Client:
    """One connection to a session; calls may overlap."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.welcome: dict[str, Json] = {}
        """The hello result: protocol, session, connection."""
        self._frames = Frames(reader, FRAME_LIMIT)
        self._writer = writer
        self._ids = itertools.count(1)
        self._pending: dict[Json, asyncio.Future[dict[str, Json]]] = {}
        self._open = True
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def connect(cls, path: Path, hello: Hello) -> Client:
        """Raises ConnectionLost: `session_lost` when nobody listens, `session_refused` when the hello was not heard."""
        try:
            client = cls(*await asyncio.open_unix_connection(path))
        except OSError as error:
            raise ConnectionLost(message="No Remit session listens on its socket.") from error
        try:
            client.welcome = await client.call("hello", hello.wire())
        except ConnectionLost as lost:
            await client.close()
            raise ConnectionLost("session_refused", "The session closed before it answered the hello.") from lost
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def alive(self) -> bool:
        """False once either side has hung up."""
        return self._open

    async def call(self, method: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The result. Raises the Fault the session sent, ConnectionLost, or WorldFault `session_silent`."""
        if not self._open:
            raise ConnectionLost()
        request = next(self._ids)
        frame = encode({"jsonrpc": "2.0", "id": request, "method": method, "params": dict(params)})
        answer: asyncio.Future[dict[str, Json]]
        answer = self._pending[request] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(CALL_SECONDS):
                self._writer.write(frame)
                await self._writer.drain()
                return await answer
        except TimeoutError as error:
            message = f"The Remit session gave no answer within {CALL_SECONDS:.0f} s."
            raise WorldFault("session_silent", message, remedy="Read task_status before calling again.") from error
        except OSError as error:
            raise ConnectionLost() from error
        finally:
            del self._pending[request]

    async def close(self) -> None:
        """Hang up; calls that still wait raise ConnectionLost."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._hang_up()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        # A frame that cannot be read is lost for good: the caller it belonged to is not known, so the line is dropped.
        try:
            while (frame := await self._frames.next()) is not None:
                self._deliver(parse(frame))
        except (OSError, Fault) as error:
            log.warning("the session's line broke: %s", error)
        finally:
            self._hang_up()

    def _deliver(self, message: dict[str, Json]) -> None:
        answer = self._pending.get(message.get("id"))
        if answer is None or answer.done():
            return  # its caller has gone
        result, error = message.get("result"), message.get("error")
        if isinstance(result, dict):
            answer.set_result(result)
        else:
            answer.set_exception(received(error if isinstance(error, dict) else {}))

    def _hang_up(self) -> None:
        self._open = False
        self._writer.transport.abort()  # whoever hangs up waits for nothing that is still unsent
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ConnectionLost())


class Link:
    """A connection that is made at the first call and made again whenever the session has gone or changed."""

    def __init__(
        self,
        find: Callable[[], Awaitable[tuple[Path, str]]],
        name: str,
        version: str,
        backoff: Sequence[float] = BACKOFF,
    ) -> None:
        self._find = find
        self._name, self._version = name[:100], version[:100]
        self._backoff = tuple(backoff)
        self._agent = secrets.token_urlsafe(16)
        self._client: Client | None = None
        self._connecting = asyncio.Lock()

    async def call(self, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The verb's result. Sent again after a lost connection: a verb with an effect has a key, added if absent.

        Raises what `Client.call` raises, ConnectionLost only after about 10 s of trying, and what `find` raises.
        """
        keyed = _keyed(verb, params)
        for pause in self._backoff:
            with suppress(ConnectionLost):
                return await (await self._connected()).call(verb, keyed)
            await asyncio.sleep(pause)
        return await (await self._connected()).call(verb, keyed)

    async def close(self) -> None:
        """Hang up; a later call connects anew."""
        if self._client is not None:
            await self._client.close()

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is None or not self._client.alive:
                path, token = await self._find()
                hello = Hello(token=token, agent=self._agent, name=self._name, version=self._version)
                self._client = await Client.connect(path, hello)
            return self._client


def _keyed(verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
    """`params` with an idempotency key, where the verb takes one and the agent gave none."""
    known = VERBS.get(verb)
    if known is None or "key" not in known.params.model_fields or params.get("key") is not None:
        return dict(params)
    return {**params, "key": secrets.token_hex(16)}
