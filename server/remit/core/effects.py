"""What the world is asked to do once the intent is durable, and what comes back. Frozen values, no performing.

Each effect names its action; its outcome comes back as the next thing the mediator hears.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

from remit.core.text import Edit


@dataclass(frozen=True, slots=True)
class BufferEdit:
    """Edits of one open document, in the client's position encoding, all against `version`."""

    path: str
    version: int
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class EditBuffers:
    """One `workspace/applyEdit`. `undo` is True when it takes back what the same action put in."""

    action: str
    label: str
    files: tuple[BufferEdit, ...]
    undo: bool = False


@dataclass(frozen=True, slots=True)
class OperateFile:
    """One `workspace/applyEdit` with one file operation: rename `path` to `to`, or delete it (`to` is None); never
    over anything. `undo` as in `EditBuffers`."""

    action: str
    label: str
    path: str
    to: str | None
    undo: bool = False


@dataclass(frozen=True, slots=True)
class DiskChange:
    """One closed file. `before`: its digest, None for a file that must not exist; `after`: its bytes, None deletes.

    `mode_from`: the path whose mode, owner and extended attributes a created file takes. `executable`: set or clear
    the x bits. `break_link`: a human allowed that the file's other names keep the old text.
    """

    path: str
    before: str | None
    after: bytes | None
    mode_from: str | None = None
    executable: bool | None = None
    break_link: bool = False


@dataclass(frozen=True, slots=True)
class StageFiles:
    """Write the new contents beside the closed files and check their bases; nothing is in place yet."""

    action: str
    changes: tuple[DiskChange, ...]


@dataclass(frozen=True, slots=True)
class SettleFiles:
    """What is to become of staged files."""

    action: str
    how: Literal["commit", "abort", "revert", "finish"]


@dataclass(frozen=True, slots=True)
class RestoreFiles:
    """After a crash: put these contents back where the named digests are found; all or none."""

    action: str
    changes: tuple[DiskChange, ...]


@dataclass(frozen=True, slots=True)
class RunCheck:
    action: str
    check: str
    argv: tuple[str, ...]
    cwd: str
    environment: tuple[str, ...]
    timeout: float
    output_limit: int


@dataclass(frozen=True, slots=True)
class Wake:
    """Ask to be woken in `seconds`."""

    seconds: float


Effect = Union[EditBuffers, OperateFile, StageFiles, SettleFiles, RestoreFiles, RunCheck, Wake]


# --- outcomes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edited:
    """The client's answer to `workspace/applyEdit`; it is never believed, only compared with what the buffer holds.

    `undo`: to the one that took something back.
    """

    action: str
    applied: bool | None
    reason: str = ""
    undo: bool = False


@dataclass(frozen=True, slots=True)
class Operated:
    """The client's answer to a file operation; believed as little as `Edited`."""

    action: str
    applied: bool | None
    reason: str = ""
    undo: bool = False


@dataclass(frozen=True, slots=True)
class FilesDone:
    """`step` was done, or failed with everything as before (`failed`), or left things unknown (`unknown`)."""

    action: str
    step: Literal["stage", "commit", "abort", "revert", "finish", "restore"]
    result: Literal["done", "failed", "unknown"] = "done"
    code: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CheckDone:
    action: str
    result: Literal["passed", "failed", "timed_out", "not_started"]
    exit_code: int | None
    output: bytes
    output_bytes: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Woken:
    """Time has passed."""


Outcome = Union[Edited, Operated, FilesDone, CheckDone, Woken]
