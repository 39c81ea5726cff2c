"""Carrying out: which edits are sent, that they make exactly the promised text, and that they can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from desks import NAME, OTHER, mixed, refused
from fakes import desk, sha
from remit.core import applying, codec
from remit.core.faults import WorldFault
from remit.core.text import Position, Range
from remit.mediator import Abilities

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.lists(st.tuples(st.sampled_from(["a", "b", "", "ä", "\U0001f40d", "x\x0cy\u2028z"]), ENDS), max_size=10)
TEXTS = st.builds(lambda lines, end: "".join(a + b for a, b in lines) + end, LINES, st.sampled_from(["", "end"]))


def test_each_hunk_is_one_edit_against_the_version_it_was_made_for() -> None:
    bench = desk({NAME: "1\n2\n3\n4\n5"})
    bench.open(NAME)
    bench.propose({NAME: "one\n2\n3\n4\nfive"})
    bench.accept("P1")
    (file,) = bench.edits[0].files
    assert (file.path, file.version) == (NAME, 1)
    assert [(edit.text, edit.range) for edit in file.edits] == [
        ("one\n", Range(Position(0, 0), Position(1, 0))),
        ("five", Range(Position(4, 0), Position(4, 1))),
    ]
    assert bench.edits[0].undo is False


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_the_edits_make_exactly_the_promised_text(old: str, new: str) -> None:
    bench = desk({NAME: old})
    bench.open(NAME, old)
    assume(bench.session.peek().look(NAME).digest == sha(old) and not codec.same_text(old, new))
    bench.call("propose_patch", files=[{"path": NAME, "content": new}], bases={NAME: sha(old)})
    bench.accept("P1")
    bench.play()
    action = bench.state.actions["A1"]
    assert (action.state, sha(bench.text(NAME))) == ("succeeded", action.plan.targets[0].after)


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_what_was_put_in_is_taken_back_exactly(old: str, new: str) -> None:
    bench = desk({NAME: old, OTHER: "b\n"})
    bench.open(NAME, old)
    assume(old != new)
    files = [{"path": NAME, "content": new}, {"path": OTHER, "content": "B\n"}]
    bench.call("propose_patch", files=files, bases={NAME: sha(old), OTHER: sha("b\n")})
    bench.disk.failing["commit"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    bench.accept("P1")
    bench.play()
    assert (bench.text(NAME), bench.disk.files[OTHER]) == (old, b"b\n")
    assert bench.state.actions["A1"].state == "failed_without_effect"


def test_a_buffer_edited_before_it_could_be_taken_back_is_the_humans() -> None:
    bench = mixed("a\n", "A\n")
    bench.disk.failing["commit"] = WorldFault("write_failed", "The file could not be written (ENOSPC).")
    assert bench.take(bench.edits[0])
    assert bench.edits[1].undo is True
    bench.type(NAME, 0, 0, "mine ")
    bench.edits.pop(0)
    bench.play()
    assert bench.text(NAME) == "mine A\n"
    assert bench.state.actions["A1"].state == "needs_human_decision"


def test_while_buffers_are_in_doubt_closed_files_are_not_written() -> None:
    bench = mixed("a\n", "A\n")
    bench.answer(True)
    bench.wait(applying.CONFIRM)
    assert bench.disk.files[OTHER] == b"b\n"
    assert bench.state.actions["A1"].state == "needs_human_decision"
    assert bench.session.staged == {}, "what was staged is dropped"


def test_a_refusing_editor_drops_what_was_staged() -> None:
    bench = mixed("a\n", "A\n")
    bench.answer(False, "read-only")
    entry = bench.state.actions["A1"]
    assert (entry.state, entry.reason, bench.session.staged) == ("failed_without_effect", "read-only", {})
    assert bench.disk.files[OTHER] == b"b\n"


@pytest.mark.parametrize("content", [None, "moved"])
def test_what_is_open_is_neither_deleted_nor_moved(content: str | None) -> None:
    bench = desk({NAME: "a\n"})
    if content is None:
        bench.propose({NAME: None})
    else:
        patch = f"diff --git a/{NAME} b/src/c.txt\nsimilarity index 100%\nrename from {NAME}\nrename to src/c.txt\n"
        bench.call("propose_patch", patch=patch, bases={NAME: sha("a\n")})
    bench.open(NAME)
    assert refused(lambda: bench.accept("P1")) == "target_open"
    bench.close(NAME)
    bench.accept("P1")
    assert NAME not in bench.disk.files


def test_an_editor_that_takes_no_edits_gets_none() -> None:
    bench = desk({NAME: "a\n"}, abilities=Abilities())
    bench.propose({NAME: "A\n"})
    bench.open(NAME)
    assert refused(lambda: bench.accept("P1")) == "client_cannot_apply"
    bench.close(NAME)
    bench.accept("P1")
    assert bench.disk.files[NAME] == b"A\n"


def test_the_guard_that_was_there_is_written_down() -> None:
    for compares, guard in ((True, "versions"), (False, "verify-after")):
        bench = desk({NAME: "a\n"}, abilities=Abilities(can_edit=True, compares_versions=compares))
        bench.open(NAME)
        bench.wait(applying.QUIET)
        bench.propose({NAME: "A\n"})
        bench.accept("P1")
        moved = [event for event in bench.events() if event.type == "action_moved" and event.to == "dispatched"]
        assert [event.guard for event in moved if event.type == "action_moved"] == [guard]


def test_other_editors_may_hold_what_is_closed_here_and_the_record_says_so() -> None:
    bench = desk({NAME: "a\n"}, abilities=Abilities(can_edit=True, compares_versions=True))
    bench.propose({NAME: "A\n"})
    bench.accept("P1")
    moved = [event for event in bench.events() if event.type == "action_moved" and event.to == "dispatched"]
    assert [getattr(event, "guard", "") for event in moved] == ["versions; buffers: attached only"]


def test_typing_all_the_time_only_delays_an_editor_without_versions() -> None:
    bench = desk({NAME: "a\n"}, abilities=Abilities(can_edit=True))
    bench.open(NAME)
    bench.propose({NAME: "A\n"})
    bench.accept("P1")
    for _ in range(5):
        bench.type(NAME, 0, 0, "x")
        bench.undo(NAME)
        bench.wait(applying.QUIET / 2)
    assert (bench.edits, bench.state.actions["A1"].state) == ([], "authorized")
    bench.wait(2 * applying.QUIET)
    bench.play()
    assert (bench.text(NAME), bench.state.actions["A1"].state) == ("A\n", "succeeded")


def test_the_mode_of_an_open_file_is_not_changed_and_not_said_to_be() -> None:
    bench = desk({NAME: "a\n"})
    bench.open(NAME)
    patch = f"diff --git a/{NAME} b/{NAME}\nold mode 100644\nnew mode 100755\n"
    bench.call("propose_patch", patch=patch, bases={NAME: sha("a\n")})
    assert refused(lambda: bench.accept("P1")) == "target_open"
    bench.close(NAME)
    assert bench.accept("P1") == "A1"
