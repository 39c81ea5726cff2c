"""What the session promises: durable before anything is released, as before when that fails, and whole after a crash.

The stories themselves are in `test_mediator.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes import AGENT, Bench, FailingJournal, MemoryDisk, MemoryJournal, contract_text, copied, desk, sha
from remit.core import action as actions
from remit.core import events
from remit.core.faults import AgentFault, UserFault, WorldFault
from remit.core.overview import overview
from remit.core.state import State
from remit.core.verbs import Hello

NAME = "src/a.txt"
BEGUN = ["action_planned", "action_moved authorized", "action_moved dispatched"]
APPLIED = [*BEGUN, "action_moved succeeded"]


class Crash(BaseException):
    """The process dies here."""


def code(act: Callable[[], object]) -> str:
    with pytest.raises((UserFault, AgentFault, WorldFault)) as caught:
        act()
    return str(caught.value.code)


# --- the journal refuses ----------------------------------------------------------------------------------------------


def failing(files: Mapping[str, str], *open: str) -> tuple[Bench, FailingJournal]:
    journal = FailingJournal()
    bench = desk(files, journal=journal)
    for path in open:
        bench.open(path)
    return bench, journal


def test_what_cannot_be_recorded_is_not_done_and_the_same_click_works_later() -> None:
    bench, journal = failing({NAME: "a\n"}, NAME)
    bench.propose({NAME: "b\n"})
    before, start, offer = overview(bench.session.peek()), bench.seq, bench.offer("accept", "P1")
    journal.at = 1
    assert code(lambda: bench.command("accept", offer)) == "journal_unwritable"
    assert (bench.story(start), bench.edits, bench.wakes) == ([], [], [])
    assert overview(bench.session.peek()) == before
    bench.type(NAME, 0, 0, "z")
    bench.undo(NAME)
    bench.command("accept", offer)
    bench.play()
    assert (bench.story(start), bench.text(NAME)) == (APPLIED, "b\n")


def test_a_proposal_that_cannot_be_recorded_was_never_made() -> None:
    bench, journal = failing({NAME: "a\n"})
    journal.at = 1
    assert code(lambda: bench.propose({NAME: "b\n"}, key="k")) == "journal_unwritable"
    assert bench.call("task_status")["proposals"] == []
    assert bench.propose({NAME: "b\n"}, key="k") == "P1"


def test_an_outcome_that_cannot_be_recorded_is_found_again() -> None:
    bench, journal = failing({NAME: "a\n"}, NAME)
    bench.propose({NAME: "b\n"})
    start = bench.seq
    bench.accept("P1")
    journal.at = 1
    assert code(bench.play) == "journal_unwritable"
    assert (bench.story(start), bench.text(NAME)) == (BEGUN, "b\n")
    bench.wait(30)
    assert bench.story(start) == APPLIED


def test_a_write_whose_outcome_cannot_be_recorded_is_found_again() -> None:
    bench, journal = failing({NAME: "a\n", "src/b.txt": "b\n"})
    bench.propose({NAME: "A\n", "src/b.txt": "B\n"})
    start = bench.seq
    journal.at = 2
    assert code(lambda: bench.accept("P1")) == "journal_unwritable"
    assert (bench.story(start), bench.disk.files[NAME]) == (BEGUN, b"A\n")
    bench.open("src/other.txt", "x\n")
    assert bench.story(start) == [*BEGUN, "action_moved outcome_unknown", "action_moved succeeded"]


def test_an_answer_whose_consequence_is_refused_leaves_the_question_open() -> None:
    """The draft's file is open in an editor that takes no edits: the answer goes back whole."""
    bench = desk({})
    bench.open("task.contract.json")
    bench.call("request_amendment", writeScope=["docs/"], why="More.")
    bench.session.mediator.memory.can_edit = False
    start, offer = bench.seq, bench.offer("decide", "D1")
    assert code(lambda: bench.command("decide", offer, option="allow")) == "client_cannot_apply"
    assert bench.story(start) == []
    assert [entry.asked.decision for entry in bench.state.pending_decisions()] == ["D1"]
    bench.session.mediator.memory.can_edit = True
    bench.command("decide", offer, option="allow")
    assert bench.story(start)[:2] == ["decision_answered", "contract_activated"]


def test_somebody_else_who_writes_the_journal_is_noticed() -> None:
    bench = desk({NAME: "a\n"})
    bench.journal.append("2026-12-01T10:00:00Z", [{"type": "agent_connected", "agent": "x", "name": "", "version": ""}])
    assert code(lambda: bench.propose({NAME: "b\n"})) == "journal_moved"


