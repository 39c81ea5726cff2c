"""`core.reader`: looking ahead, taking lines as they stand, and the refusal that all forms share."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from remit.core.faults import AgentFault
from remit.core.reader import Reader, malformed, shown


def test_a_look_takes_nothing_and_hides_the_carriage_return() -> None:
    reader = Reader(["a\r", "b"], 0, 2)
    assert [reader.peek(), reader.peek(1), reader.peek(2), reader.peek()] == ["a", "b", "", "a"]
    assert (reader.take(), reader.take(), reader.at) == ("a\r", "b", 2)


def test_nothing_is_seen_beyond_the_end_that_was_given() -> None:
    reader = Reader(["a", "b", "```"], 1, 2)
    assert (reader.peek(), reader.peek(1)) == ("b", "")


def test_notes_are_each_readers_own() -> None:
    one, two = Reader([], 0, 0), Reader([], 0, 0)
    one.notes.append("counted anew")
    assert two.notes == []


@given(st.lists(st.text(st.sampled_from("a\r +-"))))
def test_every_line_is_taken_once_and_in_order(lines: list[str]) -> None:
    reader = Reader(lines, 0, len(lines))
    taken = []
    while reader.at < reader.end:
        seen = reader.peek()
        taken.append(reader.take())
        assert taken[-1] in (seen, f"{seen}\r")
    assert taken == lines


def test_malformed_names_the_line_if_there_is_one() -> None:
    fault = malformed("Line 3 is odd.", 3)
    assert isinstance(fault, AgentFault)
    assert (fault.code, fault.message, fault.data) == ("malformed_patch", "Line 3 is odd.", {"line": 3})
    assert fault.remedy
    fault = malformed("It is odd.", None, "Send another one.")
    assert (fault.data, fault.remedy) == ({}, "Send another one.")


@given(st.text(st.characters()))
def test_what_is_shown_can_be_written_as_json(text: str) -> None:
    assert json.loads(json.dumps(shown(text), ensure_ascii=False).encode()) == shown(text)


def test_a_byte_that_is_no_text_is_shown_escaped() -> None:
    assert shown("ü\udcff") == "ü\\udcff"
