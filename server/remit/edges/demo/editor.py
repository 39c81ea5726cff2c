"""An editor without a screen: a real LSP client with real buffers, as strict about versions as VS Code is.

The demo and the end-to-end tests drive it. It keeps no rule of Remit's: it opens, types, saves, takes edits, shows.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from cattrs import Converter
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from remit.core.faults import from_dict
from remit.core.text import Edit, Position, PositionEncoding, Range, Text

T = TypeVar("T")
MARKS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The marks that an editor does not show and writes again."""

PATIENCE = 15.0
"""Seconds after which something awaited counts as not coming."""


@dataclass(slots=True)
class Document:
    """One open buffer; `codec` and `bom` are how a save writes it."""

    uri: str
    path: Path
    text: Text
    version: int
    codec: str = "utf-8"
    bom: bytes = b""


Answer = Callable[["Editor", types.ApplyWorkspaceEditParams], types.ApplyWorkspaceEditResult]


@dataclass(slots=True)
class Editor:
    """A client of one server process. `answer_edit` and `answer_prompt` may be replaced by a test."""

    root: Path
    name: str = "Visual Studio Code"
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: types.ClientCapabilities | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = (sys.executable, "-m", "remit", "lsp")
    documents: dict[str, Document] = field(default_factory=dict)
    diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    logged: list[types.LogMessageParams] = field(default_factory=list)
    prompts: list[types.ShowMessageRequestParams] = field(default_factory=list)
    edits: list[types.ApplyWorkspaceEditParams] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    answer_edit: Answer | None = None
    answer_prompt: Callable[[types.ShowMessageRequestParams], str | None] = lambda _prompt: None
    initialized: types.InitializeResult | None = None
    client: LanguageClient = field(init=False)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> Editor:
        """Start the server and open the workspace."""
        self.client = LanguageClient(self.name, "1.139.1", converter_factory=plain_converter)
        for method, handler in self._features().items():
            self.client.feature(method)(handler)
        environment = {**os.environ, **self.environment}
        await self.client.start_io(*self.command, env=environment, cwd=self.root)
        self.initialized = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=self.capabilities or capable(),
                process_id=os.getpid(),
                root_uri=self.root.as_uri(),
                client_info=types.ClientInfo(self.name, "1.139.1"),
                initialization_options=dict(self.options),
            )
        )
        self.client.initialized(types.InitializedParams())
        return self

    @property
    def process(self) -> asyncio.subprocess.Process:
        process = self.client._server
        assert isinstance(process, asyncio.subprocess.Process)
        return process

    async def kill(self) -> None:
        """`kill -9` of the server; the buffers stay as they are."""
        self.client._stop_event.set()
        self.process.kill()
        await self.process.wait()
        await self._drop()

    async def restart(self) -> None:
        """Start a new server for the same window: every buffer is opened again as it is."""
        self.diagnostics.clear()
        self.prompts.clear()
        await self.start()
        for document in self.documents.values():
            self._open(document)

    async def stop(self) -> int:
        """Leave as an editor does: shutdown, exit; the server's exit code."""
        await asyncio.wait_for(self.client.shutdown_async(None), PATIENCE)
        self.client.exit(None)
        self.client._stop_event.set()
        code = await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self._drop()
        return code

    async def _drop(self) -> None:
        for task in self.client._async_tasks:
            task.cancel()
        await asyncio.gather(*self.client._async_tasks, return_exceptions=True)

    # --- what the user does -------------------------------------------------------------------------------------------

    @property
    def encoding(self) -> PositionEncoding:
        """The position encoding that the server chose."""
        chosen = self.initialized.capabilities.position_encoding if self.initialized else None
        known: Mapping[str, PositionEncoding] = {"utf-8": "utf-8", "utf-32": "utf-32"}
        return known.get(str(getattr(chosen, "value", chosen)), "utf-16")

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def open(
        self, path: str, text: str | None = None, *, encoding: str = "utf-8", one_end: str | None = None
    ) -> Document:
        """Open a file by its byte order mark, else in `encoding`. `text` stands for what a restored dirty buffer holds.

        `one_end`: every line end becomes this one, as VS Code does with a file that has several.
        """
        full = self.root / path
        data = full.read_bytes() if full.exists() else b""
        marked = next(((mark, name) for mark, name in MARKS.items() if data.startswith(mark)), (b"", encoding))
        content = data.removeprefix(marked[0]).decode(marked[1]) if text is None else text
        if one_end is not None:
            content = re.sub(r"\r\n|\r|\n", lambda _: one_end, content)
        document = self.documents[path] = Document(full.as_uri(), full, Text(content), 1, marked[1], marked[0])
        self._open(document)
        return document

    def _open(self, document: Document) -> None:
        item = types.TextDocumentItem(document.uri, "plaintext", document.version, str(document.text))
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def text(self, path: str) -> str:
        return str(self.documents[path].text)

    def type(self, path: str, line: int, character: int, new: str, end: tuple[int, int] | None = None) -> None:
        """Type `new` at a place, or over the text from there to `end`; not saved."""
        document = self.documents[path]
        start = Position(line, character)
        self._change(document, Edit(new, Range(start, Position(*end) if end else start)))

    def _change(self, document: Document, *edits: Edit) -> None:
        changes: list[Any] = []
        for edit in edits:
            assert edit.range is not None
            document.text.edit(edit, self.encoding)
            changes.append(types.TextDocumentContentChangePartial(_range(edit.range), edit.text))
        document.version += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=document.uri, version=document.version), changes
            )
        )

    def save(self, path: str) -> None:
        document = self.documents[path]
        document.path.write_bytes(document.bom + str(document.text).encode(document.codec))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(document.uri)))

    def close(self, path: str) -> None:
        document = self.documents.pop(path)
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(document.uri))
        )

    async def run(self, command: str, **argument: Any) -> Any:
        """Run a command of the server; its result as plain data. Raises the Fault it was refused with."""
        params = types.ExecuteCommandParams(command, [argument])
        return await self._ask(self.client.workspace_execute_command_async(params))

    async def view(self) -> dict[str, Any]:
        """`remit/view`: what waits, with the offers that answer it."""
        found = await self._ask(self.client.protocol.send_request_async("remit/view", None))
        assert isinstance(found, dict)
        return found

    async def activate(self, path: str) -> None:
        """Activate a contract or the policy, as it is shown now."""
        found = (await self.view())["activations"]
        await self.run("remit.activate", offer=next(one["offer"] for one in found if one["path"] == path))

    async def _ask(self, coming: Any) -> Any:
        try:
            return await asyncio.wait_for(coming, PATIENCE)
        except JsonRpcException as error:
            data = error.data
            if isinstance(data, dict) and "party" in data:
                raise from_dict(data) from error
            raise

    # --- what the user sees -------------------------------------------------------------------------------------------

    def codes(self, path: str) -> list[str]:
        """The codes of the problems shown for a file, in order."""
        return [str(one.code) for one in self.diagnostics.get(self.uri(path), [])]

    async def until(self, seen: Callable[[], T]) -> T:
        """Wait until something is seen; TimeoutError when it does not come."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = seen()
                if found:
                    return found
                self._moved.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._moved.wait(), 1.0)

    # --- what the server asks -----------------------------------------------------------------------------------------

    def _features(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: lambda params: self._on_diagnostics(params),
            types.WINDOW_SHOW_MESSAGE: lambda params: self._on(self.messages, params.message),
            types.WINDOW_LOG_MESSAGE: lambda params: self._on(self.logged, params),
            types.WINDOW_SHOW_MESSAGE_REQUEST: lambda params: self._on_prompt(params),
            types.WORKSPACE_APPLY_EDIT: lambda params: self._on_edit(params),
            types.WINDOW_SHOW_DOCUMENT: lambda params: self._on_show(params),
            "remit/changed": lambda _params: self._moved.set(),
        }

    def _on(self, where: list[Any], what: Any) -> None:
        where.append(what)
        self._moved.set()

    def _on_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        self.diagnostics[params.uri] = list(params.diagnostics)
        self._moved.set()

    def _on_prompt(self, params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        self._on(self.prompts, params)
        chosen = self.answer_prompt(params)
        return types.MessageActionItem(chosen) if chosen else None

    def _on_show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self._on(self.shown, params.uri)
        return types.ShowDocumentResult(success=True)

    def _on_edit(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self._on(self.edits, params)
        return self.answer_edit(self, params) if self.answer_edit else self.take(params)

    def take(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        """What VS Code does with a versioned edit: all of it, or none when one version is another."""
        for change in params.edit.document_changes or []:
            if isinstance(change, (types.RenameFile, types.DeleteFile)):
                return types.ApplyWorkspaceEditResult(applied=self._operate(change))
        parts = [part for part in params.edit.document_changes or [] if isinstance(part, types.TextDocumentEdit)]
        known = {document.uri: document for document in self.documents.values()}
        for part in parts:
            document = known.get(part.text_document.uri)
            if document is None or part.text_document.version != document.version:
                return types.ApplyWorkspaceEditResult(applied=False)
        for part in parts:
            edits = [
                Edit(str(getattr(edit, "new_text", "")), _from(edit.range))
                for edit in part.edits
                if isinstance(edit, types.TextEdit)
            ]
            self._change(known[part.text_document.uri], *sorted(edits, key=_last_first))
        return types.ApplyWorkspaceEditResult(applied=True)

    def _operate(self, change: types.RenameFile | types.DeleteFile) -> bool:
        """What VS Code does with a file operation: on disk at once; the tab is closed, a renamed one opened anew."""
        old = _path(change.uri if isinstance(change, types.DeleteFile) else change.old_uri)
        new = None if isinstance(change, types.DeleteFile) else _path(change.new_uri)
        if not old.exists() or (new is not None and new.exists()):
            return False
        name = next((name for name, document in self.documents.items() if document.path == old), None)
        text = None if name is None else self.text(name)
        if new is None:
            old.unlink()
        else:
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
        if name is not None:
            self.close(name)
            if new is not None:
                self.open(new.relative_to(self.root).as_posix(), text)
        return True


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def _last_first(edit: Edit) -> tuple[int, int]:
    assert edit.range is not None
    return (-edit.range.start.line, -edit.range.start.character)


def _range(found: Range) -> types.Range:
    return types.Range(
        types.Position(found.start.line, found.start.character), types.Position(found.end.line, found.end.character)
    )


def _from(found: types.Range) -> Range:
    return Range(Position(found.start.line, found.start.character), Position(found.end.line, found.end.character))


def plain_converter() -> Converter:
    """pygls' converter, without its turning of unknown messages into named tuples (names that are no identifiers get
    lost in those)."""
    converter = get_converter()
    for kind in (JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, lambda raw, cls: cls(**raw))
    return converter


def capable(
    *, pull: bool = False, encodings: Sequence[str] = (), operations: Sequence[str] = ()
) -> types.ClientCapabilities:
    """What a full editor says it can do; `pull` adds pulled diagnostics, `operations` those on files."""
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            apply_edit=True,
            workspace_edit=types.WorkspaceEditClientCapabilities(
                document_changes=True,
                resource_operations=[types.ResourceOperationKind(one) for one in operations] or None,
                failure_handling=types.FailureHandlingKind.TextOnlyTransactional,
            ),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True) if pull else None,
        ),
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True),
            diagnostic=types.DiagnosticClientCapabilities() if pull else None,
        ),
        window=types.WindowClientCapabilities(
            show_message=types.ShowMessageRequestClientCapabilities(),
            show_document=types.ShowDocumentClientCapabilities(support=True),
        ),
        general=types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(encoding) for encoding in encodings] or None
        ),
    )
