"""The task contract: what one task may touch and do. A file the human owns; the model of it lives here.

Parsing with exact places is `core/source.py`; what policy takes away again is `core/permission.py`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from remit.core.model import Model

RIGHTS = ("read_file", "apply_patch", "run_check", "git_commit")
"""The rights that `allowedTools` may name, besides `external:<id>`."""

TaskId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
CheckId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Right = Annotated[
    str, StringConstraints(pattern=r"^(read_file|apply_patch|run_check|git_commit|external:[A-Za-z0-9._-]{1,64})$")
]
ScopeEntry = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class Verification(Model):
    """Which checks may run, must have passed, and must never run, by id."""

    allowed: tuple[CheckId, ...] = Field(default=(), description="Checks the agent may ask for.")
    required: tuple[CheckId, ...] = Field(
        default=(), description="Checks without which the task is not done. They may also be asked for."
    )
    forbidden: tuple[CheckId, ...] = Field(
        default=(), description="Checks that are never run for this task; the report says so. They need not exist."
    )


class TaskContract(Model):
    """What one task may touch and do. In force is the exact text a human activated, by digest."""

    task_id: TaskId = Field(description="The task's name, unique in the workspace.")
    goal: Annotated[str, StringConstraints(min_length=1, max_length=4000)] = Field(
        description="What is to be achieved, in the human's words."
    )
    write_scope: tuple[ScopeEntry, ...] = Field(
        description="Folders, files or gitignore-style globs the task may change; '!' takes out again."
    )
    allowed_tools: tuple[Right, ...] = Field(
        description="Rights: read_file (read and list), apply_patch (propose), run_check, git_commit, external:<id>."
    )
    network: Literal["disabled", "enabled"] = Field(
        default="disabled", description="Whether checks and tools of this task may use the network."
    )
    verification: Verification = Field(default_factory=Verification, description="Checks, by id.")
    delivery: Literal["local_files"] = Field(
        default="local_files", description="Where accepted changes go: into the workspace."
    )
    review: Literal["before", "after"] = Field(
        default="before",
        description="Whether changes wait for a review, or are applied at once and reviewed after, if policy allows.",
    )
    commit_allowed: bool = Field(default=False, strict=True, description="Whether commits may be made for this task.")

    def may(self, right: str) -> bool:
        """Whether `allowedTools` names this right."""
        return right in self.allowed_tools

    def checks(self) -> tuple[str, ...]:
        """The checks that may be asked for, required ones first, without the forbidden ones."""
        named = dict.fromkeys((*self.verification.required, *self.verification.allowed))
        return tuple(check for check in named if check not in self.verification.forbidden)
