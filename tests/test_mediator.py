"""Whole stories through the mediator over fakes: what the human, the agent and the editor do, and every event of it.

What is durable, and what a crash leaves, is in `test_session.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes import AGENT, CONTRACT_PATH, POLICY_PATH, Bench, contract_text, desk, sha
from remit.core.effects import EditBuffers, Edited
from remit.core.faults import AgentFault, UserFault, WorldFault
from remit.core.overview import overview
from remit.core.text import Edit
from remit.mediator import Abilities

CASES = Path(__file__).parent / "cases"
NAME = "src/a.txt"
PLANNED = ["action_planned", "action_moved authorized"]
BEGUN = [*PLANNED, "action_moved dispatched"]
APPLIED = [*BEGUN, "action_moved succeeded"]
FAILED = [*BEGUN, "action_moved failed_without_effect"]
LOST = [*BEGUN, "action_moved outcome_unknown", "action_moved needs_human_decision", "decision_asked"]
TEN = "".join(f"{n}\n" for n in range(10))
THREE = TEN.replace("1\n", "one\n").replace("4\n", "four\nand\n").replace("8\n", "")
"""Three hunks away from TEN."""


def refused(act: Any, party: type[UserFault] | type[AgentFault] | type[WorldFault] = UserFault) -> str:
    with pytest.raises(party) as caught:
        act()
    assert len(caught.value.message) <= 100
    json.dumps(caught.value.data)
    return caught.value.code


def edited(files: Mapping[str, str], new: dict[str, str | None], *, open: tuple[str, ...] = ()) -> tuple[Bench, int]:
    """A proposal P1 over `files`, some of them open; the bench, and where the story goes on."""
    bench = desk(files)
    for path in open:
        bench.open(path)
    assert bench.propose(new) == "P1"
    return bench, bench.seq


# --- a proposal is applied --------------------------------------------------------------------------------------------


def test_an_accepted_proposal_is_applied_in_the_open_buffer() -> None:
    bench, start = edited({NAME: "a\nb\nc\n"}, {NAME: "a\nB\nc\n"}, open=(NAME,))
    action = bench.accept("P1")
    assert bench.story(start) == BEGUN
    assert [type(effect) for effect in bench.edits] == [EditBuffers]
    bench.play()
    assert bench.story() == ["session_opened", "contract_activated", "agent_connected", "proposed", *APPLIED]
    assert bench.text(NAME) == "a\nB\nc\n"
    assert bench.disk.files[NAME] == b"a\nb\nc\n", "the server never saves"
    assert bench.state.actions[action].found == {NAME: sha("a\nB\nc\n")}
    assert bench.state.proposals["P1"].state == "applied"
    assert bench.call("proposal_status", proposalId="P1")["settled"] is True


def test_an_accepted_proposal_is_applied_to_the_closed_file() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "b\n", "src/new.txt": "n\n"})
    bench.accept("P1")
    assert bench.story(start) == APPLIED
    assert (bench.disk.files[NAME], bench.disk.files["src/new.txt"]) == (b"b\n", b"n\n")


def test_files_are_deleted_and_moved() -> None:
    bench = desk({NAME: "a\n", "src/b.txt": "b\n"})
    patch = "diff --git a/src/b.txt b/src/c.txt\nsimilarity index 100%\nrename from src/b.txt\nrename to src/c.txt\n"
    bench.call("propose_patch", patch=patch, bases={"src/b.txt": sha("b\n")})
    start = bench.seq
    bench.accept("P1")
    bench.propose({NAME: None})
    bench.accept("P2")
    assert bench.story(start) == [*APPLIED, "proposed", *APPLIED]
    assert sorted(path for path in bench.disk.files if path.startswith("src/")) == ["src/c.txt"]


def test_a_file_in_no_known_encoding_keeps_its_bytes() -> None:
    bench = desk({NAME: b"caf\xe9\ntwo\n", "src/b.txt": b"\xe9\n"})
    bench.propose({NAME: "café\nTWO\n", "src/b.txt": None})
    bench.accept("P1")
    assert bench.disk.files[NAME] == b"caf\xe9\nTWO\n"
    assert "src/b.txt" not in bench.disk.files


# --- stale ------------------------------------------------------------------------------------------------------------


def test_typing_makes_it_stale_and_undo_makes_it_fresh_again() -> None:
    bench, start = edited({NAME: "a\nb\nc\n"}, {NAME: "a\nB\nc\n"}, open=(NAME,))
    bench.type(NAME, 2, 0, "mine ")
    status = bench.call("proposal_status", proposalId="P1")
    assert (status["state"], status["fresh"], status["stale"][0]["current"]) == (
        "pending",
        False,
        sha("a\nb\nmine c\n"),
    )
    assert bench.codes(NAME) == ["patch-stale"]
    assert refused(lambda: bench.accept("P1")) == "stale"
    bench.undo(NAME)
    assert bench.codes(NAME) == ["patch-pending"]
    bench.accept("P1")
    bench.play()
    assert bench.story(start) == APPLIED
    assert bench.text(NAME) == "a\nB\nc\n"


def test_a_stale_proposal_is_rebased_as_a_new_one_with_its_own_approval() -> None:
    bench, start = edited({NAME: TEN}, {NAME: TEN.replace("1\n", "one\n")}, open=(NAME,))
    bench.type(NAME, 8, 0, "mine ")
    assert bench.act("rebase", "P1") == "P2"
    assert bench.story(start) == ["proposed", "superseded"]
    assert bench.text(NAME) == TEN.replace("8\n", "mine 8\n"), "a rebase applies nothing"
    bench.accept("P2")
    bench.play()
    assert bench.story(start) == ["proposed", "superseded", *APPLIED]
    assert bench.text(NAME) == TEN.replace("1\n", "one\n").replace("8\n", "mine 8\n")
    assert bench.call("proposal_status", proposalId="P1")["replacedBy"] == ["P2"]


def test_where_both_sides_changed_a_line_nothing_is_guessed() -> None:
    bench, start = edited({NAME: "a\nb\nc\n"}, {NAME: "a\nB\nc\n"}, open=(NAME,))
    offer = bench.offer("rebase", "P1")
    bench.type(NAME, 1, 0, "mine ")
    assert refused(lambda: bench.command("rebase", offer)) == "conflict"
    assert bench.story(start) == []


def test_the_third_equal_stale_refusal_says_stop_and_ask() -> None:
    bench = desk({NAME: "new\n"})
    remedies = []
    for _ in range(3):
        with pytest.raises(AgentFault) as caught:
            bench.call("propose_patch", files=[{"path": NAME, "content": "x\n"}], bases={NAME: sha("old\n")})
        assert caught.value.code == "stale"
        remedies.append(caught.value.remedy)
    assert remedies[0] == remedies[1] != remedies[2]
    assert bench.story()[-3:] == ["refused"] * 3


def test_buffer_and_disk_that_have_parted_stop_everything() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "b\n"}, open=(NAME,))
    bench.disk.files[NAME] = b"theirs\n"
    assert refused(lambda: bench.accept("P1")) == "disk_conflict"
    assert refused(lambda: bench.propose({NAME: "c\n"}), AgentFault) == "disk_conflict"
    assert bench.codes(NAME)[0] == "disk-conflict"
    assert bench.story(start) == ["refused"]


# --- hunks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("first", ["P1.1", "P1.2", "P1.3"])
def test_one_hunk_is_accepted_and_the_rest_is_bound_to_what_it_made(first: str, opened: bool) -> None:
    bench, start = edited({NAME: TEN}, {NAME: THREE}, open=(NAME,) if opened else ())
    bench.accept("P1", first)
    bench.play()
    assert bench.story(start) == ["proposed", *APPLIED, "proposed", "superseded"]
    assert bench.state.proposals["P1"].replaced_by == ("P2", "P3")
    assert bench.session.peek().look(NAME).is_named(bench.session.peek().proposal("P3").files[0].base)
    bench.accept("P3")
    bench.play()
    assert (bench.text(NAME) if opened else bench.disk.files[NAME].decode()) == THREE
    assert set(bench.state.hunks.values()) == {"applied"}


def test_rejected_hunks_never_come_back() -> None:
    bench, start = edited({NAME: TEN}, {NAME: THREE}, open=(NAME,))
    rest = bench.act("rejectHunk", "P1", "P1.2")
    assert bench.story(start) == ["rejected", "proposed", "superseded"]
    bench.accept(rest)
    bench.play()
    assert bench.text(NAME) == TEN.replace("1\n", "one\n").replace("8\n", "")
    assert bench.state.hunks == {"P1.1": "applied", "P1.2": "rejected", "P1.3": "applied"}
    assert bench.call("proposal_status", proposalId="P1")["settled"] is True


def test_a_rejected_proposal_is_settled_and_changes_nothing() -> None:
    bench, start = edited({NAME: TEN}, {NAME: THREE}, open=(NAME,))
    bench.act("reject", "P1")
    assert bench.story(start) == ["rejected"]
    assert bench.text(NAME) == TEN
    assert bench.codes(NAME) == []


# --- many files -------------------------------------------------------------------------------------------------------

PAIR = {"src/a.txt": "a\n", "src/b.txt": "b\n"}
PAIR_NEW: dict[str, str | None] = {"src/a.txt": "A\n", "src/b.txt": "B\n"}


def test_when_the_second_write_fails_the_first_is_taken_back() -> None:
    bench, start = edited(PAIR, PAIR_NEW)
    bench.disk.failing["commit src/b.txt"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    bench.accept("P1")
    assert bench.story(start) == FAILED
    assert [bench.disk.files[path] for path in PAIR] == [b"a\n", b"b\n"]
    assert bench.state.proposals["P1"].state == "failed_without_effect"
    bench.accept("P1")
    assert bench.story(start) == [*FAILED, *APPLIED]
    assert [bench.disk.files[path] for path in PAIR] == [b"A\n", b"B\n"]


def test_when_staging_fails_nothing_was_begun() -> None:
    bench, start = edited(PAIR, PAIR_NEW, open=("src/a.txt",))
    bench.disk.failing["stage"] = WorldFault("write_failed", "The file could not be written (EIO).")
    bench.accept("P1")
    assert bench.story(start) == FAILED
    assert bench.edits == []
    assert bench.text("src/a.txt") == "a\n"


def test_when_the_closed_part_fails_the_buffers_are_taken_back() -> None:
    bench, start = edited(PAIR, PAIR_NEW, open=("src/a.txt",))
    bench.disk.failing["commit"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    bench.accept("P1")
    assert bench.take(bench.edits[0])
    assert bench.text("src/a.txt") == "A\n"
    bench.answer(True)
    assert [effect.undo for effect in bench.edits] == [True]
    assert bench.story(start) == BEGUN
    bench.play()
    assert bench.story(start) == FAILED
    assert (bench.text("src/a.txt"), bench.disk.files["src/b.txt"]) == ("a\n", b"b\n")


def test_open_and_closed_files_change_together() -> None:
    bench, start = edited(PAIR, PAIR_NEW, open=("src/a.txt",))
    bench.accept("P1")
    assert bench.disk.files["src/b.txt"] == b"b\n", "closed files wait for the buffers"
    bench.play()
    assert bench.story(start) == APPLIED
    assert (bench.text("src/a.txt"), bench.disk.files["src/b.txt"]) == ("A\n", b"B\n")


def test_a_closed_file_that_is_opened_meanwhile_is_not_written_under_the_editor() -> None:
    bench, start = edited(PAIR, PAIR_NEW, open=("src/a.txt",))
    bench.accept("P1")
    bench.open("src/b.txt")
    bench.type("src/b.txt", 0, 0, "mine ")
    bench.play()
    assert bench.story(start) == FAILED
    assert (bench.text("src/a.txt"), bench.text("src/b.txt")) == ("a\n", "mine b\n")
    assert bench.disk.files["src/b.txt"] == b"b\n"


def test_a_buffer_that_was_closed_cannot_be_taken_back_and_the_human_is_asked() -> None:
    files = {**PAIR, "src/c.txt": "c\n"}
    bench, start = edited(files, {**PAIR_NEW, "src/c.txt": "C\n"}, open=("src/a.txt", "src/b.txt"))
    bench.disk.failing["commit"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    bench.accept("P1")
    edits = {file.path: file.edits for file in bench.edits[0].files}
    bench.change("src/a.txt", *edits["src/a.txt"])
    bench.save("src/a.txt")
    bench.close("src/a.txt")
    bench.change("src/b.txt", *edits["src/b.txt"])
    assert bench.story(start) == LOST
    assert bench.disk.files["src/c.txt"] == b"c\n"


# --- an editor that does not compare versions -------------------------------------------------------------------------


def quiet(files: Mapping[str, str], new: dict[str, str | None], *open: str) -> tuple[Bench, int]:
    bench = desk(files, abilities=Abilities(can_edit=True))
    for path in open:
        bench.open(path)
    bench.propose(new)
    return bench, bench.seq


def test_it_is_not_edited_within_a_second_of_typing() -> None:
    bench, start = quiet({NAME: "a\n"}, {NAME: "b\n"}, NAME)
    bench.accept("P1")
    assert (bench.story(start), bench.edits) == (PLANNED, [])
    bench.wait(1.0)
    assert bench.story(start) == BEGUN
    bench.play()
    assert bench.story(start) == APPLIED
    moved = [event for event in bench.events(start) if getattr(event, "guard", "")]
    assert [getattr(event, "guard", "") for event in moved] == ["verify-after"]


def test_what_moves_while_it_waits_for_quiet_is_left_alone() -> None:
    bench, start = quiet(PAIR, PAIR_NEW, "src/a.txt")
    bench.accept("P1")
    bench.disk.files["src/b.txt"] = b"theirs\n"
    bench.wait(1.0)
    bench.play()
    assert bench.story(start) == FAILED
    assert (bench.text("src/a.txt"), bench.disk.files["src/b.txt"]) == ("a\n", b"theirs\n")


@pytest.mark.parametrize("what", ["type", "close", "open"])
def test_a_target_that_moves_while_it_waits_for_quiet_ends_it(what: str) -> None:
    bench, start = quiet(PAIR, PAIR_NEW, "src/a.txt")
    bench.accept("P1")
    if what == "type":
        bench.type("src/a.txt", 0, 0, "mine ")
    elif what == "close":
        bench.close("src/a.txt")
    else:
        bench.open("src/b.txt")
    bench.wait(5.0)
    assert bench.story(start) == [*PLANNED, "action_moved failed_without_effect"]
    assert bench.edits == []
    assert bench.disk.files["src/b.txt"] == b"b\n"


# --- LS-07: what clients answer ---------------------------------------------------------------------------------------


def client() -> tuple[Bench, int, EditBuffers]:
    """The case's two files, one proposal over both, accepted and not yet answered."""
    before = CASES / "LS-07" / "before"
    texts = {f"src/{path.name}": path.read_text() for path in sorted(before.iterdir())}
    assert list(texts) == ["src/a.txt", "src/b.txt"]
    new: dict[str, str | None] = {path: f"{text}more\n" for path, text in texts.items()}
    bench, start = edited(texts, new, open=tuple(texts))
    bench.accept("P1")
    return bench, start, bench.edits[0]


