"""Cases of positions and of the protocol, message by message: what `scenario.json` lists is sent as it stands.

The client here keeps its text by a model of its own (`Model`), which shares no code with Remit's; what the server holds
is seen through an agent's `read_file`. `test_cases` and `test_kinds` have the cases whose steps are told in prose.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from lsprotocol import types

from remit.edges.demo.editor import Editor, capable
from world import CASES, Agent, World, offer_of, settled

ENCODINGS = ("utf-8", "utf-16", "utf-32")
UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def scenario(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / name / "scenario.json").read_bytes())
    return found


@dataclass
class Model:
    """One document as the protocol means it, the slow way: all of it is encoded for each position."""

    text: str
    encoding: str
    version: int = 1

    def offset(self, line: int, character: int) -> int:
        """Bytes in the codec of this encoding from the start to a position."""
        lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", self.text)
        before = "".join(lines[:line]).encode(CODEC[self.encoding])
        here = "".join(lines[line : line + 1]).rstrip("\r\n").encode(CODEC[self.encoding])
        return len(before) + min(character * UNIT[self.encoding], len(here))

    def change(self, change: Mapping[str, Any]) -> None:
        if "range" not in change:
            self.text = change["text"]
            return
        data = self.text.encode(CODEC[self.encoding])
        (start, end) = (self.offset(*position) for position in change["range"])
        new = str(change["text"]).encode(CODEC[self.encoding])
        self.text = (data[:start] + new + data[end:]).decode(CODEC[self.encoding])


def test_the_model_is_right() -> None:
    """The one thing everything here stands on, held against the cases' own texts."""
    for name in ("PO-01", "PO-02", "PO-04", "LS-02", "LS-04"):
        told = scenario(name)
        model = Model(told["open"], told["positionEncoding"])
        for change, after in zip(told["changes"], told["text_after_each_step"][1:], strict=True):
            model.change(change)
            assert model.text == after


@dataclass
class Client:
    """A real connection; the documents are the model's."""

    editor: Editor
    agent: Agent
    path: str
    model: Model

    @property
    def uri(self) -> str:
        return self.editor.uri(self.path)

    def open(self) -> None:
        item = types.TextDocumentItem(self.uri, "plaintext", self.model.version, self.model.text)
        self.editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self) -> None:
        identifier = types.TextDocumentIdentifier(self.uri)
        self.editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def send(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """One notification with these changes, which are also made here."""
        self.model.version += 1
        sent: list[types.TextDocumentContentChangeEvent] = []
        for change in changes:
            self.model.change(change)
            if "range" in change:
                start, end = (types.Position(*position) for position in change["range"])
                sent.append(types.TextDocumentContentChangePartial(types.Range(start, end), change["text"]))
            else:
                sent.append(types.TextDocumentContentChangeWholeDocument(change["text"]))
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.model.version)
        self.editor.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, sent))

    async def mirrored(self) -> str:
        """What the server believes; it has heard everything that was sent before."""
        await self.editor.view()
        read = await self.agent("read_file", path=self.path)
        assert read["version"] == self.model.version
        text: str = read["text"]
        return text

    def take(self, _editor: Editor, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        """Carry out an edit of the server by the model, and tell the server what came of it."""
        (part,) = params.edit.document_changes or ()
        assert isinstance(part, types.TextDocumentEdit) and part.text_document.version == self.model.version
        changes: list[dict[str, Any]] = [
            {
                "range": [
                    [edit.range.start.line, edit.range.start.character],
                    [edit.range.end.line, edit.range.end.character],
                ],
                "text": edit.new_text,
            }
            for edit in part.edits
            if isinstance(edit, types.TextEdit)
        ]
        self.send(sorted(changes, key=lambda one: one["range"], reverse=True))  # all are for the text before
        return types.ApplyWorkspaceEditResult(applied=True)

    async def accept(self, edits: Sequence[Mapping[str, Any]], base: str | None = None) -> str:
        """An agent's search and replace, with the human's yes; how it ended."""
        told = {"path": self.path}
        bases = {self.path: base or await self.agent.read(self.path)}
        sent = [{**told, **edit} for edit in edits]
        name = (await self.agent("propose_patch", edits=sent, bases=bases))["proposalId"]
        action = (await self.editor.run("remit.accept", offer=await offer_of(self.editor, name)))["result"]
        state: str = (await settled(self.editor, action))["state"]
        return state


async def connected(world: World, encoding: str) -> tuple[Editor, Agent]:
    editor = await world.active(
        editor=await world.editor(capabilities=capable(encodings=[encoding])), writeScope=["**"]
    )
    assert editor.encoding == encoding, "the answer to initialize names the encoding that is used"
    return editor, await world.agent()


def opened(world: World, ends: tuple[Editor, Agent], name: str, text: str | None = None) -> Client:
    """A client with a file of its own open: the case's only one, or one with another text."""
    (file,) = (CASES / name / "before").iterdir()
    told, path = scenario(name), f"{name}/{file.name}"
    world.put(path, file.read_bytes() if text is None else text)
    client = Client(*ends, path, Model(told["open"] if text is None else text, ends[0].encoding))
    ends[0].answer_edit = client.take
    client.open()
    return client


# --- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "names"), [("utf-16", ["PO-01", "PO-04", "LS-02", "LS-04"]), ("utf-8", ["PO-02"])]
)
async def test_each_change_is_made_where_the_client_made_it(world: World, encoding: str, names: list[str]) -> None:
    ends = await connected(world, encoding)
    for name in names:
        told = scenario(name)
        assert told["positionEncoding"] == encoding
        client = opened(world, ends, name)
        assert await client.mirrored() == told["text_after_each_step"][0]
        for change, after in zip(told["changes"], told["text_after_each_step"][1:], strict=True):
            client.send([change])
            assert await client.mirrored() == after == client.model.text
        client.close()
        client.model = Model(told["open"], encoding, client.model.version)
        client.open()
        client.send(told["changes"])
        assert await client.mirrored() == told["text_after_each_step"][-1], "and all of them in one notification"


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_an_edit_of_the_server_is_counted_as_the_client_counts(world: World, encoding: str) -> None:
    """The last line has no end, so that the edit must end in a column."""
    ends = await connected(world, encoding)
    for name, text, search, new in (
        ("PO-01", "🌲🌵k", "k", "K🌵"),
        ("PO-02", "ñom", "o", "ö"),
        ("PO-03", 'print("🌊🌊")', "🌊🌊", "🏔"),
        ("PO-04", "a\x0cb\u2028c\x85d\nx🌲", "x🌲", "🌲X"),
    ):
        client = opened(world, ends, name, text)
        assert await client.accept([{"search": search, "replace": new}]) == "succeeded"
        assert client.model.text == text.replace(search, new) == await client.mirrored()


