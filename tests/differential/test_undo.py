"""The other way round: `git apply -R` of a change held against what Remit does when that change is taken back.

A change is proposed, accepted and applied in a real session; then the file goes on changing, and the change is taken
back. git takes the same change's diff back from the same file. They go about it differently (git wants the hunks' whole
surroundings unchanged and takes the nearest place; Remit joins three texts), so where they differ a third says which is
right: git's own three-way merge.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from depth import depth
from differential import makers
from differential.judge import Done, Git, Refused, Verdict
from differential.makers import MISHAPS
from differential.table import listing
from fakes import Bench, desk
from remit.core import codec, undoing
from remit.core.faults import UserFault
from remit.core.text import split_lines

CHANGES = depth(600, 6000)
PARTS = 4
PATH = "src/a"

TABLE = {
    "surroundings changed": "Only Remit does it: git refuses when one of three lines around a hunk has changed; the "
    "hunk's own lines have not.",
    "nearest place": "Both do it, with other bytes: git takes the change out of the nearest place that looks like it, "
    "though that is the human's text; Remit out of the one it was put into.",
    "neighbours": "Only Remit does it: what the human wrote stands right beside the change, which git's merges call a "
    "conflict.",
    "too close": "Only git does it: what the human wrote stands in the place that the change was put into, or lines "
    "that are alike leave open which of them are whose. Three-way merges refuse that, git's too.",
    "end repeated": "Both do it, with other bytes: the file stands there twice; git, to which the hunk was at "
    "the end, changes the second copy, Remit the first, into which the change was put.",
}
"""Where the two rightly differ; in each case but the last git's three-way merge must say the same as Remit (neighbours:
see `whole`). In the last one it sees a conflict, and what is right is known from how the file was made."""

SHOWN = {"surroundings changed": 3, "nearest place": 322, "neighbours": 16, "too close": 56, "end repeated": 1984}
"""A seed that shows each line of the table. After a change of the makers other seeds may: look for the first."""


def whole(before: bytes, after: bytes, now: bytes, made: bytes) -> bool:
    """Where changes touch, and no merge of git's says anything: is `made` the present text with exactly the agent's
    lines gone and the old ones back, no line lost, invented, joined with another or out of its order?"""
    old, new, here, there = (split_lines(text.decode()) for text in (before, after, now, made))
    gone, back = Counter(new) - Counter(old), Counter(old) - Counter(new)
    if Counter(there) != Counter(here) - gone + back or Counter(here) & gone != gone:
        return False
    return _common(here, there) >= len(here) - (len(new) - _common(new, old))


def _common(one: list[str], two: list[str]) -> int:
    """How many lines two texts have in common, in order."""
    row = [0] * (len(two) + 1)
    for line in one:
        before = row[:]
        for at, other in enumerate(two, 1):
            row[at] = before[at - 1] + 1 if line == other else max(before[at], row[at - 1])
    return row[-1]


def explained(before: bytes, after: bytes, now: bytes, git: Verdict, remit: Verdict, third: bytes | None) -> str | None:
    """Which line of the table it is; "same" and "both refuse" where there is none, None where none fits."""
    match git, remit:
        case Refused(), Refused():
            return "both refuse"
        case Done(), Done() if git.same(remit):
            return "same"
        case _, Done():
            if (now, remit.files[PATH]) == (after + after, before + after) != (now, third):
                return "end repeated"
            if third is None and isinstance(git, Refused):
                return "neighbours" if whole(before, after, now, remit.files[PATH]) else None
            right = third == remit.files[PATH]
            return ("nearest place" if isinstance(git, Done) else "surroundings changed") if right else None
        case Done(), Refused(why="conflict"):
            return "too close" if third is None else None
        case _:
            return None


def applied(before: str, new: str) -> Bench:
    """A session in which the change of a closed file is carried out: it is P1."""
    bench = desk({PATH: before})
    bench.propose({PATH: new})
    bench.accept("P1")
    return bench


def taken_back(bench: Bench) -> Verdict:
    was = bench.disk.files[PATH]
    try:
        undoing.reverse(bench.session.peek(), bench.state.proposals["P1"])
        bench.act("undo", "P1")
    except UserFault as fault:
        assert bench.disk.files[PATH] == was
        return Refused(fault.message, fault.code)
    return Done({PATH: bench.disk.files[PATH]})


def judged(git: Git, seed: int) -> tuple[str | None, str]:
    """What came of this seed's change; and what to look at if it is unknown."""
    chance = random.Random(seed)
    while True:
        old = makers.text(chance)
        new = makers.edited(chance, old)
        if not codec.same_text(old, new):
            break
    bench = applied(old, new)
    before, after = old.encode(), bench.disk.files[PATH]
    what = chance.choice(("none", "edited", "edited", "edited", *MISHAPS))
    now = MISHAPS[what](chance, after) if what in MISHAPS else after
    now = makers.edited(chance, now.decode()).encode() if what == "edited" else now
    patch = git.diff({PATH: before}, {PATH: after}, f"-U{chance.choice((1, 3, 3, 3))}")
    bench.disk.files[PATH] = now
    verdicts = git.apply({PATH: now}, patch, "-R"), taken_back(bench)
    third = git.merge(after, now, before)
    found = explained(before, after, now, *verdicts, third)
    return found, f"{seed} ({what}): {before!r} -> {after!r} -> {now!r}\n{verdicts}\n{third!r}"


