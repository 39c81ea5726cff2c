"""`core.rebasing`: what a proposal is on the present text, and the proposal that is made of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Bench, desk, sha
from remit.core import diff, rebasing, staleness
from remit.core.faults import UserFault
from remit.core.proposal import Proposal
from remit.core.rebasing import Shown

LINES = [f"line {number}\n" for number in range(1, 11)]
TEXT = "".join(LINES)


def shouted(*numbers: int, text: str = TEXT) -> str:
    return "".join(line.upper() if f"line {n}" in text and n in numbers else line for n, line in enumerate(LINES, 1))


@pytest.fixture
def bench() -> Bench:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.open("src/a")
    bench.propose({"src/a": shouted(2, 8)})
    return bench


def shown(bench: Bench, name: str = "P1") -> tuple[Shown, ...]:
    turn = bench.session.peek()
    return rebasing.shown(turn, turn.proposal(name))


def made(bench: Bench, name: str = "P1") -> Proposal:
    turn = bench.session.peek()
    return rebasing.make(turn, turn.proposal(name))


def test_what_is_fresh_is_shown_as_proposed(bench: Bench) -> None:
    (one,) = shown(bench)
    assert (one.standing, one.hunks) == ("fresh", bench.session.peek().proposal("P1").files[0].hunks)
    assert not rebasing.fits([one]) and rebasing.left([one])


def test_what_still_fits_is_shown_on_the_present_lines_under_its_own_names(bench: Bench) -> None:
    bench.type("src/a", 4, 0, "new\n")
    (one,) = shown(bench)
    assert one.standing == "clean" and rebasing.fits([one])
    assert [(hunk.id, hunk.old_start, hunk.placed) for hunk in one.hunks] == [
        ("P1.1", 1, "exact"),
        ("P1.2", 8, "rebase(+1)"),
    ]
    change, data = rebasing.change(one)
    now = TEXT.replace("line 5", "new\nline 5")
    wanted = now.replace("line 2", "LINE 2").replace("line 8", "LINE 8")
    assert (change.base, change.result, data) == (sha(now), sha(wanted), wanted.encode())


def test_a_part_that_is_there_already_is_left_out(bench: Bench) -> None:
    bench.type("src/a", 1, 0, "LINE 2", (1, 6))
    (one,) = shown(bench)
    assert [hunk.id for hunk in one.hunks] == ["P1.2"] and one.spots["P1.1"] == (1, 2)
    bench.type("src/a", 7, 0, "LINE 8", (7, 6))
    assert not shown(bench)[0].hunks and not rebasing.left(shown(bench))


def test_what_both_sides_changed_is_a_conflict(bench: Bench) -> None:
    bench.type("src/a", 1, 0, "my ")
    (one,) = shown(bench)
    assert one.standing == "conflict" and not rebasing.fits([one])
    assert one.clashes[0].present == ("my line 2\n",) and one.clashes[0].proposed == ("LINE 2\n",)
    with pytest.raises(UserFault) as caught:
        made(bench)
    assert caught.value.code == "conflict"
    both: Any = caught.value.data["conflicts"]
    assert both[0] == {
        "baseLine": 2,
        "base": ["line 2\n"],
        "line": 2,
        "present": ["my line 2\n"],
        "proposed": ["LINE 2\n"],
        "cut": False,
    }


@pytest.mark.parametrize("gone", [True, False])
def test_what_is_no_change_of_a_text_is_not_rebased(gone: bool) -> None:
    bench = desk({"src/a": TEXT})
    bench.propose({"src/a": None})
    bench.propose({"src/new": "n\n"})
    bench.disk.files |= {"src/a": b"else\n", "src/new": b"theirs\n"}
    if gone:
        del bench.disk.files["src/a"]
    assert [shown(bench, name)[0].standing for name in ("P1", "P2")] == ["not_possible", "not_possible"]


def test_the_rebase_says_which_hunk_each_comes_from(bench: Bench) -> None:
    bench.type("src/a", 4, 0, "new\n")
    new = made(bench)
    assert (new.id, new.parent, new.made) == ("P2", "P1", "rebase")
    hunks = [(hunk.id, hunk.was, hunk.placed) for _, hunk in new.hunks()]
    assert hunks == [("P2.1", "P1.1", "exact"), ("P2.2", "P1.2", "rebase(+1)")]


def test_a_file_that_has_not_moved_comes_along_as_it_is() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.propose({"src/b": "B\n", "src/a": shouted(2)})
    bench.disk.files["src/a"] = ("zero\n" + TEXT).encode()
    new = made(bench)
    assert [(file.path, file.base) for file in new.files] == [("src/b", sha("b\n")), ("src/a", sha("zero\n" + TEXT))]
    assert [(hunk.id, hunk.was) for _, hunk in new.hunks()] == [("P2.1", "P1.1"), ("P2.2", "P1.2")]


def test_lineage_is_no_part_of_what_a_proposal_does(bench: Bench) -> None:
    old = bench.session.peek().proposal("P1")
    (file,) = old.files
    told = file.model_copy(update={"hunks": tuple(hunk.model_copy(update={"was": "P0.1"}) for hunk in file.hunks)})
    assert old.model_copy(update={"files": (told,)}).digest() == old.digest()
    assert Proposal.parse(old.model_copy(update={"files": (told,)}).body()).files[0].hunks[0].was == "P0.1"


@settings(max_examples=150)
@given(
    typed=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 2), st.sampled_from(["", "x\n", "LINE 2\n"])), max_size=4
    )
)
def test_it_agrees_with_the_merge_and_with_what_a_stale_answer_says(typed: list[tuple[int, int, str]]) -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.propose({"src/a": shouted(2, 5, 8)})
    for line, gone, new in typed:
        bench.type("src/a", line, 0, new, (min(line + gone, 9), 0))
    (one,), turn = shown(bench), bench.session.peek()
    moves = staleness.moves(turn, turn.proposal("P1"))
    assert [move.rebase for move in moves] == [one.standing] * (one.standing != "fresh")
    merged = diff.merge(TEXT, bench.text("src/a"), shouted(2, 5, 8))
    if one.standing == "clean":
        assert isinstance(merged, diff.Merged) and rebasing.change(one)[1].decode() == merged.text
    elif one.standing == "conflict":
        assert isinstance(merged, diff.Conflict)