async def test_po_03_the_whole_document_ends_behind_its_last_character(world: World) -> None:
    client, told = opened(world, await connected(world, "utf-16"), "PO-03"), scenario("PO-03")
    files = [{"path": client.path, "content": told["server_edit"]["newText"]}]
    bases = {client.path: await client.agent.read(client.path)}
    name = (await client.agent("propose_patch", files=files, bases=bases))["proposalId"]
    action = (await client.editor.run("remit.accept", offer=await offer_of(client.editor, name)))["result"]
    assert (await settled(client.editor, action))["state"] == "succeeded"
    assert client.model.text == told["server_edit"]["newText"]
    (part,) = client.editor.edits[-1].edit.document_changes or ()
    assert isinstance(part, types.TextDocumentEdit)
    (edit,) = part.edits
    assert isinstance(edit, types.TextEdit)
    start, end = edit.range.start, edit.range.end
    assert [[start.line, start.character], [end.line, end.character]] == told["server_edit"]["range_must_be"]


PIECES = ["", "a", "k\n", "é", "🌲", "\r\n", "\r", "\n", "\x0c", "\u2028", "\x85", "e\u0301", "zz\n\nzz"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_ls_02_any_list_of_changes_leaves_both_sides_with_one_text(world: World, encoding: str) -> None:
    """Among them positions behind the end of a line, which the protocol moves back to it."""
    chance = random.Random(encoding)
    client = opened(world, await connected(world, encoding), "LS-02", "🌲 one\r\ntwo\rñ\n\x0clast")
    for step in range(40):
        changes = _changes(client.model, chance)
        client.send(changes)
        assert await client.mirrored() == client.model.text, (step, changes)


def _changes(model: Model, chance: random.Random) -> list[dict[str, Any]]:
    """Some changes of one notification: each is for the text that the one before it left."""
    copy, made = Model(model.text, model.encoding), list[dict[str, Any]]()
    for _ in range(chance.randint(1, 4)):
        new = "".join(chance.choices(PIECES, k=chance.randint(0, 3)))
        if chance.random() < 0.05:
            made.append({"text": new + "\nñew 🌵"})
        else:
            spots = sorted(_positions(copy, chance) for _ in range(2))
            made.append({"range": [list(spot) for spot in spots], "text": new})
        copy.change(made[-1])
    return made


def _positions(model: Model, chance: random.Random) -> tuple[int, int]:
    """A place between two characters, never inside a CRLF: no client has a cursor there."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", model.text) or [""]
    if re.search(r"[\r\n]$", lines[-1]):
        lines.append("")
    line = chance.randrange(len(lines))
    bare = lines[line].rstrip("\r\n")
    column = len(bare[: chance.randint(0, len(bare))].encode(CODEC[model.encoding])) // UNIT[model.encoding]
    return line, column + (1000 if chance.random() < 0.1 else 0)
