"""Patches as Remit prints them, given to `git apply`: with moves, copies, modes, names and blob ids."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from depth import depth
from differential.judge import Done, Git, remit
from differential.makers import NAMES, edited
from remit.core.chunk import FilePatch, Mode
from remit.core.codec import blob_id
from remit.core.printer import chunks, printed


def _text(chance: random.Random) -> str:
    return edited(chance, "".join(f"{chance.choice('abc')} {n}\n" for n in range(chance.choice((0, 1, 5, 30)))))


def _file(chance: random.Random, name: str, before: dict[str, bytes], after: dict[str, bytes]) -> FilePatch:
    """One file's change; what it does to the files."""
    old = _text(chance)
    new = edited(chance, old)
    ids = blob_id(old.encode()), blob_id(new.encode())
    mode: Mode | None = chance.choice((None, "100644", "100755"))
    what = chance.choice(("create", "delete", "rename", "copy", "modify"))
    if what == "create":
        after[name] = new.encode()
        return FilePatch(name, "create", content=new, mode=mode or "100644", new_blob=ids[1])
    before[name] = old.encode()
    if what == "delete":
        return FilePatch(name, "delete", chunks=chunks(old, ""), old_blob=ids[0])
    hunks = chunks(old, new, chance.choice((3, 3, 1)))
    if not hunks:
        mode = "100755"
    target = name if what == "modify" else f"{name} 2"
    if what != "rename":
        after[name] = before[name]
    after[target] = new.encode()
    source = None if what == "modify" else name
    return FilePatch(target, what, source, hunks, None, mode, *ids)  # type: ignore[arg-type]


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(depth(40, 1000)))
def test_git_makes_of_it_what_remit_makes_of_it(tmp_path: Path, seed: int) -> None:
    chance, before, after = random.Random(seed), dict[str, bytes](), dict[str, bytes]()
    files = [_file(chance, name, before, after) for name in chance.sample(NAMES, chance.choice((1, 2, 4)))]
    patch = printed(files).encode("utf-8", "surrogateescape")
    git = Git(tmp_path).apply(before, patch)
    assert isinstance(git, Done), (git, patch.decode(errors="replace"))
    assert git.files == after
    assert git.executable == {file.path for file in files if file.mode == "100755"}
    judged = remit(before, patch)
    assert isinstance(judged, Done) and judged.same(git)


def test_copies_as_git_prints_them(tmp_path: Path) -> None:
    """The source is changed by the same patch; the copy is of what it was."""
    git = Git(tmp_path)
    lines = "".join(f"line {number}\n" for number in range(30))
    before = {"d/source.txt": lines.encode()}
    after = {
        "d/source.txt": lines.replace("line 3\n", "LINE 3\n").encode(),
        "two words": lines.replace("line 20\n", "").encode(),
        "same": lines.encode(),
    }
    patch = git.diff(before, after, "-M", "-C", "--find-copies-harder", "--full-index", executable=["same"])
    assert patch.count(b"copy from d/source.txt\n") == 2
    judged = remit(before, patch)
    assert isinstance(judged, Done) and judged.files == after and judged.executable == {"same"}
    applied = git.apply(before, patch)
    assert isinstance(applied, Done) and applied.same(judged)
    assert judged.patch is not None and printed(judged.patch.files).count("copy from d/source.txt\n") == 2
