"""Remit's reading and placing held against `git apply`, on generated pairs of files and patch, in both directions.

git's own diffs and Remit's, whole and damaged, go to both judges: the same bytes, or both refuse, or the difference is
in the table with its reason. Where git refuses or makes other bytes, a witness must say the same as Remit (`witness`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from depth import depth
from differential import makers
from differential.judge import Done, Git, Refused, remit
from differential.makers import MISHAPS, MUTATIONS, Pair
from differential.table import explained, listing, names
from differential.witness import backs, beyond

PAIRS = depth(2000, 8000)
PARTS = 8
SHOWN = {
    "line ends": 0,
    "counted anew": 1,
    "no context": 4,
    "byte order mark": 5,
    "first line moved": 6,
    "end of the patch": 25,
    "stray lines": 64,
    "nothing to do": 68,
    "names apart": 81,
    "file twice": 123,
    "counts too small": 149,
    "lines too many": 187,
    "no context, elsewhere": 196,
    "several places": 235,
    "unclear name": 317,
    "torn header": 325,
    "headers in CRLF": 340,
    "deletion without text": 536,
    "last line cut": 5175,
    "no prefixes": 894,
    "byte order mark, elsewhere": 906,
    "no prefixes, other file": 2950,
    "no text": 5423,
    "loose here, exact there": 7716,
    "one place twice": 8086,
}
"""A seed that shows each line of the table."""


@pytest.mark.deep
@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_bytes_or_both_refuse(part: int, tmp_path: Path) -> None:
    git, counts, unknown, doubtful = Git(tmp_path / "git"), Counter[str](), list[str](), list[str]()
    for seed in range(part, PAIRS, PARTS):
        pair = makers.pair(git, seed)
        verdicts = git.apply(pair.files, pair.patch), remit(pair.files, pair.patch)
        found = explained(pair, *verdicts)
        counts[found or "unknown"] += 1
        if found is None:
            unknown.append(f"{seed} ({pair.what}): {verdicts}")
        elif found != "same" and isinstance(verdicts[1], Done) and not backs(git, pair, verdicts[1]):
            if not beyond(pair):
                doubtful.append(f"{seed} ({pair.what}), {found}: {verdicts}")
            counts["(of these without a witness)"] += 1
    print(listing(counts))  # noqa: T201
    assert not unknown, "\n".join(unknown)
    assert not doubtful, "git takes it otherwise or not at all, and nobody backs Remit:\n" + "\n".join(doubtful)
    unseen = counts.pop("(of these without a witness)", 0)
    assert unseen <= PAIRS / PARTS / 50
    assert counts["same"] > PAIRS / PARTS / 5
    assert counts["both refuse"] > PAIRS / PARTS / 10
    assert counts.keys() - {"same", "both refuse"} <= names()


def test_a_whole_patch_on_its_own_files_is_what_was_meant(tmp_path: Path) -> None:
    """The control for the above: the judges agree on something, and not because both do nothing."""
    git = Git(tmp_path / "git")
    old, new = {"d/f": b"a\nb\nc\n", "g": b"x\r\n"}, {"d/f": b"a\nB\nc\n", "g": b"x\r\ny"}
    for patch in (git.diff(old, new), makers.printed(old, new, 3)):
        for verdict in (git.apply(old, patch), remit(old, patch)):
            assert isinstance(verdict, Done) and verdict.files == new
        other = {"d/f": b"q\n", "g": b"x\r\n"}
        assert isinstance(git.apply(other, patch), Refused) and isinstance(remit(other, patch), Refused)


def test_a_wrong_reading_is_not_explained(tmp_path: Path) -> None:
    """The control for the table: other bytes, a lost file, a refusal without reason are in no line of it."""
    git = Git(tmp_path / "git")
    pair = Pair(0, "git", "none", {"f": b"a\nb\nc\n"}, b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
    right = git.apply(pair.files, pair.patch)
    assert explained(pair, right, remit(pair.files, pair.patch)) == "same"
    for wrong in (Done({"f": b"a\nB\n"}), Done({}), Refused("", "no_match"), Refused("", "malformed_patch")):
        assert explained(pair, right, wrong) is None
    assert explained(pair, Refused("error: patch does not apply"), Done({"f": b"a\nB\nc\n"})) is None


def test_a_wrong_place_is_not_backed(tmp_path: Path) -> None:
    """The control for the witnesses: what a line of the table would explain, at another place, or with a line too few,
    or too many, is seen to be wrong."""
    git = Git(tmp_path / "git")
    files = {"f": b"a\nb\nc\na\nb\n"}
    for patch in (b"@@ -2 +2 @@\n-b\n+B\n", b"@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n"):
        pair = Pair(0, "git", "none", files, b"--- a/f\n+++ b/f\n" + patch)
        right = remit(files, pair.patch)
        assert isinstance(right, Done) and right.files == {"f": b"a\nB\nc\na\nb\n"} and backs(git, pair, right)
        assert explained(pair, git.apply(files, pair.patch), right) in ("no context, elsewhere", "counted anew")
        for wrong in (b"a\nb\nc\na\nB\n", b"a\nB\nc\na\n", b"a\nB\nc\nc\na\nb\n", b"a\nb\nc\na\nb\n", b""):
            assert not backs(git, pair, replace(right, files={"f": wrong}))
            assert not backs(git, pair, replace(right, files={"g": right.files["f"]}))


def test_every_kind_of_damage_is_met(tmp_path: Path) -> None:
    git = Git(tmp_path / "git")
    met = Counter(makers.pair(git, seed).what for seed in range(depth(300, 600)))
    assert met.keys() == {"none", *MUTATIONS, *MISHAPS}


def test_no_line_of_the_table_is_dead(tmp_path: Path) -> None:
    """Each difference is one that happens. After a change of the makers other seeds may show it: look for the first."""
    git, dead = Git(tmp_path / "git"), names() - SHOWN.keys()
    for name, seed in SHOWN.items():
        pair = makers.pair(git, seed)
        found = explained(pair, git.apply(pair.files, pair.patch), remit(pair.files, pair.patch))
        dead |= {name} - {found}
    assert not dead
