"""Remit's diffs of real changes against git's: how many lines and hunks, and whether they are the same ones.

Where the changes come from: `test_history`. Rewrites, which Remit tells as one change where git tells shreds, are
counted apart.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from differential.test_history import Change, commits, namesakes, versions
from remit.core.diff import between

pytestmark = pytest.mark.deep

Hunk = tuple[int, int, int, int]


class Tally(NamedTuple):
    """Sums over changes: lines and hunks by Remit, by git's histogram and its least change; how many are all alike."""

    changes: int
    lines: tuple[int, int, int]
    hunks: tuple[int, int, int]
    alike: int


def git(folder: Path, old: bytes, new: bytes, *words: str) -> list[Hunk]:
    for name, text in (("old", old), ("new", new)):
        (folder / name).write_bytes(text)
    command = ["git", "diff", "--no-index", "--no-color", "--text", "-U0", *words, "--", "old", "new"]
    said = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    found = []
    for head in re.finditer(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", said, re.MULTILINE):
        i, n, j, m = (1 if number is None else int(number) for number in head.groups())
        found.append((i - (n > 0), n, j - (m > 0), m))
    return found


def remit(old: bytes, new: bytes) -> list[Hunk]:
    one, two = (side.decode("utf-8", "surrogateescape") for side in (old, new))
    return [(span.old_start, len(span.old), span.new_start, len(span.new)) for span in between(one, two)]


def pairs(changes: Sequence[Change]) -> list[tuple[bytes, bytes]]:
    """The files that each change has before and after, once each."""
    both = chain.from_iterable(((one.before[name], one.after.get(name)) for name in one.before) for one in changes)
    return list(dict.fromkeys((old, new) for old, new in both if new is not None and old != new))


def tally(found: Sequence[tuple[list[Hunk], ...]]) -> Tally:
    sums = [[sum(n + m for _, n, _, m in told[who]) for told in found] for who in range(3)]
    counts = [[len(told[who]) for told in found] for who in range(3)]
    lines, hunks = ((sum(of[0]), sum(of[1]), sum(of[2])) for of in (sums, counts))
    return Tally(len(found), lines, hunks, sum(mine == histogram for mine, histogram, _ in found))


def told(folder: Path, changes: Sequence[Change], most: int) -> list[tuple[list[Hunk], ...]]:
    return [
        (remit(old, new), git(folder, old, new, "--histogram"), git(folder, old, new, "--minimal"))
        for old, new in pairs(changes)[:most]
    ]


def test_commits_are_told_as_git_tells_them(tmp_path: Path) -> None:
    """This checkout's own history; where there is none, two versions of installed modules stand in."""
    found = told(tmp_path, [*commits(), *versions()], 300)
    edits = tally([each for each in found if len(each[0]) > 1 or len(each[1]) == 1])
    assert edits.changes >= 20
    assert edits.lines[0] <= 1.02 * min(edits.lines[1:])
    assert edits.hunks[0] <= 1.02 * edits.hunks[1]
    assert edits.alike >= 0.7 * edits.changes


def test_rewrites_are_told_in_few_hunks(tmp_path: Path) -> None:
    """Modules of one name and nothing else in common: fewer hunks than git has, and hardly more lines."""
    found = told(tmp_path, list(namesakes()), 150)
    every = tally(found)
    torn = tally([each for each in found if len(each[0]) > 1])
    assert every.hunks[0] <= 0.6 * every.hunks[1]
    assert every.lines[0] <= 1.05 * min(every.lines[1:])
    assert torn.lines[0] <= 1.02 * torn.lines[1]
