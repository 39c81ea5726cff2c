"""`core.form`: byte order mark and line ends of a file stay, whatever a change that does not speak of them has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import codec, form
from remit.core.chunk import USUAL, Chunk
from remit.core.faults import AgentFault
from remit.core.text import split_lines


@pytest.mark.parametrize(
    ("old", "sent", "made", "kept"),
    [
        ("a\r\nb\r\n", "a\nB\n", "a\r\nB\r\n", ("line_ends",)),
        ("a\nb\n", "a\r\nB\r\n", "a\nB\n", ("line_ends",)),
        ("a\rb\r", "a\nB\n", "a\rB\r", ("line_ends",)),
        ("a\nb\n", "a\nB\n", "a\nB\n", ()),
        ("a\r\nb\r\n", "a\nB", "a\r\nB", ("line_ends",)),
        ("a\r\nb\r\n", "B", "B", ()),
        ("ab", "a\nB\n", "a\nB\n", ()),
        ("", "a\r\n", "a\r\n", ()),
        ("a\r\n", "", "", ()),
        ("a\r\nb\r\n", "a\r\nB\n", "a\r\nB\n", ()),  # in two styles: each is meant
        ("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n", ("line_ends",)),
        ("a\r\nb\nc", "a\nb\nC", "a\r\nb\nC", ("line_ends",)),
        ("a\r\nb\nc", "a\nb\nc\n", "a\r\nb\nc\n", ("line_ends",)),
        ("a\r\nb\nc\n", "a\nb\nc", "a\r\nb\nc", ("line_ends",)),
        ("a\r\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\n", ("line_ends",)),
    ],
)
def test_a_whole_text_takes_the_line_ends_of_the_file(old: str, sent: str, made: str, kept: tuple[str, ...]) -> None:
    assert form.whole(old, sent, marked=False, rules=USUAL) == (made, kept)
    assert form.whole(old, sent, marked=False, rules=("exact",)) == (sent, ())


@pytest.mark.parametrize(
    ("old", "sent", "marked", "made", "kept"),
    [
        ("a\n", "\ufeffA\n", True, "A\n", ("bom",)),
        ("a\n", "A\n", True, "A\n", ()),
        ("a\n", "\ufeffA\n", False, "\ufeffA\n", ()),  # a mark where none was: as sent
        ("\ufeffa\n", "A\n", False, "\ufeffA\n", ("bom",)),
        ("\ufeffa\n", "\ufeffA\n", False, "\ufeffA\n", ()),
        ("a\r\n", "\ufeffA\n", True, "A\r\n", ("bom", "line_ends")),
    ],
)
def test_a_whole_text_leaves_the_mark(old: str, sent: str, marked: bool, made: str, kept: tuple[str, ...]) -> None:
    assert form.whole(old, sent, marked=marked, rules=USUAL) == (made, kept)


ends = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(st.sampled_from("ab"), ends), min_size=1, max_size=8), ends, st.booleans())
def test_what_was_read_and_sent_back_in_any_one_style_is_what_is_there(
    lines: list[tuple[str, str]], end: str, newline: bool
) -> None:
    old = "".join(text + own for text, own in lines)
    if not newline:
        old = old[: -len(lines[-1][1])]
    sent = "".join(text + end for text, _ in lines)
    if not newline:
        sent = sent[: -len(end)]
    made, kept = form.whole(old, sent, marked=False, rules=USUAL)
    assert made == old
    assert kept == (() if sent == old else ("line_ends",))


@given(st.text(alphabet="ab\n\r", max_size=10), st.text(alphabet="ab\n", max_size=10))
def test_only_line_ends_differ_from_what_was_sent(old: str, sent: str) -> None:
    made, _ = form.whole(old, sent, marked=False, rules=USUAL)
    assert codec.same_text(made, sent)
    assert len(split_lines(made)) == len(split_lines(sent))


def test_a_mark_that_git_shows_is_the_files_own() -> None:
    first = Chunk(("\ufeffa",), ("\ufeffA",), 0)
    assert form.onto("a\nb\n", [first], USUAL, marked=True).text == "A\nb\n"
    assert form.onto("a\nb\n", [Chunk(("b",), ("B",), 1)], USUAL, marked=True).text == "a\nB\n"
    assert form.onto("\ufeffa\nb\n", [first], USUAL, marked=False).text == "\ufeffA\nb\n"
    assert form.onto("a\n", [Chunk(("\ufeffa",), (), 0)], USUAL, marked=True, deletes=True).text == ""


@pytest.mark.parametrize(
    ("chunk", "marked", "code"),
    [
        (Chunk(("\ufeffa",), ("A",), 0), True, "byte_order_mark"),
        (Chunk(("\ufeffa", "b"), ("b",), 0), True, "byte_order_mark"),
        (Chunk(("\ufeffa",), ("x", "\ufeffa"), 0), True, "byte_order_mark"),
        (Chunk(("\ufeffb",), ("\ufeffB",), 1), True, "no_match"),
        (Chunk(("\ufeffa",), ("\ufeffA",), 0), False, "no_match"),
    ],
)
def test_a_mark_that_would_not_stay_where_it_is_is_refused(chunk: Chunk, marked: bool, code: str) -> None:
    with pytest.raises(AgentFault) as caught:
        form.onto("a\nb\n", [chunk], USUAL, marked=marked)
    assert caught.value.code == code and len(caught.value.message) <= 100 and caught.value.remedy
