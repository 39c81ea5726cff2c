"""Killed at the n-th step of an apply: a program of its own, because it forks and kills; `test_crash` reads its output.

For each step a child accepts a proposal of four files (two changed, one made, one deleted) and kills itself there; then
a new session opens the workspace and recovers, itself killed at every step of that too. With `unrecovered` nobody
recovers, as a control: there must be halves to be seen, or the zeros of the other run prove nothing.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fakes import CountingTokens, FixedClock, contract_text
from remit.core import reviewing
from remit.core.faults import Json
from remit.core.finding import Doable
from remit.core.verbs import Hello
from remit.edges.disk import Disk, Moves
from remit.edges.store import Store
from remit.mediator import Abilities, Command, Mediator
from remit.session import Session

OLD = {"src/a": b"a\n", "src/b": b"b\n", "src/gone": b"gone\n"}
NEW = {"src/a": b"A\n", "src/b": b"B\n", "src/made": b"made\n"}
CONTRACT = "t.contract.json"


class Counter:
    """Kills this process at the n-th step; counts when n is out of reach."""

    def __init__(self, at: int) -> None:
        self.at, self.steps = at, 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.step()
            result = call(*arguments, **named)
            self.step()
            return result

        return counted


class CountedMoves(Moves):
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def exchange(self, directory: int, left: str, right: str) -> bool:
        return bool(self.counter.around(super().exchange)(directory, left, right))

    def place(self, source: int, name: str, target: int, new: str) -> bool:
        return bool(self.counter.around(super().place)(source, name, target, new))


def session(root: Path, state: Path, counter: Counter) -> Session:
    store = Store(state)
    disk = Disk(root, moves=CountedMoves(counter))
    store.append = counter.around(store.append)  # type: ignore[method-assign]
    mediator = Mediator(disk, store.blob, FixedClock(), CountingTokens("c"))
    opened = Session(mediator, store, disk, str(root), "0", os.getpid())
    opened.wake = lambda _seconds: None
    opened.attach("editor", "crash test", "", "utf-16", Abilities(can_edit=True, compares_versions=True), ())
    return opened


def prepare(root: Path, state: Path) -> None:
    """A workspace with one proposal that waits."""
    for path, data in {**OLD, CONTRACT: contract_text().encode()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    one = session(root, state, Counter(0))
    one.command("activate", Command(offer=one.offer(Doable("", "activate", CONTRACT))))
    connection = one.connect(Hello(token="t", agent="agent-0001"), None)
    files: list[Json] = [
        {"path": path, "content": NEW[path].decode() if path in NEW else None} for path in sorted({*OLD, *NEW})
    ]
    bases: dict[str, Json] = {path: one.peek().look(path).digest for path in sorted({*OLD, *NEW})}
    one.call(connection, "propose_patch", {"files": files, "bases": bases})
    one.journal.close()  # type: ignore[attr-defined]


def accept(root: Path, state: Path, counter: Counter) -> None:
    one = session(root, state, counter)
    turn = one.peek()
    offer = reviewing.offer(turn, turn.state.proposals["P1"], "accept")
    one.command("accept", Command(offer=offer))


def recover(root: Path, state: Path, counter: Counter) -> dict[str, Any]:
    """Open the workspace as a new session does; what it says of the proposal."""
    one = session(root, state, counter)
    entry = one.mediator.state.proposals["P1"]
    questions = [found.asked.kind for found in one.mediator.state.pending_decisions()]
    return {"state": entry.state, "questions": questions, "records": one.mediator.state.seq}


def forked(act: Callable[[], Any]) -> bool:
    """Whether the act came to its end in a child of its own."""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def found(root: Path) -> Mapping[str, bytes]:
    kept = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    kept.pop(CONTRACT)
    return kept


def _which(files: Mapping[str, bytes]) -> str:
    whole = {path: data for path, data in files.items() if not Path(path).name.startswith(".remit-")}
    return "old" if whole == OLD else "new" if whole == NEW else "mixed"


def one_point(base: Path, at: int, again: int, *, recovers: bool) -> dict[str, Any] | None:
    """Killed at `at` in the apply and at `again` in the recovery; what is there in the end. None: not reached."""
    root, state = base / "ws", base / "state"
    root.mkdir(parents=True)
    prepare(root, state)
    if forked(lambda: accept(root, state, Counter(at))):
        return None
    if again and forked(lambda: recover(root, state, Counter(again))):
        return None
    told = recover(root, state, Counter(0)) if recovers else {}
    files = found(root)
    told["files"] = _which(files)
    told["leftover"] = sorted(path for path in files if path not in {*OLD, *NEW})
    return {"at": at, "again": again, **told}


def main(base: Path, recovers: bool) -> None:
    points, at = [], 1
    while True:
        first = one_point(base / f"{at}", at, 0, recovers=recovers)
        if first is None:
            break
        points.append(first)
        again = 1
        while recovers:
            second = one_point(base / f"{at}-{again}", at, again, recovers=recovers)
            if second is None:
                break
            points.append(second)
            again += 1
        at += 1
    sys.stdout.write(json.dumps(points) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "unrecovered" not in sys.argv[2:])
