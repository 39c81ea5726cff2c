"""A frozen look at one file, and the one question that matters of it: is it still what a change was made from?

Digests decide; times never do. Reading the file or the buffer happens elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

from remit.core.codec import UTF8, Charset
from remit.core.model import ABSENT


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One file, frozen. `digest` names the bytes that a save would write, or is `absent`.

    `disk` is the digest on disk at the same moment; `clean` says that buffer and disk hold the same text, so that the
    disk's digest is a second name of the buffer. `parted`: the disk moved under an open buffer. `trusted` is False
    for a buffer whose text the client never told us.
    """

    path: str
    digest: str
    origin: Literal["buffer", "disk", "absent"]
    text: str = ""
    charset: Charset = UTF8
    version: int | None = None
    disk: str = ABSENT
    clean: bool = True
    parted: bool = False
    trusted: bool = True
    mode: int = 0o644
    links: int = 1

    @property
    def source(self) -> str:
        """Where it was seen, in words: `buffer v3`, `disk`, `absent`."""
        return f"buffer v{self.version}" if self.origin == "buffer" else self.origin

    def names(self) -> frozenset[str]:
        """Every digest that is this content's: the second name of a clean buffer is the disk's."""
        return (
            frozenset({self.digest, self.disk}) if self.origin == "buffer" and self.clean else frozenset({self.digest})
        )

    def is_named(self, binding: str) -> bool:
        return binding in self.names()


@dataclass(frozen=True, slots=True)
class Fresh:
    """The content is the one the change was made from."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The content has moved; `line_ends_only` is for the caller to find out from the texts."""

    base: str
    current: str


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
        return Stale(binding, snapshot.digest)
    if snapshot.parted:
        return Parted(snapshot.digest, snapshot.disk)
    return Fresh()
