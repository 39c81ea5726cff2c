"""`core.recovering`: whatever was cut off is found out by digests or asked about; doing it twice changes nothing."""

from __future__ import annotations

import pytest

from fakes import Bench, MemoryDisk, contract_text, desk
from remit.core.faults import WorldFault

OLD = {"src/a": b"a\n", "src/b": b"b\n"}
NEW = {"src/a": b"A\n", "src/b": b"B\n"}
MIXED = {"src/a": b"A\n", "src/b": b"b\n"}
OTHER = {"src/a": b"A\n", "src/b": b"theirs\n"}
FOUND = {"before": OLD, "after": NEW, "mixed": MIXED, "other": OTHER}


def cut(bench: Bench, word: str, files: dict[str, bytes], mode: str = "editor") -> Bench:
    """The session after one that ended right behind the record `word`, with these files on disk."""
    journal = bench.journal.cut(bench.story().index(word) + 1)
    disk = MemoryDisk({**bench.disk.files, **files})
    bench.documents.clear()
    return bench.restart(journal=journal, disk=disk, mode=mode)


def applied() -> Bench:
    """Two closed files, accepted and written."""
    bench = desk({**OLD})
    bench.accept(bench.propose({"src/a": "A\n", "src/b": "B\n"}))
    assert bench.story()[-1] == "action_moved succeeded"
    return bench


def again(bench: Bench) -> None:
    """One more recovery says nothing new and touches nothing."""
    files, actions = dict(bench.disk.files), {name: entry.state for name, entry in bench.state.actions.items()}
    decisions = list(bench.state.decisions)
    seq = bench.seq
    later = bench.restart()
    assert later.story(seq) == ["session_opened"]
    assert {name: entry.state for name, entry in later.state.actions.items()} == actions
    assert list(later.state.decisions) == decisions and later.disk.files == files


@pytest.mark.parametrize("mode", ["editor", "headless"])
@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("word", ["action_planned", "action_moved authorized"])
def test_what_had_not_begun_has_failed_without_effect(word: str, found: str, mode: str) -> None:
    bench = cut(applied(), word, FOUND[found], mode)
    assert bench.state.actions["A1"].state == "failed_without_effect"
    assert bench.state.proposals["P1"].open and bench.state.decisions == {}
    assert {path: bench.disk.files[path] for path in OLD} == FOUND[found]
    again(bench)


@pytest.mark.parametrize("mode", ["editor", "headless"])
@pytest.mark.parametrize(
    ("found", "action", "proposal", "left"),
    [
        ("before", "safe_to_retry", "failed_without_effect", OLD),
        ("after", "succeeded", "applied", NEW),
        ("mixed", "safe_to_retry", "failed_without_effect", OLD),
        ("other", "needs_human_decision", "outcome_unknown", OTHER),
    ],
)
def test_what_was_let_go_is_told_by_the_digests(
    found: str, action: str, proposal: str, left: dict[str, bytes], mode: str
) -> None:
    bench = cut(applied(), "action_moved dispatched", FOUND[found], mode)
    assert (bench.state.actions["A1"].state, bench.state.proposals["P1"].state) == (action, proposal)
    assert {path: bench.disk.files[path] for path in OLD} == left
    assert bool(bench.state.decisions) == (action == "needs_human_decision")
    assert "action_moved outcome_unknown" in bench.story()
    again(bench)


def test_what_cannot_be_looked_at_tells_nothing_and_is_asked_about() -> None:
    bench = applied()
    journal = bench.journal.cut(bench.story().index("action_moved dispatched") + 1)
    bench = bench.restart(journal=journal, disk=MemoryDisk({**bench.disk.files, **NEW}, {"src/b"}))
    assert bench.state.actions["A1"].state == "needs_human_decision"
    assert list(bench.state.actions["A1"].found) == ["src/a"]
    again(bench)


def test_unknown_is_written_before_anything_is_decided() -> None:
    bench = cut(applied(), "action_moved dispatched", MIXED)
    assert bench.story()[-3:] == ["session_opened", "action_moved outcome_unknown", "action_moved safe_to_retry"]


@pytest.mark.parametrize("found", FOUND)
def test_a_recovery_that_is_cut_off_itself_is_carried_on(found: str) -> None:
    first = cut(applied(), "action_moved dispatched", FOUND[found])
    begun = first.story().index("action_moved dispatched") + 1
    # A question is written in one batch with the move that needs it: no crash comes between the two.
    together = [at for at, word in enumerate(first.story(), 1) if word == "action_moved needs_human_decision"]
    for length in set(range(begun, first.seq + 1)) - set(together):
        bench = first.restart(journal=first.journal.cut(length), disk=MemoryDisk({**first.disk.files, **FOUND[found]}))
        assert bench.state.actions["A1"].state == first.state.actions["A1"].state
        assert len(bench.state.decisions) == len(first.state.decisions) <= 1


