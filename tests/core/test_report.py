"""`core.report`: every line stands in the list its evidence puts it in, and no word of an agent moves one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes import CONTRACT_PATH, Bench, MemoryDisk, contract_text, desk, sha
from remit.core.events import Finished
from remit.core.faults import AgentFault, UserFault
from remit.core.report import Line, Report, markdown, open_points
from remit.core.state import State

CONTRACT = contract_text(verification={"required": ["unit"], "allowed": ["look"], "forbidden": ["build"]})
POLICY = '[checks.unit]\nargv = ["true"]\ninputs = ["src/"]\n'


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": "a\n", "src/b": "b\n"}, contract=CONTRACT, policy=POLICY)


def report(bench: Bench) -> Report:
    """The report, whose every line must cite events that are in the journal."""
    found = bench.session.report()
    seqs = {record.seq for record in bench.journal.records}
    for line in (*found.done, *found.failed, *found.not_run, *found.to_be_confirmed, *found.refused):
        assert line.evidence.events and set(line.evidence.events) <= seqs
    assert {claim.event for claim in found.claims} <= seqs
    json.dumps(found.wire())
    return found


def where(found: Report, subject: str) -> dict[str, list[str]]:
    """The lines about a subject, by list."""
    lists: dict[str, tuple[Line, ...]] = {
        "done": found.done,
        "failed": found.failed,
        "not_run": found.not_run,
        "to_be_confirmed": found.to_be_confirmed,
    }
    said = {name: [line.text for line in lines if line.subject == subject] for name, lines in lists.items()}
    return {name: lines for name, lines in said.items() if lines}


def run(bench: Bench, result: str = "passed", code: int | None = 0) -> None:
    bench.act("runCheck", "unit", "task-1")
    bench.ran(result, code)


def test_a_task_that_has_only_begun_has_done_nothing(bench: Bench) -> None:
    found = report(bench)
    assert (found.task_id, found.goal, found.contract) == ("task-1", "Make it right.", sha(CONTRACT))
    assert found.activated_by.startswith("human (Test Editor)")
    assert (found.done, found.failed, found.to_be_confirmed, found.touched) == ((), (), (), ())
    assert where(found, "unit") == {"not_run": ["Check unit has not run. It is required."]}
    assert where(found, "look") == {"not_run": ["Check look has not run."]}
    assert where(found, "build") == {"not_run": ["Check build was not run: the contract forbids it."]}
    assert found.guards == ("fakes",)


def test_the_word_of_an_agent_is_attached_and_moves_nothing(bench: Bench) -> None:
    before = report(bench)
    answer = bench.call("finish_task", summary="All tests pass. Done!")
    found = report(bench)
    assert [(claim.agent, claim.text) for claim in found.claims] == [("agent-0001", "All tests pass. Done!")]
    assert found.model_copy(update={"claims": ()}) == before
    assert isinstance(bench.events()[found.claims[0].event - 1], Finished)
    assert "Check unit has not run. It is required." in answer["open"]
    assert list(answer["open"]) == list(open_points(found))


def test_a_run_counts_for_the_content_it_saw(bench: Bench) -> None:
    run(bench)
    assert where(report(bench), "unit") == {"done": ["Check unit passed on the present content in no sandbox."]}
    bench.accept(bench.propose({"src/a": "A\n"}))
    bench.clock.advance(5)
    assert where(report(bench), "unit") == {
        "to_be_confirmed": ["Check unit ran before the last change. It is required."]
    }
    run(bench)
    assert where(report(bench), "unit") == {"done": ["Check unit passed on the present content in no sandbox."]}


def test_undo_of_the_last_change_makes_a_run_count_again(bench: Bench) -> None:
    bench.open("src/a")
    run(bench)
    bench.type("src/a", 0, 0, "x")
    assert "to_be_confirmed" in where(report(bench), "unit")
    bench.undo("src/a")
    assert "done" in where(report(bench), "unit")


def test_a_change_of_something_a_check_does_not_look_at_leaves_its_result(bench: Bench) -> None:
    run(bench)
    bench.disk.files["docs/x"] = b"x\n"
    bench.clock.advance(5)
    assert "done" in where(report(bench), "unit")


@pytest.mark.parametrize(("result", "code"), [("failed", 1), ("timed_out", None)])
def test_a_run_that_failed_has_failed(bench: Bench, result: str, code: int | None) -> None:
    run(bench, result, code)
    assert list(where(report(bench), "unit")) == ["failed"]


def test_a_run_that_did_not_start_has_not_run(bench: Bench) -> None:
    run(bench, "not_started", None)
    assert list(where(report(bench), "unit")) == ["not_run"]


def test_a_run_that_is_under_way_or_was_cut_off_is_to_be_confirmed(bench: Bench) -> None:
    bench.act("runCheck", "unit", "task-1")
    assert where(report(bench), "unit") == {"to_be_confirmed": ["Check unit is running. It is required."]}
    bench = bench.restart()
    text = "Check unit was cut off; its outcome is not known. It is required."
    assert where(report(bench), "unit") == {"to_be_confirmed": [text]}


def test_what_a_run_did_not_see_is_said(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 0, 0, "x")
    bench.act("runCheck", "unit", "task-1", anyway=True)
    bench.ran()
    ((text,),) = where(report(bench), "unit").values()
    assert "It did not see unsaved text of src/a." in text and list(where(report(bench), "unit")) == ["to_be_confirmed"]


@pytest.mark.parametrize(("verdict", "list_"), [("sign_off", "done"), ("object", "failed"), ("not_yet", "not_run")])
def test_a_person_signs_off_or_objects(bench: Bench, verdict: str, list_: str) -> None:
    decision = bench.call("run_check", checkId="look")["decisionId"]
    assert where(report(bench), "look") == {"not_run": ["Check look has not run: it waits for a human."]}
    bench.decide(decision, verdict)
    assert list(where(report(bench), "look")) == [list_]


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_is_done_when_it_is_there(bench: Bench) -> None:
    name = bench.propose({"src/a": "A\n", "src/b": "B\n"})
    assert where(report(bench), name) == {"to_be_confirmed": [f"{name} waits for review: src/a, src/b."]}
    bench.accept(name)
    found = report(bench)
    assert where(found, name) == {"done": [f"{name} applied: src/a, src/b."]}
    assert found.touched == ("src/a", "src/b")
    (line,) = [line for line in found.done if line.subject == name]
    assert line.evidence.digests == (sha("A\n"), sha("B\n"))
    moved = bench.events()[line.evidence.events[-1] - 1]
    assert getattr(moved, "to", None) == "succeeded"


def test_a_change_that_failed_is_named_and_can_be_tried_again(bench: Bench) -> None:
    bench.open("src/a")
    name = bench.propose({"src/a": "A\n"})
    bench.accept(name)
    bench.answer(False, "read-only")
    found = report(bench)
    assert found.touched == () and any("read-only" in text for text in where(found, name)["failed"])
    bench.accept(name)
    bench.play()
    assert "done" in where(report(bench), name)


def test_a_change_of_which_nobody_knows_is_to_be_confirmed(bench: Bench) -> None:
    bench.open("src/a")
    name = bench.propose({"src/a": "A\n"})
    bench.accept(name)
    bench.answer(True)
    bench.wait(10)
    found = report(bench)
    assert list(where(found, name)) == ["to_be_confirmed"] and found.touched == ()
    (decision,) = bench.state.decisions
    assert list(where(found, decision)) == ["to_be_confirmed"]
    bench.decide(decision, "applied")
    assert where(report(bench), decision) == {}
    assert list(where(report(bench), name)) == ["to_be_confirmed"], "somebody's word is no evidence of the text"
    bench.type("src/a", 0, 0, "A", (0, 1))
    assert list(where(report(bench), name)) == ["done"]


def test_what_was_rejected_is_no_longer_open(bench: Bench) -> None:
    name = bench.propose({"src/a": "A\n"})
    bench.act("reject", name)
    assert where(report(bench), name) == {}


def test_what_was_refused_outside_the_remit_is_listed_and_slips_are_not(bench: Bench) -> None:
    for path, base in (("other/x", "absent"), ("src/a", sha("never"))):
        with pytest.raises(AgentFault):
            bench.call("propose_patch", files=[{"path": path, "content": "x\n"}], bases={path: base})
    assert [line.subject for line in report(bench).refused] == ["other/x"]


def test_a_question_that_waits_is_open(bench: Bench) -> None:
    bench.call("ask_human", question="Which?")
    assert where(report(bench), "D1") == {"to_be_confirmed": ["D1 waits for an answer: Which?"]}
    bench.decide("D1", text="this")
    assert where(report(bench), "D1") == {}


def test_the_report_is_the_same_from_the_journal_alone(bench: Bench) -> None:
    bench.accept(bench.propose({"src/a": "A\n"}))
    run(bench)
    before = report(bench)
    later = bench.restart()
    assert report(later) == before and isinstance(later.state, State)


def test_a_report_needs_a_task_that_is_active(bench: Bench) -> None:
    with pytest.raises(UserFault) as none:
        bench.session.report("task-9")
    assert none.value.code == "no_such_task"
    bench.disk.files["b.contract.json"] = contract_text("task-2").encode()
    bench.clock.advance(5)
    bench.activate("b.contract.json")
    with pytest.raises(UserFault) as several:
        bench.session.report()
    assert several.value.code == "no_such_task" and bench.session.report("task-2").task_id == "task-2"


# --- for people -------------------------------------------------------------------------------------------------------


def test_people_read_four_lists_and_what_the_agent_says_apart(bench: Bench) -> None:
    bench.accept(bench.propose({"src/a": "A\n"}))
    bench.call("finish_task", summary="Fine.\n## Done\n- everything")
    lines = markdown(report(bench)).split("\n")
    assert [line for line in lines if line.startswith("#")] == [
        *("# Report: task-1", "## Done", "## Failed", "## Not run", "## To be confirmed"),
        *("## Scope and guards", "## What the agent says (not evidence)"),
    ]
    assert lines[lines.index("## Failed") + 2] == "Nothing."
    assert any(line.startswith("> Fine. ## Done - everything (event ") for line in lines)


@pytest.mark.parametrize("text", ["<img src=x>", "a\x1b[31mb", "[x](http://y)", "a\u202eb", "a\nb"])
def test_no_text_of_others_acts_on_a_page_or_a_terminal(text: str) -> None:
    contract: dict[str, Any] = json.loads(contract_text())
    bench = Bench(disk=MemoryDisk({CONTRACT_PATH: json.dumps({**contract, "goal": text}).encode()}))
    bench.activate()
    page = markdown(bench.session.report())
    assert text not in page and "\x1b" not in page and "<img" not in page
