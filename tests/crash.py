"""Killed at the n-th step of an apply: a program of its own, because it forks and kills; `test_crash` reads its output.

For each step a child accepts a proposal of four files (two changed, one made, one deleted) and kills itself there; then
a new session opens the workspace and recovers, itself killed at every step of that too. With `editor` one of the
changed files is open in a played editor, which is not killed: its buffer outlives the server, unsaved. With
`unrecovered` nobody recovers, as a control: there must be halves to be seen, or the zeros of the other run prove
nothing.
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
from remit.core.effects import EditBuffers, Edited
from remit.core.faults import Json
from remit.core.finding import Doable
from remit.core.text import Text
from remit.core.verbs import Hello
from remit.edges.disk import Disk, Moves
from remit.edges.store import Store
from remit.mediator import Abilities, Command, Mediator
from remit.session import Session

OLD = {"src/a": b"a\n", "src/b": b"b\n", "src/gone": b"gone\n"}
NEW = {"src/a": b"A\n", "src/b": b"B\n", "src/made": b"made\n"}
OPEN = "src/a"
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


class Played:
    """An editor with one open document. Its text is kept in a file outside the workspace, because the server's process
    is the one that dies; a version is one of this server's."""

    def __init__(self, keep: Path, counter: Counter) -> None:
        self.keep, self.counter = keep, counter
        self.waiting: list[EditBuffers] = []
        self.version = 1

    @property
    def text(self) -> str:
        return self.keep.read_bytes().decode()

    def attach(self, one: Session) -> None:
        """Every document is opened anew when a server starts."""
        one.edit = self.waiting.append
        one.opened(OPEN, self.version, self.text)

    def play(self, one: Session) -> None:
        """Take each edit that waits; the server may die before it hears of the change, or of the answer."""
        while self.waiting:
            effect = self.waiting.pop(0)
            (file,) = effect.files
            assert (file.path, file.version) == (OPEN, self.version)
            text = Text(self.text)
            edits = tuple(reversed(file.edits))
            for edit in edits:
                text.edit(edit, "utf-16")
            self.counter.step()
            spare = self.keep.with_suffix(".new")
            spare.write_bytes(str(text).encode())
            spare.rename(self.keep)
            self.version += 1
            self.counter.step()
            one.changed(OPEN, self.version, edits)
            self.counter.step()
            one.happened(Edited(effect.action, True, undo=effect.undo))


def settle(one: Session, editor: Played) -> None:
    """What an editor does with a server that came back, until nothing is under way any more."""
    editor.attach(one)
    clock = one.mediator.clock
    assert isinstance(clock, FixedClock)
    for _ in range(3):
        clock.advance(3)
        one.woken()
        editor.play(one)


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
    editor = Played(buffer(state), counter)
    if editor.keep.exists():
        editor.attach(one)
    turn = one.peek()
    offer = reviewing.offer(turn, turn.state.proposals["P1"], "accept")
    one.command("accept", Command(offer=offer))
    editor.play(one)


def recover(root: Path, state: Path, counter: Counter) -> dict[str, Any]:
    """Open the workspace as a new session does; what it says of the proposal."""
    one = session(root, state, counter)
    if buffer(state).exists():
        settle(one, Played(buffer(state), counter))
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


def buffer(state: Path) -> Path:
    """Where the played editor keeps its document, if it has one."""
    return state.parent / "buffer"


def found(root: Path, state: Path) -> Mapping[str, bytes]:
    """What a human sees: what the editor holds, else what lies on disk."""
    kept = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    kept.pop(CONTRACT)
    if buffer(state).exists():
        kept[OPEN] = buffer(state).read_bytes()
    return kept


def _which(files: Mapping[str, bytes]) -> str:
    whole = {path: data for path, data in files.items() if not Path(path).name.startswith(".remit-")}
    return "old" if whole == OLD else "new" if whole == NEW else "mixed"


def one_point(base: Path, at: int, again: int, *, recovers: bool, edits: bool) -> dict[str, Any] | None:
    """Killed at `at` in the apply and at `again` in the recovery; what is there in the end. None: not reached."""
    root, state = base / "ws", base / "state"
    root.mkdir(parents=True)
    prepare(root, state)
    if edits:
        buffer(state).write_bytes(OLD[OPEN])
    if forked(lambda: accept(root, state, Counter(at))):
        return None
    if again and forked(lambda: recover(root, state, Counter(again))):
        return None
    told = recover(root, state, Counter(0)) if recovers else {}
    files = found(root, state)
    told["files"] = _which(files)
    told["leftover"] = sorted(path for path in files if path not in {*OLD, *NEW})
    return {"at": at, "again": again, **told}


def main(base: Path, recovers: bool, edits: bool) -> None:
    points, at = [], 1
    while True:
        first = one_point(base / f"{at}", at, 0, recovers=recovers, edits=edits)
        if first is None:
            break
        points.append(first)
        again = 1
        while recovers:
            second = one_point(base / f"{at}-{again}", at, again, recovers=recovers, edits=edits)
            if second is None:
                break
            points.append(second)
            again += 1
        at += 1
    sys.stdout.write(json.dumps(points) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "unrecovered" not in sys.argv[2:], "editor" in sys.argv[2:])
