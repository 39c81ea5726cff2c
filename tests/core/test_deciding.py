"""Decisions: asked durably, answered once, withdrawn when moot."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from fakes import AGENT, Bench, contract_text, desk
from remit.core import deciding
from remit.core import events as e
from remit.core.faults import AgentFault, UserFault

NAME = "src/a.txt"


def refused(act: Any, kind: type[AgentFault] | type[UserFault] = UserFault) -> str:
    with pytest.raises(kind) as caught:
        act()
    return caught.value.code


def two_tasks() -> Bench:
    bench = desk({"other.contract.json": contract_text("task-2", ["docs/"])})
    bench.activate("other.contract.json")
    return bench


def test_every_kind_has_something_that_carries_it_out() -> None:
    assert set(deciding.CARRY_OUT) == set(get_args(e.DecisionAsked.model_fields["kind"].annotation))


def test_a_decision_keeps_its_id_and_each_showing_its_offer() -> None:
    bench = desk({})
    bench.call("ask_human", question="?", options=["a", "b"])
    offer = bench.offer("decide", "D1")
    assert bench.offer("decide", "D1") == offer
    again = bench.restart()
    assert list(again.state.decisions) == ["D1"]
    assert again.offer("decide", "D1") != offer
    assert refused(lambda: again.command("decide", offer, option="option_1")) == "approval_unknown"
    again.decide("D1", "option_1")
    assert again.state.decisions["D1"].option == "option_1"


def test_an_option_is_named_by_its_id_or_its_title() -> None:
    bench = desk({})
    for number, option in enumerate(("option_2", "no"), 1):
        bench.call("ask_human", question="?", options=["yes", "no"])
        bench.decide(f"D{number}", option)
        assert bench.state.decisions[f"D{number}"].option == "option_2"
        assert bench.call("wait_for_decision", decisionId=f"D{number}")["decision"]["answer"] == "no"


def test_a_wrong_option_uses_up_no_offer() -> None:
    bench = desk({})
    bench.call("ask_human", question="?", options=["a", "b"])
    offer = bench.offer("decide", "D1")
    for wrong in (None, "", "c", "option_3"):
        assert refused(lambda wrong=wrong: bench.command("decide", offer, option=wrong)) == "unknown_option"
    bench.command("decide", offer, option="a", text="and a word")
    assert bench.call("wait_for_decision", decisionId="D1")["decision"]["text"] == "and a word"


def test_an_agent_waits_by_name_and_is_told_how_it_stands() -> None:
    bench = desk({})
    assert refused(lambda: bench.call("wait_for_decision", decisionId="D1"), AgentFault) == "unknown_decision"
    bench.call("ask_human", question="?")
    waiting = bench.call("wait_for_decision", decisionId="D1")
    assert (waiting["settled"], "D1 again" in waiting["next"]) == (False, True)
    bench.decide("D1", text="so")
    assert bench.call("wait_for_decision", decisionId="D1")["settled"] is True


def test_several_tasks_are_one_question_an_agent() -> None:
    bench = two_tasks()
    for _ in range(2):
        assert refused(lambda: bench.propose({"docs/a": "x\n"}), AgentFault) == "task_unbound"
    other = bench.connect("agent-0002", "another")
    assert refused(lambda: bench.propose({"docs/a": "x\n"}, other), AgentFault) == "task_unbound"
    asked = [entry.asked for entry in bench.state.pending_decisions()]
    assert [(one.kind, one.agent) for one in asked] == [("bind", AGENT), ("bind", "agent-0002")]
    assert [option.id for option in asked[0].options] == ["-", "task-1", "task-2"]


def test_bound_to_none_it_stays_without_a_task() -> None:
    bench = two_tasks()
    assert refused(lambda: bench.propose({"docs/a": "x\n"}), AgentFault) == "task_unbound"
    start = bench.seq
    bench.decide("D1", "-")
    assert bench.story(start) == ["decision_answered"]
    assert refused(lambda: bench.propose({"docs/a": "x\n"}), AgentFault) == "task_unbound"


def test_a_task_may_have_any_name_it_may_have() -> None:
    bench = desk({"other.contract.json": contract_text("none", ["docs/"])})
    bench.activate("other.contract.json")
    assert refused(lambda: bench.propose({"docs/a": "x\n"}), AgentFault) == "task_unbound"
    bench.decide("D1", "none")
    assert bench.state.agents[AGENT].task == "none"


def test_a_binding_survives_a_restart() -> None:
    bench = two_tasks()
    assert refused(lambda: bench.propose({"docs/a": "x\n"}), AgentFault) == "task_unbound"
    bench.decide("D1", "task-2")
    again = bench.restart()
    again.connect()
    assert again.propose({"docs/a": "x\n"}) == "P1"


def test_a_question_about_a_settled_proposal_is_withdrawn() -> None:
    bench = desk({".vscode/a.json": "{}\n"}, contract=contract_text(scope=[".vscode/"]))
    bench.propose({".vscode/a.json": "{ }\n"})
    offer, start = bench.offer("decide", "D1"), bench.seq
    bench.act("reject", "P1")
    assert bench.story(start) == ["rejected", "decision_withdrawn"]
    assert refused(lambda: bench.command("decide", offer, option="allow")) == "already_decided"
    told = bench.call("wait_for_decision", decisionId="D1")
    assert (told["settled"], told["decision"]["state"], told["next"]) == (
        True,
        "withdrawn",
        "its proposal was rejected",
    )


def test_a_yes_to_a_protected_path_is_not_an_acceptance() -> None:
    bench = desk({".vscode/a.json": "{}\n"}, contract=contract_text(scope=[".vscode/"]))
    bench.propose({".vscode/a.json": "{ }\n"})
    bench.decide("D1", "allow")
    assert bench.state.proposals["P1"].state == "pending"
    assert bench.state.actions == {}
