"""What a patch asks for, as values: files, and chunks of old and new lines.

Only the words that reading (`patch`) and placing (`place`) share live here; nothing here reads, checks or changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["100644", "100755"]
Rule = Literal["exact", "offset", "line_ends", "trailing_blanks", "tabs"]
"""How a chunk may be placed, from strict to loose. "exact" is always tried, and first."""
EVERY: tuple[Rule, ...] = ("exact", "offset", "line_ends", "trailing_blanks", "tabs")
USUAL: tuple[Rule, ...] = ("exact", "offset", "line_ends")
"""Those in force where no policy says otherwise."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """`old` lines shall become `new` lines. Lines have no line end; a "\\r" at their end is content.

    `line`: 0-based place of `old` as declared. `anchors`: lines above it, outermost first. The final newlines: does
    the last line of that side end in one (None: not said)? `at_end`: nothing follows `old` in the file.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    line: int | None = None
    anchors: tuple[str, ...] = ()
    old_final_newline: bool | None = None
    new_final_newline: bool | None = None
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class FilePatch:
    """One file's change. `source`: old path of a rename or a copy. `content`: whole text of a create. Blobs: full hex.

    A copy's chunks are made for the source as it was before the patch, whatever else the patch does to it.
    """

    path: str
    op: Literal["create", "modify", "delete", "rename", "copy"]
    source: str | None = None
    chunks: tuple[Chunk, ...] = ()
    content: str | None = None
    mode: Mode | None = None
    old_blob: str | None = None
    new_blob: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """`notes`: what was recognised and set aside (a fence, a mail's signature), or counted anew."""

    format: Literal["unified", "begin_patch"]
    files: tuple[FilePatch, ...]
    notes: tuple[str, ...] = ()
