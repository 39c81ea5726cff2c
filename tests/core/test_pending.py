"""`core.pending`: what waits is shown on the present text, with what can be done about it, and who else is there."""

from __future__ import annotations

import pytest

from fakes import Bench, desk, sha
from remit.core.finding import Finding, Region

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.fixture
def bench() -> Bench:
    bench = desk({"src/a": TEXT, "src/b": "b\n", "src/.env": TEXT})
    bench.open("src/a")
    return bench


def shown(bench: Bench, code: str) -> list[Finding]:
    found = bench.session.findings()
    assert all(len(one.message) <= 100 and "\n" not in one.message for one in found)
    return [one for one in found if one.code == code]


def acts(found: Finding) -> list[tuple[str, str]]:
    return [(doable.act, doable.hunk) for doable in found.doable]


def test_each_hunk_is_shown_where_it_would_be_made_now(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("one", "ONE").replace("five", "FIVE\nFIVE")})
    bench.type("src/a", 2, 0, "new\n")
    found = shown(bench, "patch-stale")
    assert [(one.region, one.message) for one in found] == [
        (Region(0, 0, 0, 3), "P1 by coder, fitted to the present text, would change 1 line into 1 line (1 of 2)."),
        (Region(5, 0, 5, 4), "P1 by coder, moved 1 line down, would change 1 line into 2 lines (2 of 2)."),
    ]
    assert acts(found[1]) == [
        ("acceptHunk", "P1.2"),
        ("rejectHunk", "P1.2"),
        ("accept", ""),
        ("reject", ""),
        ("rebase", ""),
    ]
    assert found[1].doable[0].title == "Accept this hunk as shown (P1.2)" and found[1].doable[0].preferred
    bench.command("acceptHunk", bench.session.offer(found[1].doable[0]))
    bench.play()
    assert bench.text("src/a") == TEXT.replace("three", "new\nthree").replace("five", "FIVE\nFIVE")


def test_lines_above_that_went_away_move_it_up(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("five", "FIVE")})
    bench.type("src/a", 0, 0, "", (2, 0))
    (found,) = shown(bench, "patch-stale")
    assert found.message == "P1 by coder, moved 2 lines up, would change 1 line into 1 line."


def test_a_part_that_is_there_already_says_so(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("one", "ONE").replace("five", "FIVE")})
    bench.type("src/a", 0, 0, "ONE", (0, 3))
    done, left = shown(bench, "patch-stale")
    assert done.message == "P1 by coder: the file holds this part of it already."
    assert acts(done) == [("accept", ""), ("reject", ""), ("rebase", "")]
    assert acts(left)[0] == ("acceptHunk", "P1.2")
    bench.type("src/a", 4, 0, "FIVE", (4, 4))
    assert [acts(one) for one in shown(bench, "patch-stale")] == [[("rebase", ""), ("reject", "")]] * 2


def test_a_conflict_names_the_lines_that_both_sides_changed(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two", "TWO").replace("five", "FIVE")})
    bench.type("src/a", 0, 0, "zero\n")
    bench.type("src/a", 5, 0, "my ")
    found = shown(bench, "patch-stale")
    assert found[0].related == (("src/a", Region(5, 0, 5, 7), "Changed here and in the proposal: the two do not fit."),)
    assert [one.message.rpartition("changed. ")[2] for one in found] == ["It does not fit any more."] * 2
    assert [acts(one) for one in found] == [[("reject", "")]] * 2
    assert found[1].region == Region(5, 0, 5, 7) and found[1].data and found[1].data["shown"] == "conflict"


def test_what_needs_a_yes_of_its_own_is_rebased_first(bench: Bench) -> None:
    bench.propose({"src/.env": TEXT.replace("five", "FIVE")})
    bench.disk.files["src/.env"] = ("zero\n" + TEXT).encode()
    (found,) = shown(bench, "patch-stale")
    assert acts(found) == [("rebase", ""), ("reject", "")] and found.doable[0].preferred


def test_others_for_the_same_lines_are_named_with_whose_they_are(bench: Bench) -> None:
    bench.propose({"src/a": TEXT.replace("two", "TWO")})
    second = bench.connect("agent-0002", "other")
    bench.propose({"src/a": TEXT.replace("three", "THREE")}, connection=second)
    first, other = shown(bench, "patch-pending")
    assert first.message == "P1 by coder would change 1 line into 1 line. P2 would too."
    assert first.related == (("src/a", Region(2, 0, 2, 5), "P2 by other is about these lines too (P2.1)."),)
    assert other.related == (("src/a", Region(1, 0, 1, 3), "P1 by coder is about these lines too (P1.1)."),)
    assert first.data == {"proposal": "P1", "hunk": "P1.1", "overlaps": ["P2"]}
    bench.type("src/a", 0, 0, "zero\n")
    moved = shown(bench, "patch-stale")
    assert [one.message.rpartition(".")[0].rpartition(". ")[2] for one in moved] == ["P2 would too", "P1 would too"]
    bench.act("reject", "P2")
    assert shown(bench, "patch-stale")[0].data == {
        "proposal": "P1",
        "hunk": "P1.1",
        "base": sha(TEXT),
        "shown": "rebased",
    }
