"""`core.text` against LSP's own words, the position cases, and a naive model that walks character by character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depth import depth
from fakes import sha
from remit.core import leaves
from remit.core.codec import UTF8, digest_of
from remit.core.faults import WorldFault
from remit.core.text import Edit, Position, PositionEncoding, Range, Text, split_lines

CASES = Path(__file__).parents[1] / "cases"
ENCODINGS: tuple[PositionEncoding, ...] = get_args(PositionEncoding)


def at(line: int, character: int) -> Position:
    return Position(line, character)


def put(text: str, start: tuple[int, int], end: tuple[int, int]) -> Edit:
    return Edit(text, Range(Position(*start), Position(*end)))


def edited(text: str, edit: Edit, encoding: PositionEncoding = "utf-16") -> str:
    buffer = Text(text)
    buffer.edit(edit, encoding)
    return str(buffer)


# The cases


def scenario(case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / case / "scenario.json").read_text("utf-8"))
    return found


def from_change(change: dict[str, Any]) -> Edit:
    if "range" not in change:
        return Edit(change["text"])
    start, end = change["range"]
    return put(change["text"], tuple(start), tuple(end))


@pytest.mark.parametrize("case", ["PO-01", "PO-02", "PO-04", "LS-02", "LS-04"])
def test_case_gives_the_text_after_each_change(case: str) -> None:
    story = scenario(case)
    buffer = Text(story["open"])
    seen = [str(buffer)]
    for change in story["changes"]:
        buffer.edit(from_change(change), story["positionEncoding"])
        seen.append(str(buffer))
    assert seen == story["text_after_each_step"]


@pytest.mark.parametrize("case", ["PO-01", "PO-02", "PO-03", "PO-04", "LS-02", "LS-04"])
def test_case_opens_what_lies_in_its_folder(case: str) -> None:
    (file,) = (CASES / case / "before").iterdir()
    assert file.read_bytes().decode("utf-8") == scenario(case)["open"]


def test_po_01_server_edit_counts_astral_characters_twice() -> None:
    buffer = Text("🌲🌵k")
    assert [buffer.position(0, column, "utf-16") for column in (2, 3)] == [at(0, 4), at(0, 5)]


def test_po_02_each_encoding_has_its_own_columns() -> None:
    buffer = Text("ñom\n")
    columns = {e: (buffer.position(0, 1, e).character, buffer.position(0, 2, e).character) for e in ENCODINGS}
    assert columns == {"utf-8": (2, 3), "utf-16": (1, 2), "utf-32": (1, 2)}


def test_po_03_whole_document_range() -> None:
    story = scenario("PO-03")
    buffer = Text(story["open"])
    start, end = story["server_edit"]["range_must_be"]
    assert buffer.end("utf-16") == Position(*end)
    assert (buffer.end("utf-32"), buffer.end("utf-8")) == (at(0, 11), at(0, 17))
    buffer.edit(put(story["server_edit"]["newText"], tuple(start), tuple(end)), "utf-16")
    assert str(buffer) == 'print("🏔")'


def test_po_04_end_of_document() -> None:
    buffer = Text(scenario("PO-04")["open"])
    assert (buffer.end("utf-16"), buffer.line_count) == (at(2, 0), 3)


# Lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\nb", ["a\n", "b"]),
        ("\r\n\n\r\r\n", ["\r\n", "\n", "\r", "\r\n"]),
        ("a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b\n", ["a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b\n"]),
        ("\ud83d\n\x00\x1a", ["\ud83d\n", "\x00\x1a"]),
    ],
)
def test_lines_end_at_three_line_ends_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_lines_count_as_lsp_counts() -> None:
    assert [Text(text).line_count for text in ("", "a", "a\n", "a\r\n\r")] == [1, 1, 2, 3]


def test_line_keeps_its_end_and_an_empty_last_line_is_empty() -> None:
    buffer = Text("a\r\nb\r")
    assert [buffer.line(index) for index in range(3)] == ["a\r\n", "b\r", ""]
    for outside in (3, -1):
        with pytest.raises(IndexError):
            buffer.line(outside)


# Edits


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        pytest.param("a\rb", put("", (1, 0), (1, 1)), ["a\r", ""], id="nothing left after a carriage return"),
        pytest.param("a\rb\n", put("", (1, 0), (1, 1)), ["a\r\n", ""], id="deletion joins CR and LF"),
        pytest.param("a\rb", put("\nx", (1, 0), (1, 0)), ["a\r\n", "xb"], id="insertion joins CR and LF"),
        pytest.param("\ra\r\n", put("", (1, 0), (2, 0)), ["\r", ""], id="whole line goes"),
        pytest.param("a\nb", put("\r", (0, 1), (0, 1)), ["a\r\n", "b"], id="CR before LF"),
        pytest.param("a\r\nb", put("\r", (0, 1), (0, 1)), ["a\r", "\r\n", "b"], id="CR before CRLF"),
        pytest.param("a\r\nb", put("\n", (0, 1), (0, 1)), ["a\n", "\r\n", "b"], id="LF before CRLF"),
        pytest.param(
            "a\rb\rc\n", put("", (1, 0), (2, 1)), ["a\r\n", ""], id="several lines joined with the one before"
        ),
        pytest.param("a\nb\nc", put("x\ny\nz", (0, 1), (2, 0)), ["ax\n", "y\n", "zc"], id="several lines by several"),
        pytest.param("ab", put("\n", (0, 2), (0, 2)), ["ab\n", ""], id="line end at the end"),
    ],
)
def test_edit_splits_lines_rightly_at_its_borders(before: str, edit: Edit, after: list[str]) -> None:
    buffer = Text(before)
    buffer.edit(edit, "utf-16")
    assert [buffer.line(index) for index in range(buffer.line_count)] == after
    assert str(buffer) == "".join(after)


def test_whole_text_edit_replaces_everything() -> None:
    assert edited("a\nb\n", Edit("c")) == "c"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_column_past_the_line_means_before_its_end(end: str) -> None:
    assert edited(f"ab{end}c", put("X", (0, 99), (0, 99))) == f"abX{end}c"
    assert edited(f"éb{end}c", put("X", (0, 99), (0, 99)), "utf-8") == f"ébX{end}c"


def test_line_past_the_text_means_its_end() -> None:
    assert edited("ab\ncd", put("X", (7, 0), (9, 9))) == "ab\ncdX"


@pytest.mark.parametrize(
    ("encoding", "inside"),
    [("utf-16", [2]), ("utf-8", [2, 3, 4])],
)
def test_position_inside_a_character_means_its_start(encoding: PositionEncoding, inside: list[int]) -> None:
    buffer = Text("a🌲b")
    assert [buffer.offset(at(0, character), encoding) for character in inside] == [1] * len(inside)
    assert edited("a🌲b", put("|", (0, inside[0]), (0, inside[-1])), encoding) == "a|🌲b"


@pytest.mark.parametrize(
    "bad",
    [
        Range(at(1, 0), at(0, 1)),
        Range(at(0, 2), at(0, 1)),
        Range(at(-1, 0), at(0, 0)),
        Range(at(0, -1), at(0, 0)),
    ],
)
def test_impossible_range_is_refused_and_changes_nothing(bad: Range) -> None:
    buffer = Text("ab\ncd")
    with pytest.raises(WorldFault) as refusal:
        buffer.edit(Edit("X", bad), "utf-16")
    assert refusal.value.code == "bad_range"
    assert refusal.value.remedy
    assert refusal.value.data["start"] == [bad.start.line, bad.start.character]
    assert str(buffer) == "ab\ncd"


def test_edit_leaves_the_other_lines_alone() -> None:
    buffer = Text("".join(f"line number {number}\n" for number in range(100)))
    kept = {index: buffer.line(index) for index in range(buffer.line_count) if index not in (50, 51)}
    buffer.edit(put("x\ny\nz", (50, 2), (51, 3)), "utf-16")
    # The very same objects: nothing but the touched lines was built anew.
    assert all(buffer.line(index if index < 50 else index + 1) is line for index, line in kept.items())


def test_text_is_joined_once_for_each_change() -> None:
    buffer = Text("a\nb")
    buffer.edit(put("X", (0, 0), (0, 0)), "utf-16")
    assert str(buffer) is str(buffer)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_line_columns(encoding: PositionEncoding) -> None:
    line = "aé🌲" * 1000
    buffer = Text(line + "\r\n")
    for column in (0, 1, 2, 3, 1499, 1500, 2999, 3000):
        assert buffer.offset(buffer.position(0, column, encoding), encoding) == column


# The naive model: one string, every question answered by walking all of it.


def model_lines(text: str) -> list[str]:
    lines, line = [], ""
    for index, character in enumerate(text):
        line += character
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            lines.append(line)
            line = ""
    return [*lines, line]


def model_width(character: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if ord(character) > 0xFFFF else 1
    return 1 + sum(ord(character) > most for most in (0x7F, 0x7FF, 0xFFFF))


def model_offset(text: str, position: Position, encoding: PositionEncoding) -> int:
    lines = model_lines(text)
    if position.line >= len(lines):
        return len(text)
    offset, units = sum(len(line) for line in lines[: position.line]), 0
    for character in lines[position.line]:
        units += model_width(character, encoding)
        if character in "\r\n" or units > position.character:
            break
        offset += 1
    return offset


ALPHABET = ["a", "b", "\n", "\r", "\r\n", "é", "€", "🌲", "\u2028", "\x0c", "\x85"]
texts = st.lists(st.sampled_from(ALPHABET), max_size=12).map("".join)
positions = st.builds(Position, st.integers(0, 6), st.integers(0, 10))
ranges = st.tuples(positions, positions).map(lambda pair: Range(min(pair), max(pair)))
edits = st.builds(Edit, texts, st.one_of(ranges, ranges, ranges, st.none()))


@pytest.mark.deep
@settings(max_examples=depth(300, 20_000))
@given(texts, st.lists(edits, max_size=8), st.sampled_from(ENCODINGS), st.sampled_from([1, 2, 512]))
def test_buffer_equals_the_model_after_every_edit(
    text: str, changes: list[Edit], encoding: PositionEncoding, leaf: int
) -> None:
    """With leaves so short that line ends and edits meet their borders, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF", leaf)
        patch.setattr(leaves, "FULL", 2 * leaf)
        walk(text, changes, encoding)