def test_didchange_writes_no_event_and_tells_nobody() -> None:
    bench = desk({NAME: "a\n"})
    told: list[int] = []
    stop = bench.session.subscribe(lambda: told.append(bench.seq))
    start = bench.seq
    bench.open(NAME)
    bench.type(NAME, 0, 0, "b")
    bench.save(NAME)
    bench.close(NAME)
    assert (bench.story(start), told) == ([], [])
    bench.propose({NAME: "c\n"})
    stop()
    stop()
    bench.act("reject", "P1")
    assert told == [start + 1]


# --- the same request twice -------------------------------------------------------------------------------------------


def test_the_same_key_and_body_gets_the_same_answer_also_after_a_restart() -> None:
    bench = desk({NAME: "a\n"})
    body: dict[str, Any] = {"files": [{"path": NAME, "content": "b\n"}], "bases": {NAME: sha("a\n")}, "key": "k1"}
    first = bench.call("propose_patch", **body)
    start = bench.seq
    assert bench.call("propose_patch", **body) == first
    bench.accept("P1")
    assert bench.call("propose_patch", **body) == first
    again = bench.restart()
    again.connect()
    assert again.call("propose_patch", **body) == first
    assert "proposed" not in again.story(start)


def test_the_same_key_with_another_body_or_verb_is_refused() -> None:
    bench = desk({NAME: "a\n"})
    bench.propose({NAME: "b\n"}, key="k1")
    assert code(lambda: bench.propose({NAME: "c\n"}, key="k1")) == "key_reused"
    assert code(lambda: bench.call("ask_human", question="?", key="k1")) == "key_reused"
    other = bench.connect("agent-0002")
    assert bench.propose({NAME: "c\n"}, other, key="k1") == "P2", "a key is one agent's"


def test_a_refusal_uses_up_no_key() -> None:
    bench = desk({NAME: "a\n"})
    assert code(lambda: bench.propose({"docs/a.txt": "b\n"}, key="k1")) == "outside_scope"
    assert bench.propose({NAME: "b\n"}, key="k1") == "P1"


def test_half_a_character_in_a_keyed_request_is_refused_by_name() -> None:
    bench = desk({NAME: "a\n"})
    assert code(lambda: bench.propose({NAME: "\ud800\n"}, key="k1")) == "invalid_unicode"


def test_slips_of_the_pen_are_not_recorded_and_refusals_are() -> None:
    bench = desk({NAME: "a\n"})
    start = bench.seq
    assert code(lambda: bench.call("fly")) == "unknown_method"
    assert code(lambda: bench.call("read_file")) == "invalid_params"
    assert code(lambda: bench.call("proposal_status", proposalId="P9")) == "unknown_proposal"
    assert code(lambda: bench.call("wait_for_decision", decisionId="D9")) == "unknown_decision"
    assert bench.story(start) == []
    assert code(lambda: bench.propose({"docs/a.txt": "b\n"})) == "outside_scope"
    assert bench.story(start) == ["refused"]


# --- a restart --------------------------------------------------------------------------------------------------------


def test_an_old_prompt_answers_nothing_after_a_restart() -> None:
    bench = desk({NAME: "a\n"})
    bench.propose({NAME: "b\n"})
    old = bench.offer("accept", "P1")
    again = bench.restart()
    assert code(lambda: again.command("accept", old)) == "approval_unknown"
    assert code(lambda: again.command("accept", "never-existed")) == "approval_unknown"
    assert again.disk.files[NAME] == b"a\n"
    assert again.state.proposals["P1"].state == "pending"
    new = again.offer("accept", "P1")
    assert new != old
    again.command("accept", new)
    assert again.disk.files[NAME] == b"b\n"
    third = again.restart()
    assert code(lambda: third.command("accept", new)) == "already_decided"


def test_the_state_is_a_replay_of_the_journal() -> None:
    bench = desk({NAME: "a\n"})
    bench.propose({NAME: "b\n"})
    bench.call("ask_human", question="?")
    before = bench.state
    bench.session.load()
    assert bench.state == before
    assert bench.state is not before


def test_an_agent_that_reconnects_is_known_and_keeps_its_task() -> None:
    bench = desk({NAME: "a\n"})
    start = bench.seq
    name = bench.connect()
    assert bench.story(start) == []
    bench.session.disconnect(name)
    bench.session.disconnect(name)
    with pytest.raises(KeyError):
        bench.call("task_status")
    bench.connect(AGENT, "coder 2")
    assert bench.story(start) == ["agent_connected"]


