"""Properties of the patch engine at full depth: thin in `make test`, 20 000 examples each in `make test-long`.

The tests of each core module have more of them, at moderate depth; here are those on which no byte may be lost.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from depth import depth
from remit.core import codec, diff
from remit.core.diff import Merged, merge
from remit.core.faults import AgentFault
from remit.core.model import ABSENT
from remit.core.patch import parse
from remit.core.place import place
from remit.core.proposal import FileChange, hunks_of, keep, rebind
from remit.core.text import split_lines

pytestmark = pytest.mark.deep

# Few different lines, all line ends, and what others take for a line end, for binary or for a patch.
PIECES = [
    "a",
    "b",
    "}",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x0c",
    "\x00",
    "\udcfb",
    "é",
    "--- ",
    "@@ -1 +1 @@",
    "\\",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "}\n", "d\r"]), max_size=14).map("".join)
BYTES = st.lists(
    st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"a\0", b"\n", b"\n", b"\r\n", b"\xe9", b"x", b"\xc3\xa9"]),
    max_size=16,
).map(b"".join)

thorough = settings(
    max_examples=depth(150, 20_000), deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


@thorough
@given(TEXTS, TEXTS)
def test_a_diff_carried_out_is_the_new_text(old: str, new: str) -> None:
    assert diff.apply(old, diff.between(old, new)) == new


@thorough
@given(BYTES, BYTES)
def test_a_diff_of_bytes_carried_out_is_the_new_bytes(old: bytes, new: bytes) -> None:
    """By way of the text, as a proposal does it, in the charset that the new bytes have."""
    before, after = codec.decode(old), codec.decode(new)
    text = diff.apply(before.text, diff.between(before.text, after.text))
    assert codec.encode(text, after.charset) == new


@thorough
@given(TEXTS, TEXTS, st.integers(0, 3))
def test_a_printed_diff_read_and_placed_is_the_new_text(old: str, new: str, context: int) -> None:
    printed = diff.unified(old, new, "a/f", "b/f", context)
    assert bool(printed) == (old != new)
    if printed:
        (file,) = parse(printed).files
        placed = place(old, file.chunks, ("exact",))
        assert placed.text == new
        assert all((one.rule, one.offset) == ("exact", 0) for one in placed.placements)


@thorough
@given(TEXTS, TEXTS, TEXTS, st.integers(0, 3))
def test_a_patch_for_another_text_is_refused_or_changes_its_own_lines_only(
    old: str, new: str, other: str, context: int
) -> None:
    printed = diff.unified(old, new, "a/f", "b/f", context)
    if not printed:
        return
    chunks = parse(printed).files[0].chunks
    try:
        placed = place(other, chunks)
    except AgentFault:
        return
    had, has = (Counter(line.rstrip("\r\n") for line in split_lines(text)) for text in (other, placed.text))
    asked = Counter(line for chunk in chunks for text in chunk.new for line in _bare(text))
    gone = Counter(line for chunk in chunks for text in chunk.old for line in _bare(text))
    assert not has - had - asked - Counter([""]), "a line came from nowhere"
    assert not had - has - gone - Counter([""]), "a line went that no chunk took"


def _bare(line: str) -> list[str]:
    return [part.rstrip("\r\n") for part in split_lines(line)] or [""]


def _change(old: str, new: str) -> FileChange:
    hunks = hunks_of("P1", diff.between(old, new))
    return FileChange(path="f", op="modify", base=_sha(old), result=_sha(new), hunks=hunks)


def _sha(text: str) -> str:
    return codec.digest(text.encode("utf-8", "surrogateescape"))


@thorough
@given(TEXTS, TEXTS, st.data())
def test_hunks_taken_in_any_order_and_parts_make_the_whole(old: str, new: str, data: st.DataObject) -> None:
    rest, text = _change(old, new), old
    order = data.draw(st.permutations([hunk.id for hunk in rest.hunks]))
    while order:
        count = data.draw(st.integers(1, len(order)))
        chosen, order = order[:count], order[count:]
        text = keep(rest, chosen, ABSENT).text(text)
        rest = rebind(rest, chosen, _sha(text))
        assert rest.text(text) == new
    assert text == new and not rest.hunks


@thorough
@given(LINES, LINES, LINES)
def test_a_merge_neither_invents_nor_drops_a_line(base: str, ours: str, theirs: str) -> None:
    """Of each line there are as many as the base has, with what the sides put in and without what they took away: at
    most all that both put in, at least what one did."""
    merged = merge(base, ours, theirs)
    assert merge(base, theirs, ours) == merged or not isinstance(merged, Merged)
    if not isinstance(merged, Merged):
        return
    was, got = Counter(split_lines(base)), Counter(split_lines(merged.text))
    (add1, take1), (add2, take2) = _moves(base, ours), _moves(base, theirs)
    for line in was | add1 | add2 | got:
        most = was[line] + add1[line] + add2[line] - max(take1[line], take2[line])
        least = was[line] + max(add1[line], add2[line]) - take1[line] - take2[line]
        assert least <= got[line] <= most, line


def _moves(old: str, new: str) -> tuple[Counter[str], Counter[str]]:
    """How often the change puts each line in, and takes it away."""
    spans = diff.between(old, new)
    return Counter(line for span in spans for line in span.new), Counter(line for span in spans for line in span.old)


@thorough
@given(LINES, LINES, st.data())
def test_a_foreign_edit_survives_the_taking_back(old: str, new: str, data: st.DataObject) -> None:
    """Undo is the merge of the present with the old text over the applied one: the foreign lines stay, ours go."""
    extra = "foreign\n"
    lines = split_lines(new)
    at = data.draw(st.integers(0, len(lines)))
    if at and not lines[at - 1].endswith(("\n", "\r")):
        at = 0
    back = merge(new, "".join([*lines[:at], extra, *lines[at:]]), old)
    if isinstance(back, Merged):
        left = split_lines(back.text)
        assert left.count(extra) == 1
        left.remove(extra)
        assert "".join(left) == old
