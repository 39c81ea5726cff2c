"""Fakes for the ports, as strict as the real parts, and a bench: a real session over them with a played editor.

`test_ports.py` holds the fakes and the real parts to the same assertions. Nothing here reaches a disk, a clock or a
process. What a test needs of a story is made by `Bench`: files, an active contract, an agent, the human's answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from remit.core import events, findings, paths
from remit.core.chain import GENESIS, Record, seal
from remit.core.codec import blob_id
from remit.core.effects import CheckDone, DiskChange, EditBuffers, Edited, Operated, OperateFile, RunCheck
from remit.core.faults import AgentFault, Fault, OurFault, WorldFault
from remit.core.finding import Doable
from remit.core.leaves import Frozen
from remit.core.overview import overview
from remit.core.text import Edit, Position, Range, Text
from remit.core.verbs import Hello
from remit.mediator import Abilities, Command, Mediator
from remit.session import Session

CONTRACT_PATH = "task.contract.json"
POLICY_PATH = ".remit/policy.toml"
AGENT = "agent-0001"
CLOSED = (".git", ".remit")


def sha(data: bytes | str) -> str:
    """The digest of a content."""
    return sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def contract_text(task: str = "task-1", scope: Sequence[str] = ("src/",), **more: Any) -> str:
    """A valid contract; `more` in the contract's own words (camelCase)."""
    value = {
        "taskId": task,
        "goal": "Make it right.",
        "writeScope": list(scope),
        "allowedTools": ["read_file", "apply_patch", "run_check"],
    }
    return json.dumps({**value, **more}, indent=2) + "\n"


# --- the ports --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file as read."""

    data: bytes
    real: str
    mode: int = 0o644
    links: int = 1


@dataclass(slots=True)
class MemoryFiles:
    """The `Files` port over a dictionary. `unreadable`: paths at which reading fails."""

    files: dict[str, bytes] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    head: dict[str, bytes] = field(default_factory=dict)

    def read(self, path: str) -> MemoryFile | None:
        real = self.real(path)
        if any(name.startswith(f"{real}/") for name in self.files):
            raise AgentFault("not_a_file", "It is a folder.", path=real)
        if real in self.unreadable:
            raise WorldFault("unreadable", "The file cannot be read (EIO).", path=real)
        data = self.files.get(real)
        return None if data is None else MemoryFile(data, real)

    def real(self, path: str) -> str:
        return paths.parse(path, portable=False)

    def mark(self, path: str) -> object | None:
        found = self.read(path)
        return None if found is None else (len(found.data), sha(found.data))

    def committed(self, path: str) -> str | None:
        return blob_id(self.head[path]) if path in self.head else None

    def list(self, limit: int) -> list[str]:
        kept = (path for path in self.files if not any(paths.fold(part) in CLOSED for part in path.split("/")))
        return sorted(kept, key=lambda path: path.split("/"))[:limit]


@dataclass(slots=True)
class MemoryDisk(MemoryFiles):
    """`Files` and `Writer`. `failing`: a step (`stage`, `revert`, …) or `commit <path>` to what it raises once.

    What is no `Fault` is a crash: nothing is taken back. `left`: temporary files that a crash left behind.
    """

    failing: dict[str, BaseException] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)
    swept: list[frozenset[str]] = field(default_factory=list)
    left: dict[str, bytes] = field(default_factory=dict)

    def stage(self, action: str, changes: Sequence[Any]) -> MemoryStaged:
        self.trip("stage")
        if len({change.path for change in changes}) != len(changes):
            raise AgentFault("duplicate_path", "One file is changed twice in the same proposal.")
        for change in changes:
            self.demand(change)
        self.actions.append(action)
        return MemoryStaged(self, tuple(changes))

    def sweep(self, keep: Collection[str], known: Callable[[str], bool]) -> tuple[list[str], list[str]]:
        self.swept.append(frozenset(keep))
        return [], [path for path, data in self.left.items() if not known(sha(data))]

    def digest(self, path: str) -> str | None:
        return sha(self.files[path]) if path in self.files else None

    def demand(self, change: DiskChange) -> None:
        """Refuse a change whose base is not there."""
        if change.before is None and change.after is None:
            raise OurFault("bad_change", "A change from absent to absent is no change.", path=change.path)
        current = self.digest(change.path)
        if current != change.before:
            raise AgentFault("stale", "The file has other text now.", path=change.path, current=current)

    def trip(self, step: str) -> None:
        fault = self.failing.pop(step, None)
        if fault is not None:
            raise fault