def test_what_a_session_cannot_do_it_says() -> None:
    bench = desk({NAME: "a\n"})
    assert bench.session.describe() == {"mode": "editor", "pid": 4711, "version": "0.0.0", "root": "/w"}
    assert code(bench.session.hand_over) == "not_ready"
    over: list[bool] = []
    bench.session.yielded = lambda: over.append(True)
    bench.session.hand_over()
    assert over == [True]
    assert code(lambda: bench.session.report("task-9")) == "no_such_task"


# --- crashes ----------------------------------------------------------------------------------------------------------

PAIR = {"src/a.txt": "a\n", "src/b.txt": "b\n"}


def test_a_crash_between_two_writes_is_put_back_whole() -> None:
    bench = desk(PAIR)
    bench.propose({"src/a.txt": "A\n", "src/b.txt": "B\n"})
    start = bench.seq
    bench.disk.failing["commit src/b.txt"] = Crash()
    with pytest.raises(Crash):
        bench.accept("P1")
    assert [bench.disk.files[path] for path in PAIR] == [b"A\n", b"b\n"]
    again = bench.restart()
    assert [again.disk.files[path] for path in PAIR] == [b"a\n", b"b\n"]
    found = ["session_opened", "action_moved outcome_unknown", "action_moved safe_to_retry"]
    assert again.story(start) == [*BEGUN, *found]
    assert again.disk.swept[-1] == frozenset()
    again.accept("P1")
    assert [again.disk.files[path] for path in PAIR] == [b"A\n", b"B\n"]


def test_a_save_that_a_crash_left_in_a_temporary_file_is_kept_and_told() -> None:
    """Killed between the exchange that brought it out and the one that would have put it back on top."""
    bench = desk(PAIR)
    bench.propose({"src/a.txt": "A\n"})
    bench.accept("P1")
    again, told = bench.restart(), list[str]()
    again.disk.left = {"src/.remit-A1-0.tmp": b"a\n", "src/.remit-A1-1.tmp": b"saved by the user\n"}
    again.session.notify = told.append
    again.session.attach("editor", "Test Editor", "1.0", "utf-16", again.abilities, ())
    assert told == ["Somebody saved while Remit was cut off; those texts were kept: src/.remit-A1-1.tmp."]


def test_a_late_save_does_not_undo_what_was_put_back() -> None:
    bench = desk(PAIR)
    bench.propose({"src/a.txt": "A\n", "src/b.txt": "B\n"})
    bench.disk.failing["commit src/b.txt"] = Crash()
    with pytest.raises(Crash):
        bench.accept("P1")
    bench.disk.failing["finish"] = WorldFault("late_save", "A program saved into a file after it was replaced.")
    again = bench.restart()
    assert [again.disk.files[path] for path in PAIR] == [b"a\n", b"b\n"]
    assert again.state.actions["A1"].state == "safe_to_retry"


def test_a_crash_while_putting_back_is_put_back_by_the_next() -> None:
    bench = desk({**PAIR, "src/c.txt": "c\n"})
    bench.propose({"src/a.txt": "A\n", "src/b.txt": "B\n", "src/c.txt": "C\n"})
    bench.disk.failing["commit src/c.txt"] = Crash()
    with pytest.raises(Crash):
        bench.accept("P1")
    bench.disk.failing["commit src/b.txt"] = Crash()
    with pytest.raises(Crash):
        bench.restart()
    assert bench.disk.files["src/b.txt"] == b"B\n"
    again = bench.restart()
    assert [again.disk.files[path] for path in ("src/a.txt", "src/b.txt", "src/c.txt")] == [b"a\n", b"b\n", b"c\n"]
    assert again.state.actions["A1"].state == "safe_to_retry"


def test_half_written_files_that_cannot_be_put_back_are_the_humans() -> None:
    bench = desk(PAIR)
    bench.propose({"src/a.txt": "A\n", "src/b.txt": "B\n"})
    bench.disk.failing["commit src/b.txt"] = Crash()
    with pytest.raises(Crash):
        bench.accept("P1")
    bench.disk.failing["stage"] = WorldFault("write_failed", "The file could not be written (EROFS).")
    again = bench.restart()
    assert again.state.actions["A1"].state == "needs_human_decision"
    assert [entry.asked.kind for entry in again.state.pending_decisions()] == ["unknown_outcome"]
    assert [again.disk.files[path] for path in PAIR] == [b"A\n", b"b\n"]


