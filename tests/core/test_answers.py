"""`core.answers`: results as they go out: camelCase, without what is unset, described, and nothing unknown in them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from remit.core import answers
from remit.core.answers import (
    CheckView,
    ContractResult,
    DecisionResult,
    DecisionView,
    FileView,
    HunkView,
    ProposalResult,
    ReadResult,
    RunView,
    StaleView,
    TaskView,
)
from remit.core.model import Model

DIGEST = "0" * 64
MODELS = [kind for kind in vars(answers).values() if isinstance(kind, type) and kind.__module__ == answers.__name__]

HUNK: dict[str, Any] = {
    "id": "h1",
    "path": "a.md",
    "oldStart": 1,
    "oldLines": 1,
    "newStart": 1,
    "newLines": 2,
    "state": "pending",
    "placed": "offset(3)",
}
STALE: dict[str, Any] = {
    "path": "a.md",
    "base": DIGEST,
    "current": "absent",
    "origin": "absent",
    "diff": "",
    "movedBy": [{"who": "proposal", "proposal": "P1", "agent": "codex"}, {"who": "user"}],
    "lineEndsOnly": False,
    "rebase": "not_possible",
    "conflicts": [],
}
RUN: dict[str, Any] = {
    "runId": "r1",
    "checkId": "unit",
    "state": "passed",
    "fresh": True,
    "exitCode": 0,
    "output": "ok",
    "sandbox": "none",
    "notSeen": ["a.md"],
}
CHECK: dict[str, Any] = {
    "checkId": "unit",
    "title": "Unit tests",
    "kind": "command",
    "status": "passed",
    "required": True,
    "mayRun": True,
    "reason": "",
    "lastRun": RUN,
}
DECISION: dict[str, Any] = {
    "decisionId": "d1",
    "kind": "question",
    "state": "answered",
    "question": "Which?",
    "options": ["a", "b"],
    "answer": "a",
    "text": "The first.",
}
TASK: dict[str, Any] = {
    "taskId": "t1",
    "goal": "Tidy up.",
    "writeScope": ["docs/"],
    "rights": ["read_file"],
    "checks": [CHECK],
    "network": "disabled",
    "delivery": "local_files",
    "review": "before",
    "commitAllowed": False,
    "placement": ["exact", "offset", "line_ends"],
    "contractPath": "t.contract.json",
    "contractDigest": DIGEST,
    "policyDigest": DIGEST,
}
READ: dict[str, Any] = {
    "path": "a.md",
    "text": "a\n",
    "digest": DIGEST,
    "origin": "buffer",
    "version": 3,
    "unsaved": True,
    "lineCount": 1,
    "lineEnds": "lf",
    "encoding": "windows-1252",
    "encodingNote": "A guess.",
    "writable": False,
    "partial": False,
}
PROPOSAL: dict[str, Any] = {
    "proposalId": "p1",
    "state": "stale",
    "fresh": False,
    "settled": False,
    "hunks": [HUNK],
    "diff": "",
    "replacedBy": ["p2"],
    "replacements": [],
    "stale": [STALE],
    "decisions": ["d1"],
    "reason": "",
    "next": "Make it anew.",
}

WIRE: list[tuple[type[Model], dict[str, Any]]] = [
    (HunkView, HUNK),
    (StaleView, STALE),
    (FileView, {"path": "a", "op": "rename", "source": "b", "base": DIGEST, "result": DIGEST}),
    (RunView, RUN),
    (CheckView, CHECK),
    (DecisionView, DECISION),
    (TaskView, TASK),
    (ReadResult, READ),
    (ProposalResult, PROPOSAL),
    (DecisionResult, {"decision": DECISION, "settled": True, "run": RUN, "next": "Go on."}),
    (ContractResult, {"active": True, "session": "editor", "task": TASK, "drafts": [DECISION], "next": "Read."}),
]


@pytest.mark.parametrize(("kind", "wire"), WIRE)
def test_read_from_the_wire_and_written_to_it_they_are_the_same(kind: type[Model], wire: dict[str, Any]) -> None:
    assert kind.model_validate(wire).wire() == wire
    assert kind.model_validate_json(json.dumps(wire)).wire() == wire


def test_what_is_unset_is_left_out() -> None:
    view = FileView(path="a", op="create", base="absent", result=DIGEST)
    assert view.wire() == {"path": "a", "op": "create", "base": "absent", "result": DIGEST}


@pytest.mark.parametrize(
    ("kind", "wire", "field", "value"),
    [
        (HunkView, HUNK, "state", "approved"),
        (StaleView, STALE, "current", "ABSENT"),
        (StaleView, STALE, "base", DIGEST[1:]),
        (RunView, RUN, "state", "done"),
        (CheckView, CHECK, "status", "skipped"),
        (DecisionView, DECISION, "state", "open"),
        (TaskView, TASK, "policyDigest", "absent"),
        (ReadResult, READ, "origin", "cache"),
        (ReadResult, READ, "unknown", 1),
        (DecisionView, DECISION, "unknown", 1),
    ],
)
def test_words_outside_their_lists_do_not_go_out(
    kind: type[Model], wire: dict[str, Any], field: str, value: Any
) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(wire | {field: value})
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize("kind", MODELS)
def test_names_are_camel_case_on_the_wire(kind: type[Model]) -> None:
    schema = kind.model_json_schema(by_alias=True, mode="serialization")
    for model in (schema, *schema.get("$defs", {}).values()):
        assert model["additionalProperties"] is False
        assert [name for name in model["properties"] if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []
