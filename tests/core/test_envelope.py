"""`core.envelope`: the entries and chunks of a `*** Begin Patch` block, and what is refused in one."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.chunk import Chunk, FilePatch
from remit.core.envelope import BEGIN, END, read
from remit.core.faults import AgentFault
from remit.core.reader import Reader

BLOCK = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n"


def files(text: str) -> list[FilePatch]:
    lines = text.removesuffix("\n").split("\n")
    return read(Reader(lines, 0, len(lines)))


def refusal(text: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        files(text)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def test_a_block() -> None:
    assert files(BLOCK) == [FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",)),))]
    assert files(f"{BEGIN}\n{END}") == []


def test_anchors_moves_and_the_end_of_the_file() -> None:
    text = "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ class A:\n@@     def b(self):\n old\n\n+new\n"
    text += "@@\n-last\n*** End of File\n*** Add File: h\n+one\n+\n*** Delete File: i\n*** End Patch"
    chunks = (
        Chunk(("old", ""), ("old", "", "new"), anchors=("class A:", "    def b(self):")),
        Chunk(("last",), (), at_end=True),
    )
    assert files(text) == [
        FilePatch("g", "rename", "f", chunks),
        FilePatch("h", "create", content="one\n\n"),
        FilePatch("i", "delete"),
    ]


def test_a_move_alone_is_a_rename() -> None:
    text = BLOCK.replace("@@\n-a\n+b", "*** Move to: g")
    assert files(text) == [FilePatch("g", "rename", "f")]


def test_an_added_file_may_be_empty() -> None:
    assert files(f"{BEGIN}\n*** Add File: f\n{END}") == [FilePatch("f", "create", content="")]


def test_blanks_around_the_markers_and_carriage_returns_do_not_matter() -> None:
    assert files("*** Begin Patch \r\n*** Update File: f \r\n@@\r\n-a\n+b\n*** End Patch \r\n\n \n") == files(BLOCK)


def test_a_carriage_return_in_a_changed_line_is_content() -> None:
    assert files(BLOCK.replace("+b", "+b\r"))[0].chunks == (Chunk(("a",), ("b\r",)),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BLOCK.replace("*** End Patch\n", ""), 6),
        (BLOCK + "more\n", 7),
        (BLOCK.replace("-a\n+b\n", ""), 3),
        (BLOCK.replace("@@\n-a\n+b\n", ""), 3),
        (BLOCK.replace("-a", "a"), 4),
        (BLOCK.replace("@@", "@@ -1 +1 @@"), 3),
        (BLOCK.replace("Update File: f", "Rewrite File: f"), 2),
        (BLOCK.replace("Update File: f", "Update File: "), 2),
        (BLOCK.replace("@@", "*** Move to: \n@@"), 3),
    ],
)
def test_refused_at_its_line(text: str, line: int) -> None:
    fault = refusal(text)
    assert (fault.code, fault.data) == ("malformed_patch", {"line": line})


signed = st.tuples(st.sampled_from(" +-"), st.sampled_from(["", " ", "a", "@@", "*** x", "\r", "\udcff"]))


@given(st.lists(signed, min_size=1, max_size=12))
def test_every_signed_line_is_read(lines: list[tuple[str, str]]) -> None:
    text = "\n".join([BEGIN, "*** Update File: f", "@@", *map("".join, lines), END])
    (chunk,) = files(text)[0].chunks
    assert chunk.old == tuple(line for sign, line in lines if sign != "+")
    assert chunk.new == tuple(line for sign, line in lines if sign != "-")


@given(st.lists(st.sampled_from([*BLOCK.split("\n"), "*** Add File: g", "*** Move to: h", "@@ x", "*** End of File"])))
def test_only_our_faults(parts: list[str]) -> None:
    with suppress(AgentFault):
        assert isinstance(files("\n".join([BEGIN, *parts])), list)


def test_several_blocks_in_a_row_are_read_as_one() -> None:
    other = BLOCK.replace("File: f", "File: g")
    assert [file.path for file in files(f"{BLOCK}\n{other}")] == ["f", "g"]
    assert refusal(f"{BLOCK}more\n{other}").data == {"line": 7}
