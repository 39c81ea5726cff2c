"""The editor's open buffers, as the client told them. Never saves, reverts or reads a file.

A buffer whose story does not add up (a change before the opening, a version that goes back) is marked untrusted and
stays so until the client sends its whole text again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from remit.core.codec import UTF8, Charset, charset_of_buffer, digest, encode
from remit.core.faults import Fault
from remit.core.model import ABSENT
from remit.core.text import Edit, PositionEncoding, Text


@dataclass(slots=True)
class Buffer:
    """One open document. `loaded` is the disk's digest when the buffer was last loaded from or saved to it."""

    path: str
    text: Text
    version: int
    charset: Charset | None = UTF8
    loaded: str = ABSENT
    trusted: bool = True
    changed_at: float = 0.0
    _digest: str | None = field(default=None, repr=False)

    def digest(self) -> str | None:
        """SHA-256 of what a save would write, computed once per version; None when that cannot be known."""
        if self._digest is None and self.charset is not None:
            try:
                self._digest = digest(encode(str(self.text), self.charset))
            except Fault:
                return None
        return self._digest


@dataclass(slots=True)
class Mirror:
    """All open buffers by path, and those the client touched without ever opening them."""

    encoding: PositionEncoding = "utf-16"
    buffers: dict[str, Buffer] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def open(self, path: str, version: int, text: str, disk: bytes | None, now: float) -> Buffer:
        """A document was opened, or opened again: its text replaces whatever was known."""
        buffer = Buffer(
            path,
            Text(text),
            version,
            charset=charset_of_buffer(text, disk),
            loaded=ABSENT if disk is None else digest(disk),
            changed_at=now,
        )
        self.buffers[path] = buffer
        self.unknown.discard(path)
        return buffer

    def change(self, path: str, version: int, edits: Sequence[Edit], now: float) -> str | None:
        """Apply a change; the reason when it cannot be trusted (then the buffer is marked so), else None."""
        buffer = self.buffers.get(path)
        whole = next((index for index in range(len(edits) - 1, -1, -1) if edits[index].range is None), None)
        if buffer is None:
            if whole is None:
                self.unknown.add(path)
                return "changed before it was opened"
            buffer = self.buffers[path] = Buffer(path, Text(""), version, trusted=True)
            self.unknown.discard(path)
        elif version <= buffer.version and whole is None:
            buffer.trusted = False
            return f"version {version} came after version {buffer.version}"
        return self._edit(buffer, version, edits, whole, now)

    def _edit(self, buffer: Buffer, version: int, edits: Sequence[Edit], whole: int | None, now: float) -> str | None:
        try:
            for edit in edits[whole or 0 :]:
                buffer.text.edit(edit, self.encoding)
        except Fault as fault:
            buffer.trusted = False
            return fault.message
        finally:
            buffer.version, buffer.changed_at, buffer._digest = version, now, None
        if whole is not None:
            buffer.trusted = True
        return None

    def saved(self, path: str, disk: bytes | None) -> bool:
        """The client saved: what lies on disk now is what the buffer stands on. False for an unknown document."""
        buffer = self.buffers.get(path)
        if buffer is None:
            self.unknown.add(path)
            return False
        buffer.loaded = ABSENT if disk is None else digest(disk)
        buffer.charset = charset_of_buffer(str(buffer.text), disk) or buffer.charset
        buffer._digest = None
        return True

    def close(self, path: str) -> bool:
        """The client closed it: the disk is the truth again. False for an unknown document."""
        self.unknown.discard(path)
        return self.buffers.pop(path, None) is not None
