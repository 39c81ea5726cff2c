"""`core.overlapping`: whoever waits for the same or adjoining lines is named before either is applied."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import CONTRACT_PATH, Bench, contract_text, desk, sha
from remit.core import overlapping
from remit.core.overlapping import EACH, Touch
from remit.core.proposal import FileChange, Hunk
from remit.core.rebasing import Shown
from remit.core.snapshot import Snapshot, Told

LINES = [f"line {number}\n" for number in range(1, 11)]
TEXT = "".join(LINES)


def changed(**lines: str) -> str:
    """The text with other lines, by number: `_2="x\\n"`."""
    return "".join(lines.get(f"_{at}", line) for at, line in enumerate(LINES, 1))


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": TEXT, "src/b": "b\n"})


def pairs(bench: Bench) -> set[tuple[str, str]]:
    found = overlapping.overlaps(overlapping.standing(bench.session.peek()))
    return {(hunk, other.hunk) for hunk, others in found.items() for other in others}


def test_the_same_and_adjoining_lines_overlap_and_others_do_not(bench: Bench) -> None:
    bench.propose({"src/a": changed(_3="3\n", _8="8\n")})
    bench.propose({"src/a": changed(_3="drei\n")})
    bench.propose({"src/a": changed(_9="9\n")})
    bench.propose({"src/a": changed(_6="6\n")})
    assert pairs(bench) == {("P1.1", "P2.1"), ("P2.1", "P1.1"), ("P1.2", "P3.1"), ("P3.1", "P1.2")}


def test_what_was_made_from_another_text_is_compared_on_the_present_one(bench: Bench) -> None:
    bench.open("src/a")
    bench.propose({"src/a": changed(_5="5\n")})
    bench.type("src/a", 0, 0, "zero\n")
    bench.propose({"src/a": "zero\n" + changed(_5="fünf\n")})
    bench.propose({"src/a": "zero\n" + changed(_8="8\n")})
    assert pairs(bench) == {("P1.1", "P2.1"), ("P2.1", "P1.1")}
    bench.type("src/a", 5, 0, "my ")
    assert pairs(bench) == {("P1.1", "P2.1"), ("P2.1", "P1.1")}, "in conflict with the human, and with each other"


def test_what_is_settled_overlaps_nothing(bench: Bench) -> None:
    bench.propose({"src/a": changed(_3="3\n")})
    bench.propose({"src/a": changed(_3="drei\n")}, replaces="P1")
    assert pairs(bench) == set()
    bench.propose({"src/a": changed(_3="trois\n")})
    assert pairs(bench) == {("P2.1", "P3.1"), ("P3.1", "P2.1")}
    bench.act("reject", "P2")
    assert pairs(bench) == set()


def test_a_whole_file_is_about_every_line_of_it(bench: Bench) -> None:
    bench.propose({"src/a": None})
    bench.propose({"src/a": changed(_3="3\n")})
    bench.propose({"src/new": "n\n"})
    bench.propose({"src/new": "m\n"})
    patch = "diff --git a/src/b b/src/z\nrename from src/b\nrename to src/z\n"
    bench.call("propose_patch", patch=patch, bases={"src/b": sha("b\n")})
    bench.propose({"src/z": "z\n"})
    either = {("P1.1", "P2.1"), ("P3.1", "P4.1"), ("P5.1", "P6.1")}
    assert pairs(bench) == either | {(two, one) for one, two in either}


def test_a_mode_is_about_no_line(bench: Bench) -> None:
    patch = "diff --git a/src/b b/src/b\nold mode 100644\nnew mode 100755\n"
    for _ in range(2):
        bench.call("propose_patch", patch=patch, bases={"src/b": sha("b\n")})
    assert pairs(bench) == set()


def test_an_agent_is_told_which_others_and_not_what_they_say(bench: Bench) -> None:
    bench.disk.files["other.contract.json"] = contract_text("task-2").encode()
    bench.clock.advance(2)
    bench.activate("other.contract.json")
    for agent, task in (("agent-0001", "task-1"), ("agent-0002", "task-2")):
        bench.connect(agent)
        decision = bench.session.mediator
        with bench.session._turn() as turn:
            name = decision.unbound(turn, agent)
        bench.decide(name, task)
    first = bench.connect("agent-0001")
    bench.propose({"src/a": changed(_3="secret\n")}, connection=first)
    bench.propose({"src/a": changed(_3="3\n")}, connection=first)
    second = bench.connect("agent-0002")
    files = [{"path": "src/a", "content": changed(_4="4\n")}]
    answer = bench.call("propose_patch", second, files=files, bases={"src/a": sha(TEXT)})
    told = {"hunkId": "P3.1", "path": "src/a", "yours": False, "sameTask": False}
    assert answer["overlaps"] == [{**told, "proposalId": "P1"}, {**told, "proposalId": "P2"}]
    assert "secret" not in str(answer)
    files = [{"path": "src/a", "content": changed(_4="vier\n")}]
    answer = bench.call("propose_patch", first, files=files, bases={"src/a": sha(TEXT)})
    others = [(one["proposalId"], one["yours"], one["sameTask"]) for one in answer["overlaps"]]
    assert others == [("P1", True, True), ("P2", True, True), ("P3", False, False)]


def test_who_overlaps_nothing_is_told_nothing(bench: Bench) -> None:
    bench.propose({"src/a": changed(_3="3\n")})
    files = [{"path": "src/a", "content": changed(_9="9\n")}]
    answer = bench.call("propose_patch", files=files, bases={"src/a": sha(TEXT)})
    assert answer["overlaps"] == [] and CONTRACT_PATH in bench.disk.files


def crowd(count: int, hunks: int, at: int = 0) -> dict[str, tuple[Shown, ...]]:
    """So many proposals of so many hunks, all on the same lines of one file."""
    found: dict[str, Any] = {}
    for number in range(count):
        made = [
            Hunk(id=f"P{number}.{h}", old_start=at + 2 * h, old=("x\n",), new_start=at + 2 * h, new=())
            for h in range(hunks)
        ]
        file = FileChange(path="a", op="modify", base=sha("a"), result=sha("b"), hunks=tuple(made))
        found[f"P{number}"] = (Shown(file, Snapshot("a", Told(sha("a")), "disk"), "fresh", tuple(made)),)
    return found


def test_a_crowd_on_one_line_is_named_in_part_and_costs_little() -> None:
    found = overlapping.overlaps(crowd(2_000, 1))
    assert max(len(others) for others in found.values()) == EACH and len(found) >= 1_990

    def compared(hunks: int) -> int:
        touches = [Touch("a", f"P{at % 10}", f"h{at}", at // 10, Counted(at // 10 + 1)) for at in range(10 * hunks)]
        Counted.times = 0
        overlapping._sweep(touches, defaultdict(list))
        return Counted.times

    assert 0 < compared(8_000) < 10 * compared(1_000), "comparing each with each would cost 64 times as much"


class Counted(int):
    """A number that counts how often it is compared."""

    times = 0

    def __ge__(self, other: int) -> bool:
        Counted.times += 1
        return int(self) >= other


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=3)


@settings(max_examples=200)
@given(st.lists(SPANS, min_size=2, max_size=4))
def test_it_finds_what_comparing_each_with_each_finds(spans: list[list[tuple[int, int]]]) -> None:
    shown, flat = {}, []
    for number, each in enumerate(spans):
        hunks = [
            Hunk(id=f"P{number}.{h}", old_start=start, old=("x\n",) * count, new_start=start, new=("y\n",))
            for h, (start, count) in enumerate(each)
        ]
        file = FileChange(path="a", op="modify", base=sha("a"), result=sha("b"), hunks=tuple(hunks))
        shown[f"P{number}"] = (Shown(file, Snapshot("a", Told(sha("a")), "disk"), "fresh", tuple(hunks)),)
        flat += [(f"P{number}", hunk.id, hunk.old_start, hunk.old_start + len(hunk.old)) for hunk in hunks]
    wanted: dict[str, set[str]] = {}
    for name, hunk, start, end in flat:
        others = {h for p, h, low, high in flat if p != name and low <= end and high >= start}
        if others:
            wanted[hunk] = others
    found = {hunk: {other.hunk for other in others} for hunk, others in overlapping.overlaps(shown).items()}
    assert found.keys() <= wanted.keys()
    for hunk, others in wanted.items():
        if len(others) < EACH and all(len(wanted[other]) < EACH for other in others):
            assert found.get(hunk) == others
