"""`core.place`: the text that chunks make; and all parsing and placement cases from patch text to bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from depth import depth
from folders import CASES, NAMES, Proposed, Tree, proposals, told, tree
from kinds import OWN
from remit.core import codec, lines
from remit.core.chunk import USUAL
from remit.core.diff import unified
from remit.core.faults import AgentFault
from remit.core.patch import Chunk, FilePatch, parse
from remit.core.place import MOST, Placement, Rule, Swap, apart, place, replace, swap
from remit.core.text import split_lines
from remit.core.wish import Wish

thorough = settings(max_examples=depth(100, 20_000), deadline=None)


def carried_out(files: Sequence[FilePatch], before: Tree) -> tuple[Tree, dict[str, str]]:
    """The whole patch or nothing, in memory: what a planner does with what was read. Also the modes asked for."""
    after, modes = dict(before), dict[str, str]()
    for file in files:
        source = file.source or file.path
        if file.op != "create" and source not in before:
            raise AgentFault("target_missing", "There is no such file.", path=source)
        if file.op in ("create", "rename") and file.path in before:
            raise AgentFault("target_exists", "The file exists.", path=file.path)
        old = codec.decode(before.get(source, b""))
        wish = Wish(file.path, file.op, content=file.content, chunks=file.chunks)
        text = wish.onto(old.text, USUAL, marked=bool(old.charset.bom))[0].text
        after.pop(source, None)
        if file.op != "delete":
            after[file.path] = codec.encode(text, old.charset)
        elif file.chunks:
            assert text == ""
        if file.mode:
            modes[file.path] = file.mode
    return after, modes


def outcome(proposed: Proposed) -> str | tuple[Tree, dict[str, str]]:
    before, sent = proposed.before, proposed.sent
    try:
        if "patch" in sent:
            return carried_out(parse(sent["patch"]).files, before)
        (edit,) = sent["edits"]
        old = codec.decode(before[edit["path"]])
        text = replace(old.text, edit["search"], edit["replace"]).text
    except AgentFault as fault:
        return fault.code
    return before | {edit["path"]: codec.encode(text, old.charset)}, {}


PURE = [
    *(one for one in proposals() if one.wanted != "invalid_unicode"),
    *(one for one in OWN if "patch" in one.sent),
]


@pytest.mark.parametrize("proposed", PURE, ids=str)
def test_case(proposed: Proposed) -> None:
    found = outcome(proposed)
    if isinstance(proposed.wanted, str):
        assert found == proposed.wanted
    else:
        assert isinstance(found, tuple)
        assert found[0] == proposed.wanted
        assert {path: f"100{mode:o}" for path, mode in proposed.modes.items()}.items() <= found[1].items()


@pytest.mark.parametrize("name", NAMES)
def test_a_case_is_the_one_that_was_collected(name: str) -> None:
    case = told(name)
    for folder in ("before", "expected"):
        digests = {path: hashlib.sha256(data).hexdigest() for path, data in tree(CASES / name / folder).items()}
        assert digests == case.get(f"{folder}_sha256", {})


def refusal(text: str, *chunks: Chunk, rules: Sequence[Rule] = ("exact", "offset", "line_ends")) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        place(text, chunks, rules)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_new_lines_take_the_line_end_of_their_place(end: str) -> None:
    text = f"host=a{end}port=1{end}user=u{end}"
    placed = place(text, [Chunk(("host=a", "port=1"), ("host=b", "tls=1", "port=1"))])
    assert placed.text == f"host=b{end}tls=1{end}port=1{end}user=u{end}"
    assert placed.placements == (Placement(0, 0, "line_ends", 0),)
    assert place(f"{text}\n", [Chunk((), ("new",), 0)]).text == f"new{end}{text}\n"
    assert replace(text, "port=1", "port=2\ntls=1").text == text.replace("port=1", f"port=2{end}tls=1")
    assert refusal(text, Chunk(("host=a",), ("host=b",)), rules=("exact",)).code == "no_match"


def test_lines_that_stay_keep_their_ends() -> None:
    placed = place("p\r\nq\nr\ns", [Chunk(("p", "q", "r"), ("p", "Q", "new", "r"))])
    assert placed.text == "p\r\nQ\nnew\nr\ns"
    assert replace("p\r\nq\nr", "p\nq\nr", "p\nQ\nr").text == "p\r\nQ\nr"
    assert replace("p=1\r\nq=2\nr=3", "r=3", "r=9").text == "p=1\r\nq=2\nr=9"


def test_a_crlf_patch_on_an_lf_file() -> None:
    assert place("a\nb\n", [Chunk(("a\r", "b\r"), ("a\r", "c\r", "b\r"), 0)]).text == "a\nc\nb\n"


def test_trailing_blanks_are_a_rule_of_their_own() -> None:
    chunk = Chunk(("a", "b"), ("a", "B "), 0)
    assert refusal("a  \nb\n", chunk).data["nearest"] == {
        "line": 1,
        "differs": "blanks",
        "file": "a  ",
        "request": "a",
        "file_blanks": "2 spaces (0x20)",
        "request_blanks": "none",
    }
    placed = place("a  \nb\n", [chunk], ("exact", "trailing_blanks"))
    assert (placed.text, placed.placements[0].rule) == ("a  \nB \n", "trailing_blanks")


NONE, YES, NO = None, True, False


@pytest.mark.parametrize(
    ("text", "old_end", "new_end", "result", "rule"),
    [
        ("a\nb", NONE, NONE, "a\nB", "exact"),
        ("a\nb\n", NONE, NONE, "a\nB\n", "exact"),
        ("a\nb", NO, YES, "a\nB\n", "exact"),
        ("a\nb\n", YES, NO, "a\nB", "exact"),
        ("a\nb", NO, NO, "a\nB", "exact"),
        ("a\nb", YES, YES, "a\nB", "line_ends"),
        ("a\nb\n", NO, NO, "a\nB\n", "line_ends"),
        ("a\r\nb", YES, NO, "a\r\nB", "line_ends"),
        ("a\r\nb", NO, YES, "a\r\nB\r\n", "line_ends"),
    ],
)
def test_the_final_newline(text: str, old_end: bool | None, new_end: bool | None, result: str, rule: str) -> None:
    placed = place(text, [Chunk(("a", "b"), ("a", "B"), 0, (), old_end, new_end)])
    assert (placed.text, placed.placements[0].rule) == (result, rule)


def test_lines_behind_a_last_line_without_end() -> None:
    assert place("a", [Chunk(("a",), ("a", "b"))]).text == "a\nb"
    assert place("a", [Chunk((), ("b",), 1, (), None, True)]).text == "a\nb\n"
    assert place("a\r\nz", [Chunk((), ("b",), at_end=True)]).text == "a\r\nz\r\nb"
    assert place("", [Chunk((), ("b",))]).text == "b\n"
    assert place("a\nb", [Chunk(("b",), ())]).text == "a\n"


def test_placements_are_told_in_the_order_of_the_chunks() -> None:
    chunks = [Chunk(("d",), ("D",), 3), Chunk(("b",), ("B",), 0)]
    placed = place("a\nb\nc\nd\n", chunks)
    assert placed.text == "a\nB\nc\nD\n"
    assert placed.placements == (Placement(0, 3, "exact", 0), Placement(1, 1, "offset", 1))


def test_a_chunk_that_has_no_place_is_named() -> None:
    fault = refusal("a\nb\n", Chunk(("a",), ("A",)), Chunk(("zzz",), ()))
    assert (fault.code, fault.data["chunk"]) == ("no_match", 1)


def test_overlapping_chunks_are_refused_and_shared_context_is_not() -> None:
    text = "a\nb\nc\nd\n"
    both = [Chunk(("a", "b", "c"), ("A", "b", "c"), 0), Chunk(("b", "c", "d"), ("b", "c", "D"), 1)]
    assert place(text, both).text == "A\nb\nc\nD\n"
    fault = refusal(text, Chunk(("a", "b"), ("x",), 0), Chunk(("b", "c"), ("y",), 1))
    assert (fault.code, fault.data["chunks"]) == ("overlapping_chunks", [0, 1])
    assert refusal(text, Chunk((), ("x",), 1), Chunk((), ("y",), 1)).code == "overlapping_chunks"


def test_a_number_of_places_that_was_asked_for() -> None:
    text = (CASES / "PL-01/before/m.py").read_text()
    for count in (3, None):
        placed = replace(text, "    x = 1\n", "    x = 2\n", count)
        assert placed.text == text.replace("x = 1", "x = 2")
        assert [placement.line for placement in placed.placements] == [1, 5, 9]
    with pytest.raises(AgentFault) as caught:
        replace(text, "    x = 1\n", "")
    assert caught.value.data["candidates"] == [2, 6, 10]
    with pytest.raises(AgentFault, match="empty"):
        replace(text, "", "x")
    with pytest.raises(AgentFault, match="2 places"):
        replace("aaa", "aa", "b")


def test_a_search_text_that_is_not_there_comes_back_with_a_hint() -> None:
    with pytest.raises(AgentFault) as caught:
        replace("\tif ok {\n", "    if ok {\n", "")
    nearest = caught.value.data["nearest"]
    assert isinstance(nearest, dict)
    assert (caught.value.code, nearest["line"], nearest["differs"]) == ("no_match", 1, "blanks")


def test_a_replaced_text_is_told_by_the_line_it_is_on() -> None:
    assert replace("a\rb\r\nc", "b", "B").placements == (Placement(0, 1, "exact", 0),)


pieces = st.sampled_from(["a", "b", "}", "\n", "\n", "\n", "\r\n", "\r", "\u2028", "\x00", "\udcfb"])
texts = st.lists(pieces, max_size=24).map("".join)


@given(texts, texts, st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_printed_diff_read_and_placed_is_the_new_text(old: str, new: str, context: int, random: Any) -> None:
    """Exactly, whatever the bytes, without a search, in any order of the chunks."""
    diff = unified(old, new, "a/f", "b/f", context)
    if diff:
        chunks = list(parse(diff).files[0].chunks)
        random.shuffle(chunks)
        placed = place(old, chunks, ("exact",))
        assert placed.text == new
        assert all((placement.rule, placement.offset) == ("exact", 0) for placement in placed.placements)


@given(
    st.lists(st.sampled_from("abc}"), min_size=1, max_size=8), st.integers(0, 7), st.sampled_from(["\r\n", "\r", "\n"])
)
def test_placing_an_lf_chunk_changes_its_own_line_only(lines: list[str], at: int, end: str) -> None:
    at %= len(lines)
    text = "".join(line + end for line in lines)
    placed = place(text, [Chunk(tuple(lines), (*lines[:at], "new", *lines[at + 1 :]), 0)])
    assert split_lines(placed.text) == [line + end for line in [*lines[:at], "new", *lines[at + 1 :]]]


# --- search and replace, several at once ------------------------------------------------------------------------------


def test_swaps_are_all_made_for_the_text_as_it_is_in_any_order() -> None:
    text = "one two\nthree\n"
    swaps = [Swap("one", "two"), Swap("two", "one"), Swap("three\n", "")]
    assert swap(text, swaps).text == "two one\n"
    assert swap(text, swaps[::-1]).text == "two one\n"


def test_a_swap_says_how_often_and_means_it() -> None:
    assert swap("a a a", [Swap("a", "b", 3)]).text == "b b b"
    assert swap("a a a", [Swap("a", "b", None)]).text == "b b b"
    with pytest.raises(AgentFault) as many:
        swap("a\na\na\n", [Swap("a", "b")])
    assert (many.value.code, many.value.data["candidates"]) == ("ambiguous_match", [1, 2, 3])
    with pytest.raises(AgentFault) as none:
        swap("a\n", [Swap("a", "b"), Swap("c", "d")])
    assert (none.value.code, none.value.data["chunk"]) == ("no_match", 1)


@pytest.mark.parametrize("count", [None, 250])
@pytest.mark.parametrize("end", ["\n", "\r\n", " "])
def test_a_swap_of_what_stands_there_very_often_leaves_none_out(count: int | None, end: str) -> None:
    text = f"{end}a{end}b" * 250
    placed = swap(text, [Swap("a", "c", count)])
    assert placed.text == text.replace("a", "c")
    lines = [2 * at + 1 for at in range(250)] if end != " " else [0] * 250
    assert [placement.line for placement in placed.placements] == lines
    with pytest.raises(AgentFault) as wrong:
        swap("a" * 250, [Swap("aa", "c", count)])
    assert wrong.value.code == ("ambiguous_match" if count else "overlapping_chunks")


def test_a_swap_of_more_places_than_anybody_reviews_is_refused() -> None:
    text = "a\r\n" * 100_000
    with pytest.raises(AgentFault) as many:
        swap(text, [Swap("a", "b", None)])
    assert (many.value.code, many.value.data["limit"]) == ("too_many_changes", MOST)
    assert swap(text[: 3 * MOST], [Swap("a", "b", None)]).text == "b\r\n" * MOST


def test_swaps_that_touch_the_same_place_are_refused() -> None:
    with pytest.raises(AgentFault) as both:
        swap("abc", [Swap("ab", "x"), Swap("bc", "y")])
    assert both.value.code == "overlapping_chunks"


@pytest.mark.parametrize("anchors", [(), ("x",)])
def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, anchors: tuple[str, ...]) -> None:
    monkeypatch.setattr(lines, "SEARCHED", 200_000)
    text = "x\n" * 10 + "a\nb\n" * 500
    unlike = Chunk(("b", "b"), ("new",), anchors=anchors)
    assert refusal(text, *[unlike] * 2).code == "no_match"
    assert refusal(text, *[unlike] * 100).code == "search_too_long"


def test_what_is_nowhere_or_elsewhere_costs_no_search_of_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is tried where its rarest line stands; the text is read once, not once for each."""
    text = "".join(f"line {number}\n" for number in range(1000))
    monkeypatch.setattr(lines, "SEARCHED", (lines.FEW + 10) * len(text))
    moved = [Chunk(("line 0", f"line {number}"), ("new",), 0) for number in range(500)]
    assert refusal(text, *moved).code == "no_match"
    elsewhere = [Chunk((f"line {number}",), ("new",), number + 1) for number in range(500)]
    assert place(text, elsewhere).text.count("new\n") == 500


