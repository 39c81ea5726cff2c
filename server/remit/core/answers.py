"""The results of each verb, as models: views of what was recorded, in the words a model reads.

Does not live here: which verb answers with which (`verbs`), how a view is made of the state (`reading` and others).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from remit.core.chunk import USUAL, Rule
from remit.core.model import Binding, Digest, Model


class HunkView(Model):
    id: str = Field(description="The hunk's name, unique in the workspace.")
    path: str
    old_start: int = Field(description="First line in the old text, from 1 (0 for an empty side).")
    old_lines: int
    new_start: int
    new_lines: int
    state: Literal["pending", "applied", "rejected", "replaced", "undone"] = "pending"
    placed: str = Field(
        default="exact",
        description="How it was placed: exact, or what was needed of offset(n), line_ends, trailing_blanks, tabs and "
        "rebase(+n); of several chunks, each.",
    )
    was: str | None = Field(default=None, description="The hunk of the older proposal that a rebase made it from.")


class FileView(Model):
    path: str
    op: Literal["create", "modify", "delete", "rename"]
    source: str | None = None
    base: Binding
    result: Binding
    executable: bool | None = Field(
        default=None, description="What the change makes of the file's mode; null: keeps it."
    )
    copy_of: str | None = Field(
        default=None, description="For a new file made by a patch's copy: where its text was taken from."
    )
    kept: tuple[Literal["bom", "line_ends"], ...] | None = Field(
        default=None, description="What of the file's form stays although the text that you sent has another."
    )


class Mover(Model):
    """Somebody who moved a file away from the content that a change was made from."""

    who: Literal["user", "formatter", "proposal", "git", "unknown"] = Field(
        description="`user`: through the editor, typed or saved. `formatter`: by the look of it, right before a save. "
        "`proposal`: one that was applied. `git`: the file on disk is what HEAD has."
    )
    proposal: str | None = None
    agent: str | None = Field(default=None, description="The name of the agent whose proposal it was.")


class ConflictView(Model):
    """Lines that were changed on both sides since the base: as they were, as they are, as proposed."""

    base_line: int = Field(description="First line in the base, from 1.")
    base: tuple[str, ...]
    line: int = Field(description="First line in the current content, from 1.")
    present: tuple[str, ...]
    proposed: tuple[str, ...]
    cut: bool = Field(default=False, description="True when lines were left out.")


class StaleView(Model):
    """Why a proposal is stale, with what is needed to make the next one fit."""

    path: str
    base: Binding
    current: Binding
    origin: str = Field(description="Where the current content is: `buffer v3`, `disk` or `absent`.")
    diff: str = Field(description="Unified diff from the base to the current content; cut when long.")
    moved_by: tuple[Mover, ...] = Field(default=(), description="Who moved it, as far as it is known, oldest first.")
    line_ends_only: bool = Field(description="True when only line ends differ.")
    rebase: Literal["clean", "conflict", "not_possible"] = Field(
        description="Whether the change fits the current content by a three-way merge."
    )
    conflicts: tuple[ConflictView, ...] = Field(default=(), description="Where it does not: both sides, in order.")


class DecisionView(Model):
    decision_id: str
    kind: str
    state: Literal["pending", "answered", "withdrawn"]
    question: str
    options: tuple[str, ...] = ()
    answer: str | None = Field(default=None, description="The option that was chosen.")
    text: str | None = Field(default=None, description="What the human wrote, if anything.")


class RunView(Model):
    run_id: str
    check_id: str
    state: Literal["running", "passed", "failed", "timed_out", "not_started", "outcome_unknown"]
    fresh: bool = Field(description="False once an input has changed since the run.")
    exit_code: int | None = None
    output: str = Field(default="", description="Head and tail of the output.")
    sandbox: str = "none"
    not_seen: tuple[str, ...] = Field(default=(), description="Files whose unsaved text the run did not see.")


class CheckView(Model):
    check_id: str
    title: str
    kind: Literal["command", "human"]
    status: Literal["not_run", "waiting", "running", "passed", "failed", "stale", "forbidden", "outcome_unknown"]
    required: bool
    may_run: bool
    reason: str = ""
    last_run: RunView | None = None


class TaskView(Model):
    task_id: str
    goal: str
    write_scope: tuple[str, ...]
    rights: tuple[str, ...] = Field(description="What is really allowed: the contract less what policy takes away.")
    checks: tuple[CheckView, ...]
    network: str
    delivery: str
    review: Literal["before", "after"] = Field(
        default="before", description="after: what policy lets be is applied at once; the answer to a proposal says so."
    )
    commit_allowed: bool
    placement: tuple[Rule, ...] = Field(
        default=USUAL, description="By which rules the policy lets a change find its place, besides exactly."
    )
    contract_path: str
    contract_digest: Digest
    policy_digest: Digest


class ContractResult(Model):
    active: bool
    session: Literal["editor", "headless"]
    task: TaskView | None = None
    drafts: tuple[DecisionView, ...] = ()
    next: str = Field(description="What to do next, in one sentence.")


class ListResult(Model):
    files: tuple[str, ...]
    writable: tuple[str, ...] = Field(description="Those of `files` the contract lets you change.")
    truncated: bool


class ReadResult(Model):
    path: str
    text: str
    digest: Digest = Field(description="Bind patches of this file to it.")
    origin: Literal["buffer", "disk"]
    version: int | None = None
    unsaved: bool = Field(description="True when the editor holds text that is not on disk.")
    line_count: int
    line_ends: str
    encoding: str = Field(
        default="utf-8", description="`windows-1252` and `opaque` are guesses, and `encodingNote` says what follows."
    )
    encoding_note: str | None = Field(
        default=None, description="What to know before changing text in a guessed encoding."
    )
    writable: bool
    partial: bool = False


class OverlapView(Model):
    """Another proposal that waits and is about the same or adjoining lines."""

    hunk_id: str = Field(description="Your hunk.")
    path: str
    proposal_id: str = Field(description="The other one. Once either is applied, the other is stale.")
    yours: bool = Field(description="Whether you made that one too.")
    same_task: bool = Field(description="Whether proposal_status tells you of it.")


class ProposeResult(Model):
    proposal_id: str
    state: str
    files: tuple[FileView, ...]
    hunks: tuple[HunkView, ...]
    decisions: tuple[str, ...] = Field(default=(), description="Decisions that must be answered before it can apply.")
    overlaps: tuple[OverlapView, ...] = Field(default=(), description="What else waits for the same lines.")
    notes: tuple[str, ...] = Field(
        default=(), description="What in the patch was set aside, or read otherwise than it was written."
    )
    next: str


class ReplacementView(Model):
    """What a proposal lives on as: a part, the rest, what a human amended, or what was made anew on today's text."""

    proposal_id: str
    made: Literal["agent", "part", "rest", "rebase", "amend", "undo", "remit"]
    state: str
    digest: Digest = Field(description="What an approval of it binds to.")
    files: tuple[FileView, ...]


