"""The standing rules of a workspace (`.remit/policy.toml`): checks, limits, protected paths, placing. The model of it.

A policy only takes away and defines; it never grants what a contract does not name.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from remit.core.chunk import USUAL, Rule
from remit.core.contract import CheckId, Right, ScopeEntry
from remit.core.model import Model

Argument = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Check(Model):
    """One approved verification: a program with fixed arguments, or a human look."""

    kind: Literal["command", "human"] = Field(default="command", description="A program, or a person who signs off.")
    title: str = Field(default="", description="What people see; the id when empty.")
    argv: tuple[Argument, ...] = Field(default=(), description="The program and its arguments; never a shell string.")
    cwd: str = Field(default=".", description="Working directory, relative to the workspace.")
    inputs: tuple[ScopeEntry, ...] = Field(
        default=(), description="What the check looks at; a change there makes its result stale. Empty: every file."
    )
    timeout: float = Field(default=300, strict=True, gt=0, le=7200, description="Seconds until the run is ended.")
    output_limit: int = Field(
        default=200_000, strict=True, ge=1000, le=20_000_000, description="Bytes of output that are kept."
    )
    environment: tuple[EnvironmentName, ...] = Field(
        default=(), description="Names of environment variables handed on, besides PATH, HOME, LANG and TMPDIR."
    )

    @model_validator(mode="after")
    def _command_has_argv(self) -> Check:
        if self.kind == "command" and not self.argv:
            raise ValueError("a command check needs argv")
        if self.kind == "human" and self.argv:
            raise ValueError("a human check has no argv")
        return self


class Limits(Model):
    """The most any contract of this workspace may ask for; what is not named here is not limited."""

    write_scope: tuple[ScopeEntry, ...] | None = Field(default=None, description="The widest write scope.")
    allowed_tools: tuple[Right, ...] | None = Field(default=None, description="The rights a contract may name.")
    network: Literal["disabled", "enabled"] = Field(default="enabled", description="Whether a contract may enable it.")
    commit_allowed: bool = Field(default=True, strict=True, description="Whether a contract may allow commits.")


class Protect(Model):
    """Paths with rules of their own, besides the built-in ones."""

    never: tuple[ScopeEntry, ...] = Field(default=(), description="Never written through Remit.")
    loud: tuple[ScopeEntry, ...] = Field(default=(), description="Need an approval of their own, even in scope.")


class Review(Model):
    """Where a contract may ask for `review: after`: applied at once, looked at afterwards."""

    after: tuple[ScopeEntry, ...] = Field(default=(), description="Folders, files or globs; none where it is empty.")


class Placement(Model):
    """By which rules a change may find its place where the old text is not exactly at the line it says."""

    allow: tuple[Rule, ...] = Field(
        default=USUAL,
        description="exact (always on): the old text, to the byte. offset: it stands elsewhere, and only there. "
        "line_ends: its lines end otherwise; the file's ends stay. trailing_blanks: blanks at ends of lines differ. "
        "tabs: tabs and blanks at the beginning of lines differ; new lines are indented as the file indents theirs.",
    )


class Policy(Model):
    """The standing rules of a workspace."""

    checks: dict[CheckId, Check] = Field(default_factory=dict, description="Approved checks, by id.")
    limits: Limits = Field(default_factory=Limits, description="The most a contract may ask for.")
    protect: Protect = Field(default_factory=Protect, description="Paths with rules of their own.")
    review: Review = Field(default_factory=Review, description="What may be reviewed after it was applied.")
    placement: Placement = Field(default_factory=Placement, description="How loosely a change may be placed.")

    def check(self, check_id: str) -> Check:
        """The definition of a check; one that no policy defines is a human look."""
        return self.checks.get(check_id) or Check(kind="human", title=check_id)


EMPTY = Policy()
"""In force where nobody has activated a policy."""
