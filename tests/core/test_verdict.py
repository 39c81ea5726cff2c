"""`core.verdict`: what an agent is told of its proposal, in every state, and as a diff that can be sent again."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import Bench, contract_text, desk, sha
from remit.core.faults import AgentFault

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": TEXT, "src/dos": "x\r\ny\r\n", "other/c": "c\n"})


def refusal(bench: Bench, verb: str, **params: Any) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        bench.call(verb, **params)
    assert len(caught.value.message) <= 100
    return caught.value


# --- proposals --------------------------------------------------------------------------------------------------------


def standing(bench: Bench, name: str = "P1") -> tuple[str, bool, bool]:
    answer = bench.call("proposal_status", proposalId=name)
    return answer["state"], answer["fresh"], answer["settled"]


def test_how_a_proposal_stands(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two", "TWO")})
    assert standing(bench) == ("pending", True, False)
    bench.disk.files["src/a"] = b"zero\n" + TEXT.encode()
    assert standing(bench) == ("pending", False, False)
    answer = bench.call("wait_for_review", proposalId="P1", seconds=0)
    assert [view["rebase"] for view in answer["stale"]] == ["clean"] and "replaces" in answer["next"]
    name = bench.act("rebase", "P1")
    answer = bench.call("proposal_status", proposalId="P1")
    assert (answer["state"], answer["settled"], answer["replacedBy"]) == ("superseded", False, [name])
    bench.accept(name)
    assert standing(bench) == ("superseded", False, True) and standing(bench, name) == ("applied", False, True)
    assert "All of it is applied" in bench.call("proposal_status", proposalId="P1")["next"]


def test_how_its_parts_stand(bench: Bench) -> None:
    bench.propose({"src/a": "ONE\ntwo\nTHREE\n"})
    bench.accept("P1", "P1.1")
    answer = bench.call("proposal_status", proposalId="P1")
    assert [hunk["state"] for hunk in answer["hunks"]] == ["applied", "pending"] and not answer["settled"]
    bench.act("reject", "P3")
    answer = bench.call("proposal_status", proposalId="P1")
    assert [hunk["state"] for hunk in answer["hunks"]] == ["applied", "rejected"] and answer["settled"]
    assert answer["next"].startswith("It is applied and rejected.")


def test_what_blocks_it_is_named(bench: Bench) -> None:
    bench.propose({"src/.env": "k\n"})
    answer = bench.call("proposal_status", proposalId="P1")
    assert (answer["decisions"], answer["settled"]) == (["D1"], False) and "D1" in answer["next"]
    assert refusal(bench, "proposal_status", proposalId="P9").code == "unknown_proposal"


def test_an_unknown_outcome_is_not_to_be_proposed_again(bench: Bench) -> None:
    bench.open("src/a")
    bench.propose({"src/a": "x\n"})
    bench.accept("P1")
    bench.answer(True)
    bench.wait(10)
    answer = bench.call("proposal_status", proposalId="P1")
    assert answer["state"] == "outcome_unknown" and "Do not propose it again" in answer["next"]


# --- the page ---------------------------------------------------------------------------------------------------------


def test_a_proposal_replaced_a_thousand_times_is_still_told_of() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/a": "0\n"})
    for number in range(1, 1100):
        bench.propose({"src/a": f"{number}\n"}, replaces=f"P{number}")
    assert bench.call("proposal_status", proposalId="P1")["replacedBy"] == ["P1100"]


def test_a_proposal_of_another_task_is_not_seen() -> None:
    bench = desk({"src/a": "a\n", "two.contract.json": contract_text("task-2", ("docs/",))})
    bench.propose({"src/a": "b\n"})
    bench.activate("two.contract.json")
    other = bench.connect("agent-0002", "other")
    for verb in ("proposal_status", "wait_for_review"):
        with pytest.raises(AgentFault) as caught:
            bench.call(verb, other, proposalId="P1")
        assert caught.value.code == "unknown_proposal"


def test_what_was_revised_a_thousand_times_can_still_be_asked_about() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/a": "b\n"})
    for number in range(1, 1200):
        bench.propose({"src/a": f"b{number}\n"}, replaces=f"P{number}")
    assert bench.call("proposal_status", proposalId="P1")["replacedBy"] == ["P1200"]


# --- the diff of a proposal -------------------------------------------------------------------------------------------


def test_a_proposal_is_told_as_a_diff_that_can_be_sent_again(bench: Bench) -> None:
    new = TEXT.replace("two", "TWO")
    name = bench.propose({"src/a": new, "src/new": "n\n", "src/dos": None})
    for verb in ("proposal_status", "wait_for_review"):
        diff = bench.call(verb, proposalId=name)["diff"]
        assert diff.startswith("diff --git a/src/a b/src/a\nindex ") and "\n-two\n+TWO\n" in diff
        assert "new file mode 100644" in diff and "deleted file mode 100644" in diff
    again = bench.call("propose_patch", patch=diff)
    results = {file["path"]: file["result"] for file in again["files"]}
    assert results == {"src/a": sha(new), "src/new": sha("n\n"), "src/dos": "absent"}
    assert all(one["diff"] == "" for one in bench.call("task_status")["proposals"])


def test_a_diff_has_the_mark_that_git_would_show_and_nothing_json_cannot_say(bench: Bench) -> None:
    bench.disk.files |= {"src/bom": b"\xef\xbb\xbfone\n", "src/old": b"caf\xe9\n"}
    name = bench.propose({"src/bom": "ONE\n", "src/old": "café\nx\n"})
    diff = bench.call("proposal_status", proposalId=name)["diff"]
    assert "-\ufeffone\n+\ufeffONE\n" in diff and " café\n+x\n" in diff
    diff.encode()


def test_a_long_diff_is_cut_and_says_so(bench: Bench) -> None:
    name = bench.propose({"src/a": "x" * 100_000 + "\n"})
    diff = bench.call("proposal_status", proposalId=name)["diff"]
    assert len(diff) < 17_000 and diff.endswith("(cut; the hunks say the rest)\n")


def test_who_may_not_read_is_shown_no_diff() -> None:
    bench = desk({"src/a": TEXT}, contract=contract_text(allowedTools=["apply_patch"]))
    name = bench.propose({"src/a": "x\n"})
    assert bench.call("proposal_status", proposalId=name)["diff"] == ""


def test_a_diff_whose_texts_are_gone_is_left_out(bench: Bench) -> None:
    name = bench.propose({"src/a": "x\n"})
    del bench.journal.blobs[sha(TEXT)]
    assert bench.call("proposal_status", proposalId=name)["diff"] == ""
