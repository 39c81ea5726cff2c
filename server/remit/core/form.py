"""What belongs to a file and not to its lines: its byte order mark and its line ends. A change that does not speak of
them leaves them alone.

Does not live here: placing (`place`), bytes (`codec`), which rules may be used (policy).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from remit.core import codec
from remit.core.chunk import Chunk, Rule
from remit.core.faults import AgentFault
from remit.core.lines import bare_line
from remit.core.place import Placed, Swap, apart, ended, place, swap
from remit.core.text import split_lines

MARK = "\ufeff"
Kept = Literal["bom", "line_ends"]
"""What a file has kept although the text that was sent for it has another."""
_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


def whole(old: str, sent: str, *, marked: bool, rules: Sequence[Rule]) -> tuple[str, tuple[Kept, ...]]:
    """A whole new text in the form of the file that has `old`, and what was kept; `marked`: it has a mark of its own.

    A text in one style of line ends takes those of the file; one in several means each of them. Whether it ends in a
    newline is as sent: a whole text can say so, and the human sees it.
    """
    kept: list[Kept] = []
    if marked and sent.startswith(MARK):
        sent, kept = sent[1:], ["bom"]
    elif old.startswith(MARK) and not sent.startswith(MARK):
        sent, kept = MARK + sent, ["bom"]
    style, house = codec.eol_style(sent), codec.eol_style(old)
    if "line_ends" not in rules or style not in _ENDS or house in ("none", style):
        return sent, tuple(kept)
    made = sent.replace(_ENDS[style], _ENDS[house]) if house in _ENDS else _mixed(old, sent)
    return made, (*kept, "line_ends") if made != sent else tuple(kept)


def _mixed(old: str, sent: str) -> str:
    """Lines that stay end as they did, new ones like the line whose place they take, or the one before."""
    raw, lines = split_lines(old), split_lines(sent)
    first = raw[0][len(bare_line(raw[0])) :]
    made = apart("", ended(raw, [*map(bare_line, raw)], [*map(bare_line, lines)], first, bare_line), "")
    last = made[-1]
    if bare_line(lines[-1]) == lines[-1]:
        made[-1] = bare_line(last)
    elif bare_line(last) == last:
        made[-1] = last + first
    return "".join(made)


def onto(text: str, chunks: Sequence[Chunk], rules: Sequence[Rule], *, marked: bool, deletes: bool = False) -> Placed:
    """`place`, for the text of a file whose mark is not in its text: git shows it as part of the first line.

    AgentFaults of placing; byte_order_mark, where the mark would not stay where it is.
    """
    quoted = any(line.startswith(MARK) for chunk in chunks for line in chunk.old[:1])
    return _about(text, lambda whole: place(whole, chunks, rules), marked=marked, quoted=quoted, deletes=deletes)


def swapped(text: str, swaps: Sequence[Swap], rules: Sequence[Rule], *, marked: bool) -> Placed:
    """`swap`, for such a file."""
    quoted = any(one.search.startswith(MARK) for one in swaps)
    return _about(text, lambda whole: swap(whole, swaps, rules), marked=marked, quoted=quoted)


def _about(
    text: str, carry_out: Callable[[str], Placed], *, marked: bool, quoted: bool, deletes: bool = False
) -> Placed:
    """A change that may quote the mark of a file: with it where it does, and never with a second one."""
    if not marked or text.startswith(MARK):
        return carry_out(text)
    if not quoted:
        placed = carry_out(text)
        return replace(placed, text=placed.text.removeprefix(MARK))
    placed = carry_out(MARK + text)
    if not deletes and not placed.text.startswith(MARK):
        raise AgentFault(
            "byte_order_mark",
            "The change would take the byte order mark from the beginning of the file.",
            remedy="Leave the mark out of it on both sides: it stays by itself.",
        )
    changed = tuple((max(0, start - 1), max(0, end - 1), word) for start, end, word in placed.changed)
    return replace(placed, text=placed.text.removeprefix(MARK), changed=changed)