def part(effect: EditBuffers, path: str) -> tuple[Edit, ...]:
    return next(file.edits for file in effect.files if file.path == path)


def test_applied_true_with_no_change_is_unknown_after_five_seconds() -> None:
    bench, start, _ = client()
    bench.answer(True)
    bench.wait(4.9)
    assert bench.story(start) == BEGUN
    bench.wait(0.1)
    assert bench.story(start) == LOST
    assert bench.state.proposals["P1"].state == "outcome_unknown"
    bench.wait(100)
    assert (bench.story(start), bench.edits) == (LOST, []), "never tried again by itself"


def test_applied_true_with_a_change_in_one_of_two_files_is_unknown_with_what_was_found() -> None:
    bench, start, effect = client()
    bench.change("src/b.txt", *part(effect, "src/b.txt"))
    bench.answer(True)
    bench.wait(5)
    assert bench.story(start) == LOST
    found = bench.state.actions["A1"].found
    assert found == {path: sha(bench.text(path)) for path in ("src/a.txt", "src/b.txt")}
    assert "src/a.txt: the old text; src/b.txt: the new text" in bench.state.decisions["D1"].asked.why


def test_applied_false_with_half_of_it_applied_is_unknown_at_once() -> None:
    bench, start, effect = client()
    bench.change("src/a.txt", *part(effect, "src/a.txt"))
    bench.answer(False, "failedChange 1")
    assert bench.story(start) == LOST


