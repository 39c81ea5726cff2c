"""`core.header`: the names, modes and blob ids above the hunks of one file, and headers that are refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import header
from remit.core.faults import AgentFault
from remit.core.header import Head
from remit.core.reader import Reader

CASES = Path(__file__).parents[1] / "cases"


def reader(text: str) -> Reader:
    lines = text.removesuffix("\n").split("\n")
    return Reader(lines, 0, len(lines))


def head(text: str) -> Head:
    return header.read(reader(text))


def paths(text: str) -> tuple[str, str]:
    return header.paths(head(text))


def all_of(text: str) -> tuple[str | None, str, str]:
    found = head(text)
    return header.mode(found), *header.paths(found)


def refusal(text: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        all_of(text)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def test_a_whole_header_is_taken_and_nothing_behind_it() -> None:
    source = reader("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n")
    assert header.begins(source)
    assert header.read(source) == Head(1, [("a/f", "b/f")], {"old mode": "100644", "new mode": "100755"}, "a/f", "b/f")
    assert (source.peek(), header.begins(source)) == ("@@ -1 +1 @@", False)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("--- i/x\n+++ w/x\n", "x"),
        ("--- b/x\n+++ a/x\n", "x"),
        ("--- a/a/x\n+++ b/a/x\n", "a/x"),
        ("--- w/x\n+++ w/x\n", "w/x"),
        ("--- x\t2026-01-01 00:00:00\n+++ x\t2026-01-02 00:00:00\n", "x"),
        ("diff --git src/x y src/x y\n--- src/x y\t\n+++ src/x y\t\n", "src/x y"),
        ("diff --git  lead  lead\n---  lead\t\n+++  lead\t\n", " lead"),
        ("diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n", "x"),
        ('diff --git "a/\\tx" "b/\\tx"\nnew mode 100755\n', "\tx"),
    ],
)
def test_prefixes(text: str, path: str) -> None:
    assert paths(text) == (path, path)


def test_prefixes_of_new_and_deleted_files() -> None:
    assert paths("--- /dev/null\n+++ b/x\n") == ("x", "x")
    assert paths("--- a/x\n+++ /dev/null\n") == ("x", "x")
    assert paths("--- /dev/null\n+++ src/x\n") == ("src/x", "src/x")
    assert paths("diff --git w/x w/x\nnew file mode 100644\n--- /dev/null\n+++ w/x\n") == ("w/x", "w/x")
    fault = refusal("--- /dev/null\n+++ w/x\n")
    assert (fault.code, fault.data["candidates"]) == ("ambiguous_path", ["w/x", "x"])


def test_a_rename_has_two_names() -> None:
    text = "diff --git a/x y b/z y\nsimilarity index 90%\nrename from x y\nrename to z y\n--- a/x y\t\n+++ b/z y\t\n"
    assert paths(text) == ("x y", "z y")


@pytest.mark.parametrize("how", ["rename", "copy"])
@pytest.mark.parametrize("names", ["a/a/x b/b/x", "a/x b/x", "i/a/x w/b/x"])
def test_the_lines_that_name_a_move_have_no_prefix(how: str, names: str) -> None:
    """Without prefixes, two folders called a and b look like them."""
    assert paths(f"diff --git {names}\n{how} from a/x\n{how} to b/x\n") == ("a/x", "b/x")


@pytest.mark.parametrize(
    ("old", "new", "absent"),
    [
        ("f\t(nonexistent)", "f\t(working copy)", (True, False)),
        ("f\t1970-01-01 01:00:00.000000000 +0100", "f\t2026-01-01 00:00:00 +0100", (True, False)),
        ("f\t(revision 12)", "f\t1969-12-31 16:00:00 -0800", (False, True)),
        ("f (nonexistent)", "f", (False, False)),
        ("f\t1970-01-02 00:00:00 +0000", "f\t", (False, False)),
    ],
)
def test_a_side_can_be_said_not_to_be_there(old: str, new: str, absent: tuple[bool, bool]) -> None:
    assert head(f"--- {old}\n+++ {new}\n").absent == absent


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("diff --cc f", "combined_diff"),
        ("diff --combined f", "combined_diff"),
        ("@@@ -1,2 -1,2 +1,2 @@@", "combined_diff"),
        ("Submodule lib 0123456..89abcde:", "special_file"),
        ("Submodule lib 0123456...89abcde (rewind):", "special_file"),
        ("Submodule lib 0000000...89abcde (new submodule)", "special_file"),
        ("Property changes on: f", "malformed_patch"),
        ("diff --ccc f", None),
        ("Submodules are hard", None),
        ("@@ -1 +1 @@", None),
    ],
)
def test_what_is_no_change_of_one_file_is_refused_where_it_stands(line: str, code: str | None) -> None:
    source = reader(f"x\n{line}\n")
    source.take()
    if code is None:
        header.refuse_foreign(source)
        return
    with pytest.raises(AgentFault) as caught:
        header.refuse_foreign(source)
    assert (caught.value.code, caught.value.data["line"]) == (code, 2)


def test_names_are_unquoted_before_anything_else() -> None:
    assert paths('--- "a/\\377\\t\\\\"\n+++ "b/\\377\\t\\\\"\n') == ("\udcff\t\\", "\udcff\t\\")
    assert refusal('--- "a/\\q"\n+++ "b/\\q"\n').code == "malformed_patch"


def quoted(name: str) -> str:
    """As git's quote.c writes a name: octal for each byte that is not plain ASCII."""
    raw = name.encode(errors="surrogateescape")
    return (
        '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in raw) + '"'
    )


