"""A patch as text in the form that git prints and takes: the inverse of reading one (`unified`).

What the form cannot say (chunks without line numbers, anchors) is our mistake to ask for. Format: git-diff(1),
"Generating patch text with -p". Does not live here: the comparison of two texts (`diff`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from remit.core.chunk import Chunk, FilePatch, Mode
from remit.core.diff import told
from remit.core.faults import OurFault
from remit.core.header import BLANKS, NULL
from remit.core.proposal import FileChange

CONTEXT = 3
_PLAIN = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}
_NO_NEWLINE = "\\ No newline at end of file\n"


def printed(files: Sequence[FilePatch]) -> str:
    """The files as one unified diff, in their order. OurFault("unprintable") where the form cannot say it."""
    return "".join(part for file in files for part in _section(file))


def change(file: FileChange, old: str, new: str, blobs: tuple[str | None, str | None] = (None, None)) -> FilePatch:
    """One file of a proposal as a patch from `old` to `new`, the whole texts; `blobs`: their ids, where known."""
    mode: Mode | None = None if file.executable is None else "100755" if file.executable else "100644"
    if file.copy_of is not None:
        # Bound to what it was copied from no more: what is proposed is this text.
        return FilePatch(file.path, "create", content=new, mode=mode, new_blob=blobs[1])
    if file.op == "create":
        return FilePatch(file.path, "create", content=new, mode=mode, new_blob=blobs[1])
    return FilePatch(file.path, file.op, file.source, chunks(old, new), None, mode, *blobs)


def chunks(old: str, new: str, context: int = CONTEXT) -> tuple[Chunk, ...]:
    """The difference as git's hunks have it: lines end at \\n only, `context` lines around each change."""
    before, after = _lines(old), _lines(new)
    made: list[Chunk] = []
    found = told(before, after)
    first = 0
    for at, span in enumerate(found):
        if at + 1 < len(found) and found[at + 1].old_start - span.old_end <= 2 * context:
            continue  # their contexts would meet: one hunk
        low, high = max(0, found[first].old_start - context), min(len(before), span.old_end + context)
        start = found[first].new_start - (found[first].old_start - low)
        end = span.new_start + len(span.new) + (high - span.old_end)
        made.append(_chunk(before[low:high], after[start:end], low))
        first = at + 1
    return tuple(made)


def _chunk(before: Sequence[str], after: Sequence[str], line: int) -> Chunk:
    old, new = (tuple(one.removesuffix("\n") for one in side) for side in (before, after))
    ends = [side[-1].endswith("\n") if side else None for side in (before, after)]
    return Chunk(old, new, line, (), ends[0], ends[1])


# --- one file ---------------------------------------------------------------------------------------------------------


def _section(file: FilePatch) -> Iterator[str]:
    old, new = file.source or file.path, file.path
    yield f"diff --git {quoted(f'a/{old}')} {quoted(f'b/{new}')}\n"
    if file.op == "create":
        yield f"new file mode {file.mode or '100644'}\n"
    elif file.op == "delete":
        yield "deleted file mode 100644\n"
    elif file.mode is not None:
        yield f"old mode {'100644' if file.mode == '100755' else '100755'}\nnew mode {file.mode}\n"
    if file.source is not None:
        if not file.chunks:
            yield "similarity index 100%\n"
        yield f"{file.op} from {quoted(old)}\n{file.op} to {quoted(new)}\n"
    yield from _index(file)
    parts = _created(file.content or "") if file.op == "create" else file.chunks
    if parts:
        yield f"--- {NULL if file.op == 'create' else _headed(f'a/{old}')}\n"
        yield f"+++ {NULL if file.op == 'delete' else _headed(f'b/{new}')}\n"
        yield from _hunks(parts)


def _index(file: FilePatch) -> Iterator[str]:
    blobs = [file.old_blob, file.new_blob]
    some = next((blob for blob in blobs if blob is not None), None)
    if some is not None:
        if blobs[0] is None and file.op == "create":
            blobs[0] = "0" * len(some)
        if blobs[1] is None and file.op == "delete":
            blobs[1] = "0" * len(some)
        if blobs[0] is not None and blobs[1] is not None:
            yield f"index {blobs[0]}..{blobs[1]}\n"


def _created(content: str) -> tuple[Chunk, ...]:
    return (_chunk((), _lines(content), 0),) if content else ()


def _hunks(parts: Sequence[Chunk]) -> Iterator[str]:
    """In their order; the new side's numbers are those of all hunks above, wherever they stand in the patch."""
    shifts, shift = dict[int, int](), 0
    for at in sorted(range(len(parts)), key=lambda at: parts[at].line or 0):
        shifts[at] = shift
        shift += len(parts[at].new) - len(parts[at].old)
    for at, chunk in enumerate(parts):
        if chunk.line is None or chunk.anchors or chunk.at_end:
            raise OurFault("unprintable", "A chunk without a line number cannot be printed as a unified diff.")
        yield f"@@ -{_range(chunk.line, chunk.old)} +{_range(chunk.line + shifts[at], chunk.new)} @@\n"
        yield from _body(_ended(chunk.old, chunk.old_final_newline), _ended(chunk.new, chunk.new_final_newline))


def _body(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    at = 0
    for span in told(before, after):
        yield from (_marked(" ", line) for line in before[at : span.old_start])
        yield from (_marked("-", line) for line in span.old)
        yield from (_marked("+", line) for line in span.new)
        at = span.old_end
    yield from (_marked(" ", line) for line in before[at:])


def _ended(lines: Sequence[str], final: bool | None) -> list[str]:
    ended = [f"{line}\n" for line in lines]
    return [*ended[:-1], lines[-1]] if lines and final is False else ended


def _marked(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}"


def _range(line: int, lines: Sequence[str]) -> str:
    first = line + 1 if lines else line
    return str(first) if len(lines) == 1 else f"{first},{len(lines)}"


def _lines(text: str) -> list[str]:
    return StringIO(text, newline="\n").readlines()


def _headed(name: str) -> str:
    """A name as it stands behind --- and +++: a tab says where one with blanks ends."""
    spelled = quoted(name)
    return f"{spelled}\t" if spelled == name and " " in name else spelled


def quoted(name: str) -> str:
    """git's spelling of a name: in quotes, C's way, where it has to be. Any name that git could not tell the end of,
    too."""
    spelled = "".join(_spelled(char) for char in name)
    return f'"{spelled}"' if spelled != name or name.count(" ") > BLANKS // 4 else name


def _spelled(char: str) -> str:
    if char in _PLAIN:
        return f"\\{_PLAIN[char]}"
    if " " <= char <= "~":
        return char
    # Beyond ASCII as git does by default (core.quotePath): a name may be no text at all.
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
