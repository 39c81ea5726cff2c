"""Plays a story: one step after the other on one stage, until it ends or a promise breaks.

Which steps there are is `story`; how they look is `screen`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from remit.edges.demo.editor import Editor
from remit.edges.demo.stage import Stage, raised
from remit.edges.demo.told import Broken, Outcome, Scene, Teller


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the story. `picture`: it belongs into the one picture of the README."""

    title: str
    act: Callable[[Stage, Teller], Awaitable[None]]
    picture: bool = False


async def play(
    steps: Sequence[Step],
    folder: Path,
    watch: Callable[[Scene], None] = lambda _scene: None,
    cast: type[Editor] = Editor,
    pause: float = 0.0,
) -> Outcome:
    """Play the steps in `folder` (empty, private); `watch` is handed each scene as soon as it was played.

    `pause`: seconds between two scenes. Raises Fault when the stage cannot be set up.
    """
    scenes: list[Scene] = []
    async with raised(folder, cast) as stage:
        began = time.monotonic()
        for number, step in enumerate(steps, 1):
            scene = await _played(number, step, stage)
            scenes.append(scene)
            watch(scene)
            if any(not promise.kept for promise in scene.promises):
                break
            if pause and number < len(steps):
                await asyncio.sleep(pause)
        seconds = time.monotonic() - began
    return Outcome(tuple(scenes), tuple(step.title for step in steps[len(scenes) :]), seconds)


async def _played(number: int, step: Step, stage: Stage) -> Scene:
    """The scene. Whatever else goes wrong in it is a broken promise too: the step did not go through."""
    teller = Teller()
    try:
        await step.act(stage, teller)
    except Broken:
        pass
    except Exception as error:  # noqa: BLE001 -- whatever it is, the reader is told where the story stopped and why
        _unforeseen(teller, error)
    return Scene(number, step.title, tuple(teller.tellings))


def _unforeseen(teller: Teller, error: Exception) -> None:
    try:
        teller.promise("The step goes through.", False, f"{type(error).__name__}: {error}")
    except Broken:
        return


def picture(steps: Sequence[Step], outcome: Outcome) -> Outcome:
    """The outcome with only the scenes that belong into the picture."""
    titles = {step.title for step in steps if step.picture}
    return replace(outcome, scenes=tuple(scene for scene in outcome.scenes if scene.title in titles))
