"""T1 to T4, T9 and T11 through the real server: over stdio and its socket, next to pygls bare, ruff and git.

Each workspace has its own folder and home; every process started here is ended here.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.diffs import written
from bench.ratio import Case, Row, measure
from bench.texts import Scale, lines
from bench.wire import PYGLS, Wire
from world import Agent, World, offer_of, settled

REMIT = (sys.executable, "-m", "remit", "lsp")
RUFF = Path(sys.executable).with_name("ruff")
BURST = 20


def _name(size: int) -> str:
    return f"f{size}.py"


async def _waiting(world: World, size: int, proposals: int) -> None:
    """A workspace with a file of that size and so many proposals for it that wait for the human."""
    content = lines(size)
    world.put(_name(size), "".join(content))
    editor = await world.active()
    agent = await world.agent()
    base = await agent.read(_name(size))
    for n in range(proposals):
        line = content[(n * size) // max(1, proposals)].removesuffix("\n")
        await agent.propose(_name(size), line, f"{line}  # proposal {n}", base)
    await agent.client.close()
    world.agents.clear()
    await editor.stop()


def _remit(scale: Scale, stack: ExitStack, size: int, proposals: int) -> Wire:
    base = scale.folder / f"keys-{size}-{proposals}"
    world = World(base / "home", base / "ws")
    world.root.mkdir(parents=True)
    asyncio.run(_waiting(world, size, proposals))
    wire = Wire(REMIT, world.root, {"REMIT_HOME": str(world.base)})
    stack.callback(wire.end)
    return wire


def _keys(wire: Wire, uri: str, line: int) -> tuple[Case, Case]:
    """One keystroke and its answer, of one that comes and one that goes; twenty at once, told as one."""

    def one() -> float:
        start = time.perf_counter()
        for there in (True, False):
            wire.ask(wire.change(uri, line, 4, 4 if there else 5, "x" if there else ""))
        return (time.perf_counter() - start) / 2

    def burst() -> float:
        some = [wire.change(uri, line, 4, 4 + n % 2, "" if n % 2 else "x") for n in range(BURST)]
        start = time.perf_counter()
        wire.ask(b"".join(some))
        return (time.perf_counter() - start) / BURST

    return one, burst


def _verdict(wire: Wire, uri: str, line: int) -> Case:
    """A keystroke until what waits is shown as stale, and one back until it is shown as fresh."""

    def shown() -> float:
        wire.rest()
        start = time.perf_counter()
        for there in (True, False):
            change = wire.change(uri, line, 4, 4 if there else 5, "x" if there else "")
            wire.until_shown(uri, change, lambda codes, there=there: ("patch-stale" in codes) is there)  # type: ignore[misc]
        return (time.perf_counter() - start) / 2

    return shown


def keystrokes(scale: Scale) -> Iterator[Row]:
    """T1 to T4: a keystroke and an answer behind it, with nothing and with proposals waiting."""
    some, few = f"remit {scale.proposals}", "remit 0"
    times: dict[tuple[str, str, int], float] = {}
    for size in scale.served:
        with ExitStack() as stack:
            peers = {few: _remit(scale, stack, size, 0), some: _remit(scale, stack, size, scale.proposals)}
            plain = written(scale.folder / f"plain-{size}", **{_name(size): "".join(lines(size))})
            for name, command in (("pygls", PYGLS), ("ruff", (str(RUFF), "server"))):
                peers[name] = Wire(command, plain)
                stack.callback(peers[name].end)
            cases: dict[str, Case] = {}
            for name, wire in peers.items():
                root = plain if not name.startswith("remit") else scale.folder / f"keys-{size}-{name[6:]}" / "ws"
                uri = wire.open(root / _name(size))
                cases[f"{name}|one"], cases[f"{name}|burst"] = _keys(wire, uri, size // 2)
                if name == some:
                    cases[f"{name}|verdict"] = _verdict(wire, uri, size // 2)
            for case, seconds in measure(cases, scale.rounds).items():
                name, _, what = case.partition("|")
                times[name, what, size] = seconds
    yield from _judged(scale, times, few, some)


def _judged(scale: Scale, times: dict[tuple[str, str, int], float], few: str, some: str) -> Iterator[Row]:
    small, large = scale.served[0], scale.served[-1]
    for size in scale.served:
        one = times[some, "one", size]
        note = f"{scale.proposals} waiting"
        ruff, bare = (0.25, 0.05) if size == large else (None, 0.6 if size == small else None)
        yield Row("T1", f"keystroke, {size:,} lines / ruff server", one / times["ruff", "one", size], ruff, note=note)
        target = "T3" if size == small else "T1"
        yield Row(target, f"keystroke, {size:,} lines / pygls bare", one / times["pygls", "one", size], bare, note=note)
        nothing = times[few, "one", size] / times["pygls", "one", size]
        yield Row(target, f"keystroke, {size:,} lines / pygls bare", nothing, bare, note="nothing waiting")
        verdict = times[some, "verdict", size] / times["ruff", "one", size]
        yield Row("T1", f"keystroke to verdict shown, {size:,} lines / ruff server", verdict, ruff, note=note)
        burst = times[some, "burst", size]
        bound = 1.5 if size == large else None
        same = burst / times[few, "burst", size]
        yield Row("T4", f"{BURST} at once, {size:,} lines, each / with nothing waiting", same, bound, note=note)
        bound = 0.03 if size == large else None
        yield Row("T4", f"{BURST} at once, {size:,} lines, each / ruff", burst / times["ruff", "burst", size], bound)
    flat = times[few, "one", large] / times[few, "one", small]
    yield Row("T2", f"keystroke, {large:,} lines / {small:,}", flat, 2.5, note="nothing waiting")
    flat = times[some, "one", large] / times[some, "one", small]
    yield Row("T2", f"keystroke, {large:,} lines / {small:,}", flat, 2.5, note=f"{scale.proposals} waiting")


# --- proposing and deciding -------------------------------------------------------------------------------------------


def proposals(scale: Scale) -> Iterator[Row]:
    """T9 and T11: a patch checked through the socket; a decision until it is applied in the editor's buffer."""
    for size in scale.served:
        base = scale.folder / f"apply-{size}"
        world = World(base / "home", base / "ws")
        world.root.mkdir(parents=True)
        with asyncio.Runner() as runner:
            try:
                yield from _proposals(scale, world, size, runner)
            finally:
                runner.run(world.close())


