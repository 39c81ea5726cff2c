"""An agent without a model: the official SDK's MCP client, with `remit mcp` as a process of its own at the other end.

It keeps no rule of Remit's: it calls tools and hands back what they said, refusals included.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation, TextContent

NAME = "demo-agent"


@dataclass(frozen=True, slots=True)
class Agent:
    """A connected agent."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answered, or `{"refused": code, "message", "remedy", "data"}`."""
        result = await self.client.call_tool(tool, arguments)
        if not result.is_error:
            return dict(result.structured_content or {})
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        fault = json.loads(texts[-1])
        return {"refused": fault["code"], **{name: fault[name] for name in ("message", "remedy", "data")}}


@asynccontextmanager
async def connected(root: Path, environment: Mapping[str, str]) -> AsyncIterator[Agent]:
    """Start `remit mcp` in the workspace and connect to it; closed by the task that opened it."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "remit", "mcp", "--root", str(root)],
        env=dict(environment),
        cwd=root,
    )
    # Opening the null device blocks nobody.
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230
        info = Implementation(name=NAME, version="1.0")
        async with Client(stdio_client(program, errlog=nowhere), client_info=info) as client:
            yield Agent(client)
