"""Who else says that Remit's bytes are right where git refuses, or makes others of the same patch.

Two witnesses, neither of which is Remit: git once more, when what the difference is about is mended for it; and the
plainest reading there is, which knows a hunk's lines and two rules: at the declared line, else where they fit once.
Line ends, the byte order mark and the final newline are left out here: which of them is kept is Remit's own matter, and
the pairs on which both judges agree are compared with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from differential.judge import Done, Git
from differential.makers import Pair
from remit.core.chunk import Chunk

MARK = b"\xef\xbb\xbf"
Flat = Callable[[bytes], bytes]


def backs(git: Git, pair: Pair, done: Done) -> bool:
    """Does a witness say the same as Remit? With a lone CR as a part of a line, as git has it, or as a line's end."""
    return any(_mended(git, pair, done, flat) or _plainly(pair, done, flat) for flat in (_lf, _cr))


def beyond(pair: Pair) -> bool:
    """Is this one on which no witness can be relied on: a lone CR, or a byte order mark that is not in front?"""
    texts = [pair.patch, *pair.files.values()]
    return any(re.search(rb"\r(?!\r*\n|\Z)", text) for text in texts) or any(MARK in text[1:] for text in texts)


def _lf(data: bytes) -> bytes:
    """The lines as they are but for CRLF, byte order marks, and a missing newline at the end."""
    text = re.sub(rb"\r+\n", b"\n", data.replace(MARK, b""))
    return text if text.endswith(b"\n") or not text else text + b"\n"


def _cr(data: bytes) -> bytes:
    return _lf(re.sub(rb"\r+\n?", b"\n", data))


def _flattened(patch: bytes, flat: Flat) -> bytes:
    """A patch's own lines, each of which may then be several with the same sign."""
    whole = patch if patch.endswith(b"\n") else patch + b"\n"
    lines = [line for line in _lf(whole).split(b"\n")[:-1] if not line.startswith(b"\\ ")]
    made = [line[:1] + flat(line[1:])[:-1].replace(b"\n", b"\n" + line[:1]) if line else b"" for line in lines]
    return b"".join(line + b"\n" for line in made)


def _mended(git: Git, pair: Pair, done: Done, flat: Flat) -> bool:
    """git, with counts taken anew, hunks without context allowed, and everything in LF up to the last line."""
    files = {name: flat(data) for name, data in pair.files.items()}
    verdict = git.apply(files, _flattened(pair.patch, flat), "--recount", "--unidiff-zero")
    return isinstance(verdict, Done) and _equal(verdict.files, done.files, flat)


def _equal(one: Mapping[str, bytes], two: Mapping[str, bytes], flat: Flat) -> bool:
    return {name: flat(data) for name, data in one.items()} == {name: flat(data) for name, data in two.items()}


def _plainly(pair: Pair, done: Done, flat: Flat) -> bool:
    """Each hunk has the lines that stand in the patch, and each file the hunks' new lines where the old ones stood."""
    if done.patch is None:
        return False
    bodies, after = list(_bodies(_flattened(pair.patch, flat))), dict(pair.files)
    for file in done.patch.files:
        data = after.pop(file.source or file.path, b"")
        if file.op == "create":
            after[file.path] = (file.content or "").encode("utf-8", "surrogateescape")
            continue
        if not all(any(_sides(body) == _said(chunk, flat) for body in bodies) for chunk in file.chunks):
            return False
        if (text := _put(flat(data).split(b"\n")[:-1], file.chunks, flat)) is None:
            return False
        if file.op != "delete":
            after[file.path] = b"".join(line + b"\n" for line in text)
    return _equal(after, done.files, flat)


def _put(lines: list[bytes], chunks: tuple[Chunk, ...], flat: Flat) -> list[bytes] | None:
    edits: list[tuple[int, int, list[bytes]]] = []
    for chunk in chunks:
        old, new = _said(chunk, flat)
        found = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
        if chunk.old_final_newline is False:
            found = [at for at in found if at + len(old) == len(lines)]
        if chunk.line not in found and len(found) != 1:
            return None
        at = chunk.line if chunk.line is not None and chunk.line in found else found[0]
        edits.append((at, at + len(old), new))
    for at, end, new in sorted(edits, reverse=True):
        lines[at:end] = new
    return lines


def _said(chunk: Chunk, flat: Flat) -> tuple[list[bytes], list[bytes]]:
    """The old and the new lines of a chunk."""
    old, new = (
        [part for line in side for part in flat(line.encode("utf-8", "surrogateescape") + b"\n").split(b"\n")[:-1]]
        for side in (chunk.old, chunk.new)
    )
    return old, new


def _sides(body: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    return [line[1:] for line in body if line[:1] != b"+"], [line[1:] for line in body if line[:1] != b"-"]


def _bodies(patch: bytes) -> Iterator[list[bytes]]:
    """What each hunk may hold: its lines up to where they can end, what may stand behind it with and without."""
    lines = patch.split(b"\n")
    for at, line in enumerate(lines):
        if re.match(rb"@@ -\d", line):
            end = at + 1
            while end < len(lines) and lines[end][:1] in (b"", b" ", b"+", b"-") and not _begins(lines[end : end + 2]):
                end += 1
            while end > at + 1:
                yield lines[at + 1 : end]
                end -= 1
                if lines[end].strip() and not lines[end].startswith(b"--"):
                    break


def _begins(two: list[bytes]) -> bool:
    return len(two) == 2 and two[0].startswith(b"--- ") and two[1].startswith(b"+++ ")