@dataclass(slots=True)
class MemoryStaged:
    """Changes that happen as one, with the same moves as the real ones."""

    disk: MemoryDisk
    changes: tuple[DiskChange, ...]
    state: str = "staged"
    images: dict[str, bytes | None] = field(default_factory=dict)
    exchange: bool = True

    def commit(self) -> None:
        self._turn("staged", "committed")
        for change in self.changes:
            try:
                self.disk.demand(change)
                self.disk.trip(f"commit {change.path}")
                self.disk.trip("commit")
            except Fault:
                self.state = "closed"
                self._back()
                raise
            self.images[change.path] = self.disk.files.get(change.path)
            self._put(change.path, change.after)

    def revert(self) -> None:
        self._turn("committed", "closed")
        self.disk.trip("revert")
        theirs = [
            c.path for c in self.changes if self.disk.digest(c.path) != (None if c.after is None else sha(c.after))
        ]
        if theirs:
            raise WorldFault("outcome_unknown", "Some files could not be brought to a known state.", found=[*theirs])
        self._back()

    def finish(self) -> None:
        self._turn("committed", "closed")
        self.disk.trip("finish")

    def abort(self) -> None:
        self._turn("staged", "closed")
        self.disk.trip("abort")

    def _back(self) -> None:
        for path, data in self.images.items():
            self._put(path, data)

    def _put(self, path: str, data: bytes | None) -> None:
        if data is None:
            self.disk.files.pop(path, None)
        else:
            self.disk.files[path] = data

    def _turn(self, now: str, then: str) -> None:
        if self.state != now:
            raise OurFault("illegal_move", f"These changes are {self.state}, not {now}.")
        self.state = then


@dataclass(slots=True)
class MemoryJournal:
    """The `Journal` port: a sealed chain in memory, contents by digest."""

    records: list[Record] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def append(
        self, at: str, events: Sequence[Mapping[str, Any]], blobs: Mapping[str, bytes] | None = None
    ) -> tuple[Record, ...]:
        added: list[Record] = []
        seq, prev = (self.records[-1].seq, self.records[-1].hash) if self.records else (0, GENESIS)
        for event in events:
            added.append(seal(prev, seq + 1, at, event))
            seq, prev = added[-1].seq, added[-1].hash
        for digest, data in (blobs or {}).items():
            if sha(data) != digest:
                raise OurFault("digest_wrong", "Contents do not have the digest they are kept under.")
        self.blobs |= blobs or {}
        self.records += added
        return tuple(added)

    def read(self, after: int = 0) -> Iterator[Record]:
        return iter([record for record in self.records if record.seq > after])

    def blob(self, digest: str) -> bytes | None:
        return self.blobs.get(digest)

    def cut(self, length: int) -> MemoryJournal:
        """What a crash right after record `length` would have left."""
        return MemoryJournal(self.records[:length], dict(self.blobs))


@dataclass(slots=True)
class FailingJournal(MemoryJournal):
    """Refuses the `at`-th append from now (from 1), and only that."""

    at: int = 0

    def append(
        self, at: str, events: Sequence[Mapping[str, Any]], blobs: Mapping[str, bytes] | None = None
    ) -> tuple[Record, ...]:
        self.at -= 1
        if self.at == 0:
            raise WorldFault(
                "journal_unwritable", "The journal cannot be written (disk full), so nothing was recorded."
            )
        # Not `super()`: a dataclass with slots is another class than the one the compiler closed over.
        return MemoryJournal.append(self, at, events, blobs)


