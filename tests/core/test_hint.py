"""`core.hint`: what a refusal tells about the place that is most like what was sent."""

from __future__ import annotations

import json
from pathlib import Path

from remit.core.hint import shown, unfound

CASES = Path(__file__).parents[1] / "cases"


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


def test_what_is_shown_is_text_and_not_much_of_it() -> None:
    assert shown("\udcff" + "x" * 300) == "\\udcff" + "x" * 199
