"""What a story tells: who did what, what was to be seen, and which promises were kept. Values only, no drawing.

A step tells through its `Teller`; the whole of it, as JSON too, is an `Outcome`. The first broken promise ends a story:
what would come after it rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal

from remit.core.diff import unified

Who = Literal["you", "agent", "remit", "crash"]
Kind = Literal["diff", "problems", "report", "page"]


class Broken(Exception):
    """A promise was not kept; it has been told already."""


@dataclass(frozen=True, slots=True)
class Line:
    """Somebody does or says something."""

    who: Who
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Something to look at, in lines of plain text. The lines of `problems` are `severity|place|code|message`."""

    kind: Kind
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Promise:
    """What Remit promises, whether it was kept this time, and what was seen."""

    text: str
    kept: bool
    seen: str


Telling = Line | Block | Promise


@dataclass(frozen=True, slots=True)
class Scene:
    """One step as it was told, in order."""

    number: int
    title: str
    tellings: tuple[Telling, ...]

    @property
    def promises(self) -> tuple[Promise, ...]:
        return tuple(one for one in self.tellings if isinstance(one, Promise))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A story as far as it went. `seconds` counts from after the set-up."""

    scenes: tuple[Scene, ...]
    untold: tuple[str, ...]
    seconds: float
    workspace: str = ""

    @property
    def promises(self) -> tuple[Promise, ...]:
        return tuple(promise for scene in self.scenes for promise in scene.promises)

    @property
    def broken(self) -> tuple[Promise, ...]:
        return tuple(promise for promise in self.promises if not promise.kept)

    @property
    def exit_code(self) -> int:
        """0 only when every step was told and every promise kept."""
        return 1 if self.broken or self.untold else 0

    def data(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "steps": [_scene(scene) for scene in self.scenes],
            "untold": list(self.untold),
            "kept": len(self.promises) - len(self.broken),
            "broken": len(self.broken),
            "seconds": round(self.seconds, 2),
            **({"workspace": self.workspace} if self.workspace else {}),
        }


def _scene(scene: Scene) -> dict[str, Any]:
    return {
        "title": scene.title,
        "told": [asdict(one) for one in scene.tellings if not isinstance(one, Promise)],
        "promises": [asdict(promise) for promise in scene.promises],
    }


@dataclass(slots=True)
class Teller:
    """Takes down what one step tells."""

    tellings: list[Telling] = field(default_factory=list)

    def say(self, who: Who, text: str) -> None:
        self.tellings.append(Line(who, text))

    def show(self, kind: Kind, title: str, lines: Sequence[str]) -> None:
        self.tellings.append(Block(kind, title, tuple(lines)))

    def promise(self, text: str, kept: bool, seen: object) -> None:
        """A promise, and what was seen of it. Raises Broken when it was not kept."""
        self.tellings.append(Promise(text, kept, seen if isinstance(seen, str) else repr(seen)))
        if not kept:
            raise Broken(text)

    def same(self, text: str, seen: object, wanted: object) -> None:
        """A promise that two things are the same."""
        self.promise(text, seen == wanted, seen if seen == wanted else f"{seen!r} instead of {wanted!r}")

    def exact(self, text: str, seen: str, wanted: str) -> None:
        """A promise that a whole text is the wanted one, byte for byte; a difference is told as a diff."""
        data = seen.encode()
        name = f"{len(data)} bytes, sha256 {sha256(data).hexdigest()[:12]}…"
        self.promise(
            text, seen == wanted, name if seen == wanted else f"{name}\n{unified(wanted, seen, 'wanted', 'seen')}"
        )

    def refused(self, text: str, answer: Mapping[str, Any], code: str) -> None:
        """A promise that something is refused by this name; `answer` is what came of it (see `stage.attempt`)."""
        found = answer.get("refused")
        if found is not None:
            self.say("remit", f"refuses ({found}): {answer.get('message')}")
        self.promise(text, found == code, f"{found}: {answer.get('message')}" if found else f"not refused: {answer!r}")
