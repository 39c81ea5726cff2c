"""What a hover says: words and names that others chose never act as Markdown, and no line is silently gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from fakes import CONTRACT_PATH, Bench, desk
from remit.edges.lsp import client
from remit.edges.lsp.convert import Uris
from remit.edges.lsp.view import SHOWN, View


def hovered(bench: Bench, path: str, line: int = 0) -> str:
    view = View(bench.session, Uris(Path("/w")), pulls=False, hints=False, publish=lambda _: None)
    found = view.hover(path, types.Position(line, 0))
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    return found.contents.value


def test_an_agents_question_is_text() -> None:
    bench = desk({"src/a": "a\n"})
    question = "![x](https://example.org/x.png) **Remit** <b>&#x202E;</b>"
    bench.call("ask_human", question=question, about="src/a")
    told = hovered(bench, "src/a")
    assert "\\!\\[x\\]\\(https" in told and "\\*\\*Remit" in told and "\\<b\\>\\&\\#x202E" in told


def test_a_file_name_is_text() -> None:
    bench = desk({})
    bench.propose({"src/[Accept](command:x)": "a\n"})
    line = next(at for at, text in enumerate(bench.disk.files[CONTRACT_PATH].decode().split("\n")) if "Scope" in text)
    assert "src/\\[Accept\\]\\(command:x\\)" in hovered(bench, CONTRACT_PATH, line)


def test_a_note_and_a_hunk_show_what_cannot_be_seen() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/a": "if x:\u202e pass \u2066\n```\n\x1b[0m\n"}, note="Fine.\r\r# Remit\u200b")
    told = hovered(bench, "src/a")
    assert "\n> Fine.\n> \n> \\# Remit⟨U\\+200B⟩" in told
    assert "````diff\n" in told and "+if x:⟨U+202E⟩ pass ⟨U+2066⟩\n+```\n+⟨U+001B⟩[0m\n" in told


def test_a_long_hunk_says_how_much_is_not_shown() -> None:
    bench = desk({"src/a": "a\n"})
    bench.propose({"src/a": "".join(f"{number}\n" for number in range(SHOWN + 9))})
    told = hovered(bench, "src/a")
    assert "@@ 10 more lines are not shown here" in told and f"+{SHOWN + 8}\n" in told


def test_a_conflict_shows_both_sides() -> None:
    bench = desk({"src/a": "one\ntwo\n"})
    bench.open("src/a")
    bench.propose({"src/a": "one\nTWO\n"})
    bench.type("src/a", 1, 0, "my ")
    told = hovered(bench, "src/a", 1)
    assert "-two\n+TWO\n" in told and told.endswith("But since then:\n\n```diff\n-two\n+my two\n```")


def test_lenses_and_actions_answer_the_same_offers() -> None:
    bench = desk({"src/a": "one\ntwo\n"})
    bench.open("src/a")
    bench.propose({"src/a": "one\nTWO\n"})
    bench.type("src/a", 0, 0, "zero\n")
    view = View(bench.session, Uris(Path("/w")), pulls=False, hints=False, publish=lambda _: None)
    here = types.Range(types.Position(2, 0), types.Position(2, 0))
    actions = {one.title: one.command for one in view.actions("src/a", here)}
    lenses = {one.command.title: one.command for one in view.lenses("src/a") if one.command}
    assert actions == lenses
    assert list(lenses) == ["Accept P1 as shown", "Reject P1", "Rebase P1 onto the present text"]
    command = lenses["Accept P1 as shown"]
    assert command is not None
    argument: Any = (command.arguments or [{}])[0]
    bench.command("accept", argument["offer"])
    bench.play()
    assert bench.text("src/a") == "zero\none\nTWO\n"


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        ({"remit": {"rebase": "auto"}}, "auto"),
        ({"rebase": "ask"}, "ask"),
        ({"remit": {"rebase": "always"}}, None),
        ({"remit": {}}, None),
        ({"remit": None}, None),
        ({"rebase": ["auto"]}, None),
        (None, None),
        ([], None),
    ],
)
def test_the_setting_is_read_as_a_client_sends_it(settings: Any, meant: str | None) -> None:
    assert client.rebase(settings) == meant
