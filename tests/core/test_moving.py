"""Deleting and renaming what the editor has open: by its own hand, never over anything, and verified."""

from __future__ import annotations

from typing import Any

import pytest

from desks import NAME, OTHER, refused
from fakes import Bench, desk, sha
from remit.core import applying
from remit.core.effects import Edited, Operated, OperateFile
from remit.core.faults import WorldFault
from remit.mediator import Abilities

ABLE = Abilities(can_edit=True, compares_versions=True, operations=("create", "delete", "rename"))
MOVED, THIRD = "src/c.txt", "src/d.txt"


def patch(new: str = "a\n", path: str = NAME) -> str:
    same = f"diff --git a/{path} b/{MOVED}\nsimilarity index 100%\nrename from {path}\nrename to {MOVED}\n"
    return same if new == "a\n" else same + f"--- a/{path}\n+++ b/{MOVED}\n@@ -1 +1 @@\n-a\n+{new}"


def accepted(new: str | None, *, abilities: Abilities = ABLE, **others: str) -> Bench:
    """The file is open and quiet, and its deletion (None) or renaming accepted, with more files in the same set."""
    bench = desk({NAME: "a\n", OTHER: "b\n", THIRD: "d\n"}, abilities=abilities)
    bench.open(NAME)
    bench.wait(applying.QUIET)
    if new is None:
        bench.propose({NAME: None, **{f"src/{name}.txt": text for name, text in others.items()}})
    else:
        bench.call("propose_patch", patch=patch(new), bases={NAME: sha("a\n")})
    return bench


def action(bench: Bench) -> Any:
    return bench.state.actions["A1"]


def test_an_open_file_is_deleted_by_the_editor() -> None:
    bench = accepted(None)
    bench.accept("P1")
    assert bench.operations == [OperateFile("A1", "Remit: P1", NAME, None)]
    assert [target.via for target in action(bench).plan.targets] == ["editor"]
    assert NAME in bench.disk.files, "not by us"
    bench.operate()
    assert (action(bench).state, bench.edits) == ("succeeded", [])
    assert bench.state.proposals["P1"].state == "applied"


def test_an_open_file_is_renamed_by_the_editor() -> None:
    bench = accepted("a\n")
    bench.accept("P1")
    assert bench.operations == [OperateFile("A1", "Remit: P1", NAME, MOVED)]
    bench.operate()
    assert (action(bench).state, bench.text(MOVED), NAME in bench.documents) == ("succeeded", "a\n", False)


def test_a_rename_comes_before_the_edit_of_the_renamed() -> None:
    bench = accepted("A\n")
    bench.accept("P1")
    assert bench.edits == []
    bench.operate()
    assert action(bench).state == "dispatched"
    (file,) = bench.edits[0].files
    assert file.path == MOVED
    bench.play()
    assert (action(bench).state, bench.text(MOVED), bench.disk.files[MOVED]) == ("succeeded", "A\n", b"a\n")


def test_a_refused_edit_of_the_renamed_is_renamed_back() -> None:
    bench = accepted("A\n")
    bench.accept("P1")
    bench.operate()
    bench.answer(False, "read-only")
    assert bench.operations == [OperateFile("A1", "Remit: take back P1", MOVED, NAME, undo=True)]
    bench.operate()
    assert (action(bench).state, action(bench).reason) == ("failed_without_effect", "read-only")
    assert (bench.text(NAME), MOVED in bench.disk.files) == ("a\n", False)


def test_a_refused_edit_that_cannot_be_renamed_back_is_unknown() -> None:
    bench = accepted("A\n")
    bench.accept("P1")
    bench.operate()
    bench.answer(False, "read-only")
    bench.operate(False)
    assert action(bench).state == "needs_human_decision"
    assert action(bench).reason == f"read-only; {MOVED} could not be renamed back"


@pytest.mark.parametrize("new", [None, "a\n", "A\n"])
def test_a_refused_operation_has_no_effect(new: str | None) -> None:
    bench = accepted(new)
    bench.accept("P1")
    bench.operate(False, "no")
    assert (action(bench).state, action(bench).reason) == ("failed_without_effect", "no")
    assert (bench.text(NAME), bench.disk.files[NAME], bench.edits) == ("a\n", b"a\n", [])


