"""What the client said of itself when it connected: its workspace, its abilities, its options.

Reads `InitializeParams` and nothing else; what follows from an ability is decided where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from remit.core.text import PositionEncoding
from remit.mediator import Abilities


def root(params: types.InitializeParams) -> Path | None:
    """The first workspace folder; the others are not served yet."""
    folders = params.workspace_folders or []
    uri = folders[0].uri if folders else params.root_uri
    path = uris.to_fs_path(uri) if uri else params.root_path
    return Path(path) if path else None


def options(params: types.InitializeParams) -> Mapping[str, Any]:
    """`initializationOptions`: prompts, outsideScope (both true unless said otherwise), rebase."""
    found = params.initialization_options
    return found if isinstance(found, dict) else {}


def rebase(settings: Any) -> Literal["auto", "ask"] | None:
    """The setting `remit.rebase` as a client sends it: under `remit`, or alone; None where nothing usable is said."""
    inner = settings.get("remit", settings) if isinstance(settings, Mapping) else None
    said = inner.get("rebase") if isinstance(inner, Mapping) else None
    known: Mapping[Any, Literal["auto", "ask"]] = {"auto": "auto", "ask": "ask"}
    return known.get(said) if isinstance(said, str) else None


def encoding(server: LanguageServer) -> PositionEncoding:
    """The position encoding that pygls agreed on."""
    chosen = str(getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding))
    known: Mapping[str, PositionEncoding] = {"utf-8": "utf-8", "utf-32": "utf-32"}
    return known.get(chosen, "utf-16")


def abilities(params: types.InitializeParams) -> Abilities:
    """What the client can do, as far as it matters for applying."""
    workspace = params.capabilities.workspace
    edit = workspace.workspace_edit if workspace else None
    name = params.client_info.name if params.client_info else ""
    # VS Code's client refuses an edit of another version; Neovim 0.11 applied a stale one and said true (tried).
    compares = bool(edit and edit.document_changes) and name.startswith("Visual Studio Code")
    able = bool(workspace and workspace.apply_edit)
    # An operation is a document change: a client that takes none of those cannot be sent one.
    announced = (edit.resource_operations or ()) if edit and edit.document_changes and able else ()
    operations = tuple(sorted(str(getattr(one, "value", one)) for one in announced))
    handling = edit.failure_handling if edit else None
    return Abilities(able, compares, operations, str(getattr(handling, "value", handling or "")))


def guards(able: Abilities) -> tuple[str, ...]:
    """What stands guard in a session with this client, in the report's words."""
    edits = "versioned edits" if able.compares_versions else "edits verified after"
    return ("journal durable before each answer", f"editor: {edits}", "buffers: attached only", "checks: no sandbox")


def versioned(params: types.InitializeParams) -> bool:
    """Whether edits can carry the version they were made for."""
    workspace = params.capabilities.workspace
    return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)


def pulls(params: types.InitializeParams) -> bool:
    """Whether the client asks for diagnostics itself, and can be told to ask again.

    Neovim 0.11 asks after each edit only (tried): it would never see what an agent proposes, so it is pushed to.
    """
    text = params.capabilities.text_document
    return bool(text and text.diagnostic) and "diagnostics" in refreshes(params)


def watches(params: types.InitializeParams) -> bool:
    """Whether the client can be asked to tell what changes on disk."""
    workspace = params.capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    return bool(watching and watching.dynamic_registration)


def refreshes(params: types.InitializeParams) -> tuple[str, ...]:
    """What the client draws again when asked: `diagnostics`, `lenses`."""
    workspace = params.capabilities.workspace
    diagnostics, lenses = (workspace.diagnostics, workspace.code_lens) if workspace else (None, None)
    wanted = {
        "diagnostics": bool(diagnostics and diagnostics.refresh_support),
        "lenses": bool(lenses and lenses.refresh_support),
    }
    return tuple(name for name, able in wanted.items() if able)