def test_hunks_at_their_lines_cost_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SEARCHED", 0)
    text = "".join(f"line {number}\n" for number in range(1000))
    chunks = [Chunk((f"line {number}",), ("new",), number) for number in range(0, 1000, 2)]
    assert place(text, chunks).text.count("new\n") == 500


# --- looser rules -----------------------------------------------------------------------------------------------------

ALL: tuple[Rule, ...] = ("exact", "offset", "line_ends", "trailing_blanks", "tabs")
GO = "func f() {\n\tif ok {\n\t\treturn 1\n\t}\n}\n"


def test_by_tabs_kept_lines_keep_their_bytes_and_new_ones_are_indented_as_the_file_is() -> None:
    chunk = Chunk(
        ("    if ok {", "        return 1", "    }"),
        ("    if ok {", "        if no {", "            return 2", "        }", "        return 1", "    }", "", "x"),
        1,
    )
    placed = place(GO, [chunk], ALL)
    assert placed.text == "func f() {\n\tif ok {\n\t\tif no {\n\t\t\treturn 2\n\t\t}\n\t\treturn 1\n\t}\n\nx\n}\n"
    assert placed.placements == (Placement(0, 1, "tabs", 0),)
    swapped = replace(GO, "    if ok {\n        return 1\n", "    if ok {\n        return 2\n", rules=ALL)
    assert (swapped.text, swapped.placements[0].rule) == (GO.replace("1", "2"), "tabs")