def walk(text: str, changes: list[Edit], encoding: PositionEncoding) -> None:
    buffer, model = Text(text), text
    for change in changes:
        before, frozen = model, buffer.freeze()
        buffer.edit(change, encoding)
        if change.range is None:
            model = change.text
        else:
            start, end = (model_offset(model, place, encoding) for place in (change.range.start, change.range.end))
            model = model[:start] + change.text + model[end:]
        assert str(buffer) == model
        assert [buffer.line(index) for index in range(buffer.line_count)] == model_lines(model)
        assert str(frozen.bare()) == before and (frozen == buffer.freeze()) == (before == model)
        assert digest_of(buffer.freeze(), UTF8) == sha(model)


@settings(max_examples=200)
@given(texts, positions, st.sampled_from(ENCODINGS))
def test_offset_equals_the_model(text: str, position: Position, encoding: PositionEncoding) -> None:
    assert Text(text).offset(position, encoding) == model_offset(text, position, encoding)


@settings(max_examples=200)
@given(texts, st.integers(0, 6), st.integers(0, 10), st.sampled_from(ENCODINGS))
def test_position_is_the_way_back_from_a_column(text: str, line: int, column: int, encoding: PositionEncoding) -> None:
    buffer = Text(text)
    place = buffer.position(line, column, encoding)
    assert buffer.offset(place, encoding) == model_offset(text, Position(line, column), "utf-32")
    assert place <= buffer.end(encoding)


@settings(max_examples=200)
@given(texts)
def test_split_lines_joined_are_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert lines == [line for line in model_lines(text) if line]
