"""Unified diffs as git writes them: sections of one file each, and their hunks.

unidiff reads the hunks; it is handed exactly one hunk's lines at a time, with counts that are right, and what it gives
back is held against them. The end of each hunk is found here: unidiff drops lines beyond a hunk's counts without a
word. Does not live here: names and modes (`header`), where a chunk stands (`place`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unidiff.patch import Hunk, PatchSet

from remit.core import header
from remit.core.chunk import Chunk, FilePatch
from remit.core.faults import AgentFault, OurFault
from remit.core.header import NULL, Head
from remit.core.reader import Reader, malformed

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_MAIL = re.compile(r"(?:From|commit) [0-9a-f]{7,64}\b")
_NOISE = re.compile(r"Index: |={60,}$|diff -")
_FENCE = re.compile(r"```|~~~")


def read(reader: Reader) -> list[FilePatch]:
    """All sections from where the reader stands to its end; other text around them is set aside with a note.

    AgentFault: malformed_patch, hunk_counts, binary_patch, special_file, combined_diff, word_diff, ambiguous_path.
    """
    files: list[FilePatch] = []
    prose = True  # a mail or a commit message may say anything before its first diff
    while reader.at < reader.end:
        header.refuse_binary(reader)
        header.refuse_foreign(reader)
        line = reader.peek()
        if header.begins(reader):
            files.append(_section(reader))
            prose = False
        elif _is_signature(reader):
            reader.notes.append("mail signature set aside")
            reader.at += 2
        elif line.startswith("@@") or (not prose and line[:1] in ("+", "-", " ") and line.strip()):
            raise malformed(f"Line {reader.at + 1} belongs to no file or hunk.", reader.at + 1)
        else:
            prose = prose or bool(_MAIL.match(line) or _FENCE.match(line))
            if line.strip() and not _NOISE.match(line) and "other text set aside" not in reader.notes:
                reader.notes.append("other text set aside")
            reader.take()
    return files


def _is_signature(reader: Reader, ahead: int = 0) -> bool:
    """git format-patch ends a mail with "-- " and git's version."""
    if reader.peek(ahead) not in ("-- ", "--") or not re.match(r"\d+\.\d+", reader.peek(ahead + 1)):
        return False
    behind = range(reader.at + ahead + 2, reader.end)
    rest = next((reader.lines[at] for at in behind if reader.lines[at].strip()), "")
    return not rest or bool(_MAIL.match(rest))


def _section(reader: Reader) -> FilePatch:
    head = header.read(reader)
    hunks: list[tuple[int, list[str]]] = []
    while reader.peek().startswith("@@"):
        hunks.append(_hunk(reader))
    if not hunks and (head.old is not None or not head.says.keys() - {"index"}):
        raise malformed(f"The file entry at line {head.line} has no change.", head.line)
    file = _file(head, tuple(_checked(start, body) for start, body in hunks))
    if "\r\n" in (file.content or "") and reader.lines[head.line - 1].endswith("\r"):
        reader.notes.append(f"line {head.line}: the patch's own lines end in CRLF, and so do those of the new file")
    return file


def _file(head: Head, chunks: tuple[Chunk, ...]) -> FilePatch:
    old, new = header.paths(head)
    mode = header.mode(head)
    blobs = header.blobs(head)
    if "new file mode" in head.says or head.old == NULL or (head.absent[0] and _only(chunks, new=True)):
        if len(chunks) > 1 or any(chunk.old for chunk in chunks) or not (head.old in (None, NULL) or head.absent[0]):
            raise malformed(f"The new file at line {head.line} has old lines.", head.line)
        content = "".join("\n".join([*chunk.new, ""][: None if chunk.new_final_newline else -1]) for chunk in chunks)
        return FilePatch(new, "create", content=content, mode=mode, new_blob=blobs[1])
    if "deleted file mode" in head.says or head.new == NULL or (head.absent[1] and _only(chunks, new=False)):
        if any(chunk.new for chunk in chunks) or not (head.new in (None, NULL) or head.absent[1]):
            raise malformed(f"The deleted file at line {head.line} has new lines.", head.line)
        return FilePatch(old, "delete", chunks=chunks, old_blob=blobs[0])
    if old == new:
        return FilePatch(new, "modify", None, chunks, None, mode, *blobs)
    return FilePatch(new, "copy" if "copy from" in head.says else "rename", old, chunks, None, mode, *blobs)


def _only(chunks: Sequence[Chunk], *, new: bool) -> bool:
    """Do they hold lines of that side alone?"""
    return bool(chunks) and not any(chunk.old if new else chunk.new for chunk in chunks)


def _hunk(reader: Reader) -> tuple[int, list[str]]:
    """The declared 0-based line of the old side, and the body, to the end that its counts give or that can be seen."""
    line = reader.at + 1
    counts = _HUNK.match(reader.peek())
    if not counts:
        raise malformed(
            f"The hunk header at line {line} has no line numbers.", line, "Write @@ -LINE,COUNT +LINE,COUNT @@."
        )
    reader.take()
    declared = int(counts[2] or 1), int(counts[4] or 1)
    start = reader.at
    body = _counted(reader, declared)
    if reader.at < reader.end and reader.peek().startswith("\\"):
        body.append(reader.take())
    off = _tally(body) != declared or _goes_on(reader)
    if (off or not any(line[:1] in ("+", "-") for line in body)) and _marks_words(reader, start):
        raise AgentFault(
            "word_diff",
            f"The hunk at line {line} marks words, not lines.",
            remedy="Send the diff without --word-diff.",
            line=line,
        )
    if off:
        reader.at = start
        body = _counted_anew(reader, line, declared)
    old = int(counts[1])
    return (max(0, old - 1) if declared[0] else old), body


