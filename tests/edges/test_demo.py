"""What a story tells and how it is drawn, without playing one: values in, lines out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from remit.edges.demo.screen import Screen, picture
from remit.edges.demo.story import patch, put
from remit.edges.demo.told import Block, Broken, Line, Outcome, Promise, Scene, Teller

LONG = "a message that is far too long for one line, [red]with brackets[/red], and must be wrapped more than once " * 2
SCENE = Scene(
    3,
    "A scene with everything",
    (
        Line("you", LONG),
        Line("crash", "short"),
        Block("diff", "A diff", ("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-    old", "+    new", "", "+" + "x" * 200)),
        Block("problems", "Problems", (f"error|some/path.py:12|scope-violation|{LONG}", "hint|x:1|c|m|n")),
        Block("report", "Report", ("Done|one", "Done|two", f"To be confirmed|{LONG}")),
        Block("page", "Page", ("", "OK")),
        Promise("It is kept.", True, "seen"),
    ),
)
BROKEN = Scene(4, "A scene that breaks", (Promise("It holds.", False, "\n".join(f"line {n}" for n in range(100))),))


def drawn(outcome: Outcome, width: int = 80, **options: object) -> str:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=width, markup=False, emoji=False, **options))  # type: ignore[arg-type]
    screen.opening("unidiff 1")
    for scene in outcome.scenes:
        screen.scene(scene)
    screen.closing(outcome)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_nothing_is_wider_than_the_terminal_or_a_hundred_columns(width: int) -> None:
    text = drawn(Outcome((SCENE, BROKEN), ("later",), 1.0), width)
    assert max(len(line) for line in text.split("\n")) <= min(width, 100)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_word_is_lost_and_nothing_is_read_as_markup(width: int) -> None:
    words = drawn(Outcome((SCENE,), (), 1.0), width).replace("│", " ").split()
    assert " ".join(words).count(" ".join(LONG.split())) == 3
    assert "".join(words).count("x" * 200) == 1
    assert " ".join(words).count("Done one two To be confirmed") == 1


def test_a_wrapped_problem_stands_under_its_own_beginning() -> None:
    lines = drawn(Outcome((SCENE,), (), 1.0)).split("\n")
    first = next(n for n, line in enumerate(lines) if "remit(scope-violation)" in line)
    assert [line[:8] for line in lines[first + 1 : first + 4]] == ["    │   "] * 3


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome((SCENE,), (), 1.0)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;32m" in drawn(outcome, force_terminal=True, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;32m" not in drawn(outcome, force_terminal=True, color_system="standard")


def test_a_terminal_that_knows_only_ascii_gets_ascii_signs() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    Screen(Console(file=out, width=80)).scene(SCENE)
    out.flush()
    text = raw.getvalue().decode("ascii")
    assert "ok It is kept." in " ".join(text.split())
    assert "| Problems" in text and "A scene with everything ---" in text


def test_a_broken_promise_is_named_with_what_was_seen_and_again_at_the_end() -> None:
    text = " ".join(drawn(Outcome((SCENE, BROKEN), ("One more", "And another"), 2.25)).split())
    assert "Broken: It holds. Seen: line 0 line 1 " in text
    assert "line 23 … 76 more lines" in text and "line 24" not in text
    assert "1 promises kept, 1 broken, in 2.2 s." in text
    assert text.endswith("in step 4, “A scene that breaks”: It holds. Not told any more: One more, And another.")


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    svg = picture(Outcome((SCENE,), (), 1.0))
    assert "A&#160;scene&#160;with&#160;everything" in svg
    assert "@font-face" not in svg and "url(http" not in svg and "Fira" not in svg
    assert svg == picture(Outcome((SCENE,), (), 7.0))


# --- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("promise", "seen"),
    [
        (lambda tell: tell.promise("P", False, 3), "3"),
        (lambda tell: tell.same("P", 1, 2), "1 instead of 2"),
        (lambda tell: tell.refused("P", {"proposalId": "P1"}, "stale"), "not refused: {'proposalId': 'P1'}"),
        (lambda tell: tell.refused("P", {"refused": "other", "message": "Why."}, "stale"), "other: Why."),
        (lambda tell: tell.exact("P", "a\r\n", "a\n"), "-a\n+a\r\n"),
    ],
)
def test_a_promise_that_is_not_kept_ends_the_step_and_is_told(promise: Callable[[Teller], None], seen: str) -> None:
    tell = Teller()
    with pytest.raises(Broken):
        promise(tell)
    told = tell.tellings[-1]
    assert isinstance(told, Promise)
    assert (told.text, told.kept) == ("P", False)
    assert seen in told.seen


def test_a_promise_that_is_kept_says_what_was_seen() -> None:
    tell = Teller()
    tell.same("A", 1, 1)
    tell.exact("B", "a\n", "a\n")
    tell.refused("C", {"refused": "stale", "message": "It moved."}, "stale")
    assert tell.tellings == [
        Promise("A", True, "1"),
        Promise("B", True, "2 bytes, sha256 87428fc52280…"),
        Line("remit", "refuses (stale): It moved."),
        Promise("C", True, "stale: It moved."),
    ]


def test_the_data_form_counts_what_was_kept_and_what_broke() -> None:
    found = json.loads(json.dumps(Outcome((SCENE, BROKEN), ("later",), 1.239, "there").data()))
    assert (found["kept"], found["broken"], found["seconds"], found["workspace"]) == (1, 1, 1.24, "there")
    assert found["untold"] == ["later"]
    assert found["steps"][0]["promises"] == [{"text": "It is kept.", "kept": True, "seen": "seen"}]
    assert found["steps"][0]["told"][1] == {"who": "crash", "text": "short"}


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome((SCENE,), (), 1.0), 0),
        (Outcome((SCENE, BROKEN), (), 1.0), 1),
        (Outcome((SCENE,), ("later",), 1.0), 1),
    ],
)
def test_it_succeeds_only_when_all_was_told_and_kept(outcome: Outcome, code: int) -> None:
    assert outcome.exit_code == code


def test_a_change_is_made_exactly_once_or_not_at_all() -> None:
    assert put("one two", ("one", "1"), ("two", "2")) == "1 2"
    for text in ("", "one one"):
        with pytest.raises(AssertionError, match="no longer holds 'one' once"):
            put(text, ("one", "1"))


def test_a_patch_names_its_files_as_git_does() -> None:
    assert patch(("x", "a\n", "b\n"), ("y", "", "c\n")).split("\n")[:3] == ["--- a/x", "+++ b/x", "@@ -1 +1 @@"]
