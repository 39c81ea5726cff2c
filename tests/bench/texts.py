"""T2, T3 and T7 in process: a keystroke on the mirror of a buffer, and its digest on request.

The peers: a plain list of lines, pygls's document, and hashlib on bytes that lie ready.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.workspace import TextDocument

from bench.ratio import Case, Row, measure, now, repeated
from remit.core.mirror import Mirror
from remit.core.text import Edit, Position, Range, Text


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of the texts, in lines, and how often each case is measured."""

    sizes: tuple[int, ...] = (1_000, 100_000, 1_000_000)
    served: tuple[int, ...] = (1_000, 10_000)
    proposals: int = 20
    hostile: int = 25_000
    rounds: int = 9
    folder: Path = Path()


def lines(size: int, script: str = "") -> list[str]:
    """Lines as code has them, all different, 53 characters each; one in ten with `script` in it."""
    return [f"    line {n:07} = compute({n % 97:02}, 'some words', {script * (n % 10 == 0)}x)\n" for n in range(size)]


def keystrokes(scale: Scale) -> Iterator[Row]:
    """T2, T3: a character comes and goes in the middle; a line comes and goes."""
    times: dict[tuple[str, str, int], float] = {}
    for size in scale.sizes:
        cases: dict[str, Case] = {}
        for what, new, end in (("char", "x", (0, 1)), ("line", "a new line\n", (1, 0))):
            middle = size // 2
            cases[f"remit {what}"] = repeated(_text(lines(size), middle, new, end), 200)
            cases[f"list {what}"] = repeated(_plain(lines(size), middle, new), 200)
            if size <= 100_000:
                cases[f"pygls {what}"] = _document(lines(size), middle, new, end)
        for name, seconds in measure(cases, scale.rounds).items():
            who, what = name.split(" ")
            times[who, what, size] = seconds
    small, large = scale.sizes[0], scale.sizes[-1]
    for what in ("char", "line"):
        flat = times["remit", what, large] / times["remit", what, small]
        yield Row("T2", f"{what} in and out, {large:,} lines / {small:,}", flat, 2.5, note="in process")
        for size in scale.sizes:
            mine = times["remit", what, size]
            yield Row("T3", f"{what}, {size:,} lines / a plain list of lines", mine / times["list", what, size])
            if ("pygls", what, size) in times:
                bare = mine / times["pygls", what, size]
                yield Row("T3", f"{what}, {size:,} lines / pygls TextDocument", bare, 0.6, note="in process")


def _text(content: list[str], middle: int, new: str, end: tuple[int, int]) -> Case:
    text = Text("".join(content))
    start, stop = Position(middle, 0), Position(middle + end[0], end[1])
    there, back = Edit(new, Range(start, start)), Edit("", Range(start, stop))

    def both() -> None:
        text.edit(there, "utf-16")
        text.edit(back, "utf-16")

    return both


def _plain(content: list[str], middle: int, new: str) -> Case:
    def char() -> None:
        content[middle] = new + content[middle]
        content[middle] = content[middle][len(new) :]

    def line() -> None:
        content.insert(middle, new)
        del content[middle]

    return line if new.endswith("\n") else char


def _document(content: list[str], middle: int, new: str, end: tuple[int, int]) -> Case:
    document = TextDocument("file:///x", "".join(content))
    start, stop = types.Position(middle, 0), types.Position(middle + end[0], end[1])
    there = types.TextDocumentContentChangePartial(types.Range(start, start), new)
    back = types.TextDocumentContentChangePartial(types.Range(start, stop), "")

    def both() -> None:
        document.apply_change(there)
        document.apply_change(back)

    return both


def digests(scale: Scale) -> Iterator[Row]:
    """T7: the digest of a buffer that has just been edited, against hashlib on the same bytes, ready."""
    for size in scale.sizes[1:]:
        cases: dict[str, Case] = {}
        for script, name in (("", "ASCII"), ("é€", "1 line in 10 not ASCII")):
            content = "".join(lines(size, script))
            cases[f"remit {name}"] = _digest(content, size // 2)
            cases[f"hashlib {name}"] = _hashed(content.encode())
        times = measure(cases, scale.rounds)
        for name in ("ASCII", "1 line in 10 not ASCII"):
            yield Row(
                "T7",
                f"digest, {size:,} lines, {name} / hashlib",
                times[f"remit {name}"] / times[f"hashlib {name}"],
                1.8,
            )


def _digest(content: str, middle: int) -> Callable[[], float]:
    mirror = Mirror()
    buffer = mirror.open("x", 1, content, content.encode(), 0.0)

    def asked() -> float:
        place = Position(middle, 4)
        mirror.change("x", buffer.version + 1, [Edit("x", Range(place, place))], 0.0)
        return timed(buffer.digest)

    return asked


def _hashed(data: bytes) -> Callable[[], float]:
    return lambda: timed(lambda: hashlib.sha256(data).hexdigest())


def timed(case: Case) -> float:
    """The seconds of one call."""
    start = now()
    case()
    return now() - start
