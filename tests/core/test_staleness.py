"""`core.staleness`: what a stale answer carries, and that undo back to the base makes a proposal fresh again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Bench, desk, sha
from remit.core import staleness
from remit.core.answers import StaleView
from remit.core.faults import AgentFault, UserFault
from remit.core.model import ABSENT
from remit.core.snapshot import Snapshot, Told

TEXT = "one\ntwo\nthree\nfour\nfive\n"
NEW = TEXT.replace("two", "TWO")


def views(bench: Bench, name: str = "P1") -> tuple[StaleView, ...]:
    turn = bench.session.peek()
    return staleness.views(turn, turn.proposal(name))


def is_fresh(bench: Bench, name: str = "P1") -> bool:
    turn = bench.session.peek()
    return staleness.is_fresh(turn, turn.proposal(name))


@pytest.fixture
def bench() -> Bench:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.open("src/a")
    bench.propose({"src/a": NEW})
    return bench


def test_nothing_moved_nothing_is_said(bench: Bench) -> None:
    assert views(bench) == () and is_fresh(bench)


def test_what_moved_is_told_and_whether_it_still_fits(bench: Bench) -> None:
    bench.type("src/a", 4, 0, "high ")
    (view,) = views(bench)
    now = TEXT.replace("five", "high five")
    assert (view.path, view.base, view.current, view.origin) == ("src/a", sha(TEXT), sha(now), "buffer v2")
    assert view.rebase == "clean" and not view.line_ends_only
    assert "-five\n+high five\n" in view.diff
    assert not is_fresh(bench)


def test_undo_back_to_the_base_is_fresh_again(bench: Bench) -> None:
    bench.type("src/a", 1, 0, "x")
    assert views(bench)[0].rebase == "conflict"
    bench.undo("src/a")
    assert views(bench) == () and is_fresh(bench)


def test_the_same_lines_are_a_conflict_and_a_file_that_is_gone_fits_nowhere(bench: Bench) -> None:
    bench.close("src/a")
    del bench.disk.files["src/a"]
    (view,) = views(bench)
    assert (view.current, view.origin, view.rebase) == (ABSENT, "absent", "not_possible")


def test_a_conflict_has_both_sides_and_long_ones_are_cut(bench: Bench) -> None:
    bench.type("src/a", 1, 0, "my ")
    (view,) = views(bench)
    (both,) = view.conflicts
    assert (both.base_line, both.base, both.line) == (2, ("two\n",), 2)
    assert (both.present, both.proposed, both.cut) == (("my two\n",), ("TWO\n",), False)
    bench.type("src/a", 1, 0, f"{'x' * 1_000}\n" + "line\n" * 100)
    ((both,),) = [view.conflicts for view in views(bench)]
    assert both.cut and len(both.present) == staleness.LINES and len(both.present[0]) == staleness.WIDTH + 1


def test_only_so_many_conflicts_are_told() -> None:
    old = "".join(f"{number}\nkept\n" for number in range(staleness.REGIONS + 5))
    bench = desk({"src/a": old})
    bench.propose({"src/a": old.replace("\nkept", "p\nkept")})
    bench.disk.files["src/a"] = old.replace("\nkept", "h\nkept").encode()
    assert len(views(bench)[0].conflicts) == staleness.REGIONS


def test_line_ends_alone_are_named(bench: Bench) -> None:
    bench.close("src/a")
    bench.disk.files["src/a"] = TEXT.replace("\n", "\r\n").encode()
    assert views(bench)[0].line_ends_only


def test_a_long_diff_is_cut(bench: Bench) -> None:
    bench.type("src/a", 4, 0, "long line\n" * 5000)
    assert len(views(bench)[0].diff) < staleness.DIFF_LIMIT + 100
    assert views(bench)[0].diff.endswith("(cut; read the file again)\n")


def test_only_the_files_that_moved_are_told() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.propose({"src/a": NEW, "src/b": "B\n"})
    bench.disk.files["src/b"] = b"theirs\n"
    assert [view.path for view in views(bench)] == ["src/b"]


def test_a_file_made_by_another_stands_in_the_way_of_a_creation_and_of_a_move() -> None:
    bench = desk({"src/a": TEXT})
    bench.propose({"src/new": "n\n"})
    patch = "diff --git a/src/a b/src/z\nrename from src/a\nrename to src/z\n"
    bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})
    assert is_fresh(bench, "P1") and is_fresh(bench, "P2")
    bench.disk.files |= {"src/new": b"theirs\n", "src/z": b"theirs\n"}
    assert [(view.path, view.current) for view in views(bench, "P1")] == [("src/new", sha("theirs\n"))]
    assert [(view.path, view.base) for view in views(bench, "P2")] == [("src/z", ABSENT)]
    assert not is_fresh(bench, "P1") and not is_fresh(bench, "P2")


def test_a_buffer_that_parted_from_its_disk_is_not_stale_and_not_fresh(bench: Bench) -> None:
    bench.disk.files["src/a"] = b"theirs\n"
    assert views(bench) == () and not is_fresh(bench)


@pytest.mark.parametrize("party", [AgentFault, UserFault])
def test_content_in_doubt_is_refused_to_whoever_asks(party: type[AgentFault] | type[UserFault]) -> None:
    with pytest.raises(party) as unknown:
        staleness.demand_known(Snapshot("f", Told(sha("a")), "buffer", trusted=False), sha("a"), party)
    assert (unknown.value.code, unknown.value.data["path"]) == ("buffer_unknown", "f")
    parted = Snapshot("f", Told(sha("a")), "buffer", disk=sha("b"), clean=False, parted=True)
    with pytest.raises(party) as apart:
        staleness.demand_known(parted, sha("a"), party)
    assert (apart.value.code, apart.value.data["buffer"]) == ("disk_conflict", sha("a"))
    staleness.demand_known(parted, sha("c"), party)


@settings(max_examples=60)
@given(typed=st.text(alphabet="xy\n", max_size=8), line=st.integers(0, 4))
def test_fresh_is_by_digest_alone(typed: str, line: int) -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.propose({"src/a": NEW})
    bench.type("src/a", line, 0, typed)
    assert is_fresh(bench) == (bench.text("src/a") == TEXT)
    assert bool(views(bench)) != is_fresh(bench)