def test_applied_false_with_nothing_applied_failed_without_effect() -> None:
    bench, start, _ = client()
    bench.answer(False, "no")
    assert bench.story(start) == FAILED
    bench.accept("P1")
    bench.play()
    assert bench.story(start) == [*FAILED, *APPLIED]


def test_no_answer_for_thirty_seconds_is_unknown() -> None:
    bench, start, _ = client()
    bench.wait(29.9)
    assert bench.story(start) == BEGUN
    bench.wait(0.1)
    assert bench.story(start) == LOST


@pytest.mark.parametrize("seconds", [0.0, 4.9])
def test_the_answer_may_come_before_the_change(seconds: float) -> None:
    bench, start, effect = client()
    bench.session.happened(Edited(effect.action, True))
    bench.wait(seconds)
    assert bench.story(start) == BEGUN
    assert bench.take(effect)
    assert bench.story(start) == APPLIED


def test_a_late_change_settles_what_was_unknown_and_withdraws_the_question() -> None:
    bench, start, effect = client()
    bench.answer(True)
    bench.wait(5)
    assert bench.take(effect)
    assert bench.story(start) == [*LOST, "action_moved succeeded", "decision_withdrawn"]
    assert bench.state.pending_decisions() == []


def test_answers_twice_or_to_nothing_change_nothing() -> None:
    bench, start, effect = client()
    assert bench.take(effect)
    for applied in (True, False, None):
        bench.session.happened(Edited(effect.action, applied))
        bench.session.happened(Edited("A99", applied))
    assert bench.story(start) == APPLIED


