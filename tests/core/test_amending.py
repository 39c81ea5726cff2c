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
