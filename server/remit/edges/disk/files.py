"""`Disk`: read, list and replace the regular files below one root.

Says what is there and what may not be touched by its kind. Whether a task may read or write a path is decided above.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from remit.core import paths
from remit.core.effects import DiskChange
from remit.core.faults import AgentFault
from remit.edges.disk import head, kernel, tree
from remit.edges.disk.hands import drop_leftover
from remit.edges.disk.root import Root, fault, not_a_file, path_changed
from remit.edges.disk.staged import Staged

MEBIBYTE = 1 << 20
_Paths: TypeAlias = list[str]  # inside `Disk` the word is the method


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file as read. `real`: its path without links, in the spelling of the disk; `mode`: permission bits."""

    data: bytes
    real: str
    mode: int
    links: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What `stat` says, to notice that a look is worth while. Never the identity of content."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Disk:
    """The files below `root`, which is resolved and opened once, here. Files above `limit` bytes are not read."""

    def __init__(
        self,
        root: str | Path,
        limit: int = 16 * MEBIBYTE,
        *,
        opener: kernel.Opener | None = None,
        moves: kernel.PlainMoves | None = None,
    ) -> None:
        self._root = Root(root, opener)
        self._limit = limit
        self._moves = moves or kernel.Moves()

    @property
    def case_insensitive(self) -> bool:
        """Whether the root's file system takes a name in any case; looked up once, at open."""
        return self._root.case_insensitive

    @property
    def guard(self) -> str:
        """What keeps a path below the root here: "openat2" or "walk"."""
        return "openat2" if self._root.opener is kernel.openat2 else "walk"

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the root."""
        found = os.fstat(self._root.fd)
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Let the root go."""
        self._root.close()

    def real(self, path: str) -> str:
        """The path without links, whether the file exists or not; faults as in `read`."""
        return self._root.real(paths.parse(path, portable=False))

    def read(self, path: str) -> Found | None:
        """The file, or None when it is absent.

        AgentFault: `outside_scope` (a link leads out, dangles or loops), `not_a_file`, `too_large`, `path_changed`,
        `bad_path`. WorldFault: `unreadable`, `root_gone`.
        """
        real = self.real(path)
        try:
            with self._root.directory(_parent(real)) as directory:
                return self._read(directory, real)
        except FileNotFoundError:
            self._root.require()
            return None
        except OSError as error:
            raise fault(error, path) from error

    def claim(self) -> bool:
        """Hold the root itself, by its inode, until `close`; False when another process holds it.

        Nothing is written into the workspace for it, and no setting of the other process can hide it.
        """
        return self._root.claim()

    def mark(self, path: str) -> Mark | None:
        """A cheap mark of the file, or None when it is absent; faults as in `read`."""
        real = self.real(path)
        try:
            with self._root.directory(_parent(real)) as directory:
                found = os.stat(_name(real), dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            self._root.require()
            return None
        except OSError as error:
            raise fault(error, path) from error
        _require_regular(found, path)
        return Mark(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def list(self, limit: int) -> _Paths:
        """The first `limit` regular files in path order, less what `.gitignore` files ignore; ask for one more to
        see whether there are more. Folders that cannot be read and names that `paths.parse` refuses are left out."""
        self._root.require()
        return tree.files(self._root, limit)

    def committed(self, path: str) -> str | None:
        """git's blob id of a file as HEAD has it; None where there is none, or no repository."""
        return head.committed(self._root, path)

    def stage(self, action: str, changes: Sequence[DiskChange]) -> Staged:
        """Check every base and write every new text beside its place; nothing is visible before `commit`.

        AgentFault: `stale`, `hard_link`, `path_changed`, `not_a_file`, `outside_scope`, `duplicate_path`.
        WorldFault: `write_failed`, `unreadable`, `root_gone`. After any of them no temporary file is left.
        """
        self._root.require()
        return Staged(self._root, self._moves, action, changes)

    def leftovers(self) -> dict[str, str]:
        """Temporary files of unfinished actions: path to SHA-256. `.remit-<action>-<n>.tmp` belongs to change `n`."""
        return {left.path: left.digest for left in tree.leftovers(self._root)}

    def sweep(self, keep: Collection[str], known: Callable[[str], bool]) -> tuple[_Paths, _Paths]:
        """Remove the temporary files of all actions but those in `keep`; the paths that are gone, and the copies of
        texts whose digest is not `known`: a save that raced with an action that was cut off is in no other place."""
        gone, kept = list[str](), list[str]()
        for left in tree.leftovers(self._root):
            if left.action in keep:
                continue
            now = drop_leftover(self._root, self._moves, left.path, known)
            if not now:
                gone.append(left.path)
            elif now != left.path:
                kept.append(now)
        return gone, kept

    def _read(self, directory: int, real: str) -> Found:
        # A device must be refused before it is opened: opening alone can have an effect.
        _require_regular(os.stat(_name(real), dir_fd=directory, follow_symlinks=False), real)
        fd = os.open(_name(real), kernel.READ | getattr(os, "O_CLOEXEC", 0), dir_fd=directory)
        try:
            for _ in range(3):
                before = os.fstat(fd)
                _require_regular(before, real)
                data = self._bytes(fd, real)
                after = os.fstat(fd)
                # A save in place shows half of a file; look again while it is being written.
                if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(data)):
                    break
        finally:
            os.close(fd)
        return Found(data, real, stat.S_IMODE(after.st_mode), after.st_nlink)

    def _bytes(self, fd: int, real: str) -> bytes:
        size, chunks, offset = os.fstat(fd).st_size, list[bytes](), 0
        while offset <= self._limit and size <= self._limit:
            block = os.pread(fd, min(MEBIBYTE, self._limit + 1 - offset), offset)
            if not block:
                return b"".join(chunks)
            chunks.append(block)
            offset += len(block)
        raise AgentFault(
            "too_large",
            f"The file is larger than {self._limit} bytes.",
            remedy="Leave this file alone, or ask the human to raise the limit.",
            path=real,
            size=max(size, offset),
            limit=self._limit,
        )


def _require_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise path_changed(path)
    if not stat.S_ISREG(found.st_mode):
        raise not_a_file(path, "it is a folder" if stat.S_ISDIR(found.st_mode) else "it is a device, FIFO or socket")


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