@pytest.mark.parametrize("new", [None, "a\n"])
@pytest.mark.parametrize("answer", [True, None])
def test_a_yes_is_not_believed_and_silence_is_unknown(new: str | None, answer: bool | None) -> None:
    bench = accepted(new)
    bench.accept("P1")
    if answer:
        bench.session.happened(Operated("A1", True))
    bench.wait(applying.CONFIRM - 0.1 if answer else applying.ANSWER - 0.1)
    assert action(bench).state == "dispatched"
    bench.wait(0.1)
    assert action(bench).state == "needs_human_decision"
    bench.operate()
    assert action(bench).state == "succeeded", "it came late, and is there"


def test_a_deletion_whose_tab_stays_open_is_unknown() -> None:
    bench = accepted(None)
    bench.accept("P1")
    del bench.disk.files[NAME]
    bench.session.happened(Operated("A1", True))
    bench.wait(applying.CONFIRM)
    assert action(bench).state == "needs_human_decision"


def test_a_rename_whose_new_name_is_not_opened_is_done_but_not_edited() -> None:
    bench = accepted("A\n")
    bench.accept("P1")
    bench.disk.files[MOVED] = bench.disk.files.pop(NAME)
    bench.close(NAME)
    bench.session.happened(Operated("A1", True))
    bench.wait(applying.CONFIRM)
    bench.operations.pop(0)
    assert bench.operations == [OperateFile("A1", "Remit: take back P1", MOVED, NAME, undo=True)]
    bench.operate()
    assert action(bench).state == "failed_without_effect"
    assert bench.disk.files[NAME] == b"a\n" and MOVED not in bench.disk.files


# --- beforehand -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operations", [(), ("create",), ("create", "rename")])
def test_nothing_is_asked_that_was_not_announced(operations: tuple[str, ...]) -> None:
    abilities = Abilities(can_edit=True, compares_versions=True, operations=operations)
    bench = accepted(None, abilities=abilities)
    assert refused(lambda: bench.accept("P1")) == "target_open"
    renaming = accepted("a\n", abilities=abilities)
    if "rename" in operations:
        renaming.accept("P1")
        assert len(renaming.operations) == 1
    else:
        assert refused(lambda: renaming.accept("P1")) == "target_open"


def test_what_the_client_announced_is_on_the_record() -> None:
    bench = desk({}, abilities=Abilities(True, True, ("delete",), "abort"))
    opened = bench.state.sessions[-1][1]
    assert (opened.operations, opened.failure_handling) == (("delete",), "abort")


def test_unsaved_text_is_not_deleted_or_moved() -> None:
    bench = accepted(None)
    offer = bench.offer("accept", "P1")
    bench.type(NAME, 0, 0, "my ")
    assert refused(lambda: bench.command("accept", offer)) in ("stale", "approval_stale")
    assert bench.operations == []
    dirty = desk({NAME: "a\n"}, abilities=ABLE)
    dirty.open(NAME, "mine\n")
    dirty.propose({NAME: None})
    assert refused(lambda: dirty.accept("P1")) == "target_open"


def test_no_file_is_made_where_the_editor_holds_an_unsaved_text() -> None:
    bench = desk({NAME: "a\n"}, abilities=ABLE)
    bench.propose({OTHER: "b\n"})
    bench.call("propose_patch", patch=patch(), bases={NAME: sha("a\n")})
    for path, proposal in ((OTHER, "P1"), (MOVED, "P2")):
        bench.open(path, "")
        assert refused(lambda proposal=proposal: bench.accept(proposal)) in ("target_open", "stale")
        bench.close(path)
    assert bench.operations == [] and OTHER not in bench.disk.files


def test_one_open_file_at_a_time() -> None:
    bench = desk({NAME: "a\n", OTHER: "b\n"}, abilities=ABLE)
    bench.open(NAME)
    bench.open(OTHER)
    bench.propose({NAME: None, OTHER: None})
    assert refused(lambda: bench.accept("P1")) == "target_open"
    bench.close(OTHER)
    bench.wait(applying.QUIET)
    bench.accept("P1")
    bench.operate()
    assert action(bench).state == "succeeded" and not {NAME, OTHER} & set(bench.disk.files)


