"""A patch from its text: which form it has, what is wrapped around it, and that each file stands in it once.

The one room others read patches through. The forms are `unified` and `envelope`, the values `chunk`.
Does not live here: where a chunk stands (`place`), whether a path may be written (scope), whether it exists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from remit.core import envelope, unified
from remit.core.chunk import Chunk, FilePatch, Patch
from remit.core.envelope import BEGIN, END
from remit.core.faults import AgentFault
from remit.core.reader import Reader, malformed, shown

__all__ = ["Chunk", "FilePatch", "Patch", "parse"]

HUNKS = 10_000
"""Lines that begin with @@, at most."""


def parse(text: str) -> Patch:
    """Read a patch; decode it without changing line ends before.

    AgentFault: too_many_changes, malformed_patch, bad_patch_envelope, hunk_counts, binary_patch, special_file,
    combined_diff, word_diff, ambiguous_path, duplicate_file; data has the patch's 1-based `line` where there is one.
    """
    lines = text.split("\n")
    _demand_readable(lines)
    start, end, notes = _unwrapped(lines)
    first = next((at for at in range(start, end) if lines[at].strip()), end)
    reader = Reader(lines, first, end, notes)
    enveloped = first < end and lines[first].rstrip() == BEGIN
    if not enveloped and _misplaced(lines):
        raise _wrapped(text, f"The patch does not begin with {BEGIN}", f"Send the text from {BEGIN} to {END} alone.")
    files = envelope.read(reader) if enveloped else unified.read(reader)
    if not files and _wrapper(text) != "text" and _INSIDE.search(text):
        raise _wrapped(text, "The patch is inside something else", "Send its text as it is, with nothing around it.")
    if not files:
        raise malformed("There is no patch in this text.", None, "Send a unified diff or a *** Begin Patch block.")
    _check_once(files)
    return Patch("begin_patch" if enveloped else "unified", tuple(files), tuple(reader.notes))


def _demand_readable(lines: Sequence[str]) -> None:
    """No more hunks than anybody reviews: each costs time to read and to place, while others wait."""
    count = sum(line.startswith("@@") for line in lines)
    if count > HUNKS:
        raise AgentFault(
            "too_many_changes",
            f"The patch has {count} hunks or anchors; {HUNKS} can be reviewed together.",
            remedy="Send it in parts.",
            count=count,
            limit=HUNKS,
        )


_UNIFIED = re.compile(r"diff --git |--- ")
_START = re.compile(rf"{_UNIFIED.pattern}|{re.escape(BEGIN)}")
_FENCE = re.compile(r"(?:```+|~~~+)[\w-]*\s*$")
_HEREDOC = re.compile(r"[\w./ -]+<<-?\s*(['\"]?)(\w+)\1\s*$")


def _unwrapped(lines: Sequence[str]) -> tuple[int, int, list[str]]:
    """The part of the lines that is the patch, if a single fence or a here-document stands around it."""
    starts = [at for at, line in enumerate(lines) if _START.match(line)]
    marks = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    for opening, closing in pairwise(marks) if starts else ():
        if opening < starts[0] and starts[-1] < closing:
            return opening + 1, closing, ["markdown fence set aside"]
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if filled and (heredoc := _HEREDOC.match(lines[filled[0]])) and lines[filled[-1]].rstrip() == heredoc[2]:
        return filled[0] + 1, filled[-1], ["here-document set aside"]
    return 0, len(lines) - (lines[-1] == ""), []


def _misplaced(lines: Sequence[str]) -> bool:
    """Does an envelope begin somewhere inside? The lines of a unified diff may speak of one, behind their sign."""
    if any(map(_UNIFIED.match, lines)):
        return any(line.startswith(BEGIN) for line in lines)
    return any(line.strip().startswith(BEGIN) or f'"{BEGIN}' in line for line in lines)


_INSIDE = re.compile(r"diff --git |--- \S|@@ -\d")


def _wrapper(text: str) -> str:
    """What stands around a patch that does not begin where a patch begins, by how the text begins."""
    head = text.lstrip()
    first = head.partition("\n")[0]
    if head[:1] in ("{", "["):
        return "json"
    if head.startswith("\x1b["):
        return "colours"
    if head.startswith("> "):
        return "quote"
    if first.startswith(BEGIN) or (text[:1] in (" ", "\t", "\n") and _UNIFIED.match(first)):
        return "indent"
    if _FENCE.match(first):
        return "fence"
    return "heredoc" if "<<" in first else "text"


def _wrapped(text: str, message: str, remedy: str) -> AgentFault:
    seen = _wrapper(text)
    return AgentFault(
        "bad_patch_envelope",
        f"{message} (seen: {seen}).",
        remedy=remedy,
        wrapper=seen,
        received=shown(text[:40]),
    )


def _check_once(files: Sequence[FilePatch]) -> None:
    # What is copied stays: it may be changed, moved or copied once more by the same patch.
    sources = [file.source for file in files if file.op != "copy" and file.source is not None]
    names = Counter([*(file.path for file in files), *sources])
    for name, count in names.items():
        if count > 1:
            raise AgentFault(
                "duplicate_file",
                "The patch has more than one entry for the same file.",
                remedy="Send one entry for each file, with all its changes.",
                path=shown(name),
            )