def test_by_tabs_nothing_is_indented_by_guessing() -> None:
    odd = Chunk(("    if ok {",), ("    if ok {", "      odd"), 1)
    fault = refusal(GO, odd, rules=ALL)
    assert (fault.code, fault.data) == ("indentation_unclear", {"chunk": 0, "line": "      odd"})
    assert refusal(GO, Chunk(("    if ok {",), ("\tif ok {",), 1), rules=ALL).code == "indentation_unclear"


def test_no_rule_but_those_allowed_converts_anything() -> None:
    """PL-06 is binding: by the usual rules a file in tabs refuses a patch in blanks, and says where it would stand."""
    fault = refusal(GO, Chunk(("    if ok {",), ("    if no {",), 1))
    assert (fault.code, fault.data["rule_off"], fault.data["place"]) == ("no_match", "tabs", 2)
    assert "tabs" in fault.remedy
    with pytest.raises(AgentFault) as caught:
        replace(GO, "    if ok {\n", "    if no {\n")
    assert (caught.value.data["rule_off"], caught.value.data["place"]) == ("tabs", 2)


@pytest.mark.parametrize(
    ("text", "chunk", "rules", "off"),
    [
        ("x\na\n", Chunk(("a",), ("b",), 0), ("exact",), "offset"),
        ("a\r\n", Chunk(("a",), ("b",), 0), ("exact", "offset"), "line_ends"),
        ("x\na\r\n", Chunk(("a",), ("b",), 0), ("exact",), "offset, line_ends"),
        ("a \n", Chunk(("a",), ("b",), 0), ("exact", "offset", "line_ends"), "trailing_blanks"),
        ("a \r\n", Chunk(("a",), ("b",), 0), ("exact", "tabs"), "line_ends, trailing_blanks"),
        ("\ta\n", Chunk(("    a",), ("b",), 0), ("exact", "trailing_blanks"), "tabs"),
        ("a \na \n", Chunk(("a",), ("b",)), ("exact",), None),
        ("b\n", Chunk(("a",), ("b",), 0), ("exact",), None),
    ],
)
def test_a_refusal_says_which_rule_was_off(text: str, chunk: Chunk, rules: Sequence[Rule], off: str | None) -> None:
    assert refusal(text, chunk, rules=rules).data.get("rule_off") == off
    if off is not None:
        assert place(text, [chunk], [*rules, *off.split(", ")]).placements[0].word != "exact"  # type: ignore[list-item]