# --- with other files -------------------------------------------------------------------------------------------------


def test_the_operation_comes_last_and_its_refusal_takes_all_back() -> None:
    bench = accepted(None, b="B\n", d="D\n")
    bench.open(OTHER)
    bench.wait(applying.QUIET)
    bench.accept("P1")
    assert bench.operations == []
    bench.play()
    assert (bench.text(OTHER), bench.disk.files[THIRD], len(bench.operations)) == ("B\n", b"D\n", 1)
    bench.operate(False, "no")
    assert bench.disk.files[THIRD] == b"d\n"
    bench.play()
    assert (action(bench).state, action(bench).reason, bench.text(OTHER)) == ("failed_without_effect", "no", "b\n")
    assert bench.session.staged == {}


def test_all_three_hands_together() -> None:
    bench = accepted(None, b="B\n", d="D\n")
    bench.open(OTHER)
    bench.wait(applying.QUIET)
    bench.accept("P1")
    bench.play()
    bench.operate()
    assert (action(bench).state, bench.text(OTHER), bench.disk.files[THIRD]) == ("succeeded", "B\n", b"D\n")
    assert NAME not in bench.disk.files and bench.session.staged == {}


def test_what_cannot_be_taken_back_on_disk_is_unknown() -> None:
    bench = accepted(None, d="D\n")
    bench.disk.failing["revert"] = WorldFault("outcome_unknown", "Some files could not be brought to a known state.")
    bench.accept("P1")
    bench.operate(False)
    assert action(bench).state == "needs_human_decision"


# --- typing -----------------------------------------------------------------------------------------------------------


def test_nobody_types_when_a_file_is_deleted() -> None:
    """No operation carries a version, so what is typed at that moment would be lost with any client."""
    bench = accepted(None)
    bench.type(NAME, 0, 0, "x")
    bench.undo(NAME)
    bench.accept("P1")
    assert bench.operations == []
    bench.wait(applying.QUIET / 2)
    bench.type(NAME, 0, 0, "my ")
    bench.wait(applying.QUIET * 2)
    assert (bench.operations, action(bench).state) == ([], "failed_without_effect")
    assert bench.text(NAME) == "my a\n"


def test_what_is_typed_while_the_request_is_on_its_way_is_kept() -> None:
    bench = accepted(None)
    bench.wait(5)
    bench.accept("P1")
    bench.type(NAME, 0, 0, "my ")
    bench.operate()
    assert (action(bench).state, bench.disk.files[NAME]) == ("needs_human_decision", b"my a\n")
    said = [event.reason for event in bench.events() if event.type == "action_moved" and event.to == "outcome_unknown"]
    assert said == [f"{NAME} was edited while it was deleted; what was typed is put back"]
    assert bench.session.mediator.memory.inflight == {}


def test_what_cannot_be_put_back_is_kept_by_digest() -> None:
    bench = accepted(None)
    bench.accept("P1")
    bench.type(NAME, 0, 0, "my ")
    bench.disk.failing["stage"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    bench.operate()
    assert action(bench).state == "needs_human_decision" and "ENOSPC" in action(bench).reason
    assert bench.journal.blob(sha("my a\n")) == b"my a\n"


def test_a_late_answer_of_another_request_decides_nothing() -> None:
    bench = accepted(None, b="B\n")
    bench.open(OTHER)
    bench.wait(applying.QUIET)
    bench.accept("P1")
    effect = bench.edits.pop(0)
    assert bench.take(effect)
    bench.session.happened(Edited("A1", False, "late and wrong"))
    bench.session.happened(Operated("A1", False, "of nothing", undo=True))
    assert action(bench).state == "dispatched"
    bench.operate()
    assert action(bench).state == "succeeded"


# --- after a crash ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("done", "state"), [(True, "succeeded"), (False, "safe_to_retry")])
def test_after_a_crash_the_digests_tell(done: bool, state: str) -> None:
    bench = accepted(None, d="D\n")
    bench.accept("P1")
    if done:
        del bench.disk.files[NAME]
        del bench.documents[NAME]
    again = bench.restart()
    again.reopen()
    again.wait(5)
    assert again.state.actions["A1"].state == state
    assert again.disk.files[THIRD] == (b"D\n" if done else b"d\n")
