"""`core.syntax`: values and places from JSON and TOML trees. What they mean for a contract is `test_source`'s."""

from __future__ import annotations

import pytest

from remit.core.syntax import Tree, read_json, read_toml


def places(tree: Tree, text: str) -> dict[tuple[str | int, ...], str]:
    return {pointer: text[span.start : span.end] for pointer, span in tree.values.items()}


def test_json_values_have_their_places() -> None:
    text = '{"é": [1, {"b": "x"}]}'
    tree = read_json(text)
    assert tree.value == {"é": [1, {"b": "x"}]} and not tree.problems
    assert places(tree, text) == {
        (): text,
        ("é",): '[1, {"b": "x"}]',
        ("é", 0): "1",
        ("é", 1): '{"b": "x"}',
        ("é", 1, "b"): '"x"',
    }


def test_a_broken_json_text_still_has_the_places_that_can_be_seen() -> None:
    text = '{"a": 1, "b": }'
    tree = read_json(text)
    assert len(tree.problems) == 1 and tree.value is None
    assert places(tree, text)[("a",)] == "1"


@pytest.mark.parametrize(
    ("text", "pointer", "place"),
    [
        ("a = 1 # one", ("a",), "1"),
        ("a.b.c = 'x'", ("a", "b", "c"), "'x'"),
        ('"a.b"."c d" = 2', ("a.b", "c d"), "2"),
        ("[a . 'b']\nc = 3", ("a", "b", "c"), "3"),
        ("a = [[1, 2], {b = [3]}]", ("a", 1, "b", 0), "3"),
        ("a = [[1, 2], {b = [3]}]", ("a", 0, 1), "2"),
        ("[[a]]\nb = 1\n[[a]]\nb = 2", ("a", 1, "b"), "2"),
        ("[[a]]\n[[a]]\n[a.c]\nb = 3", ("a", 1, "c", "b"), "3"),
        ("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 4", ("a", 1, "b", 0, "c"), "4"),
        ("a = '日本'\nb = 5", ("b",), "5"),
    ],
)
def test_toml_values_have_their_places(text: str, pointer: tuple[str | int, ...], place: str) -> None:
    tree = read_toml(text)
    assert not tree.problems
    value = tree.value
    for part in pointer:
        value = value[part]
    assert places(tree, text)[pointer] == place
    assert str(value) == place.strip("'")


def test_a_broken_toml_text_says_where() -> None:
    tree = read_toml("a = 1\nb = ?\n")
    assert [(problem.span.start, problem.span.end) for problem in tree.problems] == [(10, 11)]
