"""Events go into the journal and come back the same; what a version does not know it does not read."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from remit.core import events as e
from remit.core.chain import GENESIS, seal
from remit.core.faults import WorldFault
from remit.core.state import FOLDS

D = "0" * 64
YES = e.Approval(by="human (x)", offer="o1", binding=D)
OUTLINE = e.FileOutline(path="a", op="rename", source="b", base=D, result="absent", hunks=("P1.1",))
TARGET = e.Target(path="a", via="disk", before="absent", after=D)
EVERY: list[Any] = [
    e.SessionOpened(mode="editor", client="x", process=1, version="1", guards=("g",)),
    e.PolicyActivated(policy=D, approval=YES),
    e.ContractActivated(task="t", path="p", contract=D, policy=D, approval=YES),
    e.AgentConnected(agent="agent-0001", name="n", version="1"),
    e.AgentBound(agent="agent-0001", task="t", approval=YES),
    e.Shown(agent="agent-0001", path="a", digest=D, origin="buffer"),
    e.Refused(agent="agent-0001", verb="v", code="c", message="m", path="a"),
    e.Proposed(proposal="P1", body=D, digest=D, task="t", agent="a", made="rest", parent="P0", files=(OUTLINE,)),
    e.Rejected(proposal="P1", hunks=("P1.1",), approval=YES),
    e.Superseded(proposal="P1", replaced_by=("P2", "P3")),
    e.Undone(proposal="P1", by="P2"),
    e.Seen(proposal="P1", approval=YES),
    e.Withdrawn(proposal="P1", reason="r"),
    e.Answered(agent="a", key="k", request=D, answer=D),
    e.ActionPlanned(action="A1", kind="apply", subject="P1", task="t", parameters=D, approval=YES, targets=(TARGET,)),
    e.ActionMoved(action="A1", to="outcome_unknown", reason="r", guard="versions", found={"a": "absent"}),
    e.CheckFinished(action="A1", check="c", result="timed_out", exit_code=None, seconds=0.25),
    e.DecisionAsked(decision="D1", kind="run", question="?", options=(e.Option(id="a", title="A"),), binding=D),
    e.DecisionAnswered(decision="D1", option="a", approval=YES),
    e.DecisionWithdrawn(decision="D1", reason="r"),
    e.Finished(task="t", agent="a", summary="s"),
]


def test_every_event_is_here_and_has_its_fold() -> None:
    known = set(get_args(get_args(e.Event)[0]))
    assert {type(event) for event in EVERY} == known == set(FOLDS)


@pytest.mark.parametrize("event", EVERY, ids=lambda event: event.type)
def test_an_event_comes_back_from_the_journal_as_it_was(event: Any) -> None:
    raw = e.encode(event)
    json.dumps(raw)
    assert e.decode(seal(GENESIS, 1, "2026-12-01T10:00:00Z", raw).event) == event
    assert not any("_" in key for key in raw)


@pytest.mark.parametrize("raw", [{}, {"type": "abolished"}, {"type": "finished"}, {**e.encode(EVERY[-1]), "more": 1}])
def test_what_is_not_known_is_not_read(raw: dict[str, Any]) -> None:
    with pytest.raises(WorldFault) as caught:
        e.decode(raw)
    assert caught.value.code == "journal_unreadable"
    assert len(caught.value.message) <= 100


def test_contents_are_cited_and_never_carried() -> None:
    fields = {name for kind in FOLDS for name in kind.model_fields}
    assert not fields & {"content_text", "data", "before_text", "after_text", "diff", "patch"}
