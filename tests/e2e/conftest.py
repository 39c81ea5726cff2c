"""The fixture of the end-to-end tests: a world with a workspace, and everything in it ended afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from world import World


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    root = tmp_path / "ws"
    root.mkdir()
    world = World(tmp_path / "home", root)
    yield world
    await world.close()
