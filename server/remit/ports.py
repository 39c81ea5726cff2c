"""What the session needs of the world, in core words.

Each port has one real part in `edges/`, chosen in `wiring.py`, and a fake in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from remit.core.chain import Record
from remit.core.sight import Reader


class Files(Reader, Protocol):
    """Reading below the workspace's root. Faults: outside_scope, not_a_file, too_large, unreadable, …"""


class Staged(Protocol):
    """Changes of closed files, written beside them and not yet in place: all or none.

    `exchange`: every move so far was one step of the kernel, so that no save at the same moment was missed.
    """

    @property
    def exchange(self) -> bool: ...
    def commit(self) -> None: ...
    def revert(self) -> None: ...
    def finish(self) -> None: ...
    def abort(self) -> None: ...


class Journal(Protocol):
    """The append-only record. What `append` returns from is durable. Fault: journal_unwritable."""

    def append(
        self, at: str, events: Sequence[Mapping[str, Any]], blobs: Mapping[str, bytes] = ...
    ) -> tuple[Record, ...]: ...
    def read(self, after: int = 0) -> Iterator[Record]: ...
    def blob(self, digest: str) -> bytes | None: ...


class Clock(Protocol):
    """`now` is a label for people (ISO 8601, UTC); `monotonic` (seconds) is what waits are measured with."""

    def now(self) -> str: ...
    def monotonic(self) -> float: ...


class Tokens(Protocol):
    """Names nobody can guess."""

    def token(self) -> str: ...


class Writer(Protocol):
    """Writing below the workspace's root."""

    def stage(self, action: str, changes: Sequence[Any]) -> Staged: ...
    def sweep(self, keep: Collection[str], known: Callable[[str], bool]) -> tuple[list[str], list[str]]: ...
