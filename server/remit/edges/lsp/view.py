"""What the editor is shown, and when: findings turned into diagnostics, lenses, hovers and actions.

Keeps the last findings until something moves; recomputes at most once a burst. Pull for open documents where the
client asks, push for everything else, never both for one document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from remit.core import diff, rebasing, undoing
from remit.core.finding import Doable, Finding
from remit.core.plain import visible
from remit.core.text import Text
from remit.edges.lsp import convert
from remit.edges.lsp.convert import Uris
from remit.session import Session

LENSES = frozenset(
    {
        "patch-pending",
        "patch-stale",
        "applied-not-reviewed",
        "contract-not-active",
        "contract-changed",
        "policy-changed",
        "decision-pending",
        "protected-path",
        "outcome-unknown",
        "check-not-run",
        "check-stale",
        "check-failed",
    }
)
"""The findings that carry their answers as lenses, besides as code actions."""

CLASHES = 5
"""Conflicts of which a hover shows the other side."""

SHOWN = 400
"""Lines of a hunk that a hover shows."""


@dataclass(slots=True)
class View:
    """The drawing of one session for one client."""

    session: Session
    uris: Uris
    pulls: bool
    hints: bool
    publish: Callable[[types.PublishDiagnosticsParams], None]
    _found: tuple[Finding, ...] | None = None
    _texts: dict[str, Text] = field(default_factory=dict)
    _published: dict[str, list[types.Diagnostic]] = field(default_factory=dict)

    @property
    def encoding(self) -> Any:
        return self.session.mediator.memory.mirror.encoding

    def moved(self) -> None:
        """Something changed: what was computed no longer counts."""
        self._found = None
        self._texts.clear()

    def findings(self) -> tuple[Finding, ...]:
        if self._found is None:
            self._found = self.session.findings(outside_hints=self.hints)
        return self._found

    def at(self, path: str) -> list[Finding]:
        return [found for found in self.findings() if found.path == path]

    def text(self, path: str) -> Text:
        """The present text of a file, for positions."""
        if path not in self._texts:
            buffer = self.session.mediator.memory.mirror.buffers.get(path)
            self._texts[path] = buffer.text if buffer else Text(self.session.peek().glance(path).text)
        return self._texts[path]

    def diagnostics(self, found: Iterable[Finding]) -> list[types.Diagnostic]:
        every = list(found)
        texts = {path: self.text(path) for path in convert.paths_of(every)}
        return [convert.to_diagnostic(one, texts, self.uris, self.encoding) for one in every]

    # --- diagnostics --------------------------------------------------------------------------------------------------

    def push(self) -> bool:
        """Publish what has changed for every document that is not pulled; whether anything at all moved."""
        mirror = self.session.mediator.memory.mirror
        # By URI: what was published under a name that the client no longer uses is taken back under that name.
        wanted: dict[str, list[types.Diagnostic]] = {}
        versions: dict[str, int] = {}
        for path in sorted({found.path for found in self.findings()}):
            if self.pulls and path in mirror.buffers:
                continue
            uri = self.uris.to_uri(path)
            wanted[uri] = self.diagnostics(self.at(path))
            if path in mirror.buffers:
                versions[uri] = mirror.buffers[path].version
        moved = False
        for uri in sorted({*wanted, *self._published}):
            now = wanted.get(uri, [])
            if now != self._published.get(uri, []):
                moved = True
                self.publish(types.PublishDiagnosticsParams(uri, now, versions.get(uri)))
        self._published = wanted
        return moved

    def pull(self, path: str) -> list[types.Diagnostic]:
        """Nothing for a client that is pushed to: it would show everything twice."""
        return self.diagnostics(self.at(path)) if self.pulls else []

    # --- what can be done ---------------------------------------------------------------------------------------------

    def actions(self, path: str, where: types.Range) -> list[types.CodeAction]:
        """Everything that can be done about what is at a place."""
        shown: list[tuple[Doable, types.Diagnostic]] = []
        for found in self.at(path):
            diagnostic = self.diagnostics([found])[0]
            if convert.overlaps(diagnostic.range, where):
                shown += [(one, diagnostic) for one in found.doable]
        offers = self.session.offers(one for one, _ in shown)
        out = [self._action(one, offer, at, path) for (one, at), offer in zip(shown, offers, strict=True)]
        return out + self._taking_back(path)

    def _taking_back(self, path: str) -> list[types.CodeAction]:
        """The last applied proposal of this file, if it can be taken back on the text as it is now."""
        entry = undoing.newest(self.session.peek(), path)
        if entry is None:
            return []
        name = entry.outline.proposal
        doable = Doable(f"Take back {name}, keep what was written since", "undo", name)
        if not (offer := self.session.offer(doable)):
            return []
        kind = types.CodeActionKind.Source
        return [types.CodeAction(title=doable.title, kind=kind, command=convert.to_command(doable, offer))]

    def _action(self, doable: Doable, offer: str, diagnostic: types.Diagnostic, path: str) -> types.CodeAction:
        spot = convert.to_range(doable.edit[0], self.text(path), self.encoding) if doable.edit else None
        return convert.to_code_action(doable, offer, diagnostic, self.uris.to_uri(path), spot)

    def lenses(self, path: str) -> list[types.CodeLens]:
        """The same above the lines, each once a line."""
        shown: dict[tuple[int, str, str], tuple[Doable, types.Range]] = {}
        for found in self.at(path):
            if found.code in LENSES:
                where = convert.to_range(found.region, self.text(path), self.encoding)
                for doable in found.doable:
                    shown.setdefault((where.start.line, doable.title, doable.target), (doable, where))
        offers = self.session.offers(doable for doable, _ in shown.values())
        return [
            types.CodeLens(range=where, command=convert.to_command(doable, offer))
            for (doable, where), offer in zip(shown.values(), offers, strict=True)
        ]

    def hover(self, path: str, position: types.Position) -> types.Hover | None:
        """The hunks and decisions at a line, with what they would change."""
        here = types.Range(position, position)
        parts = []
        for found in self.at(path):
            if convert.overlaps(convert.to_range(found.region, self.text(path), self.encoding), here):
                parts.append(self._told(found))
        if not parts:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(dict.fromkeys(parts))))

    def _told(self, found: Finding) -> str:
        data = found.data or {}
        name, hunk_id = data.get("proposal"), data.get("hunk")
        if not isinstance(name, str) or not isinstance(hunk_id, str):
            return f"**Remit** {_escaped(found.message)}"
        turn = self.session.peek()
        proposal = turn.proposal(name)
        pair = proposal.hunk(hunk_id)
        body = "" if pair is None else _fenced(_hunk_diff(pair[1].span()))
        if data.get("shown") == "conflict":
            clashes = (clash for one in rebasing.shown(turn, proposal) for clash in one.clashes)
            theirs = [_hunk_diff(diff.Span(0, clash.base, 0, clash.present)) for clash in clashes][:CLASHES]
            body += "\n\nBut since then:\n\n" + "\n\n".join(map(_fenced, theirs))
        note = f"\n\n{_quoted(proposal.note)}" if proposal.note else ""
        return f"**Remit** {_escaped(found.message)}{note}\n\n{body}"


def _hunk_diff(span: diff.Span) -> str:
    """The hunk, its beginning and its end where it is long: what is left out is counted, never silently gone."""
    lines = [
        f"{sign}{visible(line.rstrip(chr(10)).rstrip(chr(13)))}\n"
        for sign, side in (("-", span.old), ("+", span.new))
        for line in side
    ]
    left = len(lines) - SHOWN
    if left > 0:
        lines[SHOWN // 2 : -SHOWN // 2] = [f"@@ {left} more lines are not shown here; open the review to see them @@\n"]
    return "".join(lines)


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}diff\n{text}{fence}"


def _quoted(text: str) -> str:
    """An agent's words, so that nothing in them acts as Markdown."""
    return "\n".join(f"> {line}" for line in _escaped(text).split("\n"))


def _escaped(text: str) -> str:
    """Text for Markdown: names of files and questions hold whatever others put there, links and entities too."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>()#+-!|&~" else c for c in visible(text))
