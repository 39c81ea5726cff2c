"""What a check looks at: a result counts for that content and no other."""

from __future__ import annotations

import pytest

from desks import NAME, check_desk, run, status, write
from fakes import Bench


@pytest.fixture
def bench() -> Bench:
    return check_desk()


def test_a_result_counts_for_its_inputs_only(bench: Bench) -> None:
    run(bench)
    write(bench, "docs/d.md", b"other\n")
    assert status(bench)["tests"] == "passed"
    write(bench, NAME, b"b\n")
    assert status(bench)["tests"] == "stale"
    write(bench, NAME, b"a\n")
    assert status(bench)["tests"] == "passed", "digests decide"
    write(bench, "src/new.txt", b"n\n")
    assert status(bench)["tests"] == "stale"


def test_unsaved_typing_makes_a_result_stale_and_undo_fresh_again(bench: Bench) -> None:
    run(bench)
    bench.open(NAME)
    bench.type(NAME, 0, 0, "x")
    assert status(bench)["tests"] == "stale"
    bench.undo(NAME)
    assert status(bench)["tests"] == "passed"


def test_without_inputs_everything_counts(bench: Bench) -> None:
    run(bench, "all")
    write(bench, "docs/d.md", b"other\n")
    assert status(bench)["all"] == "stale"