def _marks_words(reader: Reader, start: int) -> bool:
    """From line `start` to the next header: are there [-old-] and {+new+} on lines without a sign, or a ~ alone?"""
    signed, marked = False, False
    for at in range(start, reader.end):
        line = reader.lines[at]
        if line.startswith(("@@", "diff --git ")):
            break
        if line.rstrip("\r") == "~":
            return True
        if line[:1] in ("+", "-"):
            signed = True
        elif ("[-" in line and "-]" in line) or ("{+" in line and "+}" in line):
            marked = True
            if line[0] != " ":
                return True
    return marked and not signed


def _counted(reader: Reader, declared: tuple[int, int]) -> list[str]:
    """So many lines as the counts say, or fewer where something else comes first."""
    body: list[str] = []
    old, new = declared
    while (old > 0 or new > 0) and reader.at < reader.end and _is_body(reader):
        body.append(reader.take())
        sign = body[-1][:1]
        old -= sign not in ("+", "\\")
        new -= sign not in ("-", "\\")
    return body


def _tally(body: Sequence[str]) -> tuple[int, int]:
    signs = [line[:1] for line in body]
    added, removed, marks = (signs.count(sign) for sign in "+-\\")
    return len(signs) - added - marks, len(signs) - removed - marks


def _is_body(reader: Reader) -> bool:
    return reader.peek()[:1] in ("", " ", "+", "-", "\\")


def _goes_on(reader: Reader) -> bool:
    """Do lines of a hunk follow although its counts are used up?"""
    ahead = 0
    while reader.at + ahead < reader.end and not reader.peek(ahead).strip():
        ahead += 1
    return (
        reader.peek(ahead)[:1] in ("+", "-", " ")
        and not header.is_names(reader, ahead)
        and not _is_signature(reader, ahead)
    )


def _counted_anew(reader: Reader, line: int, declared: tuple[int, int]) -> list[str]:
    """The body of a hunk whose counts are wrong, if only one end is possible; the result then says so."""
    body: list[str] = []
    clear = True
    while reader.at < reader.end and _is_body(reader) and not _is_signature(reader):
        if header.is_names(reader):
            # Removed "-- x" and added "++ y" look the same; a/ and b/ and a hunk behind them settle it.
            settled = re.match(r"--- (?:\"?a/|/dev/null)", reader.peek()) and re.match(
                r"\+\+\+ (?:\"?b/|/dev/null)", reader.peek(1)
            )
            clear = bool(settled and reader.peek(2).startswith("@@ -"))
            break
        body.append(reader.take())
    while body and not body[-1].strip("\r"):
        body.pop()  # an empty line at the end parts this hunk from the next thing; as context it is not needed
    counted = _tally(body)
    if not clear or counted == (0, 0) or counted == declared:
        raise AgentFault(
            "hunk_counts",
            f"The hunk at line {line} says {declared[0]},{declared[1]} lines and has {counted[0]},{counted[1]}.",
            remedy="Correct the counts after @@.",
            line=line,
            header=list(declared),
            body=list(counted),
        )
    reader.notes.append(f"line {line}: hunk counts {declared[0]},{declared[1]} read as {counted[0]},{counted[1]}")
    return body


def _checked(start: int, body: list[str]) -> Chunk:
    """The chunk as unidiff reads it, held against the raw lines."""
    canonical = [line if line[:1] in ("+", "-", " ", "\\") else " " + line for line in body]
    canonical = ["\\ No newline at end of file" if line[0] == "\\" else line for line in canonical]
    old, new = _tally(body)
    head = ["--- a", "+++ b", f"@@ -1,{old} +1,{new} @@"]
    read = PatchSet([f"{line}\n" for line in [*head, *canonical]])
    hunk = read[0][0] if len(read) == 1 and len(read[0]) == 1 else Hunk()
    if [str(line) for line in hunk] != [f"{line}\n" for line in canonical]:
        raise OurFault("patch_reader", "Two readings of the patch differ.", remedy="Report this with the patch.")
    return _chunk_from(start, hunk)


def _chunk_from(start: int, hunk: Hunk) -> Chunk:
    ends: dict[str, bool] = {}
    sides: dict[str, list[str]] = {"-": [], "+": []}
    last = ""
    for line in hunk:
        for side in "-+":
            if line.line_type in (side, " "):
                if ends.get(side) is False:
                    raise malformed("A line follows the mark for a missing final newline.", None)
                sides[side].append(line.value.removesuffix("\n"))
                ends[side] = True
            elif line.line_type == "\\" and last in (side, " "):
                ends[side] = False
        last = line.line_type
    return Chunk(tuple(sides["-"]), tuple(sides["+"]), start, (), ends.get("-"), ends.get("+"))
