"""`core.place`: the text that chunks make; and all parsing and placement cases from patch text to bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import lines
from remit.core.diff import unified
from remit.core.faults import AgentFault
from remit.core.patch import Chunk, FilePatch, parse
from remit.core.place import MOST, Placement, Rule, Swap, place, replace, swap
from remit.core.text import split_lines

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = [f"{kind}-{number:02}" for kind, last in (("DP", 15), ("PL", 12)) for number in range(1, last + 1)]
Tree = dict[str, bytes]

# Our word where the case suggests another one for the same refusal.
WORDS = {"binary_patch_unsupported": "binary_patch"}

# The further inputs of a case: the refusal, or the files that change and their new bytes.
VARIANTS: dict[str, str | Tree] = {
    "DP-09/patch_two_hunks_overcount.diff": {"test.txt": b"red\ngreen2\nblue\ncyan2\ngrey\n"},
    "DP-09/patch_undercount.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-09/patch_undercount_hides_change.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-12/wrap_fence.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_heredoc.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_indented.txt": "bad_patch_envelope",
    "DP-12/wrap_json.txt": "bad_patch_envelope",
    "DP-13/patch_git_binary.diff": "binary_patch",
    "DP-14/patch_noprefix.diff": {"w/two.txt": b"2\n"},
    "PL-03/patch_missing_anchor.apply_patch": "context_not_found",
    "PL-04/patch_single_delete.diff": {"n.txt": b"one\ntwo\nthree\nfour\nfive\nseven\n"},
    "PL-09/patch.diff": "target_exists",
}


def tree(folder: Path) -> Tree:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def text_of(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def carried_out(files: Sequence[FilePatch], before: Tree) -> tuple[Tree, dict[str, str]]:
    """The whole patch or nothing, in memory: what a planner does with what was read. Also the modes asked for."""
    after, modes = dict(before), dict[str, str]()
    for file in files:
        source = file.source or file.path
        if file.op != "create" and source not in before:
            raise AgentFault("target_missing", "There is no such file.", path=source)
        if file.op in ("create", "rename") and file.path in before:
            raise AgentFault("target_exists", "The file exists.", path=file.path)
        text = file.content if file.content is not None else place(text_of(before[source]), file.chunks).text
        after.pop(source, None)
        if file.op != "delete":
            after[file.path] = bytes_of(text)
        elif file.chunks:
            assert text == ""
        if file.mode:
            modes[file.path] = file.mode
    return after, modes


def outcome(proposal: Path, before: Tree) -> str | tuple[Tree, dict[str, str]]:
    raw = text_of(proposal.read_bytes())
    try:
        if proposal.suffix != ".json":
            return carried_out(parse(raw).files, before)
        edit: dict[str, str] = json.loads(raw)
        text = replace(text_of(before[edit["path"]]), edit["search"], edit["replace"]).text
    except AgentFault as fault:
        return fault.code
    return before | {edit["path"]: bytes_of(text)}, {}


def case(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((CASES / name / "case.json").read_bytes())
    return read


@pytest.mark.parametrize("name", [*FOLDERS, "JR-01"])
def test_case(name: str) -> None:
    told, before = case(name), tree(CASES / name / "before")
    assert {path: hashlib.sha256(raw).hexdigest() for path, raw in before.items()} == told["before_sha256"]
    found = outcome(CASES / name / told["input"], before)
    if told["expect"] == "reject":
        assert found == WORDS.get(told["error_kind"], told["error_kind"])
    else:
        modes = {path: f"100{mode[-3:]}" for path, mode in told.get("expected_mode", {}).items()}
        assert isinstance(found, tuple)
        assert found[0] == tree(CASES / name / "expected")
        assert modes.items() <= found[1].items()


@pytest.mark.parametrize("name", VARIANTS)
def test_variant(name: str) -> None:
    before, wanted = tree(CASES / name.partition("/")[0] / "before"), VARIANTS[name]
    found = outcome(CASES / name, before)
    assert found == (wanted if isinstance(wanted, str) else (before | wanted, {}))


def test_no_input_of_a_case_is_left_out() -> None:
    inputs = {f"{name}/{path.name}" for name in FOLDERS for path in (CASES / name).iterdir() if path.is_file()} - {
        f"{name}/case.json" for name in FOLDERS
    }
    assert inputs == {f"{name}/{case(name)['input']}" for name in FOLDERS} | VARIANTS.keys()


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
    start = process_time()
    with pytest.raises(AgentFault) as many:
        swap(text, [Swap("a", "b", None)])
    assert (many.value.code, many.value.data["limit"]) == ("too_many_changes", MOST)
    assert swap(text[: 3 * MOST], [Swap("a", "b", None)]).text == "b\r\n" * MOST
    assert process_time() - start < 5


def test_swaps_that_touch_the_same_place_are_refused() -> None:
    with pytest.raises(AgentFault) as both:
        swap("abc", [Swap("ab", "x"), Swap("bc", "y")])
    assert both.value.code == "overlapping_chunks"


@pytest.mark.parametrize("anchors", [(), ("x",)])
def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, anchors: tuple[str, ...]) -> None:
    monkeypatch.setattr(lines, "SEARCHED", 30_000)
    text = "x\n" * 10 + "".join(f"line {number}\n" for number in range(1000))
    few = [Chunk((f"line {number}",), ("new",)) for number in range(2)]
    assert len(place(text, few).placements) == 2
    many = [Chunk((f"line {number}",), ("new",), anchors=anchors) for number in range(100)]
    with pytest.raises(AgentFault) as caught:
        place(text, many)
    assert caught.value.code == "search_too_long"


def test_hunks_at_their_lines_cost_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SEARCHED", 0)
    text = "".join(f"line {number}\n" for number in range(1000))
    chunks = [Chunk((f"line {number}",), ("new",), number) for number in range(0, 1000, 2)]
    assert place(text, chunks).text.count("new\n") == 500
