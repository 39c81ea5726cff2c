"""`core.paperwork`: findings in the human's own files, at their exact places, gone with their cause."""

from __future__ import annotations

import pytest

from fakes import CONTRACT_PATH, POLICY_PATH, Bench, MemoryDisk, contract_text, desk
from remit.core.finding import Finding, Region
from remit.core.text import Edit, split_lines

POLICY = '[checks.unit]\nargv = ["true"]\ninputs = ["src/"]\n'
CONTRACT = contract_text(verification={"required": ["unit"], "allowed": ["look"], "forbidden": ["build"]})


def shown(bench: Bench, path: str = CONTRACT_PATH) -> list[Finding]:
    bench.clock.advance(5)
    found = [one for one in bench.session.findings() if one.path == path]
    assert all(len(one.message) <= 100 and "\n" not in one.message for one in found)
    return found


def codes(bench: Bench, path: str = CONTRACT_PATH) -> list[str]:
    return [one.code for one in shown(bench, path)]


def only(bench: Bench, code: str, path: str = CONTRACT_PATH) -> Finding:
    (found,) = [one for one in shown(bench, path) if one.code == code]
    return found


def at(bench: Bench, region: Region, path: str = CONTRACT_PATH) -> str:
    """The text of a region that lies in one line."""
    text = bench.text(path) if path in bench.documents else bench.disk.files[path].decode()
    assert region.line == region.end_line
    return split_lines(text)[region.line][region.column : region.end_column]


def acts(found: Finding) -> list[tuple[str, str]]:
    return [(doable.act, doable.target) for doable in found.doable]


# --- contracts --------------------------------------------------------------------------------------------------------


def test_a_contract_that_is_in_force_and_fits_says_nothing() -> None:
    assert shown(desk({"src/a": "a\n"})) == []


def test_a_broken_contract_says_where_while_it_is_typed() -> None:
    bench = desk({"src/a": "a\n"})
    bench.open(CONTRACT_PATH, contract_text().replace('"goal"', '"gaol"'))
    found = [one for one in shown(bench) if one.code == "contract-invalid"]
    assert [(one.severity, at(bench, one.region)) for one in found] == [("error", "{"), ("error", '"gaol"')]
    bench.change(CONTRACT_PATH, Edit(contract_text()))
    assert shown(bench) == []


def test_a_contract_that_nobody_activated_says_so_where_it_is_open() -> None:
    bench = Bench(disk=MemoryDisk({"src/a": b"a\n", CONTRACT_PATH: contract_text().encode()}))
    assert shown(bench) == []
    bench.open(CONTRACT_PATH)
    found = only(bench, "contract-not-active")
    assert (found.severity, at(bench, found.region)) == ("information", '"task-1"')
    assert acts(found) == [("activate", CONTRACT_PATH)] and found.doable[0].preferred
    bench.activate()
    assert shown(bench) == []


def test_a_contract_that_was_changed_says_that_the_old_text_stays() -> None:
    bench = desk({"src/a": "a\n"})
    bench.disk.files[CONTRACT_PATH] = contract_text(goal="Another.").encode()
    found = only(bench, "contract-changed")
    assert (found.severity, at(bench, found.region)) == ("warning", '"task-1"')
    assert acts(found) == [("activate", CONTRACT_PATH)]
    bench.disk.files[CONTRACT_PATH] = contract_text().encode()
    assert codes(bench) == []


def test_a_contract_wider_than_the_policy_is_wrong_at_each_place() -> None:
    bench = desk({"src/a": "a\n", "docs/b": "b\n"}, policy='[limits]\nwriteScope = ["src/"]\nnetwork = "disabled"\n')
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=("src/", "docs/"), network="enabled").encode()
    found = [one for one in shown(bench) if one.code == "contract-exceeds-policy"]
    assert [(one.severity, at(bench, one.region)) for one in found] == [("error", '"docs/"'), ("error", '"enabled"')]
    assert acts(found[0]) == [("show", POLICY_PATH)]
    assert "contract-changed" not in codes(bench)


