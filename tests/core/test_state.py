"""`core.state`: what events add up to, and that the same journal always adds up to the same."""

from __future__ import annotations

import pytest

from fakes import Bench, desk, sha
from remit.core import events as e
from remit.core.faults import OurFault
from remit.core.state import FOLDS, State

APPROVAL = e.Approval(by="human", offer="o1", binding=sha("shown"))
OLD, NEW = sha("old"), sha("new")


def proposed(name: str, *hunks: str, made: str = "agent", parent: str | None = None) -> e.Proposed:
    file = e.FileOutline(path="src/a", op="modify", base=OLD, result=NEW, hunks=hunks)
    return e.Proposed.model_validate(
        {
            "proposal": name,
            "body": sha(name),
            "digest": sha(name),
            "task": "t",
            "agent": "a",
            "made": made,
            "parent": parent,
            "files": (file,),
        }
    )


def planned(name: str = "A1", subject: str = "P1", kind: str = "apply") -> e.ActionPlanned:
    target = e.Target(path="src/a", via="disk", before=OLD, after=NEW)
    return e.ActionPlanned.model_validate(
        {
            "action": name,
            "kind": kind,
            "subject": subject,
            "task": "t",
            "parameters": sha("p"),
            "approval": APPROVAL,
            "targets": (target,),
        }
    )


def moved(to: str, name: str = "A1", reason: str = "") -> e.ActionMoved:
    return e.ActionMoved.model_validate({"action": name, "to": to, "reason": reason})


def after(*said: e.Event) -> State:
    state = State()
    for seq, event in enumerate(said, 1):
        state.fold(seq, "now", event)
    return state


def test_every_event_has_its_fold() -> None:
    kinds = {
        kind for kind in vars(e).values() if isinstance(kind, type) and "type" in getattr(kind, "model_fields", {})
    }
    assert set(FOLDS) == kinds and len(kinds) == 21


@pytest.mark.parametrize(
    ("to", "state", "hunk"),
    [
        ("succeeded", "applied", "applied"),
        ("failed_without_effect", "failed_without_effect", "pending"),
        ("outcome_unknown", "outcome_unknown", "pending"),
    ],
)
def test_a_proposal_goes_the_way_of_its_action(to: str, state: str, hunk: str) -> None:
    found = after(proposed("P1", "P1.1"), planned(), moved("authorized"), moved("dispatched"), moved(to, reason="so"))
    entry = found.proposals["P1"]
    assert (entry.state, entry.reason, found.hunks["P1.1"]) == (state, "so", hunk)
    assert found.actions["A1"].seqs == [2, 3, 4, 5] and entry.seqs == [1, 2, 5]


def test_nothing_happened_is_open_again_and_an_unknown_outcome_is_not() -> None:
    begun = (proposed("P1", "P1.1"), planned(), moved("authorized"), moved("dispatched"))
    assert after(*begun, moved("failed_without_effect")).proposals["P1"].open
    unknown = after(*begun, moved("outcome_unknown"))
    assert not unknown.proposals["P1"].open and len(unknown.running()) == 1
    retry = after(*begun, moved("outcome_unknown"), moved("safe_to_retry"))
    assert retry.proposals["P1"].open and retry.running() == []
    asked = after(*begun, moved("outcome_unknown"), moved("needs_human_decision"))
    assert asked.proposals["P1"].state == "outcome_unknown" and len(asked.running()) == 1


def test_rejecting_every_hunk_rejects_the_proposal_and_one_hunk_does_not() -> None:
    one = after(proposed("P1", "P1.1", "P1.2"), e.Rejected(proposal="P1", hunks=("P1.1",), approval=APPROVAL))
    assert (one.proposals["P1"].state, one.hunks) == ("pending", {"P1.1": "rejected", "P1.2": "pending"})
    both = after(proposed("P1", "P1.1", "P1.2"), e.Rejected(proposal="P1", hunks=("P1.1", "P1.2"), approval=APPROVAL))
    assert both.proposals["P1"].state == "rejected" and both.used["o1"] == "P1: rejected"


def test_hunks_that_live_on_stay_pending_and_the_others_are_replaced() -> None:
    rest = proposed("P2", "P1.2", made="rest", parent="P1")
    state = after(proposed("P1", "P1.1", "P1.2"), rest, e.Superseded(proposal="P1", replaced_by=("P2",)))
    assert state.hunks == {"P1.1": "replaced", "P1.2": "pending"}
    assert [entry.outline.proposal for entry in state.open_proposals()] == ["P2"]


def test_a_part_never_waits_for_an_answer_of_its_own() -> None:
    state = after(proposed("P1", "P1.1", "P1.2"), proposed("P2", "P1.1", made="part", parent="P1"))
    assert [entry.outline.proposal for entry in state.open_proposals()] == ["P1"]


@pytest.mark.parametrize(
    "said",
    [
        (proposed("P1", "P1.1"), planned(), planned("A2")),
        (proposed("P1", "P1.1"), e.Withdrawn(proposal="P1", reason="x"), planned()),
        (proposed("P1", "P1.1"), planned(), moved("succeeded")),
        (
            *(proposed("P1", "P1.1"), planned(), moved("authorized"), moved("dispatched"), moved("succeeded")),
            moved("outcome_unknown"),
        ),
    ],
    ids=["twice", "withdrawn", "not begun", "after the end"],
)
def test_a_move_that_cannot_be_is_our_bug(said: tuple[e.Event, ...]) -> None:
    with pytest.raises(OurFault) as caught:
        after(*said)
    assert caught.value.code == "illegal_move"


def test_the_newest_run_counts_once_it_was_let_go() -> None:
    first = (planned("A1", "unit", "check"), moved("authorized"), moved("dispatched"), moved("succeeded"))
    state = after(*first, planned("A2", "unit", "check"))
    last = state.last_run("unit", "t")
    assert last is not None and last.plan.action == "A1"
    assert state.last_run("unit", "other") is None and state.last_run("lint", "t") is None


def test_names_are_counted_up_by_kind() -> None:
    state = after(proposed("P1", "P1.1"), planned())
    assert (state.next_id("P"), state.next_id("A"), state.next_id("D")) == ("P2", "A2", "D1")


def test_a_reconnected_agent_keeps_its_task() -> None:
    hello = e.AgentConnected(agent="a", name="coder", version="1")
    state = after(hello, e.AgentBound(agent="a", task="t", approval=APPROVAL), hello)
    assert state.agents["a"].task == "t"


def story() -> Bench:
    bench = desk({"src/a": "one\ntwo\nthree\nfour\n", "src/b": "b\n"})
    name = bench.propose({"src/a": "ONE\ntwo\nthree\nFOUR\n"})
    bench.accept(name, f"{name}.1")
    bench.call("ask_human", question="And now?")
    bench.decide("D1", text="go on")
    bench.act("reject", bench.state.open_proposals()[0].outline.proposal)
    bench.call("finish_task", summary="done")
    return bench


def test_every_prefix_of_a_journal_can_be_read_and_the_whole_gives_the_same_state() -> None:
    bench = story()
    for length in range(len(bench.journal.records) + 1):
        state = State()
        for record in bench.journal.records[:length]:
            state.fold(record.seq, record.at, e.decode(record.event))
        assert state.seq == length
    assert state == bench.state
