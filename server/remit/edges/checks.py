"""Running an approved check: a program with fixed arguments, bounded in time and output, gone with all its children.

No sandbox is here yet, and the result says so. Which check may run, and what its result counts for, is core's.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from remit.core.effects import CheckDone, RunCheck

BASIC = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER", "LOGNAME")
"""The environment a check gets: these, and the names its definition lists. Everything else stays behind."""

GRACE = 1.0
"""Seconds in which children may finish their output after the program itself has ended."""

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


async def run(effect: RunCheck, root: Path, environment: Mapping[str, str] = os.environ) -> CheckDone:
    """Run it to its end; the outcome says how that was. Never raises for what the program does."""
    began = time.monotonic()
    names = (*BASIC, *effect.environment)
    given = {name: environment[name] for name in names if name in environment}
    try:
        process = await asyncio.create_subprocess_exec(
            *effect.argv,
            cwd=root / effect.cwd,
            env={**given, "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = f"{effect.argv[0]} cannot be started: {error}"
        return CheckDone(effect.action, "not_started", None, reason.encode(), len(reason), 0.0, reason)
    kept = Output(effect.output_limit)
    try:
        timed_out = await _finish(process, kept, effect.timeout)
    finally:
        _end(process.pid)
    output, spent = clean(kept.bytes()), time.monotonic() - began
    if timed_out:
        reason = f"it took longer than {effect.timeout:g} s"
        return CheckDone(effect.action, "timed_out", None, output, kept.total, spent, reason)
    code = process.returncode
    return CheckDone(effect.action, "passed" if code == 0 else "failed", code, output, kept.total, spent)


async def _finish(process: asyncio.subprocess.Process, kept: Output, seconds: float) -> bool:
    """Wait for the program, then shortly for whoever still holds its output; whether time ran out."""
    assert process.stdout is not None
    reading = asyncio.ensure_future(_read(process.stdout, kept))
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        _end(process.pid)
        await process.wait()
        return True
    finally:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(reading), GRACE)
        _end(process.pid)
        reading.cancel()
    return False


async def _read(stream: asyncio.StreamReader, kept: Output) -> None:
    while part := await stream.read(1 << 16):
        kept.add(part)


def _end(group: int) -> None:
    """Kill the whole process group; a daemon that left it is what a sandbox is for."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class Output:
    """The head and the tail of an output, and how long it really was."""

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, part: bytes) -> None:
        self.total += len(part)
        room = self._half - len(self._head)
        self._head += part[:room] if room > 0 else b""
        self._tail += part[max(0, room) :]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def bytes(self) -> bytes:
        tail = bytes(self._tail[-self._half :])
        gap = self.total - len(self._head) - len(tail)
        return bytes(self._head) + (f"\n… {gap} bytes left out …\n".encode() if gap > 0 else b"") + tail


def clean(output: bytes) -> bytes:
    """The output without what a terminal or an editor would act on; it may be any bytes."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n")
    return _CONTROL.sub("", text).encode()


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("checks need process groups; Windows is not supported yet")
