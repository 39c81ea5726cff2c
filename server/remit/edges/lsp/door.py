"""The handlers of LSP messages: each translates, calls the session, and translates back.

Handlers that change state are plain `def`: pygls runs them to their end before the next message. The session itself
is opened by whoever starts the door.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pydantic import ValidationError
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from remit.core import report
from remit.core.effects import EditBuffers, Edited, Operated, OperateFile, RunCheck
from remit.core.faults import Fault, UserFault, WorldFault
from remit.edges.lsp import client, convert
from remit.edges.lsp.convert import Uris
from remit.edges.lsp.prompts import Prompts
from remit.edges.lsp.view import View
from remit.mediator import Command
from remit.session import Session

STIRRED = 1.0
"""Seconds between looks at the files that are shown."""

BURST = 0.03
"""Seconds in which changes are gathered before the editor is told: a keystroke is not delayed by drawing."""

LONG = 1_000_000
"""Characters of a document whose lines the garbage collector is told to leave alone."""

log = logging.getLogger(__name__)


REFRESH: Mapping[str, Callable[[LanguageServer], Any]] = {
    "diagnostics": lambda server: server.workspace_diagnostic_refresh(None),
    "lenses": lambda server: server.workspace_code_lens_refresh(None),
}


@dataclass(slots=True)
class Opener:
    """How the door gets its session: `open` at initialize (a Fault: another one owns the workspace), `begin` once the
    loop runs, `end` at the last."""

    open: Callable[[Path], Session]
    begin: Callable[[Session], Any]
    run: Callable[[RunCheck, Session], Any]
    end: Callable[[], Any]


@dataclass(slots=True)
class Door:
    """What the handlers share."""

    server: LanguageServer
    opener: Opener
    session: Session | None = None
    view: View | None = None
    fault: Fault | None = None
    prompts: Prompts | None = None
    refreshes: tuple[Callable[[LanguageServer], Any], ...] = ()
    versioned: bool = True
    watching: bool = False
    warned: set[str] = field(default_factory=set)
    waiting: asyncio.TimerHandle | None = None
    tasks: set[asyncio.Future[Any]] = field(default_factory=set)

    def ready(self) -> tuple[Session, View]:
        """The session, or why there is none."""
        if self.session is None or self.view is None:
            raise self.fault or WorldFault("not_ready", "Remit has not been initialised with a workspace folder.")
        return self.session, self.view

    # --- life ---------------------------------------------------------------------------------------------------------

    def on_initialize(self, params: types.InitializeParams) -> None:
        root = client.root(params)
        if root is None:
            self.fault = UserFault("no_workspace", "Remit needs a workspace folder.", remedy="Open a folder.")
            return
        try:
            self.session = self.opener.open(root)
        except Fault as fault:
            self.fault = fault
            return
        self._wire(self.session, params, root)

    def _wire(self, session: Session, params: types.InitializeParams, root: Path) -> None:
        options, able = client.options(params), client.abilities(params)
        self.versioned, self.watching = client.versioned(params), client.watches(params)
        self.refreshes = tuple(REFRESH[name] for name in client.refreshes(params))
        self.view = View(
            session,
            Uris(Path(os.path.realpath(root))),
            pulls=client.pulls(params),
            hints=options.get("outsideScope", True) is not False,
            publish=self.server.text_document_publish_diagnostics,
        )
        if options.get("prompts", True) is not False:
            self.prompts = Prompts(self.server, session, self.keep, self.say, self.moved)
        session.edit, session.operate = self.edit, self.operate
        session.run = lambda effect: self.opener.run(effect, session)
        session.wake, session.notify = self.wake, partial(self.say, types.MessageType.Warning)
        session.subscribe(self.moved)
        info = params.client_info
        name, version = (info.name, info.version or "") if info else ("unknown editor", "")
        session.attach("editor", name, version, client.encoding(self.server), able, client.guards(able))
        self._set(options)

    def on_settings(self, params: types.DidChangeConfigurationParams) -> None:
        self._set(params.settings)

    def _set(self, settings: Any) -> None:
        if self.session is not None and (rebase := client.rebase(settings)) is not None:
            self.session.configure(rebase)

    def on_initialized(self, _params: types.InitializedParams) -> None:
        if self.session is None:
            if self.fault is not None:
                self.say(types.MessageType.Warning, str(self.fault))
            return
        self.keep(asyncio.ensure_future(self.opener.begin(self.session)))
        self.keep(asyncio.ensure_future(self.watch(self.session)))
        self.moved()

    async def watch(self, session: Session) -> None:
        """Notice what other programs write: the client tells, and what is shown is looked at once a second."""
        if self.watching:
            every = types.FileSystemWatcher(glob_pattern="**/*")
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=[every])
            registration = types.Registration("remit-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            params = types.RegistrationParams(registrations=[registration])
            self.keep(asyncio.ensure_future(self.server.client_register_capability_async(params)))
        while True:
            await asyncio.sleep(STIRRED)
            if session.stirred():
                self.moved()

    def on_shutdown(self, _params: None) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
        for task in list(self.tasks):
            task.cancel()

    def keep(self, task: asyncio.Future[Any]) -> None:
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        """What fails with nobody waiting for it is said: without its socket, no agent can come in."""
        self.tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if isinstance(fault, Fault):
            self.say(types.MessageType.Error, str(fault))
        elif isinstance(fault, JsonRpcException):
            log.warning("The editor refused a request: %s", fault)
        elif fault is not None:
            log.error("A task failed.", exc_info=fault)

    def guarded(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Run something that nobody waits for: what goes wrong is logged once."""
        try:
            call(*arguments)
        except Fault as fault:
            self.say(types.MessageType.Error, str(fault))
        except Exception:
            log.exception("A delayed step failed.")

    def say(self, kind: types.MessageType, message: str) -> None:
        self.server.window_show_message(types.ShowMessageParams(kind, message))

    # --- documents ----------------------------------------------------------------------------------------------------

    def on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = self._path(document.uri)
        if path is None or self.session is None or self.view is None:
            return
        self.view.uris.spell(document.uri, path)
        self.warned.discard(document.uri)
        self.session.opened(path, document.version, document.text, document.uri)
        if len(document.text) > LONG:
            # Its lines live as long as it is open: a collection that visits each would be felt while typing.
            gc.collect()
            gc.freeze()
        if self.session.mediator.memory.mirror.doubted(path):
            self._doubt(document.uri, "this file is open under another name as well")
        self.moved()

    def on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        path = self._path(document.uri)
        if path is None or self.session is None:
            return
        edits = [convert.from_change(change) for change in params.content_changes]
        doubt = self.session.changed(path, document.version, edits, document.uri)
        if doubt is not None:
            self._doubt(document.uri, doubt)
        self.moved()

    def on_save(self, params: types.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = self._path(uri)
        if path is None or self.session is None:
            return
        if not self.session.saved(path, uri):
            self._doubt(uri, "saved before it was opened")
        self.moved()

    def on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = self._path(uri)
        if path is None or self.session is None or self.view is None:
            return
        if not self.session.closed(path, uri):
            self._doubt(uri, "closed before it was opened")
        self.view.uris.drop(uri)
        self.moved()

    def on_watched(self, _params: types.DidChangeWatchedFilesParams) -> None:
        if self.session is not None:
            self.session.mediator.sight.nudge()
            self.moved()

    def _path(self, uri: str) -> str | None:
        """The real path of the file that a URI names; of an open document, the one it had when it was opened."""
        if self.view is None or self.session is None:
            return None
        path = self.view.uris.from_uri(uri)
        return path if path is None or uri in self.view.uris.names else self.session.real(path)

    def _doubt(self, uri: str, why: str) -> None:
        if uri not in self.warned:
            self.warned.add(uri)
            message = f"{uri}: {why}; nothing is applied to it until it is opened again."
            self.server.window_log_message(types.LogMessageParams(types.MessageType.Warning, message))

    # --- drawing ------------------------------------------------------------------------------------------------------

    def moved(self) -> None:
        """Something changed: draw once the burst is over."""
        if self.view is None:
            return
        self.view.moved()
        if self.waiting is None:
            self.waiting = asyncio.get_running_loop().call_later(BURST, self.guarded, self.draw)

    def draw(self) -> None:
        self.waiting = None
        session, view = self.ready()
        view.push()
        for refresh in self.refreshes:
            refresh(self.server)
        self.server.protocol.notify("remit/changed", {"seq": session.mediator.state.seq})
        if self.prompts is not None:
            self.prompts.draw()

    def wake(self, seconds: float) -> None:
        session, _ = self.ready()
        asyncio.get_running_loop().call_later(seconds, self.guarded, session.woken)

    # --- effects ------------------------------------------------------------------------------------------------------

    def edit(self, effect: EditBuffers) -> None:
        edit = convert.to_workspace_edit(effect, self.ready()[1].uris, versioned=self.versioned)
        self.keep(asyncio.ensure_future(self._ask(effect, edit, Edited)))

    def operate(self, effect: OperateFile) -> None:
        edit = convert.to_operation(effect, self.ready()[1].uris)
        self.keep(asyncio.ensure_future(self._ask(effect, edit, Operated)))

    async def _ask(self, effect: EditBuffers | OperateFile, edit: types.WorkspaceEdit, kind: Any) -> None:
        try:
            answer = await self.server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, effect.label))
            outcome = kind(effect.action, answer.applied, answer.failure_reason or "", effect.undo)
        except JsonRpcException as error:
            reason = f"the editor answered with an error: {error}"[:200]
            outcome = kind(effect.action, False, reason, effect.undo)
        self.guarded(self.ready()[0].happened, outcome)

    # --- requests -----------------------------------------------------------------------------------------------------

    def on_diagnostic(self, params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        path = self._path(params.text_document.uri)
        items = [] if path is None or self.view is None else self.view.pull(path)
        return types.RelatedFullDocumentDiagnosticReport(items=items)

    def on_code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        path = self._path(params.text_document.uri)
        return [] if path is None else self.ready()[1].actions(path, params.range)

    def on_code_lens(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        path = self._path(params.text_document.uri)
        return [] if path is None or self.view is None else self.view.lenses(path)

    def on_hover(self, params: types.HoverParams) -> types.Hover | None:
        path = self._path(params.text_document.uri)
        return None if path is None or self.view is None else self.view.hover(path, params.position)

    def on_view(self, _params: Any) -> dict[str, Any]:
        """`remit/view`: everything that waits, each with the offer that answers it."""
        session, _ = self.ready()
        return session.overview()

    def on_command(self, command: str, argument: Any) -> dict[str, Any]:
        """`workspace/executeCommand` for an offer."""
        session, _ = self.ready()
        try:
            parsed = Command.model_validate(argument or {}, by_alias=True, by_name=False)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise UserFault("invalid_params", f"remit.{command}: {first['msg']}.", remedy="Give {offer: …}.") from error
        done = session.command(command, parsed)
        self.moved()
        return {"result": done}

    def on_report(self, argument: Any) -> Any:
        """`remit.report`: the account of a task, as Markdown or JSON."""
        session, _ = self.ready()
        wanted = argument if isinstance(argument, dict) else {}
        found = session.report(wanted.get("task"))
        return found.wire() if wanted.get("format") == "json" else report.markdown(found)

    def on_show(self, argument: Any) -> None:
        """`remit.show`: bring a file of the workspace to the front."""
        _, view = self.ready()
        path = argument.get("path") if isinstance(argument, dict) else None
        if isinstance(path, str):
            params = types.ShowDocumentParams(uri=view.uris.to_uri(path), take_focus=True)
            self.keep(asyncio.ensure_future(self.server.window_show_document_async(params)))
