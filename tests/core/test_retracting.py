"""Taking back what was put into open files: what was typed since stays, whenever it is typed; after a crash too."""

from __future__ import annotations

from desks import NAME, OTHER
from fakes import Bench, Document, desk
from remit.core import applying, recovering, retracting
from remit.core.effects import Edited
from remit.core.faults import WorldFault
from remit.core.text import Text
from remit.mediator import Abilities

OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\nTWO\nthree\nfour\nfive\n"
FULL = WorldFault("write_failed", "The file could not be written (ENOSPC).")
VERSIONS = Abilities(can_edit=True, compares_versions=True)


def failing(abilities: Abilities = VERSIONS) -> Bench:
    """An open and a closed file, accepted; the closed one cannot be put in place once the open one is edited."""
    bench = desk({NAME: OLD, OTHER: "b\n"}, abilities=abilities)
    bench.open(NAME)
    bench.wait(applying.QUIET)
    bench.propose({NAME: NEW, OTHER: "B\n"})
    bench.disk.failing["commit"] = FULL
    bench.accept("P1")
    return bench


def test_what_is_typed_while_it_is_taken_back_stays() -> None:
    bench = failing()
    assert bench.take(bench.edits.pop(0))
    bench.type(NAME, 4, 0, "my ")
    assert bench.edits[0].undo
    bench.play()
    assert bench.text(NAME) == OLD.replace("five", "my five")
    entry = bench.state.actions["A1"]
    assert (entry.state, entry.reason) == ("failed_without_effect", FULL.message)
    assert bench.disk.files[OTHER] == b"b\n"


def test_typing_without_end_is_given_up_and_said() -> None:
    bench = failing()
    assert bench.take(bench.edits.pop(0))
    for number in range(retracting.TRIES):
        bench.type(NAME, 4, 0, f"{number} ")
        effect = bench.edits.pop(0)
        bench.session.happened(Edited(effect.action, bench.take(effect), undo=True))
    assert bench.edits == []
    assert bench.state.actions["A1"].state == "needs_human_decision"
    assert bench.text(NAME) == NEW.replace("five", "2 1 0 five"), "nothing that was typed is lost"


def test_typing_into_the_agents_own_lines_is_kept_and_asked_about() -> None:
    bench = failing()
    assert bench.take(bench.edits.pop(0))
    bench.type(NAME, 1, 0, "my ")
    bench.play()
    assert bench.text(NAME) == NEW.replace("TWO", "my TWO")
    entry = bench.state.actions["A1"]
    assert entry.state == "needs_human_decision"
    assert f"the same lines of {NAME} were edited meanwhile" in entry.reason
    assert bench.edits == []


def test_a_late_answer_to_the_edit_is_none_to_its_taking_back() -> None:
    bench = failing()
    effect = bench.edits.pop(0)
    assert bench.take(effect)
    bench.session.happened(Edited(effect.action, False, "late and wrong"))
    assert bench.state.actions["A1"].state == "dispatched"
    bench.play()
    assert bench.text(NAME) == OLD
    assert (bench.state.actions["A1"].state, bench.state.actions["A1"].reason) == (
        "failed_without_effect",
        FULL.message,
    )


def test_without_versions_nothing_is_taken_back_while_somebody_types() -> None:
    bench = failing(Abilities(can_edit=True))
    assert bench.take(bench.edits.pop(0))
    assert bench.edits == [], "the edit itself was a change of this very moment"
    bench.wait(applying.QUIET / 2)
    bench.type(NAME, 4, 0, "my ")
    bench.wait(applying.QUIET * 0.9)
    assert bench.edits == []
    bench.wait(applying.QUIET)
    bench.play()
    assert bench.text(NAME) == OLD.replace("five", "my five")
    assert bench.state.actions["A1"].state == "failed_without_effect"


def test_a_buffer_closed_unsaved_before_it_was_taken_back_is_as_before() -> None:
    bench = failing()
    assert bench.take(bench.edits.pop(0))
    bench.close(NAME)
    assert bench.state.actions["A1"].state == "failed_without_effect"
    assert bench.disk.files[NAME].decode() == OLD


def test_a_buffer_saved_and_closed_before_it_was_taken_back_is_asked_about() -> None:
    bench = failing()
    assert bench.take(bench.edits.pop(0))
    bench.save(NAME)
    bench.close(NAME)
    bench.answer(False, "not open")
    entry = bench.state.actions["A1"]
    assert entry.state == "needs_human_decision"
    assert entry.reason == f"{FULL.message}; the editor's part could not be taken back"
    assert bench.disk.files[NAME].decode() == NEW


# --- after a crash ----------------------------------------------------------------------------------------------------


def cut_off(*, typed: bool = False) -> Bench:
    """The editor made its part, and the server died before the closed file was put in place."""
    bench = failing()
    bench.take(bench.edits.pop(0))
    again = bench.restart(journal=bench.journal.cut(bench.story().index("action_moved dispatched") + 1))
    if typed:
        again.documents[NAME] = Document(Text(NEW.replace("TWO", "my TWO")), 7)
    again.reopen()
    again.wait(recovering.GRACE + 1)
    return again


def test_the_editors_half_is_taken_back_by_the_next_session() -> None:
    bench = cut_off()
    (effect,) = bench.edits
    assert effect.undo
    bench.play()
    assert (bench.text(NAME), bench.disk.files[OTHER]) == (OLD, b"b\n")
    assert bench.state.actions["A1"].state == "safe_to_retry"
    assert bench.session.mediator.memory.inflight == {}


def test_a_refusal_to_take_it_back_is_asked_about() -> None:
    bench = cut_off()
    bench.answer(False, "no")
    entry = bench.state.actions["A1"]
    assert (entry.state, bench.text(NAME)) == ("needs_human_decision", NEW)
    assert "the session ended in the middle of it" in entry.reason


def test_a_text_that_was_edited_after_the_crash_is_left_alone() -> None:
    bench = cut_off(typed=True)
    assert (bench.edits, bench.text(NAME)) == ([], NEW.replace("TWO", "my TWO"))
    assert bench.state.actions["A1"].state == "needs_human_decision"