def test_a_run_that_was_cut_off_is_never_run_again_by_itself() -> None:
    policy = '[checks.tests]\nargv = ["run-tests"]\n'
    bench = desk({NAME: "a\n"}, policy=policy, contract=contract_text(verification={"allowed": ["tests"]}))
    bench.call("run_check", checkId="tests")
    bench.decide("D1", "run")
    again = bench.restart()
    again.wait(60)
    assert again.runs == []
    assert [entry.asked.kind for entry in again.state.pending_decisions()] == ["unknown_outcome"]
    again.decide("D2", "not_run")
    again.connect()
    again.call("run_check", checkId="tests")
    again.decide("D3", "run")
    again.ran()
    assert again.call("list_checks")["checks"][0]["status"] == "passed"


def test_an_editor_that_comes_back_with_the_text_settles_the_outcome() -> None:
    bench = desk({NAME: "a\n"})
    bench.open(NAME)
    bench.propose({NAME: "b\n"})
    start = bench.seq
    bench.accept("P1")
    assert bench.take(bench.edits[0])
    assert bench.story(start) == APPLIED
    crashed = bench.restart(journal=bench.journal.cut(start + len(BEGUN)))
    assert crashed.state.actions["A1"].state == "outcome_unknown", "an editor may still bring the buffer back"
    crashed.reopen()
    assert crashed.state.actions["A1"].state == "succeeded"


@dataclass(slots=True)
class Frame:
    """The world at one moment: how long the journal was, the files, the buffers."""

    length: int
    disk: MemoryDisk
    texts: dict[str, str]


@dataclass(slots=True)
class FilmedJournal(MemoryJournal):
    """Takes a picture of the world before and after every append: a crash may come at either moment."""

    scene: list[Bench] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)

    def append(self, at: str, events: Any, blobs: Mapping[str, bytes] | None = None) -> tuple[Any, ...]:
        self.take()
        records = MemoryJournal.append(self, at, events, blobs)
        self.take()
        return records

    def take(self) -> None:
        if self.scene:
            bench = self.scene[0]
            texts = {path: str(one.text) for path, one in bench.documents.items()}
            self.frames.append(Frame(len(self.records), copied(bench.disk), texts))


FILES = {
    "src/open.txt": "".join(f"{n}\n" for n in range(8)),
    "src/closed.txt": "c\n",
    "src/gone.txt": "g\n",
    ".vscode/x.json": "{}\n",
}
POLICY = '[checks.tests]\nargv = ["run-tests"]\n\n[checks.look]\nkind = "human"\n'


def film() -> FilmedJournal:
    """The longest story: every kind of act once."""
    journal = FilmedJournal()
    scope = contract_text(scope=["src/", ".vscode/"], verification={"allowed": ["tests", "look"]})
    bench = desk(FILES, policy=POLICY, contract=scope, journal=journal)
    journal.scene.append(bench)
    bench.open("src/open.txt")
    text = bench.text("src/open.txt")
    bench.call("read_file", path="src/open.txt")
    new = text.replace("1\n", "one\n").replace("4\n", "four\n").replace("6\n", "six\n")
    bench.propose({"src/open.txt": new}, key="k")
    bench.accept("P1", "P1.2")
    bench.play()
    bench.act("rejectHunk", "P3", "P1.1")
    bench.accept("P4")
    bench.play()
    bench.propose({"src/open.txt": "new\n", "src/closed.txt": "C\n", "src/made.txt": "m\n", "src/gone.txt": None})
    bench.accept("P5")
    bench.play()
    bench.propose({".vscode/x.json": "{ }\n"})
    bench.decide("D1", "allow")
    bench.accept("P6")
    bench.save("src/open.txt")
    bench.call("run_check", checkId="tests")
    bench.decide("D2", "run")
    bench.ran()
    bench.call("run_check", checkId="look")
    bench.decide("D3", "sign_off")
    bench.call("request_amendment", writeScope=["docs/"], why="More.")
    bench.decide("D4", "allow")
    bench.call("ask_human", question="Done?", options=["yes", "no"])
    bench.propose({"docs/d.md": "d\n"})
    bench.type("src/open.txt", 0, 0, "mine ")
    last = bench.propose({"src/open.txt": "mine too\n"})
    bench.type("src/open.txt", 0, 0, "and ")
    bench.act("reject", last)
    bench.call("finish_task", summary="All done.")
    return journal


@pytest.fixture(scope="module")
def filmed() -> FilmedJournal:
    return film()


def crashed(film: FilmedJournal, frame: Frame, length: int) -> Bench:
    """A new session on the journal's first `length` records, with the world of that frame."""
    bench = Bench(disk=copied(frame.disk), journal=film.cut(length), generation=2)
    for path, text in frame.texts.items():
        bench.open(path, text)
    bench.wait(10)
    return bench