@pytest.mark.deep
@pytest.mark.parametrize("part", range(PARTS))
def test_a_change_is_taken_back_as_git_does_it_or_better(part: int, tmp_path: Path) -> None:
    git, counts, unknown = Git(tmp_path / "git"), Counter[str](), list[str]()
    for seed in range(part, CHANGES, PARTS):
        found, look = judged(git, seed)
        counts[found or "unknown"] += 1
        if found is None:
            unknown.append(look)
    print(listing(counts))  # noqa: T201
    assert not unknown, "\n".join(unknown)
    assert counts["same"] > CHANGES / PARTS / 10 and counts["both refuse"] > CHANGES / PARTS / 50
    assert counts.keys() - {"same", "both refuse"} <= TABLE.keys()


def test_no_line_of_the_table_is_dead(tmp_path: Path) -> None:
    git = Git(tmp_path / "git")
    assert {name: judged(git, seed)[0] for name, seed in SHOWN.items()} == {name: name for name in TABLE}


def test_a_wrong_taking_back_is_not_explained(tmp_path: Path) -> None:
    """The control: an edit of the human's lost, a line of the agent's left, another place, a refusal without reason."""
    git, before, after = Git(tmp_path / "git"), b"a\nb\nc\nd\n", b"a\nB\nc\nd\n"
    now = b"a\nB\nc, mine\nd\n"
    bench = applied(before.decode(), after.decode())
    bench.disk.files[PATH] = now
    verdict, third = (
        git.apply({PATH: now}, git.diff({PATH: before}, {PATH: after}), "-R"),
        git.merge(after, now, before),
    )
    assert isinstance(verdict, Refused) and third is None, "they touch"
    assert explained(before, after, now, verdict, taken_back(bench), third) == "neighbours"
    for wrong in (before, now, b"a\nb\nc, mine\n", b"a\nb\nB\nc, mine\nd\n"):
        assert explained(before, after, now, verdict, Done({PATH: wrong}), third) is None
    bench, far = applied(before.decode(), after.decode()), b"a\nB\nc\nd, mine\n"
    bench.disk.files[PATH] = far
    verdict, third = (
        git.apply({PATH: far}, git.diff({PATH: before}, {PATH: after}), "-R"),
        git.merge(after, far, before),
    )
    assert explained(before, after, far, verdict, taken_back(bench), third) == "surroundings changed"
    for wrong in (before, far, b"a\nb\nc\n"):
        assert explained(before, after, far, verdict, Done({PATH: wrong}), third) is None
    whole = git.apply({PATH: after}, git.diff({PATH: before}, {PATH: after}), "-R")
    for code in ("conflict", "no_change", "stale"):
        assert explained(before, after, after, whole, Refused("", code), git.merge(after, after, before)) is None
