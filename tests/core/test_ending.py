"""How an apply ends: known, or unknown with what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from desks import NAME, OTHER
from fakes import MemoryDisk, MemoryStaged, desk, sha
from remit.core.faults import Json, WorldFault
from remit.session import NO_EXCHANGE


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
    told: list[str] = []
    bench.session.notify = told.append
    kept: dict[str, Json] = {NAME: "src/.remit-A1-0.conflict"}
    fault = WorldFault("late_save", "A program saved into a file after it was replaced.", kept=kept)
    bench.disk.failing["finish"] = fault
    bench.accept("P1")
    entry = bench.state.actions["A1"]
    assert (entry.state, "src/.remit-A1-0.conflict" in entry.reason) == ("succeeded", True)
    assert told == [f"{entry.reason}."], "no editor shows the copy by itself"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_file_system_without_exchange_is_on_the_record(exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = desk({NAME: "a\n"})
    stage = MemoryDisk.stage

    def staged(self: MemoryDisk, action: str, changes: Sequence[Any]) -> MemoryStaged:
        return replace(stage(self, action, changes), exchange=exchange)

    monkeypatch.setattr(MemoryDisk, "stage", staged)
    bench.propose({NAME: "A\n"})
    bench.accept("P1")
    assert bench.state.actions["A1"].reason == ("" if exchange else NO_EXCHANGE)


def test_what_has_happened_is_written_down_while_another_file_cannot_be_read() -> None:
    bench = desk({NAME: "a\n", OTHER: "b\n"})
    bench.open(NAME)
    bench.propose({NAME: "A\n", OTHER: "B\n"})
    bench.accept("P1", "P1.1")
    bench.disk.unreadable = {OTHER}
    bench.play()
    assert bench.state.actions["A1"].state == "succeeded"
    (rest,) = bench.state.open_proposals()
    with pytest.raises(WorldFault) as caught:
        bench.accept(rest.outline.proposal)
    assert caught.value.code == "unreadable"
    bench.disk.unreadable = set()
    bench.accept(rest.outline.proposal)
    assert (bench.text(NAME), bench.disk.files[OTHER]) == ("A\n", b"B\n")
