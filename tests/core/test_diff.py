"""`core.diff`: round trips on texts that repeat themselves, merges held against a model, and git as the judge."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import diff, slide
from remit.core.diff import Conflict, Merged, Region, Span, apply, between, merge, since, spans, unified
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


@given(texts, texts, texts, st.integers(3, 6))
def test_the_ends_that_are_equal_make_no_difference(old: str, new: str, end: str, room: int) -> None:
    """A text is compared from the first to the last difference, with room: as if all of it were."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "ROOM", room)
        patch.setattr(slide, "REACH", room - 3)
        patch.setattr(slide, "BLANKS", 1)
        patch.setattr(diff, "_anew", lambda *_: False)
        one, two = end + "\n" * 9 + old + end, end + "\n" * 9 + new + end
        assert between(one, two) == diff._told(split_lines(one), split_lines(two))


def least(old: list[str], new: list[str]) -> int:
    """Changed lines in the best case: what is in no longest common subsequence."""
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for place, other in enumerate(new):
            row.append(above[place] + 1 if line == other else max(above[place + 1], row[place]))
    return len(old) + len(new) - 2 * row[-1]


@given(plain, plain)
def test_where_it_is_asked_no_smaller_change_exists(old: str, new: str) -> None:
    one, two = split_lines(old), split_lines(new)
    assert sum(len(span.old) + len(span.new) for span in spans(one, two)) == least(one, two)


def test_only_what_was_edited_is_told() -> None:
    """Where no line comes twice, there is one least change, and that is it."""
    for seed in range(50):
        chance = random.Random(seed)
        lines = [f"line {number}\n" for number in range(60)]
        edited = [chance.choice(([line], [line], [line], [], [f"new {at}\n", line])) for at, line in enumerate(lines)]
        found = spans(lines, list(chain.from_iterable(edited)))
        assert sum(len(span.old) for span in found) == sum(not stay for stay in edited)
        assert sum(len(span.new) for span in found) == sum(len(stay) == 2 for stay in edited)


def test_as_many_lines_stay_as_can_where_that_is_asked() -> None:
    """A shared blank line is no reason to tear a rewrite apart; but it is the line that was there."""
    assert [span.old for span in spans(["a\n", "\n", "b\n"], ["x\n", "\n", "y\n"])] == [("a\n",), ("b\n",)]
    assert [span.old for span in between("a\n\nb\n", "x\n\ny\n")] == [("a\n", "\n", "b\n")]


def at(found: Sequence[Span]) -> list[tuple[int, int, int, int]]:
    return [(span.old_start, len(span.old), span.new_start, len(span.new)) for span in found]


def function(name: str) -> str:
    return f"def {name}(x):\n    if x:\n        return {name}\n    return None\n\n\n"


def block(name: str) -> str:
    return f"void {name}()\n{{\n    {name}_1();\n}}\n\n"


A, B, C = map(function, "abc")
D, E, F = map(block, "def")

READABLE = {
    "a function put in": (A + C, A + B + C, [(6, 0, 6, 6)]),
    "a function put in that ends like the one before": (D + F, D + E + F, [(5, 0, 5, 5)]),
    "a function taken away": (D + E + F, D + F, [(5, 5, 5, 0)]),
    "a block doubled": (D + E, D + D + E, [(5, 0, 5, 5)]),
    "a function moved down": (A + B + C + D, B + C + A + D, [(0, 6, 0, 0), (18, 0, 12, 6)]),
    "two functions edited": (
        A + B + C,
        A.replace("None", "1") + B + C.replace("None", "1"),
        [(3, 1, 3, 1), (15, 1, 15, 1)],
    ),
    "an else put in": (
        "if (a) {\n    b();\n}\nc();\n",
        "if (a) {\n    b();\n} else {\n    d();\n}\nc();\n",
        [(2, 0, 2, 2)],
    ),
    "written anew around a blank line and a brace": (D, "int x;\n\nint y;\n}\nint z;\n", [(0, 5, 0, 5)]),
    "one line of two": ("a\n\n", "b\n\n", [(0, 1, 0, 1)]),
}