@dataclass(slots=True)
class FixedClock:
    """Time stands still until a test moves it."""

    seconds: float = 1000.0

    def now(self) -> str:
        whole, part = divmod(self.seconds, 1)
        hours, rest = divmod(int(whole), 3600)
        return f"2026-12-01T{hours % 24:02d}:{rest // 60:02d}:{rest % 60:02d}.{int(part * 1000):03d}Z"

    def monotonic(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass(slots=True)
class CountingTokens:
    """Names in order: `prefix1`, `prefix2`, … Another session needs another prefix, as real names never repeat."""

    prefix: str = "t"
    count: int = 0

    def token(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"


# --- the bench --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Document:
    """A buffer of the played editor, with the texts it had before."""

    text: Text
    version: int = 1
    past: list[Frozen] = field(default_factory=list)


@dataclass(slots=True)
class Bench:
    """A real mediator and session over fakes. Effects wait in `edits`, `runs`, `wakes` until the test plays them."""

    disk: MemoryDisk = field(default_factory=MemoryDisk)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    clock: FixedClock = field(default_factory=FixedClock)
    mode: str = "editor"
    abilities: Abilities = field(default_factory=lambda: Abilities(can_edit=True, compares_versions=True))
    generation: int = 1
    documents: dict[str, Document] = field(default_factory=dict)
    edits: list[EditBuffers] = field(default_factory=list)
    operations: list[OperateFile] = field(default_factory=list)
    runs: list[RunCheck] = field(default_factory=list)
    wakes: list[float] = field(default_factory=list)
    connection: str = ""
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        mediator = Mediator(self.disk, self.journal.blob, self.clock, CountingTokens(f"s{self.generation}-"))
        self.session = Session(mediator, self.journal, self.disk, "/w", "0.0.0", 4711)
        self.session.edit, self.session.run = self.edits.append, self.runs.append
        self.session.operate = self.operations.append
        self.session.wake = lambda seconds: self.wakes.append(self.clock.seconds + seconds)
        client = "Test Editor" if self.mode == "editor" else "no editor"
        self.session.attach(self.mode, client, "1.0", "utf-16", self.abilities, ("fakes",))

    # --- beginnings ---

    def connect(self, agent: str = AGENT, name: str = "coder") -> str:
        """An agent connects; the name of its connection. The last one to connect is the one that `call` speaks for."""
        self.connection = self.session.connect(Hello(token="t", agent=agent, name=name, version="1"), 99)
        return self.connection

    def activate(self, path: str = CONTRACT_PATH) -> str:
        """Activate a contract or the policy as it is shown now."""
        shown = overview(self.session.peek())["activations"]
        assert isinstance(shown, list)
        offer = next(one["offer"] for one in shown if isinstance(one, dict) and one["path"] == path)
        return self.command("activate", str(offer))

    def restart(self, *, journal: MemoryJournal | None = None, disk: MemoryDisk | None = None, **more: Any) -> Bench:
        """A new session, as after a crash. The editor's buffers are still there, but not opened again by itself."""
        kept = {"clock": self.clock, "mode": self.mode, "abilities": self.abilities, "documents": self.documents}
        return Bench(
            disk=disk or self.disk,
            journal=journal or self.journal,
            generation=self.generation + 1,
            **{**kept, **more},
        )

    # --- the agent ---

    def call(self, verb: str, connection: str | None = None, **params: Any) -> dict[str, Any]:
        """An agent's request, in wire words."""
        return dict(self.session.call(connection or self.connection, verb, params))

    def propose(self, new: Mapping[str, str | None], connection: str | None = None, **more: Any) -> str:
        """Whole new texts, bound to what is there now; the proposal's id."""
        looks = {path: self.session.peek().look(path).digest for path in new}
        files = [{"path": path, "content": content} for path, content in new.items()]
        answer = self.call("propose_patch", connection, files=files, bases=looks, **more)
        return str(answer["proposalId"])

    # --- the human ---

    def command(self, command: str, offer: str, **more: Any) -> str:
        return self.session.command(command, Command(offer=offer, **more))

    def offer(self, act: Any, target: str, hunk: str = "") -> str:
        """The offer under which an act is shown now."""
        return self.session.offer(Doable("", act, target, hunk))

    def act(self, act: Any, target: str, hunk: str = "", **more: Any) -> str:
        """Look, and answer at once."""
        return self.command(act, self.offer(act, target, hunk), **more)

    def accept(self, proposal: str, hunk: str = "") -> str:
        """Accept what is shown now, a hunk or all of it; the action's id. The editor has not been played yet."""
        return self.act("acceptHunk" if hunk else "accept", proposal, hunk)

    def decide(self, decision: str, option: str | None = None, text: str = "") -> str:
        return self.act("decide", decision, option=option, text=text)

    # --- the editor ---

    def open(self, path: str, text: str | None = None) -> None:
        """Open a file; `text` is what a restored dirty buffer holds."""
        content = self.disk.files[path].decode() if text is None else text
        known = self.documents.get(path)
        version = known.version + 1 if known else 1
        self.documents[path] = Document(Text(content), version)
        self.session.opened(path, version, content)

    def reopen(self) -> None:
        """What an editor does with a new server: every buffer is opened again as it is."""
        for path, document in self.documents.items():
            self.session.opened(path, document.version, str(document.text))

    def text(self, path: str) -> str:
        return str(self.documents[path].text)

    def type(self, path: str, line: int, character: int, new: str, end: tuple[int, int] | None = None) -> None:
        """Type `new` at a place, or over the text up to `end`; not saved."""
        start = Position(line, character)
        self.change(path, Edit(new, Range(start, Position(*end) if end else start)))

    def change(self, path: str, *edits: Edit) -> None:
        """Change a buffer and tell the server."""
        document = self.documents[path]
        document.past.append(document.text.freeze())
        for edit in edits:
            document.text.edit(edit, "utf-16")
        document.version += 1
        self.session.changed(path, document.version, edits)

    def undo(self, path: str) -> None:
        """Undo the last change of a buffer."""
        document = self.documents[path]
        self.change(path, Edit(str(document.past.pop())))
        document.past.pop()

    def save(self, path: str) -> None:
        self.disk.files[path] = self.text(path).encode()
        self.session.saved(path)

    def close(self, path: str) -> None:
        del self.documents[path]
        self.session.closed(path)

    def take(self, effect: EditBuffers) -> bool:
        """What a strict editor does with an edit: all of it, or none when one version is another."""
        known = all(
            file.path in self.documents and self.documents[file.path].version == file.version for file in effect.files
        )
        if known:
            for file in effect.files:
                self.change(file.path, *sorted(file.edits, key=_last_first))
        return known

    def play(self) -> None:
        """Take every edit that waits, and answer it."""
        while self.edits:
            effect = self.edits.pop(0)
            self.session.happened(Edited(effect.action, self.take(effect), undo=effect.undo))

    def operate(self, applied: bool | None = True, reason: str = "") -> OperateFile:
        """Do the first file operation that waits, as an editor that closes what it deletes and reopens what it
        renames, and answer it; with `applied` False only answer."""
        effect = self.operations.pop(0)
        if applied:
            data, document = self.disk.files.pop(effect.path), self.documents.pop(effect.path, None)
            if document is not None:
                self.session.closed(effect.path)
            if effect.to is not None:
                assert effect.to not in self.disk.files, "an operation never overwrites"
                self.disk.files[effect.to] = data
                if document is not None:
                    self.open(effect.to, str(document.text))
        self.session.happened(Operated(effect.action, applied, reason, effect.undo))
        return effect

    def answer(self, applied: bool | None, reason: str = "") -> None:
        """Answer the first edit that waits, whatever was done about it."""
        effect = self.edits.pop(0)
        self.session.happened(Edited(effect.action, applied, reason, effect.undo))

    def wait(self, seconds: float) -> None:
        """Let time pass, with every wake that falls due on the way."""
        until = self.clock.seconds + seconds
        while self.wakes and min(self.wakes) <= until:
            due = min(self.wakes)
            self.wakes.remove(due)
            self.clock.seconds = max(self.clock.seconds, due)
            self.session.woken()
        self.clock.seconds = max(self.clock.seconds, until)

    def ran(self, result: Any = "passed", exit_code: int | None = 0, output: bytes = b"ok\n") -> None:
        """The first run that waits ends."""
        effect = self.runs.pop(0)
        self.session.happened(CheckDone(effect.action, result, exit_code, output, len(output), 0.5))

    # --- what came of it ---

    def events(self, since: int = 0) -> list[events.Event]:
        return [events.decode(record.event) for record in self.journal.read(since)]

    def story(self, since: int = 0) -> list[str]:
        """The types of the journal's events after `since`; a move with where to."""
        return [_word(event) for event in self.events(since)]

    @property
    def seq(self) -> int:
        return len(self.journal.records)

    @property
    def state(self) -> Any:
        return self.session.mediator.state

    def codes(self, path: str) -> list[str]:
        """The codes of the findings shown for a file."""
        return [found.code for found in findings.findings(self.session.peek()) if found.path == path]


def desk(files: Mapping[str, str | bytes], *, policy: str = "", contract: str | None = None, **more: Any) -> Bench:
    """A bench with files, an active contract (and policy, if there is one) and a connected agent."""
    data = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    data[CONTRACT_PATH] = (contract_text() if contract is None else contract).encode()
    if policy:
        data[POLICY_PATH] = policy.encode()
    bench = Bench(disk=MemoryDisk(data), **more)
    if policy:
        bench.activate(POLICY_PATH)
    bench.activate()
    bench.connect()
    return bench


def copied(disk: MemoryDisk) -> MemoryDisk:
    """The files as they are at this moment."""
    return replace(disk, files=dict(disk.files), failing={}, actions=[], swept=[])


def _word(event: events.Event) -> str:
    return f"{event.type} {event.to}" if isinstance(event, events.ActionMoved) else event.type


def _last_first(edit: Edit) -> tuple[int, int]:
    assert edit.range is not None
    return (-edit.range.start.line, -edit.range.start.character)
