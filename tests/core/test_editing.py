"""The editor's part: what is said of an edit that came out otherwise, and taking back without losing what was typed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desks import NAME, OTHER
from fakes import Bench, desk
from remit.core import applying, diff, editing, retracting
from remit.core.effects import Edited
from remit.core.faults import WorldFault
from remit.core.text import Edit
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


# --- in words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (NEW.replace("\n", "\r\n"), f"the editor changed line ends in {NAME}"),
        (NEW.rstrip("\n"), f"the editor added or took away the last line end in {NAME}"),
        (NEW.replace("TWO", "TWO  "), f"the editor stripped trailing blanks in {NAME}"),
        (NEW.replace("TWO", "\tTWO"), f"the editor changed blanks or line breaks in {NAME}"),
        (NEW.replace("five", "mine"), f"{NAME} differs from what was promised in 1 place"),
        (NEW.replace("five", "mine").replace("one", "uno"), f"{NAME} differs from what was promised in 2 places"),
        (OLD, f"{NAME} still has the old text"),
    ],
)
def test_the_difference_is_named(shown: str, words: str) -> None:
    bench = desk({NAME: OLD})
    bench.open(NAME)
    bench.propose({NAME: NEW})
    bench.accept("P1")
    if shown != OLD:
        bench.change(NAME, Edit(shown))
    bench.answer(True)
    bench.wait(applying.CONFIRM)
    entry = bench.state.actions["A1"]
    assert (entry.state, entry.reason) == ("needs_human_decision", f"the editor said applied, but {words}")
    assert words in bench.state.decisions["D1"].asked.question


def test_the_promised_text_is_no_difference() -> None:
    """The control: the same client, and a text as promised."""
    bench = desk({NAME: OLD})
    bench.open(NAME)
    bench.propose({NAME: NEW})
    bench.accept("P1")
    bench.change(NAME, Edit(NEW))
    bench.answer(True)
    assert (bench.state.actions["A1"].state, bench.state.actions["A1"].reason) == ("succeeded", "")


# --- taking back ------------------------------------------------------------------------------------------------------


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


WORDS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8)


@settings(max_examples=60)
@given(WORDS, WORDS, WORDS)
def test_taking_back_leaves_exactly_what_somebody_else_wrote(old: list[str], new: list[str], typed: list[str]) -> None:
    """The buffer then holds what a merge of the human's change into the old text gives; or it is not touched."""
    before, after, now = "".join(old), "".join(new), "".join(typed)
    if before == after:
        return
    bench = desk({NAME: before})
    bench.open(NAME, before)
    bench.propose({NAME: after})
    bench.change(NAME, Edit(now))
    proposal = bench.session.peek().proposal("P1")
    back = editing.reversal(bench.session.peek(), proposal, [NAME])
    if isinstance(back, str):
        assert isinstance(diff.merge(after, now, before), diff.Conflict)
        return
    for made in back.edits:
        bench.change(NAME, *reversed(made.edits))
    expected = before if now == after else diff.merge(after, now, before)
    assert bench.text(NAME) == (expected if isinstance(expected, str) else getattr(expected, "text", None))
