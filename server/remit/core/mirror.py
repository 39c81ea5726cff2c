"""The editor's open buffers, as the client told them. Never saves, reverts or reads a file.

A buffer whose story does not add up (a change before the opening, a version that goes back) is marked untrusted and
stays so until the client sends its whole text again. A file that is open under two names (a link and its target) has
two texts, of which either may be saved: it is in doubt until one of them is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remit.core import diff
from remit.core.codec import UTF8, Charset, charset_of_buffer, decode_as_or, digest, digest_of, encode, same_text
from remit.core.faults import Fault
from remit.core.leaves import Frozen, agree, spliced
from remit.core.model import ABSENT
from remit.core.strokes import Strokes
from remit.core.text import Edit, PositionEncoding, Text, frozen

KNOWN = 200
"""Earlier states of a buffer that are remembered by name; they share what they have in common."""


@dataclass(slots=True)
class Held:
    """What a buffer holds at one moment. `known`: the lines that went by a digest, in this very charset."""

    lines: Frozen
    charset: Charset
    known: dict[str, Frozen]
    strokes: Strokes
    step: int
    _digest: str | None = None
    _others: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        return str(self.lines)

    @property
    def digest(self) -> str:
        """SHA-256 of what a save would write, worked out once. AgentFault("unencodable")."""
        if self._digest is None:
            self._digest = digest_of(self.lines, self.charset)
            self.learn(self._digest, self.lines)
            self.strokes.named(self._digest, self.step)
        return self._digest

    def is_named(self, name: str) -> bool:
        """Whether that is the digest of this. Told from the lines that went by that name, if they are remembered."""
        if name in self._others:
            return False
        known = None if self._digest is not None else self.known.get(name)
        if known is None:
            return self.digest == name
        if known == self.lines:
            self._digest = name
            self.strokes.named(name, self.step)
            return True
        self._others.add(name)
        return False

    def check(self, name: str, lines: Frozen) -> None:
        """Remember that these lines go by a name, if a save of them here would write just that."""
        try:
            if digest_of(lines, self.charset) == name:
                self.learn(name, lines)
        except Fault:
            return

    def learn(self, name: str, lines: Frozen) -> None:
        """Remember which lines go by a name."""
        self.known.pop(name, None)
        self.known[name] = lines.bare()
        if len(self.known) > KNOWN:
            del self.known[next(iter(self.known))]


@dataclass(slots=True)
class Buffer:
    """One open document. `loaded` is the disk's digest when the buffer was last loaded from or saved to it.

    `normalised`: the editor gave it one style of line ends when it loaded a file that has several, so that saving
    changes lines that nobody edited.
    """

    path: str
    text: Text
    version: int
    charset: Charset | None = UTF8
    loaded: str = ABSENT
    trusted: bool = True
    normalised: bool = False
    changed_at: float = 0.0
    strokes: Strokes = field(default_factory=Strokes, repr=False)
    _held: Held | None = field(default=None, repr=False)
    _known: dict[str, Frozen] = field(default_factory=dict, repr=False)
    _alike: tuple[str, Frozen] | None = field(default=None, repr=False)
    _sayable: bool | None = field(default=None, repr=False)

    def content(self) -> Held | None:
        """What is in it now; None when it cannot be known what a save would write."""
        if self.charset is None:
            return None
        if self._held is None:
            self._held = Held(self.text.freeze(), self.charset, self._known, self.strokes, self.strokes.step)
        if self._sayable is None:
            try:
                self._sayable = bool(self._held.digest)
            except Fault:
                return None
        return self._held

    def digest(self) -> str | None:
        """SHA-256 of what a save would write; None when that cannot be known."""
        held = self.content()
        return None if held is None else held.digest

    def holds(self, disk: str, text: Callable[[], str]) -> bool:
        """Whether this is the text of the file on disk, line ends aside.

        `disk`: its digest; `text`: what it holds, in this buffer's charset. Asked with each keystroke, so the two are
        compared as a whole once; from then on with what has changed in the buffer since.
        """
        now = self.text.freeze()
        if self._alike is None or self._alike[0] != disk:
            there = text()
            own = same_text(str(now), there)
            # Its own lines where they agree: an editor gives a whole buffer one style of line ends.
            self._alike = (disk, (now if own else grafted(now, there)).bare())
            self.normalised = str(now) != there if own else self.normalised
        same = alike(self._alike[1], now)
        if same:
            if self.loaded != disk:
                self.strokes.loaded(self.loaded, disk)
            self.strokes.named(disk, self.strokes.step)
        return same

    def edit(self, edit: Edit, encoding: PositionEncoding) -> None:
        """Make one change. WorldFault("bad_range")."""
        self._held = None
        if self._sayable and not _can_say(edit.text, self.charset):
            self._sayable = None
        self.text.edit(edit, encoding)

    def written(self, disk: bytes | None) -> None:
        """The client saved it: `disk` is what lies there now, and how it writes this text."""
        self.loaded = ABSENT if disk is None else digest(disk)
        charset = charset_of_buffer(str(self.text), disk) or self.charset
        if charset != self.charset:
            self.charset, self._known, self._sayable = charset, {}, None
        self._held = self._alike = None
        self.stands_on(disk)

    def stands_on(self, disk: bytes | None) -> None:
        """Compare it once with what was read of the file, before anything is typed."""
        if disk is not None:
            self.holds(self.loaded, lambda: decode_as_or(disk, self.charset))


def _is_wide(edit: Edit) -> bool:
    """Does it write over more than one line?"""
    return edit.range is None or edit.range.start.line != edit.range.end.line


def _can_say(text: str, charset: Charset | None) -> bool:
    try:
        return charset is not None and encode(text, charset) is not None
    except Fault:
        return False


def grafted(now: Frozen, text: str) -> Frozen:
    """The lines of a text, as a change of `now`: with every leaf of it that the two have in common."""
    spans = diff.spans(list(now), list(frozen(text)))
    return spliced(now, [(span.old_start, span.old_end, span.new) for span in spans])


def alike(one: Frozen, two: Frozen) -> bool:
    """Are these the same lines, line ends aside?"""
    return agree(one, two, lambda lines: [line.rstrip("\r\n") for line in lines])


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
        buffer.stands_on(disk)
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
                buffer.edit(edit, self.encoding)
        except Fault as fault:
            buffer.trusted = False
            return fault.message
        finally:
            buffer.version, buffer.changed_at = version, now
            buffer.strokes.note(now, wide=len(edits) > 1 or any(map(_is_wide, edits)))
        if whole is not None:
            buffer.trusted = True
        return None

    def saved(self, path: str, disk: bytes | None, now: float, name: str = "") -> bool:
        """The client saved: what lies on disk now is what the buffer stands on. False for an unknown document."""
        buffer = self.documents.get(path, {}).get(name)
        if buffer is None:
            self.unknown.add(path)
            return False
        buffer.written(disk)
        buffer.strokes.saved(now)
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
