"""`core.following`: with `rebase: auto`, what waits moves along when the typing pauses. Bounded, never applied."""

from __future__ import annotations

import pytest

from fakes import Bench, desk, sha
from remit.core import following, room
from remit.core.following import PAUSE

LINES = [f"line {number}\n" for number in range(1, 11)]
TEXT = "".join(LINES)


@pytest.fixture
def bench() -> Bench:
    bench = desk({"src/a": TEXT, "src/b": "b\n", "src/.env": TEXT})
    bench.open("src/a")
    bench.session.configure("auto")
    bench.wait(10)
    bench.propose({"src/a": TEXT.replace("line 8", "LINE 8")})
    return bench


def waiting(bench: Bench) -> list[str]:
    return [entry.outline.proposal for entry in bench.state.open_proposals()]


def test_what_waits_moves_along_once_the_typing_has_paused(bench: Bench) -> None:
    seq = bench.seq
    bench.type("src/a", 0, 0, "z")
    bench.wait(PAUSE / 2)
    bench.type("src/a", 0, 1, "\n")
    bench.wait(PAUSE - 0.1)
    assert waiting(bench) == ["P1"] and bench.seq == seq, "typing goes on, and writes nothing"
    bench.wait(PAUSE)
    assert waiting(bench) == ["P2"] and bench.story(seq) == ["proposed", "superseded"]
    made = bench.session.peek().proposal("P2")
    now = "z\n" + TEXT
    assert (made.made, made.files[0].base) == ("rebase", sha(now))
    assert made.files[0].result == sha(now.replace("line 8", "LINE 8"))
    assert bench.text("src/a") == now and bench.edits == [] and not bench.state.actions


def test_the_agent_is_told_what_took_its_place(bench: Bench) -> None:
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(2 * PAUSE)
    status = bench.call("proposal_status", proposalId="P1")
    assert (status["state"], status["replacedBy"], status["settled"]) == ("superseded", ["P2"], False)
    (new,) = status["replacements"]
    assert (new["proposalId"], new["made"], new["state"]) == ("P2", "rebase", "pending")
    assert new["digest"] == bench.state.proposals["P2"].outline.digest
    assert new["files"][0]["base"] == sha("z\n" + TEXT)
    assert bench.call("proposal_status", proposalId="P2")["fresh"] is True


def test_one_move_a_pause_whatever_is_typed(bench: Bench) -> None:
    for _ in range(30):
        bench.type("src/a", 0, 0, "z")
        bench.wait(0.1)
    assert len(bench.wakes) == 1
    bench.wait(3 * PAUSE)
    assert waiting(bench) == ["P2"] and bench.wakes == []
    bench.wait(100)
    assert waiting(bench) == ["P2"]


def test_ask_is_the_word_unless_it_is_said() -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.propose({"src/a": TEXT.replace("line 8", "LINE 8")})
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(100)
    assert waiting(bench) == ["P1"] and bench.wakes == []
    bench.session.configure("auto")
    bench.wait(PAUSE)
    assert waiting(bench) == ["P2"], "what had been left behind comes along when it is switched on"
    bench.session.configure("ask")
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(100)
    assert waiting(bench) == ["P2"]


def test_what_does_not_fit_stays_and_comes_along_when_it_does_again(bench: Bench) -> None:
    bench.type("src/a", 7, 0, "my ")
    bench.wait(2 * PAUSE)
    assert waiting(bench) == ["P1"]
    bench.undo("src/a")
    bench.wait(2 * PAUSE)
    assert waiting(bench) == ["P1"] and bench.call("proposal_status", proposalId="P1")["fresh"] is True


def test_closed_files_and_paths_with_a_yes_of_their_own_wait_to_be_asked(bench: Bench) -> None:
    bench.propose({"src/b": "B\n"})
    bench.open("src/.env")
    bench.propose({"src/.env": TEXT.replace("line 8", "LINE 8")})
    bench.disk.files["src/b"] = b"zero\nb\n"
    bench.type("src/.env", 0, 0, "z\n")
    bench.wait(3 * PAUSE)
    assert waiting(bench) == ["P1", "P2", "P3"]


def test_what_is_being_written_does_not_move(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("line 3", "LINE 3")})
    bench.accept("P2")
    (effect,) = bench.edits
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(2 * PAUSE)
    assert waiting(bench) == ["P1"] and effect.action == "A1"


def test_a_pause_moves_no_more_than_there_is_room_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (2, 4, 6, 10):
        bench.propose({"src/a": TEXT.replace(f"line {number}\n", f"LINE {number}\n")})
    monkeypatch.setattr(room, "ALONG", 2)
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(PAUSE)
    assert waiting(bench) == ["P3", "P4", "P5", "P6", "P7"]
    bench.wait(2 * PAUSE)
    assert waiting(bench) == ["P6", "P7", "P8", "P9", "P10"]


def test_bytes_are_bounded_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.propose({"src/a": TEXT.replace("line 2", "LINE 2")})
    monkeypatch.setattr(room, "ALONG_BYTES", len(TEXT))
    bench.type("src/a", 0, 0, "z\n")
    bench.wait(PAUSE)
    assert waiting(bench) == ["P2", "P3"]


def test_the_same_proposal_does_not_move_for_ever(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "ALONG_EACH", 3)
    for _ in range(6):
        bench.type("src/a", 0, 0, "z\n")
        bench.wait(2 * PAUSE)
    assert waiting(bench) == ["P4"]
    assert bench.codes("src/a") == ["patch-stale"], "it is shown as it fits, and waits to be asked"
    bench.accept("P4")
    bench.play()
    assert bench.text("src/a") == "z\n" * 6 + TEXT.replace("line 8", "LINE 8")


def test_without_an_editor_nothing_moves(bench: Bench) -> None:
    alone = bench.restart(mode="headless")
    alone.session.configure("auto")
    alone.disk.files["src/a"] = ("z\n" + TEXT).encode()
    alone.wait(100)
    assert waiting(alone) == ["P1"]


def test_only_files_that_something_waits_for_are_looked_at(bench: Bench) -> None:
    turn = bench.session.peek()
    assert following.concerns(turn, "src/a") and not following.concerns(turn, "src/b")
    bench.open("src/b")
    bench.type("src/b", 0, 0, "z")
    assert bench.wakes == []
