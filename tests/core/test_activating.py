"""Contracts and policies come into force by one exact text; drafts and amendments are texts a human sees whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes import CONTRACT_PATH, POLICY_PATH, Bench, MemoryDisk, contract_text, desk
from remit.core import activating
from remit.core.faults import AgentFault, UserFault
from remit.core.text import Edit, Position, Range

DRAFT = ".remit/contracts/fix.contract.json"


def refused(act: Any, kind: type[AgentFault] | type[UserFault] = AgentFault) -> str:
    with pytest.raises(kind) as caught:
        act()
    return caught.value.code


def drafting(**more: Any) -> Bench:
    bench = Bench(**more)
    bench.connect()
    return bench


def test_contracts_are_known_by_their_name() -> None:
    assert activating.is_contract("a.contract.json")
    assert activating.is_contract(DRAFT)
    assert not activating.is_contract("contract.json")
    assert not activating.is_contract("a.contract.json.bak")


def test_an_offer_is_void_once_the_text_or_the_policy_moved() -> None:
    bench = Bench(disk=MemoryDisk({CONTRACT_PATH: contract_text().encode()}))
    offer = bench.offer("activate", CONTRACT_PATH)
    bench.disk.files[CONTRACT_PATH] = contract_text(goal="Other.").encode()
    assert refused(lambda: bench.command("activate", offer), UserFault) == "approval_stale"
    offer = bench.offer("activate", CONTRACT_PATH)
    bench.disk.files[POLICY_PATH] = b""
    bench.activate(POLICY_PATH)
    assert refused(lambda: bench.command("activate", offer), UserFault) == "approval_stale"
    assert bench.activate() == "task-1"


def test_what_is_in_force_is_the_unsaved_text_that_was_shown_and_stays_when_the_file_moves() -> None:
    bench = Bench(disk=MemoryDisk({CONTRACT_PATH: contract_text().encode()}))
    bench.open(CONTRACT_PATH, contract_text(goal="As typed."))
    bench.activate()
    assert bench.session.peek().contract("task-1").goal == "As typed."
    bench.close(CONTRACT_PATH)
    del bench.disk.files[CONTRACT_PATH]
    assert bench.session.peek().contract("task-1").goal == "As typed."


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        (CONTRACT_PATH, None, "contract_invalid"),
        (CONTRACT_PATH, "{", "contract_invalid"),
        (CONTRACT_PATH, contract_text(extra=1), "contract_invalid"),
        (CONTRACT_PATH, contract_text(scope=["../up/"]), "contract_invalid"),
        (POLICY_PATH, None, "policy_invalid"),
        (POLICY_PATH, "[checks.a]\n", "policy_invalid"),
        (POLICY_PATH, "= 1", "policy_invalid"),
    ],
)
def test_what_cannot_be_read_is_not_activated(path: str, text: str | None, code: str) -> None:
    bench = Bench(disk=MemoryDisk({} if text is None else {path: text.encode()}))
    assert refused(lambda: bench.act("activate", path), UserFault) == code
    assert bench.story() == ["session_opened"]


def test_a_draft_is_a_whole_contract_with_the_safe_answer_first() -> None:
    bench = drafting()
    bench.call(
        "propose_contract", goal="Fix it.\nAnd more.", writeScope=["src/"], checks=["look"], taskId="fix", why="So."
    )
    asked = bench.state.decisions["D1"].asked
    assert (asked.kind, asked.about, asked.task) == ("contract", DRAFT, None)
    assert [option.id for option in asked.options] == ["discard", "edit", "activate"]
    text = json.loads(bench.session.peek().kept(asked.content))
    assert (text["taskId"], text["writeScope"], text["commitAllowed"]) == ("fix", ["src/"], False)
    assert text["allowedTools"] == ["read_file", "apply_patch", "run_check"]


def test_a_draft_without_a_name_gets_one_and_needs_valid_words() -> None:
    bench = drafting()
    bench.call("propose_contract", goal="Fix it.", writeScope=["src/"])
    assert bench.state.decisions["D1"].asked.about == ".remit/contracts/task-1.contract.json"
    assert refused(lambda: bench.call("propose_contract", goal="x", writeScope=["../up"])) == "invalid_params"
    assert refused(lambda: bench.call("propose_contract", goal="", writeScope=[])) == "invalid_params"


def test_an_active_task_is_amended_and_not_drafted_again() -> None:
    bench = desk({})
    assert (
        refused(lambda: bench.call("propose_contract", goal="x", writeScope=[], taskId="task-1")) == "contract_active"
    )
    assert refused(lambda: bench.call("request_amendment", writeScope=["src/"], why="x")) == "no_change"
    assert refused(lambda: bench.call("request_amendment", writeScope=["a//b"], why="x")) == "invalid_params"


def test_an_amendment_adds_what_is_asked_and_shows_it_as_a_diff() -> None:
    bench = desk({}, contract=contract_text(verification={"forbidden": ["build"]}))
    bench.call("request_amendment", writeScope=["docs/"], allowedTools=["external:x"], checks=["look"], why="Docs.")
    asked = bench.state.decisions["D1"].asked
    assert [option.id for option in asked.options] == ["refuse", "allow"]
    assert asked.question.endswith("It may write docs/; gets the rights external:x; may run look.")
    assert '+    "docs/"' in asked.why
    bench.decide("D1", "allow")
    found = bench.session.peek().contract("task-1")
    assert found.write_scope == ("src/", "docs/")
    assert found.allowed_tools[-1] == "external:x"
    assert (found.verification.allowed, found.verification.forbidden) == (("look",), ("build",))


def test_an_amendment_wider_than_the_policy_is_refused_to_the_human_and_waits() -> None:
    bench = desk({}, policy='[limits]\nwriteScope = ["src/"]\n')
    bench.call("request_amendment", writeScope=["docs/"], why="More.")
    before = dict(bench.disk.files)
    assert refused(lambda: bench.decide("D1", "allow"), UserFault) == "contract_exceeds_policy"
    assert (bench.disk.files, bench.state.decisions["D1"].state) == (before, "pending")


def test_an_amendment_is_of_the_contract_in_force_not_of_the_file() -> None:
    bench = desk({})
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=["secret/"]).encode()
    bench.call("request_amendment", writeScope=["docs/"], why="More.")
    bench.decide("D1", "allow")
    assert bench.session.peek().contract("task-1").write_scope == ("src/", "docs/")
    assert json.loads(bench.disk.files[CONTRACT_PATH])["writeScope"] == ["secret/"], "the human's own text is kept"
    assert bench.codes(CONTRACT_PATH)[0] == "contract-changed"


def test_an_amendment_of_a_text_that_is_no_longer_in_force_is_withdrawn() -> None:
    bench = desk({})
    bench.call("request_amendment", writeScope=["docs/"], why="Docs.")
    bench.call("request_amendment", writeScope=["tests/"], why="Tests.")
    offer = bench.offer("decide", "D2")
    bench.decide("D1", "allow")
    assert refused(lambda: bench.command("decide", offer, option="allow"), UserFault) == "already_decided"
    assert bench.call("wait_for_decision", decisionId="D2")["decision"]["state"] == "withdrawn"
    bench.call("request_amendment", writeScope=["tests/"], why="Tests.")
    bench.decide("D3", "allow")
    assert bench.session.peek().contract("task-1").write_scope == ("src/", "docs/", "tests/")


# --- what the human wrote is not replaced by what was not shown -------------------------------------------------------


def test_a_draft_takes_no_files_place() -> None:
    bench = drafting()
    bench.call("propose_contract", goal="Fix it.", writeScope=["src/"], taskId="fix")
    mine = contract_text("fix", goal="Mine.").encode()
    bench.disk.files[DRAFT] = mine
    for option in ("edit", "activate"):
        assert refused(lambda option=option: bench.decide("D1", option), UserFault) == "contract_exists"
    assert (bench.disk.files[DRAFT], bench.state.contracts) == (mine, {})
    fault = refused(lambda: bench.call("propose_contract", goal="Fix it.", writeScope=["src/"], taskId="fix"))
    assert fault == "contract_exists"
    bench.decide("D1", "discard")


def test_a_draft_takes_no_active_contracts_place() -> None:
    bench = drafting()
    bench.call("propose_contract", goal="Fix it.", writeScope=["."], taskId="task-1")
    bench.disk.files[CONTRACT_PATH] = contract_text().encode()
    bench.activate()
    assert refused(lambda: bench.decide("D1", "activate"), UserFault) == "contract_active"
    assert bench.session.peek().contract("task-1").write_scope == ("src/",)


def test_an_amendment_leaves_what_the_human_is_typing_into_the_contract() -> None:
    bench = desk({})
    bench.open(CONTRACT_PATH)
    bench.call("request_amendment", writeScope=["docs/"], why="More.")
    bench.type(CONTRACT_PATH, 2, 0, "\n\n")
    mine = bench.text(CONTRACT_PATH)
    bench.decide("D1", "allow")
    bench.play()
    assert bench.text(CONTRACT_PATH) == mine
    assert bench.session.peek().contract("task-1").write_scope == ("src/", "docs/")


def test_a_buffer_in_doubt_is_not_activated() -> None:
    bench = Bench(disk=MemoryDisk({CONTRACT_PATH: contract_text().encode()}))
    bench.open(CONTRACT_PATH)
    bench.session.changed(CONTRACT_PATH, 0, [Edit(" ", Range(Position(0, 0), Position(0, 0)))])
    assert refused(bench.activate, UserFault) == "buffer_unknown"
    bench.open(CONTRACT_PATH)
    assert bench.activate() == "task-1"


def test_a_policy_that_is_no_text_is_not_activated() -> None:
    bench = Bench(disk=MemoryDisk({POLICY_PATH: b"# caf\xe9\n"}))
    assert refused(lambda: bench.act("activate", POLICY_PATH), UserFault) == "policy_invalid"


def test_a_contract_under_a_new_name_ends_the_task_of_the_old_one() -> None:
    bench = desk({"src/a": "a\n"})
    name = bench.propose({"src/a": "b\n"})
    bench.call("ask_human", question="Which?", options=["one", "two"])
    bench.disk.files[CONTRACT_PATH] = contract_text("task-2").encode()
    bench.activate()
    assert list(bench.state.contracts) == ["task-2"]
    assert bench.state.proposals[name].state == "withdrawn"
    assert bench.state.decisions["D1"].state == "withdrawn"
    assert bench.call("get_contract")["task"]["taskId"] == "task-2"
    assert list(bench.restart().state.contracts) == ["task-2"]
