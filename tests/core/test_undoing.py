"""Taking back: the agent's hunks go, the human's later text stays, and what cannot be taken back is said to be so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import Bench, desk, sha
from remit.core import undoing
from remit.core.faults import UserFault
from remit.core.finding import Doable

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def applied(bench: Bench, **files: str | None) -> str:
    """Propose, accept, apply; the proposal's id."""
    name = bench.propose({path.replace("__", "/"): text for path, text in files.items()})
    bench.accept(name)
    bench.play()
    assert bench.state.proposals[name].state == "applied"
    return name


def undone(bench: Bench, name: str) -> None:
    bench.act("undo", name)
    bench.play()
    assert bench.state.proposals[name].state == "undone"


def refused(bench: Bench, name: str) -> str:
    """The code with which taking back is refused; and no offer to do it is made."""
    entry = bench.state.proposals[name]
    assert undoing.offer(bench.session.peek(), entry) is None
    with pytest.raises(UserFault) as caught:
        undoing.reverse(bench.session.peek(), entry)
    return caught.value.code


def test_a_change_in_a_buffer_is_taken_back_and_later_typing_stays() -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    bench.type("src/a", 4, 0, "my ")
    undone(bench, name)
    assert bench.text("src/a") == TEXT.replace("five", "my five")
    assert bench.disk.files["src/a"] == TEXT.encode(), "nothing is saved"
    assert bench.state.hunks[f"{name}.1"] == "undone"
    assert "took it back" in bench.call("proposal_status", proposalId=name)["next"]


def test_a_change_on_disk_is_taken_back_and_a_later_save_stays() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    bench.disk.files["src/a"] = TEXT.replace("two", "TWO").replace("five", "FIVE").encode()
    undone(bench, name)
    assert bench.disk.files["src/a"] == TEXT.replace("five", "FIVE").encode()


def test_taking_back_reads_all_sides_by_the_same_guess() -> None:
    bench = desk({"src/a": b"caf\xe9 1\nb\nc\nd\n"})
    name = applied(bench, src__a="café 2\nb\nc\nd\n")
    bench.disk.files["src/a"] = b"caf\xe9 2\nb\nc\nd \xc3\xa9\n"
    undone(bench, name)
    assert bench.disk.files["src/a"] == b"caf\xe9 1\nb\nc\nd \xc3\xa9\n"


@pytest.mark.parametrize(
    ("since", "after"),
    [
        ("one\nTWO\nTHREE\n", "one\ntwo\nTHREE\n"),
        ("one\nTWO\nmine\nthree\n", "one\ntwo\nmine\nthree\n"),
        ("mine\nTWO\nthree\n", "mine\ntwo\nthree\n"),
        ("one\nmine\nTWO\n", "one\nmine\ntwo\n"),
        ("one\nTWO mine\nTHREE\n", None),
        ("one\nthree\n", None),
    ],
)
def test_what_was_written_right_beside_it_since_stays(since: str, after: str | None) -> None:
    """ST-07: the agent's line goes where it still is what the agent wrote, and nothing else."""
    bench = desk({"src/a": "one\ntwo\nthree\n"})
    name = applied(bench, src__a="one\nTWO\nthree\n")
    bench.disk.files["src/a"] = since.encode()
    if after is None:
        assert refused(bench, name) == "conflict"
    else:
        undone(bench, name)
        assert bench.disk.files["src/a"] == after.encode()


def test_two_insertions_at_one_place_have_no_order() -> None:
    bench = desk({"src/a": "one\ngone\nthree\n"})
    name = applied(bench, src__a="one\nthree\n")
    bench.disk.files["src/a"] = b"one\nmine\nthree\n"
    assert refused(bench, name) == "conflict"


def test_lines_that_were_changed_again_are_not_taken_back() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    bench.disk.files["src/a"] = TEXT.replace("two", "2").encode()
    assert refused(bench, name) == "conflict"
    assert bench.disk.files["src/a"] == TEXT.replace("two", "2").encode()


def test_what_is_gone_already_needs_no_taking_back() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    bench.disk.files["src/a"] = TEXT.encode()
    assert refused(bench, name) == "no_change"


