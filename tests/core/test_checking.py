"""Checks: which may run, what a run is bound to, and when its result no longer counts."""

from __future__ import annotations

import pytest

from desks import NAME, POLICY, check_desk, refused, run, status
from fakes import POLICY_PATH, Bench, contract_text, desk
from remit.core.effects import CheckDone
from remit.core.faults import AgentFault, UserFault
from remit.core.text import Edit, Position, Range


@pytest.fixture
def bench() -> Bench:
    return check_desk()


def test_every_named_check_is_listed_with_how_it_stands(bench: Bench) -> None:
    assert status(bench) == {"look": "not_run", "tests": "not_run", "all": "not_run", "build": "forbidden"}
    listed = {one["checkId"]: one for one in bench.call("list_checks")["checks"]}
    assert (listed["look"]["required"], listed["look"]["kind"], listed["tests"]["title"]) == (
        True,
        "human",
        "Unit tests",
    )
    assert (listed["build"]["mayRun"], listed["build"]["reason"]) == (False, "The contract forbids it.")


def test_a_run_is_exactly_what_the_policy_says(bench: Bench) -> None:
    bench.act("runCheck", "tests", "task-1")
    (effect,) = bench.runs
    assert (effect.argv, effect.cwd, effect.environment) == (("run-tests", "check.sh"), ".", ("TOKEN",))
    assert (effect.timeout, effect.output_limit) == (7, 200_000)
    assert status(bench)["tests"] == "running"


@pytest.mark.parametrize(
    ("result", "code", "expected"),
    [
        ("passed", 0, "passed"),
        ("failed", 1, "failed"),
        ("timed_out", None, "failed"),
        ("not_started", None, "not_run"),
    ],
)
def test_a_run_ends_in_one_way(bench: Bench, result: str, code: int | None, expected: str) -> None:
    bench.act("runCheck", "tests", "task-1")
    bench.ran(result, code)
    assert status(bench)["tests"] == expected
    assert bench.state.running() == []


def test_asking_twice_is_one_question_and_running_answers_it(bench: Bench) -> None:
    first, second = (bench.call("run_check", checkId="tests")["decisionId"] for _ in range(2))
    assert (first, second, status(bench)["tests"]) == ("D1", "D1", "waiting")
    start = bench.seq
    run(bench)
    assert bench.story(start)[3] == "decision_withdrawn"
    assert bench.call("wait_for_decision", decisionId="D1")["run"]["state"] == "passed"


def test_a_refused_run_does_not_answer_with_an_older_one(bench: Bench) -> None:
    run(bench)
    bench.call("run_check", checkId="tests")
    bench.decide("D1", "refuse")
    answer = bench.call("wait_for_decision", decisionId="D1")
    assert (answer["settled"], answer["decision"]["answer"], answer.get("run")) == (True, "Do not run", None)


def test_an_offer_of_a_run_is_void_when_anything_it_shows_moved(bench: Bench) -> None:
    for moved in (NAME, "check.sh"):
        offer = bench.offer("runCheck", "tests", "task-1")
        bench.disk.files[moved] += b"more\n"
        assert refused(lambda offer=offer: bench.command("runCheck", offer)) == "approval_stale"
    assert bench.runs == []


def test_an_offer_of_a_run_is_used_once(bench: Bench) -> None:
    offer = bench.offer("runCheck", "tests", "task-1")
    bench.command("runCheck", offer)
    assert refused(lambda: bench.command("runCheck", offer)) == "already_decided"
    assert len(bench.runs) == 1


def test_unsaved_inputs_are_named_and_a_human_may_run_it_anyway(bench: Bench) -> None:
    bench.open(NAME)
    bench.type(NAME, 0, 0, "x")
    offer = bench.offer("runCheck", "tests", "task-1")
    with pytest.raises(UserFault) as caught:
        bench.command("runCheck", offer)
    assert (caught.value.code, caught.value.data["paths"]) == ("needs_save", [NAME])
    bench.command("runCheck", offer, anyway=True)
    bench.ran()
    last = next(one for one in bench.call("list_checks")["checks"] if one["checkId"] == "tests")["lastRun"]
    assert (last["notSeen"], last["fresh"]) == ([NAME], False), "it ran on the disk, not on what is typed"
    bench.save(NAME)
    assert status(bench)["tests"] == "stale"


