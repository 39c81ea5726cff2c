"""`core.overview`: everything that waits, each with the offer that answers it, and nothing that is settled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes import CONTRACT_PATH, POLICY_PATH, Bench, MemoryDisk, contract_text, desk, sha
from remit.core.overview import overview

CONTRACT = contract_text(verification={"allowed": ["unit"], "forbidden": ["build"]})
POLICY = '[checks.unit]\nargv = ["true"]\n'


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": "one\ntwo\nthree\n"}, contract=CONTRACT, policy=POLICY)


def view(bench: Bench) -> Any:
    shown = overview(bench.session.peek())
    assert json.loads(json.dumps(shown)) == shown
    return shown


def test_a_quiet_workspace_shows_its_task_and_nothing_that_waits(bench: Bench) -> None:
    shown = view(bench)
    assert (shown["mode"], shown["seq"]) == ("editor", bench.seq)
    assert [task["taskId"] for task in shown["tasks"]] == ["task-1"]
    assert shown["proposals"] == shown["decisions"] == shown["activations"] == []
    assert [agent["name"] for agent in shown["agents"]] == ["coder"]


def test_checks_that_may_run_have_an_offer_and_others_have_none(bench: Bench) -> None:
    unit, build = view(bench)["tasks"][0]["checks"]
    assert (unit["checkId"], unit["status"], build["checkId"], build["offer"]) == ("unit", "not_run", "build", None)
    bench.command("runCheck", unit["offer"])
    assert [run.check for run in bench.runs] == ["unit"]


def test_a_proposal_is_shown_whole_and_each_of_its_offers_answers(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nTHREE\n"}, note="Louder.")
    (shown,) = view(bench)["proposals"]
    assert (shown["proposal"], shown["note"], shown["fresh"], shown["rebase"]) == ("P1", "Louder.", True, None)
    assert [(hunk["id"], hunk["old"], hunk["new"]) for hunk in shown["hunks"]] == [
        ("P1.1", ["one\n"], ["ONE\n"]),
        ("P1.2", ["three\n"], ["THREE\n"]),
    ]
    offers = [shown["accept"], shown["reject"], *(hunk[act] for hunk in shown["hunks"] for act in ("accept", "reject"))]
    assert len(set(offers)) == 6
    bench.command("acceptHunk", shown["hunks"][0]["accept"])
    (rest,) = view(bench)["proposals"]
    assert [hunk["id"] for hunk in rest["hunks"]] == ["P1.2"]
    bench.command("reject", rest["reject"])
    assert view(bench)["proposals"] == []


def test_the_same_showing_has_the_same_offers(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nTHREE\n"})
    assert view(bench) == view(bench)


def test_a_stale_proposal_is_shown_stale_with_a_rebase_where_one_is_possible(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nthree\n"})
    bench.disk.files["src/a"] = b"one\ntwo\nTHREE\n"
    (shown,) = view(bench)["proposals"]
    assert (shown["fresh"], shown["stale"][0]["current"]) == (False, sha("one\ntwo\nTHREE\n"))
    assert bench.command("rebase", shown["rebase"]) == "P2"
    bench.disk.files["src/a"] = b"uno\n"
    (shown,) = view(bench)["proposals"]
    assert (shown["proposal"], shown["fresh"], shown["rebase"]) == ("P2", False, None)


def test_a_stale_one_is_shown_on_the_present_text_with_the_digests_it_would_have(bench: Bench) -> None:
    bench.disk.files["src/a"] = b"one\ntwo\nthree\nfour\nfive\n"
    bench.propose({"src/a": "ONE\ntwo\nthree\nfour\nFIVE\n"})
    bench.disk.files["src/a"] = b"one\ntwo\nmore\nthree\nfour\nfive\n"
    (shown,) = view(bench)["proposals"]
    assert (shown["shown"], shown["fresh"], shown["made"]) == ("rebased", False, "agent")
    wanted = "ONE\ntwo\nmore\nthree\nfour\nFIVE\n"
    (file,) = shown["files"]
    assert (file["base"], file["result"]) == (sha("one\ntwo\nmore\nthree\nfour\nfive\n"), sha(wanted))
    placed = [(hunk["id"], hunk["oldStart"], hunk["placed"]) for hunk in shown["hunks"]]
    assert placed == [("P1.1", 1, "exact"), ("P1.2", 6, "rebase(+1)")]
    bench.command("accept", shown["accept"])
    assert bench.disk.files["src/a"] == wanted.encode()
    assert view(bench)["applied"][0]["reviewed"] is True and view(bench)["applied"][0]["seen"] is None


def test_what_does_not_fit_is_shown_as_proposed_with_both_sides_and_no_yes(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nTHREE\n"})
    bench.disk.files["src/a"] = b"uno\ntwo\nthree\n"
    (shown,) = view(bench)["proposals"]
    assert (shown["shown"], shown["accept"], shown["amend"], shown["rebase"]) == ("proposed", None, None, None)
    assert [hunk["accept"] for hunk in shown["hunks"]] == [None, None] and shown["hunks"][0]["reject"]
    assert shown["stale"][0]["conflicts"][0]["present"] == ["uno\n"]
    assert shown["files"][0]["base"] == sha("one\ntwo\nthree\n")


def test_others_for_the_same_lines_are_named(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nTHREE\n"})
    bench.connect("agent-0002")
    bench.propose({"src/a": "one\nTWO\nthree\n"})
    first, second = view(bench)["proposals"]
    assert first["hunks"][0]["overlaps"] == [{"proposal": "P2", "hunk": "P2.1", "agent": "agent-0002"}]
    assert [one["hunk"] for one in second["hunks"][0]["overlaps"]] == ["P1.1", "P1.2"]


def test_a_decision_is_shown_until_it_is_answered(bench: Bench) -> None:
    bench.call("ask_human", question="Which?", options=["this", "that"], why="To go on.")
    (shown,) = view(bench)["decisions"]
    assert (shown["decision"], shown["question"], shown["why"]) == ("D1", "Which?", "To go on.")
    assert [option["title"] for option in shown["options"]] == ["this", "that"] and shown["askedAt"]
    bench.command("decide", shown["offer"], option="that")
    assert view(bench)["decisions"] == []


def activations(bench: Bench) -> list[str]:
    return [one["path"] for one in view(bench)["activations"]]


def test_what_could_be_activated_is_what_is_valid_and_not_in_force(bench: Bench) -> None:
    bench.disk.files[CONTRACT_PATH] = contract_text(goal="Another.").encode()
    bench.disk.files[POLICY_PATH] = b"[checks]\n"
    bench.disk.files["docs/second.contract.json"] = contract_text("task-2").encode()
    bench.disk.files["docs/broken.contract.json"] = b"{}"
    bench.clock.advance(5)
    assert activations(bench) == ["docs/second.contract.json", CONTRACT_PATH, POLICY_PATH]
    bench.activate("docs/second.contract.json")
    bench.disk.files[CONTRACT_PATH], bench.disk.files[POLICY_PATH] = CONTRACT.encode(), POLICY.encode()
    assert activations(bench) == []


def test_a_contract_that_is_only_in_the_editor_can_be_activated() -> None:
    bench = Bench(disk=MemoryDisk({}))
    bench.open("new.contract.json", contract_text("task-9"))
    assert activations(bench) == ["new.contract.json"]
    assert bench.activate("new.contract.json") == "task-9"
    assert activations(bench) == []