def test_another_text_than_the_promised_one_is_never_a_success() -> None:
    bench, start, effect = client()
    bench.change("src/a.txt", *part(effect, "src/a.txt"), Edit("and more\n"))
    bench.change("src/b.txt", *part(effect, "src/b.txt"))
    bench.answer(True)
    bench.wait(30)
    assert bench.story(start) == LOST


@pytest.mark.parametrize(("option", "to"), [("applied", "applied"), ("not_applied", "failed_without_effect")])
def test_the_human_says_what_came_of_it(option: str, to: str) -> None:
    bench, start, _ = client()
    bench.answer(True)
    bench.wait(5)
    assert refused(lambda: bench.accept("P1")) == "already_decided"
    bench.decide("D1", option)
    assert bench.state.proposals["P1"].state == to
    assert bench.story(start)[: len(LOST) + 1] == [*LOST, "decision_answered"]
    assert bench.state.running() == []


# --- answers ----------------------------------------------------------------------------------------------------------


def test_a_double_click_is_one_answer() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "a\nmore\n"}, open=(NAME,))
    offer = bench.offer("accept", "P1")
    bench.command("accept", offer)
    with pytest.raises(UserFault) as caught:
        bench.command("accept", offer)
    assert (caught.value.code, caught.value.data["decided"]) == ("already_decided", "P1: apply begun (A1)")
    bench.play()
    assert refused(lambda: bench.command("accept", offer)) == "already_decided"
    assert (bench.story(start), bench.text(NAME)) == (APPLIED, "a\nmore\n")


