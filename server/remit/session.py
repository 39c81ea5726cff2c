"""One turn after another: let the mediator decide, make what it says durable, then release answers and effects.

Joins the mediator with the journal and the closed files. Knows no protocol: doors register how buffers are edited and
checks are run, and are told when something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from remit.core import events, findings, report
from remit.core.effects import (
    EditBuffers,
    Effect,
    FilesDone,
    Outcome,
    RestoreFiles,
    RunCheck,
    SettleFiles,
    StageFiles,
    Wake,
    Woken,
)
from remit.core.faults import AgentFault, Fault, Json, WorldFault
from remit.core.finding import Doable, Finding
from remit.core.overview import overview
from remit.core.text import Edit, PositionEncoding
from remit.core.turn import Turn
from remit.core.verbs import Hello
from remit.mediator import Abilities, Command, Mediator
from remit.ports import Journal, Staged, Writer

UNRECORDED = frozenset({"invalid_params", "unknown_method", "unknown_proposal", "unknown_decision", "not_found"})
"""Refusals that are slips of the pen, not of the remit."""


@dataclass(slots=True)
class Session:
    """The one session of a workspace. Everything that changes state goes through here, one call at a time."""

    mediator: Mediator
    journal: Journal
    disk: Writer
    root: str
    version: str
    process: int
    edit: Callable[[EditBuffers], None] | None = None
    run: Callable[[RunCheck], None] | None = None
    wake: Callable[[float], None] | None = None
    yielded: Callable[[], None] | None = None
    staged: dict[str, Staged] = field(default_factory=dict)
    connections: dict[str, str] = field(default_factory=dict)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    # --- the frame of every turn --------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self) -> Iterator[Turn]:
        """Decide, make durable, then let out. A fault after something was said takes all of it back."""
        turn, marked = self.mediator.turn(), self.mediator.memory.mark()
        try:
            yield turn
            self._commit(turn)
        except BaseException:
            if turn.events:
                self.load()
                self.mediator.memory.restore(marked)
            raise
        self._release(turn)

    def _commit(self, turn: Turn) -> None:
        if not turn.events and not turn.blobs:
            return
        raw = [events.encode(event) for _, event in turn.events]
        records = self.journal.append(turn.at, raw, turn.blobs)
        if [record.seq for record in records] != [seq for seq, _ in turn.events]:
            raise WorldFault("journal_moved", "Somebody else wrote to the journal.", remedy="Restart the session.")

    def _release(self, turn: Turn) -> None:
        for effect in turn.effects:
            self._perform(effect)
        if turn.events:
            self._tell()

    def load(self) -> None:
        """The state anew from the journal."""
        self.mediator.replay((record.seq, record.at, record.event) for record in self.journal.read())

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Be told after each change; call what is returned to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()

    # --- effects ------------------------------------------------------------------------------------------------------

    def _perform(self, effect: Effect) -> None:
        match effect:
            case EditBuffers():
                _ready(self.edit)(effect)
            case RunCheck():
                _ready(self.run)(effect)
            case Wake(seconds):
                _ready(self.wake)(seconds)
            case StageFiles(action, changes):
                self.happened(self._stage(action, changes))
            case SettleFiles():
                self._settle(effect)
            case RestoreFiles(action, changes):
                self.happened(self._restore(action, changes))

    def _stage(self, action: str, changes: Sequence[Any]) -> FilesDone:
        try:
            self.staged[action] = self.disk.stage(action, changes)
        except Fault as fault:
            return FilesDone(action, "stage", "failed", fault.code, fault.message)
        return FilesDone(action, "stage")

    def _settle(self, effect: SettleFiles) -> None:
        staged = self.staged.get(effect.action)
        if staged is None:
            return
        done = FilesDone(effect.action, effect.how)
        try:
            getattr(staged, effect.how)()
        except Fault as fault:
            result = "unknown" if fault.code == "outcome_unknown" else "failed"
            done = FilesDone(effect.action, effect.how, result, fault.code, fault.message)  # type: ignore[arg-type]
        self.mediator.sight.nudge()
        if effect.how in ("finish", "abort") or done.result == "failed":
            self.staged.pop(effect.action, None)
        self.happened(done)

    def _restoring(self, action: str) -> str:
        """The name of putting an action's files back; another one in each session, because the last may have been cut
        off in the middle of it and have left its own behind."""
        return f"{action}-restore-{len(self.mediator.state.sessions)}"

    def _restore(self, action: str, changes: Sequence[Any]) -> FilesDone:
        try:
            staged = self.disk.stage(self._restoring(action), changes)
            staged.commit()
            staged.finish()
        except Fault as fault:
            return FilesDone(action, "restore", "failed", fault.code, fault.message)
        self.mediator.sight.nudge()
        return FilesDone(action, "restore")

    def happened(self, outcome: Outcome) -> None:
        """An effect came to its end."""
        with self._turn() as turn:
            self.mediator.happened(turn, outcome)

    def woken(self) -> None:
        self.happened(Woken())

    # --- the editor's door --------------------------------------------------------------------------------------------

    def attach(
        self,
        mode: str,
        client: str,
        client_version: str,
        encoding: PositionEncoding,
        abilities: Abilities,
        guards: tuple[str, ...],
    ) -> None:
        """Begin: replay the journal, recover what was cut off, and say who is here."""
        self.load()
        opened = events.SessionOpened.model_validate(
            {
                "mode": mode,
                "client": client,
                "client_version": client_version,
                "process": self.process,
                "version": self.version,
                "guards": guards,
            }
        )
        with self._turn() as turn:
            self.mediator.attach(turn, opened, encoding, abilities)
        running = {entry.plan.action for entry in self.mediator.state.running()}
        self.disk.sweep(running | {self._restoring(name) for name in running})

    def stirred(self) -> bool:
        """Whether a file that is shown was written by somebody since this was last asked."""
        return self.mediator.sight.stirred(findings.watched(self.mediator.turn()))

    def real(self, path: str) -> str:
        """The path of the file that an editor's path leads to: a link that stays inside and its target are one."""
        return self.mediator.sight.real(path)

    def opened(self, path: str, version: int, text: str, name: str = "") -> None:
        with self._turn() as turn:
            self.mediator.opened(turn, path, version, text, name)

    def changed(self, path: str, version: int, edits: Sequence[Edit], name: str = "") -> str | None:
        with self._turn() as turn:
            return self.mediator.changed(turn, path, version, edits, name)

    def saved(self, path: str, name: str = "") -> bool:
        with self._turn() as turn:
            return self.mediator.saved(turn, path, name)

    def closed(self, path: str, name: str = "") -> bool:
        with self._turn() as turn:
            return self.mediator.closed(turn, path, name)

    def configure(self, rebase: Literal["auto", "ask"]) -> None:
        """Whether what waits moves along with what the human types (`remit.rebase`)."""
        with self._turn() as turn:
            self.mediator.configured(turn, rebase)

    def command(self, command: str, arguments: Command) -> str:
        """The human answers an offer; what it led to. Raises UserFault or WorldFault, having changed nothing."""
        with self._turn() as turn:
            return self.mediator.commanded(turn, command, arguments)

    # --- looking ------------------------------------------------------------------------------------------------------

    def findings(self, *, outside_hints: bool = True) -> tuple[Finding, ...]:
        return findings.findings(self.mediator.turn(drawing=True), outside_hints=outside_hints)

    def offer(self, doable: Doable) -> str:
        """The offer under which a doable is shown now."""
        return findings.offer(self.mediator.turn(drawing=True), doable)

    def offers(self, doables: Iterable[Doable]) -> list[str]:
        """As `offer`, for many that are shown together: the files are looked at once."""
        turn = self.mediator.turn(drawing=True)
        return [findings.offer(turn, doable) for doable in doables]

    def overview(self) -> dict[str, Json]:
        """Everything that waits, each with the offer that answers it."""
        return overview(self.mediator.turn(drawing=True))

    def report(self, task: str | None = None) -> report.Report:
        """UserFault("no_such_task") when there is none, or several and none was named."""
        turn = self.mediator.turn()
        return report.report(turn, task or findings.only_task(turn))

    def peek(self) -> Turn:
        """A turn for looking only: nothing it says is kept."""
        return self.mediator.turn()

    # --- the agents' door ---------------------------------------------------------------------------------------------

    def describe(self) -> dict[str, Json]:
        return {"mode": self.mediator.state.mode, "pid": self.process, "version": self.version, "root": self.root}

    def connect(self, hello: Hello, peer: int | None) -> str:
        with self._turn() as turn:
            self.mediator.connected(turn, hello, peer)
        name = f"{hello.agent}:{self.mediator.tokens.token()}"
        self.connections[name] = hello.agent
        return name

    def disconnect(self, connection: str) -> None:
        self.connections.pop(connection, None)

    def call(self, connection: str, verb: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """An agent's request. Raises Fault; an agent's is recorded first."""
        agent = self.connections[connection]
        try:
            with self._turn() as turn:
                return self.mediator.asked(turn, agent, verb, params)
        except AgentFault as fault:
            if fault.code == "task_unbound":
                with self._turn() as turn:
                    fault.data["decisionId"] = self.mediator.unbound(turn, agent)
            if fault.code not in UNRECORDED:
                with self._turn() as turn:
                    self.mediator.refused(turn, agent, verb, fault)
            raise

    def hand_over(self) -> None:
        """An editor wants the workspace."""
        _ready(self.yielded)()


def _ready(part: Callable[..., None] | None) -> Callable[..., None]:
    if part is None:
        raise WorldFault("not_ready", "This session cannot do that yet.")
    return part