def test_the_film_shows_every_kind_of_act(filmed: FilmedJournal) -> None:
    shown = {record.event["type"] for record in filmed.records}
    assert shown >= {
        *["session_opened", "policy_activated", "contract_activated", "agent_connected", "shown", "proposed"],
        *["answered", "rejected", "superseded", "action_planned", "action_moved", "check_finished"],
        *["decision_asked", "decision_answered", "finished"],
    }
    assert len(filmed.frames) > 50


def test_a_crash_at_any_moment_leaves_nothing_half_and_nothing_twice(filmed: FilmedJournal) -> None:
    held: dict[str, set[bytes]] = {}
    for frame in filmed.frames:
        for path, data in frame.disk.files.items():
            held.setdefault(path, set()).add(data)
    for number, frame in enumerate(filmed.frames):
        bench = crashed(filmed, frame, frame.length)
        assert (bench.edits, bench.runs) == ([], []), f"frame {number}: an effect was done again"
        assert {path: bench.text(path) for path in frame.texts} == frame.texts, "a buffer is the human's"
        assert all(data in held[path] for path, data in bench.disk.files.items()), number
        demand_settled(bench, number)


def demand_settled(bench: Bench, number: int) -> None:
    """Every action has come to an end, or the human is asked; what may be tried again is wholly undone."""
    asked = {entry.asked.subject for entry in bench.state.pending_decisions()}
    for name, entry in bench.state.actions.items():
        waits = entry.state == "needs_human_decision" and name in asked
        assert waits or entry.state in actions.SETTLED, f"frame {number}: {name} is {entry.state}"
    last = next(reversed(bench.state.actions.values()), None)
    if last is not None and last.plan.kind == "apply":
        found = {target.path: bench.session.peek().look(target.path) for target in last.plan.targets}
        old = all(found[target.path].is_named(target.before) for target in last.plan.targets)
        assert old or last.state not in ("safe_to_retry", "failed_without_effect"), number


def test_what_waited_before_a_crash_waits_after_it(filmed: FilmedJournal) -> None:
    for number, frame in enumerate(filmed.frames):
        before = State()
        for record in filmed.records[: frame.length]:
            before.fold(record.seq, record.at, events.decode(record.event))
        bench = crashed(filmed, frame, frame.length)
        questions = {entry.asked.decision for entry in bench.state.pending_decisions()}
        assert {entry.asked.decision for entry in before.pending_decisions()} <= questions, number
        applied = {hunk for hunk, state in bench.state.hunks.items() if state == "applied"}
        assert waiting_hunks(before) <= waiting_hunks(bench.state) | applied, number


def waiting_hunks(state: State) -> set[str]:
    """The hunks that the human can still decide; a divided proposal's are carried by the rest of it."""
    outlines = [entry.outline for entry in state.open_proposals()]
    hunks = {hunk for outline in outlines for file in outline.files for hunk in file.hunks}
    return {hunk for hunk in hunks if state.hunks[hunk] == "pending"}


def test_after_any_crash_work_goes_on(filmed: FilmedJournal) -> None:
    for frame in filmed.frames:
        bench = crashed(filmed, frame, frame.length)
        bench.connect()
        proposal = bench.propose({"src/after.txt": "after\n"})
        bench.accept(proposal)
        assert bench.disk.files["src/after.txt"] == b"after\n"
        assert bench.restart().state.proposals[proposal].state == "applied"


def test_no_cut_of_the_journal_is_beyond_reading(filmed: FilmedJournal) -> None:
    """Batches are written whole; even one that is cut in the middle is read, and goes on by legal moves."""
    for length in range(1, len(filmed.records) + 1):
        frame = next(frame for frame in filmed.frames if frame.length >= length)
        bench = crashed(filmed, frame, length)
        assert bench.story(length)[0] == "session_opened"
        assert {path: bench.text(path) for path in frame.texts} == frame.texts
        assert all(entry.state != "dispatched" for entry in bench.state.actions.values()), length


# --- whose an agent's id is -------------------------------------------------------------------------------------------


def test_an_agents_id_stays_with_its_process() -> None:
    bench = desk({"src/a": "a\n"})
    start = bench.seq
    hello = Hello(token="t", agent=AGENT, name="thief", version="1")
    with pytest.raises(AgentFault) as caught:
        bench.session.connect(hello, 100)
    assert (caught.value.code, bench.seq) == ("agent_taken", start)
    assert bench.session.connect(hello.model_copy(update={"agent": "agent-0002"}), 100)
    assert bench.restart().connect(AGENT)
