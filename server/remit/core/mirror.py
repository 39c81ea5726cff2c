"""The editor's open buffers, as the client told them. Never saves, reverts or reads a file.

A buffer whose story does not add up (a change before the opening, a version that goes back) is marked untrusted and
stays so until the client sends its whole text again. A file that is open under two names (a link and its target) has
two texts, of which either may be saved: it is in doubt until one of them is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remit.core.codec import UTF8, Charset, charset_of_buffer, digest, encode, same_text
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
    _compared: tuple[str, str, bool] = field(default=("", "", False), repr=False)

    def holds(self, disk: str, text: Callable[[], str]) -> bool:
        """Whether this is the text of the file on disk, line ends aside; compared once for both as they are.

        `disk`: its digest; `text`: what it holds, in this buffer's charset.
        """
        name = self.digest()
        if name == disk:
            return True
        if name is None or self._compared[:2] != (name, disk):
            self._compared = (name or "", disk, same_text(str(self.text), text()))
        return self._compared[2]

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
    """All open buffers by path, and those the client touched without ever opening them.

    `buffers` has the one that moved last, `documents` each by the client's name of it.
    """

    encoding: PositionEncoding = "utf-16"
    buffers: dict[str, Buffer] = field(default_factory=dict)
    documents: dict[str, dict[str, Buffer]] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def doubted(self, path: str) -> bool:
        """Whether what the editor holds of this file is not one text that it has told."""
        return path in self.unknown or len(self.documents.get(path, ())) > 1

    def open(self, path: str, version: int, text: str, disk: bytes | None, now: float, name: str = "") -> Buffer:
        """A document was opened, or opened again: its text replaces whatever was known."""
        buffer = Buffer(
            path,
            Text(text),
            version,
            charset=charset_of_buffer(text, disk),
            loaded=ABSENT if disk is None else digest(disk),
            changed_at=now,
        )
        self._keep(buffer, name)
        return buffer

    def _keep(self, buffer: Buffer, name: str) -> None:
        self.buffers[buffer.path] = self.documents.setdefault(buffer.path, {})[name] = buffer
        self.unknown.discard(buffer.path)

    def change(self, path: str, version: int, edits: Sequence[Edit], now: float, name: str = "") -> str | None:
        """Apply a change; the reason when it cannot be trusted (then the buffer is marked so), else None."""
        buffer = self.documents.get(path, {}).get(name)
        whole = next((index for index in range(len(edits) - 1, -1, -1) if edits[index].range is None), None)
        if buffer is None:
            if whole is None:
                self.unknown.add(path)
                return "changed before it was opened"
            buffer = Buffer(path, Text(""), version, trusted=True)
            self._keep(buffer, name)
        elif version <= buffer.version and whole is None:
            buffer.trusted = False
            return f"version {version} came after version {buffer.version}"
        self.buffers[path] = buffer
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

    def saved(self, path: str, disk: bytes | None, name: str = "") -> bool:
        """The client saved: what lies on disk now is what the buffer stands on. False for an unknown document."""
        buffer = self.documents.get(path, {}).get(name)
        if buffer is None:
            self.unknown.add(path)
            return False
        buffer.loaded = ABSENT if disk is None else digest(disk)
        buffer.charset = charset_of_buffer(str(buffer.text), disk) or buffer.charset
        buffer._digest = None
        return True

    def close(self, path: str, name: str = "") -> bool:
        """The client closed it: the disk is the truth again, or what else is open of it. False for an unknown one."""
        self.unknown.discard(path)
        known = self.documents.get(path, {})
        found = known.pop(name, None) is not None
        if known:
            self.buffers[path] = next(reversed(known.values()))
        else:
            self.buffers.pop(path, None)
            self.documents.pop(path, None)
        return found
