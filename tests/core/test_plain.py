"""`core.plain`: what others wrote is shown so that a human sees all of it, or sees that something was left out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import plain
from remit.core.plain import line, listed, prose, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünï and 漢字", "plain, ünï and 漢字"),
        ("👍🏽 ❤\ufe0f", "👍🏽 ❤\ufe0f"),
        ("a\tb\nc", "a\tb\nc"),
        ("evil\u202egnp.exe", "evil⟨U+202E⟩gnp.exe"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("ad\u200bmin", "ad⟨U+200B⟩min"),
        ("\x1b[2Jgone", "⟨U+001B⟩[2Jgone"),
        ("over\rwritten", "over⟨U+000D⟩written"),
        ("a\x00b\x85c\u2028d", "a⟨U+0000⟩b⟨U+0085⟩c⟨U+2028⟩d"),
        ("fill\u3164er", "fill⟨U+3164⟩er"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("\udcff", "⟨U+DCFF⟩"),
    ],
)
def test_what_nobody_sees_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(max_size=60))
def test_nothing_hidden_is_left_and_nothing_seen_is_changed(text: str) -> None:
    shown = visible(text)
    assert {unicodedata.category(char) for char in shown if char not in "\n\t"}.isdisjoint({"Cc", "Cf", "Cs", "Zl"})
    assert visible(shown) == shown
    shown.encode()


def test_prose_has_no_gap_that_pushes_the_rest_out_of_sight() -> None:
    assert prose("\n\nAll fine." + "\n" * 500 + "But.\r\nNo.\r") == "All fine.\n\nBut.\nNo."


@given(st.text(max_size=300), st.integers(10, 120))
def test_a_line_is_short_and_keeps_both_ends(text: str, limit: int) -> None:
    short, whole = line(text, limit), visible(" ".join(text.split()))
    assert len(short) == min(limit, len(whole)) and "\n" not in short
    assert whole.startswith(short.partition("…")[0] if len(whole) > limit and "…" not in whole else short[:1])
    assert whole[-1:] == short[-1:]


def test_a_list_says_how_much_more_there_is() -> None:
    words = tuple(f"w{number}" for number in range(100))
    assert listed(words[:3], 3) == "w0, w1, w2"
    assert listed(words, 2) == "w0, w1 and 98 more"
    assert len(listed(("x" * 9999,), 1)) == 100
    assert listed((), 3) == ""


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("\ud83d", ""),
        ("\U0001f378", None),
        ({"a": [1, None, "x", {"b": "y\udc00"}]}, "a.3.b"),
        ({"a": "\ud800", "b": "\ud800"}, "a"),
        ({"a": {"k\ud83d": 1}}, "a.k\\ud83d"),
        ([["ok"], [["\udfff"]]], "1.0.0"),
        ({"a": ["ok", 1.5, True, None], "é": {}}, None),
    ],
)
def test_the_place_of_half_a_character(value: object, place: str | None) -> None:
    assert plain.half(value) == place


def test_depth_is_no_matter() -> None:
    value: object = "\ud800"
    for _ in range(5000):
        value = [value]
    assert plain.half(value) == ".".join(["0"] * 5000)
