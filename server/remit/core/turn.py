"""One turn of the mediator: what is known, what is being said, and what shall be done about it.

A turn emits events (folded at once, made durable before anything is released), keeps contents, asks for effects and
makes offers. What to say is decided by the modules that are handed a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from remit.core import codec, source
from remit.core import events as e
from remit.core.codec import Charset
from remit.core.contract import TaskContract
from remit.core.diff import Span
from remit.core.effects import Effect
from remit.core.faults import AgentFault, Fault, Json, OurFault, UserFault
from remit.core.leaves import Frozen
from remit.core.mirror import Mirror
from remit.core.model import fingerprint
from remit.core.policy import EMPTY, Policy
from remit.core.proposal import Proposal
from remit.core.recall import Recall
from remit.core.sight import SECOND, Sight
from remit.core.snapshot import NOTHING, Snapshot
from remit.core.state import State

Act = Literal[
    "activate", "accept", "reject", "acceptHunk", "rejectHunk", "rebase", "amend", "undo", "decide", "runCheck", "seen"
]


SHOWN = 5_000
"""Offers that can be answered: each keystroke may show a check anew, with what it looks at; the oldest are let go."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an offer lets a human do, and the fingerprint of everything it shows."""

    act: Act
    target: str
    binding: str
    hunk: str = ""


@dataclass(slots=True)
class Offers:
    """The showings of this session. They end with it: an old prompt answers nothing."""

    token: Callable[[], str]
    subjects: dict[str, Subject] = field(default_factory=dict)
    names: dict[Subject, str] = field(default_factory=dict)
    spent: dict[str, Subject] = field(default_factory=dict)

    def make(self, subject: Subject) -> str:
        """The id under which this is shown; the same while nothing it shows has moved."""
        name = self.names.pop(subject, None) or self.token()
        self.subjects.pop(name, None)
        self.names[subject], self.subjects[name] = name, subject  # what was shown last stands last
        if len(self.subjects) > SHOWN:
            oldest, gone = next(iter(self.subjects.items()))
            del self.subjects[oldest], self.names[gone]
        return name

    def spend(self, name: str) -> None:
        """The offer was used: what it showed gets a new id if it is ever shown again."""
        subject = self.subjects.pop(name, None)
        if subject is not None:
            self.names.pop(subject, None)
            self.spent[name] = subject


@dataclass(slots=True)
class Inflight:
    """An apply that is under way in this session; after a crash the digests alone must tell."""

    proposal: Proposal
    phase: Literal["waiting", "stage", "buffers", "commit", "undo", "revert"]
    disk: bool
    deadline: float
    answered: bool | None = None
    said: str = ""
    guard: str = ""


@dataclass(slots=True)
class Memory:
    """What the mediator holds that the journal does not: it may be lost at any moment."""

    mirror: Mirror
    offers: Offers
    inflight: dict[str, Inflight] = field(default_factory=dict)
    compares_versions: bool = False
    client: str = ""
    can_edit: bool = False
    attached_at: float | None = None
    saves: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, tuple[str, int]] = field(default_factory=dict)
    proposals: Recall[str, Proposal] = field(default_factory=lambda: Recall(500))
    moved: Recall[tuple[str, Charset, Frozen], tuple[Span, ...]] = field(default_factory=lambda: Recall(200))
    told: Recall[tuple[str, str, str], tuple[str, bool]] = field(default_factory=lambda: Recall(200))

    def mark(self) -> dict[str, Inflight]:
        """A turn begins: what `restore` goes back to."""
        self.offers.spent.clear()
        return {name: replace(flight) for name, flight in self.inflight.items()}

    def restore(self, marked: dict[str, Inflight]) -> None:
        """What the turn said was not made durable: what is under way and what is on offer are as before it."""
        self.inflight = marked
        for name, subject in self.offers.spent.items():
            if subject not in self.offers.names:
                self.offers.names[subject], self.offers.subjects[name] = name, subject