def test_a_made_file_goes_only_while_it_is_as_made() -> None:
    bench = desk({})
    name = applied(bench, src__new="n\n")
    bench.disk.files["src/new"] = b"n, and mine\n"
    assert refused(bench, name) == "conflict"
    bench.disk.files["src/new"] = b"n\n"
    undone(bench, name)
    assert "src/new" not in bench.disk.files


def test_a_deleted_file_comes_back_where_nothing_else_is() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=None)
    bench.disk.files["src/a"] = b"another\n"
    assert refused(bench, name) == "conflict"
    del bench.disk.files["src/a"]
    undone(bench, name)
    assert bench.disk.files["src/a"] == TEXT.encode()


def test_a_moved_file_goes_back_with_what_was_written_since() -> None:
    bench = desk({"src/a": TEXT})
    patch = "*** Begin Patch\n*** Update File: src/a\n*** Move to: src/b\n@@\n-two\n+TWO\n*** End Patch\n"
    name = bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})["proposalId"]
    bench.accept(name)
    bench.play()
    assert bench.disk.files["src/b"] == TEXT.replace("two", "TWO").encode()
    bench.disk.files["src/b"] = TEXT.replace("two", "TWO").replace("five", "FIVE").encode()
    undone(bench, name)
    assert bench.disk.files["src/a"] == TEXT.replace("five", "FIVE").encode()
    assert "src/b" not in bench.disk.files


def test_an_offer_to_take_back_is_for_the_text_it_showed() -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    offer = bench.session.offer(Doable("", "undo", name))
    bench.type("src/a", 4, 0, "my ")
    with pytest.raises(UserFault) as caught:
        bench.command("undo", offer)
    assert caught.value.code == "approval_stale"
    undone(bench, name)
    with pytest.raises(UserFault) as again:
        bench.command("undo", offer)
    assert again.value.code in ("approval_unknown", "already_decided")


def test_the_report_says_what_was_taken_back_and_no_longer_what_was() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    undone(bench, name)
    assert [line.text for line in bench.session.report().done] == [f"P2 took back {name}: src/a."]


def test_after_a_crash_it_is_as_it_was() -> None:
    bench = desk({"src/a": TEXT})
    name = applied(bench, src__a=TEXT.replace("two", "TWO"))
    undone(bench, name)
    again = bench.restart()
    assert again.state.proposals[name].state == "undone"
    assert again.state.hunks[f"{name}.1"] == "undone"


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), min_size=0, max_size=8).map("".join)


@given(LINES, LINES)
def test_undo_after_apply_is_the_text_before(old: str, new: str) -> None:
    if old == new or not old or not new:
        return
    bench = desk({"src/a": old})
    bench.open("src/a")
    name = applied(bench, src__a=new)
    undone(bench, name)
    assert bench.text("src/a") == old


def test_taking_back_twice_at_once_is_refused() -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.accept(bench.propose({"src/a": TEXT.replace("two", "TWO")}))
    bench.play()
    bench.act("undo", "P1")
    with pytest.raises(UserFault) as caught:
        bench.act("undo", "P1")
    assert caught.value.code == "busy"
    bench.play()
    assert bench.text("src/a") == TEXT


def test_the_newest_that_touched_a_file_is_the_one_to_take_back() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    assert undoing.newest(bench.session.peek(), "src/a") is None
    first = applied(bench, src__a=TEXT.replace("two", "TWO"))
    applied(bench, src__b="B\n")
    found = undoing.newest(bench.session.peek(), "src/a")
    assert found is not None and found.outline.proposal == first
    undone(bench, first)
    assert undoing.newest(bench.session.peek(), "src/a") is None


@pytest.mark.parametrize("opened", [False, True])
def test_what_was_put_into_an_empty_file_is_taken_back(opened: bool) -> None:
    """An empty content is one that was kept, not one that is missing."""
    bench = desk({"src/a": ""})
    if opened:
        bench.open("src/a")
    undone(bench, applied(bench, src__a="a\n"))
    assert (bench.text("src/a") if opened else bench.disk.files["src/a"].decode()) == ""
