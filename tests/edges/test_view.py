"""What a hover says: words and names that others chose never act as Markdown, and no line is silently gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from fakes import CONTRACT_PATH, Bench, desk
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


@pytest.mark.parametrize("uri", ["file://[x", "file://]/w/a", "file:///w/%00", "http://[", "file:///", "", "a"])
def test_what_is_no_uri_of_a_file_here_names_none(uri: str) -> None:
    assert Uris(Path("/w")).from_uri(uri) is None
    assert Uris(Path("/w")).from_uri("file:///w/a%20b") == "a b"


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
