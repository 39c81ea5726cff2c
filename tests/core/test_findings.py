"""`core.findings`: each code with its place, its weight, its words and what can be done; gone with its cause."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import CONTRACT_PATH, Bench, contract_text, desk, sha
from remit.core import leaves
from remit.core.events import SessionOpened
from remit.core.faults import AgentFault
from remit.core.finding import TOP, Finding, Region
from remit.core.findings import REFUSALS
from remit.core.leaves import Frozen
from remit.core.text import split_lines

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.fixture
def bench() -> Bench:
    return desk({"src/a": TEXT, "src/b": "b\n", "other/c": "c\n"})


def shown(bench: Bench, code: str, *, path: str | None = None) -> list[Finding]:
    found = bench.session.findings()
    assert all(len(one.message) <= 100 and "\n" not in one.message for one in found)
    assert list(found) == sorted(found, key=lambda one: (one.path, one.region, one.code, one.message))
    return [one for one in found if one.code == code and path in (None, one.path)]


def only(bench: Bench, code: str, *, path: str | None = None) -> Finding:
    (found,) = shown(bench, code, path=path)
    return found


def acts(found: Finding) -> list[tuple[str, str, str]]:
    return [(doable.act, doable.target, doable.hunk) for doable in found.doable]


def refuse(bench: Bench, path: str) -> None:
    with pytest.raises(AgentFault):
        bench.call("propose_patch", files=[{"path": path, "content": "x\n"}], bases={path: "absent"})


# --- patch-pending ----------------------------------------------------------------------------------------------------


def test_one_hunk_that_waits(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two\nthree", "TWO")})
    found = only(bench, "patch-pending")
    assert (found.path, found.region, found.severity) == ("src/a", Region(1, 0, 2, 5), "information")
    assert found.message == "P1 by coder would change 2 lines into 1 line."
    assert acts(found) == [("accept", "P1", ""), ("reject", "P1", "")] and found.doable[0].preferred
    assert found.data == {"proposal": "P1", "hunk": "P1.1"}
    bench.act("reject", "P1")
    assert bench.session.findings() == ()


def test_an_editor_that_will_write_other_line_ends_is_told_of_in_the_review(bench: Bench) -> None:
    """EN-03: VS Code gives a file with several kinds of line ends one; what was not touched changes with the save."""
    bench.disk.files["src/a"] = b"p=1\r\nq=2\nr=3"
    bench.open("src/a", "p=1\nq=2\nr=3")
    bench.propose({"src/a": "p=1\nq=2\nr=9"})
    message = only(bench, "patch-pending").message
    assert message == "P1 by coder would change 1 line into 1 line. A save changes other lines' ends too."
    bench.save("src/a")
    assert only(bench, "patch-pending").message == "P1 by coder would change 1 line into 1 line."


def test_several_hunks_can_be_answered_each_alone(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two\n", "").replace("five", "FIVE") + "seven\n"})
    found = shown(bench, "patch-pending")
    assert [one.region for one in found] == [Region(1, 0, 1, 3), Region(4, 0, 4, 4), Region(5, 0, 5, 0)]
    assert acts(found[1]) == [
        *(("acceptHunk", "P1", "P1.2"), ("rejectHunk", "P1", "P1.2")),
        *(("accept", "P1", ""), ("reject", "P1", "")),
    ]
    assert [one.message for one in found] == [
        "P1 by coder would change 1 line into no line (1 of 3).",
        "P1 by coder would change 1 line into 1 line (2 of 3).",
        "P1 by coder would change no line into 1 line (3 of 3).",
    ]
    bench.command("acceptHunk", bench.session.offer(found[1].doable[0]))
    assert [one.data and one.data["hunk"] for one in shown(bench, "patch-pending")] == ["P1.1", "P1.3"]


def test_a_file_that_is_not_there_yet_is_marked_in_the_contract(bench: Bench) -> None:
    bench.propose({"src/new": "n\n", "src/b": None})
    create = only(bench, "patch-pending", path=CONTRACT_PATH)
    assert create.message == "P1 by coder would create src/new." and create.region.line > 0
    assert only(bench, "patch-pending", path="src/b").message == "P1 by coder would delete this file."


def test_a_move_is_marked_where_the_file_is(bench: Bench) -> None:
    patch = "diff --git a/src/b b/src/z\nrename from src/b\nrename to src/z\n"
    bench.call("propose_patch", patch=patch, bases={"src/b": sha("b\n")})
    assert only(bench, "patch-pending", path="src/b").message == "P1 by coder would move this file to src/z."


def test_an_attempt_that_failed_is_said(bench: Bench) -> None:
    bench.open("src/b")
    bench.propose({"src/b": "B\n"})
    bench.accept("P1")
    assert shown(bench, "patch-pending") == []
    bench.answer(False, "read-only")
    assert only(bench, "patch-pending").message.endswith("Last attempt failed: read-only.")


# --- patch-stale ------------------------------------------------------------------------------------------------------


def test_a_stale_hunk_follows_its_lines_and_shows_what_moved(bench: Bench) -> None:
    bench.open("src/a")
    bench.propose({"src/a": TEXT.replace("five", "FIVE")})
    bench.type("src/a", 0, 0, "a\nb\n")
    found = only(bench, "patch-stale")
    assert shown(bench, "patch-pending") == []
    assert (found.path, found.region, found.severity) == ("src/a", Region(6, 0, 6, 4), "warning")
    assert found.related == (("src/a", Region(0, 0, 1, 1), "This has changed since."),)
    assert found.message == "P1 by coder, moved 2 lines down, would change 1 line into 1 line."
    assert acts(found) == [("accept", "P1", ""), ("reject", "P1", ""), ("rebase", "P1", "")]
    assert [doable.preferred for doable in found.doable] == [True, False, False]
    said = {"proposal": "P1", "hunk": "P1.1", "base": sha(TEXT), "shown": "rebased"}
    assert found.data == said
    bench.undo("src/a")
    assert [one.code for one in bench.session.findings()] == ["patch-pending"]


def test_a_stale_hunk_that_does_not_fit_offers_no_rebase(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("five", "FIVE")})
    bench.disk.files["src/a"] = TEXT.replace("five", "fünf").encode()
    found = only(bench, "patch-stale")
    assert acts(found) == [("reject", "P1", "")] and found.message.endswith("It does not fit any more.")
    assert found.region == Region(4, 0, 4, 4)


def test_a_rebase_that_some_other_file_forbids_is_not_offered(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("five", "FIVE"), "src/b": "B\n"})
    bench.disk.files |= {"src/a": ("zero\n" + TEXT).encode(), "src/b": b"theirs\n"}
    assert [acts(one) for one in shown(bench, "patch-stale")] == [[("reject", "P1", "")]] * 2


@settings(max_examples=60)
@given(
    typed=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x\n", "y\nz\n"])), min_size=1, max_size=4),
)
def test_lines_that_were_not_touched_are_found_wherever_they_went(typed: list[tuple[int, str]]) -> None:
    bench = desk({"src/a": TEXT})
    bench.open("src/a")
    bench.propose({"src/a": TEXT.replace("five", "FIVE")})
    for line, new in typed:
        bench.type("src/a", line, 0, new)
    found = only(bench, "patch-stale")
    assert split_lines(bench.text("src/a"))[found.region.line] == "five\n"


# --- files ------------------------------------------------------------------------------------------------------------


def test_buffer_and_disk_that_have_parted_until_they_agree(bench: Bench) -> None:
    bench.open("src/b")
    bench.type("src/b", 0, 0, "x")
    bench.disk.files["src/b"] = b"theirs\n"
    found = only(bench, "disk-conflict")
    assert (found.path, found.region, found.severity) == ("src/b", TOP, "error")
    assert found.data == {"buffer": sha("xb\n"), "disk": sha("theirs\n")}
    bench.save("src/b")
    assert shown(bench, "disk-conflict") == []


def test_an_open_file_outside_the_scope_has_a_hint_that_can_be_turned_off(bench: Bench) -> None:
    bench.open("other/c")
    bench.open("src/a")
    bench.open(CONTRACT_PATH)
    found = only(bench, "outside-scope")
    assert (found.path, found.severity, acts(found)) == ("other/c", "hint", [("show", CONTRACT_PATH, "")])
    assert bench.session.findings(outside_hints=False) == ()
    bench.close("other/c")
    assert shown(bench, "outside-scope") == []


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_refused_path_is_marked_there_and_in_the_contract_once(bench: Bench) -> None:
    refuse(bench, "other/c")
    refuse(bench, "other/c")
    target, entry = only(bench, "scope-violation", path="other/c"), only(bench, "scope-violation", path=CONTRACT_PATH)
    assert (target.severity, target.region, target.message) == ("error", TOP, "coder was refused to write other/c.")
    assert target.related[0][:2] == (CONTRACT_PATH, entry.region) and entry.related[0][:2] == ("other/c", TOP)
    assert acts(target) == [("show", CONTRACT_PATH, "")] and acts(entry) == [("show", "other/c", "")]


def test_a_refused_path_that_is_not_there_is_marked_in_the_contract_only(bench: Bench) -> None:
    refuse(bench, "other/new")
    assert [one.path for one in shown(bench, "scope-violation")] == [CONTRACT_PATH]


def test_a_refused_protected_path_is_a_warning(bench: Bench) -> None:
    refuse(bench, ".git/hooks/pre-commit")
    found = only(bench, "protected-path")
    assert (found.path, found.severity) == (CONTRACT_PATH, "warning")


def test_a_new_activation_clears_what_was_refused_before(bench: Bench) -> None:
    refuse(bench, "other/c")
    bench.disk.files[CONTRACT_PATH] = contract_text(scope=("src/", "other/")).encode()
    bench.activate()
    assert shown(bench, "scope-violation") == []


# --- decisions and outcomes -------------------------------------------------------------------------------------------


def test_a_question_is_marked_at_its_task_and_at_what_it_is_about(bench: Bench) -> None:
    bench.call("ask_human", question="Which one?", options=["this", "that"], about="src/a")
    task, about = only(bench, "decision-pending", path=CONTRACT_PATH), only(bench, "decision-pending", path="src/a")
    assert (task.severity, task.message, about.region) == ("warning", "D1: coder asks: Which one?", TOP)
    assert [(doable.act, doable.target, doable.option) for doable in about.doable] == [
        ("decide", "D1", "option_1"),
        ("decide", "D1", "option_2"),
    ]
    assert about.related == ((CONTRACT_PATH, task.region, "Also shown here."),)
    bench.command("decide", bench.session.offer(about.doable[1]), option="option_2")
    assert shown(bench, "decision-pending") == [] and bench.state.decisions["D1"].option == "option_2"


def test_a_question_for_free_text_can_be_answered_yes_or_no(bench: Bench) -> None:
    bench.call("ask_human", question="Go on?")
    found = only(bench, "decision-pending")
    assert [doable.option for doable in found.doable] == ["yes", "no"]


def test_a_loud_path_that_needs_its_own_yes(bench: Bench) -> None:
    bench.disk.files["src/.env"] = b"k\n"
    bench.propose({"src/.env": "K\n"})
    found = only(bench, "protected-path", path="src/.env")
    assert (found.severity, [doable.option for doable in found.doable]) == ("warning", ["refuse", "allow"])
    bench.decide("D1", "allow")
    assert shown(bench, "protected-path") == []


def test_an_outcome_that_nobody_knows(bench: Bench) -> None:
    bench.open("src/b")
    bench.propose({"src/b": "B\n"})
    bench.accept("P1")
    bench.answer(True)
    bench.wait(10)
    found = only(bench, "outcome-unknown", path="src/b")
    assert (found.severity, [doable.option for doable in found.doable]) == ("error", ["not_applied", "applied"])
    assert shown(bench, "patch-pending") == []
    bench.decide("D1", "not_applied")
    assert shown(bench, "outcome-unknown") == [] and len(shown(bench, "patch-pending")) == 1


# --- all of it --------------------------------------------------------------------------------------------------------


def test_everything_doable_has_an_offer_but_showing(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("one", "ONE").replace("six", "SIX")})
    bench.propose({"src/.env": "k\n"})
    bench.open("other/c")
    refuse(bench, "other/c")
    for doable in (doable for one in bench.session.findings() for doable in one.doable):
        assert bool(bench.session.offer(doable)) == (doable.act != "show")


def test_looking_says_nothing_and_changes_nothing(bench: Bench) -> None:
    bench.propose({"src/a": TEXT + "seven\n"})
    bench.open("src/a")
    seq, before = bench.seq, bench.session.findings()
    assert bench.session.findings() == before and bench.seq == seq
    assert sum(isinstance(event, SessionOpened) for event in bench.events()) == 1


def test_a_file_that_cannot_be_read_hides_no_other_finding(bench: Bench) -> None:
    bench.propose({"src/a": TEXT + "seven\n"})
    bench.propose({"src/b": "B\n"})
    bench.disk.unreadable.add("src/a")
    assert [one.path for one in bench.session.findings() if one.path == "src/b"] == ["src/b"]


# --- what an agent cannot hide ----------------------------------------------------------------------------------------


def test_what_becomes_executable_is_said() -> None:
    bench = desk({"src/a": TEXT})
    new = "--- /dev/null\n+++ b/src/run\n@@ -0,0 +1 @@\n+x\n"
    mode = "diff --git a/src/a b/src/a\nold mode 100644\nnew mode 100755\n"
    moved = f"diff --git a/src/a b/src/z\nold mode 100644\nnew mode 100755\nrename from src/a\nrename to src/z\n{HUNK}"
    for patch in (f"diff --git a/src/run b/src/run\nnew file mode 100755\n{new}", mode, moved):
        bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})
    assert sorted(one.message for one in shown(bench, "patch-pending")) == [
        "P1 by coder would create src/run, executable.",
        "P2 by coder would make this file executable.",
        "P3 by coder would change and move this file to src/z, executable.",
    ]


def test_a_copy_and_a_loose_place_are_said() -> None:
    bench = desk({"src/a": TEXT})
    copy = f"diff --git a/src/a b/src/c\ncopy from src/a\ncopy to src/c\n{HUNK.replace('src/z', 'src/c')}"
    loose = f"diff --git a/src/a b/src/a\n{HUNK.replace('src/z', 'src/a').replace('-1,1', '-4,1')}"
    for patch in (copy, loose):
        bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})
    assert sorted(one.message for one in shown(bench, "patch-pending")) == [
        "P1 by coder would create src/c as a copy of src/a.",
        "P2 by coder would change 1 line into 1 line, placed by offset(-3).",
    ]


HUNK = "--- a/src/a\n+++ b/src/z\n@@ -1,1 +1,1 @@\n-one\n+ONE\n"


def test_accepting_says_how_much_is_accepted(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two", "TWO"), "src/b": "B\n"})
    titles = [doable.title for doable in only(bench, "patch-pending", path="src/b").doable]
    assert titles[2:] == ["Accept P1 (all 2 files)", "Reject P1 (all 2 files)"]


def test_refusals_without_end_are_not_shown_without_end(bench: Bench) -> None:
    for number in range(REFUSALS + 5):
        refuse(bench, f"other/{number}")
    found = shown(bench, "scope-violation")
    assert len(found) == REFUSALS and any(f"other/{REFUSALS + 4}." in one.message for one in found)


def test_names_that_a_file_brings_are_shown_in_full() -> None:
    bench = desk({"bad.contract.json": '{"taskId": "t", "\u202eabc": 1}'})
    bench.open("bad.contract.json")
    messages = [one.message for one in shown(bench, "contract-invalid", path="bad.contract.json")]
    assert any("⟨U+202E⟩abc" in message for message in messages)


# --- the cost of a keystroke ------------------------------------------------------------------------------------------


def count(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> list[int]:
    """How many lines are joined, encoded or compared as values while drawing after each of three keystrokes."""
    done: list[int] = []
    slow: dict[str, Any] = {"join": Frozen.__str__, "list": Frozen.__iter__, "slice": Frozen._slice}

    def counted(name: str) -> Any:
        def call(self: Frozen, *arguments: Any) -> Any:
            done[-1] += len(self) if name != "slice" else max(0, arguments[1] - arguments[0])
            return slow[name](self, *arguments)

        return call

    def encoded(leaf: leaves.Leaf, *arguments: Any) -> bytes:
        done[-1] += len(leaf.lines)
        return encode(leaf, *arguments)

    encode = leaves.Leaf.encoded
    bench.session.findings()
    bench.type("src/long", 7000, 0, "x")
    bench.session.findings()
    with monkeypatch.context() as patch:
        patch.setattr(Frozen, "__str__", counted("join"))
        patch.setattr(Frozen, "__iter__", counted("list"))
        patch.setattr(Frozen, "_slice", counted("slice"))
        patch.setattr(leaves.Leaf, "encoded", encoded)
        for line in (7000, 7000, 2):
            bench.type("src/long", line, 1, "y")
            done.append(0)
            bench.session.findings()
    return done


@pytest.mark.parametrize("disk", ["clean", "dirty", "mixed"])
def test_drawing_after_a_keystroke_looks_at_the_touched_lines_only(monkeypatch: pytest.MonkeyPatch, disk: str) -> None:
    """Whatever waits, and however the buffer stands to its file: no digest, no join, no comparison of the whole."""
    text = "".join(f"{number}\n" for number in range(10_000))
    bench = desk({"src/long": text.replace("5\n", "5\r\n") if disk == "mixed" else text})
    bench.open("src/long", text if disk != "dirty" else f"restored\n{text}")
    for number in range(3):
        bench.propose({"src/long": bench.text("src/long").replace(f"99{number}\n", "NEW\n")})
    spent = count(monkeypatch, bench)
    assert len(shown(bench, "patch-stale")) >= 3
    assert max(spent) <= 3 * 2 * 2 * leaves.FULL + 200, "a few leaves for each of the three"