def test_a_scope_entry_that_matches_nothing_is_marked_until_it_does() -> None:
    bench = desk({"src/a": "a\n"}, contract=contract_text(scope=("src/", "!src/x", "docs/")))
    found = only(bench, "scope-empty")
    assert (found.severity, at(bench, found.region)) == ("warning", '"docs/"')
    bench.disk.files["docs/b"] = b"b\n"
    assert codes(bench) == []


def test_a_contract_that_is_gone_says_nothing_and_stays_in_force() -> None:
    bench = desk({"src/a": "a\n"})
    del bench.disk.files[CONTRACT_PATH]
    assert shown(bench) == [] and bench.propose({"src/a": "A\n"}) == "P1"


def test_a_contract_that_cannot_be_read_hides_no_other_finding() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/a": "A\n"})
    bench.disk.unreadable.add(CONTRACT_PATH)
    assert codes(bench, "src/a") == ["patch-pending"]


# --- the policy -------------------------------------------------------------------------------------------------------


def test_a_policy_is_in_force_only_once_it_was_activated() -> None:
    bench = desk({"src/a": "a\n"})
    bench.disk.files[POLICY_PATH] = POLICY.encode()
    found = only(bench, "policy-changed", POLICY_PATH)
    assert found.severity == "warning" and acts(found) == [("activate", POLICY_PATH)]
    bench.activate(POLICY_PATH)
    assert codes(bench, POLICY_PATH) == []
    bench.disk.files[POLICY_PATH] = POLICY.replace("true", "false").encode()
    assert codes(bench, POLICY_PATH) == ["policy-changed"]


def test_a_broken_policy_says_where() -> None:
    bench = desk({"src/a": "a\n"}, policy=POLICY)
    bench.disk.files[POLICY_PATH] = POLICY.replace("inputs", "outputs").encode()
    found = only(bench, "policy-invalid", POLICY_PATH)
    assert (found.severity, at(bench, found.region, POLICY_PATH)) == ("error", "outputs")
    assert codes(bench, POLICY_PATH) == ["policy-invalid"]


# --- checks -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": "a\n"}, contract=CONTRACT, policy=POLICY)


def check(bench: Bench, name: str) -> Finding | None:
    found = [one for one in shown(bench) if one.data == {"check": name}]
    assert len(found) <= 1
    return found[0] if found else None


def test_checks_that_have_not_run_are_marked_at_their_names(bench: Bench) -> None:
    said = {name: check(bench, name) for name in ("unit", "look", "build")}
    assert {name: (one.code, one.severity, at(bench, one.region)) for name, one in said.items() if one} == {
        "unit": ("check-not-run", "information", '"unit"'),
        "look": ("check-not-run", "hint", '"look"'),
        "build": ("check-not-run", "hint", '"build"'),
    }
    unit, look, build = (said[name] for name in ("unit", "look", "build"))
    assert unit and look and build
    assert (unit.doable[0].title, acts(unit)) == ("Run unit", [("runCheck", "unit")])
    assert look.doable[0].title == "Sign off look"
    assert acts(build) == [("show", CONTRACT_PATH)] and "forbidden" in build.message


def test_a_check_goes_from_not_run_to_passed_to_stale_to_failed(bench: Bench) -> None:
    def run(result: str, code: int) -> None:
        bench.act("runCheck", "unit", "task-1")
        bench.ran(result, code)

    run("passed", 0)
    assert check(bench, "unit") is None
    bench.disk.files["src/a"] = b"A\n"
    stale = check(bench, "unit")
    assert stale and (stale.code, stale.severity, at(bench, stale.region)) == ("check-stale", "warning", '"unit"')
    run("failed", 1)
    failed = check(bench, "unit")
    assert failed and (failed.code, failed.severity) == ("check-failed", "error")
    bench.disk.files["src/a"] = b"a\n"
    assert (again := check(bench, "unit")) and again.code == "check-stale"
    run("passed", 0)
    assert check(bench, "unit") is None


def test_a_doable_run_runs_what_was_shown(bench: Bench) -> None:
    unit = check(bench, "unit")
    assert unit is not None
    offer = bench.session.offer(unit.doable[0])
    assert bench.command("runCheck", offer) == "A1" and [one.check for one in bench.runs] == ["unit"]
    assert check(bench, "unit") is None