def test_half_that_cannot_be_put_back_is_asked_about() -> None:
    bench = applied()
    journal = bench.journal.cut(bench.story().index("action_moved dispatched") + 1)
    disk = MemoryDisk({**bench.disk.files, **MIXED}, failing={"stage": WorldFault("disk_full", "No space is left.")})
    bench = bench.restart(journal=journal, disk=disk)
    assert bench.state.actions["A1"].state == "needs_human_decision"
    (decision,) = bench.state.decisions.values()
    assert decision.asked.kind == "unknown_outcome" and "No space is left" in decision.asked.question
    assert "src/a: the new text" in decision.asked.why and "src/b: the old text" in decision.asked.why
    again(bench)


@pytest.mark.parametrize(
    ("option", "action", "proposal"),
    [("applied", "succeeded", "applied"), ("not_applied", "failed_without_effect", "failed_without_effect")],
)
def test_the_human_says_what_nobody_knows(option: str, action: str, proposal: str) -> None:
    bench = cut(applied(), "action_moved dispatched", OTHER)
    (name,) = bench.state.decisions
    assert bench.state.decisions[name].asked.options[0].id == "not_applied"
    bench.decide(name, option)
    assert (bench.state.actions["A1"].state, bench.state.proposals["P1"].state) == (action, proposal)
    assert bench.disk.files["src/b"] == OTHER["src/b"]
    again(bench)


def test_content_that_shows_up_later_settles_it_and_withdraws_the_question() -> None:
    bench = cut(applied(), "action_moved dispatched", OTHER)
    bench.open("src/b")
    bench.disk.files["src/b"] = NEW["src/b"]
    bench.session.closed("src/b")
    assert bench.state.actions["A1"].state == "succeeded"
    assert [entry.state for entry in bench.state.decisions.values()] == ["withdrawn"]


# --- open documents ---------------------------------------------------------------------------------------------------


def in_buffer() -> Bench:
    """An open file, its change sent to the editor and not answered."""
    bench = desk({"src/a": "a\n"})
    bench.open("src/a")
    bench.accept(bench.propose({"src/a": "A\n"}))
    assert bench.story()[-1] == "action_moved dispatched" and len(bench.edits) == 1
    return bench


def test_a_buffer_that_an_editor_may_bring_back_is_waited_for() -> None:
    bench = in_buffer().restart()
    assert bench.state.actions["A1"].state == "outcome_unknown" and bench.state.decisions == {}
    bench.reopen()
    assert bench.state.actions["A1"].state == "safe_to_retry"
    again(bench)


def test_a_restored_buffer_with_the_new_text_is_the_change() -> None:
    before = in_buffer()
    before.take(before.edits[0])
    bench = before.restart(journal=before.journal.cut(before.story().index("action_moved dispatched") + 1))
    bench.reopen()
    assert (bench.state.actions["A1"].state, bench.text("src/a")) == ("succeeded", "A\n")


@pytest.mark.parametrize(("disk", "state"), [(b"a\n", "safe_to_retry"), (b"A\n", "succeeded")])
def test_a_buffer_that_does_not_come_back_leaves_the_disk_to_tell(disk: bytes, state: str) -> None:
    before = in_buffer()
    before.documents.clear()
    bench = before.restart(disk=MemoryDisk({**before.disk.files, "src/a": disk}))
    bench.wait(1.0)
    assert bench.state.actions["A1"].state == "outcome_unknown"
    bench.wait(1.5)
    assert bench.state.actions["A1"].state == state


def test_without_an_editor_nobody_can_say_what_a_buffer_held() -> None:
    bench = in_buffer().restart(mode="headless")
    bench.wait(60)
    assert bench.state.actions["A1"].state == "outcome_unknown" and bench.state.decisions == {}
    later = bench.restart(mode="editor")
    later.reopen()
    assert later.state.actions["A1"].state == "safe_to_retry"


# --- checks -----------------------------------------------------------------------------------------------------------

POLICY = '[checks.unit]\nargv = ["true"]\n'


def test_a_run_without_a_sandbox_is_never_repeated_by_itself() -> None:
    bench = desk({"src/a": "a\n"}, policy=POLICY, contract=contract_text(verification={"allowed": ["unit"]}))
    bench.act("runCheck", "unit", "task-1")
    bench = bench.restart()
    assert bench.runs == [] and bench.state.actions["A1"].state == "needs_human_decision"
    (decision,) = bench.state.decisions.values()
    assert (decision.asked.kind, [option.id for option in decision.asked.options]) == ("unknown_outcome", ["not_run"])
    again(bench)
    bench = bench.restart()
    bench.decide(decision.asked.decision, "not_run")
    assert bench.state.actions["A1"].state == "failed_without_effect"
