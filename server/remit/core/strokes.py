"""Who changed an open buffer, change by change, so that it can be said who moved it away from an earlier content.

What the client tells is a range and a text, never a hand: some of this is judged by its look, as said at each. It is
told to people and agents and decides nothing. What a change on disk means is `movers`' to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

QUICK = 0.5
"""Seconds between a change and the save behind it within which a formatter made it: a hand is slower."""

KNOWN = 500
"""Digests whose moment is remembered."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """`user`: typed, pasted, or made by another part of the editor. `formatter`: several places at once, right before a
    save. `disk`: the editor loaded what lay there (`name`: its digest). `proposal`: ours (`name`: its id)."""

    by: Literal["user", "formatter", "disk", "proposal"]
    name: str = ""


USER, FORMATTER = Stroke("user"), Stroke("formatter")


@dataclass(slots=True)
class Strokes:
    """The changes of one buffer since it was opened, in runs of one kind."""

    step: int = 0
    _runs: list[tuple[int, Stroke]] = field(default_factory=list)
    _at: dict[str, int] = field(default_factory=dict)
    _wide: bool = False
    _when: float = 0.0

    def note(self, now: float, *, wide: bool) -> None:
        """The buffer was changed; `wide`: in several places, or over several lines."""
        self.step += 1
        self._wide, self._when = wide, now
        if not self._runs or self._runs[-1][1] != USER:
            self._runs.append((self.step, USER))

    def named(self, digest: str, step: int) -> None:
        """After so many changes the buffer was the content of that digest."""
        if self._at.get(digest, -1) < step:
            self._at.pop(digest, None)
            self._at[digest] = step
            if len(self._at) > KNOWN:
                del self._at[next(iter(self._at))]

    def proposed(self, proposal: str) -> None:
        """The last change was a proposal's."""
        self._label(Stroke("proposal", proposal))

    def loaded(self, before: str, now: str) -> None:
        """The buffer is what lies on disk now (`now`), and was what lay there (`before`) until the last change."""
        if self._at.get(before) == self.step - 1:
            self._label(Stroke("disk", now))

    def saved(self, now: float) -> None:
        """The client says that it saved: it wrote, it did not load."""
        last = self._runs[-1][1] if self._runs else None
        if last is not None and last.by in ("user", "disk"):
            self._label(FORMATTER if self._wide and now - self._when <= QUICK else USER)
        self._wide = False

    def since(self, digest: str) -> tuple[Stroke, ...] | None:
        """Who has changed it since it was that content, each once, oldest first; None when that is not known."""
        at = self._at.get(digest)
        return None if at is None else self._after(at)

    def every(self) -> tuple[Stroke, ...]:
        """Who has changed it since it was opened."""
        return self._after(0)

    def _after(self, step: int) -> tuple[Stroke, ...]:
        ends = chain((first - 1 for first, _ in self._runs[1:]), (self.step,))
        return tuple(dict.fromkeys(stroke for (_, stroke), end in zip(self._runs, ends, strict=False) if end > step))

    def _label(self, stroke: Stroke) -> None:
        """Say otherwise who made the last change."""
        if not self._runs:
            return
        first, said = self._runs[-1]
        if said != stroke:
            if first == self.step:
                self._runs.pop()
            self._runs.append((self.step, stroke))