@pytest.mark.parametrize(("first", "second"), [("accept", "reject"), ("reject", "accept")])
def test_of_accept_and_reject_in_one_burst_the_first_wins(first: Any, second: Any) -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "a\nmore\n"}, open=(NAME,))
    offers = {act: bench.offer(act, "P1") for act in (first, second)}
    bench.command(first, offers[first])
    assert refused(lambda: bench.command(second, offers[second])) == "already_decided"
    bench.play()
    assert bench.story(start) == (APPLIED if first == "accept" else ["rejected"])


def test_an_offer_is_for_one_act_and_for_what_it_showed() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "b\n"})
    offer = bench.offer("reject", "P1")
    assert refused(lambda: bench.command("accept", offer)) == "wrong_offer"
    assert refused(lambda: bench.command("accept", "never-existed")) == "approval_unknown"
    assert refused(lambda: bench.command("abolish", offer)) == "unknown_command"
    bench.disk.files[CONTRACT_PATH] = contract_text(goal="Another goal.").encode()
    accept = bench.offer("accept", "P1")
    bench.activate()
    assert refused(lambda: bench.command("accept", accept)) == "approval_stale"
    assert refused(lambda: bench.command("accept", accept)) == "approval_unknown"
    assert bench.story(start) == ["contract_activated"]
    assert bench.accept("P1") == "A1"


def test_what_is_out_of_scope_now_is_not_applied() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "b\n"})
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=["docs/"]).encode()
    bench.activate()
    assert refused(lambda: bench.accept("P1")) == "outside_scope"
    assert bench.story(start) == ["contract_activated"]


def test_a_file_that_cannot_be_read_any_more_is_the_humans() -> None:
    bench, start = edited(PAIR, PAIR_NEW, open=("src/a.txt",))
    bench.accept("P1")
    bench.disk.unreadable.add("src/a.txt")
    bench.type("src/a.txt", 0, 0, "mine ")
    bench.play()
    assert bench.story(start) == LOST
    assert bench.disk.files["src/b.txt"] == b"b\n"


def test_two_proposals_for_one_file_the_first_apply_wins() -> None:
    bench, _ = edited({NAME: "a\n"}, {NAME: "b\n"}, open=(NAME,))
    bench.propose({NAME: "c\n"})
    bench.accept("P1")
    assert refused(lambda: bench.accept("P2")) == "busy"
    bench.play()
    assert refused(lambda: bench.accept("P2")) == "stale"


