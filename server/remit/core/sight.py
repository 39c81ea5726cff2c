"""Looking at the workspace's files: the buffer if one is open, else the disk, always as a frozen snapshot.

`look` is what decisions stand on: it reads. `glance` and `skim` are for showing: a file whose stat has not moved, or
that was seen within the last second, is not read again. A stat tells nothing of two writes within one tick of the file
system's clock, so it counts only once the file was read a while after it. Reading itself is a port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from remit.core import codec
from remit.core.codec import UTF8, Charset
from remit.core.faults import Fault
from remit.core.mirror import Buffer, Mirror
from remit.core.model import ABSENT
from remit.core.snapshot import NOTHING, Snapshot, Told

SECOND = 1.0
"""How long something that was only looked at for showing may be old."""

TICK = 0.05
"""Seconds between a stat and a reading after which a later write would show in the stat: kernels stamp files by a timer
of up to 10 ms (git's racy-git.txt tells of the same)."""

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
    def committed(self, path: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What lay on disk, its text by its own marks, and when and by which stat it was seen.

    `since`: when this stat was first met; `read`: when the content was read; `seen`: when it was last looked at.
    `thin`: the content was not kept.
    """

    content: Told
    real: str
    charset: Charset
    data: bytes
    mode: int
    links: int
    mark: object | None
    since: float
    read: float
    seen: float
    thin: bool = False

    @property
    def digest(self) -> str:
        return self.content.digest

    @property
    def text(self) -> str:
        return self.content.text

    def stands(self, mark: object | None) -> bool:
        """Whether a stat says that this is what is there."""
        return mark == self.mark and self.read - self.since >= TICK


@dataclass(slots=True)
class Sight:
    """Looks, and what may be remembered of them."""

    files: Reader
    mirror: Mirror
    clock: Callable[[], float]
    _known: dict[str, OnDisk] = field(default_factory=dict)
    _marks: dict[str, object | None] = field(default_factory=dict)
    _listing: tuple[float, list[str]] | None = None
    _nudged: float = float("-inf")

    def look(self, path: str) -> Snapshot:
        """Read now. Raises what the disk refuses."""
        return self._snapshot(path, self._read(path))

    def glance(self, path: str) -> Snapshot:
        """As `look`, but a file whose stat has not moved since it was read is not read again."""
        known = self._known.get(path)
        if known is not None and not known.thin and known.stands(self.files.mark(path)):
            return self._snapshot(path, known)
        return self.look(path)

    def skim(self, path: str, within: float = SECOND) -> Snapshot:
        """As `glance`, without the text of a closed file, which is not kept either: for checks with thousands of
        inputs. One that was seen within so many seconds is not even looked for."""
        known, now = self._known.get(path), self.clock()
        if self.mirror.buffers.keys() & {path, known.real if known else path}:
            return self.glance(path)
        if known is None or not (self._nudged < known.seen and now - known.seen <= within):
            if known is not None and known.stands(self.files.mark(path)):
                known = self._known[path] = replace(known, seen=now)
            else:
                known = self._read(path, thin=True)
        return self._snapshot(path, known)

    def list(self) -> list[str]:
        """The workspace's files, as they were within the last second."""
        now = self.clock()
        if self._listing is None or now - self._listing[0] > SECOND:
            self._listing = (now, self.files.list(LISTED))
        return self._listing[1]

    def nudge(self) -> None:
        """Files were written: whatever was seen is looked for again."""
        self._listing, self._nudged = None, self.clock()

    def forget(self) -> None:
        """Nothing that was seen counts any more: all is read again."""
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

    def committed(self, path: str) -> str | None:
        """git's blob id of a file as HEAD has it; None where there is none, or no repository."""
        return self.files.committed(path)

    # --- the parts of a look ------------------------------------------------------------------------------------------

    def _read(self, path: str, *, thin: bool = False) -> OnDisk:
        mark, now = self.files.mark(path), self.clock()
        before = self._known.get(path)
        since = before.since if before is not None and before.mark == mark else now
        found = self.files.read(path)
        if found is None:
            known = OnDisk(NOTHING, self.files.real(path), UTF8, b"", 0, 0, mark, since, now, now)
        else:
            decoded = codec.decode(found.data)
            known = OnDisk(
                Told(codec.digest(found.data), decoded.text),
                found.real,
                decoded.charset,
                found.data,
                found.mode,
                found.links,
                mark,
                since,
                now,
                now,
            )
        self._known[path] = replace(known, content=Told(known.digest), data=b"", thin=True) if thin else known
        return known

    def _snapshot(self, path: str, disk: OnDisk) -> Snapshot:
        buffer = self.mirror.buffers.get(path) or self.mirror.buffers.get(disk.real)
        if buffer is not None:
            return _buffer(buffer, disk, doubted=self.mirror.doubted(buffer.path))
        if path in self.mirror.unknown:
            return Snapshot(path, Told(disk.digest), "buffer", trusted=False, disk=disk.digest)
        if disk.digest == ABSENT:
            return Snapshot(disk.real, NOTHING, "absent")
        return Snapshot(
            disk.real, disk.content, "disk", disk.charset, disk=disk.digest, mode=disk.mode, links=disk.links
        )


def _buffer(buffer: Buffer, disk: OnDisk, *, doubted: bool) -> Snapshot:
    held = buffer.content()
    same = disk.digest != ABSENT and buffer.holds(disk.digest, lambda: _as_buffer(buffer, disk))
    if same:
        # The two agree, so whatever was loaded before, the buffer stands on this now.
        buffer.loaded = disk.digest
    return Snapshot(
        buffer.path,
        held or Told(disk.digest, str(buffer.text)),
        "buffer",
        buffer.charset or UTF8,
        buffer.version,
        disk.digest,
        clean=same,
        parted=disk.digest != buffer.loaded,
        normalised=buffer.normalised,
        trusted=buffer.trusted and held is not None and not doubted,
    )


def _as_buffer(buffer: Buffer, disk: OnDisk) -> str:
    if buffer.charset in (None, disk.charset):
        return disk.text
    return codec.decode_as_or(disk.data, buffer.charset)
