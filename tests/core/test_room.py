"""`core.room`: what agents may put before a human at a time, by real calls; a refusal leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import Bench, MemoryDisk, contract_text, desk, sha
from remit.core import room
from remit.core.faults import AgentFault


def refused(bench: Bench, verb: str, **params: Any) -> AgentFault:
    before = [kind for kind in bench.story() if kind != "refused"]
    with pytest.raises(AgentFault) as caught:
        bench.call(verb, **params)
    assert [kind for kind in bench.story() if kind != "refused"] == before
    assert len(caught.value.message) <= 100
    return caught.value


def test_one_agent_cannot_drown_the_human_in_questions() -> None:
    bench = desk({"src/a": "a\n"})
    for number in range(room.QUESTIONS_EACH):
        bench.call("ask_human", question=f"Question {number}?")
    asking: list[tuple[str, dict[str, Any]]] = [
        ("ask_human", {"question": "One more?"}),
        ("request_amendment", {"writeScope": ["docs/"], "why": "More."}),
    ]
    for verb, params in asking:
        assert refused(bench, verb, **params).code == "too_many_open"
    bench.decide("D1", text="no")
    assert bench.call("ask_human", question="One more?")["decision"]["decisionId"] == f"D{room.QUESTIONS_EACH + 1}"


def test_neither_can_many_agents_or_one_with_many_ids() -> None:
    bench = Bench()
    for number in range(room.QUESTIONS):
        bench.connect(f"agent-{number:04}")
        bench.call("propose_contract", goal=f"Goal {number}.", writeScope=["src/"])
    bench.connect("agent-last")
    assert refused(bench, "propose_contract", goal="One more.", writeScope=["src/"]).code == "too_many_open"


def test_ids_without_end_are_not_asked_about_without_end() -> None:
    data = {f"{task}.contract.json": contract_text(task).encode() for task in ("one", "two")}
    bench = Bench(disk=MemoryDisk(data))
    for path in data:
        bench.activate(path)
    for number in range(room.QUESTIONS):
        bench.connect(f"agent-{number:04}")
        assert refused_unbound(bench) == f"D{number + 1}"
    bench.connect("agent-last")
    with pytest.raises(AgentFault, match="wait for the human already"):
        bench.call("list_checks")


def refused_unbound(bench: Bench) -> Any:
    with pytest.raises(AgentFault) as caught:
        bench.call("list_checks")
    return caught.value.data["decisionId"]


def test_proposals_wait_in_a_bounded_number_and_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PROPOSALS", 30)
    bench = desk({"src/a": "a\n"})
    for number in range(room.PROPOSALS):
        bench.propose({"src/a": f"{number}\n"})
    more: dict[str, Any] = {"files": [{"path": "src/a", "content": "more\n"}], "bases": {"src/a": sha("a\n")}}
    assert refused(bench, "propose_patch", **more).code == "too_many_open"
    assert bench.call("propose_patch", replaces="P1", **more)["proposalId"] == f"P{room.PROPOSALS + 1}"


def test_a_proposal_that_nobody_can_review_is_refused_by_its_number() -> None:
    bench = desk({"src/a": "x\n" * (2 * room.HUNKS + 4)})
    base = {"src/a": sha("x\n" * (2 * room.HUNKS + 4))}
    many = "y\nx\n" * (room.HUNKS + 2)
    found = refused(bench, "propose_patch", files=[{"path": "src/a", "content": many}], bases=base)
    assert (found.code, found.data) == ("too_many_changes", {"count": room.HUNKS + 2, "limit": room.HUNKS})
    files = [{"path": f"src/{number}", "content": "x\n"} for number in range(room.FILES + 1)]
    found = refused(bench, "propose_patch", files=files, bases={file["path"]: "absent" for file in files})
    assert (found.code, found.data) == ("too_many_changes", {"count": room.FILES + 1, "limit": room.FILES})
    loud = [{"path": f"src/{number}/.env", "content": "x\n"} for number in range(room.PROTECTED + 1)]
    found = refused(bench, "propose_patch", files=loud, bases={file["path"]: "absent" for file in loud})
    assert (found.code, found.data["limit"]) == ("too_many_changes", room.PROTECTED)
