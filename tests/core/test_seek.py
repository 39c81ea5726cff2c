"""`core.seek`: where old lines stand, by which rules, and which of several places is meant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.chunk import Chunk, Rule
from remit.core.faults import AgentFault
from remit.core.lines import MANY, Alike, View
from remit.core.seek import Site, ambiguous, foremost, locate
from remit.core.text import split_lines

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


def test_the_second_place_behind_many_is_not_overlooked() -> None:
    """An anchor that stands twice, and so many places that fit before the second one that nobody counts them."""
    block = "    x = 1\n"
    text = "class B:\n" + block * (MANY + 20) + "class B:\n" + block
    chunk = Chunk(("    x = 1",), ("    x = 2",), anchors=("class B:",))
    assert refusal(text, chunk).data["candidates"] == [2, MANY + 23]
    late = text[len("class B:\n") :]
    assert found(late, chunk) == (MANY + 21, "exact", 0)


def test_an_end_behind_many_places_is_found() -> None:
    text = "x\n" * (MANY + 20)
    assert found(text, Chunk(("x",), ("y",), at_end=True)) == (MANY + 19, "exact", 0)


ALL: tuple[Rule, ...] = ("exact", "offset", "line_ends", "trailing_blanks", "tabs")


@pytest.mark.parametrize(
    ("text", "old", "tells"),
    [
        ("\tif x:\n\t\ty\n", ("    if x:", "        y"), (0, "tabs", 0, ())),
        ("\tif x:\r\n\t\ty\r\n", ("    if x:", "        y"), (0, "tabs", 0, ("line_ends",))),
        ("a\n    if x:\n", ("\tif x:",), (1, "tabs", 1, ())),
        ("a \r\n", ("a",), (0, "trailing_blanks", 0, ("line_ends",))),
        ("\tif x:\n\t\ty\n", ("    if x:", "            y"), None),  # by no width of the tabs
        ("\tif x:\n", ("if x:",), None),
        ("\tif x: \n", ("    if x:",), None),
        ("\ta\tb\n", ("    a    b",), None),
    ],
)
def test_looser_rules_say_all_that_was_needed(text: str, old: tuple[str, ...], tells: Any) -> None:
    chunk = Chunk(old, (), 0)
    if tells is None:
        assert refusal(text, chunk, ALL).code == "no_match"
        return
    place = site(text, chunk, ALL)
    assert (place.view.house_line(place.line), place.rule, place.offset, place.also) == tells
    for needed in (place.rule, *place.also):
        without = [rule for rule in ALL if rule != needed]
        assert refusal(text, chunk, without).code == "no_match"


def test_equal_but_for_tabs_in_two_places_is_ambiguous() -> None:
    assert refusal("\tx\ny\n  \tx\n", Chunk(("        x",), ()), ALL).code == "ambiguous_match"


def test_of_several_refusals_the_order_of_the_chunks_does_not_say_which() -> None:
    one, two = Chunk(("a",), (), 5), Chunk(("b",), (), 1)
    many, none = AgentFault("ambiguous_match", "x"), AgentFault("no_match", "x")
    assert foremost({0: (many, one), 1: (none, two)}) == 1
    assert foremost({0: (none, two), 1: (many, one)}) == 0
    assert foremost({0: (none, one), 1: (none, two)}) == 1
    assert foremost({0: (none, two), 1: (none, one)}) == 0


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