class ProposalResult(Model):
    proposal_id: str
    state: str
    fresh: bool
    settled: bool = Field(description="True when nothing of it waits for the human any more.")
    hunks: tuple[HunkView, ...]
    diff: str = Field(
        default="",
        description="All of it as a unified diff with git's headers, as it was proposed; cut when long. Only from "
        "proposal_status and wait_for_review, and only where you may read files.",
    )
    replaced_by: tuple[str, ...] = ()
    replacements: tuple[ReplacementView, ...] = Field(default=(), description="Those of `replacedBy`, as they are.")
    stale: tuple[StaleView, ...] = ()
    decisions: tuple[str, ...] = ()
    reason: str = ""
    next: str


class ChecksResult(Model):
    checks: tuple[CheckView, ...]


class RunResult(Model):
    check_id: str
    decision_id: str | None = None
    run: RunView | None = None
    next: str


class DecisionResult(Model):
    decision: DecisionView
    settled: bool
    run: RunView | None = None
    next: str


class StatusResult(Model):
    page: str = Field(description="Everything that matters, in a page of plain text.")
    task: TaskView | None = None
    proposals: tuple[ProposalResult, ...] = ()
    decisions: tuple[DecisionView, ...] = ()


class FinishResult(Model):
    report: str = Field(description="The report as computed from what was recorded, in Markdown.")
    open: tuple[str, ...] = Field(description="What still stands in the way of done.")
