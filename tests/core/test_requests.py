"""`core.requests`: parameters that are let in, parameters that are not, and the names they have on the wire."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from remit.core import requests
from remit.core.model import Model
from remit.core.requests import (
    WAIT_LIMIT,
    AmendParams,
    AskParams,
    DecisionParams,
    DraftParams,
    FinishParams,
    ListParams,
    Nothing,
    ProposalParams,
    ProposeParams,
    ReadParams,
    Replacement,
    RunParams,
    WaitProposalParams,
    WholeFile,
    WithdrawParams,
)

DIGEST = "0" * 64
MODELS = [kind for kind in vars(requests).values() if isinstance(kind, type) and kind.__module__ == requests.__name__]

GOOD: list[tuple[type[Model], dict[str, Any]]] = [
    (Nothing, {}),
    (ListParams, {}),
    (ListParams, {"under": "docs", "limit": 20_000}),
    (ReadParams, {"path": "docs/a.md"}),
    (ReadParams, {"path": "a", "firstLine": 1, "lastLine": 1}),
    (Replacement, {"path": "a", "search": "x", "replace": ""}),
    (Replacement, {"path": "a", "search": "x", "replace": "y", "count": None}),
    (WholeFile, {"path": "a", "content": ""}),
    (WholeFile, {"path": "a", "content": None}),
    (ProposeParams, {"patch": "--- a/f", "bases": {"f": DIGEST}, "note": "Why.", "key": "k"}),
    (ProposeParams, {"files": [{"path": "a", "content": "x\n"}], "bases": {"a": "absent"}, "replaces": "p1"}),
    (ProposalParams, {"proposalId": "p1"}),
    (WithdrawParams, {"proposalId": "p1", "key": "k"}),
    (WaitProposalParams, {"proposalId": "p1", "seconds": 0}),
    (WaitProposalParams, {"proposalId": "p1", "seconds": WAIT_LIMIT}),
    (RunParams, {"checkId": "unit", "key": "k" * 200}),
    (AskParams, {"question": "Which?"}),
    (AskParams, {"question": "Which?", "options": ["a", "b"], "why": "It matters.", "about": "a.md"}),
    (DecisionParams, {"decisionId": "d1", "seconds": 0.5}),
    (DraftParams, {"goal": "Tidy up.", "writeScope": ["docs/"], "checks": ["unit"], "taskId": "t-1"}),
    (AmendParams, {"why": "It is needed.", "allowedTools": ["run_check", "external:deploy"], "writeScope": ["src/"]}),
    (FinishParams, {"summary": "Done."}),
]

# The fields that are named in the refusal.
BAD: list[tuple[type[Model], dict[str, Any], str]] = [
    (ListParams, {"limit": 0}, "limit"),
    (ListParams, {"limit": 20_001}, "limit"),
    (ReadParams, {}, "path"),
    (ReadParams, {"path": None}, "path"),
    (ReadParams, {"path": "a", "firstLine": 0}, "firstLine"),
    (ReadParams, {"path": "a", "lastLine": 0}, "lastLine"),
    (WholeFile, {"path": "a"}, "content"),
    (Replacement, {"path": "a", "search": "", "replace": "y"}, "search"),
    (ProposeParams, {"patch": 1}, "patch"),
    (ProposeParams, {"bases": {"f": None}}, "bases.f"),
    (ProposeParams, {"files": [{"path": "a"}]}, "files.0.content"),
    (ProposeParams, {"files": [{"path": "a", "content": "", "mode": "755"}]}, "files.0.mode"),
    (ProposeParams, {"note": "x" * 4001}, "note"),
    (ProposeParams, {"key": ""}, "key"),
    (ProposalParams, {}, "proposalId"),
    (WithdrawParams, {"proposalId": "p1", "key": ""}, "key"),
    (WaitProposalParams, {"proposalId": "p1", "seconds": -1}, "seconds"),
    (WaitProposalParams, {"proposalId": "p1", "seconds": WAIT_LIMIT + 1}, "seconds"),
    (RunParams, {"checkId": "rm -rf"}, "checkId"),
    (RunParams, {"checkId": "unit", "key": "k" * 201}, "key"),
    (AskParams, {"question": ""}, "question"),
    (AskParams, {"question": "x" * 2001}, "question"),
    (AskParams, {"question": "Which?", "options": ["x"] * 7}, "options"),
    (AskParams, {"question": "Which?", "options": [""]}, "options.0"),
    (DecisionParams, {"decisionId": "d1", "seconds": 26}, "seconds"),
    (DraftParams, {"goal": "Tidy up."}, "writeScope"),
    (DraftParams, {"goal": "", "writeScope": ["docs/"]}, "goal"),
    (DraftParams, {"goal": "Tidy up.", "writeScope": [""]}, "writeScope.0"),
    (DraftParams, {"goal": "Tidy up.", "writeScope": [], "taskId": "../t"}, "taskId"),
    (AmendParams, {"writeScope": ["src/"]}, "why"),
    (AmendParams, {"why": "It is needed.", "allowedTools": ["approve"]}, "allowedTools.0"),
    (FinishParams, {}, "summary"),
    (FinishParams, {"summary": ""}, "summary"),
]


def test_the_tables_leave_no_model_out() -> None:
    assert {kind for kind, _ in GOOD} == set(MODELS)
    assert {kind for kind, _, _ in BAD} == set(MODELS) - {Nothing}


@pytest.mark.parametrize(("kind", "raw"), GOOD)
def test_let_in_and_written_again(kind: type[Model], raw: dict[str, Any]) -> None:
    read = kind.model_validate(raw)
    written = read.model_dump(mode="json", by_alias=True)
    assert kind.model_validate(written) == read
    assert raw.items() <= written.items()


@pytest.mark.parametrize(("kind", "raw", "where"), BAD)
def test_refused_at_its_place(kind: type[Model], raw: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(raw)
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [where]


@pytest.mark.parametrize(("kind", "raw"), GOOD)
def test_a_field_nobody_knows_is_refused(kind: type[Model], raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(raw | {"approve": True})
    assert [(error["type"], error["loc"]) for error in caught.value.errors()] == [("extra_forbidden", ("approve",))]


@pytest.mark.parametrize("kind", MODELS)
def test_names_are_camel_case_on_the_wire(kind: type[Model]) -> None:
    schema = kind.model_json_schema(by_alias=True)
    assert schema["additionalProperties"] is False
    assert [name for name in schema.get("properties", {}) if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []


def test_what_was_asked_for_stays_as_it_was_asked() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(ReadParams(path="a"), "path", "b")  # noqa: B010