@dataclass(slots=True)
class Turn:
    """See the module. `look` reads the world; everything else is in memory."""

    state: State
    memory: Memory
    at: str
    clock: float
    sight: Sight
    content: Callable[[str], bytes | None]
    events: list[tuple[int, e.Event]] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    drawing: bool = False
    _glances: dict[str, Snapshot] = field(default_factory=dict)

    def emit(self, event: e.Event) -> int:
        """Say what happened; the sequence number it gets."""
        seq = self.state.seq + 1
        self.state.fold(seq, self.at, event)
        self.events.append((seq, event))
        return seq

    def keep(self, data: bytes) -> str:
        """Keep a content; its digest."""
        name = codec.digest(data)
        self.blobs[name] = data
        return name

    def look(self, path: str) -> Snapshot:
        """The file as it is now: what decisions stand on. Raises what the disk refuses."""
        return self.sight.look(path)

    def glance(self, path: str) -> Snapshot:
        """`look` for showing: what cannot be looked at is shown as in doubt. One drawing looks once."""
        if not self.drawing:
            return self._quietly(self.sight.glance, path)
        if path not in self._glances:
            self._glances[path] = self._quietly(self.sight.glance, path)
        return self._glances[path]

    def skim(self, path: str) -> Snapshot:
        """`glance` at one of very many files, for its digest; while drawing, it may be a second old."""
        within = SECOND if self.drawing else -1.0
        return self._quietly(lambda one: self.sight.skim(one, within), path)

    def _quietly(self, look: Callable[[str], Snapshot], path: str) -> Snapshot:
        try:
            return look(path)
        except Fault:
            return Snapshot(path, NOTHING, "absent", trusted=False)

    def found(self, paths: Iterable[str]) -> dict[str, str]:
        """What is at each path now, by digest; without what cannot be read or is in doubt: nothing is known of it."""
        digests: dict[str, str] = {}
        for path in paths:
            with suppress(Fault):
                if (look := self.look(path)).trusted:
                    digests[path] = look.digest
        return digests

    def files(self) -> list[str]:
        """The workspace's files, as they were within the last second."""
        return self.sight.list()

    def exists(self, path: str) -> bool:
        """Whether there is something to show at `path`."""
        return self.glance(path).origin != "absent"

    def act(self, effect: Effect) -> None:
        self.effects.append(effect)

    def kept(self, name: str) -> bytes:
        """A content that some event cites."""
        data = self.blobs.get(name)
        data = self.content(name) if data is None else data
        if data is None:
            raise OurFault("content_missing", f"The content {name[:12]}… that the journal cites is gone.")
        return data

    # --- what is in force ---------------------------------------------------------------------------------------------

    def policy(self) -> Policy:
        """The policy in force: the activated text, or the empty one."""
        if self.state.policy is None:
            return EMPTY
        value = source.policy(self.kept(self.state.policy).decode()).value
        if value is None:
            raise OurFault("policy_unreadable", "The activated policy cannot be read any more.")
        return value

    def policy_digest(self) -> str:
        return self.state.policy or fingerprint(EMPTY.wire())

    def contract(self, task: str) -> TaskContract:
        """The contract in force of an active task."""
        if task not in self.state.contracts:
            raise UserFault("no_such_task", f"No task {task} is active.")
        _, activated = self.state.contracts[task]
        value = source.contract(self.kept(activated.contract).decode()).value
        if value is None:
            raise OurFault("contract_unreadable", f"The activated contract of {task} cannot be read any more.")
        return value

    def contract_digest(self, task: str) -> str:
        return self.state.contracts[task][1].contract

    def proposal(self, name: str) -> Proposal:
        """A proposal whole. AgentFault("unknown_proposal")."""
        entry = self.state.proposals.get(name)
        if entry is None:
            raise AgentFault("unknown_proposal", f"There is no proposal {name}.", remedy="Call task_status.")
        body = entry.outline.body
        return self.memory.proposals.get(body, lambda: Proposal.parse(self.kept(body)))

    def record(self, proposal: Proposal) -> int:
        """Put a proposal into the journal, its body into the content store."""
        body = self.keep(proposal.body())
        return self.emit(
            e.Proposed(
                proposal=proposal.id,
                body=body,
                digest=proposal.digest(),
                task=proposal.task,
                agent=proposal.agent,
                made=proposal.made,
                parent=proposal.parent,
                files=tuple(
                    e.FileOutline(
                        path=file.path,
                        op=file.op,
                        source=file.source,
                        base=file.base,
                        result=file.result,
                        hunks=tuple(hunk.id for hunk in file.hunks),
                    )
                    for file in proposal.files
                ),
            )
        )

    # --- offers -------------------------------------------------------------------------------------------------------

    def offer(self, act: Act, target: str, shows: Mapping[str, Json], hunk: str = "") -> str:
        """An offer id for an act on what is shown; one and the same while `shows` stays the same."""
        binding = fingerprint({"act": act, "target": target, "hunk": hunk, **shows})
        return self.memory.offers.make(Subject(act, target, binding, hunk))

    def answer(self, offer: str, act: Act) -> Subject:
        """What an answered offer was about. Faults: approval_unknown, already_decided, wrong_offer."""
        subject = self.memory.offers.subjects.get(offer)
        if subject is None:
            if (done := self.state.used.get(offer)) is not None:
                raise UserFault("already_decided", f"This was already decided: {done}.", decided=done)
            raise UserFault(
                "approval_unknown",
                "This prompt is not from the present session, or never existed; nothing was done.",
                remedy="Look again: what still waits is shown anew.",
            )
        if subject.act != act:
            raise UserFault("wrong_offer", f"This offer is for {subject.act}, not for {act}.")
        return subject

    def approve(self, offer: str, subject: Subject, shows: Mapping[str, Json]) -> e.Approval:
        """The approval an offer gives, if what it showed has not moved. Fault: approval_stale."""
        now = fingerprint({"act": subject.act, "target": subject.target, "hunk": subject.hunk, **shows})
        if now != subject.binding:
            self.memory.offers.spend(offer)
            raise UserFault(
                "approval_stale",
                "What was shown has changed since; nothing was done.",
                remedy="Look at it again and decide anew.",
            )
        self.memory.offers.spend(offer)
        return e.Approval(by=f"human ({self.memory.client})", offer=offer, binding=subject.binding)