def test_a_session_without_an_editor_applies_nothing() -> None:
    bench, start = edited({NAME: "a\n"}, {NAME: "b\n"})
    again = bench.restart()
    headless = Bench(disk=again.disk, journal=again.journal, mode="headless", generation=9)
    assert refused(lambda: headless.accept("P1")) == "no_editor"
    assert headless.story(start) == ["session_opened", "session_opened"]


# --- decisions --------------------------------------------------------------------------------------------------------


def test_a_question_waits_and_is_answered_once() -> None:
    bench = desk({NAME: "a\n"})
    start = bench.seq
    asked = bench.call("ask_human", question="Tabs?", options=["tabs", "spaces"], about=NAME)
    assert (asked["settled"], asked["decision"]["state"]) == (False, "pending")
    assert bench.codes(NAME) == ["decision-pending"]
    offer = bench.offer("decide", "D1")
    assert refused(lambda: bench.command("decide", offer, option="both")) == "unknown_option"
    bench.command("decide", offer, option="option_2")
    assert refused(lambda: bench.command("decide", offer, option="option_1")) == "already_decided"
    answer = bench.call("wait_for_decision", decisionId="D1")
    assert (answer["settled"], answer["decision"]["answer"]) == (True, "spaces")
    assert bench.story(start) == ["decision_asked", "decision_answered"]
    assert bench.codes(NAME) == []


def test_a_free_answer_is_handed_on_word_for_word() -> None:
    bench = desk({})
    bench.call("ask_human", question="Why?")
    assert refused(lambda: bench.decide("D1", text="  ")) == "unknown_option"
    bench.decide("D1", text="Because it is late.")
    assert bench.call("wait_for_decision", decisionId="D1")["decision"]["text"] == "Because it is late."


DRAFT = ".remit/contracts/fix.contract.json"


def drafted() -> tuple[Bench, int]:
    bench = Bench()
    bench.connect()
    bench.call("propose_contract", goal="Fix it.", writeScope=["src/"], taskId="fix")
    return bench, bench.seq


def test_a_draft_is_activated_in_one_click_and_written() -> None:
    bench, start = drafted()
    bench.decide("D1", "activate")
    assert bench.story(start) == ["decision_answered", "contract_activated", "proposed", *APPLIED]
    assert json.loads(bench.disk.files[DRAFT])["goal"] == "Fix it."
    assert bench.call("get_contract")["task"]["taskId"] == "fix"


def test_a_draft_is_written_for_editing_and_not_in_force() -> None:
    bench, start = drafted()
    bench.decide("D1", "edit")
    assert bench.story(start) == ["decision_answered", "proposed", *APPLIED]
    assert bench.call("get_contract")["active"] is False
    bench.activate(DRAFT)
    assert bench.story(start)[-1] == "contract_activated"
    assert bench.call("get_contract")["active"] is True


def test_a_discarded_draft_leaves_nothing() -> None:
    bench, start = drafted()
    bench.decide("D1", "discard")
    assert bench.story(start) == ["decision_answered"]
    assert bench.disk.files == {}
    assert refused(lambda: bench.propose({NAME: "x\n"}), AgentFault) == "no_contract"


@pytest.mark.parametrize("opened", [True, False])
def test_an_allowed_amendment_is_in_force_and_in_the_file(opened: bool) -> None:
    bench = desk({})
    if opened:
        bench.open(CONTRACT_PATH)
    start = bench.seq
    bench.call("request_amendment", writeScope=["docs/"], why="The docs too.")
    bench.decide("D1", "allow")
    bench.play()
    assert bench.story(start) == ["decision_asked", "decision_answered", "contract_activated", "proposed", *APPLIED]
    text = bench.text(CONTRACT_PATH) if opened else bench.disk.files[CONTRACT_PATH].decode()
    assert json.loads(text)["writeScope"] == ["src/", "docs/"]
    assert bench.call("get_contract")["task"]["writeScope"] == ["src/", "docs/"]
    assert bench.propose({"docs/x.md": "x\n"}) == "P2"


def test_a_refused_amendment_changes_nothing() -> None:
    bench = desk({})
    before, start = dict(bench.disk.files), bench.seq
    bench.call("request_amendment", allowedTools=["git_commit"], why="I like commits.")
    bench.decide("D1", "refuse")
    assert bench.story(start) == ["decision_asked", "decision_answered"]
    assert bench.disk.files == before
    assert "git_commit" not in bench.call("get_contract")["task"]["rights"]


SETTINGS = ".vscode/settings.json"