def _proposals(scale: Scale, world: World, size: int, runner: asyncio.Runner) -> Iterator[Row]:
    content = lines(size)
    world.put(_name(size), "".join(content))
    editor = runner.run(world.active())
    editor.open(_name(size))
    agent = runner.run(world.agent())
    numbers = itertools.count(1)
    folder = written(scale.folder / f"git-{size}", **{_name(size): "".join(content)})
    small, large = scale.served[0], scale.served[-1]

    def propose() -> float:
        """One that is placed, shown and kept, and withdrawn again outside of the clock."""
        seconds, name = runner.run(_proposed(agent, size, content, next(numbers)))
        runner.run(agent("withdraw_proposal", proposalId=name))
        return seconds

    async def applied(number: int) -> float:
        _, name = await _proposed(agent, size, content, number)
        offer = await offer_of(editor, name)
        start = time.perf_counter()
        action = (await editor.run("remit.accept", offer=offer))["result"]
        found = await settled(editor, action)
        seconds = time.perf_counter() - start
        assert found["state"] == "succeeded", found
        line = int(number % size)
        content[line] = _changed(content[line], number) + "\n"
        return seconds

    check = _git(folder, size, "apply", "--check")
    write = _git(folder, size, "apply")
    times = measure({"propose": propose, "check": check}, scale.rounds)
    bound = {small: 0.25, large: 0.05}.get(size)
    yield Row(
        "T9", f"propose, {size:,} lines / git apply --check", times["propose"] / times["check"], bound, note="socket"
    )
    times = measure({"applied": lambda: runner.run(applied(next(numbers))), "write": write}, scale.rounds)
    yield Row("T11", f"accept to applied, {size:,} lines / git apply", times["applied"] / times["write"])
    if shutil.which("codex") is None:
        bound = {small: 0.5, large: 0.1}.get(size)
        yield Row("T11", f"accept to applied, {size:,} lines / codex", None, bound, note="codex is not installed")


def _changed(line: str, number: int) -> str:
    return f"{line.removesuffix(chr(10))}  # {number}"


async def _proposed(agent: Agent, size: int, content: list[str], number: int) -> tuple[float, str]:
    """A patch for a line of the file as it is, its context left out; the seconds of the call, and its id."""
    at = number % size
    line = content[at].removesuffix("\n")
    diff = f"--- a/{_name(size)}\n+++ b/{_name(size)}\n@@ -{at + 1} +{at + 1} @@\n-{line}\n+{_changed(line, number)}\n"
    base = await agent.read(_name(size))
    start = time.perf_counter()
    answer = await agent("propose_patch", patch=diff, bases={_name(size): base})
    return time.perf_counter() - start, str(answer["proposalId"])


def _git(folder: Path, size: int, *words: str) -> Callable[[], float]:
    """git apply of a patch of one line, as a process; the file is put back outside of the clock."""
    path = folder / _name(size)
    content = path.read_bytes()
    first = content.split(b"\n")[0].decode()
    patch = folder / "p"
    patch.write_text(f"--- a/{_name(size)}\n+++ b/{_name(size)}\n@@ -1 +1 @@\n-{first}\n+{first}  # 0\n")

    def run() -> float:
        start = time.perf_counter()
        done = subprocess.run(["git", *words, "--unidiff-zero", "p"], cwd=folder, capture_output=True, check=False)
        seconds = time.perf_counter() - start
        assert done.returncode == 0, done.stderr
        if "--check" not in words:
            path.write_bytes(content)
        return seconds

    return run
