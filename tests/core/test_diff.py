"""`core.diff`: round trips on texts that repeat themselves, merges held against a model, and git as the judge."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.diff import Conflict, Merged, Region, Span, apply, between, joins, merge, spans, unified
from remit.core.faults import OurFault
from remit.core.text import split_lines

# Few different lines, all line ends, and what other libraries take for a line end or for binary.
PIECES = ["a", "b", "}", "\n", "\n", "\n", "\r\n", "\r", "\u2028", "\x0c", "\x00", "\udcfb", "é"]
texts = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
plain = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=12).map("".join)


@given(texts, texts)
def test_round_trip(old: str, new: str) -> None:
    assert apply(old, between(old, new)) == new


@given(texts, texts)
def test_spans_are_in_order_apart_and_without_common_ends(old: str, new: str) -> None:
    found = between(old, new)
    assert (found == ()) == (old == new)
    for span in found:
        assert span.old or span.new
        assert span.old[:1] != span.new[:1]
        assert span.old[-1:] != span.new[-1:]
    for one, two in pairwise(found):
        assert two.old_start - one.old_end == two.new_start - one.new_start - len(one.new) > 0


def least(old: list[str], new: list[str]) -> int:
    """Changed lines in the best case: what is in no longest common subsequence."""
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for at, other in enumerate(new):
            row.append(above[at] + 1 if line == other else max(above[at + 1], row[at]))
    return len(old) + len(new) - 2 * row[-1]


@given(plain, plain)
def test_no_smaller_change_exists(old: str, new: str) -> None:
    assert sum(len(span.old) + len(span.new) for span in between(old, new)) == least(split_lines(old), split_lines(new))


def test_spans_count_lines_from_zero_and_keep_their_ends() -> None:
    assert between("a\r\nb\rc\n", "a\r\nx\rc\nd") == (Span(1, ("b\r",), 1, ("x\r",)), Span(3, (), 3, ("d",)))
    assert between("", "a\n") == (Span(0, (), 0, ("a\n",)),)
    assert between("a\nb\n", "") == (Span(0, ("a\n", "b\n"), 0, ()),)


def test_lines_may_be_any_strings() -> None:
    assert spans(["x\ny", "z"], ["z", ""]) == (Span(0, ("x\ny",), 0, ()), Span(2, (), 1, ("",)))


@pytest.mark.parametrize(
    "changes",
    [
        [Span(0, ("x\n",), 0, ())],
        [Span(2, ("a\n",), 2, ())],
        [Span(9, (), 9, ("x\n",))],
        [Span(1, ("b\n",), 1, ()), Span(0, ("a\n",), 0, ())],
    ],
)
def test_another_text_is_refused(changes: list[Span]) -> None:
    with pytest.raises(OurFault) as caught:
        apply("a\nb\n", changes)
    assert caught.value.code == "span_mismatch"


@given(plain, plain)
def test_merge_with_an_unchanged_side_gives_the_other(base: str, changed: str) -> None:
    assert merge(base, changed, base) == merge(base, base, changed) == merge(base, changed, changed) == Merged(changed)


@given(plain, plain, plain)
def test_merge_is_even_handed(base: str, ours: str, theirs: str) -> None:
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    if isinstance(one, Merged):
        assert one == two
    else:
        assert isinstance(two, Conflict)
        assert two.regions == tuple(Region(r.base_start, r.base, r.theirs, r.ours) for r in one.regions)


@given(plain, plain, plain)
def test_merge_neither_invents_nor_drops_a_line(base: str, ours: str, theirs: str) -> None:
    """Each line goes as often as the sides together took it away, once where they did the same thing."""
    merged = merge(base, ours, theirs)
    if isinstance(merged, Merged):
        changes = [*between(base, ours), *between(base, theirs)]
        kept = {Span(span.old_start, span.old, 0, span.new) for span in changes}
        assert sorted(split_lines(merged.text)) == sorted(
            split_lines(apply(base, sorted(kept, key=lambda span: (span.old_start, span.old_end))))
        )


@given(plain, plain, plain)
def test_conflicts_show_what_each_side_has_there(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if isinstance(merged, Conflict):
        assert merged.regions
        for region in merged.regions:
            assert region.ours != region.theirs
            assert region.ours in ours
            assert region.theirs in theirs
            lines = split_lines(base)[region.base_start :]
            assert "".join(lines).startswith(region.base)


def test_merge_by_example() -> None:
    base = "a\nb\nc\nd\ne\n"
    assert merge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n") == Merged("A\nb\nc\nd\nE\n")
    assert merge(base, "A\nb\nc\nd\nE\n", "A\nb\nc\nd\ne\n") == Merged("A\nb\nc\nd\nE\n")
    assert merge(base, "a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n") == Conflict((Region(1, "b\nc\n", "B\nc\n", "b\nC\n"),))
    assert merge(base, "a\nx\nb\nc\nd\ne\n", "a\ny\nb\nc\nd\ne\n") == Conflict((Region(1, "", "x\n", "y\n"),))
    assert merge("a", "a\nb", "a\nc") == Conflict((Region(0, "a", "a\nb", "a\nc"),))


GIT = [
    ("a\nb\nc\n", "a\nB\nc\n"),
    ("a\nb", "a\nb\n"),
    ("a\nb\n", "a\nb"),
    ("a\nb", "a\nb\nc"),
    ("", "new\n"),
    ("gone\n", ""),
    ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n not in (3, 9, 30)) + "end"),
    ("x\n}\n}\n}\n", "x\n}\ny\n}\n}\n}\n"),
    ("cr\r\nlone\rcr\nsep\u2028x\n", "cr\r\nlone\rCR\nsep\u2028y\n"),
    ("k=\udcfb\udc80\n", "k=\udcfb\x01\n"),
]


@pytest.mark.parametrize(("old", "new"), GIT)
@pytest.mark.parametrize("context", [0, 1, 3])
def test_git_applies_what_we_print(old: str, new: str, context: int, tmp_path: Path) -> None:
    name = 'my "file".txt'
    (tmp_path / name).write_bytes(old.encode(errors="surrogateescape"))
    text = unified(old, new, f"a/{name}", f"b/{name}", context).encode(errors="surrogateescape")
    command = ["git", "apply", "--whitespace=nowarn", *(["--unidiff-zero"] if context == 0 else []), "-"]
    done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, check=False)
    assert done.stderr == b""
    left = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
    assert left == new.encode(errors="surrogateescape")


def test_printed_form() -> None:
    assert unified("a\nb", "a\nc\n", "a/x y", "b/x y") == (
        "--- a/x y\t\n+++ b/x y\t\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )
    assert unified("", "a\n", "/dev/null", "b/x") == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert unified("a\n", "a\n", "a/x", "b/x") == ""


@given(plain, plain, plain)
def test_whether_two_changes_join_is_told_without_the_text(base: str, ours: str, theirs: str) -> None:
    assert joins(between(base, ours), between(base, theirs)) == isinstance(merge(base, ours, theirs), Merged)
