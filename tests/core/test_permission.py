"""What may be written: contract and policy together; taking away never allows more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.contract import RIGHTS, TaskContract
from remit.core.permission import Allow, Ask, Decision, Refuse, after, excess, may_write, rights
from remit.core.policy import EMPTY, Policy


def contract(scope: Sequence[str] = ("src/",), **more: Any) -> TaskContract:
    value = {
        "taskId": "t",
        "goal": "g",
        "writeScope": list(scope),
        "allowedTools": ["read_file", "apply_patch"],
        **more,
    }
    return TaskContract.model_validate(value)


def policy(**value: Any) -> Policy:
    return Policy.model_validate(value)


def kind(decision: Decision) -> str:
    match decision:
        case Allow():
            return "allow"
        case Ask():
            return "ask"
        case Refuse(code, _, _):
            return code


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", "allow"),
        ("src/deep/a.py", "allow"),
        ("srcs/a.py", "outside_scope"),
        ("a.py", "outside_scope"),
        ("src", "outside_scope"),
        ("src/.env", "ask"),
        ("src/.vscode/tasks.json", "ask"),
        ("src/.git/config", "protected_path"),
        ("src/.remit/x", "protected_path"),
        ("src/x.contract.json", "protected_path"),
        (".git/config", "protected_path"),
        ("src/.GIT/config", "protected_path"),
    ],
)
def test_scope_and_tiers(path: str, expected: str) -> None:
    assert kind(may_write(path, contract(), EMPTY)) == expected


def test_the_policy_takes_away_by_name() -> None:
    rules = policy(
        protect={"never": ["src/secret/"], "loud": ["**/*.sql"]}, limits={"writeScope": ["src/", "!src/gen/"]}
    )
    task = contract(["src/", "docs/"])
    found = {
        path: kind(may_write(path, task, rules))
        for path in ("src/a", "src/secret/a", "src/a.sql", "docs/a", "src/gen/a")
    }
    assert found == {
        "src/a": "allow",
        "src/secret/a": "protected_path",
        "src/a.sql": "ask",
        "docs/a": "outside_scope",
        "src/gen/a": "outside_scope",
    }
    assert kind(may_write("src/SECRET/a", task, rules)) == "protected_path", "as a case-insensitive disk compares"


def test_rights_are_the_contracts_less_the_policys_limits() -> None:
    task = contract(allowedTools=[*RIGHTS, "external:x"])
    assert rights(task, EMPTY) == (*RIGHTS, "external:x")
    assert rights(task, policy(limits={"allowedTools": ["read_file", "git_commit"]})) == ("read_file", "git_commit")
    assert "git_commit" not in rights(task, policy(limits={"commitAllowed": False}))


@pytest.mark.parametrize(
    ("scope", "limit", "wider"),
    [
        (["src/"], ["src/"], False),
        (["src"], ["src/"], False),
        (["src/a.py"], ["src/"], False),
        (["src/deep/"], ["src/"], False),
        (["docs/"], ["src/"], True),
        (["src/"], ["src/deep/"], True),
        (["src/"], ["src/a.py"], True),
        (["docs/", "!docs/x/"], ["docs/"], False),
    ],
)
def test_a_scope_wider_than_the_policys_is_named_at_its_place(scope: list[str], limit: list[str], wider: bool) -> None:
    found = excess(contract(scope), policy(limits={"writeScope": limit}))
    assert [pointer for pointer, _ in found] == ([("writeScope", 0)] if wider else [])


def test_everything_else_that_is_wider_is_named_too() -> None:
    task = contract(network="enabled", commitAllowed=True, allowedTools=["read_file", "run_check"])
    rules = policy(limits={"allowedTools": ["read_file"], "network": "disabled", "commitAllowed": False})
    assert [pointer for pointer, _ in excess(task, rules)] == [("allowedTools", 1), ("network",), ("commitAllowed",)]
    assert excess(task, EMPTY) == ()


def test_what_is_reviewed_after_is_said_by_both_and_is_nothing_that_needs_a_look() -> None:
    task, rules = contract(["docs/", "src/"], review="after"), policy(review={"after": ["docs/"]})
    found = {path: after(path, task, rules) for path in ("docs/a", "src/a", "docs/Makefile", "docs/.env", "other/a")}
    assert found["docs/a"] == ""
    assert [path for path, why in found.items() if not why] == ["docs/a"]
    assert after("docs/a", contract(["docs/"]), rules) and after("docs/a", task, EMPTY)
    assert after("docs/a", contract(["docs/"], review="after", allowedTools=["read_file"]), rules)
    assert after("docs/a", task, policy(review={"after": ["docs/"]}, limits={"allowedTools": ["read_file"]}))


@pytest.mark.parametrize(
    ("scope", "allowed", "wider"),
    [
        (["docs/"], ["docs/"], False),
        (["docs/deep/"], ["docs/"], False),
        (["docs/", "src/"], ["docs/"], True),
        (["docs/"], [], True),
        (["docs/*"], [], True),
        (["docs/*"], ["docs/"], False),
    ],
)
def test_asking_for_a_review_after_beyond_the_policy_is_named(
    scope: list[str], allowed: list[str], wider: bool
) -> None:
    found = excess(contract(scope, review="after"), policy(review={"after": allowed}))
    assert [pointer for pointer, _ in found] == ([("review",)] if wider else [])
    assert excess(contract(scope), policy(review={"after": allowed})) == ()


# --- taking away never allows more ------------------------------------------------------------------------------------

ENTRIES = st.lists(
    st.sampled_from(["src/", "src/a.txt", "*.txt", "docs/", "src/**/deep/", "a.txt", "src/*", ".vscode/"]),
    max_size=5,
)
MIXED = st.lists(st.sampled_from(["src/", "!src/a.txt", "*.txt", "!docs/", "docs/", "src/*", "!*.txt"]), max_size=5)
PATHS = st.sampled_from(
    ["src/a.txt", "src/deep/b.txt", "docs/x", "docs/a.txt", "a.txt", ".vscode/x", "src/.env", ".git/x", "src/b"]
)
STRENGTH = {"protected_path": 0, "outside_scope": 0, "ask": 1, "allow": 2}


def strength(path: str, scope: Sequence[str], rules: Policy) -> int:
    return STRENGTH[kind(may_write(path, contract(scope), rules))]


@given(MIXED, PATHS, st.data())
def test_a_scope_entry_less_never_allows_more(scope: list[str], path: str, data: st.DataObject) -> None:
    grants = [index for index, entry in enumerate(scope) if not entry.startswith("!")]
    if grants:
        gone = data.draw(st.sampled_from(grants))
        less = [*scope[:gone], *scope[gone + 1 :]]
        assert strength(path, less, EMPTY) <= strength(path, scope, EMPTY)


@given(MIXED, ENTRIES, ENTRIES, ENTRIES, PATHS)
def test_protecting_more_never_allows_more(
    scope: list[str], never: list[str], loud: list[str], more: list[str], path: str
) -> None:
    before = strength(path, scope, policy(protect={"never": never, "loud": loud}))
    assert strength(path, scope, policy(protect={"never": [*never, *more], "loud": loud})) <= before
    assert strength(path, scope, policy(protect={"never": never, "loud": [*loud, *more]})) <= before
    assert before <= strength(path, scope, EMPTY)


@given(MIXED, MIXED, PATHS)
def test_a_limit_never_allows_more(scope: list[str], limit: list[str], path: str) -> None:
    assert strength(path, scope, policy(limits={"writeScope": limit})) <= strength(path, scope, EMPTY)


@given(st.sets(st.sampled_from(RIGHTS)), st.sets(st.sampled_from(RIGHTS)), st.booleans())
def test_rights_are_never_more_than_either_side_gives(have: set[str], limit: set[str], commits: bool) -> None:
    rules = policy(limits={"allowedTools": sorted(limit), "commitAllowed": commits})
    found = set(rights(contract(allowedTools=sorted(have)), rules))
    assert found <= have & limit
    for gone in have:
        assert set(rights(contract(allowedTools=sorted(have - {gone})), rules)) == found - {gone}


@given(MIXED, MIXED, ENTRIES, PATHS, st.data())
def test_a_permission_less_never_makes_more_be_reviewed_after(
    scope: list[str], allowed: list[str], never: list[str], path: str, data: st.DataObject
) -> None:
    def at_once(scope: list[str], allowed: list[str], **rules: Any) -> bool:
        return not after(path, contract(scope, review="after"), policy(review={"after": allowed}, **rules))

    def less(entries: list[str]) -> list[str]:
        grants = [index for index, entry in enumerate(entries) if not entry.startswith("!")]
        gone = data.draw(st.sampled_from([*grants, -1]))
        return [entry for index, entry in enumerate(entries) if index != gone]

    before = at_once(scope, allowed)
    assert at_once(less(scope), allowed) <= before and at_once(scope, less(allowed)) <= before
    assert at_once(scope, allowed, protect={"never": never}) <= before
    assert at_once(scope, allowed, protect={"loud": never}) <= before
    assert at_once(scope, allowed, limits={"writeScope": never}) <= before
    assert not at_once(scope, []) and (not before or strength(path, scope, EMPTY) == STRENGTH["allow"])