mixed = st.lists(
    st.sampled_from(["a\n", "b\n", "}\n", "a\r\n", "b \n", "\ta\n", "\t\tb\n", "c"]), min_size=1, max_size=14
).map("".join)
sides = st.lists(st.sampled_from(["a", "b", "}", "a\r", "b ", "    a", "        b", "            n"]), max_size=3).map(
    tuple
)
some = st.builds(
    Chunk, sides, sides, st.sampled_from([None, 0, 1, 2, 5, 9]), st.sampled_from([(), ("}",)]), at_end=st.booleans()
)
some_swaps = st.builds(
    Swap, st.text("ab }\n\r", max_size=3), st.text("ab\n", max_size=2), st.sampled_from([1, 2, None])
)
sets = st.lists(st.sampled_from(ALL[1:]), unique=True).map(lambda rules: ("exact", *rules))


def came_of(act: Any) -> tuple[str, str, Any]:
    """What came of it: the text and how each place was found, or the refusal."""
    try:
        placed = act()
    except AgentFault as fault:
        return fault.code, "", None
    return "placed", placed.text, (sorted(placed.changed), sorted(one.word for one in placed.placements))


@pytest.mark.deep
@thorough
@given(mixed, st.lists(some, max_size=4), sets, st.randoms(use_true_random=False))
def test_the_order_of_the_chunks_never_decides(text: str, chunks: list[Chunk], rules: Any, random: Any) -> None:
    """Neither what is made of it, nor which refusal is given of several."""
    shuffled = random.sample(chunks, len(chunks))
    assert came_of(lambda: place(text, chunks, rules)) == came_of(lambda: place(text, shuffled, rules))


