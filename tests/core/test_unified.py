"""`core.unified`: sections and hunks, where a hunk ends, and what is refused by name."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.core.chunk import Chunk, FilePatch
from remit.core.diff import unified
from remit.core.faults import AgentFault, Json
from remit.core.reader import Reader
from remit.core.unified import read

CASES = Path(__file__).parents[1] / "cases"
HEAD = "--- a/f\n+++ b/f\n"
CHANGE = HEAD + "@@ -1 +1 @@\n-a\n+b\n"


def opened(text: str) -> Reader:
    lines = text.removesuffix("\n").split("\n")
    return Reader(lines, 0, len(lines))


def noted(text: str) -> tuple[list[FilePatch], list[str]]:
    reader = opened(text)
    return read(reader), reader.notes


def files(text: str) -> list[FilePatch]:
    return read(opened(text))


def only(text: str) -> FilePatch:
    (file,) = files(text)
    return file


def refusal(text: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        files(text)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def case(name: str) -> str:
    return (CASES / name).read_bytes().decode(errors="surrogateescape")


def test_names_with_blanks_and_quotes() -> None:
    assert [file.path for file in files(case("DP-03/patch.diff"))] == ["docs/Prüf liste.md", 'docs/say "hi".md']


def test_creates_renames_deletes_and_modes() -> None:
    assert files(case("DP-04/patch.diff")) == [
        FilePatch("my notes/todo list.txt", "create", content="one\ntwo\n", mode="100644"),
        FilePatch("my notes/empty file.txt", "create", content="", mode="100644"),
    ]
    assert noted(case("DP-05/patch.diff")) == (
        [FilePatch("conf/app.ini", "rename", source="conf/app.ini.sample")],
        ["other text set aside", "mail signature set aside"],
    )
    assert [(file.path, file.op) for file in files(case("DP-06/patch.diff"))] == [
        ("pkg/__init__.py", "create"),
        ("old/__init__.py", "delete"),
    ]
    assert files(case("DP-07/patch.diff"))[0] == FilePatch("run.sh", "modify", mode="100755")


def test_a_rename_may_change_lines_too() -> None:
    text = "diff --git a/x y b/z y\nsimilarity index 90%\nrename from x y\nrename to z y\n"
    text += "--- a/x y\t\n+++ b/z y\t\n@@ -1 +1 @@\n-a\n+b\n"
    file = only(text)
    assert (file.path, file.op, file.source, len(file.chunks)) == ("z y", "rename", "x y", 1)


def test_a_deletion_keeps_what_it_says_was_there() -> None:
    file = only("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert (file.op, file.chunks) == ("delete", (Chunk(("a",), (), 0, (), True, None),))


def test_blob_ids_of_each_kind_of_entry() -> None:
    old, new, none = "1" * 40, "2" * 40, "0" * 40
    file = only(f"diff --git a/f b/f\nindex {old}..{new} 100644\n{CHANGE}")
    assert (file.old_blob, file.new_blob, file.mode) == (old, new, None)
    created = only(f"diff --git a/f b/f\nnew file mode 100644\nindex {none}..{new}\n")
    assert (created.old_blob, created.new_blob) == (None, new)
    deleted = only(f"diff --git a/f b/f\ndeleted file mode 100644\nindex {old}..{none}\n")
    assert (deleted.old_blob, deleted.new_blob) == (old, None)


def test_final_newlines_and_carriage_returns() -> None:
    n2y, y2n, n2n = (file.chunks[0] for file in files(case("DP-11/patch.diff")))
    assert (n2y.old_final_newline, n2y.new_final_newline) == (False, True)
    assert (y2n.old_final_newline, y2n.new_final_newline) == (True, False)
    assert (n2n.old_final_newline, n2n.new_final_newline) == (False, False)
    assert only(case("DP-01/patch.diff")).chunks[0].new[1:3] == ("normal A\rB\x1bC\x17D", "crlf only here\r")
    assert only("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ Kein Zeilenumbruch am Dateiende.\n").content == "a"
    assert refusal(HEAD + "@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n b\n").code == "malformed_patch"


def test_declared_lines() -> None:
    text = HEAD + "@@ -2,0 +3 @@\n+x\n@@ -6 +6,0 @@\n-y\n"
    assert [chunk.line for chunk in only(text).chunks] == [2, 5]


@pytest.mark.parametrize(
    ("name", "header", "body"),
    [
        ("patch", [4, 4], [3, 3]),
        ("patch_undercount", [2, 2], [3, 3]),
        ("patch_undercount_hides_change", [1, 1], [3, 3]),
    ],
)
def test_wrong_counts_are_read_anew_and_told(name: str, header: list[int], body: list[int]) -> None:
    found, notes = noted(case(f"DP-09/{name}.diff"))
    assert found[0].chunks == (Chunk(("green", "blue", "cyan"), ("green", "blue2", "cyan"), 1, (), True, True),)
    assert notes == [f"line 3: hunk counts {header[0]},{header[1]} read as {body[0]},{body[1]}"]


def test_wrong_counts_before_the_next_file() -> None:
    over = "@@ -1,9 +1,9 @@\n-a\n+b\n"
    assert [file.path for file in files(HEAD + over + CHANGE.replace("/f", "/g"))] == ["f", "g"]
    fault = refusal(HEAD + over + CHANGE.replace("a/f", "x").replace("b/f", "x"))
    expected: list[Json] = [[9, 9], [1, 1], 3]
    assert (fault.code, [fault.data[key] for key in ("header", "body", "line")]) == ("hunk_counts", expected)


def test_a_signature_is_not_a_removed_line() -> None:
    found, notes = noted(CHANGE + "-- \n2.39.5\n\n")
    assert (len(found[0].chunks[0].old), notes) == (1, ["mail signature set aside"])
    assert only(HEAD + "@@ -1,2 +1 @@\n-a\n-- \n+b\n").chunks[0].old == ("a", "- ")


def test_removed_and_added_lines_that_look_like_headers() -> None:
    assert only(case("DP-10/patch.diff")).chunks[0].old == ("-- drop me", "select 1;", "select 2;")


def test_text_without_any_section_has_no_files() -> None:
    assert noted("no patch here\n") == ([], ["other text set aside"])
    assert noted(f"Index: f\n{'=' * 67}\n{CHANGE}")[1] == []


MODE = "diff --git a/f b/f\nnew file mode {}\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
REFUSED = [
    ("@@ -1 +1 @@\n-a\n+b\n", "malformed_patch"),
    (HEAD, "malformed_patch"),
    (HEAD + "@@\n-a\n+b\n", "malformed_patch"),
    (HEAD + f"@@ -1 +1,{'9' * 5000} @@\n-a\n+b\n", "malformed_patch"),
    (HEAD + "@@ -1,9999999999 +1 @@\n-a\n+b\n", "malformed_patch"),
    ("diff --git a/f b/f\nindex 1111111..2222222\n", "malformed_patch"),
    ("--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "malformed_patch"),
    ("--- a/f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "malformed_patch"),
    ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "ambiguous_path"),
    (CHANGE + "lost\n+added\n", "malformed_patch"),
    (HEAD + "@@ -1,2 +1,2 @@\n", "hunk_counts"),
    (MODE.format("120000"), "special_file"),
    ("Binary files a/f and b/f differ\n", "binary_patch"),
    (case("DP-13/patch.diff"), "binary_patch"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_refused_by_name(text: str, code: str) -> None:
    assert refusal(text).code == code


lines = st.lists(st.sampled_from(["", " ", "-", "+", "-- ", "- a/f", "++ b/f", "@@ -1 +1 @@", "\\ x", "a\r", "\x0c"]))


@given(lines, lines, st.integers(0, 3))
@example(["-- a/f"], ["++ b/f"], 0)
def test_every_line_of_a_right_patch_is_read(old: list[str], new: list[str], context: int) -> None:
    """Printed by `unified`, read back: the same lines, whatever they look like."""
    before, after = ("".join(f"{line}\n" for line in side) for side in (old, new))
    text = unified(before, after, "a/f", "b/f", context)
    if text:
        found, notes = noted(text)
        (chunks,) = (file.chunks for file in found)
        assert [chunk.old for chunk in chunks] == [
            tuple(old[chunk.line : chunk.line + len(chunk.old)]) for chunk in chunks if chunk.line is not None
        ]
        assert notes == []
        assert all((two.line or 0) >= (one.line or 0) + len(one.old) for one, two in pairwise(chunks))
        assert sum(len(chunk.new) - len(chunk.old) for chunk in chunks) == len(new) - len(old)


@given(
    st.lists(st.sampled_from([*CHANGE.split("\n"), "@@ -1,2 +1,3 @@", " c", "-- ", "2.39", "diff --git a/f b/f", "\\"]))
)
def test_only_our_faults(parts: list[str]) -> None:
    with suppress(AgentFault):
        assert all(file.path for file in files("\n".join(parts)))


def test_a_copy_has_a_source_and_chunks_made_for_it() -> None:
    head = "diff --git a/f b/g\nsimilarity index 90%\ncopy from f\ncopy to g\n"
    (copy,) = files(f"{head}--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n")
    assert (copy.op, copy.source, copy.path, len(copy.chunks)) == ("copy", "f", "g", 1)
    assert files(head)[0].chunks == ()


WORDS = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("one\n[-two-]{+TWO+}\nthree\n", "word_diff"),
        (" one\n   [-two-]\n three\n", "word_diff"),
        (" one\n~\n-two\n+TWO\n~\n three\n~\n", "word_diff"),
        ("one\ntwo\nthree\n", "hunk_counts"),
        (" one\n-[-x-]\n+{+x+}\n three\n", None),
        (" [-one-]\n-two\n+TWO\n three\n", None),
        (" [-one-]\n-two\n+TWO\n", None),  # counts wrong, and yet these are lines
    ],
)
def test_a_diff_of_words_is_known_by_its_marks(body: str, code: str | None) -> None:
    if code is None:
        assert len(files(WORDS + body)[0].chunks) == 1
    else:
        assert refusal(WORDS + body).code == code


def test_what_only_one_folder_has_is_told_and_not_passed_over() -> None:
    change = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    assert noted(f"diff -ru a b\n{change}Only in a: g\n")[1] == ["other text set aside"]
    assert noted(f"diff -ru a b\n{change}")[1] == []
