"""One showing of the demo: what was asked for on the command line in, drawn or as JSON, the exit code out."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from rich.console import Console

from remit.edges.demo import screen
from remit.edges.demo.editor import Editor
from remit.edges.demo.play import picture, play
from remit.edges.demo.screen import Screen
from remit.edges.demo.stage import folder, published
from remit.edges.demo.story import STORY

PAUSE = 2.5
"""Seconds between two scenes when somebody wants to read along."""


@dataclass(frozen=True, slots=True)
class Wish:
    """`as_json` tells data instead of drawing; `keep` leaves the folder; `svg` is where a picture goes."""

    as_json: bool = False
    keep: bool = False
    slow: bool = False
    svg: Path | None = None


def show(wish: Wish, out: TextIO = sys.stdout, cast: type[Editor] = Editor) -> int:
    """Play the story; 0 when every promise was kept. Raises Fault when it cannot be set up."""
    drawn = None if wish.as_json else _screen(out)
    with folder(wish.keep) as place:
        if drawn is not None:
            drawn.opening(published())
        watch = drawn.scene if drawn is not None else lambda _scene: None
        outcome = asyncio.run(play(STORY, place, watch, cast, PAUSE if wish.slow else 0.0))
        if wish.keep:
            outcome = replace(outcome, workspace=str(place / "project"))
    if drawn is not None:
        drawn.closing(outcome)
    if wish.svg is not None and outcome.exit_code == 0:
        wish.svg.write_text(screen.picture(picture(STORY, outcome)), encoding="utf-8")
    if wish.as_json:
        out.write(json.dumps(outcome.data(), ensure_ascii=True, indent=2) + "\n")
    return outcome.exit_code


def _screen(out: TextIO) -> Screen:
    """A screen on this stream; characters that it cannot take become question marks, not an error."""
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="replace")
    return Screen(Console(file=out, markup=False, emoji=False))