@pytest.mark.deep
@thorough
@given(
    mixed,
    st.lists(
        st.builds(Swap, st.text("ab }\n\r", max_size=3), st.text("ab\n", max_size=2), st.sampled_from([1, 2, None]))
    ),
    sets,
    st.randoms(use_true_random=False),
)
def test_the_order_of_edits_never_decides(text: str, swaps: list[Swap], rules: Any, random: Any) -> None:
    shuffled = random.sample(swaps, len(swaps))
    assert came_of(lambda: swap(text, swaps, rules)) == came_of(lambda: swap(text, shuffled, rules))


@given(mixed, some, sets)
def test_a_rule_that_is_not_allowed_is_never_used(text: str, chunk: Chunk, rules: Any) -> None:
    """And what is placed by fewer rules is what more rules would make of it, or a place where they stand exactly."""
    try:
        placed = place(text, [chunk], rules)
    except AgentFault:
        return
    (one,) = placed.placements
    assert {one.rule, *one.also, *(("offset",) if one.offset else ())} <= set(rules)
    assert one.rule not in ("trailing_blanks", "tabs") or one.word != "exact"


def test_very_many_edits_of_a_large_text_are_refused_at_once() -> None:
    with pytest.raises(AgentFault) as caught:
        swap("x" * 1_000_000, [Swap("a", "b")] * 3000)
    assert caught.value.code == "search_too_long"