def loud() -> tuple[Bench, int]:
    bench = desk({SETTINGS: "{}\n"}, contract=contract_text(scope=["src/", ".vscode/"]))
    bench.propose({SETTINGS: '{"a": 1}\n'})
    return bench, bench.seq


def test_a_protected_path_needs_its_own_yes() -> None:
    bench, start = loud()
    assert refused(lambda: bench.accept("P1")) == "protected_path"
    bench.decide("D1", "allow")
    assert bench.disk.files[SETTINGS] == b"{}\n", "the yes alone writes nothing"
    bench.accept("P1")
    assert bench.story(start) == ["decision_answered", *APPLIED]
    assert bench.disk.files[SETTINGS] == b'{"a": 1}\n'


def test_a_refused_protected_path_withdraws_the_proposal() -> None:
    bench, start = loud()
    bench.decide("D1", "refuse")
    assert bench.story(start) == ["decision_answered", "withdrawn"]
    assert bench.call("proposal_status", proposalId="P1")["state"] == "withdrawn"


def test_a_yes_is_for_one_text_and_another_text_asks_again() -> None:
    bench, _ = loud()
    bench.decide("D1", "allow")
    bench.propose({SETTINGS: '{"a": 2}\n'}, replaces="P1")
    assert refused(lambda: bench.accept("P2")) == "protected_path"
    bench.decide("D2", "allow")
    bench.accept("P2")
    assert bench.disk.files[SETTINGS] == b'{"a": 2}\n'


def mixed_loud() -> Bench:
    bench = desk({NAME: "a\n", SETTINGS: "{}\n"}, contract=contract_text(scope=["src/", ".vscode/"]))
    bench.propose({NAME: "b\n", SETTINGS: "{ }\n"})
    bench.decide("D1", "allow")
    return bench


def test_a_rest_without_the_protected_path_needs_no_yes_of_its_own() -> None:
    bench = mixed_loud()
    bench.accept("P1", "P1.2")
    bench.accept("P3")
    assert (bench.disk.files[NAME], bench.disk.files[SETTINGS]) == (b"b\n", b"{ }\n")


def test_a_rest_with_the_protected_path_is_asked_about_anew() -> None:
    bench = mixed_loud()
    bench.accept("P1", "P1.1")
    assert refused(lambda: bench.accept("P3")) == "protected_path"
    bench.decide("D2", "allow")
    bench.accept("P3")
    assert (bench.disk.files[NAME], bench.disk.files[SETTINGS]) == (b"b\n", b"{ }\n")


def test_a_path_that_the_policy_protects_later_needs_a_proposal_that_was_asked_about() -> None:
    bench = desk({NAME: "a\n", POLICY_PATH: '[protect]\nloud = ["src/"]\n'})
    bench.propose({NAME: "b\n"})
    bench.activate(POLICY_PATH)
    assert refused(lambda: bench.accept("P1")) == "protected_path"
    bench.propose({NAME: "b\n"}, replaces="P1")
    bench.decide("D1", "allow")
    bench.accept("P2")
    assert bench.disk.files[NAME] == b"b\n"


POLICY = '[checks.tests]\nargv = ["run-tests", "src"]\n\n[checks.look]\nkind = "human"\n'
VERIFICATION = {"allowed": ["tests", "look"], "forbidden": ["build"]}


def checked() -> tuple[Bench, int]:
    bench = desk({NAME: "a\n"}, policy=POLICY, contract=contract_text(verification=VERIFICATION))
    return bench, bench.seq


def test_an_allowed_run_is_recorded_and_goes_stale_with_its_inputs() -> None:
    bench, start = checked()
    bench.call("run_check", checkId="tests")
    bench.decide("D1", "run")
    assert [(effect.check, effect.argv) for effect in bench.runs] == [("tests", ("run-tests", "src"))]
    assert bench.call("wait_for_decision", decisionId="D1")["settled"] is False
    bench.ran()
    assert bench.story(start) == [
        "decision_asked",
        "decision_answered",
        *BEGUN,
        "check_finished",
        "action_moved succeeded",
    ]
    run = bench.call("wait_for_decision", decisionId="D1")["run"]
    assert (run["state"], run["fresh"], run["output"]) == ("passed", True, "ok\n")
    bench.disk.files[NAME] = b"b\n"
    bench.clock.advance(1.1)
    assert {c["checkId"]: c["status"] for c in bench.call("list_checks")["checks"]}["tests"] == "stale"


