"""`core.turn`: events are folded as they are said, contents are kept, and an offer answers once for what it showed."""

from __future__ import annotations

import pytest

from fakes import CONTRACT_PATH, POLICY_PATH, Bench, MemoryDisk, contract_text, desk, sha
from remit.core import events as e
from remit.core.faults import AgentFault, Fault, OurFault, UserFault
from remit.core.policy import EMPTY
from remit.core.turn import SHOWN, Turn


@pytest.fixture
def turn() -> Turn:
    return desk({"src/a": "a\n"}).session.peek()


def refusal(turn: Turn, offer: str, act: str = "accept") -> Fault:
    with pytest.raises(UserFault) as caught:
        turn.answer(offer, act)  # type: ignore[arg-type]
    return caught.value


def test_what_is_said_counts_at_once_and_keeps_its_number(turn: Turn) -> None:
    before = turn.state.seq
    seq = turn.emit(e.Finished(task="task-1", agent="x", summary="done"))
    assert seq == turn.state.seq == before + 1
    assert turn.events == [(seq, turn.state.finished["task-1"][0][1])]


def test_a_kept_content_can_be_had_in_the_same_turn(turn: Turn) -> None:
    assert turn.kept(turn.keep(b"hello")) == b"hello"
    with pytest.raises(OurFault) as caught:
        turn.kept(sha("never"))
    assert caught.value.code == "content_missing"


def test_a_file_that_cannot_be_looked_at_is_shown_as_one_in_doubt() -> None:
    bench = desk({"src/a": "a\n"})
    bench.disk.unreadable.add("src/a")
    glance = bench.session.peek().glance("src/a")
    assert not glance.trusted and not bench.session.peek().exists("src/a")


def test_an_offer_keeps_its_name_while_nothing_moves_and_gets_another_when_something_does(turn: Turn) -> None:
    first = turn.offer("accept", "P1", {"x": 1})
    assert turn.offer("accept", "P1", {"x": 1}) == first
    others = [
        turn.offer("accept", "P1", {"x": 2}),
        turn.offer("accept", "P2", {"x": 1}),
        turn.offer("reject", "P1", {"x": 1}),
        turn.offer("accept", "P1", {"x": 1}, "P1.1"),
    ]
    assert len({first, *others}) == 5


def test_an_offer_answers_once(turn: Turn) -> None:
    offer = turn.offer("accept", "P1", {"x": 1})
    subject = turn.answer(offer, "accept")
    approval = turn.approve(offer, subject, {"x": 1})
    assert approval.offer == offer and approval.by == "human (Test Editor)"
    assert refusal(turn, offer).code == "approval_unknown"
    assert turn.offer("accept", "P1", {"x": 1}) != offer


def test_an_offer_whose_showing_moved_is_void(turn: Turn) -> None:
    offer = turn.offer("accept", "P1", {"x": 1})
    subject = turn.answer(offer, "accept")
    with pytest.raises(UserFault) as caught:
        turn.approve(offer, subject, {"x": 2})
    assert caught.value.code == "approval_stale"
    assert refusal(turn, offer).code == "approval_unknown"


def test_an_offer_is_for_one_act_only(turn: Turn) -> None:
    assert refusal(turn, turn.offer("accept", "P1", {}), "reject").code == "wrong_offer"
    assert refusal(turn, "made-up").code == "approval_unknown"


def test_a_used_offer_says_what_it_was_used_for() -> None:
    bench = desk({"src/a": "a\n"})
    name = bench.propose({"src/a": "b\n"})
    offer = bench.offer("reject", name)
    bench.command("reject", offer)
    fault = refusal(bench.session.peek(), offer, "reject")
    assert (fault.code, fault.data["decided"]) == ("already_decided", f"{name}: rejected")


def test_without_a_policy_the_empty_one_is_in_force_and_named(turn: Turn) -> None:
    assert turn.policy() == EMPTY and len(turn.policy_digest()) == 64


def test_what_is_in_force_is_the_activated_text_whatever_the_file_says_now() -> None:
    policy = '[checks.t]\nargv = ["true"]\n'
    bench = desk({}, policy=policy)
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=("everything/",)).encode()
    bench.disk.files[POLICY_PATH] = b""
    turn = bench.session.peek()
    assert turn.contract("task-1").write_scope == ("src/",)
    assert turn.contract_digest("task-1") == sha(contract_text())
    assert (turn.policy_digest(), list(turn.policy().checks)) == (sha(policy), ["t"])


def test_what_is_not_there_is_named() -> None:
    turn = Bench(disk=MemoryDisk({})).session.peek()
    with pytest.raises(UserFault) as none:
        turn.contract("task-1")
    with pytest.raises(AgentFault) as unknown:
        turn.proposal("P1")
    assert (none.value.code, unknown.value.code) == ("no_such_task", "unknown_proposal")


def test_offers_do_not_pile_up_and_what_was_shown_last_stays(turn: Turn) -> None:
    first, second = turn.offer("accept", "P1", {}), turn.offer("accept", "P2", {})
    for number in range(SHOWN - 1):
        assert turn.offer("accept", "P1", {}) == first
        turn.offer("runCheck", "tests", {"inputs": number})
    offers = turn.memory.offers
    assert len(offers.subjects) == len(offers.names) == SHOWN
    assert turn.answer(first, "accept").target == "P1"
    assert refusal(turn, second).code == "approval_unknown"
