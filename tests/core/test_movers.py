"""A stale answer says who moved the file: hand, formatter, other proposal, git; what is not known is not guessed."""

from __future__ import annotations

from typing import Any

import pytest

from desks import change
from fakes import Bench, desk, sha
from remit.core.faults import AgentFault
from remit.core.text import Edit, Position, Range

TEXT = "x=1\ny=2\nz=3\n"


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": TEXT})


def moved_by(bench: Bench, base: str = TEXT) -> list[tuple[str, ...]]:
    """Who moved the file, as a refused agent is told."""
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", patch=change("z=3", "z=4"), bases={"src/a": sha(base)})
    assert caught.value.code == "stale"
    stale: Any = caught.value.data["stale"]
    return [tuple(str(value) for value in one.values()) for one in stale[0]["movedBy"]]


def over(text: str, lines: int) -> Edit:
    return Edit(text, Range(Position(0, 0), Position(lines, 0)))


def test_typing(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 0, 0, "#")
    assert moved_by(bench) == [("user",)]


def test_typing_and_then_a_formatter(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 0, 0, "#")
    bench.call("read_file", path="src/a")
    bench.change("src/a", over("# x = 1\ny = 2\n", 2))
    bench.save("src/a")
    assert moved_by(bench) == [("user",), ("formatter",)]
    assert moved_by(bench, "#" + TEXT) == [("formatter",)], "whoever saw what was typed is told of the rest"


def test_another_proposal_in_an_open_file_and_what_was_typed_after(bench: Bench) -> None:
    bench.open("src/a")
    bench.propose({"src/a": TEXT.replace("x=1", "x=2")})
    bench.accept("P1")
    bench.play()
    assert moved_by(bench) == [("proposal", "P1", "coder")]
    bench.type("src/a", 0, 0, "#")
    assert moved_by(bench) == [("proposal", "P1", "coder"), ("user",)]


def test_another_proposal_in_a_closed_file(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("x=1", "x=2")})
    bench.accept("P1")
    assert moved_by(bench) == [("proposal", "P1", "coder")]


def test_a_branch_switch_under_a_closed_and_under_an_open_file(bench: Bench) -> None:
    other = TEXT.replace("x=1", "x=9")
    bench.disk.files["src/a"] = bench.disk.head["src/a"] = other.encode()
    assert moved_by(bench) == [("git",)]
    bench.disk.files["src/a"] = TEXT.encode()
    bench.open("src/a")
    bench.session.findings()
    bench.disk.files["src/a"] = other.encode()
    bench.change("src/a", over("x=9\n", 1))
    bench.clock.advance(2)
    bench.session.findings()
    assert moved_by(bench) == [("git",)], "the editor has loaded what git wrote"


def test_somebody_wrote_it_who_did_not_say(bench: Bench) -> None:
    bench.disk.files["src/a"] = b"other\n"
    assert moved_by(bench) == [("unknown",)]
    bench.open("src/a")
    bench.type("src/a", 0, 0, "#")
    assert moved_by(bench) == [("unknown",), ("user",)]


def test_saved_and_closed_again(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 0, 0, "#")
    bench.save("src/a")
    bench.close("src/a")
    assert moved_by(bench) == [("user",)]


def test_one_keystroke_and_a_save_at_once_was_not_loaded_from_disk(bench: Bench) -> None:
    bench.open("src/a")
    bench.session.findings()
    bench.type("src/a", 0, 0, "#")
    bench.disk.files["src/a"] = bench.text("src/a").encode()
    bench.session.findings()
    bench.session.saved("src/a")
    assert moved_by(bench) == [("user",)]


def test_undo_makes_fresh_and_then_only_what_came_after_counts(bench: Bench) -> None:
    bench.open("src/a")
    bench.change("src/a", over("x = 1\ny = 2\n", 2))
    bench.save("src/a")
    bench.undo("src/a")
    assert bench.call("propose_patch", patch=change("z=3", "z=4"), bases={"src/a": sha(TEXT)})["state"] == "pending"
    bench.type("src/a", 0, 0, "#")
    assert moved_by(bench) == [("user",)]
