"""The contract's model: what is valid, and what it says about rights and checks."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from remit.core.contract import RIGHTS, TaskContract

SEED: dict[str, Any] = {
    "taskId": "task-example",
    "goal": "…",
    "writeScope": ["docs/editorial/"],
    "allowedTools": ["read_file", "apply_patch"],
    "network": "disabled",
    "verification": {"allowed": ["editorial_review"], "forbidden": ["build", "product_tests"]},
    "delivery": "local_files",
    "commitAllowed": False,
}


def contract(**more: Any) -> TaskContract:
    return TaskContract.model_validate({**SEED, **more}, by_alias=True, by_name=False)


def test_the_seed_example_is_valid_as_it_stands() -> None:
    found = contract()
    assert found.wire() == {**SEED, "review": "before", "verification": {**SEED["verification"], "required": []}}
    assert found.checks() == ("editorial_review",)


def test_what_is_left_out_is_the_careful_answer() -> None:
    least = {name: SEED[name] for name in ("taskId", "goal", "writeScope", "allowedTools")}
    found = TaskContract.model_validate(least)
    assert (found.network, found.commit_allowed, found.delivery, found.checks()) == (
        "disabled",
        False,
        "local_files",
        (),
    )


@pytest.mark.parametrize("name", ["taskId", "goal", "writeScope", "allowedTools"])
def test_what_must_be_said_must_be_said(name: str) -> None:
    with pytest.raises(ValidationError, match="missing"):
        TaskContract.model_validate({key: value for key, value in SEED.items() if key != name})


@pytest.mark.parametrize(
    "wrong",
    [
        {"taskId": ""},
        {"taskId": "../up"},
        {"taskId": "a/b"},
        {"taskId": "x" * 65},
        {"goal": ""},
        {"allowedTools": ["run_shell"]},
        {"allowedTools": ["external:"]},
        {"allowedTools": "read_file"},
        {"network": "on"},
        {"delivery": "email"},
        {"commitAllowed": "perhaps"},
        {"writeScope": [""]},
        {"verification": {"allowed": ["a b"]}},
        {"verification": {"may": []}},
        {"write_scope": ["src/"]},
        {"approved": True},
    ],
)
def test_what_is_not_in_the_words_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        contract(**wrong)


def test_a_contract_gives_the_rights_it_names_and_no_other() -> None:
    assert all(contract(allowedTools=[right]).may(right) for right in (*RIGHTS, "external:tracker"))
    assert not any(contract(allowedTools=[]).may(right) for right in RIGHTS)


def test_checks_are_named_once_required_ones_first_and_never_a_forbidden_one() -> None:
    found = contract(verification={"allowed": ["b", "a", "c"], "required": ["a"], "forbidden": ["c"]})
    assert found.checks() == ("a", "b")
