"""An apply as planned: by whose hand each file is written, and whether that still holds."""

from __future__ import annotations

import pytest

from desks import NAME, OTHER
from fakes import Bench, desk, sha
from remit.core import applying, plan
from remit.core.effects import DiskChange
from remit.core.model import ABSENT
from remit.mediator import Abilities

ABLE = Abilities(can_edit=True, compares_versions=False, operations=("delete",))
THIRD = "src/c.txt"


@pytest.fixture
def bench() -> Bench:
    """One file open to be edited, one open to be deleted, one closed; accepted, and waiting for quiet."""
    bench = desk({NAME: "a\n", OTHER: "b\n", THIRD: "c\n"}, abilities=ABLE)
    bench.open(NAME)
    bench.open(OTHER)
    bench.propose({NAME: "A\n", OTHER: None, THIRD: "C\n"})
    bench.accept("P1")
    assert bench.edits == []
    return bench


def test_each_file_is_written_by_the_hand_that_holds_it(bench: Bench) -> None:
    turn = bench.session.peek()
    hands = {target.path: (target.via, target.before, target.after) for target in plan.of(turn, "A1")}
    assert hands == {
        NAME: ("buffer", sha("a\n"), sha("A\n")),
        OTHER: ("editor", sha("b\n"), ABSENT),
        THIRD: ("disk", sha("c\n"), sha("C\n")),
    }
    proposal = turn.proposal("P1")
    assert plan.buffers(turn, "A1") == [NAME]
    assert plan.disk_changes(turn, proposal, "A1") == (DiskChange(THIRD, sha("c\n"), b"C\n", mode_from=None),)
    operated = plan.operated(turn, "A1", proposal)
    assert operated is not None and operated.path == OTHER


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (NAME, f"{NAME} was closed meanwhile"),
        (OTHER, f"{OTHER} was closed meanwhile"),
        (THIRD, f"{THIRD} was opened meanwhile"),
    ],
)
def test_a_file_that_changed_hands_ends_it(bench: Bench, path: str, reason: str) -> None:
    assert plan.displaced(bench.session.peek(), "A1") == ""
    (bench.open if path == THIRD else bench.close)(path)
    assert plan.displaced(bench.session.peek(), "A1") == reason
    bench.wait(2 * applying.QUIET)
    assert bench.state.actions["A1"].state == "failed_without_effect"
    assert bench.disk.files[THIRD] == b"c\n"


def test_a_buffer_that_moved_is_named(bench: Bench) -> None:
    assert plan.changed(bench.session.peek(), "A1") == ""
    bench.type(NAME, 0, 0, "my ")
    assert plan.changed(bench.session.peek(), "A1") == f"{NAME} changed before the edit was sent"
