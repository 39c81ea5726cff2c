"""`core.verbs`: the table of what an agent may say: which rights it asks for, and that every door can print it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from remit.core.contract import RIGHTS
from remit.core.requests import WAIT_LIMIT
from remit.core.verbs import VERBS, Hello

AGENT = "agent-0123456789"

# The whole surface: the right that the contract must grant (None: always allowed), and whether it only reads.
SURFACE: dict[str, tuple[str | None, bool]] = {
    "get_contract": (None, True),
    "list_files": ("read_file", True),
    "read_file": ("read_file", True),
    "propose_patch": ("apply_patch", False),
    "proposal_status": (None, True),
    "wait_for_review": (None, True),
    "withdraw_proposal": (None, False),
    "list_checks": (None, True),
    "run_check": ("run_check", False),
    "ask_human": (None, False),
    "wait_for_decision": (None, True),
    "propose_contract": (None, False),
    "request_amendment": (None, False),
    "task_status": (None, True),
    "finish_task": (None, False),
}


def test_the_surface_of_an_agent_is_this_and_no_more() -> None:
    assert {name: (verb.right, verb.read_only) for name, verb in VERBS.items()} == SURFACE
    assert {verb.right for verb in VERBS.values()} - {None} <= set(RIGHTS)


def test_what_has_an_effect_can_be_sent_twice() -> None:
    """A verb that changes something takes an idempotency key; one that reads needs none."""
    assert {name for name, verb in VERBS.items() if "key" in verb.params.model_fields} == {
        name for name, (_, read_only) in SURFACE.items() if not read_only
    }


def test_waiting_is_bounded_and_the_words_say_so() -> None:
    waiting = {name for name, verb in VERBS.items() if "seconds" in verb.params.model_fields}
    assert waiting == {"wait_for_review", "wait_for_decision"}
    for name in waiting:
        assert f"at most {WAIT_LIMIT:g} s" in VERBS[name].description
        seconds = VERBS[name].params.model_json_schema(by_alias=True)["properties"]["seconds"]
        assert (seconds["minimum"], seconds["maximum"]) == (0, WAIT_LIMIT)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_has_words_for_a_model(name: str) -> None:
    verb = VERBS[name]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
    assert 0 < len(verb.title) <= 40
    assert verb.description.endswith(".")
    assert len(verb.description) <= 400
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", verb.description))
    assert named <= VERBS.keys()


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *schema.get("$defs", {}).values()]


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_has_schemas_for_its_doors(name: str) -> None:
    params = VERBS[name].params.model_json_schema(by_alias=True)
    result = VERBS[name].result.model_json_schema(by_alias=True, mode="serialization")
    for schema in (params, result):
        assert json.loads(json.dumps(schema)) == schema
        for model in objects(schema):
            assert (model["type"], model["additionalProperties"]) == ("object", False)
            assert not [field for field in model.get("properties", {}) if "_" in field]


@pytest.mark.parametrize("name", VERBS)
def test_unknown_parameters_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        VERBS[name].params.model_validate({"autoApprove": True})


def test_the_first_frame() -> None:
    hello = Hello.model_validate({"token": "t", "agent": AGENT})
    assert hello.wire() == {
        "token": "t",
        "role": "agent",
        "agent": AGENT,
        "name": "agent",
        "version": "",
        "protocol": 1,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("token", None),
        ("role", "approver"),
        ("agent", "short"),
        ("agent", "x" * 65),
        ("agent", "agent 0123456789"),
        ("name", "x" * 101),
        ("version", "x" * 101),
        ("protocol", "new"),
        ("approve", True),
    ],
)
def test_a_first_frame_that_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Hello.model_validate({"token": "t", "agent": AGENT, field: value})
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]