@pytest.mark.parametrize("name", READABLE)
def test_a_change_reads_well(name: str) -> None:
    old, new, wanted = READABLE[name]
    assert at(between(old, new)) == wanted


def git(folder: Path, old: str, new: str, *words: str) -> list[tuple[int, int, int, int]]:
    for name, text in (("old", old), ("new", new)):
        (folder / name).write_bytes(text.encode())
    command = ["git", "diff", "--no-index", "--no-color", "--text", "-U0", *words, "--", "old", "new"]
    said = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout.decode()
    found = []
    for head in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", said, re.MULTILINE):
        i, n, j, m = (1 if number is None else int(number) for number in head.groups())
        found.append((i - (n > 0), n, j - (m > 0), m))
    return found


def test_it_reads_as_git_has_it(tmp_path: Path) -> None:
    """Functions that look alike come, go, move and are edited; the judges are git's histogram and its least change."""
    lines, hunks, alike = [0, 0, 0], [0, 0, 0], 0
    cases = 60
    for seed in range(cases):
        chance = random.Random(seed)
        parts = [chance.choice((function, block))(f"n{number}") for number in range(20)]
        edited = list(parts)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(edited))
            match chance.randrange(5):
                case 0:
                    edited.insert(place, chance.choice((function, block))("new"))
                case 1:
                    del edited[place]
                case 2:
                    edited.insert(chance.randrange(len(edited)), edited.pop(place))
                case 3:
                    edited.insert(place, edited[place])
                case _:
                    edited[place] = edited[place].replace("(", "(y, ", 1)
        old, new = "".join(parts), "".join(edited)
        told = [at(between(old, new)), git(tmp_path, old, new, "--histogram"), git(tmp_path, old, new, "--minimal")]
        alike += told[0] == told[1]
        for who, found in enumerate(told):
            lines[who] += sum(n + m for _, n, _, m in found)
            hunks[who] += len(found)
    assert lines[0] <= 1.02 * min(lines[1:])
    assert hunks[0] <= 1.02 * min(hunks[1:])
    assert alike >= 0.9 * cases


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
        changes = [*since(base, ours), *since(base, theirs)]
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


def edit(chance: random.Random, lines: list[str], fresh: Sequence[str]) -> str:
    lines = list(lines)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(lines))
        lines[place : place + chance.choice((0, 1, 1))] = chance.choice(([], [chance.choice(fresh)]))
    return "".join(lines)


def merge_file(folder: Path, base: str, ours: str, theirs: str) -> tuple[int, str]:
    """How many conflicts git has, and the text it makes."""
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(text.encode())
    command = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


def test_git_merges_alike(tmp_path: Path) -> None:
    """Where no line comes twice, git has the same text or conflicts too; edits that touch are one for both."""
    joined = 0
    for seed in range(150):
        chance = random.Random(seed)
        lines = [f"line {number}\n" for number in range(30)]
        base, (ours, theirs) = "".join(lines), (edit(chance, lines, ["new 1\n", "new 2\n"]) for _ in range(2))
        conflicts, text = merge_file(tmp_path, base, ours, theirs)
        merged = merge(base, ours, theirs)
        if isinstance(merged, Merged):
            assert (conflicts, text) == (0, merged.text)
            joined += 1
        else:
            assert 0 < conflicts <= len(merged.regions)  # git joins those that stand three lines apart or closer
    assert 30 < joined < 120


def test_lines_that_repeat_merge_as_git_merges_them(tmp_path: Path) -> None:
    """Git may tell the changes in another way then, and so conflict elsewhere; but never make another text."""
    unlike = joined = 0
    for seed in range(150):
        chance = random.Random(seed)
        few = ["a\n", "}\n", "\n", "  x\n", "  y\n", "f {\n"]
        lines = chance.choices(few, k=40)
        base, (ours, theirs) = "".join(lines), (edit(chance, lines, few) for _ in range(2))
        conflicts, text = merge_file(tmp_path, base, ours, theirs)
        merged = merge(base, ours, theirs)
        unlike += isinstance(merged, Merged) is not (conflicts == 0)
        if isinstance(merged, Merged) and not conflicts:
            assert text == merged.text
            joined += 1
    assert joined >= 50
    assert unlike <= 8


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
