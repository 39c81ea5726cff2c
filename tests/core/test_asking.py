"""`core.asking`: a path with an approval of its own is asked about for each exact proposal, and refused without."""

from __future__ import annotations

import pytest

from fakes import POLICY_PATH, Bench, desk
from remit.core.faults import UserFault

TEXT = "one\ntwo\nthree\nfour\nfive\n"
NEW = TEXT.replace("two", "TWO").replace("five", "FIVE")


def refused(bench: Bench, name: str) -> UserFault:
    with pytest.raises(UserFault) as caught:
        bench.accept(name)
    assert caught.value.code == "protected_path" and len(caught.value.message) <= 100
    return caught.value


def states(bench: Bench) -> dict[str, str]:
    return {name: entry.state for name, entry in bench.state.decisions.items()}


def test_each_loud_path_has_a_question_of_its_own() -> None:
    bench = desk({"src/.env": TEXT, "src/.vscode/tasks.json": "{}\n", "src/a": "a\n"})
    bench.propose({"src/.env": NEW, "src/.vscode/tasks.json": "[]\n", "src/a": "A\n"})
    assert [entry.asked.about for entry in bench.state.decisions.values()] == ["src/.env", "src/.vscode/tasks.json"]
    bench.decide("D1", "allow")
    assert refused(bench, "P1").data["decision"] == "D2"
    bench.decide("D2", "allow")
    bench.accept("P1")
    assert bench.disk.files["src/.env"] == NEW.encode()


def test_the_rest_of_a_divided_proposal_is_asked_about_anew() -> None:
    bench = desk({"src/.env": TEXT})
    bench.propose({"src/.env": NEW})
    bench.decide("D1", "allow")
    bench.accept("P1", "P1.1")
    assert states(bench) == {"D1": "answered", "D2": "pending"}
    (rest,) = [entry.outline.proposal for entry in bench.state.open_proposals()]
    assert refused(bench, rest).data["decision"] == "D2"
    bench.decide("D2", "allow")
    bench.accept(rest)
    assert bench.disk.files["src/.env"] == NEW.encode()


def test_a_path_that_became_loud_later_is_not_written_without_a_yes() -> None:
    bench = desk({"src/a": TEXT})
    bench.propose({"src/a": NEW})
    bench.disk.files[POLICY_PATH] = b'[protect]\nloud = ["src/a"]\n'
    bench.activate(POLICY_PATH)
    assert "proposed anew" in refused(bench, "P1").remedy and bench.disk.files["src/a"] == TEXT.encode()
    name = bench.propose({"src/a": NEW}, replaces="P1")
    bench.decide("D1", "allow")
    bench.accept(name)
    assert bench.disk.files["src/a"] == NEW.encode()


def test_a_path_that_nobody_needs_to_ask_about_asks_nothing() -> None:
    bench = desk({"src/a": TEXT})
    bench.accept(bench.propose({"src/a": NEW}))
    assert states(bench) == {} and bench.disk.files["src/a"] == NEW.encode()
