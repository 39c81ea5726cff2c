"""The only place where real parts are picked and joined: journal, disk, clock, doors. Decides nothing.

A workspace has one owner, by a lock. An editor takes it over from a headless session, which hands it back by itself.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remit import __version__
from remit.core.effects import RunCheck
from remit.core.faults import Fault, WorldFault
from remit.core.verbs import Hello
from remit.edges import checks
from remit.edges.disk import Disk
from remit.edges.socket import Client, Link, Server, serve
from remit.edges.store import Held, Lock, Store
from remit.home import Place, announce, find_root, home, keep, live, place, private
from remit.mediator import Abilities, Mediator
from remit.session import Session

TAKE_OVER = 8.0
"""Seconds an editor waits for a headless session to let go."""

LET_GO = 1.0
"""Seconds an editor waits for the files of a session that has let go of its lock already."""

IDLE = 120.0
"""Seconds after which a headless session that nobody talks to ends; what waits, waits in the journal."""

log = logging.getLogger(__name__)


class SystemClock:
    """The machine's clock."""

    def now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        return time.monotonic()


class RandomTokens:
    """Names nobody can guess."""

    def token(self) -> str:
        return secrets.token_urlsafe(12)


@dataclass(slots=True)
class Owned:
    """One workspace, owned by this process: its parts, and how they are let go."""

    where: Place
    lock: Lock
    store: Store
    disk: Disk
    session: Session
    server: Server | None = None
    runs: set[asyncio.Task[Any]] = field(default_factory=set)

    async def listen(self) -> None:
        """Let agents in."""
        token = secrets.token_urlsafe(32)
        private(self.where.socket.parent)
        self.server = await serve(self.session, self.where.socket, token)
        keep(self.where.token, token.encode())
        announce(self.where, self.session.mediator.state.mode, __version__)
        self.store.grow()

    def run(self, effect: RunCheck, session: Session) -> None:
        """Start a check; its outcome comes back by itself."""
        task = asyncio.ensure_future(checks.run(effect, self.where.root))
        self.runs.add(task)
        task.add_done_callback(self.runs.discard)
        task.add_done_callback(lambda done: None if done.cancelled() else session.happened(done.result()))

    async def close(self) -> None:
        for task in list(self.runs):
            task.cancel()
        if self.runs:
            await asyncio.gather(*self.runs, return_exceptions=True)
        if self.server is not None:
            await self.server.close()
        self.store.close()
        self.disk.close()
        self.lock.release()


def own(root: Path, role: str, *, take_over: bool = False) -> Owned:
    """Open a workspace. WorldFault("workspace_owned") when another session has it."""
    where = place(root, home())
    private(where.state)
    lock = _lock(where, role, take_over=take_over)
    try:
        disk = _claimed(where, take_over=take_over)
        store = Store(where.state)
    except BaseException:
        lock.release()
        raise
    mediator = Mediator(disk, store.blob, SystemClock(), RandomTokens())
    session = Session(mediator, store, disk, str(where.root), __version__, os.getpid())
    return Owned(where, lock, store, disk, session)


def _claimed(where: Place, *, take_over: bool) -> Disk:
    """The workspace's files, held by the root's inode: a session under another home has another lock file, but the
    same root."""
    disk = Disk(where.root)
    until = time.monotonic() + (LET_GO if take_over else 0)
    while not disk.claim():
        if time.monotonic() > until:
            disk.close()
            raise WorldFault(
                "workspace_owned",
                "Another Remit session, with another REMIT_HOME or XDG_STATE_HOME, owns this workspace.",
                remedy="Give the agent's configuration the same environment as the editor, or close that session.",
            )
        threading.Event().wait(0.05)
    return disk


def _lock(where: Place, role: str, *, take_over: bool) -> Lock:
    until = time.monotonic() + TAKE_OVER
    asked = 0
    while isinstance(found := Lock.take(where.lock, role), Held):
        # Without a role the holder is only just taking or letting go of it: who it is will show.
        patient = take_over and found.role in ("headless", "") and time.monotonic() < until
        if not patient:
            raise WorldFault(
                "workspace_owned",
                f"Another Remit session (process {found.pid}, {found.role}) owns this workspace.",
                remedy="Use that one, or close it and restart the language server.",
                pid=found.pid,
                role=found.role,
            )
        if found.role and asked != found.pid and _ask_to_yield(where):
            asked = found.pid
        threading.Event().wait(0.05)
    return found


def _ask_to_yield(where: Place) -> bool:
    """Ask the headless session to hand over; from a thread of its own, because a loop may be running in this one."""
    answered: list[bool] = []

    async def ask() -> None:
        session = live(where)
        if session is None:
            return
        hello = Hello(token=session.token.read_text(), role="editor", agent=secrets.token_hex(8), name="remit lsp")
        client = await Client.connect(session.socket, hello)
        with suppress(Fault):
            await client.call("session/yield", {})
        answered.append(True)
        await client.close()

    def thread() -> None:
        with suppress(Fault, OSError):
            asyncio.run(ask())

    asker = threading.Thread(target=thread)
    asker.start()
    asker.join(TAKE_OVER)
    return bool(answered)


# --- the doors --------------------------------------------------------------------------------------------------------


def lsp() -> int:
    """`remit lsp`: the editor's door on stdio; the exit code."""
    from remit.edges.lsp import Opener
    from remit.edges.lsp import serve as serve_lsp

    held: list[Owned] = []

    def open_session(root: Path) -> Session:
        held.append(own(root, "editor", take_over=True))
        return held[0].session

    async def end() -> None:
        if held:
            await held[0].close()

    opener = Opener(
        open_session, lambda _session: held[0].listen(), lambda effect, session: held[0].run(effect, session), end
    )
    return serve_lsp(opener, __version__)


async def headless(root: Path) -> None:
    """`remit session`: no editor is open; proposals wait, nothing is applied, activated or run."""
    owned = own(root, "headless")
    session = owned.session
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    session.yielded = over.set
    session.wake = lambda seconds: _later(loop, seconds, session)
    session.attach("headless", "no editor", "", "utf-16", Abilities(), ("journal durable before each answer",))
    await owned.listen()
    try:
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), IDLE)
            if not session.connections:
                break
    finally:
        await owned.close()


def _later(loop: asyncio.AbstractEventLoop, seconds: float, session: Session) -> None:
    loop.call_later(seconds, session.woken)


async def mcp(start: Path) -> None:
    """`remit mcp`: an MCP client's door on stdio."""
    from remit.edges import mcp as door

    root = find_root(start, home())

    async def find() -> tuple[Path, str]:
        return await _reach(root)

    await door.run(lambda name, version: Link(find, name, version), __version__)


async def _reach(root: Path) -> tuple[Path, str]:
    """The socket and token of the session that serves `root`; a headless one is started if there is none."""
    where = place(root, home())
    for attempt in range(100):
        session = live(where)
        if session is not None:
            with suppress(OSError):
                return session.socket, session.token.read_text()
        if attempt == 0:
            command = [sys.executable, "-m", "remit", "session", "--root", str(root)]
            await asyncio.to_thread(_spawn, command)
        await asyncio.sleep(0.05)
    raise WorldFault("session_lost", "No session answers for this workspace.", remedy="Open it in the editor.")


def _spawn(command: list[str]) -> None:
    """Start a process that outlives this one, with nothing of its input and output."""
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(command[0], command, os.environ, file_actions=nowhere, setsid=True)