def test_a_human_look_is_at_what_the_editor_shows(bench: Bench) -> None:
    bench.open(NAME)
    bench.type(NAME, 0, 0, "x")
    bench.act("runCheck", "look", "task-1", option="sign_off")
    assert (status(bench)["look"], bench.runs) == ("passed", [])
    bench.save(NAME)
    assert status(bench)["look"] == "passed"
    bench.act("runCheck", "look", "task-1", option="object")
    assert status(bench)["look"] == "failed"


def test_forbidden_and_unnamed_checks_are_refused_to_everybody(bench: Bench) -> None:
    assert refused(lambda: bench.call("run_check", checkId="build"), AgentFault) == "check_forbidden"
    assert refused(lambda: bench.act("runCheck", "build", "task-1")) == "check_forbidden"
    assert refused(lambda: bench.act("runCheck", "other", "task-1")) == "check_not_allowed"
    assert bench.runs == []


def test_an_agent_without_the_right_cannot_ask(bench: Bench) -> None:
    poor = desk({}, contract=contract_text(allowedTools=["read_file"], verification={"allowed": ["look"]}))
    assert refused(lambda: poor.call("run_check", checkId="look"), AgentFault) == "right_missing"


def test_an_outcome_that_comes_twice_counts_once(bench: Bench) -> None:
    bench.act("runCheck", "tests", "task-1")
    name = bench.runs[0].action
    bench.ran()
    start = bench.seq
    bench.session.happened(CheckDone(name, "failed", 1, b"", 0, 0.1))
    assert (bench.story(start), status(bench)["tests"]) == ([], "passed")


def test_output_is_kept_and_a_long_one_shown_from_its_end(bench: Bench) -> None:
    bench.act("runCheck", "tests", "task-1")
    name = bench.runs[0].action
    bench.session.happened(CheckDone(name, "failed", 1, b"x" * 5000 + b"\xff the end", 99_999, 0.1234))
    last = next(one for one in bench.call("list_checks")["checks"] if one["checkId"] == "tests")["lastRun"]
    assert last["output"].endswith("\ufffd the end")
    assert last["output"].startswith("…x")
    finished = bench.state.actions[name].finished
    assert (finished.output_cut, finished.output_bytes, finished.seconds) == (True, 99_999, 0.123)


# --- a result is for this content, of this program, seen all along ----------------------------------------------------


def done(bench: Bench) -> list[str]:
    return [line.subject for line in bench.session.report().done if line.kind == "check"]


def test_a_result_of_another_definition_is_no_result() -> None:
    for old, new in (
        ('"run-tests"', '"true"'),
        ('["TOKEN"]', '["OTHER"]'),
        ("timeout = 7", 'timeout = 7\ncwd = "src"'),
    ):
        bench = check_desk()
        run(bench)
        assert done(bench) == ["tests"]
        bench.disk.files[POLICY_PATH] = POLICY.replace(old, new).encode()
        bench.activate(POLICY_PATH)
        assert done(bench) == []
        bench.disk.files[POLICY_PATH] = POLICY.encode()
        bench.activate(POLICY_PATH)
        assert done(bench) == ["tests"]


def test_inputs_that_moved_under_the_run_and_back_are_no_evidence() -> None:
    bench = check_desk()
    bench.act("runCheck", "tests", "task-1")
    bench.disk.files[NAME] = b"other\n"
    bench.ran()
    bench.disk.files[NAME] = b"a\n"
    assert done(bench) == [] and not bench.state.actions["A1"].finished.held


def test_a_disk_that_has_parted_from_the_editor_is_not_what_was_checked() -> None:
    bench = check_desk()
    bench.open(NAME)
    run(bench)
    bench.disk.files[NAME] = b"somebody else\n"
    assert done(bench) == []


def test_a_buffer_in_doubt_is_not_what_was_checked() -> None:
    bench = check_desk()
    run(bench)
    bench.session.changed(NAME, 7, [Edit("x", Range(Position(0, 0), Position(0, 0)))])
    assert done(bench) == []


def test_an_input_that_cannot_be_looked_at_is_named_and_to_be_confirmed() -> None:
    bench = check_desk()
    bench.disk.files["src/big"] = b"?"
    bench.disk.unreadable.add("src/big")
    bench.clock.advance(2)
    run(bench)
    assert done(bench) == []
    line = next(line for line in bench.session.report().to_be_confirmed if line.subject == "tests")
    assert "passed, but src/big cannot be looked at" in line.text
