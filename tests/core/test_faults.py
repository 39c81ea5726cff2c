"""A fault says whose it is, and goes over the wire and back."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import remit.core
from remit.core.faults import PARTIES, AgentFault, Fault, OurFault, UserFault, WorldFault, from_dict, to_dict

CORE = Path(remit.core.__path__[0])


@pytest.mark.parametrize("kind", [AgentFault, UserFault, WorldFault, OurFault])
def test_a_fault_survives_the_wire(kind: type[Fault]) -> None:
    fault = kind("stale", "The file moved.", remedy="Read it again.", path="a.txt", lines=[1, 2], more={"x": None})
    raw = json.loads(json.dumps(to_dict(fault)))
    back = from_dict(raw)
    assert type(back) is kind
    assert to_dict(back) == raw == to_dict(fault)
    assert str(back) == "The file moved. Read it again."


def test_without_a_remedy_nothing_trails() -> None:
    assert str(AgentFault("x", "No.")) == "No."


def test_each_party_has_one_kind() -> None:
    assert {party: kind.party for party, kind in PARTIES.items()} == {party: party for party in PARTIES}
    assert len(set(PARTIES.values())) == 4


@pytest.mark.parametrize("raw", [{}, {"party": "stranger", "code": 7}, {"party": None, "data": "no object"}])
def test_what_nobody_said_counts_as_ours(raw: dict[str, object]) -> None:
    fault = from_dict(raw)  # type: ignore[arg-type]
    assert type(fault) is OurFault
    assert fault.data == {}
    assert from_dict({}).code == "internal"


def test_every_refusal_of_an_agent_says_what_to_do() -> None:
    silent = [
        f"{path.name}:{node.lineno}"
        for path in sorted(CORE.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "AgentFault"
        and not any(word.arg == "remedy" for word in node.keywords)
    ]
    assert silent == []
