"""`core.atonce`: `review: after` applies at once what it may, says why the rest waits, and is seen after."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import CONTRACT_PATH, Bench, MemoryFile, contract_text, desk, sha
from remit.core.approval import CONTRACT
from remit.core.faults import AgentFault, UserFault
from remit.core.findings import only_task
from remit.core.model import fingerprint
from remit.mediator import Abilities

POLICY = '[review]\nafter = ["docs/"]\n'
AFTER = contract_text(scope=("docs/",), review="after")
TEXT = "one\ntwo\nthree\n"


def after(files: dict[str, str | bytes] | None = None, **more: Any) -> Bench:
    return desk({"docs/a": TEXT, "src/b": "b\n", **(files or {})}, policy=POLICY, contract=AFTER, **more)


def propose(bench: Bench, path: str, content: str | None, base: str | None = None) -> dict[str, Any]:
    bound = base or bench.session.peek().look(path).digest
    return bench.call("propose_patch", files=[{"path": path, "content": content}], bases={path: bound})


def test_it_is_applied_at_once_on_the_ground_of_contract_and_policy() -> None:
    bench, seq = after(), 0
    seq = bench.seq
    answer = propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    assert bench.disk.files["docs/a"] == b"ONE\ntwo\nthree\n"
    assert answer["state"] == "accepted" and "applied at once" in answer["next"]
    assert bench.story(seq)[:4] == ["proposed", "action_planned", "action_moved authorized", "action_moved dispatched"]
    approval = bench.state.actions["A1"].plan.approval
    assert (approval.by, approval.contract, approval.policy) == (CONTRACT, sha(AFTER), sha(POLICY))
    bound = {"proposal": bench.state.proposals["P1"].outline.digest, "contract": sha(AFTER), "policy": sha(POLICY)}
    assert approval.binding == fingerprint(bound)
    assert bench.call("proposal_status", proposalId="P1")["state"] == "applied"


def test_a_new_file_and_an_open_and_saved_one_too() -> None:
    bench = after()
    propose(bench, "docs/new", "n\n")
    bench.open("docs/a")
    propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    assert bench.disk.files["docs/new"] == b"n\n" and len(bench.edits) == 1
    bench.play()
    assert bench.text("docs/a") == "ONE\ntwo\nthree\n" and bench.disk.files["docs/a"] == TEXT.encode()


def waits(bench: Bench, path: str = "docs/a", content: str | None = "ONE\ntwo\nthree\n") -> str:
    """Why a proposal waits; nothing has been written."""
    before = dict(bench.disk.files)
    answer = propose(bench, path, content)
    assert answer["state"] == "pending" and bench.disk.files == before and not bench.edits
    assert not [a for a in bench.state.actions.values() if a.plan.subject == answer["proposalId"]]
    return str(answer["next"])


def test_before_is_the_word_unless_it_is_said_and_allowed() -> None:
    bench = desk({"docs/a": TEXT}, policy=POLICY, contract=contract_text(scope=("docs/",)))
    assert waits(bench) == "It waits for the human's review: call wait_for_review."
    bench = desk({"docs/a": TEXT}, contract=contract_text(scope=("docs/",)))
    bench.disk.files[CONTRACT_PATH] = AFTER.encode()
    bench.clock.advance(2)
    with pytest.raises(UserFault) as caught:
        bench.command("activate", bench.offer("activate", CONTRACT_PATH))
    assert caught.value.code == "contract_exceeds_policy" and "reviewed after" in caught.value.message
    bench.open(CONTRACT_PATH)
    assert bench.codes(CONTRACT_PATH) == ["contract-exceeds-policy"]


def test_a_policy_that_takes_it_back_makes_it_before_again() -> None:
    bench = after()
    bench.disk.files[".remit/policy.toml"] = b""
    bench.clock.advance(2)
    bench.activate(".remit/policy.toml")
    assert "the policy does not let docs/a be reviewed after" in waits(bench)


def test_unsaved_text_waits() -> None:
    bench = after()
    bench.open("docs/a")
    bench.type("docs/a", 2, 0, "x")
    assert "docs/a holds text that is not saved" in waits(bench)


def test_marked_and_protected_paths_wait() -> None:
    bench = after({"docs/Makefile": "all:\n", "docs/.env": "A=1\n"})
    assert "docs/Makefile needs a look before it is written" in waits(bench, "docs/Makefile", "none:\n")
    answer = propose(bench, "docs/.env", "A=2\n")
    assert answer["state"] == "pending" and answer["decisions"] == ["D1"]


def test_an_executable_waits() -> None:
    bench = after()
    patch = "diff --git a/docs/a b/docs/a\nold mode 100644\nnew mode 100755\n"
    answer = bench.call("propose_patch", patch=patch, bases={"docs/a": sha(TEXT)})
    assert answer["state"] == "pending" and "would become executable" in answer["next"]


@pytest.mark.parametrize("opened", [True, False])
def test_a_file_with_two_names_waits(opened: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = after()
    read = type(bench.disk).read

    def linked(disk: Any, path: str) -> MemoryFile | None:
        found: MemoryFile | None = read(disk, path)
        return found if found is None or path != "docs/a" else MemoryFile(found.data, found.real, links=2)

    monkeypatch.setattr(type(bench.disk), "read", linked)
    if opened:
        bench.open("docs/a")
        assert "docs/a has other names on disk" in waits(bench)
    else:
        assert propose(bench, "docs/a", "x\n")["decisions"] == ["D1"]
    assert bench.disk.files["docs/a"] == TEXT.encode()


def test_what_is_still_being_written_waits() -> None:
    bench = after()
    bench.open("docs/a")
    propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    bench.answer(True)  # said, and nothing changed
    bench.wait(40)
    assert bench.state.actions["A1"].state == "needs_human_decision"
    assert "A1 is still writing docs/a" in waits(bench, content="UNO\ntwo\nthree\n")


def test_without_an_editor_or_one_that_takes_edits_it_waits() -> None:
    bench = after()
    alone = bench.restart(mode="headless")
    alone.connect()
    assert "No editor is open" in waits(alone)
    weak = bench.restart(abilities=Abilities())
    weak.connect()
    weak.open("docs/a")
    assert "cannot take edits" in waits(weak)


def test_one_file_that_waits_makes_all_of_it_wait() -> None:
    bench = after({"docs/Makefile": "all:\n"})
    files = [{"path": "docs/a", "content": "x\n"}, {"path": "docs/Makefile", "content": "none:\n"}]
    bases = {"docs/a": sha(TEXT), "docs/Makefile": sha("all:\n")}
    assert bench.call("propose_patch", files=files, bases=bases)["state"] == "pending"
    assert bench.disk.files["docs/a"] == TEXT.encode()


# --- looking at it afterwards -----------------------------------------------------------------------------------------


def report(bench: Bench) -> Any:
    turn = bench.session.peek()
    return bench.session.report(only_task(turn))


def test_it_is_to_be_confirmed_until_somebody_has_looked() -> None:
    bench = after()
    propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    (line,) = report(bench).to_be_confirmed
    assert line.text == "P1 applied, not reviewed: docs/a." and report(bench).done == ()
    (found,) = [one for one in bench.session.findings() if one.code == "applied-not-reviewed"]
    assert found.message == "P1 by coder was applied without a review: 1 line became 1 line."
    assert [(doable.act, doable.target) for doable in found.doable] == [("seen", "P1"), ("undo", "P1")]
    shown: Any = bench.session.overview()["applied"]
    assert [one["reviewed"] for one in shown] == [False]
    assert bench.command("seen", bench.session.offer(found.doable[0])) == "P1"
    (line,) = report(bench).done
    assert line.text == "P1 applied at once, and seen after: docs/a." and bench.seq in line.evidence.events
    assert report(bench).to_be_confirmed == ()
    assert "applied-not-reviewed" not in bench.codes("docs/a")
    assert bench.restart().state.proposals["P1"].unseen is False


def test_what_changes_while_it_is_looked_at_is_looked_at_again() -> None:
    bench = after()
    propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    offer = bench.offer("seen", "P1")
    bench.disk.files["docs/a"] = b"ONE\ntwo\nthree\nmore\n"
    with pytest.raises(UserFault) as caught:
        bench.command("seen", offer)
    assert caught.value.code == "approval_stale"
    bench.act("seen", "P1")
    with pytest.raises(UserFault) as again:
        bench.act("seen", "P1")
    assert again.value.code == "already_decided"


def test_it_can_be_taken_back_and_is_not_asked_about_any_more() -> None:
    bench = after()
    propose(bench, "docs/a", "ONE\ntwo\nthree\n")
    bench.disk.files["docs/a"] = b"ONE\ntwo\nthree\nmine\n"
    bench.act("undo", "P1")
    assert bench.disk.files["docs/a"] == (TEXT + "mine\n").encode()
    assert bench.codes("docs/a") == [] and report(bench).to_be_confirmed == ()


def test_what_a_human_accepted_is_seen_already() -> None:
    bench = desk({"src/a": TEXT})
    bench.propose({"src/a": "ONE\ntwo\nthree\n"})
    bench.accept("P1")
    (line,) = report(bench).done
    assert line.text == "P1 applied: src/a." and not bench.state.proposals["P1"].unseen


def test_a_file_that_is_gone_is_shown_in_the_contract() -> None:
    bench = after()
    propose(bench, "docs/a", None)
    assert "docs/a" not in bench.disk.files
    assert "applied-not-reviewed" in bench.codes(CONTRACT_PATH)


def test_without_the_right_nothing_is_applied_at_all() -> None:
    bench = after()
    bench.disk.files[CONTRACT_PATH] = contract_text(
        scope=("docs/",), review="after", allowedTools=["read_file"]
    ).encode()
    bench.clock.advance(2)
    bench.activate()
    with pytest.raises(AgentFault) as caught:
        propose(bench, "docs/a", "x\n")
    assert caught.value.code == "right_missing" and bench.disk.files["docs/a"] == TEXT.encode()
