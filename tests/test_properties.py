"""Properties of the patch engine at full depth: thin in `make test`, 20 000 examples each in `make test-long`.

The tests of each core module have more of them, at moderate depth; here are those on which no byte may be lost. What a
whole session promises is in `test_promises`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from changes import changes
from depth import depth
from remit.core import codec, diff
from remit.core.chunk import Chunk, FilePatch
from remit.core.diff import Merged, Span, merge
from remit.core.faults import AgentFault
from remit.core.model import ABSENT
from remit.core.patch import parse
from remit.core.place import Swap, place, swap
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
LF = st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "\n", "\n", "\n", "\x0c", "\u2028", "é"]), max_size=20).map(
    "".join
)
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "}\n", "d\r"]), max_size=14).map("".join)
BYTES = st.lists(
    st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"a\0", b"\n", b"\n", b"\r\n", b"\xe9", b"x", b"\xc3\xa9"]),
    max_size=16,
).map(b"".join)

CHANGED = changes(TEXTS)
THREE = changes(LINES, 2)

thorough = settings(
    max_examples=depth(150, 20_000), deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


@thorough
@given(CHANGED)
def test_a_diff_carried_out_is_the_new_text(texts: tuple[str, str]) -> None:
    old, new = texts
    assert diff.apply(old, diff.between(old, new)) == new


@thorough
@given(BYTES, BYTES)
def test_a_diff_of_bytes_carried_out_is_the_new_bytes(old: bytes, new: bytes) -> None:
    """By way of the text, as a proposal does it, in the charset that the new bytes have."""
    before, after = codec.decode(old), codec.decode(new)
    text = diff.apply(before.text, diff.between(before.text, after.text))
    assert codec.encode(text, after.charset) == new


@thorough
@given(CHANGED, st.integers(0, 3))
def test_a_printed_diff_read_and_placed_is_the_new_text(texts: tuple[str, str], context: int) -> None:
    old, new = texts
    printed = diff.unified(old, new, "a/f", "b/f", context)
    assert bool(printed) == (old != new)
    if printed:
        (file,) = parse(printed).files
        placed = place(old, file.chunks, ("exact",))
        assert placed.text == new
        assert all((one.rule, one.offset) == ("exact", 0) for one in placed.placements)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=8)


@thorough
@given(st.dictionaries(NAMES, changes(LF), max_size=3), st.integers(0, 3))
def test_what_is_read_from_a_printed_diff_is_what_was_printed(files: dict[str, tuple[str, str]], context: int) -> None:
    """parse∘print: the files by name, and in each the hunks line by line with their places and final newlines."""
    changed = [(name, old, new) for name, (old, new) in files.items() if old != new]
    assume(changed)
    printed = "".join(diff.unified(old, new, f"a/{name}", f"b/{name}", context) for name, old, new in changed)
    found = parse(printed)
    assert [file.path for file in found.files] == [name for name, _, _ in changed] and not found.notes
    for file, (name, old, new) in zip(found.files, changed, strict=True):
        assert [(one.line, _lines(one.old), _lines(one.new)) for one in file.chunks] == _hunks(old, new, context)
        again = place(old, file.chunks, ("exact",)).text
        assert again == new
        assert diff.unified(old, again, f"a/{name}", f"b/{name}", context) in printed
        for one in file.chunks:
            assert one.old_final_newline is not False or not old.endswith("\n")
            assert one.new_final_newline is not False or not new.endswith("\n")


def _lines(lines: tuple[str, ...]) -> list[str]:
    return list(lines)


def _hunks(old: str, new: str, context: int) -> list[tuple[int, list[str], list[str]]]:
    """(first old line, old lines, new lines) of each hunk: spans with their context, joined where that meets."""
    lines, found = old.split("\n")[: -1 if old.endswith("\n") or not old else None], list[list[Span]]()
    for span in diff.told(_ended(old), _ended(new)):
        if found and span.old_start - found[-1][-1].old_end <= 2 * context:
            found[-1].append(span)
        else:
            found.append([span])
    hunks = []
    for group in found:
        low, high = max(0, group[0].old_start - context), min(len(lines), group[-1].old_end + context)
        made, at = list[str](), low
        for span in group:
            made += [*lines[at : span.old_start], *(line.removesuffix("\n") for line in span.new)]
            at = span.old_end
        hunks.append((low, lines[low:high], [*made, *lines[at:high]]))
    return hunks


def _ended(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=6)
SIGNED = st.lists(st.tuples(st.sampled_from(" +-"), WORDS), min_size=1, max_size=6)
ANCHORS = st.lists(WORDS.filter(lambda word: word.strip() and not word.startswith((" ", "-"))), max_size=2)
PLAIN = st.text("abc/.", min_size=1, max_size=6)


@st.composite
def block_chunks(draw: st.DrawFn) -> tuple[str, Chunk]:
    """A chunk of the `*** Begin Patch` form: as it is printed, and as it is meant."""
    lines, anchors, at_end = draw(SIGNED), tuple(draw(ANCHORS)), draw(st.booleans())
    head = "".join(f"@@ {anchor}\n" for anchor in anchors) or "@@\n"
    text = head + "".join(f"{sign}{word}\n" for sign, word in lines) + "*** End of File\n" * at_end
    old, new = (tuple(word for sign, word in lines if sign != without) for without in "+-")
    return text, Chunk(old, new, anchors=anchors, at_end=at_end)


@st.composite
def block_files(draw: st.DrawFn) -> tuple[str, FilePatch]:
    path, chunks = draw(PLAIN), draw(st.lists(block_chunks(), min_size=1, max_size=3))
    texts, meant = "".join(text for text, _ in chunks), tuple(chunk for _, chunk in chunks)
    match draw(st.sampled_from(["create", "delete", "modify", "rename"])):
        case "create":
            lines = draw(st.lists(WORDS, max_size=4))
            text = f"*** Add File: {path}\n" + "".join(f"+{line}\n" for line in lines)
            return text, FilePatch(path, "create", content="".join(f"{line}\n" for line in lines))
        case "delete":
            return f"*** Delete File: {path}\n", FilePatch(path, "delete")
        case "rename":
            text = f"*** Update File: {path}\n*** Move to: {path}2\n{texts}"
            return text, FilePatch(f"{path}2", "rename", path, meant)
        case _:
            return f"*** Update File: {path}\n{texts}", FilePatch(path, "modify", chunks=meant)


@thorough
@given(st.lists(block_files(), min_size=1, max_size=3))
def test_what_is_read_from_a_printed_block_is_what_was_printed(files: list[tuple[str, FilePatch]]) -> None:
    names = Counter(name for _, file in files for name in (file.path, file.source) if name)
    assume(max(names.values()) == 1)
    found = parse("*** Begin Patch\n" + "".join(text for text, _ in files) + "*** End Patch\n")
    assert (found.format, list(found.files)) == ("begin_patch", [file for _, file in files])


@thorough
@given(CHANGED)
def test_search_and_replace_carried_out_is_the_new_text(texts: tuple[str, str]) -> None:
    """A change said by the text that is there, with as much around it as makes its place the only one."""
    old, new = texts
    (start, end), (_, upto) = _core(old, new)
    while start > 0 and (start == end or len(re.findall(f"(?={re.escape(old[start:end])})", old)) > 1):
        start, end, upto = start - 1, min(end + 1, len(old)), min(upto + 1, len(new))
    assume(start < end and len(re.findall(f"(?={re.escape(old[start:end])})", old)) == 1)
    assert swap(old, [Swap(old[start:end], new[start:upto])], ("exact",)).text == new


def _core(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """The stretches, of either text, outside of which both are the same."""
    head = next((n for n, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new)))
    least = min(len(old), len(new)) - head
    tail = next((n for n in range(least) if old[-1 - n] != new[-1 - n]), least)
    return (head, len(old) - tail), (head, len(new) - tail)


@thorough
@given(changes(TEXTS, 2), st.integers(0, 3))
def test_a_patch_for_another_text_is_refused_or_changes_its_own_lines_only(
    texts: tuple[str, str, str], context: int
) -> None:
    old, new, other = texts
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
@given(CHANGED, st.data())
def test_hunks_taken_in_any_order_and_parts_make_the_whole(texts: tuple[str, str], data: st.DataObject) -> None:
    old, new = texts
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
@given(THREE)
def test_a_merge_neither_invents_nor_drops_a_line(texts: tuple[str, str, str]) -> None:
    """Of each line there are as many as the base has, with what the sides put in and without what they took away: at
    most all that both put in, at least what one did."""
    base, ours, theirs = texts
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
@given(THREE)
def test_a_merge_has_each_change_of_both_sides_at_its_place(texts: tuple[str, str, str]) -> None:
    """The order too: where no change touches one of the other side it is done, and is the text with both sets of
    changes put in one after the other from the end."""
    base, ours, theirs = texts
    one, two = set(_placed(base, ours)), set(_placed(base, theirs))
    both = sorted(one | two)
    merged = merge(base, ours, theirs)
    if any(low <= end for (_, end, _), (low, _, _) in pairwise(both)):
        return
    assert isinstance(merged, Merged), "what does not touch does not conflict"
    lines = split_lines(base)
    for start, end, new in reversed(both):
        lines[start:end] = new
    assert merged.text == "".join(lines)


def _placed(old: str, new: str) -> list[tuple[int, int, tuple[str, ...]]]:
    return [(span.old_start, span.old_end, span.new) for span in diff.since(old, new)]


@thorough
@given(changes(LINES), st.data())
def test_a_foreign_edit_survives_the_taking_back(texts: tuple[str, str], data: st.DataObject) -> None:
    """Undo is the merge of the present with the old text over the applied one: the foreign lines stay, ours go."""
    old, new = texts
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