@given(st.text(st.sampled_from('ab "\\\t\n/üÿ\udcff'), min_size=1, max_size=8))
def test_every_quoted_name_comes_back(name: str) -> None:
    text = f"diff --git {quoted('a/' + name)} {quoted('b/' + name)}\nnew mode 100755\n"
    assert paths(text) == (name, name)


def test_blob_ids_count_only_in_full() -> None:
    old, new = "1" * 40, "2" * 40
    assert header.blobs(head(f"diff --git a/f b/f\nindex {old}..{new} 100644\n")) == (old, new)
    assert header.blobs(head(f"diff --git a/f b/f\nindex {'0' * 64}..{'3' * 64}\n")) == (None, "3" * 64)
    assert header.blobs(head("diff --git a/f b/f\nindex 1111111..2222222 100644\n")) == (None, None)
    assert header.blobs(head("diff --git a/f b/f\n")) == (None, None)
    long = "4" * 64
    assert header.blobs(head(f"diff --git a/f b/f\nindex {long}..{long}\n")) == (long, long)
    for torn in (f"{old}..{long}", f"{old}..{new[:-1]}", f"{old}..{new}x", f"{old},{new}..{new}"):
        assert header.blobs(head(f"diff --git a/f b/f\nindex {torn}\n")) == (None, None)


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ("old mode 100644\nnew mode 100755\n", "100755"),
        ("old mode 100755\nnew mode 100644\n", "100644"),
        ("new file mode 100755\n", "100755"),
        ("deleted file mode 100755\n", None),
        ("index 1111111..2222222 100644\n", None),
        ("", None),
    ],
)
def test_the_mode_is_the_one_asked_for(lines: str, mode: str | None) -> None:
    assert header.mode(head(f"diff --git a/f b/f\n{lines}")) == mode


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("diff --git a/f\n", "malformed_patch"),
        ('diff --git "a/f b/f\n', "malformed_patch"),
        ("diff --git a/f b/g\n--- a/f\n+++ b/g\n", "malformed_patch"),
        ("diff --git a/f b/f\n--- a/g\n+++ b/g\n", "malformed_patch"),
        ("--- \n+++ b/g\n", "malformed_patch"),
        ("--- a/f\n+++ b/g\n", "ambiguous_path"),
        ("--- f.orig\n+++ f\n", "ambiguous_path"),
        ("diff --git a/f b/f\nnew file mode 120000\n", "special_file"),
        ("diff --git a/f b/f\nnew file mode 160000\n", "special_file"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 120000\n", "special_file"),
        ("diff --git a/f b/f\nindex 1111111..2222222 160000\n", "special_file"),
        ("diff --git a/f b/f\nindex 1111111..2222222 10644\n", "special_file"),
        ("diff --git a/f b/g\ncopy from f\n", "malformed_patch"),
        ("diff --git a/f b/g\ncopy from f\ncopy to h\n", "malformed_patch"),
        ("diff --git a/f b/g\ncopy from f\ncopy to g\nrename from f\nrename to g\n", "malformed_patch"),
        ("diff --git a/f b/f\nindex 1111111..2222222\nBinary files a/f and b/f differ\n", "binary_patch"),
        ((CASES / "DP-13/patch_git_binary.diff").read_text(), "binary_patch"),
    ],
)
def test_refused_by_name(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_a_mode_that_is_no_text_is_shown() -> None:
    fault = refusal("diff --git a/f b/f\nnew file mode 100644\udcff\n")
    assert (fault.code, fault.data["mode"]) == ("special_file", "100644\\udcff")
    fault.message.encode()


def test_a_header_that_could_be_read_in_countless_ways_is_not_read() -> None:
    assert refusal(f"diff --git {'a ' * 50_000}\n").code == "malformed_patch"


def test_a_binary_entry_is_refused_under_the_name_that_is_known() -> None:
    for name, shown in (("a/\udcff", "a/\\udcff"), (None, "Binary files a/f and b/f differ")):
        with pytest.raises(AgentFault) as caught:
            header.refuse_binary(reader("Binary files a/f and b/f differ\n"), name)
        assert caught.value.data == {"entry": shown}
    source = reader("Binary search is fast\n")
    header.refuse_binary(source)
    assert source.at == 0


PARTS = [
    "a/f",
    "b/f",
    '"a/f"',
    '"b/\\',
    "/dev/null",
    "100644",
    "120000",
    "rename from f",
    "index ",
    "--- a/f",
    "+++ b/f",
]


@given(st.lists(st.sampled_from(PARTS), max_size=3), st.lists(st.sampled_from(PARTS), max_size=6))
def test_only_our_faults(names: list[str], lines: list[str]) -> None:
    with suppress(AgentFault):
        assert all(all_of("\n".join([f"diff --git {' '.join(names)}", *lines]))[1:])


def test_a_header_of_nothing_but_blanks_is_not_read_in_every_way() -> None:
    words = "a " * 100_000
    with pytest.raises(AgentFault) as caught:
        header.read(Reader([f"diff --git {words}b"], 0, 1))
    assert caught.value.code == "malformed_patch"


def test_a_name_with_many_blanks_is_read_where_it_stands_twice() -> None:
    name = " ".join("x" * 2 for _ in range(header.BLANKS))
    head = header.read(Reader([f"diff --git a/{name} b/{name}"], 0, 1))
    assert header.paths(head) == (name, name)
