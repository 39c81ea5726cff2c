"""`core.reading`: what an agent is shown, the receipts of it, and the page that brings back who lost its history."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes import AGENT, Bench, MemoryDisk, contract_text, desk, sha
from remit.core import events as e
from remit.core.faults import AgentFault

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": TEXT, "src/dos": "x\r\ny\r\n", "other/c": "c\n"})


def refusal(bench: Bench, verb: str, **params: Any) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        bench.call(verb, **params)
    assert len(caught.value.message) <= 100
    return caught.value


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_is_with_the_digest_to_bind_to(bench: Bench) -> None:
    assert bench.call("read_file", path="src/a") == {
        "path": "src/a",
        "text": TEXT,
        "digest": sha(TEXT),
        "origin": "disk",
        "unsaved": False,
        "lineCount": 3,
        "lineEnds": "lf",
        "encoding": "utf-8",
        "writable": True,
        "partial": False,
    }
    assert bench.call("read_file", path="src/dos")["lineEnds"] == "crlf"
    assert bench.call("read_file", path="other/c")["writable"] is False


LATIN = b"pr\xeat \x80 5\r\nqty = 1\r\n"
MIXED = b"pr\xeat \xc3\xa9\nqty = 1\n"


def test_a_file_in_a_guessed_encoding_is_read_well_and_says_that_it_is_a_guess(bench: Bench) -> None:
    bench.disk.files["src/old"] = LATIN
    answer = bench.call("read_file", path="src/old")
    assert (answer["text"], answer["encoding"]) == ("prêt € 5\r\nqty = 1\r\n", "windows-1252")
    assert "guess" in answer["encodingNote"]
    bench.open("src/old", "prêt € 5\nqty = 1\n")
    answer = bench.call("read_file", path="src/old")
    assert (answer["encoding"], "encodingNote" in answer) == ("windows-1252", False), "the editor's text proves it"


def test_bytes_that_are_no_text_are_shown_so_that_json_can_carry_them(bench: Bench) -> None:
    bench.disk.files["src/mixed"] = MIXED
    answer = bench.call("read_file", path="src/mixed")
    assert (answer["text"], answer["encoding"]) == ("pr\uf7eat é\nqty = 1\n", "opaque")
    assert "1 bytes are no text" in answer["encodingNote"]
    assert json.loads(json.dumps(answer, ensure_ascii=False).encode()) == answer


def test_unsaved_text_is_read_and_said_to_be_unsaved(bench: Bench) -> None:
    bench.open("src/a")
    answer = bench.call("read_file", path="src/a")
    assert (answer["origin"], answer["version"], answer["unsaved"]) == ("buffer", 1, False)
    bench.type("src/a", 0, 0, "zero\n")
    answer = bench.call("read_file", path="src/a")
    assert (answer["text"], answer["digest"], answer["unsaved"]) == ("zero\n" + TEXT, sha("zero\n" + TEXT), True)


@pytest.mark.parametrize(
    ("first", "last", "text", "partial"),
    [
        (2, 2, "two\n", True),
        (2, None, "two\nthree\n", True),
        (1, 99, TEXT, False),
        (9, None, "", True),
        (3, 2, "", True),
    ],
)
def test_some_lines_of_a_file(bench: Bench, first: int, last: int | None, text: str, partial: bool) -> None:
    lines: dict[str, Any] = {"firstLine": first} | ({} if last is None else {"lastLine": last})
    answer = bench.call("read_file", path="src/a", **lines)
    assert (answer["text"], answer["partial"], answer["digest"]) == (text, partial, sha(TEXT))


def test_what_was_shown_is_written_down_once(bench: Bench) -> None:
    seq = bench.seq
    bench.call("read_file", path="src/a")
    bench.call("read_file", path="src/a", firstLine=2)
    assert bench.events(seq) == [e.Shown(agent=AGENT, path="src/a", digest=sha(TEXT), origin="disk")]
    bench.open("src/a")
    bench.call("read_file", path="src/a")
    assert bench.story(seq) == ["shown", "shown"]
    assert bench.journal.blob(sha(TEXT)) == TEXT.encode()


def test_what_cannot_be_read_is_refused_by_name(bench: Bench) -> None:
    assert refusal(bench, "read_file", path="src/no").code == "not_found"
    assert refusal(bench, "read_file", path="src").code == "not_a_file"
    assert refusal(bench, "read_file", path="../x").code == "outside_scope"
    bench.open("src/a")
    bench.session.changed("src/a", 1, [])
    assert refusal(bench, "read_file", path="src/a").code == "buffer_unknown"


def test_a_buffer_that_parted_from_its_disk_can_still_be_read(bench: Bench) -> None:
    bench.open("src/a")
    bench.disk.files["src/a"] = b"theirs\n"
    assert bench.call("read_file", path="src/a")["text"] == TEXT


def test_files_are_listed_with_those_that_may_be_written(bench: Bench) -> None:
    answer = bench.call("list_files")
    assert answer["files"] == ["other/c", "src/a", "src/dos", "task.contract.json"]
    assert (answer["writable"], answer["truncated"]) == (["src/a", "src/dos"], False)
    assert bench.call("list_files", under="src")["files"] == ["src/a", "src/dos"]
    assert bench.call("list_files", under="sr")["files"] == []
    cut = bench.call("list_files", limit=1)
    assert (cut["files"], cut["truncated"]) == (["other/c"], True)


def test_a_file_that_lies_only_in_the_editor_is_listed(bench: Bench) -> None:
    bench.open("src/new", "n\n")
    assert "src/new" in bench.call("list_files")["files"]


# --- the contract -----------------------------------------------------------------------------------------------------


def test_the_contract_is_told_as_it_was_activated(bench: Bench) -> None:
    answer = bench.call("get_contract")
    assert (answer["active"], answer["session"]) == (True, "editor")
    task = answer["task"]
    assert (task["taskId"], task["writeScope"], task["contractDigest"]) == ("task-1", ["src/"], sha(contract_text()))
    assert task["rights"] == ["read_file", "apply_patch", "run_check"]


def test_rights_that_the_policy_takes_away_are_not_told() -> None:
    policy = '[limits]\nallowedTools = ["read_file"]\n'
    bench = desk({}, contract=contract_text(allowedTools=["read_file"]), policy=policy)
    assert bench.call("get_contract")["task"]["rights"] == ["read_file"]
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", files=[])
    assert (caught.value.code, caught.value.data["right"]) == ("right_missing", "apply_patch")


def test_without_a_contract_an_agent_can_read_and_draft() -> None:
    bench = Bench(disk=MemoryDisk({"src/a": TEXT.encode()}))
    bench.connect()
    answer = bench.call("get_contract")
    assert answer["active"] is False and "propose_contract" in answer["next"]
    assert bench.call("read_file", path="src/a")["writable"] is False
    assert refusal(bench, "propose_patch", files=[]).code == "no_contract"
    bench.call("propose_contract", goal="Mend it.", writeScope=["src/"])
    answer = bench.call("get_contract")
    assert [draft["decisionId"] for draft in answer["drafts"]] == ["D1"] and "wait_for_decision" in answer["next"]
    assert "No contract is active" in bench.call("task_status")["page"]


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_holds_what_matters() -> None:
    contract = contract_text(verification={"required": ["unit"], "forbidden": ["build"]})
    bench = desk({"src/a": TEXT, "src/b": "b\n"}, contract=contract)
    bench.call("read_file", path="src/b")
    bench.propose({"src/a": TEXT + "four\n"})
    bench.call("ask_human", question="Which one?", options=["this", "that"])
    bench.disk.files["src/b"] = b"moved\n"
    page = bench.call("task_status")["page"].split("\n")
    assert page[0] == "You are coder, working through Remit. Session: editor."
    for line in (
        *("Task task-1: Make it right.", "Check unit: not_run (required)", "Check build: forbidden"),
        *("Proposal P1: pending (P1.1 src/a pending)", "Decision D1 (pending): Which one?"),
        *(f"You were shown: src/b {sha('b' + chr(10))[:12]}… (changed since)", "Waiting for the human: P1."),
    ):
        assert line in page


def test_the_page_stays_short_and_survives_a_file_that_cannot_be_read(bench: Bench) -> None:
    for number in range(30):
        bench.propose({"src/a": f"{number}\n"})
    answer = bench.call("task_status")
    assert len(answer["proposals"]) == 20 and len(answer["page"].split("\n")) < 40
    bench.call("read_file", path="src/a")
    bench.disk.unreadable.add("src/a")
    assert "src/a" in bench.call("task_status")["page"]


def test_what_is_said_survives_a_restart(bench: Bench) -> None:
    bench.propose({"src/a": TEXT + "four\n"})
    before = bench.call("task_status")
    bench = bench.restart()
    bench.connect()
    assert bench.call("task_status") == before
