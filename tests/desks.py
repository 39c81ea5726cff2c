"""Beginnings that several tests of the core share: a desk with checks, one with files to propose to, one mid-apply.

`fakes.py` has the parts; here are only set tables, and what is asked again and again.
"""

from __future__ import annotations

from typing import Any

import pytest

from fakes import Bench, contract_text, desk
from remit.core.faults import AgentFault, Json, UserFault

# --- checks -----------------------------------------------------------------------------------------------------------

NAME, OTHER = "src/a.txt", "src/b.txt"
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


def check_desk() -> Bench:
    """A desk whose contract names checks of every kind."""
    files = {NAME: "a\n", "docs/d.md": "d\n", "check.sh": "true\n"}
    return desk(files, policy=POLICY, contract=contract_text(verification=VERIFICATION))


# --- proposals --------------------------------------------------------------------------------------------------------

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
FILES = {"src/a": TEXT, "src/b": "b\n", "other/c": "c\n", "src/dos": "one\r\ntwo\r\n"}


def refused_proposal(bench: Bench, code: str, **params: Any) -> dict[str, Json]:
    """The data of a refusal; it must be this one, and leave nothing but a record of itself."""
    before, stories = dict(bench.disk.files), bench.seq
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", **params)
    fault = caught.value
    assert (fault.code, len(fault.message) <= 100) == (code, True), fault
    assert bench.disk.files == before and not bench.state.proposals
    assert bench.story(stories) in ([], ["refused"])
    return {**fault.data, "remedy": fault.remedy}


def whole(path: str, content: str | None, base: str | None = None) -> dict[str, Any]:
    return {"files": [{"path": path, "content": content}], "bases": {} if base is None else {path: base}}


def change(old: str, new: str, path: str = "src/a") -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def stale_view(data: dict[str, Json]) -> dict[str, Json]:
    """What moved, in the one file that is stale."""
    views = data["stale"]
    assert isinstance(views, list) and len(views) == 1 and isinstance(views[0], dict)
    return views[0]


# --- an apply under way -----------------------------------------------------------------------------------------------


def mixed(old: str, new: str) -> Bench:
    """An open and a closed file, changed by one proposal that has been accepted and not yet played."""
    bench = desk({NAME: old, OTHER: "b\n"})
    bench.open(NAME)
    bench.propose({NAME: new, OTHER: "B\n"})
    bench.accept("P1")
    return bench
