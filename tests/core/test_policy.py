"""The policy's model: checks are programs with fixed arguments or human looks; what is undefined is a human look."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from remit.core.policy import EMPTY, Check, Policy


def policy(**value: Any) -> Policy:
    return Policy.model_validate(value, by_alias=True, by_name=False)


def test_a_check_is_a_program_with_a_list_of_arguments() -> None:
    found = policy(checks={"tests": {"argv": ["pytest", "-q"]}}).check("tests")
    assert (found.kind, found.argv, found.cwd, found.timeout, found.inputs) == (
        "command",
        ("pytest", "-q"),
        ".",
        300,
        (),
    )


def test_a_check_that_no_policy_defines_is_a_human_look() -> None:
    found = EMPTY.check("editorial_review")
    assert (found.kind, found.title, found.argv) == ("human", "editorial_review", ())


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"argv": []},
        {"argv": "pytest -q"},
        {"argv": [""]},
        {"kind": "human", "argv": ["pytest"]},
        {"argv": ["x"], "timeout": 0},
        {"argv": ["x"], "timeout": 7201},
        {"argv": ["x"], "outputLimit": 10},
        {"argv": ["x"], "environment": ["A=B"]},
        {"argv": ["x"], "shell": True},
    ],
)
def test_a_check_that_cannot_be_run_as_written_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Check.model_validate(wrong, by_alias=True, by_name=False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"checks": {"a b": {"argv": ["x"]}}},
        {"limits": {"allowedTools": ["everything"]}},
        {"limits": {"write_scope": []}},
        {"protect": {"never": [""]}},
        {"allow": {}},
    ],
)
def test_a_policy_knows_its_own_words_only(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        policy(**wrong)


def test_the_empty_policy_takes_nothing_away() -> None:
    assert policy() == EMPTY
    limits = EMPTY.limits
    assert (limits.write_scope, limits.allowed_tools, limits.network, limits.commit_allowed) == (
        None,
        None,
        "enabled",
        True,
    )
    assert (EMPTY.protect.never, EMPTY.protect.loud) == ((), ())


def test_placing_is_strict_about_blanks_unless_the_policy_says_otherwise() -> None:
    assert EMPTY.placement.allow == ("exact", "offset", "line_ends")
    found = policy(placement={"allow": ["exact", "tabs", "trailing_blanks"]})
    assert found.placement.allow == ("exact", "tabs", "trailing_blanks")


@pytest.mark.parametrize("wrong", [{"allow": ["fuzzy"]}, {"allow": "exact"}, {"deny": []}])
def test_rules_are_named_or_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        policy(placement=wrong)
