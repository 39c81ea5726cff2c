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

from remit.core.entries import DecisionEntry
from remit.core.faults import Fault
from remit.core.finding import Doable, asks
from remit.mediator import Command
from remit.session import Session

QUIET = 1.5
"""Seconds without typing before a prompt is shown."""


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
        if (left := self._typing()) > 0:
            # In some editors a prompt takes the keyboard: what the human is typing must not become its answer.
            asyncio.get_running_loop().call_later(left, self.moved)
            return
        for name, entry in pending.items():
            if name not in self.shown and entry.asked.options:
                self.shown.add(name)
                self.keep(asyncio.ensure_future(self._show(entry)))

    def _typing(self) -> float:
        """Seconds until the human has not typed for a while; 0 when that is so, or nothing new is to be shown."""
        memory, clock = self.session.mediator.memory, self.session.mediator.clock
        waiting = {entry.asked.decision for entry in self.session.mediator.state.pending_decisions()} - self.shown
        last = max((buffer.changed_at for buffer in memory.mirror.buffers.values() if buffer.version > 1), default=None)
        return max(0.0, last + QUIET - clock.monotonic()) if waiting and last is not None else 0.0

    async def _show(self, entry: DecisionEntry) -> None:
        asked = entry.asked
        offer = self.session.offer(Doable("", "decide", asked.decision))
        params = types.ShowMessageRequestParams(
            type=types.MessageType.Warning,
            message=f"{asked.decision}: {asks(self.session.peek(), asked)}" + (f"\n{asked.why}" if asked.why else ""),
            actions=[types.MessageActionItem(option.title) for option in asked.options],
        )
        answer = await self.server.window_show_message_request_async(params)
        if answer is None:
            return
        chosen = next((option.id for option in asked.options if option.title == answer.title), answer.title)
        try:
            self.session.command("decide", Command(offer=offer, option=chosen))
        except Fault as fault:
            if fault.code == "approval_stale":
                # What it showed has moved: it is shown anew, as it is now.
                self.shown.discard(asked.decision)
                self.moved()
            self.say(types.MessageType.Warning, str(fault))
