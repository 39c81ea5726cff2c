"""Where decisions are shown, and that there is none that is shown nowhere."""

from __future__ import annotations

from fakes import CONTRACT_PATH, Bench, MemoryDisk, desk
from remit.core import questions


def shown(bench: Bench) -> list[tuple[str, str, str]]:
    turn = bench.session.peek()
    return [(found.code, found.path, found.severity) for found in questions.decisions(turn)]


def test_a_question_is_at_its_contract_and_at_the_file_it_is_about() -> None:
    bench = desk({"src/a.py": "a\n"})
    bench.call("ask_human", question="Which?", options=["one", "two"], about="src/a.py")
    assert shown(bench) == [("decision-pending", CONTRACT_PATH, "warning"), ("decision-pending", "src/a.py", "warning")]
    found = list(questions.decisions(bench.session.peek()))
    assert [one.title for one in found[0].doable] == ["D1: one", "D1: two"]
    assert [path for path, _, _ in found[0].related] == ["src/a.py"]
    bench.decide("D1", "option_1")
    assert shown(bench) == []


def test_a_free_question_can_be_answered_by_a_plain_editor() -> None:
    bench = desk({"src/a.py": "a\n"})
    bench.call("ask_human", question="May I?")
    (found,) = questions.decisions(bench.session.peek())
    assert [(one.title, one.option) for one in found.doable] == [("Answer “yes”", "yes"), ("Answer “no”", "no")]


def test_a_draft_without_any_contract_is_shown_in_what_is_open() -> None:
    bench = Bench(disk=MemoryDisk({"src/a.py": b"a\n"}))
    bench.connect()
    bench.call("propose_contract", goal="Fix it.", writeScope=["src/"])
    assert shown(bench) == [("decision-pending", ".remit/contracts/task-1.contract.json", "warning")]
    bench.open("src/a.py")
    assert shown(bench) == [("decision-pending", "src/a.py", "warning")]


def test_each_kind_has_its_code() -> None:
    assert questions.KINDS["unknown_outcome"] == ("outcome-unknown", "error")
    assert questions.KINDS["protected_path"] == ("protected-path", "warning")
