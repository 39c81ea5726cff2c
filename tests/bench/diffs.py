"""T12 and T13: a change told from two whole texts, and three texts merged; git is the peer, as a process."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.ratio import Case, Row, busy, exponent, measure
from bench.texts import Scale, lines
from remit.core import diff

FEW = ["a\n", "b\n", "    c\n", "}\n"]


def git(folder: Path, *words: str) -> bytes:
    """What git says, run in the folder."""
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False).stdout


def written(folder: Path, **texts: str) -> Path:
    """The folder, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return folder


def scattered(content: list[str], share: float, chance: random.Random) -> list[str]:
    """The lines with a share of them taken out, put in or changed."""
    out: list[str] = []
    for line in content:
        match chance.randrange(3) if chance.random() < share else 3:
            case 0:
                continue
            case 1:
                out += [line, f"new {chance.randrange(10**6)}\n"]
            case 2:
                out.append(f"changed {chance.randrange(10**6)}\n")
            case _:
                out.append(line)
    return out


def _changes(size: int) -> Iterator[tuple[str, list[str], list[str], float]]:
    chance = random.Random(size)
    content = lines(size)
    middle = size // 2
    local = [*content[:middle], "one edited line\n", *content[middle + 1 :]]
    few = chance.choices(FEW, k=size)
    yield "1 local edit", content, local, 0.25
    if size <= 100_000:
        yield "1 % scattered", content, scattered(content, 0.01, chance), 1.3
        moved = scattered(few, 0.01, chance)
        yield "four different lines, 1 %", few, [line if line in FEW else "a\n" for line in moved], 1.3


def told(scale: Scale) -> Iterator[Row]:
    """T12: the time against git's, and the changed lines against git's."""
    for size in scale.sizes:
        for name, old, new, bound in _changes(size):
            one, two = "".join(old), "".join(new)
            folder = written(scale.folder / f"diff{size}{bound}{len(name)}", a=one, b=two)
            cases: dict[str, Case] = {"remit": _between(one, two), "git": _diff(folder)}
            times = measure(cases, scale.rounds)
            yield Row("T12", f"{name}, {size:,} lines / git diff --no-index", times["remit"] / times["git"], bound)
            counts = git(folder, "diff", "--no-index", "--numstat", "a", "b").split() or [b"0", b"0"]
            mine = sum(len(span.old) + len(span.new) for span in diff.between(one, two))
            share = mine / max(1, int(counts[0]) + int(counts[1]))
            yield Row("T12", f"{name}, {size:,} lines: changed lines / git's", share, 1.02)


def _between(old: str, new: str) -> Callable[[], object]:
    return lambda: diff.between(old, new)


def _diff(folder: Path) -> Callable[[], object]:
    return lambda: git(folder, "diff", "--no-index", "a", "b")


def shapes(size: int) -> dict[str, tuple[list[str], list[str]]]:
    """Pairs of texts that make a careless comparison grow with the square."""
    chance = random.Random(size)
    content = [f"line {n}\n" for n in range(size)]
    twice = [f"line {n // 2}\n" for n in range(size)]
    nested = [f"{text}\n" for n in range(size // 3) for text in (f"u{n + 1}", f"u{n}", "old")]
    return {
        "shuffled": (content, chance.sample(content, size)),
        "reversed": (content, content[::-1]),
        "each line twice, shuffled": (twice, chance.sample(twice, size)),
        "four different lines": (chance.choices(FEW, k=size), chance.choices(FEW, k=size)),
        "one line, repeated": (["x\n"] * size, [*["x\n"] * (size - size // 9), "y\n", *["x\n"] * (size // 9)]),
        "two lines in turn": (["a\n", "b\n"] * (size // 2), ["b\n", "a\n", "c\n"] * (size // 3)),
        "nested pairs": (nested, [line.replace("old", "new") for line in nested]),
        "nothing shared": (content, [f"other {n}\n" for n in range(size)]),
        "every second line": (content, [line if n % 2 else f"other {n}\n" for n, line in enumerate(content)]),
    }


def hostile(scale: Scale) -> Iterator[Row]:
    """T12: how the time grows from n to 4n lines, shape by shape."""
    sides = {size: shapes(size) for size in (scale.hostile, 4 * scale.hostile)}
    for name in shapes(12):
        cases: dict[str, Case] = {
            str(size): busy(_between("".join(pairs[name][0]), "".join(pairs[name][1]))) for size, pairs in sides.items()
        }
        small, large = measure(cases, max(3, scale.rounds // 2)).values()
        power = exponent(small, large, 4)
        yield Row("T12", f"{name}, {scale.hostile:,} to {4 * scale.hostile:,} lines: exponent", power, 1.2, "")


def _edited(content: list[str], places: range, word: str) -> str:
    out = list(content)
    for place in places:
        out[place] = f"{word} {place}\n"
    return "".join(out)


def merges(scale: Scale) -> Iterator[Row]:
    """T13: eighteen cases (distinct lines or four kinds; three sizes; three ways to edit), against git merge-file."""
    for size in (scale.sizes[0], 10 * scale.sizes[0], 100 * scale.sizes[0]):
        chance = random.Random(size)
        for kind, base in (("distinct", lines(size)), ("four different", chance.choices(FEW, k=size))):
            half = size // 2
            ways = {
                "two edits": (range(size // 4, size // 4 + 1), range(half + size // 4, half + size // 4 + 1)),
                "1 % in each half": (range(0, half - 9, 100), range(half + 9, size, 100)),
                "1 %, both": (range(0, size, 100), range(0, size, 150)),
            }
            for way, (mine, other) in ways.items():
                yield from _merge(scale, size, f"{kind} lines, {way}", base, mine, other)


def _merge(scale: Scale, size: int, what: str, base: list[str], mine: range, other: range) -> Iterator[Row]:
    text, ours, theirs = "".join(base), _edited(base, mine, "ours"), _edited(base, other, "theirs")
    folder = written(scale.folder / f"merge{size}{what}", base=text, ours=ours, theirs=theirs)
    command = ("merge-file", "-p", "-q", "ours", "base", "theirs")
    cases: dict[str, Case] = {
        "remit": lambda: diff.merge(text, ours, theirs),
        "git": lambda: git(folder, *command),
    }
    times = measure(cases, scale.rounds)
    bound = 1.4 if size <= 1_000 else 3.0
    yield Row("T13", f"merge, {what}, {size:,} / git merge-file", times["remit"] / times["git"], bound)
    merged = diff.merge(text, ours, theirs)
    found = len(merged.regions) if isinstance(merged, diff.Conflict) else 0
    conflicts = git(folder, *command).count(b"<<<<<<< ")
    note = f"{found} here, {conflicts} by git"
    yield Row("T13", f"merge, {what}, {size:,}: conflicts unlike git's", abs(found - conflicts), 0, "", note)
