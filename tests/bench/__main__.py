"""`make bench`: targets as ratios, in a table; `BENCH="--only T12"` for one, `BENCH="--json FILE"` for programs.

What is measured lives in `texts`, `diffs`, `patches` and `served`; how, in `ratio`; figures, in docs/performance.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import diffs, patches, served, texts
from bench.ratio import Row, as_json, table
from bench.texts import Scale

PARTS: dict[str, tuple[tuple[str, ...], Callable[[Scale], Iterator[Row]]]] = {
    "keystrokes in process": (("T2", "T3"), texts.keystrokes),
    "digests": (("T7",), texts.digests),
    "patches read": (("T8",), patches.parsing),
    "hostile patches": (("T8",), patches.hostile),
    "patches placed": (("T9", "T10"), patches.placing),
    "changes told": (("T12",), diffs.told),
    "hostile texts": (("T12",), diffs.hostile),
    "merges": (("T13",), diffs.merges),
    "keystrokes through the server": (("T1", "T2", "T3", "T4"), served.keystrokes),
    "proposals through the server": (("T9", "T11"), served.proposals),
}
TINY = Scale((100, 400, 800), (50, 100), 2, 200, 3)
"""Sizes at which it is only seen that everything runs."""


def run(
    scale: Scale, only: Sequence[str], say: Callable[[str], object] = lambda _: None, parts: Collection[str] = PARTS
) -> list[Row]:
    """The rows of these parts, or of those among them that have one of the targets named."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="remit-bench-") as folder:
        for name in parts:
            targets, part = PARTS[name]
            if not only or set(only) & set(targets):
                start = time.perf_counter()
                found = list(part(replace(scale, folder=Path(folder).resolve() / str(len(rows)))))
                rows += [row for row in found if not only or row.target in only]
                say(f"{table(found)}{name}: {time.perf_counter() - start:.0f} s\n\n")
    return sorted(rows, key=lambda row: int(row.target.lstrip("T")))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="T12", help="only this target; may come again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    parser.add_argument("--rounds", type=int, default=9, help="times each case is measured")
    parser.add_argument("--tiny", action="store_true", help="only to see that everything runs")
    asked = parser.parse_args(words)
    rows = run(replace(TINY if asked.tiny else Scale(), rounds=asked.rounds), asked.only, sys.stderr.write)
    if asked.json:
        asked.json.write_text(as_json(rows))
    sys.stdout.write(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