def test_refused_edits_do_not_each_make_the_text_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    view = lines.View.__init__

    def counted(self: lines.View, text: str, alike: lines.Alike) -> None:
        made.append(alike)
        view(self, text, alike)

    monkeypatch.setattr(lines.View, "__init__", counted)
    with pytest.raises(AgentFault):
        swap("x\n", [Swap(f"no {n}", "b") for n in range(50)], ALL)
    assert len(made) < 15


def test_two_line_ends_never_become_one() -> None:
    """A line that ends in \\r, and behind it an empty one that ends in \\n, would be one line."""
    assert apart("a\r", ["\n", "\n"], "") == ["\r", "\r"]
    assert apart("", ["a\r"], "\nb") == ["a\n"]
    assert apart("a\n", ["\n", "b\r\n"], "\n") == ["\n", "b\r\n"]
    text = "a\rb\r\nc\n"
    assert place(text, [Chunk(("a", "b"), ("a", "", "b"))]).text == "a\r\r\nb\r\nc\n"
    assert place("a\rb\nc\n", [Chunk(("a", "b"), ("a", "", "b"))]).text == "a\r\rb\nc\n"
    fault = refusal("a\rx\n\nb\n", Chunk(("a", "x"), ("a",)))
    assert (fault.code, fault.data) == ("line_ends_join", {"chunk": 0})


crossed = st.lists(st.sampled_from(["a", "b", "", "\n", "\r\n", "\r"]), max_size=12).map("".join)
plain = st.lists(st.sampled_from(["a", "b", "", "c"]), max_size=3).map(tuple)


@pytest.mark.deep
@thorough
@given(crossed, st.builds(Chunk, plain, plain, st.sampled_from([None, 0, 1, 2])))
@example("\r\na", Chunk((), ("",), 2))
def test_by_line_ends_as_many_lines_come_out_as_the_chunk_says(text: str, chunk: Chunk) -> None:
    try:
        placed = place(text, [chunk])
    except AgentFault:
        return
    if placed.placements[0].rule == "line_ends":
        before, after = len(split_lines(text)), len(split_lines(placed.text))
        assert after - before == len(chunk.new) - len(chunk.old)
