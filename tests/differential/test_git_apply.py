"""Remit's reading and placing held against `git apply`, on generated pairs of files and patch, in both directions.

git's own diffs and Remit's, whole and damaged, go to both judges: the same bytes, or both refuse, or the difference is
in the table with its reason.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from depth import depth
from differential import makers
from differential.judge import Done, Git, Refused, remit
from differential.makers import MISHAPS, MUTATIONS, Pair
from differential.table import explained, listing, names

PAIRS = depth(400, 4000)
PARTS = 8


@pytest.mark.deep
@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_bytes_or_both_refuse(part: int, tmp_path: Path) -> None:
    git, counts, unknown = Git(tmp_path / "git"), Counter[str](), list[str]()
    for seed in range(part, PAIRS, PARTS):
        pair = makers.pair(git, seed)
        verdicts = git.apply(pair.files, pair.patch), remit(pair.files, pair.patch)
        found = explained(pair, *verdicts)
        counts[found or "unknown"] += 1
        if found is None:
            unknown.append(f"{seed} ({pair.what}): {verdicts}")
    print(listing(counts))  # noqa: T201
    assert not unknown, "\n".join(unknown)
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


def test_every_kind_of_damage_is_met(tmp_path: Path) -> None:
    git = Git(tmp_path / "git")
    met = Counter(makers.pair(git, seed).what for seed in range(depth(300, 600)))
    assert met.keys() == {"none", *MUTATIONS, *MISHAPS}


@pytest.mark.long
def test_no_line_of_the_table_is_dead(tmp_path: Path) -> None:
    git, left = Git(tmp_path / "git"), names()
    for seed in range(8000):
        pair = makers.pair(git, seed)
        left.discard(explained(pair, git.apply(pair.files, pair.patch), remit(pair.files, pair.patch)) or "")
        if not left:
            return
    assert not left
