"""The human changes a proposal before accepting it: their text is what is applied, and the record keeps both."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import Bench, desk, sha
from remit.core.faults import UserFault

TEXT = "one\ntwo\nthree\n"


def refused(bench: Bench, proposal: str, files: dict[str, str]) -> str:
    before = bench.seq
    with pytest.raises(UserFault) as caught:
        bench.act("amend", proposal, files=files)
    assert bench.seq == before
    return caught.value.code


def amended(bench: Bench, proposal: str, **files: Any) -> str:
    return bench.act("amend", proposal, files={path.replace("__", "/"): text for path, text in files.items()})


def test_the_amended_text_is_applied_and_both_are_kept() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    first = bench.propose({"src/a": TEXT.replace("two", "TWO"), "src/b": "B\n"})
    second = amended(bench, first, src__a=TEXT.replace("two", "Two"))
    assert bench.state.proposals[first].state == "superseded"
    assert bench.state.proposals[second].outline.made == "amend"
    bench.accept(second)
    bench.play()
    assert bench.disk.files["src/a"] == TEXT.replace("two", "Two").encode()
    assert bench.disk.files["src/b"] == b"B\n"
    turn = bench.session.peek()
    assert turn.proposal(first).files[0].result == sha(TEXT.replace("two", "TWO"))
    assert turn.proposal(second).files[0].result == sha(TEXT.replace("two", "Two"))
    status = bench.call("proposal_status", proposalId=first)
    assert (status["state"], status["replacedBy"], status["settled"]) == ("superseded", [second], True)
    assert [hunk["state"] for hunk in status["hunks"]] == ["replaced", "applied"]


def test_a_new_file_can_be_amended() -> None:
    bench = desk({})
    first = bench.propose({"src/new": "made\n"})
    second = amended(bench, first, src__new="made by both\n")
    bench.accept(second)
    bench.play()
    assert bench.disk.files["src/new"] == b"made by both\n"


def test_amending_back_to_what_is_there_leaves_nothing_to_decide() -> None:
    bench = desk({"src/a": TEXT})
    name = bench.propose({"src/a": TEXT.replace("two", "TWO")})
    assert refused(bench, name, {"src/a": TEXT}) == "no_change"
    assert refused(bench, name, {"src/a": TEXT.replace("two", "TWO")}) == "no_change"


def test_only_the_proposals_own_files_are_amended() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    name = bench.propose({"src/a": TEXT.replace("two", "TWO"), "src/b": None})
    assert refused(bench, name, {"src/c": "x"}) == "invalid_params"
    assert refused(bench, name, {"src/b": "x"}) == "invalid_params"
    assert refused(bench, name, {}) == "invalid_params"


def test_a_stale_proposal_is_rebased_first() -> None:
    bench = desk({"src/a": TEXT})
    name = bench.propose({"src/a": TEXT.replace("two", "TWO")})
    offer = bench.offer("amend", name)
    bench.disk.files["src/a"] = b"else\n"
    with pytest.raises(UserFault) as caught:
        bench.command("amend", offer, files={"src/a": "x\n"})
    assert caught.value.code == "stale"


def test_the_agents_text_cannot_be_accepted_once_it_was_amended() -> None:
    bench = desk({"src/a": TEXT})
    name = bench.propose({"src/a": TEXT.replace("two", "TWO")})
    accept = bench.offer("accept", name)
    amended(bench, name, src__a=TEXT.replace("two", "Two"))
    with pytest.raises(UserFault) as caught:
        bench.command("accept", accept)
    assert caught.value.code == "already_decided"


def test_what_is_shown_rebased_is_amended_on_the_present_text() -> None:
    bench = desk({"src/a": TEXT, "src/b": "b\n"})
    bench.open("src/a")
    first = bench.propose({"src/b": "B\n", "src/a": TEXT.replace("two", "TWO")})
    bench.type("src/a", 0, 0, "zero\n")
    second = amended(bench, first, src__a="zero\n" + TEXT.replace("two", "Two!"), src__b="B!\n")
    made = bench.session.peek().proposal(second)
    assert (made.made, made.parent) == ("amend", first)
    assert [(file.path, file.base) for file in made.files] == [("src/b", sha("b\n")), ("src/a", sha("zero\n" + TEXT))]
    bench.accept(second)
    bench.play()
    assert bench.text("src/a") == "zero\n" + TEXT.replace("two", "Two!") and bench.disk.files["src/b"] == b"B!\n"


def test_hunks_of_what_was_amended_and_of_what_was_not_have_names_of_their_own() -> None:
    bench = desk({"src/a": TEXT, "src/b": TEXT})
    first = bench.propose({"src/a": TEXT.replace("two", "TWO"), "src/b": TEXT.replace("two", "TWO")})
    bench.disk.files |= {"src/a": ("zero\n" + TEXT).encode(), "src/b": ("zero\n" + TEXT).encode()}
    second = amended(bench, first, src__a="ZERO\none\nTWO\nTHREE\n")
    names = [hunk.id for _, hunk in bench.session.peek().proposal(second).hunks()]
    assert len(names) == len(set(names)) == 3


def test_a_file_that_holds_it_all_already_can_be_amended_too() -> None:
    bench = desk({"src/a": TEXT, "src/b": TEXT})
    first = bench.propose({"src/a": TEXT.replace("two", "TWO"), "src/b": TEXT.replace("two", "TWO")})
    bench.disk.files |= {"src/a": ("zero\n" + TEXT).encode(), "src/b": TEXT.replace("two", "TWO").encode()}
    second = amended(bench, first, src__b=TEXT.replace("two", "Two"))
    bench.accept(second)
    assert bench.disk.files["src/a"] == ("zero\n" + TEXT.replace("two", "TWO")).encode()
    assert bench.disk.files["src/b"] == TEXT.replace("two", "Two").encode()


def test_an_amendment_of_another_text_than_was_shown_is_void() -> None:
    bench = desk({"src/a": TEXT})
    name = bench.propose({"src/a": TEXT.replace("two", "TWO")})
    bench.disk.files["src/a"] = ("zero\n" + TEXT).encode()
    offer = bench.offer("amend", name)
    bench.disk.files["src/a"] = ("zero\nmore\n" + TEXT).encode()
    with pytest.raises(UserFault) as caught:
        bench.command("amend", offer, files={"src/a": "zero\none\n2\nthree\n"})
    assert caught.value.code == "stale" and bench.state.proposals[name].state == "pending"
