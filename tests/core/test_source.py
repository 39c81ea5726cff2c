"""`core.source`: the exact place of every problem in a contract or a policy, whatever the text is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes import contract_text
from remit.core.source import Problem, Source, Span, contract, policy

WHOLE = '"taskId": "t", "goal": "g", "writeScope": ["a/"], "allowedTools": ["apply_patch"]'


def marked(problems: tuple[Problem, ...], text: str) -> list[tuple[str, str]]:
    """Each problem with the text it stands at."""
    return [(problem.message, text[problem.span.start : problem.span.end]) for problem in problems]


def in_json(text: str) -> list[tuple[str, str]]:
    return marked(contract(text).problems, text)


def in_toml(text: str) -> list[tuple[str, str]]:
    return marked(policy(text).problems, text)


def test_a_valid_contract_has_a_value_and_the_places_of_its_parts() -> None:
    text = contract_text(scope=("src/", "docs/é.md"))
    found = contract(text)
    assert found.value is not None and found.value.write_scope == ("src/", "docs/é.md")
    span = found.at("writeScope", 1)
    assert json.loads(text[span.start : span.end]) == "docs/é.md"
    assert found.keys[("taskId",)].start == text.index('"taskId"')


def test_a_text_that_was_only_guessed_at_is_no_contract_and_no_policy() -> None:
    plain = contract_text(goal="cafe")
    text = plain.replace("cafe", "café")
    assert contract(text, guessed=True).problems[0].message == "This is not UTF-8 text: save the file as UTF-8."
    assert contract(plain, guessed=True).value is not None
    assert contract(text).value is not None
    assert policy("# café\n", guessed=True).value is None and policy("# café\n").value is not None


def test_a_place_that_is_not_there_is_that_of_what_it_would_be_in() -> None:
    text = contract_text()
    found = contract(text)
    assert found.at("writeScope", 7) == found.at("writeScope")
    assert (found.at("verification").start, found.at("verification").end) == (0, 1)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('"color": 1', ("Unknown field “color”.", '"color"')),
        ('"verification": {"alowed": []}', ("Unknown field “alowed”.", '"alowed"')),
        ('"commitAllowed": "yes"', ("“commitAllowed”: must be a valid boolean.", '"yes"')),
        ('"network": "on"', ("“network”: must be 'disabled' or 'enabled'.", '"on"')),
        ('"verification": {"allowed": ["a", ["b"]]}', ("“allowed”: must be a valid string.", '["b"]')),
        ('"commitAllowed": true', ("commitAllowed needs git_commit in allowedTools.", "true")),
        ('"goal": "again"', ("“goal” is given twice.", '"goal"')),
        (
            '"verification": {"required": ["t", "u"], "forbidden": ["u"]}',
            ("“u” is both required and forbidden.", '"u"'),
        ),
    ],
)
def test_a_problem_stands_at_the_key_or_the_value_it_is_about(more: str, problem: tuple[str, str]) -> None:
    text = f"{{{WHOLE}, {more}}}"
    assert in_json(text) == [problem]
    assert contract(text).value is None


def test_a_second_name_is_marked_where_it_stands_the_second_time() -> None:
    text = f'{{{WHOLE}, "goal": "again"}}'
    assert contract(text).problems[0].span.start == text.rindex('"goal"')


def test_a_missing_field_is_marked_at_the_object_that_lacks_it() -> None:
    text = '\n {"taskId": "t", "goal": "g", "writeScope": []}'
    assert in_json(text) == [("“allowedTools” is missing.", "{")]
    assert contract(text).problems[0].span.start == 2


def test_a_right_that_is_none_is_named_with_those_there_are() -> None:
    text = '{"taskId": "t", "goal": "g", "writeScope": [], "allowedTools": ["read_file", "rm"]}'
    ((message, place),) = in_json(text)
    assert place == '"rm"' and "“rm”" in message and "run_check" in message


def test_a_scope_entry_that_cannot_match_is_named_itself() -> None:
    text = '{"taskId": "t", "goal": "g", "writeScope": ["a", "!../b", "/c"], "allowedTools": []}'
    assert [place for _, place in in_json(text)] == ['"!../b"', '"/c"']
    assert "“/c”" in in_json(text)[1][0]


def test_several_problems_are_told_in_the_order_of_the_text() -> None:
    text = '{"x": 1, "taskId": 5, "goal": "", "writeScope": [], "allowedTools": []}'
    assert [place for _, place in in_json(text)] == ['"x"', "5", '""']


def test_places_count_characters_not_bytes() -> None:
    text = '{"taskId": "t", "goal": "Prüfung 👍 日本", "writeScope": [], "allowedTools": [], "bad": 1}'
    assert in_json(text) == [("Unknown field “bad”.", '"bad"')]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ""),
        ("[1,]", ","),
        ('{"a" 1}', "1"),
        ('{"é": "x', '"'),
        ('{"a": 1} {', "{"),
        ("// no\n{}", "/"),
        ("null", "null"),
    ],
)
def test_what_is_no_object_is_one_problem_with_a_place(text: str, place: str) -> None:
    assert [found for _, found in in_json(text)] == [place]


LONG = "1" * 5000
DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        *("[" * DEEP, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '{"a":' * 300 + "1" + "}" * 300),
        *(LONG, f'{{"a": {LONG}}}'),
    ],
    ids=["open", "lists", "objects", "some", "number", "numbers"],
)
def test_json_that_no_parser_likes_is_a_problem_too(text: str) -> None:
    assert contract(text).value is None
    assert {problem.message for problem in contract(text).problems} <= {
        "This is nested too deeply.",
        "A number is too long.",
    }


@pytest.mark.parametrize(
    "text",
    [
        *("a = " + "[" * DEEP, "a = " + "[" * 900 + "]" * 900, "a" + ".a" * DEEP + " = 1"),
        *("[a" + ".a" * DEEP + "]\n", "a = " + "{a=" * 900 + "1" + "}" * 900, f"a = {LONG}"),
    ],
    ids=["open", "lists", "dotted", "header", "tables", "number"],
)
def test_toml_that_no_parser_likes_is_a_problem_too(text: str) -> None:
    assert policy(text).value is None
    assert {problem.message for problem in policy(text).problems} <= {
        "This is nested too deeply.",
        "A number is too long.",
    }


def test_an_empty_policy_is_one() -> None:
    assert policy("").value is not None and policy("# nothing\n").problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("color = 1", ("Unknown field “color”.", "color")),
        ("[limits]\ncolor = 1 # why", ("Unknown field “color”.", "color")),
        ("limits.color = 1", ("Unknown field “color”.", "limits.color")),
        ('[checks.t]\nargv = ["x"]\ntimeout = -1 # soon', ("“timeout”: must be greater than 0.", "-1")),
        ('checks."t".argv = ["x"]\nchecks.t.timeout = "9"', ("“timeout”: must be a valid number.", '"9"')),
        ('checks.t = {argv = ["x", 1]}', ("“argv”: must be a valid string.", "1")),
        ("[checks.t]\nargv = []", ("“t”: a command check needs argv.", "checks.t")),
        (
            '[limits]\nwriteScope = [\n  # é\n  "a",\n  "../b",\n]',
            ("“../b” can never match: it contains '..'.", '"../b"'),
        ),
        ('[[checks.t]]\nargv = ["x"]', ("“t”: must be an object.", "checks.t")),
        ("[[a.b]]\n[a.b.c]\nd = 1", ("Unknown field “a”.", "a.b")),
        ("a = 1\na = 2", ("Not valid TOML: Cannot overwrite a value.", "2")),
        ("[a]\r\nb = é\r\n", ("Not valid TOML: Invalid value.", "é")),
    ],
)
def test_a_problem_in_a_policy_stands_at_its_key_or_value(text: str, problem: tuple[str, str]) -> None:
    assert in_toml(text) == [problem]


def test_a_check_whose_name_no_contract_could_say_is_marked_at_its_head() -> None:
    text = '[checks."my check"]\nargv = ["x"]\n'
    ((message, place),) = in_toml(text)
    assert place == 'checks."my check"' and message.startswith("“my check”")


pieces = st.lists(
    st.one_of(
        st.sampled_from([*'{}[]",:=.#\n\r\\', "é", "\ud800", "true", "1", '"taskId"', "writeScope", "[[", "]]"]),
        st.text(max_size=3),
    ),
    max_size=30,
).map("".join)


@settings(max_examples=200)
@given(text=pieces)
@example(text='a"b"=1')
@example(text="a = {b = }")
@example(text='"a\\x"=1')
@example(text="[]\n")
@example(text="\ufeff{}")
def test_no_text_raises_and_every_place_is_inside_it(text: str) -> None:
    for source in (contract(text), policy(text)):
        spans = [*(problem.span for problem in source.problems), *source.keys.values(), *source.values.values()]
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
        assert 0 <= source.at("writeScope", 3).start <= source.at("writeScope", 3).end <= len(text)
        assert (source.value is None) == bool(source.problems)


@settings(max_examples=100)
@given(
    raw=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=8,
    ),
    indent=st.sampled_from([None, 1]),
    plain=st.booleans(),
)
def test_the_place_of_each_value_holds_that_value(raw: object, indent: int | None, plain: bool) -> None:
    text = json.dumps(raw, indent=indent, ensure_ascii=plain)
    for pointer, span in contract(text).values.items():
        value = raw
        for part in pointer:
            value = value[part]  # type: ignore[index]
        assert json.loads(text[span.start : span.end]) == value


@pytest.mark.parametrize("read", [contract, policy])
def test_half_a_character_is_said_to_be_no_text(read: Callable[[str], Source[Any]]) -> None:
    found = read("# \udce9\n")
    assert (found.value, [problem.span for problem in found.problems]) == (None, [Span(2, 3)])
    assert "UTF-8" in found.problems[0].message
