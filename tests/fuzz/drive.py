"""One fuzzer in a process of its own: `python -m fuzz.drive NAME RUNS FOLDER`.

First the control: a child of it with a seeded bug in the code must find that bug, and the input it finds must be no
fault of the code as it is. Then RUNS inputs go to the code as it is.

Where atheris is installed, libFuzzer leads by the coverage of remit's own code, and one in four of its steps is ours:
words and lines, which chance would hardly put together. Elsewhere all are, from the seeds. Both begin from one seed each time; libFuzzer's inputs are the same again only for the same code, Python and atheris.

The exit status is 0 when all runs were well; 77 for a broken promise, with the input in FOLDER/sound/crash-* and, in
base64, in what is said; 1 when the control failed.
Limits: 1 second of this process' own time for one input, and 120 of the clock, so that a busy machine is no fault.
"""

from __future__ import annotations

import importlib
import logging
import os
import random
import re
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz.targets import Target

SLOW = 1.0
"""Seconds of processor time for one input."""
CONTROL = 1_000_000
"""Inputs in which a seeded bug has to be found. Here 50 000 are enough; how many differs with Python and libFuzzer."""
FOUND = 77
"""The exit status for a broken promise: libFuzzer's own."""


LONG_RUN = 1_000_000
RUNS = {
    "targets": {
        "unified": 30_000,
        "envelope": 50_000,
        "place": 20_000,
        "contract": 30_000,
        "policy": 20_000,
        "chain": 50_000,
        "path": 30_000,
        "scope": 30_000,
    },
    "texts": {"text": 20_000, "codec": 50_000, "names": 20_000, "printed": 8_000, "merge": 10_000, "swap": 8_000},
    "records": {"journal": 50_000, "event": 50_000, "small": 50_000, "ignore": 20_000},
    "wires": {"socket": 50_000, "request": 50_000, "uri": 30_000, "lsp": 50_000},
}
"""Inputs of each target where not REMIT_DEPTH=long is asked for (LONG_RUN), by the module that has it."""


def target_of(name: str) -> Target:
    """The fuzzer of this name. Only its own module is read: the others would cost more time than most runs."""
    module = next(module for module, runs in RUNS.items() if name in runs)
    found: Target = importlib.import_module(f"fuzz.{module}").TARGETS[name]
    return found


def timed(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The check, and that it does not take long."""

    def run(data: bytes) -> None:
        start = process_time()
        check(data)
        spent = process_time() - start
        assert spent < SLOW, f"{spent:.1f} s for {len(data)} bytes"

    return run


def led(atheris: Any, target: Target, runs: int, folder: Path) -> int:
    """Inputs by libFuzzer. It ends this process by itself, with 0 or the status of what it found."""
    seeds, words = folder / "seeds", folder / "words"
    seeds.mkdir(parents=True)
    for number, seed in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.pieces()))
    options = (
        f"-runs={runs}",
        "-seed=1",
        f"-max_len={target.longest}",
        "-timeout=120",
        "-mutate_depth=2",
        "-rss_limit_mb=4096",
        f"-dict={words}",
    )

    def step(data: bytes, size: int, seed: int) -> bytes:
        if seed % 4 == 0:
            return mutated(random.Random(seed), target, data)[:size]
        made: bytes = atheris.Mutate(data, size)
        return made

    arguments = [target.name, *options, f"-artifact_prefix={folder}/", str(seeds)]
    atheris.Setup(arguments, timed(target.check), custom_mutator=step)
    atheris.Fuzz()
    return 0


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


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
            print(repr(error), b64encode(data).decode(), file=sys.stderr)
            return FOUND
    print(f"Done {runs} runs by chance", file=sys.stderr)
    return 0


_TOKENS = (re.compile(rb"\w+|\W"), re.compile(rb"\w+|\W"), re.compile(rb"[^\n]*\n|[^\n]+"), re.compile(rb"[\s\S]"))


def mutated(chance: random.Random, target: Target, data: bytes) -> bytes:
    """The input with some words, lines or bytes of it cut, doubled, moved, or put in from the words and the seeds."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        parts = chance.choice(_TOKENS).findall(data)
        at = chance.randint(0, len(parts))
        end = min(len(parts), at + chance.choice((0, 1, 1, 1, 1, 2, 5)))
        parts[at:end] = _instead(chance, target, parts, parts[at:end])
        data = b"".join(parts)[: target.longest]
    return data


def _instead(chance: random.Random, target: Target, parts: list[bytes], old: list[bytes]) -> list[bytes]:
    word = chance.choice(target.pieces())
    match chance.randrange(10):
        case 0:
            return []
        case 1:
            return old + old
        case 2:
            return [chance.choice(parts)] if parts else [word]
        case 3 | 8 | 9:
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


def controlled(target: Target, fuzz: Callable[[int, Path], int], folder: Path) -> bool:
    """Does a child of this process find the seeded bug, and only that?"""
    child = os.fork()
    if child == 0:
        target.bug()
        os._exit(fuzz(CONTROL, folder))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    crashes = list(folder.glob("crash-*"))
    for crash in crashes:
        timed(target.check)(crash.read_bytes())
    return status == FOUND and len(crashes) == 1


def main(name: str, runs: str, place: str) -> int:
    logging.disable(logging.CRITICAL)
    atheris = importlib.import_module("atheris") if find_spec("atheris") else None
    with atheris.instrument_imports(include=["remit"]) if atheris else nullcontext():
        target = target_of(name)
    fuzz = partial(blind, target) if atheris is None else partial(led, atheris, target)
    if not controlled(target, fuzz, Path(place) / "control"):
        print(f"{name}: the seeded bug was not found", flush=True)
        return 1
    return fuzz(int(runs), Path(place) / "sound")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
