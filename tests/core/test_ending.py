"""How an apply ends: known, or unknown with what was found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from fakes import Bench, desk, sha
from remit.core.faults import UserFault, WorldFault

NAME, OTHER = "src/a.txt", "src/b.txt"
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.lists(st.tuples(st.sampled_from(["a", "b", "", "ä", "\U0001f40d", "x\x0cy\u2028z"]), ENDS), max_size=10)
TEXTS = st.builds(lambda lines, end: "".join(a + b for a, b in lines) + end, LINES, st.sampled_from(["", "end"]))


def refused(act: Any) -> str:
    with pytest.raises(UserFault) as caught:
        act()
    return caught.value.code


def mixed(old: str, new: str) -> Bench:
    """An open and a closed file, changed by one proposal that has been accepted and not yet played."""
    bench = desk({NAME: old, OTHER: "b\n"})
    bench.open(NAME)
    bench.propose({NAME: new, OTHER: "B\n"})
    bench.accept("P1")
    return bench


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
