"""`core.patch`: what is read from a patch, and what is refused by name. Placing it is `test_place`'s."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.core.diff import unified
from remit.core.faults import AgentFault, Json
from remit.core.patch import Chunk, FilePatch, Patch, parse

CASES = Path(__file__).parents[1] / "cases"
HEAD = "--- a/f\n+++ b/f\n"
CHANGE = HEAD + "@@ -1 +1 @@\n-a\n+b\n"
ENVELOPE = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n"


def only(text: str) -> FilePatch:
    (file,) = parse(text).files
    return file


def refusal(text: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        parse(text)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def case(name: str) -> str:
    return (CASES / name).read_bytes().decode(errors="surrogateescape")


def test_a_whole_reading() -> None:
    assert parse(CHANGE) == Patch(
        "unified",
        (FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",), 0, (), True, True),)),),
    )
    assert parse(ENVELOPE) == Patch("begin_patch", (FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",)),)),))


def test_names_are_unquoted_before_anything_else() -> None:
    assert [file.path for file in parse(case("DP-03/patch.diff")).files] == ["docs/Prüf liste.md", 'docs/say "hi".md']
    assert only('--- "a/\\377\\t\\\\"\n+++ "b/\\377\\t\\\\"\n@@ -1 +1 @@\n-a\n+b\n').path == "\udcff\t\\"
    assert refusal('--- "a/\\q"\n+++ "b/\\q"\n@@ -1 +1 @@\n-a\n+b\n').code == "malformed_patch"


def test_creates_renames_deletes_and_modes() -> None:
    assert parse(case("DP-04/patch.diff")).files == (
        FilePatch("my notes/todo list.txt", "create", content="one\ntwo\n", mode="100644"),
        FilePatch("my notes/empty file.txt", "create", content="", mode="100644"),
    )
    rename = parse(case("DP-05/patch.diff"))
    assert rename.files == (FilePatch("conf/app.ini", "rename", source="conf/app.ini.sample"),)
    assert rename.notes == ("other text set aside", "mail signature set aside")
    assert [(file.path, file.op) for file in parse(case("DP-06/patch.diff")).files] == [
        ("pkg/__init__.py", "create"),
        ("old/__init__.py", "delete"),
    ]
    assert parse(case("DP-07/patch.diff")).files[0] == FilePatch("run.sh", "modify", mode="100755")


def test_a_rename_may_change_lines_too() -> None:
    text = "diff --git a/x y b/z y\nsimilarity index 90%\nrename from x y\nrename to z y\n"
    text += "--- a/x y\t\n+++ b/z y\t\n@@ -1 +1 @@\n-a\n+b\n"
    file = only(text)
    assert (file.path, file.op, file.source, len(file.chunks)) == ("z y", "rename", "x y", 1)


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- i/x\n+++ w/x\n", "x"),
        ("--- b/x\n+++ a/x\n", "x"),
        ("--- a/a/x\n+++ b/a/x\n", "a/x"),
        ("--- w/x\n+++ w/x\n", "w/x"),
        ("--- x\t2026-01-01 00:00:00\n+++ x\t2026-01-02 00:00:00\n", "x"),
        ("diff --git src/x y src/x y\n--- src/x y\t\n+++ src/x y\t\n", "src/x y"),
        ("diff --git  lead  lead\n---  lead\t\n+++  lead\t\n", " lead"),
        ("diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n", "x"),
    ],
)
def test_prefixes(header: str, path: str) -> None:
    assert only(f"{header}@@ -1 +1 @@\n-a\n+b\n").path == path


def test_prefixes_of_new_and_deleted_files() -> None:
    assert only("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n").path == "x"
    assert only("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").path == "x"
    assert only("--- /dev/null\n+++ src/x\n@@ -0,0 +1 @@\n+a\n").path == "src/x"
    assert only("diff --git w/x w/x\nnew file mode 100644\n--- /dev/null\n+++ w/x\n@@ -0,0 +1 @@\n+a\n").path == "w/x"
    fault = refusal("--- /dev/null\n+++ w/x\n@@ -0,0 +1 @@\n+a\n")
    assert (fault.code, fault.data["candidates"]) == ("ambiguous_path", ["w/x", "x"])


def test_final_newlines_and_carriage_returns() -> None:
    n2y, y2n, n2n = (file.chunks[0] for file in parse(case("DP-11/patch.diff")).files)
    assert (n2y.old_final_newline, n2y.new_final_newline) == (False, True)
    assert (y2n.old_final_newline, y2n.new_final_newline) == (True, False)
    assert (n2n.old_final_newline, n2n.new_final_newline) == (False, False)
    assert only(case("DP-01/patch.diff")).chunks[0].new[1:3] == ("normal A\rB\x1bC\x17D", "crlf only here\r")
    assert only("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ Kein Zeilenumbruch am Dateiende.\n").content == "a"
    assert refusal(HEAD + "@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n b\n").code == "malformed_patch"


def test_declared_lines() -> None:
    text = HEAD + "@@ -2,0 +3 @@\n+x\n@@ -6 +6,0 @@\n-y\n"
    assert [chunk.line for chunk in only(text).chunks] == [2, 5]


def test_blob_ids_count_only_in_full() -> None:
    old, new = "1" * 40, "2" * 40
    file = only(f"diff --git a/f b/f\nindex {old}..{new} 100644\n{CHANGE}")
    assert (file.old_blob, file.new_blob, file.mode) == (old, new, None)
    assert only(f"diff --git a/f b/f\nindex 1111111..2222222 100644\n{CHANGE}").old_blob is None


@pytest.mark.parametrize(
    ("name", "header", "body"),
    [
        ("patch", [4, 4], [3, 3]),
        ("patch_undercount", [2, 2], [3, 3]),
        ("patch_undercount_hides_change", [1, 1], [3, 3]),
    ],
)
def test_wrong_counts_are_read_anew_and_told(name: str, header: list[int], body: list[int]) -> None:
    patch = parse(case(f"DP-09/{name}.diff"))
    assert patch.files[0].chunks == (Chunk(("green", "blue", "cyan"), ("green", "blue2", "cyan"), 1, (), True, True),)
    assert patch.notes == (f"line 3: hunk counts {header[0]},{header[1]} read as {body[0]},{body[1]}",)


def test_wrong_counts_before_the_next_file() -> None:
    over = "@@ -1,9 +1,9 @@\n-a\n+b\n"
    assert [file.path for file in parse(HEAD + over + CHANGE.replace("/f", "/g")).files] == ["f", "g"]
    fault = refusal(HEAD + over + CHANGE.replace("a/f", "x").replace("b/f", "x"))
    expected: list[Json] = [[9, 9], [1, 1], 3]
    assert (fault.code, [fault.data[key] for key in ("header", "body", "line")]) == ("hunk_counts", expected)


def test_a_signature_is_not_a_removed_line() -> None:
    patch = parse(CHANGE + "-- \n2.39.5\n\n")
    assert (len(patch.files[0].chunks[0].old), patch.notes) == (1, ("mail signature set aside",))
    assert only(HEAD + "@@ -1,2 +1 @@\n-a\n-- \n+b\n").chunks[0].old == ("a", "- ")


def test_removed_and_added_lines_that_look_like_headers() -> None:
    assert only(case("DP-10/patch.diff")).chunks[0].old == ("-- drop me", "select 1;", "select 2;")


MODE = "diff --git a/f b/f\nnew file mode {}\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
REFUSED = [
    ("", "malformed_patch"),
    ("no patch here\n", "malformed_patch"),
    ("@@ -1 +1 @@\n-a\n+b\n", "malformed_patch"),
    (HEAD, "malformed_patch"),
    (HEAD + "@@\n-a\n+b\n", "malformed_patch"),
    ("diff --git a/f b/f\nindex 1111111..2222222\n", "malformed_patch"),
    ("diff --git a/f b/g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "malformed_patch"),
    ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "ambiguous_path"),
    ("--- f.orig\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "ambiguous_path"),
    (CHANGE + "lost\n+added\n", "malformed_patch"),
    (CHANGE + CHANGE, "duplicate_file"),
    (HEAD + "@@ -1,2 +1,2 @@\n", "hunk_counts"),
    (MODE.format("120000"), "special_file"),
    (MODE.format("160000"), "special_file"),
    ("diff --git a/f b/f\nold mode 100644\nnew mode 120000\n", "special_file"),
    ("diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", "copy_patch"),
    ("Binary files a/f and b/f differ\n", "binary_patch"),
    (case("DP-13/patch.diff"), "binary_patch"),
    (case("DP-13/patch_git_binary.diff"), "binary_patch"),
    (case("DP-12/wrap_json.txt"), "bad_patch_envelope"),
    (case("DP-12/wrap_indented.txt"), "bad_patch_envelope"),
    ("Here you are:\n" + ENVELOPE, "bad_patch_envelope"),
    (ENVELOPE.replace("*** End Patch\n", ""), "malformed_patch"),
    (ENVELOPE + "more\n", "malformed_patch"),
    (ENVELOPE.replace("-a\n+b\n", ""), "malformed_patch"),
    (ENVELOPE.replace("-a", "a"), "malformed_patch"),
    (ENVELOPE.replace("@@", "@@ -1 +1 @@"), "malformed_patch"),
    (ENVELOPE.replace("Update File: f", "Rewrite File: f"), "malformed_patch"),
    (ENVELOPE.replace("*** End", "*** Delete File: f\n*** End"), "duplicate_file"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_refused_by_name(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_a_bad_envelope_is_told_apart_and_quoted() -> None:
    fault = refusal(case("DP-12/wrap_json.txt"))
    assert fault.data == {"wrapper": "json", "received": case("DP-12/wrap_json.txt")[:40]}
    assert refusal(case("DP-12/wrap_indented.txt")).data["wrapper"] == "indent"


@pytest.mark.parametrize("name", ["wrap_fence.txt", "wrap_heredoc.txt", "patch.apply_patch"])
def test_wrappers_that_come_off(name: str) -> None:
    assert only(case(f"DP-12/{name}")).chunks == (Chunk(("a = 1",), ("a = 2",)),)


def test_a_fence_with_words_around_it() -> None:
    patch = parse(f"Here is the change:\n\n```diff\n{CHANGE}```\nThat is all.\n")
    assert (patch.files, patch.notes) == (parse(CHANGE).files, ("markdown fence set aside",))


def test_the_envelope_has_anchors_moves_and_the_end_of_the_file() -> None:
    text = "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ class A:\n@@     def b(self):\n old\n\n+new\n"
    text += "@@\n-last\n*** End of File\n*** Add File: h\n+one\n+\n*** Delete File: i\n*** End Patch"
    chunks = (
        Chunk(("old", ""), ("old", "", "new"), anchors=("class A:", "    def b(self):")),
        Chunk(("last",), (), at_end=True),
    )
    assert parse(text).files == (
        FilePatch("g", "rename", "f", chunks),
        FilePatch("h", "create", content="one\n\n"),
        FilePatch("i", "delete"),
    )


lines = st.lists(st.sampled_from(["", " ", "-", "+", "-- ", "- a/f", "++ b/f", "@@ -1 +1 @@", "\\ x", "a\r", "\x0c"]))


@given(lines, lines, st.integers(0, 3))
@example(["-- a/f"], ["++ b/f"], 0)
def test_every_line_of_a_right_patch_is_read(old: list[str], new: list[str], context: int) -> None:
    """Printed by `unified`, read back: the same lines, whatever they look like."""
    before, after = ("".join(f"{line}\n" for line in side) for side in (old, new))
    text = unified(before, after, "a/f", "b/f", context)
    if text:
        chunks = only(text).chunks
        assert [chunk.old for chunk in chunks] == [
            tuple(old[chunk.line : chunk.line + len(chunk.old)]) for chunk in chunks if chunk.line is not None
        ]
        assert parse(text).notes == ()
        assert all((two.line or 0) >= (one.line or 0) + len(one.old) for one, two in pairwise(chunks))
        assert sum(len(chunk.new) - len(chunk.old) for chunk in chunks) == len(new) - len(old)


@given(st.lists(st.sampled_from([*CHANGE.split("\n"), *ENVELOPE.split("\n"), "```", "diff --git a/f b/f", "\\"])))
def test_only_our_faults(parts: list[str]) -> None:
    with suppress(AgentFault):
        assert parse("\n".join(parts)).files
