"""`core.seek`: where old lines stand, which of several places is meant, and what a refusal tells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.chunk import Chunk
from remit.core.faults import AgentFault
from remit.core.lines import Alike, View
from remit.core.seek import Rule, Site, ambiguous, locate, unfound
from remit.core.text import split_lines

CASES = Path(__file__).parents[1] / "cases"
RULES: tuple[Rule, ...] = ("exact", "offset", "line_ends")


def site(text: str, chunk: Chunk, rules: Sequence[Rule] = RULES) -> Site:
    @cache
    def view(alike: Alike) -> View:
        return View(text, alike)

    return locate(view, 0, chunk, rules)


def found(text: str, chunk: Chunk, rules: Sequence[Rule] = RULES) -> tuple[int, str, int]:
    """The line as everybody counts it, the rule and the offset."""
    place = site(text, chunk, rules)
    return place.view.house_line(place.line), place.rule, place.offset


def refusal(text: str, chunk: Chunk, rules: Sequence[Rule] = RULES) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        site(text, chunk, rules)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def test_the_declared_line_is_taken_without_a_search() -> None:
    """Six equal blocks: ambiguity is no matter where the patch says which one."""
    assert found("x\ny\n" * 6, Chunk(("x", "y"), (), 4)) == (4, "exact", 0)
    assert refusal("x\ny\n" * 6, Chunk(("x", "y"), (), 5)).code == "ambiguous_match"


def test_a_unique_block_elsewhere_is_an_offset_and_two_are_ambiguous() -> None:
    assert found("a\nb\nc\n", Chunk(("c",), ("C",), 0)) == (2, "offset", 2)
    assert found("a\nb\nc\n", Chunk(("a",), ("A",), 2)) == (0, "offset", -2)
    fault = refusal("a\nb\na\n", Chunk(("a",), ("A",), 1))
    assert (fault.code, fault.data["candidates"]) == ("ambiguous_match", [1, 3])
    fault = refusal("a\nb\nc\n", Chunk(("c",), ("C",), 0), ("exact",))
    assert (fault.code, fault.data["nearest"]) == (
        "no_match",
        {"line": 3, "differs": "place", "file": "c", "request": "c"},
    )


def test_overlapping_matches_are_counted() -> None:
    fault = refusal("a\na\na\n", Chunk(("a", "a"), ("b",)))
    assert (fault.data["count"], fault.data["candidates"]) == (2, [1, 2])


def test_a_looser_place_where_the_patch_says_wins_over_an_exact_one_elsewhere() -> None:
    assert found("x\r\ny\nx\n", Chunk(("x",), ("X",), 0)) == (0, "line_ends", 0)
    assert found("x\r\ny\nx\n", Chunk(("x",), ("X",), 0), ("exact", "offset")) == (2, "offset", 2)


def test_each_looser_rule_is_used_only_where_it_is_allowed() -> None:
    chunk = Chunk(("a", "b"), ("B",), 0)
    assert found("a  \nb\n", chunk, ("exact", "trailing_blanks")) == (0, "trailing_blanks", 0)
    assert refusal("a  \nb\n", chunk).code == "no_match"
    assert found("a\r\nb\r\n", chunk) == (0, "line_ends", 0)
    assert refusal("a\r\nb\r\n", chunk, ("exact", "offset")).code == "no_match"


def test_the_mark_for_no_final_newline_fits_the_end_only() -> None:
    assert refusal("a\nb\na\n", Chunk(("b",), ("B",), 1, (), False, False)).code == "no_match"
    assert found("a\nb\na", Chunk(("a",), ("A",), 0, (), False, False)) == (2, "offset", 2)


def test_the_end_of_the_file() -> None:
    assert found("a\nb\na\n", Chunk(("a",), ("A",), at_end=True)) == (2, "exact", 0)
    assert refusal("a\nb\n", Chunk(("a",), ("A",), at_end=True)).code == "no_match"


PYTHON = "class A:\n    def f(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n"


def test_anchors_narrow_the_search() -> None:
    chunk = Chunk(("        x = 1",), ("        x = 2",), anchors=("class B:", "def f(self):"))
    assert found(PYTHON, chunk) == (6, "exact", 0)
    assert refusal(PYTHON, Chunk(chunk.old, chunk.new, anchors=("def f(self):",))).data["candidates"] == [3, 7]
    fault = refusal(PYTHON, Chunk(chunk.old, chunk.new, anchors=("class C:",)))
    assert (fault.code, fault.data) == ("context_not_found", {"chunk": 0, "anchor": "class C:"})
    assert refusal(PYTHON, Chunk(("class A:",), (), anchors=("class B:",))).code == "no_match"


def test_anchors_that_are_everywhere_are_no_reason_to_wait() -> None:
    """Each of 20 000 lines could be the anchor, twice: by trying them all this is 400 million comparisons."""
    chunk = Chunk(("x",), ("y",), anchors=("}", "}"))
    assert found("}\n" * 20_000 + "x\n", chunk) == (20_000, "exact", 0)


def test_additions_alone_need_one_place() -> None:
    assert found(PYTHON, Chunk((), ("    z = 1",), anchors=("class B:",))) == (5, "exact", 0)
    assert found("", Chunk((), ("y = 1",))) == (0, "exact", 0)
    assert found(PYTHON, Chunk((), ("y = 1",), at_end=True)) == (7, "exact", 0)
    fault = refusal(PYTHON, Chunk((), ("        y = 1",), anchors=("def f(self):",)))
    assert (fault.code, fault.data["candidates"]) == ("insertion_point_unclear", [2, 6])
    assert refusal(PYTHON, Chunk((), ("y = 1",))).code == "insertion_point_unclear"
    assert refusal(PYTHON, Chunk((), ("y = 1",), 99)).code == "insertion_point_unclear"


def test_a_lone_carriage_return_ends_a_line_of_ours_but_not_of_a_patch() -> None:
    assert found("a\rb\nc\n", Chunk(("c",), ("C",), 1)) == (2, "exact", 0)
    assert refusal("c\na\rb\nc\n", Chunk(("c",), ("C",))).data["candidates"] == [1, 4]


def test_a_hint_says_where_blanks_differ() -> None:
    edit = json.loads((CASES / "PL-06/edit.json").read_bytes())
    text = (CASES / "PL-06/before/main.go").read_text()
    assert unfound(text, 0, None, edit["search"].removesuffix("\n").split("\n")).data["nearest"] == {
        "line": 2,
        "differs": "blanks",
        "file": "\tif ok {",
        "request": "    if ok {",
        "file_blanks": "1 tab (0x09)",
        "request_blanks": "4 spaces (0x20)",
    }
    assert unfound("a  \nb\n", 0, 0, ["a", "b"]).data["nearest"] == {
        "line": 1,
        "differs": "blanks",
        "file": "a  ",
        "request": "a",
        "file_blanks": "2 spaces (0x20)",
        "request_blanks": "none",
    }


def test_a_hint_names_the_line_with_most_words_in_common() -> None:
    assert unfound("timeout: 30,  # \udcff\n", 0, None, ["time-out: 30,"]).data["nearest"] == {
        "line": 1,
        "differs": "text",
        "file": "timeout: 30,  # \\udcff",
        "request": "time-out: 30,",
    }
    assert unfound("a\n", 0, None, ["zzz"]).data["nearest"] is None


def test_of_equal_places_the_hint_is_the_one_nearest_to_what_was_declared() -> None:
    for declared, line in ((0, 1), (3, 5)):
        fault = unfound("a\r\nb\nc\nd\na\r\n", 0, declared, ["a"])
        assert fault.data["nearest"] == {"line": line, "differs": "line_ends", "file": "a", "request": "a"}


def test_chunks_and_lines_are_counted_from_one_for_people() -> None:
    fault = ambiguous(2, [0, 4])
    assert fault.message.startswith("Chunk 3:")
    assert fault.data == {"chunk": 2, "count": 2, "candidates": [1, 5]}


@given(
    st.lists(st.sampled_from(["a", "b", "}"]), min_size=1, max_size=10),
    st.integers(0, 9),
    st.integers(1, 4),
    st.sampled_from([None, 0, 3, 20]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_lines_of_the_text_are_found_or_ambiguous(
    lines: list[str], at: int, count: int, declared: int | None, end: str
) -> None:
    """What is there is never called missing, and a place that was chosen is the only one or the declared one."""
    old = lines[at % len(lines) :][:count]
    places = [line for line in range(len(lines)) if lines[line : line + len(old)] == old]
    text = "".join(line + end for line in lines)
    assert len(split_lines(text)) == len(lines)
    chunk = Chunk(tuple(old), (), declared)
    if len(places) == 1 or declared in places:
        line, _, offset = found(text, chunk)
        assert line == (declared if declared in places else places[0])
        assert offset == (0 if declared is None else line - declared)
    else:
        assert refusal(text, chunk).data["candidates"] == [line + 1 for line in places]
