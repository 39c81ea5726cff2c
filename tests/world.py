"""Parts of the end-to-end tests: a workspace, an editor on a real server process, agents on its socket.

Each test has a home of its own; every process started here is ended here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import shutil
import signal
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from remit.core.faults import Fault, Json
from remit.core.verbs import Hello
from remit.edges.demo.editor import Editor
from remit.edges.socket import Client
from remit.home import home, live, place

CASES = Path(__file__).parent / "cases"

CONTRACT: dict[str, Any] = {
    "taskId": "task-one",
    "goal": "Make it better.",
    "writeScope": ["*"],
    "allowedTools": ["read_file", "apply_patch", "run_check"],
    "network": "disabled",
    "verification": {"allowed": ["editorial_review"], "required": [], "forbidden": ["build"]},
    "delivery": "local_files",
    "commitAllowed": False,
}


def sha(data: bytes) -> str:
    """The digest of a content."""
    return hashlib.sha256(data).hexdigest()


class Caller(Protocol):
    """An agent's way in: the socket itself, or a shim."""

    async def call(self, verb: str, params: Mapping[str, Json]) -> dict[str, Any]: ...

    async def close(self) -> None: ...


@dataclass
class World:
    """One workspace with its own Remit home."""

    base: Path
    root: Path
    editors: list[Editor] = field(default_factory=list)
    agents: list[Caller] = field(default_factory=list)

    def put(self, path: str, content: str | bytes) -> Path:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.encode() if isinstance(content, str) else content)
        return full

    def bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def case(self, name: str) -> World:
        """The tree of a case, as it is before."""
        shutil.copytree(CASES / name / "before", self.root, dirs_exist_ok=True)
        return self

    async def editor(self, **options: Any) -> Editor:
        """An editor on a server of its own for this workspace."""
        editor = Editor(self.root, environment={"REMIT_HOME": str(self.base)}, **options)
        self.editors.append(editor)
        return await editor.start()

    async def active(self, policy: str | None = None, editor: Editor | None = None, **contract: Any) -> Editor:
        """An editor in which a contract (and a policy) was activated, as a human does it."""
        self.put("task.contract.json", json.dumps({**CONTRACT, **contract}, indent=2))
        if policy is not None:
            self.put(".remit/policy.toml", policy)
        editor = editor or await self.editor()
        if policy is not None:
            await editor.activate(".remit/policy.toml")
        await editor.activate("task.contract.json")
        return editor

    async def agent(self, name: str = "codex") -> Agent:
        """An agent on the session's socket."""
        async with asyncio.timeout(15):
            while (session := live(place(self.root, home({"REMIT_HOME": str(self.base)})))) is None:
                await self.editors[-1].view()
        hello = Hello(token=session.token.read_text(), agent=secrets.token_hex(8), name=name, version="1")
        client = await Client.connect(session.socket, hello)
        self.agents.append(client)
        return Agent(client)

    async def close(self) -> None:
        for agent in self.agents:
            await agent.close()
        for editor in self.editors:
            if editor.process.returncode is None:
                await editor.kill()
        session = live(place(self.root, home({"REMIT_HOME": str(self.base)})))
        if session is not None and session.role == "headless":
            os.kill(session.pid, signal.SIGTERM)


@dataclass
class Agent:
    """What an agent can do, short to write."""

    client: Caller

    async def __call__(self, verb: str, **params: Any) -> dict[str, Any]:
        return await self.client.call(verb, params)

    async def refused(self, verb: str, **params: Any) -> Fault:
        """The fault a call is refused with; it must be refused."""
        try:
            answer = await self(verb, **params)
        except Fault as fault:
            return fault
        raise AssertionError(f"{verb} was not refused: {answer}")

    async def read(self, path: str) -> str:
        """The digest of what is there now."""
        digest: str = (await self("read_file", path=path))["digest"]
        return digest

    async def propose(self, path: str, old: str, new: str, base: str | None = None) -> str:
        """Propose to replace one line, bound to `base` or to what is there now; the proposal's id."""
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        bound = base or await self.read(path)
        name: str = (await self("propose_patch", patch=patch, bases={path: bound}))["proposalId"]
        return name

    async def state(self, proposal: str) -> str:
        found: str = (await self("proposal_status", proposalId=proposal))["state"]
        return found


async def offer_of(editor: Editor, proposal: str, act: str = "accept") -> str:
    """The offer under which an act on a proposal is shown now."""
    found = next(one for one in (await editor.view())["proposals"] if one["proposal"] == proposal)
    return str(found[act])


async def refused(coming: Awaitable[Any]) -> Fault:
    """The fault that an awaited command is refused with."""
    try:
        answer = await coming
    except Fault as fault:
        return fault
    raise AssertionError(f"It was not refused: {answer}")


async def settled(editor: Editor, action: str) -> dict[str, Any]:
    """Wait until an action is settled or known to be unknown; what the journal's view says of it."""

    async def look() -> dict[str, Any] | None:
        found = (await editor.view())["actions"].get(action)
        return found if found and found["state"] not in ("planned", "authorized", "dispatched") else None

    async with asyncio.timeout(20):
        while (found := await look()) is None:
            editor._moved.clear()
            try:
                await asyncio.wait_for(editor._moved.wait(), 0.5)
            except TimeoutError:
                continue
    return found
