"""The one owner of state. One thing happens, core decides about it, and what follows is said as events and effects.

Synchronous, and it does nothing itself: `session.py` makes the events durable and then lets the effects out. Verbs
and commands are tables. No door's words are known here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field, ValidationError

from remit.core import (
    activating,
    amending,
    applying,
    atonce,
    checking,
    deciding,
    drafting,
    following,
    plain,
    proposing,
    reading,
    recovering,
    report,
    reviewing,
    undoing,
    verdict,
)
from remit.core import events as e
from remit.core.answers import FinishResult
from remit.core.effects import CheckDone, Edited, Effect, FilesDone, Outcome, Wake, Woken
from remit.core.faults import AgentFault, UserFault
from remit.core.mirror import Mirror
from remit.core.model import Model, fingerprint
from remit.core.sight import Sight
from remit.core.state import State
from remit.core.text import Edit, PositionEncoding
from remit.core.turn import Memory, Offers, Turn
from remit.core.verbs import VERBS, Hello, Verb
from remit.ports import Clock, Files, Tokens


@dataclass(slots=True)
class Mediator:
    """Everything that is known, and the turns that change it."""

    files: Files
    content: Callable[[str], bytes | None]
    clock: Clock
    tokens: Tokens
    state: State = field(default_factory=State)
    rebase: Literal["auto", "ask"] = "ask"
    memory: Memory = field(init=False)
    sight: Sight = field(init=False)
    _pause: float = 0.0

    def __post_init__(self) -> None:
        self.memory = Memory(Mirror(), Offers(self.tokens.token))
        self.sight = Sight(self.files, self.memory.mirror, self.clock.monotonic)

    def turn(self, *, drawing: bool = False) -> Turn:
        """A new turn on the present state; one for drawing may show what is up to a second old."""
        return Turn(
            self.state,
            self.memory,
            self.clock.now(),
            self.clock.monotonic(),
            self.sight,
            self.content,
            drawing=drawing,
        )

    def replay(self, records: Iterable[tuple[int, str, Mapping[str, Any]]]) -> None:
        """Make the state anew from the journal."""
        self.state = State()
        for seq, at, raw in records:
            self.state.fold(seq, at, e.decode(raw))

    # --- the editor ---------------------------------------------------------------------------------------------------

    def attach(self, turn: Turn, opened: e.SessionOpened, encoding: PositionEncoding, abilities: Abilities) -> None:
        """A session begins: with an editor, or headless."""
        memory = self.memory
        memory.mirror.encoding = encoding
        memory.client, memory.can_edit = opened.client, abilities.can_edit
        memory.compares_versions = abilities.compares_versions
        turn.emit(opened)
        recovering.start(turn)
        if opened.mode == "editor":
            memory.attached_at = turn.clock
            recovering.attached(turn)

    def opened(self, turn: Turn, path: str, version: int, text: str, name: str) -> None:
        """A document was opened; `name` is the client's own, which tells two documents of one file apart."""
        self.memory.mirror.open(path, version, text, self.sight.bytes(path), turn.clock, name)
        self._moved(turn)

    def changed(self, turn: Turn, path: str, version: int, edits: Sequence[Edit], name: str) -> str | None:
        """A buffer changed; the reason when the change cannot be trusted."""
        doubt = self.memory.mirror.change(path, version, edits, turn.clock, name)
        self._moved(turn)
        if self.rebase == "auto" and turn.clock >= self._pause and following.concerns(turn, path):
            self._later(turn, following.PAUSE)
        return doubt

    def configured(self, turn: Turn, rebase: Literal["auto", "ask"]) -> None:
        """What the human has set: whether what waits moves along with what they type."""
        self.rebase = rebase
        if rebase == "auto":
            self._later(turn, following.PAUSE)

    def _later(self, turn: Turn, seconds: float) -> None:
        """Look in a while what may move along; one such look is enough, however much is typed until then."""
        self._pause = turn.clock + seconds
        turn.act(Wake(seconds))

    def saved(self, turn: Turn, path: str, name: str) -> bool:
        self.sight.nudge()
        known = self.memory.mirror.saved(path, self.sight.bytes(path), turn.clock, name)
        if known:
            self.memory.saves[path] = self.memory.mirror.buffers[path].loaded
        self._moved(turn)
        return known

    def closed(self, turn: Turn, path: str, name: str) -> bool:
        known = self.memory.mirror.close(path, name)
        self._moved(turn)
        return known

    def _moved(self, turn: Turn) -> None:
        for name in list(self.memory.inflight):
            applying.look_again(turn, name)
        if turn.state.running():
            recovering.look_again(turn)

    # --- the agent ----------------------------------------------------------------------------------------------------

    def connected(self, turn: Turn, hello: Hello, process: int | None) -> None:
        """An agent is here. AgentFault("agent_taken"): its id is that of another process, whose proposals and answers
        it would get."""
        known = turn.state.agents.get(hello.agent)
        if known is not None and None not in (known.process, process) and known.process != process:
            raise AgentFault("agent_taken", "This agent id belongs to another process.", remedy="Take a new random id.")
        name, version = plain.line(hello.name, 100), plain.line(hello.version, 100)
        if known is None or (known.name, known.version, known.process) != (name, version, process):
            turn.emit(e.AgentConnected(agent=hello.agent, name=name, version=version, process=process))

    def asked(self, turn: Turn, agent: str, verb: str, raw: Mapping[str, Any]) -> dict[str, Any]:
        """An agent's request; the answer. The same key and body gets the same answer, another body an error."""
        known, params = _parsed(verb, raw)
        key = getattr(params, "key", None)
        if key is None:
            return self._answer(turn, agent, verb, known, params)
        # As ASCII text: half a character in a body is refused by what reads it, not by the fingerprint.
        body = json.dumps(params.model_dump(mode="json", exclude={"key"}), sort_keys=True)
        request = fingerprint({"verb": verb, "body": body})
        before = turn.state.answers.get((agent, key))
        if before is not None:
            if before.request != request:
                raise AgentFault("key_reused", "This key was used for another request.", remedy="Use a new key.")
            found: dict[str, Any] = known.result.model_validate_json(turn.kept(before.answer)).wire()
            return found
        answer = self._answer(turn, agent, verb, known, params)
        kept = turn.keep(known.result.model_validate(answer).model_dump_json(by_alias=True).encode())
        turn.emit(e.Answered(agent=agent, key=key, request=request, answer=kept))
        return answer

    def _answer(self, turn: Turn, agent: str, verb: str, known: Verb, params: Model) -> dict[str, Any]:
        task = self.task_of(turn, agent, ask=verb in NEEDS_TASK)
        if known.right is not None and (verb in NEEDS_TASK or task is not None):
            _demand_right(turn, task, known.right)
        return ANSWERS[verb](turn, agent, task, params).wire()

    def task_of(self, turn: Turn, agent: str, *, ask: bool) -> str | None:
        """The task an agent works on. AgentFaults when `ask`: no_contract, task_unbound (with the decision's id)."""
        tasks = turn.state.contracts
        known = turn.state.agents.get(agent)
        if known is not None and known.task in tasks:
            return known.task
        if len(tasks) == 1:
            return next(iter(tasks))
        if not ask:
            return None
        if not tasks:
            raise AgentFault(
                "no_contract",
                "No contract is active, so nothing may be changed or run.",
                remedy="Draft one with propose_contract; the human activates it.",
            )
        raise AgentFault(
            "task_unbound",
            "Several tasks are active; the human says which one is yours.",
            remedy="Call wait_for_decision, then try again.",
            tasks=[*sorted(tasks)],
        )

    def unbound(self, turn: Turn, agent: str) -> str:
        """Ask the human which task this agent is to work on; the decision's id."""
        return deciding.bind(turn, agent)

    def refused(self, turn: Turn, agent: str, verb: str, fault: AgentFault) -> None:
        """Record what an agent was refused."""
        path = fault.data.get("path")
        turn.emit(
            e.Refused(
                agent=agent,
                task=self.task_of(turn, agent, ask=False),
                verb=verb,
                code=fault.code,
                message=fault.message,
                path=path if isinstance(path, str) else None,
            )
        )

    # --- the human ----------------------------------------------------------------------------------------------------

    def commanded(self, turn: Turn, command: str, arguments: Command) -> str:
        """The human answers an offer; what it led to, by id. UserFaults of the act."""
        act = COMMANDS.get(command)
        if act is None:
            raise UserFault("unknown_command", f"There is no command {command}.")
        return act(turn, arguments)

    # --- outcomes -----------------------------------------------------------------------------------------------------

    def happened(self, turn: Turn, outcome: Outcome) -> None:
        """An effect came to its end, or time has passed."""
        match outcome:
            case Edited():
                applying.edited(turn, outcome)
            case FilesDone(step="restore"):
                recovering.restored(turn, outcome)
            case FilesDone():
                applying.files_done(turn, outcome)
            case CheckDone():
                checking.done(turn, outcome)
            case Woken():
                applying.woken(turn)
                recovering.look_again(turn)
                auto = self.rebase == "auto" and turn.state.mode == "editor"
                if auto and (left := following.along(turn)) is not None:
                    self._later(turn, left)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the editor can do, as it said when it connected."""

    can_edit: bool = False
    compares_versions: bool = False


class Command(Model):
    """The arguments of a human's command: the offer that is answered, and with what."""

    offer: str
    option: str | None = None
    text: str = ""
    anyway: bool = False
    files: dict[str, str] = Field(default_factory=dict, description="For amend: whole new texts by path.")


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a turn: events and contents to make durable first, effects to let out after."""

    events: tuple[tuple[int, e.Event], ...]
    blobs: Mapping[str, bytes]
    effects: tuple[Effect, ...]


def _parsed(verb: str, raw: Mapping[str, Any]) -> tuple[Verb, Any]:
    known = VERBS.get(verb)
    if known is None:
        raise AgentFault("unknown_method", f"There is no verb {verb}.", remedy="Call one of `verbs`.", verbs=[*VERBS])
    try:
        return known, known.params.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise AgentFault(
            "invalid_params",
            f"{verb}: {where or 'parameters'}: {first['msg']}.",
            remedy="Correct the parameters and call again.",
            field=where,
        ) from error


def _demand_right(turn: Turn, task: str | None, right: str) -> None:
    if task is not None and right not in reading.task_view_rights(turn, task):
        raise AgentFault(
            "right_missing",
            f"The contract of {task} does not give the right {right}.",
            remedy="Ask with request_amendment.",
            right=right,
        )


def _finish(turn: Turn, agent: str, task: str, params: Any) -> FinishResult:
    turn.emit(e.Finished(task=task, agent=agent, summary=params.summary))
    found = report.report(turn, task)
    return FinishResult(report=report.markdown(found), open=report.open_points(found))


def _proposal_result(turn: Turn, agent: str, task: str | None, params: Any) -> Model:
    verdict.demand_visible(turn, agent, task, params.proposal_id)
    return verdict.shown_proposal(turn, task, params.proposal_id)


def _withdrawn(turn: Turn, agent: str, _task: str | None, params: Any) -> Model:
    proposing.withdraw(turn, agent, params.proposal_id)
    return verdict.proposal(turn, params.proposal_id)


def _decided(turn: Turn, name: str) -> Model:
    return deciding.result(turn, name)


def _decision_result(turn: Turn, agent: str, task: str | None, params: Any) -> Model:
    deciding.demand_visible(turn, agent, task, params.decision_id)
    return deciding.result(turn, params.decision_id)


NEEDS_TASK = frozenset({"propose_patch", "run_check", "list_checks", "request_amendment", "finish_task"})

ANSWERS: Mapping[str, Callable[[Turn, str, Any, Any], Model]] = {
    "get_contract": lambda turn, agent, task, _p: reading.contract(turn, agent, task),
    "list_files": lambda turn, _a, task, p: reading.list_files(turn, task, p),
    "read_file": reading.read_file,
    "propose_patch": proposing.propose,
    "proposal_status": _proposal_result,
    "wait_for_review": _proposal_result,
    "withdraw_proposal": _withdrawn,
    "list_checks": lambda turn, _a, task, _p: reading.checks(turn, task),
    "run_check": checking.request,
    "ask_human": lambda turn, agent, task, p: _decided(turn, deciding.ask(turn, agent, task, p)),
    "wait_for_decision": _decision_result,
    "propose_contract": lambda turn, agent, _t, p: _decided(turn, drafting.draft(turn, agent, p)),
    "request_amendment": lambda turn, agent, task, p: _decided(turn, drafting.amend(turn, agent, task, p)),
    "task_status": lambda turn, agent, task, _p: reading.status(turn, agent, task),
    "finish_task": _finish,
}

COMMANDS: Mapping[str, Callable[[Turn, Command], str]] = {
    "activate": lambda turn, c: activating.activate(turn, c.offer),
    "accept": lambda turn, c: reviewing.accept(turn, c.offer),
    "reject": lambda turn, c: reviewing.reject(turn, c.offer),
    "acceptHunk": lambda turn, c: reviewing.accept(turn, c.offer, "acceptHunk"),
    "rejectHunk": lambda turn, c: reviewing.reject(turn, c.offer, "rejectHunk"),
    "rebase": lambda turn, c: reviewing.rebase(turn, c.offer),
    "amend": lambda turn, c: amending.amend(turn, c.offer, c.files),
    "undo": lambda turn, c: undoing.undo(turn, c.offer),
    "seen": lambda turn, c: atonce.seen(turn, c.offer),
    "decide": lambda turn, c: deciding.answer(turn, c.offer, c.option, c.text),
    "runCheck": lambda turn, c: checking.run_now(turn, c.offer, anyway=c.anyway, verdict=c.option or "sign_off"),
}
