"""What a check looks at: a result counts for that content and no other."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import Bench, contract_text, desk
from remit.core.faults import AgentFault, UserFault

NAME = "src/a.txt"
POLICY = """
[checks.tests]
title = "Unit tests"
argv = ["run-tests", "check.sh"]
inputs = ["src/"]
timeout = 7
environment = ["TOKEN"]

[checks.all]
argv = ["all"]

[checks.look]
kind = "human"
"""
VERIFICATION = {"allowed": ["tests", "all"], "required": ["look"], "forbidden": ["build"]}


@pytest.fixture
def bench() -> Bench:
    files = {NAME: "a\n", "docs/d.md": "d\n", "check.sh": "true\n"}
    return desk(files, policy=POLICY, contract=contract_text(verification=VERIFICATION))


def refused(act: Any, kind: type[AgentFault] | type[UserFault] = UserFault) -> str:
    with pytest.raises(kind) as caught:
        act()
    return caught.value.code


def status(bench: Bench) -> dict[str, str]:
    return {one["checkId"]: one["status"] for one in bench.call("list_checks")["checks"]}


def write(bench: Bench, path: str, data: bytes) -> None:
    """Somebody writes a file; for showing, what was seen may be a second old."""
    bench.disk.files[path] = data
    bench.clock.advance(1.1)


def run(bench: Bench, check: str = "tests", **more: Any) -> None:
    bench.act("runCheck", check, "task-1", **more)
    bench.ran()


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
