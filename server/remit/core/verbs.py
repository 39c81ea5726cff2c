"""What an agent may say to Remit: each verb with its parameters, its result and the words a model reads.

One table, `VERBS`, feeds the agent socket, the MCP tools, `contracts/methods.md` and the mediator. The models are in
`requests` and `answers`; what a verb does is decided elsewhere. Nothing here can approve, activate or configure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from remit.core.answers import (
    ChecksResult,
    ContractResult,
    DecisionResult,
    FinishResult,
    ListResult,
    ProposalResult,
    ProposeResult,
    ReadResult,
    RunResult,
    StatusResult,
)
from remit.core.model import Model
from remit.core.requests import (
    AmendParams,
    AskParams,
    DecisionParams,
    DraftParams,
    FinishParams,
    ListParams,
    Nothing,
    ProposalParams,
    ProposeParams,
    ReadParams,
    RunParams,
    WaitProposalParams,
    WithdrawParams,
)


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing an agent may ask; `right` is what the contract must allow (None: always allowed)."""

    params: type[Model]
    result: type[Model]
    title: str
    description: str
    right: str | None = None
    read_only: bool = False


VERBS: Mapping[str, Verb] = {
    "get_contract": Verb(
        Nothing,
        ContractResult,
        "Get the task contract",
        "What this task may touch and do, as the human activated it. Call it first, and after losing your history.",
        read_only=True,
    ),
    "list_files": Verb(
        ListParams,
        ListResult,
        "List files",
        "Files of the workspace (ignored ones left out), and which of them the contract lets you change.",
        right="read_file",
        read_only=True,
    ),
    "read_file": Verb(
        ReadParams,
        ReadResult,
        "Read a file",
        "The present text of a file, unsaved edits included, with the digest that a patch must be bound to.",
        right="read_file",
        read_only=True,
    ),
    "propose_patch": Verb(
        ProposeParams,
        ProposeResult,
        "Propose a patch",
        "Propose changes for review: `patch` (unified diff or *** Begin Patch), `edits` (search and replace) or "
        "`files` (whole texts), with `bases` giving each path's digest from read_file, or 'absent'. Nothing is "
        "written until the human accepts (or it is at once, where the contract says `review: after`: see `next`). "
        "Then call wait_for_review.",
        right="apply_patch",
    ),
    "proposal_status": Verb(
        ProposalParams,
        ProposalResult,
        "Proposal status",
        "Where a proposal stands, hunk by hunk; if it is stale: what moved, as a diff, and the digest to use now.",
        read_only=True,
    ),
    "wait_for_review": Verb(
        WaitProposalParams,
        ProposalResult,
        "Wait for the review",
        "Waits at most 25 s for the human's answer. Not settled yet: call it again; for what is in `replacedBy`, if "
        "there is anything.",
        read_only=True,
    ),
    "withdraw_proposal": Verb(
        WithdrawParams,
        ProposalResult,
        "Withdraw a proposal",
        "Take back a proposal of yours that still waits. Nothing is written.",
    ),
    "list_checks": Verb(
        Nothing,
        ChecksResult,
        "List checks",
        "The checks of this task and how each stands: not run, passed, failed, stale, forbidden.",
        read_only=True,
    ),
    "run_check": Verb(
        RunParams,
        RunResult,
        "Run a check",
        "Ask for a run of an approved check. The human may have to allow it: then wait_for_decision with decisionId, "
        "which also brings the result.",
        right="run_check",
    ),
    "ask_human": Verb(
        AskParams,
        DecisionResult,
        "Ask the human",
        "Put a question to the human in their editor. Then wait_for_decision.",
    ),
    "wait_for_decision": Verb(
        DecisionParams,
        DecisionResult,
        "Wait for a decision",
        "Waits at most 25 s for the human's answer, and for the run it allows. Not settled yet: call it again.",
        read_only=True,
    ),
    "propose_contract": Verb(
        DraftParams,
        DecisionResult,
        "Propose a contract",
        "With no active contract: draft one (goal, write scope, checks) that the human edits and activates.",
    ),
    "request_amendment": Verb(
        AmendParams,
        DecisionResult,
        "Ask for more",
        "Ask the human to widen the active contract. Say why. Then wait_for_decision.",
    ),
    "task_status": Verb(
        Nothing,
        StatusResult,
        "Task status",
        "One page: the contract, what was done, what is pending and what has not run. Read it after losing history.",
        read_only=True,
    ),
    "finish_task": Verb(
        FinishParams,
        FinishResult,
        "Finish the task",
        "Say that you are done. Returns the report as computed from what was recorded, and what is still open.",
    ),
}


class Hello(Model):
    """The first frame of a connection to the agent socket."""

    token: str
    role: Literal["agent", "editor"] = "agent"
    agent: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")] = Field(
        description="Random name of this agent's process; the same after a reconnect."
    )
    name: str = Field(default="agent", max_length=100, description="The program's name, as claimed.")
    version: str = Field(default="", max_length=100)
    protocol: int = 1
