"""`core.place`, and all parsing and placement cases from patch text to bytes: parse, place, compare."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.diff import unified
from remit.core.faults import AgentFault
from remit.core.patch import Chunk, FilePatch, parse
from remit.core.place import Placement, Rule, place, replace
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


def test_the_declared_line_is_taken_without_a_search() -> None:
    """Six equal blocks: ambiguity is no matter where the patch says which one."""
    placed = place("x\ny\n" * 6, [Chunk(("x", "y"), ("x", "Y"), 4)])
    assert (placed.text, placed.placements) == ("x\ny\n" * 2 + "x\nY\n" + "x\ny\n" * 3, (Placement(0, 4, "exact", 0),))


def test_a_unique_block_elsewhere_is_an_offset_and_two_are_ambiguous() -> None:
    assert place("a\nb\nc\n", [Chunk(("c",), ("C",), 0)]).placements == (Placement(0, 2, "offset", 2),)
    fault = refusal("a\nb\na\n", Chunk(("a",), ("A",), 1))
    assert (fault.code, fault.data["candidates"]) == ("ambiguous_match", [1, 3])
    fault = refusal("a\nb\nc\n", Chunk(("c",), ("C",), 0), rules=("exact",))
    assert (fault.code, fault.data["nearest"]) == (
        "no_match",
        {"line": 3, "differs": "place", "file": "c", "request": "c"},
    )


def test_overlapping_matches_are_counted() -> None:
    assert refusal("a\na\na\n", Chunk(("a", "a"), ("b",))).data["candidates"] == [1, 2]
    with pytest.raises(AgentFault, match="2 places"):
        replace("aaa", "aa", "b")


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


def test_a_looser_place_where_the_patch_says_wins_over_an_exact_one_elsewhere() -> None:
    assert place("x\r\ny\nx\n", [Chunk(("x",), ("X",), 0)]).text == "X\r\ny\nx\n"


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


def test_the_mark_for_no_final_newline_fits_the_end_only() -> None:
    assert refusal("a\nb\na\n", Chunk(("b",), ("B",), 1, (), False, False)).code == "no_match"
    assert place("a\nb\na", [Chunk(("a",), ("A",), 0, (), False, False)]).placements[0].line == 2


def test_the_end_of_the_file() -> None:
    assert place("a\nb\na\n", [Chunk(("a",), ("A",), at_end=True)]).text == "a\nb\nA\n"
    assert refusal("a\nb\n", Chunk(("a",), ("A",), at_end=True)).code == "no_match"


PYTHON = "class A:\n    def f(self):\n        x = 1\n\nclass B:\n    def f(self):\n        x = 1\n"


def test_anchors_narrow_the_search() -> None:
    chunk = Chunk(("        x = 1",), ("        x = 2",), anchors=("class B:", "def f(self):"))
    assert place(PYTHON, [chunk]).placements == (Placement(0, 6, "exact", 0),)
    assert refusal(PYTHON, Chunk(chunk.old, chunk.new, anchors=("def f(self):",))).data["candidates"] == [3, 7]
    assert refusal(PYTHON, Chunk(chunk.old, chunk.new, anchors=("class C:",))).code == "context_not_found"
    assert refusal(PYTHON, Chunk(("class A:",), (), anchors=("class B:",))).code == "no_match"


def test_additions_alone_need_one_place() -> None:
    fault = refusal(PYTHON, Chunk((), ("        y = 1",), anchors=("def f(self):",)))
    assert (fault.code, fault.data["candidates"]) == ("insertion_point_unclear", [2, 6])
    assert refusal(PYTHON, Chunk((), ("y = 1",))).code == "insertion_point_unclear"
    assert refusal(PYTHON, Chunk((), ("y = 1",), 99)).code == "insertion_point_unclear"


def test_overlapping_chunks_are_refused_and_shared_context_is_not() -> None:
    text = "a\nb\nc\nd\n"
    both = [Chunk(("a", "b", "c"), ("A", "b", "c"), 0), Chunk(("b", "c", "d"), ("b", "c", "D"), 1)]
    assert place(text, both).text == "A\nb\nc\nD\n"
    fault = refusal(text, Chunk(("a", "b"), ("x",), 0), Chunk(("b", "c"), ("y",), 1))
    assert (fault.code, fault.data["chunks"]) == ("overlapping_chunks", [0, 1])
    assert refusal(text, Chunk((), ("x",), 1), Chunk((), ("y",), 1)).code == "overlapping_chunks"


def test_a_lone_carriage_return_ends_a_line_of_ours_but_not_of_a_patch() -> None:
    assert place("a\rb\nc\n", [Chunk(("c",), ("C",), 1)]).placements == (Placement(0, 2, "exact", 0),)
    assert refusal("c\na\rb\nc\n", Chunk(("c",), ("C",))).data["candidates"] == [1, 4]


def test_hints_name_what_is_different() -> None:
    edit = json.loads((CASES / "PL-06/edit.json").read_bytes())
    with pytest.raises(AgentFault) as caught:
        replace((CASES / "PL-06/before/main.go").read_text(), edit["search"], edit["replace"])
    assert caught.value.data["nearest"] == {
        "line": 2,
        "differs": "blanks",
        "file": "\tif ok {",
        "request": "    if ok {",
        "file_blanks": "1 tab (0x09)",
        "request_blanks": "4 spaces (0x20)",
    }
    with pytest.raises(AgentFault) as caught:
        replace("timeout: 30,  # \udcff\n", "time-out: 30,", "x")
    assert caught.value.data["nearest"] == {
        "line": 1,
        "differs": "text",
        "file": "timeout: 30,  # \\udcff",
        "request": "time-out: 30,",
    }
    assert refusal("a\n", Chunk(("zzz",), ())).data["nearest"] is None


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
