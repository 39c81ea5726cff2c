"""`core.approval`: the value that says who allowed an act, and whether a human was asked."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fakes import sha
from remit.core.approval import CONTRACT, Approval


def test_a_humans_yes_names_no_contract_and_one_by_contract_does() -> None:
    yes = Approval(by="human (x)", offer="o1", binding=sha("shown"))
    assert not yes.unasked and yes.wire() == {"by": "human (x)", "offer": "o1", "binding": sha("shown")}
    unasked = Approval(by=CONTRACT, offer="o2", binding=sha("b"), contract=sha("c"), policy=sha("p"))
    assert unasked.unasked and Approval.model_validate(unasked.wire(), by_alias=True, by_name=False) == unasked


def test_an_agent_cannot_be_mistaken_for_the_contract() -> None:
    assert " " in CONTRACT, "an agent's id has no blank"
    with pytest.raises(ValidationError):
        Approval.model_validate({"by": "x", "offer": "o", "binding": "not a digest"})
