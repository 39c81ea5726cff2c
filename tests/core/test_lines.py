"""`core.lines`: how a text is cut into lines under each way of comparing, and what is found in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import lines
from remit.core.faults import AgentFault
from remit.core.lines import MANY, Alike, View, bare_line, line_at
from remit.core.text import split_lines

ALIKE: tuple[Alike, ...] = ("exact", "line_ends", "trailing_blanks", "tabs", "blanks")
alikes = st.sampled_from(ALIKE)
texts = st.lists(st.sampled_from(["a", "b", " ", "\t", "\n", "\r\n", "\r", "\u2028", "\x0c", "\udcfb"])).map("".join)


@pytest.mark.parametrize(
    ("alike", "lines", "keys"),
    [
        ("exact", ["a \r\n", "\rb\n", " c\td"], ["a \r", "\rb", " c\td"]),
        ("line_ends", ["a \r\n", "\r", "b\n", " c\td"], ["a ", "", "b", " c\td"]),
        ("trailing_blanks", ["a \r\n", "\r", "b\n", " c\td"], ["a", "", "b", " c\td"]),
        ("tabs", ["a \r\n", "\r", "b\n", " c\td"], ["a ", "", "b", "c\td"]),
        ("blanks", ["a \r\n", "\r", "b\n", " c\td"], ["a", "", "b", "cd"]),
    ],
)
def test_lines_and_what_is_compared_of_them(alike: Alike, lines: list[str], keys: list[str]) -> None:
    view = View("a \r\n\rb\n c\td", alike)
    assert (list(view.lines), list(view.keys)) == (lines, keys)


@given(texts, alikes)
def test_no_character_is_lost_and_starts_are_where_lines_start(text: str, alike: Alike) -> None:
    view = View(text, alike)
    lines = list(view.lines)
    assert "".join(lines) == text
    assert [text[start:end] for start, end in zip(view.starts, view.starts[1:], strict=False)] == lines
    assert [view.bare(line) + view.end(at) for at, line in enumerate(lines)] == lines
    assert lines[-3:-1] == view.lines[-3:-1]
    assert not lines or (lines[-1], text) == (view.lines[-1], text[: view.starts[len(lines)]])


@given(texts, alikes)
def test_the_text_that_is_searched_is_the_keys(text: str, alike: Alike) -> None:
    view = View(text, alike)
    assert view._hay == "\n".join(["", *view.keys, ""])


@given(texts, st.integers(0, 5), st.integers(1, 3), alikes)
def test_lines_are_found_where_they_stand(text: str, at: int, count: int, alike: Alike) -> None:
    view = View(text, alike)
    want = view.keys[at : at + count]
    places = [line for line in range(len(view.keys)) if view.keys[line : line + len(want)] == want]
    assert not want or view.find(want) == places


def test_places_may_overlap_and_are_counted_up_to_a_limit() -> None:
    assert View("a\na\na\n", "exact").find(["a", "a"]) == [0, 1]
    assert View("a\n" * (MANY + 5), "exact").find(["a"]) == list(range(MANY))
    assert View("ab\n", "exact").find(["a"]) == []


def test_lines_of_a_patch_are_read_as_those_of_the_text() -> None:
    assert View("", "exact").read(["a\r", "b"]) == ["a\r", "b"]
    assert View("", "line_ends").read(["a\r", "b\rc"]) == ["a", "b", "c"]
    assert View("", "trailing_blanks").wanted(["a \r", "b\t"]) == ["a", "b"]


def test_a_new_line_ends_like_its_neighbours() -> None:
    view = View("a\r\nb\nc", "line_ends")
    assert [view.style(line) for line in range(4)] == ["\r\n", "\r\n", "\n", "\n"]
    assert View("", "line_ends").style(0) == "\n"
    assert (view.end(2), view.end(3), view.end(-1)) == ("", "", "")


def test_lines_are_told_as_everybody_else_counts_them() -> None:
    text = "a\rb\nc\n"
    assert [View(text, "exact").house_line(line) for line in range(3)] == [0, 2, 3]
    assert [View(text, "line_ends").house_line(line) for line in range(3)] == [0, 1, 2]


def test_the_end_of_the_text_is_on_its_last_line() -> None:
    assert [line_at(text, len(text)) for text in ("", "a", "a\n", "a\r", "a\r\n", "a\rb")] == [0, 0, 1, 1, 1, 1]


@given(texts)
def test_the_line_of_each_character(text: str) -> None:
    lines = split_lines(text)
    starts = [sum(map(len, lines[:at])) for at in range(len(lines))]
    assert [line_at(text, start) for start in starts] == list(range(len(lines)))
    assert [line_at(text, start + len(line) - 1) for start, line in zip(starts, lines, strict=True)] == list(
        range(len(lines))
    )
    assert [bare_line(line) for line in lines] == [line.rstrip("\r\n") for line in lines]


def test_hits_from_a_line_on_and_no_limit() -> None:
    view = View("a\n" * (MANY + 5) + "b\n", "exact")
    assert list(view.hits(["a"], MANY)) == list(range(MANY, MANY + 5))
    assert list(view.hits(["b"], MANY + 5)) == [MANY + 5]
    assert list(view.hits(["a"], MANY + 9)) == []
    assert list(View("", "exact").hits(["a"], 3)) == []


@given(texts, st.integers(0, 5), st.integers(0, 6), alikes)
def test_hits_are_all_the_places_from_there_on(text: str, at: int, floor: int, alike: Alike) -> None:
    view = View(text, alike)
    if want := view.keys[at : at + 1]:
        assert (
            list(view.hits(want, floor))
            == [line for line, key in enumerate(view.keys) if [key] == want][
                len([key for key in view.keys[:floor] if [key] == want]) :
            ]
        )


def test_work_is_reckoned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SEARCHED", 10)
    view = View("abc\n", "exact")
    view.spend(10)
    with pytest.raises(AgentFault) as caught:
        view.spend(1)
    assert caught.value.code == lines.too_long().code == "search_too_long" and caught.value.remedy
