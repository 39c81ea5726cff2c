"""The parameters of each verb, as models: what an agent may send, with the words its model reads and the limits.

Does not live here: which verb takes which (`verbs`), what they answer (`answers`), what is done about it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from remit.core.contract import CheckId, Right, ScopeEntry, TaskId
from remit.core.model import Binding, Model

Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]
WAIT_LIMIT = 25.0
"""Seconds a waiting verb may take: the shortest client time-out met in practice is 60 s."""


def _key() -> Any:
    return Field(default=None, description="Idempotency key: the same key and body gets the same answer.")


class Nothing(Model):
    """No parameters."""


class ListParams(Model):
    under: str = Field(default="", description="Only files in this folder.")
    limit: int = Field(default=1000, ge=1, le=20_000)


class ReadParams(Model):
    path: str = Field(description="Relative to the workspace, with '/'.")
    first_line: int = Field(default=1, ge=1)
    last_line: int | None = Field(default=None, ge=1)


class WholeFile(Model):
    path: str
    content: str | None = Field(description="The whole new text; null deletes the file.")


class Replacement(Model):
    path: str
    search: Annotated[str, StringConstraints(min_length=1)] = Field(description="Text that is there, literally.")
    replace: str = Field(description="What comes in its place, literally.")
    count: int | None = Field(
        default=1, ge=1, description="How often `search` occurs; each is replaced. null: as often as it does."
    )


class ProposeParams(Model):
    patch: str | None = Field(default=None, description="A unified diff, or a `*** Begin Patch` text.")
    files: tuple[WholeFile, ...] | None = Field(default=None, description="Whole new texts, instead of `patch`.")
    edits: tuple[Replacement, ...] | None = Field(
        default=None, description="Search and replace, instead of `patch`; all made for the text you read."
    )
    bases: dict[str, Binding] = Field(
        default_factory=dict,
        description="For each path: the digest from read_file, or `absent` for a file that must not exist.",
    )
    note: str = Field(default="", max_length=4000, description="One or two sentences for the reviewer.")
    replaces: str | None = Field(default=None, description="A pending proposal of yours that this one supersedes.")
    key: Key | None = _key()


class ProposalParams(Model):
    proposal_id: str


class WithdrawParams(ProposalParams):
    key: Key | None = _key()


class WaitProposalParams(ProposalParams):
    seconds: float = Field(default=20, ge=0, le=WAIT_LIMIT)


class RunParams(Model):
    check_id: CheckId
    key: Key | None = _key()


class AskParams(Model):
    question: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    options: tuple[Annotated[str, StringConstraints(min_length=1, max_length=80)], ...] = Field(
        default=(), max_length=6, description="Answers to choose from; none means free text."
    )
    why: str = Field(default="", max_length=2000, description="Why it matters now.")
    about: str | None = Field(default=None, description="The file it is about.")
    key: Key | None = _key()


class DecisionParams(Model):
    decision_id: str
    seconds: float = Field(default=20, ge=0, le=WAIT_LIMIT)


class DraftParams(Model):
    goal: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    write_scope: tuple[ScopeEntry, ...]
    checks: tuple[CheckId, ...] = ()
    task_id: TaskId | None = None
    why: str = Field(default="", max_length=2000)
    key: Key | None = _key()


class AmendParams(Model):
    write_scope: tuple[ScopeEntry, ...] = Field(default=(), description="Entries to add to the write scope.")
    allowed_tools: tuple[Right, ...] = Field(default=(), description="Rights to add.")
    checks: tuple[CheckId, ...] = Field(default=(), description="Checks to add to verification.allowed.")
    why: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    key: Key | None = _key()


class FinishParams(Model):
    summary: Annotated[str, StringConstraints(min_length=1, max_length=8000)] = Field(
        description="What you did, in your words. It is attached to the report and moves nothing in it."
    )
    key: Key | None = _key()
