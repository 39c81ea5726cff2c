"""Looking at the workspace's files: the buffer if one is open, else the disk, always as a frozen snapshot.

`look` is what decisions stand on: it reads. `glance` and `skim` are for showing: a file whose stat has not moved, or
that was seen within the last second, is not read again. Reading itself is a port; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from remit.core import codec
from remit.core.codec import UTF8, Charset
from remit.core.faults import Fault
from remit.core.mirror import Buffer, Mirror
from remit.core.model import ABSENT
from remit.core.snapshot import Snapshot

SECOND = 1.0
"""How long something that was only looked at for showing may be old."""

LISTED = 100_000
"""Files of a workspace that are looked at, at most."""


class Read(Protocol):
    """A regular file as it was read; `real` is its path once links that stay inside are followed."""

    @property
    def data(self) -> bytes: ...
    @property
    def real(self) -> str: ...
    @property
    def mode(self) -> int: ...
    @property
    def links(self) -> int: ...


class Reader(Protocol):
    """The part of the disk that looking needs."""

    def read(self, path: str) -> Read | None: ...
    def real(self, path: str) -> str: ...
    def mark(self, path: str) -> object | None: ...
    def list(self, limit: int) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What lay on disk: its digest (or `absent`), its text by its own marks, and when and by which stat it was seen."""

    digest: str
    real: str
    text: str
    charset: Charset
    data: bytes
    mode: int
    links: int
    mark: object | None
    seen: float


@dataclass(slots=True)
class Sight:
    """Looks, and what may be remembered of them."""

    files: Reader
    mirror: Mirror
    clock: Callable[[], float]
    _known: dict[str, OnDisk] = field(default_factory=dict)
    _marks: dict[str, object | None] = field(default_factory=dict)
    _listing: tuple[float, list[str]] | None = None

    def look(self, path: str) -> Snapshot:
        """Read now. Raises what the disk refuses."""
        return self._snapshot(path, self._read(path))

    def glance(self, path: str) -> Snapshot:
        """As `look`, but a file whose stat has not moved since it was read is not read again."""
        known = self._known.get(path)
        if known is not None and self.files.mark(path) == known.mark:
            return self._snapshot(path, known)
        return self.look(path)

    def skim(self, path: str) -> Snapshot:
        """As `glance`, but a closed file that was seen within the last second is not even looked for: for checks with
        thousands of inputs."""
        known = self._known.get(path)
        if known is not None and self.clock() - known.seen <= SECOND:
            return self._snapshot(path, known)
        return self.look(path)

    def list(self) -> list[str]:
        """The workspace's files, as they were within the last second."""
        now = self.clock()
        if self._listing is None or now - self._listing[0] > SECOND:
            self._listing = (now, self.files.list(LISTED))
        return self._listing[1]

    def forget(self) -> None:
        """Files were written: nothing that was seen counts any more."""
        self._listing = None
        self._known.clear()

    def stirred(self, paths: Iterable[str]) -> bool:
        """Whether the stat of any of these files has moved since it was last read, or last asked about here."""
        marks = {path: self._mark(path) for path in paths}
        before = {path: known.mark for path, known in self._known.items()} | self._marks
        self._marks = marks
        return any(path in before and before[path] != mark for path, mark in marks.items())

    def _mark(self, path: str) -> object | None:
        try:
            return self.files.mark(path)
        except Fault:
            return None

    def real(self, path: str) -> str:
        """Where a path leads to; itself where that cannot be said."""
        try:
            return self.files.real(path)
        except Fault:
            return path

    def bytes(self, path: str) -> bytes | None:
        """What lies on disk under an open document; nothing where the disk refuses."""
        try:
            found = self.files.read(path)
        except Fault:
            return None
        return found.data if found else None

    # --- the parts of a look ------------------------------------------------------------------------------------------

    def _read(self, path: str) -> OnDisk:
        mark = self.files.mark(path)
        found = self.files.read(path)
        if found is None:
            known = OnDisk(ABSENT, self.files.real(path), "", UTF8, b"", 0, 0, mark, self.clock())
        else:
            decoded = codec.decode(found.data)
            known = OnDisk(
                codec.digest(found.data),
                found.real,
                decoded.text,
                decoded.charset,
                found.data,
                found.mode,
                found.links,
                mark,
                self.clock(),
            )
        self._known[path] = known
        return known

    def _snapshot(self, path: str, disk: OnDisk) -> Snapshot:
        buffer = self.mirror.buffers.get(path) or self.mirror.buffers.get(disk.real)
        if buffer is not None:
            return _buffer(buffer, disk)
        if path in self.mirror.unknown:
            return Snapshot(path, disk.digest, "buffer", trusted=False, disk=disk.digest)
        if disk.digest == ABSENT:
            return Snapshot(disk.real, ABSENT, "absent")
        return Snapshot(
            disk.real, disk.digest, "disk", disk.text, disk.charset, disk=disk.digest, mode=disk.mode, links=disk.links
        )


def _buffer(buffer: Buffer, disk: OnDisk) -> Snapshot:
    text, name = str(buffer.text), buffer.digest()
    same = disk.digest == name or (disk.digest != ABSENT and codec.same_text(text, _as_buffer(buffer, disk)))
    if same:
        # The two agree, so whatever was loaded before, the buffer stands on this now.
        buffer.loaded = disk.digest
    return Snapshot(
        buffer.path,
        name or disk.digest,
        "buffer",
        text,
        buffer.charset or UTF8,
        buffer.version,
        disk.digest,
        clean=same,
        parted=disk.digest != buffer.loaded,
        trusted=buffer.trusted and name is not None,
    )


def _as_buffer(buffer: Buffer, disk: OnDisk) -> str:
    if buffer.charset in (None, disk.charset):
        return disk.text
    return codec.decode_as_or(disk.data, buffer.charset)
