"""Two judges over one patch and one set of files: `git apply` without any configuration, and Remit's core.

Each says what the files then are, or that it refuses. Does not live here: where patches come from (`makers`, the
tests), which differences are right (the table in `test_git_apply`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

from remit.core import codec
from remit.core.chunk import Chunk, FilePatch, Patch
from remit.core.faults import AgentFault
from remit.core.patch import parse
from remit.core.place import Placement, place

Tree = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Done:
    """The files after it, the paths that are executable, and, from Remit, how each chunk found its place."""

    files: dict[str, bytes]
    executable: frozenset[str] = frozenset()
    patch: Patch | None = None
    placements: tuple[tuple[FilePatch, Chunk, Placement], ...] = ()

    def same(self, other: Done) -> bool:
        return (self.files, self.executable) == (other.files, other.executable)


@dataclass(frozen=True, slots=True)
class Refused:
    """`why`: Remit's code ("" from git). `words`: for people."""

    words: str
    why: str = ""


Verdict = Done | Refused


class Git:
    """git in a folder of its own: no configuration of the machine or the user, no repository around, no hooks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree, nothing = folder / "tree", folder / "none"
        for path in (self.tree, nothing):
            path.mkdir(parents=True)
        self.store = pygit2.init_repository(folder / "store", bare=True)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(nothing),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CEILING_DIRECTORIES": str(folder),
            "GIT_ATTR_NOSYSTEM": "1",
            "LC_ALL": "C",
        }

    def run(self, *words: str, inside: Path | None = None, feed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", *words]
        return subprocess.run(
            command,
            cwd=inside or self.tree,
            env=self.environment,
            input=feed,
            capture_output=True,
            timeout=60,
            check=False,
        )

    def apply(self, before: Tree, patch: bytes) -> Verdict:
        """What `git apply` makes of the files; a patch that it refuses changes none of them (asserted)."""
        self._fill(before)
        done = self.run("apply", "--whitespace=nowarn", "-", feed=patch)
        after = Done(*self._seen())
        self._clear()
        if done.returncode == 0:
            return after
        assert after.files == dict(before)
        return Refused(done.stderr.decode(errors="replace").strip())

    def diff(self, before: Tree, after: Tree, *words: str, executable: Collection[str] = ()) -> bytes:
        """git's own patch from one set of files to another; `executable` are so afterwards, none was before."""
        trees = str(self._stored(before)), str(self._stored(after, executable))
        done = self.run(
            "diff-tree", "-p", "--no-ext-diff", "--no-textconv", *words, *trees, inside=Path(self.store.path)
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _stored(self, tree: Tree, executable: Collection[str] = ()) -> pygit2.Oid:
        index = pygit2.Index()
        for name, data in tree.items():
            mode = FileMode.BLOB_EXECUTABLE if name in executable else FileMode.BLOB
            index.add(pygit2.IndexEntry(name, self.store.create_blob(data), mode))
        return index.write_tree(self.store)

    def _fill(self, tree: Tree) -> None:
        for name, data in tree.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o644)

    def _seen(self) -> tuple[dict[str, bytes], frozenset[str]]:
        found = [path for path in self.tree.rglob("*") if path.is_file() or path.is_symlink()]
        names = {path: path.relative_to(self.tree).as_posix() for path in found}
        files = {name: b"link" if path.is_symlink() else path.read_bytes() for path, name in names.items()}
        modes = {name for path, name in names.items() if not path.is_symlink() and path.stat().st_mode & 0o100}
        return files, frozenset(modes)

    def _clear(self) -> None:
        for path in sorted(self.tree.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()


def remit(before: Tree, raw: bytes) -> Verdict:
    """What Remit's core makes of the files: all of the patch or nothing."""
    try:
        patch = parse(raw.decode("utf-8", "surrogateescape"))
        return _carried_out(patch, before)
    except AgentFault as fault:
        return Refused(fault.message, fault.code)


def _carried_out(patch: Patch, before: Tree) -> Verdict:
    after, executable, placements = dict(before), set[str](), list[tuple[FilePatch, Chunk, Placement]]()
    for file in patch.files:
        source = file.source or file.path
        if (file.op == "create") is (source in before) or (file.op in ("rename", "copy") and file.path in before):
            return Refused(file.path, "target_exists" if file.path in before else "target_missing")
        if file.op != "copy":
            after.pop(source, None)
        if file.op == "create":
            after[file.path] = (file.content or "").encode("utf-8", "surrogateescape")
        elif file.op != "delete" or file.chunks:
            found = codec.decode(before[source])
            mark = found.charset.bom
            # The patch was read without any guess, so a file that needs one is read as the patch was.
            guessed = found.charset.name in codec.GUESSED
            old = before[source][len(mark) :].decode("utf-8", "surrogateescape") if guessed else found.text
            placed = place(old, file.chunks)
            placements += [(file, file.chunks[one.chunk], one) for one in placed.placements]
            if file.op == "delete" and placed.text:
                return Refused(file.path, "no_match")
            if file.op != "delete":
                after[file.path] = (
                    mark + placed.text.encode("utf-8", "surrogateescape")
                    if guessed
                    else codec.encode(placed.text, found.charset)
                )
        if file.mode == "100755":
            executable.add(file.path)
    return Done(after, frozenset(executable), patch, tuple(placements))
