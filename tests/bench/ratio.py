"""Measuring by ratio: a candidate and its peer in one run, in random order, medians; and what they are held against.

Does not live here: what is measured (`texts`, `patches`, `diffs`, `served`), the words to type (`__main__`).
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

ROUNDS = 9
"""Times that each case is measured, at least; medians are taken."""

Case = Callable[[], object]
"""One thing to measure: it is timed from outside, unless it returns the seconds itself as a float."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `ratio` is None for what was not run; `bound` is None for what has no target."""

    target: str
    what: str
    ratio: float | None
    bound: float | None = None
    unit: str = "x"
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not run"
        if self.bound is None:
            return "-"
        return "met" if self.ratio <= self.bound else "missed"


def measure(cases: Mapping[str, Case], rounds: int = ROUNDS, seed: int = 0) -> dict[str, float]:
    """Seconds of each case: the median over the rounds, each of which has all cases in an order of its own.

    Every case runs once before, unmeasured.
    """
    for case in cases.values():
        case()
    order, chance = list(cases), random.Random(seed)
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        chance.shuffle(order)
        for name in order:
            start = time.perf_counter()
            said = cases[name]()
            taken[name].append(said if isinstance(said, float) else time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def repeated(case: Case, times: int) -> Case:
    """A case that is too short for the clock: so many times, told as the seconds of one."""

    def many() -> float:
        start = time.perf_counter()
        for _ in range(times):
            case()
        return (time.perf_counter() - start) / times

    return many


def busy(case: Case) -> Case:
    """A case told in seconds of this process at work, whatever else the machine does: for how a time grows."""

    def worked() -> float:
        start = time.process_time()
        case()
        return time.process_time() - start

    return worked


def exponent(small: float, large: float, factor: float) -> float:
    """The power of the size with which the time grows, if `large` took so much for `factor` times the size."""
    return math.log(max(large, 1e-12) / max(small, 1e-12)) / math.log(factor)


def table(rows: Sequence[Row]) -> str:
    """The rows for reading, their columns aligned."""
    lines = [("target", "what", "here", "wanted", "verdict", "")]
    for row in rows:
        here = "" if row.ratio is None else f"{row.ratio:.3g}{row.unit}"
        wanted = "" if row.bound is None else f"<= {row.bound:g}{row.unit}"
        lines.append((row.target, row.what, here, wanted, row.verdict, row.note))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    told = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[5]]) for line in lines
    ]
    return "\n".join(line.rstrip() for line in told) + "\n"


def as_json(rows: Sequence[Row]) -> str:
    """The rows for programs."""
    return json.dumps([asdict(row) | {"verdict": row.verdict} for row in rows], indent=2) + "\n"
