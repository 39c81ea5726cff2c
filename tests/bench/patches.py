"""T8, T9 and T10 in process: a patch read, and its place found. Peers: git as a process, unidiff alone."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from unidiff.patch import PatchSet

from bench.diffs import git, scattered, written
from bench.ratio import Case, Row, busy, exponent, measure
from bench.texts import Scale, lines
from remit.core import diff, patch, place
from remit.core.faults import Fault


def _refusable(case: Callable[[], object]) -> Case:
    """What may be refused: the time it takes to say so counts as well."""

    def answered() -> None:
        try:
            case()
        except Fault:
            return

    return answered


def _printed(size: int, share: float) -> str:
    """A diff of a file of that size, as git would send it."""
    content = lines(size)
    new = scattered(content, share, random.Random(size))
    return diff.unified("".join(content), "".join(new), "a/f.py", "b/f.py")


def parsing(scale: Scale) -> Iterator[Row]:
    """T8: diffs of ordinary sizes against git apply --numstat and unidiff alone."""
    small = scale.sizes[0]
    made = {
        "10 changed lines": (_printed(small, 0.01), 1.0),
        f"{small} changed lines": (_printed(2 * small, 0.5), 1.0),
        f"{10 * small} diff lines": (_printed(4 * small, 0.7), 1.0),
        f"{20 * small} changed lines in one hunk": (_added(20 * small), 8.0),
    }
    for name, (text, bound) in made.items():
        folder = written(scale.folder / f"parse{name}", p=text)
        cases: dict[str, Case] = {
            "remit": lambda text=text: patch.parse(text),  # type: ignore[misc]
            "git": lambda folder=folder: git(folder, "apply", "--numstat", "p"),  # type: ignore[misc]
            "unidiff": lambda text=text: PatchSet(text),  # type: ignore[misc]
        }
        times = measure(cases, scale.rounds)
        yield Row("T8", f"parse, {name} / git apply --numstat", times["remit"] / times["git"], bound)
        note = "unidiff itself is inside, behind checks"
        yield Row("T8", f"parse, {name} / unidiff", times["remit"] / times["unidiff"], 0.2, note=note)


def _added(count: int) -> str:
    return "--- a/f\n+++ b/f\n@@ -1 +1," + f"{count + 1} @@\n a\n" + "+some words in a line\n" * count


def shapes(size: int) -> dict[str, str]:
    """Patches that make a careless reader slow, `size` lines or so each."""
    few = max(1, size // 10)
    return {
        "one hunk of added lines": _added(size),
        "one hunk of context": f"--- a/f\n+++ b/f\n@@ -1,{size + 1} +1,{size} @@\n" + " same\n" * size + "-x\n",
        "many hunks": "--- a/f\n+++ b/f\n" + "".join(f"@@ -{9 * n + 1} +{9 * n + 1} @@\n-a\n+b\n" for n in range(few)),
        "many files": "".join(f"--- a/f{n}\n+++ b/f{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in range(few)),
        "one long line": f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{'a' * 50 * size}\n+{'b' * 50 * size}\n",
        "a header of many b/": "diff --git a/" + "x b/" * size + "x\n",
        "counts too small": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n" + "-a\n+b\n" * (size // 2),
        "only prose": "some words\n" * size,
        "blank lines in a hunk": f"--- a/f\n+++ b/f\n@@ -1,{size + 1} +1,{size} @@\n" + "\n" * size + "-x\n",
    }


def hostile(scale: Scale) -> Iterator[Row]:
    """T8: how the time grows from n to 4n lines on nine shapes."""
    texts = {size: shapes(size) for size in (scale.hostile // 5, 4 * (scale.hostile // 5))}
    for name in shapes(10):
        cases: dict[str, Case] = {
            str(size): busy(_refusable(lambda text=made[name]: patch.parse(text)))  # type: ignore[misc]
            for size, made in texts.items()
        }
        small, large = measure(cases, max(3, scale.rounds // 2)).values()
        yield Row("T8", f"parse, {name}: exponent", exponent(small, large, 4), 1.1, "")


def _check(folder: Path) -> Case:
    def check() -> None:
        subprocess.run(["git", "apply", "--check", "p"], cwd=folder, capture_output=True, check=False)

    return check


def placing(scale: Scale) -> Iterator[Row]:
    """T9, T10: read and placed, against git apply --check; exact, off by some lines, nowhere, in several places."""
    times: dict[tuple[str, int], float] = {}
    for size in scale.sizes:
        content = lines(size)
        old = "".join(content)
        middle = size // 2
        near = 0.25 if size <= 1_000 else 0.05
        edited = [*content[:middle], "an edited line\n", *content[middle + 1 :]]
        exact = diff.unified(old, "".join(edited), "a/f", "b/f")
        ten = list(content)
        for n in range(10):
            ten[(n * size) // 10 + 5] = f"an edited line {n}\n"
        asked = {"1 hunk, exact": (old, exact, "T9", near)}
        if size <= 100_000:
            asked |= {
                "10 hunks, exact": (old, diff.unified(old, "".join(ten), "a/f", "b/f"), "T9", near),
                "137 lines off": ("x\n" * 137 + old, exact, "T10", 0.25),
                "no match": (old.replace(f"{middle - 1:07}", "gone"), exact, "T10", 0.25),
            }
        for name, (text, diffed, target, bound) in asked.items():
            ratio = _placed(scale, f"{name}{size}", text, diffed, times, (name, size))
            yield Row(target, f"{name}, {size:,} lines / git apply --check", ratio, bound, note="in process")
    small, large = scale.sizes[0], scale.sizes[-1]
    flat = times["1 hunk, exact", large] / times["1 hunk, exact", small]
    yield Row("T9", f"1 hunk, exact, {large:,} lines / {small:,}", flat, 2.0, note="in process")
    yield from _repetitive(scale)


def _placed(
    scale: Scale, name: str, text: str, diffed: str, times: dict[tuple[str, int], float], key: tuple[str, int]
) -> float:
    folder = written(scale.folder / f"place{name}", f=text, p=diffed)
    remit = _refusable(lambda: place.place(text, patch.parse(diffed).files[0].chunks))
    found = measure({"remit": remit, "git": _check(folder)}, scale.rounds)
    times[key] = found["remit"]
    return found["remit"] / found["git"]


def _repetitive(scale: Scale) -> Iterator[Row]:
    """T10: a thousand equal lines as context, in a text of nothing else."""
    size, context = scale.sizes[1], min(1_000, scale.sizes[1] // 10)
    text = "same\n" * size
    made = {
        "absent line behind": (context, 0, 0.1),
        "absent line before": (0, context, 0.1),
        "ambiguous": (context, context, 0.25),
    }
    for name, (before, behind, bound) in made.items():
        gone = "same" if name == "ambiguous" else "absent"
        count = before + behind + 1
        diffed = f"--- a/f\n+++ b/f\n@@ -{size * 2},{count} +{size * 2},{count} @@\n"
        diffed += " same\n" * before + f"-{gone}\n+new\n" + " same\n" * behind
        ratio = _placed(scale, name, text, diffed, {}, (name, size))
        yield Row("T10", f"{size:,} equal lines, {name} / git apply --check", ratio, bound, note="in process")
