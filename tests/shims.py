"""Agents on real `remit mcp` processes: one through the official SDK's client, one that writes its lines by hand.

The second sends what no well-behaved client can: half characters and bytes that are not UTF-8.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, TextContent

from remit.core.faults import Json, from_dict
from world import Agent, World

PATIENCE = 30.0
"""Seconds after which an answer counts as not coming."""


def command(root: Path) -> list[str]:
    return [sys.executable, "-m", "remit", "mcp", "--root", str(root)]


def environment(base: Path) -> dict[str, str]:
    return {**os.environ, "REMIT_HOME": str(base)}


def answer_of(is_error: bool, structured: Mapping[str, Any] | None, texts: list[str]) -> dict[str, Any]:
    """A tool's result as the agent's socket gives it: the value, or the Fault raised."""
    if is_error:
        raise from_dict(json.loads(texts[-1]))
    return dict(structured or {})


@dataclass
class Link:
    """What an `Agent` calls: one tool of one shim. The SDK's client lives in a task of its own, which closes it too."""

    base: Path
    root: Path
    name: str
    calls: asyncio.Queue[tuple[str, dict[str, Any], asyncio.Future[CallToolResult]] | None] = field(
        default_factory=asyncio.Queue
    )
    task: asyncio.Task[None] | None = None

    async def call(self, verb: str, params: Mapping[str, Json]) -> dict[str, Any]:
        coming: asyncio.Future[CallToolResult] = asyncio.get_running_loop().create_future()
        await self.calls.put((verb, dict(params), coming))
        result = await asyncio.wait_for(coming, PATIENCE)
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        return answer_of(bool(result.is_error), result.structured_content, texts)

    async def live(self, ready: asyncio.Future[None]) -> None:
        first, *rest = command(self.root)
        program = StdioServerParameters(command=first, args=rest, env=environment(self.base), cwd=self.root)
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 -- the null device blocks nobody
            info = Implementation(name=self.name, version="1")
            async with Client(stdio_client(program, errlog=nowhere), client_info=info) as client:
                ready.set_result(None)
                while (asked := await self.calls.get()) is not None:
                    verb, params, coming = asked
                    try:
                        coming.set_result(await client.call_tool(verb, params))
                    except Exception as error:  # noqa: BLE001 -- whoever asked shall have it
                        coming.set_exception(error)

    async def close(self) -> None:
        await self.calls.put(None)
        if self.task is not None:
            await asyncio.wait_for(self.task, PATIENCE)


async def shim(world: World, name: str = "codex") -> Agent:
    """An agent on a `remit mcp` of its own; it goes with the world."""
    link = Link(world.base, world.root, name)
    world.agents.append(link)
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    link.task = asyncio.get_running_loop().create_task(link.live(ready))
    done, _ = await asyncio.wait({link.task, ready}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    if ready not in done:
        link.task.cancel()
        raise TimeoutError(f"{name} did not get through: {link.task}")
    return Agent(link)


@dataclass
class Raw:
    """A shim, line by line. Half characters go out as `\\ud83d`, which is how JavaScript's JSON writes them."""

    process: asyncio.subprocess.Process
    last: int = 0

    @classmethod
    async def start(cls, world: World) -> Raw:
        base, root = world.base, world.root
        process = await asyncio.create_subprocess_exec(
            *command(root),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment(base),
            cwd=root,
            limit=2**24,
        )
        raw = cls(process)
        world.agents.append(raw)
        info = {"name": "raw", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        await raw.ask("initialize", params)
        raw.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        return raw

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result, or the error, of one request."""
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        return await self.exchange(json.dumps(message).encode())

    async def exchange(self, line: bytes) -> dict[str, Any]:
        """Send a line whose id is `last`; the answer to it."""
        self.send(line)
        assert self.process.stdout is not None
        while True:
            got: dict[str, Any] = json.loads(await asyncio.wait_for(self.process.stdout.readline(), PATIENCE))
            if got.get("id") == self.last:
                result: dict[str, Any] = got.get("result", got)
                return result

    async def call(self, verb: str, params: Mapping[str, Json]) -> dict[str, Any]:
        return self.read(await self.ask("tools/call", {"name": verb, "arguments": params}))

    def read(self, result: Mapping[str, Any]) -> dict[str, Any]:
        texts = [block["text"] for block in result.get("content", ())]
        return answer_of(result.get("isError", False), result.get("structuredContent"), texts)

    async def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        await asyncio.wait_for(self.process.wait(), PATIENCE)
