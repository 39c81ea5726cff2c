"""What helps whoever sent old lines that stand nowhere: the place most like them, and in what it differs.

Only told, never placed by. Does not live here: looking for the place (`seek`), which rules may be used (policy).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby

from remit.core.faults import AgentFault, Json
from remit.core.lines import Alike, View, bare_line
from remit.core.text import split_lines

TRIED = 200
"""Lines that are held against the old text, at most."""

EFFORT = 2_000
"""Lines of those places that are compared by each rule, at most."""

WORDS = 50
"""Words of the old line that are looked for."""

DIFFERS: Mapping[Alike, str] = {
    "exact": "place",
    "line_ends": "line_ends",
    "trailing_blanks": "blanks",
    "tabs": "blanks",
    "blanks": "blanks",
}
"""In what a place differs that fits by each way to compare, from strict to loose."""


def unfound(text: str, number: int, declared: int | None, old: Sequence[str]) -> AgentFault:
    """The refusal `no_match`; `declared` is 0-based, `old` is not empty."""
    return AgentFault(
        "no_match",
        f"Chunk {number + 1}: its old text is not in the file.",
        remedy="Read the file again and make the change from what it has now.",
        chunk=number,
        nearest=_nearest(text, declared or 0, old),
    )


def _nearest(text: str, declared: int, old: Sequence[str]) -> Json:
    """The most similar place, and in what it differs from what was sent: only a hint, nothing is placed by it.

    Looked for where the rarest words of the longest old line stand; the text itself is searched by C alone.
    """
    lines = split_lines(text)
    step = max(range(len(old)), key=lambda at: len(old[at].strip()))
    words = set(re.findall(r"\w+", old[step]))
    near = sorted(_standing(text, lines, words), key=lambda line: abs(line - step - declared))
    tried = [line for line in near if line >= step][: max(1, EFFORT // len(old))]
    for alike, differs in DIFFERS.items():
        key = View("", alike).key
        for line in (line for line in tried if key(lines[line]) == key(old[step])):
            if found := _differing(lines[line - step : line - step + len(old)], alike, old):
                at, has, sent = found
                return _contrast(line - step + at, differs, has, sent)
    shared = {line: len(words.intersection(re.findall(r"\w+", lines[line]))) for line in near}
    best = max(near, key=shared.__getitem__, default=None)
    return None if best is None else _contrast(best, "text", bare_line(lines[best]), old[step])


def _standing(text: str, lines: Sequence[str], words: set[str]) -> set[int]:
    """Some lines with the rarest of the words that the text has, and with the next ones while that are few."""
    counted = sorted((count, word) for word in sorted(words)[:WORDS] if (count := text.count(word)))
    starts = [0, *accumulate(map(len, lines))] if counted else []
    found: set[int] = set()
    for _, word in counted:
        at = text.find(word)
        while at >= 0 and len(found) < TRIED:
            found.add(bisect_right(starts, at) - 1)
            at = text.find(word, at + 1)
    return found


def _differing(lines: Sequence[str], alike: Alike, old: Sequence[str]) -> tuple[int, str, str] | None:
    """If these are the old lines under that way to compare them: the first that is not to the byte, as it is and as it
    was sent."""
    view = View("".join(lines), alike)
    if list(view.keys) != view.wanted(old):
        return None
    pairs = [(view.bare(has), sent) for has, sent in zip(view.lines, view.read(old), strict=True)]
    at = next((at for at, (has, sent) in enumerate(pairs) if has != sent), 0)
    return at, *pairs[at]


def _contrast(line: int, differs: str, has: str, sent: str) -> Json:
    found: dict[str, Json] = {"line": line + 1, "differs": differs, "file": shown(has), "request": shown(sent)}
    if differs == "blanks":
        found |= {"file_blanks": _blanks(has, sent), "request_blanks": _blanks(sent, has)}
    return found


def _blanks(line: str, other: str) -> str:
    """The blanks of a line where it parts from another, spelled out: 1 tab (0x09)."""
    at = next(
        (at for at, (one, two) in enumerate(zip(line, other, strict=False)) if one != two), min(len(line), len(other))
    )
    start = len(line[:at].rstrip())
    run = line[start : len(line) - len(line[at:].lstrip())]
    counted = [(char, len(list(same))) for char, same in groupby(run)]
    names = {" ": "space", "\t": "tab"}
    return (
        ", ".join(f"{n} {names.get(char, 'blank')}{'s' * (n > 1)} (0x{ord(char):02x})" for char, n in counted) or "none"
    )


def shown(text: str) -> str:
    """What JSON can carry: a byte that is no text in its escaped form, and not too much of it."""
    return text[:200].encode(errors="backslashreplace").decode()
