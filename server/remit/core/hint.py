"""What helps whoever sent old lines that stand nowhere: the place most like them, and in what it differs.

Only told, never placed by. Does not live here: looking for the place (`seek`), which rules may be used (policy).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from remit.core.faults import AgentFault, Json
from remit.core.lines import Alike, View, bare_line
from remit.core.text import split_lines


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
    """The most similar place, and in what it differs from what was sent: only a hint, nothing is placed by it."""
    names: dict[Alike, str] = {
        "exact": "place",
        "line_ends": "line_ends",
        "trailing_blanks": "blanks",
        "tabs": "blanks",
        "blanks": "blanks",
    }
    for alike, differs in names.items():
        view = View(text, alike)
        if places := view.find(view.wanted(old)):
            line = min(places, key=lambda line: abs(line - declared))
            pairs = [(view.bare(has), sent) for has, sent in zip(view.lines[line:], view.read(old), strict=False)]
            step = next((step for step, (has, sent) in enumerate(pairs) if has != sent), 0)
            return _contrast(view.house_line(line) + step, differs, *pairs[step])
    sent = max(old, key=len)
    words = set(re.findall(r"\w+", sent))
    lines = split_lines(text)
    shared = [len(words.intersection(re.findall(r"\w+", line))) for line in lines]
    line = max(range(len(lines)), key=lambda line: (shared[line], -abs(line - declared)), default=0)
    return _contrast(line, "text", bare_line(lines[line]), sent) if any(shared) else None


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
