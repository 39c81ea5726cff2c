"""`git apply` and Remit on real changes of real files, both ways: git's diff read by Remit, Remit's diff by git.

Where the changes come from: the commits of this checkout's own history (each whole, with all its files, and each of its
modified files alone); versions of one module that installed packages bring side by side (an asyncio and a blocking one,
an old and a new major); and modules of one name from different packages, as rewrites.
"""

from __future__ import annotations

import sysconfig
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import DeltaStatus, DiffFind, FileMode

from differential.judge import Done, Git, remit
from differential.makers import printed
from remit.core import codec
from remit.core.diff import Merged, merge

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sysconfig.get_path("purelib"))
LEAST = 200
PARTS = 4
BIGGEST = 200_000


@dataclass(frozen=True, slots=True)
class Change:
    """Files before and after; `name` says where it is from."""

    name: str
    before: dict[str, bytes]
    after: dict[str, bytes]


def commits() -> Iterator[Change]:
    """This checkout's own history, if it is one: merges left out."""
    try:
        repository = pygit2.Repository(str(ROOT))
    except pygit2.GitError:
        return
    if repository.is_empty or repository.head_is_unborn:
        return
    for commit in repository.walk(repository.head.target):
        if len(commit.parents) == 1 and commit.parents[0].id in repository:
            yield from _commit(repository, commit)


def _commit(repository: pygit2.Repository, commit: pygit2.Commit) -> Iterator[Change]:
    diff = repository.diff(commit.parents[0], commit)
    diff.find_similar(DiffFind.FIND_RENAMES)
    before, after = dict[str, bytes](), dict[str, bytes]()
    for delta in diff.deltas:
        sides = ((delta.old_file, before), (delta.new_file, after))
        if delta.is_binary or any(file.mode not in (0, FileMode.BLOB) for file, _ in sides):
            continue
        for file, tree in sides:
            if file.mode:
                blob = repository[file.id]
                assert isinstance(blob, pygit2.Blob)
                tree[file.path] = blob.data
        if delta.status == DeltaStatus.MODIFIED:
            path = delta.new_file.path
            yield Change(f"{commit.short_id} {path}", {path: before[path]}, {path: after[path]})
    yield Change(f"{commit.short_id}, whole", before, after)


def versions() -> Iterator[Change]:
    """Two versions of one module, side by side in one package."""
    for one, two in (("httpcore2/_async", "httpcore2/_sync"), ("pydantic/v1", "pydantic")):
        for path in sorted((PACKAGES / one).rglob("*.py")):
            other = PACKAGES / two / path.relative_to(PACKAGES / one)
            if other.is_file():
                yield _rewrite(path, other)


def namesakes() -> Iterator[Change]:
    """Modules of one name: what a whole rewrite looks like."""
    found = defaultdict[str, list[Path]](list)
    for path in sorted(PACKAGES.rglob("*.py")):
        if path.name != "__init__.py" and 0 < path.stat().st_size < BIGGEST:
            found[path.name].append(path)
    yield from (_rewrite(one, two) for paths in found.values() for one, two in pairwise(paths))


def _rewrite(one: Path, two: Path) -> Change:
    name = one.name
    return Change(f"{one} -> {two}", {name: one.read_bytes()}, {name: two.read_bytes()})


def changes() -> list[Change]:
    """Real commits first, then versions, then namesakes until there are enough."""
    return unlike(chain(commits(), versions(), namesakes()))[: 2 * LEAST]


def unlike(found: Iterable[Change]) -> list[Change]:
    """Those that change something."""
    return [one for one in found if one.before != one.after]


def sayable(change: Change) -> dict[str, bytes]:
    """What a diff of lines alone can bring about: an empty file is neither made nor deleted by it."""
    made = {name: data for name, data in change.after.items() if data or name in change.before}
    return made | {name: data for name, data in change.before.items() if not data and name not in change.after}


def test_there_is_enough_without_a_history() -> None:
    """As in a clone of the last commit alone, or in what is no checkout."""
    assert len(unlike(chain(versions(), namesakes()))) >= LEAST


@pytest.mark.parametrize("part", range(PARTS))
def test_real_changes_give_the_same_bytes_both_ways(part: int, tmp_path: Path) -> None:
    git, every = Git(tmp_path / "git"), changes()
    assert len(every) >= LEAST
    other = []
    for change in every[part::PARTS]:
        patches = {"git": git.diff(change.before, change.after, "-M"), "remit": printed(change.before, change.after, 3)}
        for maker, patch in patches.items():
            wanted = change.after if maker == "git" else sayable(change)
            for judge, verdict in (
                ("git", git.apply(change.before, patch)),
                ("remit", remit(change.before, patch)),
            ):
                if not isinstance(verdict, Done) or verdict.files != wanted:
                    other.append(f"{change.name}: diff by {maker}, carried out by {judge}")
                elif any(placed.rule != "exact" for _, _, placed in verdict.placements):
                    other.append(f"{change.name}: diff by {maker} was not placed exactly")
    assert not other, "\n".join(other)


@pytest.mark.parametrize("part", range(PARTS))
def test_real_changes_are_taken_back_alike(part: int, tmp_path: Path) -> None:
    """`git apply -R` of git's diff and of Remit's, and Remit's own taking back, each lead to the files before."""
    git, other = Git(tmp_path / "git"), list[str]()
    for change in changes()[part::PARTS]:
        both = [name for name in change.before if name in change.after]
        before, after = ({name: tree[name] for name in both} for tree in (change.before, change.after))
        for maker, patch in (("git", git.diff(before, after)), ("remit", printed(before, after, 3))):
            verdict = git.apply(after, patch, "-R") if patch else Done(before)
            if not isinstance(verdict, Done) or verdict.files != before:
                other.append(f"{change.name}: diff by {maker}, taken back by git")
        other += [f"{change.name}: {name}, by Remit" for name in both if _taken_back(before[name], after[name]) is None]
    assert not other, "\n".join(other)


def _taken_back(before: bytes, after: bytes) -> bytes | None:
    """The file as it was, from what it is; None where that is not what comes of it."""
    old, new = codec.decode(before), codec.decode(after)
    merged = merge(new.text, new.text, old.text)
    found = codec.encode(merged.text, old.charset) if isinstance(merged, Merged) else None
    return found if found == before else None
