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


# --- what an agent cannot do with a question --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["Yes", "yes"], ["a b", "a  b"], ["é", "e\u0301"], ["a", " "]])
def test_options_that_read_alike_are_refused(options: list[str]) -> None:
    bench = desk({})
    with pytest.raises(AgentFault) as caught:
        bench.call("ask_human", question="?", options=options)
    assert caught.value.code == "invalid_params" and bench.state.decisions == {}


def test_an_option_named_like_anothers_id_does_not_take_its_answers() -> None:
    bench = desk({})
    bench.call("ask_human", question="?", options=["option_2", "no"])
    bench.decide("D1", "option_2")
    assert bench.call("wait_for_decision", decisionId="D1")["decision"]["answer"] == "no"


@pytest.mark.parametrize(
    ("about", "code"),
    [("../../etc/passwd", "outside_scope"), ("/etc/passwd", "outside_scope"), ("a\u202eb", "bad_path")],
)
def test_a_question_is_about_a_file_of_the_workspace(about: str, code: str) -> None:
    bench = desk({})
    with pytest.raises(AgentFault) as caught:
        bench.call("ask_human", question="?", about=about)
    assert caught.value.code == code and bench.state.decisions == {}


def test_what_a_human_is_asked_can_be_seen_whole() -> None:
    bench = desk({})
    bench.call(
        "ask_human",
        question="Delete \u202etxt.a?\x1b[2J" + "\n" * 99 + "Sure?",
        why="\u2066x",
        options=["o\u200bk", "no"],
    )
    asked = bench.state.decisions["D1"].asked
    assert asked.question == "Delete ⟨U+202E⟩txt.a?⟨U+001B⟩[2J\n\nSure?"
    assert (asked.why, asked.options[0].title) == ("⟨U+2066⟩x", "o⟨U+200B⟩k")


# --- whose it is ------------------------------------------------------------------------------------------------------


def test_an_agent_sees_its_own_decisions_and_those_of_its_task() -> None:
    bench = Bench()
    bench.connect()
    bench.call("ask_human", question="Which password?")
    bench.decide("D1", text="hunter2")
    other = bench.connect("agent-0002", "other")
    with pytest.raises(AgentFault) as caught:
        bench.call("wait_for_decision", other, decisionId="D1", seconds=0)
    assert caught.value.code == "unknown_decision"
    assert "hunter2" not in str(bench.call("task_status", other))
    assert bench.state.refusals == [], "a slip of the pen is not recorded"


def test_agents_of_one_task_see_what_the_other_was_answered() -> None:
    bench = desk({})
    bench.call("ask_human", question="Tabs?")
    bench.decide("D1", text="Blanks.")
    other = bench.connect("agent-0002", "other")
    assert bench.call("wait_for_decision", other, decisionId="D1", seconds=0)["decision"]["text"] == "Blanks."


def test_an_agent_that_was_told_none_of_them_does_not_have_the_human_asked_again() -> None:
    bench = desk({"two.contract.json": contract_text("task-2", ("docs/",))})
    bench.activate("two.contract.json")

    def unbound() -> Any:
        with pytest.raises(AgentFault) as caught:
            bench.call("list_checks")
        return caught.value.data["decisionId"]

    assert [unbound(), unbound()] == ["D1", "D1"]
    bench.decide("D1", deciding.NO_TASK)
    assert unbound() == "D1"
    bench.disk.files["three.contract.json"] = contract_text("task-3", ("etc/",)).encode()
    bench.clock.advance(2)
    bench.activate("three.contract.json")
    assert unbound() == "D2", "there is something new to choose from"
    bench.decide("D2", "task-3")
    assert bench.call("get_contract")["task"]["taskId"] == "task-3"


def test_a_question_about_other_tasks_is_withdrawn() -> None:
    bench = desk({"two.contract.json": contract_text("task-2", ("docs/",))})
    bench.activate("two.contract.json")
    for path, task in (("two.contract.json", "task-2"), ("three.contract.json", "task-3")):
        bench.disk.files[path] = contract_text(task, ("docs/",)).encode()
        bench.clock.advance(2)
        if task == "task-3":
            bench.activate(path)
        with pytest.raises(AgentFault):
            bench.call("list_checks")
    assert [(name, entry.state) for name, entry in bench.state.decisions.items()] == [
        ("D1", "withdrawn"),
        ("D2", "pending"),
    ]
