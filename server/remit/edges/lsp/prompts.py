"""Decisions as `window/showMessageRequest`: each shown once, dismissed is not answered.

A nudge for editors without a view of their own; the durable places are diagnostics and `remit/view`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from remit.core.faults import Fault
from remit.core.finding import Doable
from remit.core.state import DecisionEntry
from remit.mediator import Command
from remit.session import Session


@dataclass(slots=True)
class Prompts:
    """The prompts of one session. `keep` holds a running task; `say` shows a message; `moved` asks to draw again."""

    server: LanguageServer
    session: Session
    keep: Callable[[asyncio.Future[Any]], None]
    say: Callable[[types.MessageType, str], None]
    moved: Callable[[], None]
    shown: set[str] = field(default_factory=set)

    def draw(self) -> None:
        """Show each decision that waits and was not shown yet."""
        pending = {entry.asked.decision: entry for entry in self.session.mediator.state.pending_decisions()}
        self.shown &= pending.keys()
        for name, entry in pending.items():
            if name not in self.shown and entry.asked.options:
                self.shown.add(name)
                self.keep(asyncio.ensure_future(self._show(entry)))

    async def _show(self, entry: DecisionEntry) -> None:
        asked = entry.asked
        offer = self.session.offer(Doable("", "decide", asked.decision))
        params = types.ShowMessageRequestParams(
            type=types.MessageType.Warning,
            message=f"{asked.decision}: {asked.question}" + (f"\n{asked.why}" if asked.why else ""),
            actions=[types.MessageActionItem(option.title) for option in asked.options],
        )
        answer = await self.server.window_show_message_request_async(params)
        if answer is None:
            return
        try:
            self.session.command("decide", Command(offer=offer, option=answer.title))
        except Fault as fault:
            if fault.code == "approval_stale":
                # What it showed has moved: it is shown anew, as it is now.
                self.shown.discard(asked.decision)
                self.moved()
            self.say(types.MessageType.Warning, str(fault))
