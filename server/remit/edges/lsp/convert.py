"""Between LSP's words and ours: the only file that has both. `from_x` comes in, `to_x` goes out.

Positions here are in the encoding agreed with the client; URIs become workspace paths and back. Decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from remit.core import paths
from remit.core.effects import BufferEdit, EditBuffers, OperateFile
from remit.core.faults import Fault
from remit.core.finding import Doable, Finding, Region, Severity
from remit.core.text import Edit, Position, PositionEncoding, Range, Text

SOURCE = "remit"
DOCS = Path(__file__).resolve().with_name("diagnostics.md").as_uri()
"""The page that explains each code under a heading of its name; it comes with the package, so it works offline."""

SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


@dataclass(slots=True)
class Uris:
    """URIs of one workspace. The client's own spelling of an open document is kept and used in answers."""

    root: Path
    spelled: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def from_uri(self, uri: str) -> str | None:
        """The workspace path of a URI; None for anything that is not a file below the root."""
        if (known := self.names.get(uri)) is not None:
            return known
        try:
            parts = urlsplit(uri)
            if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
                return None
            full = os.fsdecode(unquote(parts.path, errors="surrogateescape"))
            relative = os.path.relpath(full, self.root)
            if relative.startswith(".."):
                relative = os.path.relpath(
                    os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full)), self.root
                )
            return paths.parse(relative.replace(os.sep, "/"))
        except (Fault, ValueError):
            return None

    def spell(self, uri: str, path: str) -> None:
        """An open document: `uri` is how the client names `path`."""
        self.spelled[path], self.names[uri] = uri, path

    def drop(self, uri: str) -> None:
        path = self.names.pop(uri, None)
        if path is not None:
            self.spelled.pop(path, None)
            if (other := next((uri for uri, named in self.names.items() if named == path), None)) is not None:
                self.spelled[path] = other

    def to_uri(self, path: str) -> str:
        return self.spelled.get(path) or f"file://{quote(str(self.root / path), safe='/~')}"


# --- in ---------------------------------------------------------------------------------------------------------------


def from_range(found: types.Range) -> Range:
    return Range(Position(found.start.line, found.start.character), Position(found.end.line, found.end.character))


def from_change(change: types.TextDocumentContentChangeEvent) -> Edit:
    """One content change; one without a range is the whole text."""
    if isinstance(change, types.TextDocumentContentChangePartial):
        return Edit(change.text, from_range(change.range))
    return Edit(change.text)


# --- out --------------------------------------------------------------------------------------------------------------


def to_position(position: Position) -> types.Position:
    return types.Position(position.line, position.character)


def to_range(region: Region, text: Text, encoding: PositionEncoding) -> types.Range:
    """A region of code points as the client counts it; clamped to the text."""
    last = text.line_count - 1

    def point(line: int, column: int) -> types.Position:
        if line > last:
            return to_position(text.end(encoding))
        return to_position(text.position(line, min(column, len(text.line(line).rstrip("\r\n"))), encoding))

    return types.Range(point(region.line, region.column), point(region.end_line, region.end_column))


def to_workspace_edit(effect: EditBuffers, uris: Uris, *, versioned: bool) -> types.WorkspaceEdit:
    """One edit for all documents: with versions where the client takes them, never with operations mixed in."""
    if not versioned:
        return types.WorkspaceEdit(changes={uris.to_uri(file.path): _text_edits(file) for file in effect.files})
    changes = [
        types.TextDocumentEdit(
            text_document=types.OptionalVersionedTextDocumentIdentifier(
                uri=uris.to_uri(file.path), version=file.version
            ),
            edits=_text_edits(file),
        )
        for file in effect.files
    ]
    return types.WorkspaceEdit(document_changes=changes)


def to_operation(effect: OperateFile, uris: Uris) -> types.WorkspaceEdit:
    """One file operation that overwrites nothing and fails when it has nothing to do."""
    if effect.to is None:
        options = types.DeleteFileOptions(recursive=False, ignore_if_not_exists=False)
        return types.WorkspaceEdit(document_changes=[types.DeleteFile(uris.to_uri(effect.path), options=options)])
    names = {"old_uri": uris.to_uri(effect.path), "new_uri": uris.to_uri(effect.to)}
    never = types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
    return types.WorkspaceEdit(document_changes=[types.RenameFile(**names, options=never)])


def _text_edits(file: BufferEdit) -> list[Any]:
    edits = []
    for edit in file.edits:
        assert edit.range is not None
        edits.append(types.TextEdit(types.Range(to_position(edit.range.start), to_position(edit.range.end)), edit.text))
    return edits


def to_diagnostic(
    finding: Finding, texts: Mapping[str, Text], uris: Uris, encoding: PositionEncoding
) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(uris.to_uri(path), to_range(region, texts[path], encoding)), message=message
        )
        for path, region, message in finding.related
    ]
    return types.Diagnostic(
        range=to_range(finding.region, texts[finding.path], encoding),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(href=f"{DOCS}#{finding.code}"),
        source=SOURCE,
        related_information=related or None,
        data=dict(finding.data) if finding.data else None,
    )


def to_command(doable: Doable, offer: str) -> types.Command:
    """The command that answers an offer, with the one argument every command of ours takes."""
    argument: dict[str, Any] = {"path": doable.target} if doable.act == "show" else {"offer": offer}
    if doable.option:
        argument["option"] = doable.option
        if doable.title.startswith("Answer “"):
            argument["text"] = doable.option
    return types.Command(title=doable.title, command=f"remit.{doable.act}", arguments=[argument])


def to_code_action(
    doable: Doable, offer: str, diagnostic: types.Diagnostic, uri: str, spot: types.Range | None
) -> types.CodeAction:
    """A quick fix: a command that answers the offer, or an edit of the human's own text at `spot`."""
    if doable.edit is not None and spot is not None:
        return types.CodeAction(
            title=doable.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=doable.preferred or None,
            edit=types.WorkspaceEdit(changes={uri: [types.TextEdit(spot, doable.edit[1])]}),
        )
    return types.CodeAction(
        title=doable.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=doable.preferred or None,
        command=to_command(doable, offer),
    )


def overlaps(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges share a place; an empty one counts as its line."""

    def lines(found: types.Range) -> tuple[int, int]:
        return found.start.line, found.end.line

    return lines(one)[0] <= lines(other)[1] and lines(other)[0] <= lines(one)[1]


def paths_of(found: Iterable[Finding]) -> set[str]:
    """Every path that a set of findings names."""
    return {path for one in found for path in (one.path, *(related for related, _, _ in one.related))}
