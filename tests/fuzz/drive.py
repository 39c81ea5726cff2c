"""One fuzzer in a process of its own: `python -m fuzz.drive NAME RUNS FOLDER [bug]`.

Where atheris is installed, libFuzzer leads by the coverage of remit's own code, and most of its steps are ours: words
and lines, which chance would hardly put together. Elsewhere only our steps are made, seeded, from the seeds. The exit status is 0 when all runs were well; otherwise the input is in FOLDER/crash-*.
Limits: 1 second of this process' own time for one input, and 20 of the clock, so that a busy machine is no fault.
"""

from __future__ import annotations

import importlib
import random
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz.targets import Target

SLOW = 1.0
"""Seconds of processor time for one input."""
LONGEST = 4096
FOUND = 77
"""The exit status for a broken promise: libFuzzer's own."""


def targets() -> dict[str, Target]:
    """All fuzzers by name."""
    core, doors = importlib.import_module("fuzz.targets"), importlib.import_module("fuzz.wires")
    return {target.name: target for target in (*core.TARGETS, *doors.WIRES)}


def timed(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The check, and that it does not take long."""

    def run(data: bytes) -> None:
        start = process_time()
        check(data)
        spent = process_time() - start
        assert spent < SLOW, f"{spent:.1f} s for {len(data)} bytes"

    return run


def led(atheris: Any, target: Target, runs: int, folder: Path) -> None:
    """Inputs by libFuzzer. It ends this process by itself, with 0 or the status of what it found."""
    seeds, words = folder / "seeds", folder / "words"
    seeds.mkdir(parents=True)
    for number, seed in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    options = (f"-runs={runs}", "-seed=1", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=4096", f"-dict={words}")
    atheris.Setup([target.name, *options, f"-artifact_prefix={folder}/", str(seeds)], timed(target.check))
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def blind(target: Target, runs: int, folder: Path) -> int:
    """Inputs from the seeds by chance alone: the same ones each time."""
    chance, run = random.Random(target.name), timed(target.check)
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(runs):
        data = mutated(chance, target, chance.choice(target.seeds))
        try:
            run(data)
        except BaseException as error:
            (folder / f"crash-{sha256(data).hexdigest()[:40]}").write_bytes(data)
            print(repr(error), file=sys.stderr)  # noqa: T201
            return FOUND
    return 0


_TOKENS = (re.compile(rb"\w+|\W"), re.compile(rb"[^\n]*\n|[^\n]+"), re.compile(rb"[\s\S]"))


def mutated(chance: random.Random, target: Target, data: bytes) -> bytes:
    """The input with some words, lines or bytes of it cut, doubled, moved, or put in from the words and the seeds."""
    for _ in range(chance.randint(1, 4)):
        parts = chance.choice(_TOKENS).findall(data)
        at = chance.randint(0, len(parts))
        end = min(len(parts), at + chance.choice((0, 1, 1, 2, 5)))
        parts[at:end] = _instead(chance, target, parts, parts[at:end])
        data = b"".join(parts)[:LONGEST]
    return data


def _instead(chance: random.Random, target: Target, parts: list[bytes], old: list[bytes]) -> list[bytes]:
    word = chance.choice(target.words).encode()
    match chance.randrange(8):
        case 0:
            return []
        case 1:
            return old + old
        case 2:
            return [chance.choice(parts)] if parts else [word]
        case 3:
            return [word] * (chance.randint(2, 40) if chance.random() < 0.1 else 1)
        case 4:
            return [word, *old]
        case 5:
            return [str(chance.choice((0, 1, 2, 3, 7, 10**4, 10**20))).encode()]
        case 6:
            seed = chance.choice(target.seeds)
            return chance.choice(_TOKENS).findall(seed)[: chance.randint(0, 8)]
        case _:
            return [bytes([chance.randrange(256)])]


def main(name: str, runs: str, folder: str, bug: str = "") -> int:
    atheris = importlib.import_module("atheris") if find_spec("atheris") else None
    if atheris is None:
        target = targets()[name]
    else:
        with atheris.instrument_imports(include=["remit"]):
            target = targets()[name]
    if bug:
        target.bug()
    if atheris is None:
        return blind(target, int(runs), Path(folder))
    led(atheris, target, int(runs), Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
