"""`core.proposing`: what becomes a proposal and how it is bound, and every refusal with what it takes to go on."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from desks import FILES, TEXT, refused_proposal, whole
from fakes import Bench, MemoryDisk, desk, sha
from remit.core.effects import DiskChange
from remit.core.faults import AgentFault, Json
from remit.core.model import ABSENT


@pytest.fixture
def bench() -> Bench:
    return desk(FILES)


# --- what is made -----------------------------------------------------------------------------------------------------


def test_hunks_are_numbered_through_all_files(bench: Bench) -> None:
    files = [{"path": "src/a", "content": "1\n" + TEXT + "8\n"}, {"path": "src/b", "content": "B\n"}]
    answer = bench.call("propose_patch", files=files, bases={"src/a": sha(TEXT), "src/b": sha("b\n")})
    assert [(h["id"], h["path"]) for h in answer["hunks"]] == [("P1.1", "src/a"), ("P1.2", "src/a"), ("P1.3", "src/b")]


def test_a_new_one_takes_the_place_of_a_pending_one(bench: Bench) -> None:
    old = bench.propose({"src/a": TEXT + "8\n"})
    answer = bench.call("propose_patch", replaces=old, **whole("src/a", TEXT + "9\n", sha(TEXT)))
    assert (bench.state.proposals[old].state, answer["proposalId"]) == ("superseded", "P2")
    assert bench.state.hunks == {"P1.1": "replaced", "P2.1": "pending"}
    with pytest.raises(AgentFault) as again:
        bench.call("propose_patch", replaces=old, **whole("src/a", "x\n", sha(TEXT)))
    assert (again.value.code, again.value.data["state"]) == ("not_pending", "superseded")


def test_nobody_replaces_what_another_agent_proposed(bench: Bench) -> None:
    old = bench.propose({"src/a": TEXT + "8\n"})
    other = bench.connect("agent-0002", "other")
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", other, replaces=old, **whole("src/a", "x\n", sha(TEXT)))
    assert caught.value.code == "unknown_proposal" and bench.state.proposals[old].open


def test_without_an_editor_it_waits_and_says_so() -> None:
    bench = desk(FILES)
    alone = bench.restart(mode="headless")
    alone.connect()
    answer = alone.call("propose_patch", **whole("src/b", "B\n", sha("b\n")))
    assert "No editor is open" in answer["next"]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("src/a", "src/a", "duplicate_path"),
        ("src/a", "src/A", "duplicate_path"),
        ("src/a", "./src/a", "duplicate_path"),
    ],
)
def test_a_file_stands_once_in_a_proposal(bench: Bench, first: str, second: str, code: str) -> None:
    files = [{"path": first, "content": "x\n"}, {"path": second, "content": "y\n"}]
    refused_proposal(bench, code, files=files, bases={first: sha(TEXT), second: sha(TEXT)})


def test_nothing_is_no_proposal(bench: Bench) -> None:
    assert refused_proposal(bench, "no_change", **whole("src/a", TEXT, sha(TEXT)))["path"] == "src/a"
    refused_proposal(bench, "no_change", **whole("src/dos", "one\ntwo\n", sha("one\r\ntwo\r\n")))
    refused_proposal(bench, "no_change", files=[])


def test_a_patch_or_files_and_not_both(bench: Bench) -> None:
    refused_proposal(bench, "invalid_params")
    refused_proposal(bench, "invalid_params", patch="x", **whole("src/a", "x", sha(TEXT)))
    assert refused_proposal(bench, "invalid_params", files="x")["field"] == "files"


def test_one_bad_file_is_no_proposal_at_all(bench: Bench) -> None:
    files = [{"path": "src/a", "content": "x\n"}, {"path": "src/b", "content": "y\n"}]
    refused_proposal(bench, "stale", files=files, bases={"src/a": sha(TEXT), "src/b": sha("never")})


# --- links ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Linked(MemoryDisk):
    """A disk with links that stay inside: name to target."""

    links: dict[str, str] = field(default_factory=dict)

    def real(self, path: str) -> str:
        return self.links.get(path, path)


def linked(**links: str) -> Bench:
    bench = desk({"src/a": "a\n", "other/c": "c\n", "src/.env": "k\n"})
    disk = Linked(bench.disk.files, links={f"src/{name}": target for name, target in links.items()})
    bench = bench.restart(disk=disk)
    bench.connect()
    return bench


def test_a_link_is_its_target() -> None:
    bench = linked(link="src/a")
    answer = bench.call("propose_patch", **whole("src/link", "A\n", sha("a\n")))
    assert answer["files"][0]["path"] == "src/a"


def test_a_link_to_outside_the_scope_is_outside() -> None:
    assert (
        refused_proposal(linked(link="other/c"), "outside_scope", **whole("src/link", "x\n", sha("c\n")))["path"]
        == "other/c"
    )


def test_a_link_and_its_target_are_one_file() -> None:
    files = [{"path": "src/link", "content": "x\n"}, {"path": "src/a", "content": "y\n"}]
    bases: dict[str, Json] = {"src/link": sha("a\n"), "src/a": sha("a\n")}
    assert refused_proposal(linked(link="src/a"), "duplicate_path", files=files, bases=bases)["path"] == "src/a"


def test_a_link_to_a_loud_path_asks_like_the_path_itself() -> None:
    answer = linked(link="src/.env").call("propose_patch", **whole("src/link", "x\n", sha("k\n")))
    assert answer["files"][0]["path"] == "src/.env" and answer["decisions"] == ["D1"]


# --- paths with an approval of their own ------------------------------------------------------------------------------


def test_a_loud_path_in_scope_waits_for_its_own_yes(bench: Bench) -> None:
    answer = bench.call("propose_patch", **whole("src/.env", "KEY=1\n", ABSENT))
    (decision,) = answer["decisions"]
    asked = bench.state.decisions[decision].asked
    assert (asked.kind, asked.about, asked.subject) == ("protected_path", "src/.env", "P1")
    assert [option.id for option in asked.options] == ["refuse", "allow"]


def test_the_question_about_a_replaced_proposal_is_moot(bench: Bench) -> None:
    bench.call("propose_patch", **whole("src/.env", "KEY=1\n", ABSENT))
    bench.call("propose_patch", replaces="P1", **whole("src/.env", "KEY=2\n", ABSENT))
    assert [entry.state for entry in bench.state.decisions.values()] == ["withdrawn", "pending"]


def test_the_disk_refuses_what_a_fake_must_refuse(bench: Bench) -> None:
    with pytest.raises(AgentFault):
        bench.disk.stage("A1", [DiskChange("src/a", sha("other"), b"x")])


def test_an_agent_withdraws_only_what_is_its_own_and_waits(bench: Bench) -> None:
    name = bench.propose({"src/a": TEXT.replace("two", "TWO")})
    first = bench.connection
    other = bench.connect("agent-0002", "other")
    with pytest.raises(AgentFault) as foreign:
        bench.call("withdraw_proposal", other, proposalId=name)
    assert foreign.value.code == "unknown_proposal"
    answer = bench.call("withdraw_proposal", first, proposalId=name)
    assert (answer["state"], answer["settled"]) == ("withdrawn", True)
    with pytest.raises(AgentFault) as again:
        bench.call("withdraw_proposal", first, proposalId=name)
    assert again.value.code == "not_pending"