def test_a_refused_run_runs_nothing() -> None:
    bench, start = checked()
    bench.call("run_check", checkId="tests")
    bench.decide("D1", "refuse")
    assert (bench.story(start), bench.runs) == (["decision_asked", "decision_answered"], [])
    assert {c["checkId"]: c["status"] for c in bench.call("list_checks")["checks"]}["tests"] == "not_run"


def test_a_yes_to_a_run_is_void_once_its_inputs_moved() -> None:
    bench, _ = checked()
    bench.call("run_check", checkId="tests")
    offer = bench.offer("decide", "D1")
    bench.disk.files[NAME] = b"b\n"
    assert refused(lambda: bench.command("decide", offer, option="run")) == "approval_stale"
    assert bench.runs == []
    bench.decide("D1", "run")
    assert len(bench.runs) == 1


def test_a_person_signs_off_or_objects() -> None:
    for verdict, status in (("sign_off", "passed"), ("object", "failed"), ("not_yet", "not_run")):
        bench, _ = checked()
        bench.call("run_check", checkId="look")
        bench.decide("D1", verdict)
        assert {c["checkId"]: c["status"] for c in bench.call("list_checks")["checks"]}["look"] == status
        assert bench.runs == []


def test_what_the_contract_forbids_or_does_not_name_is_never_asked() -> None:
    bench, start = checked()
    assert refused(lambda: bench.call("run_check", checkId="build"), AgentFault) == "check_forbidden"
    assert refused(lambda: bench.call("run_check", checkId="other"), AgentFault) == "check_not_allowed"
    bench.open(NAME)
    bench.type(NAME, 0, 0, "unsaved ")
    assert refused(lambda: bench.call("run_check", checkId="tests"), AgentFault) == "needs_save"
    assert bench.story(start) == ["refused"] * 3


def test_among_two_tasks_the_human_binds_the_agent() -> None:
    bench = desk({"other.contract.json": contract_text("task-2", ["docs/"])})
    bench.activate("other.contract.json")
    start = bench.seq
    with pytest.raises(AgentFault) as caught:
        bench.propose({"docs/a.md": "x\n"})
    assert (caught.value.code, caught.value.data["decisionId"]) == ("task_unbound", "D1")
    assert refused(lambda: bench.propose({"docs/a.md": "x\n"}), AgentFault) == "task_unbound"
    bench.decide("D1", "task-2")
    assert bench.propose({"docs/a.md": "x\n"}) == "P1"
    assert refused(lambda: bench.propose({NAME: "x\n"}), AgentFault) == "outside_scope"
    assert bench.story(start) == [
        *["decision_asked", "refused", "refused"],
        *["decision_answered", "agent_bound", "proposed", "refused"],
    ]
    assert bench.state.agents[AGENT].task == "task-2"


def test_the_policy_is_activated_like_the_contract_and_takes_away() -> None:
    bench = desk({NAME: "a\n", POLICY_PATH: '[protect]\nnever = ["src/a.txt"]\n'})
    bench.propose({NAME: "b\n"})
    offer = bench.offer("accept", "P1")
    bench.activate(POLICY_PATH)
    assert refused(lambda: bench.command("accept", offer)) == "protected_path"
    assert refused(lambda: bench.propose({NAME: "c\n"}), AgentFault) == "protected_path"
    assert bench.disk.files[NAME] == b"a\n"


def test_a_contract_wider_than_the_policy_is_not_activated() -> None:
    bench = desk({}, policy='[limits]\nwriteScope = ["src/"]\n')
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=["docs/"]).encode()
    assert refused(bench.activate) == "contract_exceeds_policy"
    bench.disk.files[CONTRACT_PATH] = b"{}"
    assert refused(lambda: bench.act("activate", CONTRACT_PATH)) == "contract_invalid"
    assert bench.call("get_contract")["task"]["writeScope"] == ["src/"]


# --- what everybody sees ----------------------------------------------------------------------------------------------


def test_the_view_holds_an_offer_for_everything_that_waits() -> None:
    bench, _ = edited({NAME: TEN}, {NAME: THREE}, open=(NAME,))
    bench.call("ask_human", question="Why?")
    seen = overview(bench.session.peek())
    assert seen == overview(bench.session.peek()), "an offer stays the same while nothing it shows has moved"
    proposals: Any = seen["proposals"]
    decisions: Any = seen["decisions"]
    bench.command("acceptHunk", proposals[0]["hunks"][1]["accept"])
    bench.play()
    bench.command("decide", decisions[0]["offer"], text="So.")
    assert bench.text(NAME) == TEN.replace("4\n", "four\nand\n")
    json.dumps(overview(bench.session.peek()))
