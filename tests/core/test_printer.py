"""`core.printer`: what is printed is read back as it was, whatever the names, the lines and the order of the hunks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.chunk import Chunk, FilePatch, Mode
from remit.core.diff import unified
from remit.core.faults import OurFault
from remit.core.patch import parse
from remit.core.place import place
from remit.core.printer import change, chunks, printed, quoted
from remit.core.proposal import FileChange, hunks_of

pieces = st.sampled_from(
    ["a", "b", "-- x", "++ x", "}", "\n", "\n", "\n", "\r\n", "\r", "\u2028", "\x00", "\udcfb", "é"]
)
texts = st.lists(pieces, max_size=24).map("".join)
names = st.text(st.sampled_from('ab \t\n\r"\\/üÿ\udcff\x7f-.'), min_size=1, max_size=12)
modes: st.SearchStrategy[Mode | None] = st.sampled_from([None, "100644", "100755"])
ids = st.sampled_from([(None, None), ("1" * 40, "2" * 40), ("3" * 64, "4" * 64)])


@st.composite
def files(draw: st.DrawFn, name: str) -> FilePatch:
    old, new, mode, (before, after) = draw(texts), draw(texts), draw(modes), draw(ids)
    parts = list(chunks(old, new, draw(st.integers(0, 3))))
    random.Random(draw(st.integers(0, 3))).shuffle(parts)
    hunks = tuple(parts)
    match draw(st.integers(0, 4)):
        case 0:
            return FilePatch(name, "create", content=new, mode=mode or "100644", new_blob=after)
        case 1:
            return FilePatch(name, "delete", chunks=chunks(old, ""), old_blob=before)
        case 2:
            return FilePatch(f"{name}2", "rename", name, hunks, None, mode, before, after)
        case 3:
            return FilePatch(f"{name}2", "copy", name, hunks, None, mode, before, after)
        case _:
            changed = mode if hunks else mode or "100755"
            return FilePatch(name, "modify", None, hunks, None, changed, before, after)


@given(st.data(), st.lists(names, min_size=1, max_size=3, unique=True))
def test_what_is_printed_is_read_as_it_was(data: st.DataObject, found: list[str]) -> None:
    wanted = tuple(data.draw(files(f"{at}/{name}")) for at, name in enumerate(found))
    read = parse(printed(wanted))
    assert read.files == wanted
    assert (read.format, read.notes) == ("unified", ())
    assert printed(read.files) == printed(wanted)


@given(texts, texts, st.integers(0, 3))
def test_hunks_are_those_of_the_diff_and_make_the_new_text(old: str, new: str, context: int) -> None:
    parts = chunks(old, new, context)
    assert place(old, parts, ("exact",)).text == new
    text = printed([FilePatch("f", "modify", None, parts)])
    assert not parts or text == f"diff --git a/f b/f\n{unified(old, new, 'a/f', 'b/f', context)}"


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("plain-1.txt", "plain-1.txt"),
        ("two words", "two words"),
        ('say "hi"', '"say \\"hi\\""'),
        ("tab\there\\", '"tab\\there\\\\"'),
        ("é", '"\\303\\251"'),
        ("\udcff\x7f", '"\\377\\177"'),
        (" ".join("x" * 30), f'"{" ".join("x" * 30)}"'),
    ],
)
def test_names_are_spelled_as_git_does(name: str, spelled: str) -> None:
    assert quoted(name) == spelled


def test_a_patch_in_full() -> None:
    hunk = Chunk(("a", "b"), ("a", "B", "c"), 4, (), False, True)
    rename = FilePatch("new name", "rename", "old", (hunk,), None, "100755", "1" * 40, "2" * 40)
    assert printed([rename, FilePatch("gone", "delete", old_blob="3" * 40), FilePatch("e", "create", content="")]) == (
        "diff --git a/old b/new name\n"
        "old mode 100644\n"
        "new mode 100755\n"
        "rename from old\n"
        "rename to new name\n"
        f"index {'1' * 40}..{'2' * 40}\n"
        "--- a/old\n"
        "+++ b/new name\t\n"
        "@@ -5,2 +5,3 @@\n"
        " a\n"
        "-b\n"
        "\\ No newline at end of file\n"
        "+B\n"
        "+c\n"
        "diff --git a/gone b/gone\n"
        "deleted file mode 100644\n"
        f"index {'3' * 40}..{'0' * 40}\n"
        "diff --git a/e b/e\n"
        "new file mode 100644\n"
    )


def test_what_has_no_line_numbers_cannot_be_printed() -> None:
    for chunk in (Chunk(("a",), ()), Chunk(("a",), (), 0, ("x",)), Chunk(("a",), (), 0, at_end=True)):
        with pytest.raises(OurFault):
            printed([FilePatch("f", "modify", None, (chunk,))])


def test_files_of_a_proposal() -> None:
    hunks = hunks_of("P1", ())
    copy = FileChange(path="c", op="create", base="absent", result="1" * 64, hunks=hunks, copy_of="a", executable=True)
    assert change(copy, "", "x\n") == FilePatch("c", "create", content="x\n", mode="100755")
    moved = FileChange(path="b", op="rename", source="a", base="1" * 64, result="1" * 64, hunks=hunks)
    assert change(moved, "x\n", "x\n") == FilePatch("b", "rename", "a")
    gone = FileChange(path="b", op="delete", base="1" * 64, result="absent", hunks=hunks)
    assert change(gone, "x\n", "", ("1" * 40, None)) == FilePatch(
        "b", "delete", chunks=(Chunk(("x",), (), 0, (), True, None),), old_blob="1" * 40
    )
