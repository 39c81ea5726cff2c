"""Every LSP method and command that is served, with its handler; the server's life from its first message to its last.

What the handlers do is `door`'s business; frames are `wire`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from remit.edges.lsp.door import Door, Opener
from remit.edges.lsp.wire import Protocol, loop
from remit.mediator import COMMANDS


def _features(door: Door) -> Mapping[str, tuple[Callable[..., Any], Any]]:
    """Every LSP method that is served, with its registration options."""
    return {
        types.INITIALIZE: (door.on_initialize, None),
        types.INITIALIZED: (door.on_initialized, None),
        types.SHUTDOWN: (door.on_shutdown, None),
        types.TEXT_DOCUMENT_DID_OPEN: (door.on_open, None),
        types.TEXT_DOCUMENT_DID_CHANGE: (door.on_change, None),
        types.TEXT_DOCUMENT_DID_SAVE: (door.on_save, types.SaveOptions(include_text=False)),
        types.TEXT_DOCUMENT_DID_CLOSE: (door.on_close, None),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: (door.on_settings, None),
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (door.on_watched, None),
        types.TEXT_DOCUMENT_DIAGNOSTIC: (
            door.on_diagnostic,
            types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="remit"),
        ),
        types.TEXT_DOCUMENT_CODE_ACTION: (
            door.on_code_action,
            types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Source]),
        ),
        types.TEXT_DOCUMENT_CODE_LENS: (door.on_code_lens, types.CodeLensOptions(resolve_provider=False)),
        types.TEXT_DOCUMENT_HOVER: (door.on_hover, None),
        "remit/view": (door.on_view, None),
    }


def build(opener: Opener, version: str) -> tuple[LanguageServer, Door]:
    """The server with every method and command registered, not yet reading."""
    server = LanguageServer("remit", version, protocol_cls=Protocol)
    door = Door(server, opener)
    for method, (handler, options) in _features(door).items():
        server.feature(method, options)(partial(handler))
    for name in COMMANDS:
        server.command(f"remit.{name}")(_command(door, name))
    server.command("remit.report")(lambda *arguments: door.on_report(_first(arguments)))
    server.command("remit.show")(lambda *arguments: door.on_show(_first(arguments)))
    return server, door


def serve(opener: Opener, version: str) -> int:
    """Serve one editor on stdio until it leaves; the exit code (1 when it left without shutdown)."""
    server, door = build(opener, version)

    async def life() -> None:
        try:
            await loop(server)
        finally:
            ended = opener.end()
            if asyncio.iscoroutine(ended):
                await ended

    asyncio.run(life())
    return 0 if door.server.protocol._shutdown else 1


def _command(door: Door, name: str) -> Callable[..., Any]:
    def handler(*arguments: Any) -> Any:
        return door.on_command(name, _first(arguments))

    return handler


def _first(arguments: tuple[Any, ...]) -> Any:
    return arguments[0] if arguments else None
