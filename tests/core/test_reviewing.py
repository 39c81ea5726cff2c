"""`core.reviewing`: each answer binds what was shown, is used once, and divides a proposal exactly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import CONTRACT_PATH, Bench, FailingJournal, contract_text, desk, sha
from remit.core.faults import UserFault, WorldFault
from remit.core.model import ABSENT
from remit.mediator import Abilities

LINES = [f"line {number}\n" for number in range(1, 11)]
TEXT = "".join(LINES)


def shouted(*numbers: int) -> str:
    """The text with these lines (from 1) in capitals."""
    return "".join(line.upper() if at in numbers else line for at, line in enumerate(LINES, 1))


@pytest.fixture
def bench() -> Bench:
    """Three hunks in a closed file."""
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.propose({"src/a": shouted(2, 5, 8)})
    return bench


def refused(bench: Bench, code: str, command: str, offer: str, **more: Any) -> UserFault:
    files, seq = dict(bench.disk.files), bench.seq
    with pytest.raises(UserFault) as caught:
        bench.command(command, offer, **more)
    assert caught.value.code == code, caught.value
    assert len(caught.value.message) <= 100
    assert bench.disk.files == files and bench.seq == seq
    return caught.value


def waiting(bench: Bench) -> list[str]:
    return [entry.outline.proposal for entry in bench.state.open_proposals()]


# --- accept -----------------------------------------------------------------------------------------------------------


def test_accepting_writes_exactly_what_was_shown(bench: Bench) -> None:
    action = bench.accept("P1")
    assert bench.disk.files["src/a"] == shouted(2, 5, 8).encode()
    assert (action, bench.state.proposals["P1"].state, waiting(bench)) == ("A1", "applied", [])
    approval = bench.state.actions["A1"].plan.approval
    assert approval.by == "human (Test Editor)" and len(approval.binding) == 64


def test_an_answer_is_used_once(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    bench.command("accept", offer)
    assert "P1" in str(refused(bench, "already_decided", "accept", offer).data["decided"])
    refused(bench, "approval_unknown", "accept", "made-up")


def test_an_offer_to_accept_does_not_reject(bench: Bench) -> None:
    refused(bench, "wrong_offer", "reject", bench.offer("accept", "P1"))
    assert waiting(bench) == ["P1"]


def test_an_old_prompt_answers_nothing_in_a_new_session(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    refused(bench.restart(), "approval_unknown", "accept", offer)


def test_an_answer_to_what_was_settled_otherwise_comes_too_late(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    bench.act("reject", "P1")
    assert refused(bench, "already_decided", "accept", offer).data["state"] == "rejected"


def test_a_contract_that_changed_voids_what_was_shown(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    bench.disk.files[CONTRACT_PATH] = contract_text(goal="Another.").encode()
    bench.activate()
    refused(bench, "approval_stale", "accept", offer)
    bench.accept("P1")
    assert bench.state.proposals["P1"].state == "applied"


def test_a_scope_that_was_narrowed_holds_for_what_waits(bench: Bench) -> None:
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=("docs/",)).encode()
    bench.activate()
    assert refused(bench, "outside_scope", "accept", bench.offer("accept", "P1")).data["path"] == "src/a"


def test_a_stale_proposal_is_not_applied_and_says_what_moved(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    bench.disk.files["src/a"] = (TEXT + "more\n").encode()
    fault = refused(bench, "stale", "accept", offer)
    assert fault.data["proposal"] == "P1" and "Rebase" in fault.remedy
    views = fault.data["stale"]
    assert isinstance(views, list) and isinstance(views[0], dict) and len(views) == 1
    assert (views[0]["rebase"], views[0]["current"]) == ("clean", sha(TEXT + "more\n"))
    bench.disk.files["src/a"] = TEXT.encode()
    bench.command("accept", offer)
    assert bench.state.proposals["P1"].state == "applied"


def test_content_in_doubt_is_not_written(bench: Bench) -> None:
    bench.open("src/a")
    bench.disk.files["src/a"] = b"theirs\n"
    refused(bench, "disk_conflict", "accept", bench.offer("accept", "P1"))
    bench.disk.files["src/a"] = TEXT.encode()
    bench.session.changed("src/a", 1, [])
    refused(bench, "buffer_unknown", "accept", bench.offer("accept", "P1"))


def test_what_this_session_cannot_do_is_refused_before_it_begins(bench: Bench) -> None:
    bench.propose({"src/b": None})
    bench.open("src/b")
    refused(bench, "target_open", "accept", bench.offer("accept", "P2"))
    weak = bench.restart(abilities=Abilities())
    weak.open("src/a")
    refused(weak, "client_cannot_apply", "accept", weak.offer("accept", "P1"))
    alone = weak.restart(mode="headless")
    refused(alone, "no_editor", "accept", alone.offer("accept", "P1"))


def test_a_file_that_is_being_written_is_not_written_by_another(bench: Bench) -> None:
    bench.propose({"src/a": TEXT + "more\n"})
    bench.open("src/a")
    bench.accept("P1")
    fault = refused(bench, "busy", "accept", bench.offer("accept", "P2"))
    assert fault.data["action"] == "A1"
    bench.play()
    assert bench.state.proposals["P1"].state == "applied" and bench.text("src/a") == shouted(2, 5, 8)


# --- hunk by hunk -----------------------------------------------------------------------------------------------------


def test_one_hunk_is_applied_and_the_rest_is_bound_to_what_came_of_it(bench: Bench) -> None:
    bench.accept("P1", "P1.2")
    assert bench.disk.files["src/a"] == shouted(5).encode()
    assert waiting(bench) == ["P3"]
    rest = bench.session.peek().proposal("P3").files[0]
    assert (rest.base, rest.result) == (sha(shouted(5)), sha(shouted(2, 5, 8)))
    assert bench.state.hunks == {"P1.1": "pending", "P1.2": "applied", "P1.3": "pending"}
    assert bench.state.proposals["P1"].replaced_by == ("P2", "P3")
    bench.accept("P3")
    assert bench.disk.files["src/a"] == shouted(2, 5, 8).encode()


def test_one_hunk_is_rejected_and_the_rest_waits(bench: Bench) -> None:
    rest = bench.act("rejectHunk", "P1", "P1.2")
    assert waiting(bench) == [rest] and bench.state.hunks["P1.2"] == "rejected"
    bench.accept(rest)
    assert bench.disk.files["src/a"] == shouted(2, 8).encode()


def test_all_of_it_is_rejected(bench: Bench) -> None:
    assert bench.act("reject", "P1") == "P1"
    assert set(bench.state.hunks.values()) == {"rejected"} and waiting(bench) == []
    assert bench.disk.files["src/a"] == TEXT.encode()


@settings(max_examples=60)
@given(
    order=st.permutations([2, 4, 6, 9]),
    yes=st.lists(st.booleans(), min_size=4, max_size=4),
    opened=st.booleans(),
)
def test_hunks_decided_one_by_one_make_what_was_accepted(order: list[int], yes: list[bool], opened: bool) -> None:
    bench = desk({"src/a": TEXT})
    new = "".join({2: "", 4: "4\n4\n", 6: "6\n", 9: "9\n9\n9\n"}.get(at, line) for at, line in enumerate(LINES, 1))
    wanted = "".join(
        {2: "", 4: "4\n4\n", 6: "6\n", 9: "9\n9\n9\n"}[at] if at in order and yes[order.index(at)] else line
        for at, line in enumerate(LINES, 1)
    )
    if opened:
        bench.open("src/a")
    bench.propose({"src/a": new})
    hunks = dict(zip([2, 4, 6, 9], ["P1.1", "P1.2", "P1.3", "P1.4"], strict=True))
    for at, accepted in zip(order, yes, strict=True):
        (name,) = waiting(bench)
        many = len(list(bench.session.peek().proposal(name).hunks())) > 1
        act = ("accept" if accepted else "reject") + ("Hunk" if many else "")
        bench.act(act, name, hunks[at] if many else "")
        bench.play()
    found = bench.text("src/a") if opened else bench.disk.files["src/a"].decode()
    assert found == wanted and waiting(bench) == []


# --- rebase -----------------------------------------------------------------------------------------------------------


def test_a_rebase_is_a_new_proposal_on_the_present_text(bench: Bench) -> None:
    bench.disk.files["src/a"] = ("zero\n" + TEXT).encode()
    name = bench.act("rebase", "P1")
    made = bench.session.peek().proposal(name)
    assert (made.made, made.parent, made.files[0].base) == ("rebase", "P1", sha("zero\n" + TEXT))
    assert bench.disk.files["src/a"] == ("zero\n" + TEXT).encode() and waiting(bench) == [name]
    bench.accept(name)
    assert bench.disk.files["src/a"] == ("zero\n" + shouted(2, 5, 8)).encode()


def test_a_rebase_reads_all_sides_by_the_same_guess() -> None:
    bench = desk({"src/a": b"caf\xe9 1\nb\nc\nd\n"})
    name = bench.propose({"src/a": "café 2\nb\nc\nd\n"})
    now = b"caf\xe9 1\nb\nc\nd \xc3\xa9\n"
    bench.disk.files["src/a"] = now
    assert bench.call("proposal_status", proposalId=name)["stale"][0]["rebase"] == "clean"
    bench.accept(bench.act("rebase", name))
    assert bench.disk.files["src/a"] == now.replace(b"1", b"2")


def test_the_same_lines_on_both_sides_are_not_guessed(bench: Bench) -> None:
    bench.disk.files["src/a"] = TEXT.replace("line 5", "mine 5").encode()
    assert refused(bench, "conflict", "rebase", bench.offer("rebase", "P1")).data["lines"] == [5]
    assert waiting(bench) == ["P1"]


def test_what_is_there_already_needs_no_rebase(bench: Bench) -> None:
    bench.disk.files["src/a"] = shouted(2, 5, 8).encode()
    assert bench.act("rebase", "P1") == "P1"
    assert bench.state.proposals["P1"].state == "withdrawn"


# --- paths with an approval of their own ------------------------------------------------------------------------------


@pytest.fixture
def loud() -> Bench:
    """Two hunks in a file that needs its own yes."""
    bench = desk({"src/.env": TEXT})
    bench.propose({"src/.env": shouted(2, 8)})
    return bench


def test_a_loud_path_needs_its_own_yes_first(loud: Bench) -> None:
    assert refused(loud, "protected_path", "accept", loud.offer("accept", "P1")).data["decision"] == "D1"
    loud.decide("D1", "allow")
    loud.accept("P1")
    assert loud.disk.files["src/.env"] == shouted(2, 8).encode()


def test_no_means_no_to_the_whole_of_it(loud: Bench) -> None:
    loud.decide("D1", "refuse")
    assert loud.state.proposals["P1"].state == "withdrawn"


@pytest.mark.parametrize("answered", [True, False])
def test_a_yes_to_one_text_is_none_to_another(loud: Bench, answered: bool) -> None:
    if answered:
        loud.decide("D1", "allow")
    rest = loud.act("rejectHunk", "P1", "P1.1")
    assert refused(loud, "protected_path", "accept", loud.offer("accept", rest)).data["decision"] == "D2"
    loud.decide("D2", "allow")
    loud.accept(rest)
    assert loud.disk.files["src/.env"] == shouted(8).encode()


@pytest.mark.parametrize("answered", [True, False])
def test_a_rebased_text_needs_a_yes_again(loud: Bench, answered: bool) -> None:
    if answered:
        loud.decide("D1", "allow")
    loud.disk.files["src/.env"] = ("zero\n" + TEXT).encode()
    name = loud.act("rebase", "P1")
    assert [entry.state for entry in loud.state.decisions.values()] == [
        "answered" if answered else "withdrawn",
        "pending",
    ]
    assert refused(loud, "protected_path", "accept", loud.offer("accept", name)).data["decision"] == "D2"
    loud.decide("D2", "allow")
    loud.accept(name)
    assert loud.disk.files["src/.env"] == ("zero\n" + shouted(2, 8)).encode()


def test_creating_and_deleting_wait_for_the_same_yes() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/new": "n\n", "src/a": None})
    assert [file.base for file in bench.session.peek().proposal("P1").files] == [ABSENT, sha("a\n")]
    bench.accept("P1")
    assert "src/a" not in bench.disk.files and bench.disk.files["src/new"] == b"n\n"


# --- what is shown is the present -------------------------------------------------------------------------------------


def type_above(bench: Bench, text: str = "zero\n") -> str:
    """The human types above everything that is proposed; the text there is now."""
    bench.open("src/a")
    bench.type("src/a", 0, 0, text)
    return bench.text("src/a")


def test_accepting_what_is_shown_rebased_is_one_act(bench: Bench) -> None:
    now, seq = type_above(bench), bench.seq
    assert bench.accept("P1") == "A1"
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2, 5, 8)
    assert bench.story(seq)[:3] == ["proposed", "superseded", "action_planned"]
    plan = bench.state.actions["A1"].plan
    assert (plan.subject, plan.approval.by) == ("P2", "human (Test Editor)")
    made = bench.session.peek().proposal("P2")
    assert (made.made, made.parent, made.files[0].base) == ("rebase", "P1", sha(now))
    assert made.files[0].result == sha("zero\n" + shouted(2, 5, 8)) == plan.targets[0].after
    assert (bench.state.proposals["P1"].state, bench.state.proposals["P2"].state) == ("superseded", "applied")
    assert bench.state.proposals["P1"].replaced_by == ("P2",) and waiting(bench) == []


def test_the_rebase_and_the_yes_are_durable_together_or_not_at_all() -> None:
    bench = desk({"src/a": TEXT}, journal=FailingJournal())
    bench.propose({"src/a": shouted(2)})
    type_above(bench)
    journal = bench.journal
    assert isinstance(journal, FailingJournal)
    journal.at = 1
    with pytest.raises(WorldFault):
        bench.accept("P1")
    assert waiting(bench) == ["P1"] and bench.edits == [] and "P2" not in bench.state.proposals
    bench.accept("P1")
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2)


def test_a_further_move_voids_what_was_shown_rebased(bench: Bench) -> None:
    type_above(bench)
    offer = bench.offer("accept", "P1")
    bench.type("src/a", 0, 0, "more\n")
    assert refused(bench, "stale", "accept", offer).data["proposal"] == "P1"
    bench.undo("src/a")
    bench.command("accept", offer)
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2, 5, 8)


def test_an_offer_made_on_the_old_text_does_not_accept_the_rebased_one(bench: Bench) -> None:
    offer = bench.offer("accept", "P1")
    type_above(bench)
    fault = refused(bench, "stale", "accept", offer)
    assert "Look again" in fault.remedy and bench.edits == []


def test_undo_brings_the_old_offer_back(bench: Bench) -> None:
    offer = bench.offer("acceptHunk", "P1", "P1.2")
    type_above(bench)
    bench.undo("src/a")
    bench.command("acceptHunk", offer)
    bench.play()
    assert bench.text("src/a") == shouted(5) and bench.state.proposals["P2"].outline.made == "part"


def test_one_hunk_of_what_is_shown_rebased_is_accepted_and_the_rest_waits_on_it(bench: Bench) -> None:
    type_above(bench)
    bench.accept("P1", "P1.2")
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(5)
    (rest,) = waiting(bench)
    assert (rest, bench.session.peek().proposal(rest).files[0].base) == ("P4", sha("zero\n" + shouted(5)))
    bench.accept(rest)
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2, 5, 8)
    states = [bench.state.hunks[name] for name in ("P1.2", "P2.1", "P2.2", "P2.3")]
    assert states == ["replaced", "applied", "applied", "applied"]


def test_one_hunk_of_what_is_shown_rebased_is_rejected(bench: Bench) -> None:
    offer = bench.offer("rejectHunk", "P1", "P1.2")
    type_above(bench)
    rest = bench.command("rejectHunk", offer)
    bench.accept(rest)
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2, 8) and bench.state.hunks["P1.2"] == "rejected"


def test_what_the_file_holds_already_cannot_be_accepted_again(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 4, 0, "LINE 5", (4, 6))
    refused(bench, "no_change", "acceptHunk", bench.offer("acceptHunk", "P1", "P1.2"))
    bench.accept("P1")
    bench.play()
    assert bench.text("src/a") == shouted(2, 5, 8)


def test_where_the_lines_are_in_conflict_nothing_is_accepted(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 4, 0, "my ")
    fault = refused(bench, "stale", "accept", bench.offer("accept", "P1"))
    stale: Any = fault.data["stale"]
    assert stale[0]["conflicts"][0]["present"] == ["my line 5\n"]


def test_a_path_with_a_yes_of_its_own_is_rebased_first(loud: Bench) -> None:
    loud.decide("D1", "allow")
    loud.disk.files["src/.env"] = ("zero\n" + TEXT).encode()
    fault = refused(loud, "protected_path", "accept", loud.offer("accept", "P1"))
    assert "Rebase" in fault.remedy


def test_parts_can_be_made_of_a_rebased_proposal(bench: Bench) -> None:
    type_above(bench)
    name = bench.act("rebase", "P1")
    bench.accept(name, f"{name}.1")
    bench.play()
    assert bench.text("src/a") == "zero\n" + shouted(2)


def test_a_closed_file_is_accepted_as_shown_too(bench: Bench) -> None:
    bench.propose({"src/b": "B\n", "src/a": shouted(3)})
    bench.disk.files["src/a"] = ("zero\n" + TEXT).encode()
    bench.accept("P2")
    assert bench.disk.files["src/a"] == ("zero\n" + shouted(3)).encode() and bench.disk.files["src/b"] == b"B\n"


@settings(max_examples=60)
@given(
    line=st.integers(0, 9),
    gone=st.integers(0, 2),
    new=st.sampled_from(["", "x\n", "x\ny\n"]),
    hunk=st.sampled_from(["", "P1.1", "P1.3"]),
)
def test_what_is_written_is_what_was_shown(line: int, gone: int, new: str, hunk: str) -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.propose({"src/a": shouted(2, 5, 8)})
    bench.type("src/a", line, 0, new, (min(line + gone, 9), 0))
    before = bench.text("src/a")
    every: Any = bench.session.overview()["proposals"]
    (shown,) = every
    offers: Any = {"": shown["accept"]} | {each["id"]: each["accept"] for each in shown["hunks"]}
    if offers.get(hunk) is None:
        return
    lines = before.split("\n")
    for each in reversed(shown["hunks"]):
        if hunk in ("", each["id"]):
            start = each["oldStart"] - bool(each["old"])
            lines[start : start + len(each["old"])] = [one.rstrip("\n") for one in each["new"]]
    bench.command("acceptHunk" if hunk else "accept", str(offers[hunk]))
    bench.play()
    assert bench.text("src/a") == "\n".join(lines)
    if not hunk:
        assert shown["files"][0]["result"] == sha(bench.text("src/a"))
