"""How an apply ends: known, or unknown with what was found."""

from __future__ import annotations

from desks import NAME, OTHER
from fakes import desk, sha
from remit.core.faults import WorldFault


def test_an_unknown_write_is_said_with_what_was_found() -> None:
    bench = desk({NAME: "a\n", OTHER: "b\n"})
    bench.propose({NAME: "A\n", OTHER: "B\n"})
    bench.disk.failing["commit"] = WorldFault("outcome_unknown", "Some files could not be brought to a known state.")
    bench.accept("P1")
    entry = bench.state.actions["A1"]
    assert (entry.state, entry.found) == ("needs_human_decision", {NAME: sha("a\n"), OTHER: sha("b\n")})
    assert "Some files could not" in bench.state.decisions["D1"].asked.question


def test_a_late_save_after_the_write_does_not_undo_the_success() -> None:
    bench = desk({NAME: "a\n"})
    bench.propose({NAME: "A\n"})
    bench.disk.failing["finish"] = WorldFault("late_save", "A program saved into a file after it was replaced.")
    bench.accept("P1")
    assert bench.state.actions["A1"].state == "succeeded"
