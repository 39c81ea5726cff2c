"""A frozen look at one file, and the one question that matters of it: is it still what a change was made from?

Digests decide; times never do. A digest is worked out when it is asked for: whether a content is still the one of a
known name can mostly be told without. Reading the file or the buffer happens elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, Union

from remit.core.codec import UTF8, Charset
from remit.core.leaves import Frozen
from remit.core.model import ABSENT
from remit.core.text import frozen


class Content(Protocol):
    """The content of one file at one moment."""

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes that a save would write, or `absent`."""

    @property
    def text(self) -> str: ...
    @property
    def lines(self) -> Frozen:
        """The text's lines as LSP counts them: the last one, without a line end, may be empty."""

    def is_named(self, digest: str) -> bool:
        """Whether this is the content of that digest."""


@dataclass(slots=True)
class Told:
    """A content whose digest is known."""

    digest: str
    text: str = ""
    _lines: Frozen | None = field(default=None, repr=False, compare=False)

    @property
    def lines(self) -> Frozen:
        if self._lines is None:
            self._lines = frozen(self.text)
        return self._lines

    def is_named(self, digest: str) -> bool:
        return digest == self.digest


NOTHING = Told(ABSENT)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One file, frozen.

    `disk` is the digest on disk at the same moment; `clean` says that buffer and disk hold the same text, so that the
    disk's digest is a second name of the buffer. `parted`: the disk moved under an open buffer. `normalised`: saving
    the buffer changes line ends of lines that nobody edited. `trusted` is False for a buffer whose text the client
    never told us.
    """

    path: str
    content: Content
    origin: Literal["buffer", "disk", "absent"]
    charset: Charset = UTF8
    version: int | None = None
    disk: str = ABSENT
    clean: bool = True
    parted: bool = False
    normalised: bool = False
    trusted: bool = True
    mode: int = 0o644
    links: int = 1

    @property
    def digest(self) -> str:
        """The bytes that a save would write, or `absent`. Costs the whole of them, once: see `is_named`."""
        return self.content.digest

    @property
    def text(self) -> str:
        return self.content.text

    @property
    def lines(self) -> Frozen:
        return self.content.lines

    @property
    def source(self) -> str:
        """Where it was seen, in words: `buffer v3`, `disk`, `absent`."""
        return f"buffer v{self.version}" if self.origin == "buffer" else self.origin

    def is_named(self, binding: str) -> bool:
        """Whether `binding` is a digest of this content: its own or, of a clean buffer, the disk's as well."""
        return (self.origin == "buffer" and self.clean and binding == self.disk) or self.content.is_named(binding)


@dataclass(frozen=True, slots=True)
class Fresh:
    """The content is the one the change was made from."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The content has moved; to what, and in what, is for the caller to find out."""

    base: str


@dataclass(frozen=True, slots=True)
class Parted:
    """Buffer and disk have parted: nothing is applied until the human has seen both."""

    buffer: str
    disk: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The client has the file open but never said what is in it."""


Freshness = Union[Fresh, Stale, Parted, Unknown]


def judge(snapshot: Snapshot, binding: str) -> Freshness:
    """Whether a change bound to `binding` may be applied to what `snapshot` shows."""
    if not snapshot.trusted:
        return Unknown()
    if not snapshot.is_named(binding):
        return Stale(binding)
    if snapshot.parted:
        return Parted(snapshot.digest, snapshot.disk)
    return Fresh()
