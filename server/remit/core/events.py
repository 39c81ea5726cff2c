"""The journal's events: what happened, in past tense, one frozen model each, and their JSON form.

File contents are never in an event: they lie in the content store and are cited by digest. What the events add up
to is `core/state.py`; how records are chained is `core/chain.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import Field, TypeAdapter, ValidationError

from remit.core.action import ActionState
from remit.core.approval import Approval as Approval
from remit.core.faults import WorldFault
from remit.core.model import Binding, Digest, Model


class FileOutline(Model):
    """One file of a proposal without its content."""

    path: str
    op: Literal["create", "modify", "delete", "rename"]
    source: str | None = None
    base: Binding
    result: Binding
    hunks: tuple[str, ...]


class Target(Model):
    """One file an action writes: through the editor's buffer or on disk, from which content to which."""

    path: str
    via: Literal["buffer", "disk"]
    before: Binding
    after: Binding


class Option(Model):
    """One answer a decision offers."""

    id: str
    title: str
    effect: str = Field(default="", description="What choosing it will do.")


class SessionOpened(Model):
    type: Literal["session_opened"] = "session_opened"
    mode: Literal["editor", "headless"]
    client: str
    client_version: str = ""
    process: int
    version: str
    guards: tuple[str, ...] = Field(default=(), description="What stood guard, as probed when the session opened.")


class PolicyActivated(Model):
    type: Literal["policy_activated"] = "policy_activated"
    policy: Digest
    approval: Approval


class ContractActivated(Model):
    type: Literal["contract_activated"] = "contract_activated"
    task: str
    path: str
    contract: Digest
    policy: Digest
    approval: Approval


class AgentConnected(Model):
    type: Literal["agent_connected"] = "agent_connected"
    agent: str
    name: str
    version: str
    process: int | None = None


class AgentBound(Model):
    type: Literal["agent_bound"] = "agent_bound"
    agent: str
    task: str
    approval: Approval


class Shown(Model):
    """A receipt: this agent was shown this content."""

    type: Literal["shown"] = "shown"
    agent: str
    path: str
    digest: Digest
    origin: Literal["buffer", "disk"]


class Refused(Model):
    """An agent asked for something that was refused; nothing changed."""

    type: Literal["refused"] = "refused"
    agent: str
    task: str | None = None
    verb: str
    code: str
    message: str
    path: str | None = None


class Proposed(Model):
    type: Literal["proposed"] = "proposed"
    proposal: str
    body: Digest = Field(description="The whole proposal, in the content store.")
    digest: Digest = Field(description="What approvals bind to.")
    task: str
    agent: str
    made: Literal["agent", "part", "rest", "rebase", "amend", "undo", "remit"] = "agent"
    parent: str | None = None
    files: tuple[FileOutline, ...]


class Rejected(Model):
    """The human said no to these hunks."""

    type: Literal["rejected"] = "rejected"
    proposal: str
    hunks: tuple[str, ...]
    approval: Approval


class Superseded(Model):
    type: Literal["superseded"] = "superseded"
    proposal: str
    replaced_by: tuple[str, ...]


class Undone(Model):
    """What was applied was taken back, by another proposal."""

    type: Literal["undone"] = "undone"
    proposal: str
    by: str


class Seen(Model):
    """The human has looked at what was applied without a review."""

    type: Literal["seen"] = "seen"
    proposal: str
    approval: Approval


class Withdrawn(Model):
    type: Literal["withdrawn"] = "withdrawn"
    proposal: str
    reason: str


class Answered(Model):
    """The first answer to an agent's keyed request, so that the same request gets the same answer."""

    type: Literal["answered"] = "answered"
    agent: str
    key: str
    request: Digest = Field(description="Fingerprint of verb and body.")
    answer: Digest = Field(description="The answer, in the content store.")


class ActionPlanned(Model):
    """Intent, durable before the effect."""

    type: Literal["action_planned"] = "action_planned"
    action: str
    kind: Literal["apply", "check"]
    subject: str = Field(description="The proposal or the check.")
    task: str
    parameters: Digest = Field(description="Fingerprint of the canonical parameters.")
    approval: Approval
    targets: tuple[Target, ...] = ()
    inputs: Digest | None = Field(default=None, description="For a check: digest of the list of its inputs.")
    argv: tuple[str, ...] = ()
    definition: Digest | None = Field(default=None, description="For a check: fingerprint of how it was defined.")
    not_seen: tuple[str, ...] = ()


class ActionMoved(Model):
    type: Literal["action_moved"] = "action_moved"
    action: str
    to: ActionState
    reason: str = ""
    guard: str = Field(default="", description="What protected the effect, as it was.")
    found: dict[str, Binding] = Field(default_factory=dict, description="For each target: the digest that was found.")


class CheckFinished(Model):
    """What a run of a check showed, beside the end of its action."""

    type: Literal["check_finished"] = "check_finished"
    action: str
    check: str
    result: Literal["passed", "failed", "timed_out", "not_started"]
    exit_code: int | None = None
    output: Digest | None = None
    output_bytes: int = 0
    output_cut: bool = False
    seconds: float = 0
    sandbox: str = "none"
    held: bool = Field(default=True, description="Whether its inputs were the same before and after the run.")


class DecisionAsked(Model):
    type: Literal["decision_asked"] = "decision_asked"
    decision: str
    kind: Literal["question", "run", "contract", "amendment", "protected_path", "unknown_outcome", "bind"]
    task: str | None = None
    agent: str | None = None
    question: str
    why: str = ""
    options: tuple[Option, ...] = Field(description="The safe one first; empty for free text.")
    about: str | None = None
    subject: str = Field(default="", description="The proposal, check or action it is about.")
    binding: Digest = Field(description="Fingerprint of what an answer would bind to.")
    content: Digest | None = Field(default=None, description="A text it is about, in the content store.")


class DecisionAnswered(Model):
    type: Literal["decision_answered"] = "decision_answered"
    decision: str
    option: str
    text: str = ""
    approval: Approval


class DecisionWithdrawn(Model):
    type: Literal["decision_withdrawn"] = "decision_withdrawn"
    decision: str
    reason: str


class Finished(Model):
    """The agent's word that it is done. A claim: it moves nothing."""

    type: Literal["finished"] = "finished"
    task: str
    agent: str
    summary: str


Event: TypeAlias = Annotated[
    Union[
        SessionOpened,
        PolicyActivated,
        ContractActivated,
        AgentConnected,
        AgentBound,
        Shown,
        Refused,
        Proposed,
        Rejected,
        Superseded,
        Undone,
        Seen,
        Withdrawn,
        Answered,
        ActionPlanned,
        ActionMoved,
        CheckFinished,
        DecisionAsked,
        DecisionAnswered,
        DecisionWithdrawn,
        Finished,
    ],
    Field(discriminator="type"),
]

ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)


def encode(event: Event) -> dict[str, Any]:
    """The JSON form of an event, camelCase; `decode` is its inverse."""
    return event.wire()


def decode(raw: Mapping[str, Any]) -> Event:
    """The event of a JSON form. WorldFault("journal_unreadable") for one this version does not know."""
    try:
        return ADAPTER.validate_python(raw)
    except ValidationError as error:
        raise WorldFault(
            "journal_unreadable",
            f"The journal holds a record that this version cannot read: {raw.get('type')!r}.",
            remedy="Use the version that wrote it, or a newer one.",
            detail=str(error.errors(include_url=False)[0]["msg"]),
        ) from error
