"""The `*** Begin Patch` form: files and chunks without line numbers, told by context and anchors.

The grammar is the one on top of openai/codex apply-patch/src/parser.rs.
Does not live here: what is wrapped around the block (`patch`), where a chunk stands (`place`).
"""

from __future__ import annotations

import re

from remit.core.chunk import Chunk, FilePatch
from remit.core.reader import Reader, malformed

BEGIN, END = "*** Begin Patch", "*** End Patch"
_ENTRY = re.compile(r"\*\*\* (Add|Delete|Update) File: (.+)")


def read(reader: Reader) -> list[FilePatch]:
    """The entries from BEGIN, where the reader stands, to END; several such blocks in a row are read as one.

    AgentFault: malformed_patch.
    """
    files = _block(reader)
    while reader.at < reader.end:
        if reader.peek().rstrip() == BEGIN:
            if "several blocks read as one" not in reader.notes:
                reader.notes.append("several blocks read as one")
            files += _block(reader)
        elif reader.take().strip():
            raise malformed(f"There is text after {END}.", reader.at)
    return files


def _block(reader: Reader) -> list[FilePatch]:
    reader.take()
    files: list[FilePatch] = []
    while (marker := reader.peek().rstrip()) != END:
        entry = _ENTRY.fullmatch(marker)
        if not entry:
            raise malformed(f"Line {reader.at + 1} is not a file header or {END}.", reader.at + 1)
        reader.take()
        files.append(_entry(reader, entry[1], entry[2].strip()))
    reader.take()
    return files


def _entry(reader: Reader, kind: str, path: str) -> FilePatch:
    if kind == "Delete":
        return FilePatch(path, "delete")
    if kind == "Add":
        added: list[str] = []
        while reader.peek().startswith("+"):
            added.append(reader.take()[1:] + "\n")
        return FilePatch(path, "create", content="".join(added))
    target = path
    if reader.peek().startswith("*** Move to: "):
        target = reader.take().partition(": ")[2].strip()
        if not target:
            raise malformed(f"Line {reader.at} does not say where the file goes.", reader.at)
    chunks: list[Chunk] = []
    while reader.at < reader.end and not reader.peek().startswith("*** "):
        chunks.append(_chunk(reader))
    if not chunks and target == path:
        raise malformed("An *** Update File entry has no change.", reader.at + 1)
    return FilePatch(target, "modify" if target == path else "rename", path if target != path else None, tuple(chunks))


def _chunk(reader: Reader) -> Chunk:
    first, anchors = reader.at + 1, list[str]()
    while (marker := reader.peek()).startswith("@@"):
        if re.match(r"@@ -\d", marker):
            raise malformed("Line numbers after @@ do not belong to this form.", reader.at + 1)
        anchors += [anchor for anchor in [reader.take()[2:].removeprefix(" ").rstrip("\r")] if anchor.strip()]
    old, new = list[str](), list[str]()
    while reader.at < reader.end and not reader.peek().startswith(("@@", "*** ")):
        line = reader.take()
        if line[:1] not in ("", "\r", " ", "+", "-"):
            raise malformed(f"Line {reader.at} does not begin with a blank, + or -.", reader.at)
        _sort(line, old, new)
    if not old and not new:
        raise malformed(f"The chunk at line {first} is empty.", first)
    at_end = reader.peek().rstrip() == "*** End of File"
    if at_end:
        reader.take()
    return Chunk(tuple(old), tuple(new), anchors=tuple(anchors), at_end=at_end)


def _sort(line: str, old: list[str], new: list[str]) -> None:
    """A line without any sign is an empty context line that lost its blank on the way, as git reads it too."""
    sign, content = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
    if sign != "+":
        old.append(content)
    if sign != "-":
        new.append(content)
