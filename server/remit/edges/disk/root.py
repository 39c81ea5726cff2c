"""The one open root: where a path really is, and the descriptors that lead there.

Follows links only as text, to say where they lead; opens nothing through one. Does not read or change any file.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from remit.core import paths
from remit.core.faults import AgentFault, Fault, WorldFault
from remit.edges.disk import kernel

NOT_A_FILE = "not_a_file"
_LINKS = 40
_BLOCK = 1 << 18


class Root:
    """A directory held open since the start; whatever its path may later name, this is the workspace."""

    def __init__(self, path: str | Path, opener: kernel.Opener | None = None) -> None:
        # Both spellings are kept: a link may name the root by the path the user opened it with.
        self.name = os.path.realpath(path)
        self._names = tuple({self.name, os.path.abspath(path)})
        try:
            self.fd = os.open(self.name, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise fault(error, "") from error
        self.opener = opener or kernel.opener(self.fd)
        self.case_insensitive = _case_insensitive(self.fd)

    def close(self) -> None:
        """Let the root go; nothing works afterwards."""
        os.close(self.fd)

    def claim(self) -> bool:
        """Lock the directory itself (flock(2): by inode, until the descriptor is closed); False when it is locked."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """The directory `path` ("" is the root) as a descriptor; a link in it is an OSError ELOOP."""
        fd = self.opener(self.fd, path, os.O_RDONLY | kernel.FOLDER)
        try:
            yield fd
        finally:
            os.close(fd)

    def real(self, path: str) -> str:
        """Where `path` really is, whether the file exists or not, in the spelling of the disk.

        Links are walked by descriptor. Raises AgentFault `outside_scope` (data: path, target) for one that leads
        out, dangles or loops, `not_a_file` when a file stands where a directory should.
        """
        try:
            with ExitStack() as stack:
                real = _Trail(self, path, stack).follow()
        except OSError as error:
            raise fault(error, path) from error
        if not real:
            raise not_a_file(path, "it is a link to the workspace folder itself")
        return real

    def require(self) -> None:
        """WorldFault `root_gone` when the root was deleted: then every file would look absent."""
        if os.fstat(self.fd).st_nlink == 0:
            raise WorldFault(
                "root_gone", "The workspace folder was deleted.", remedy="Open the folder again where it is now."
            )

    def within(self, target: str) -> str | None:
        """An absolute link target as a path below the root, by components; None when it is elsewhere."""
        for name in self._names:
            if target == name or target.startswith(name.rstrip("/") + "/"):
                return target[len(name) :].lstrip("/")
        return None


class _Trail:
    """One walk through links: the descriptors down to where we are, and the components still to go."""

    def __init__(self, root: Root, path: str, stack: ExitStack) -> None:
        self.root, self.path, self.stack = root, path, stack
        self.todo = path.split("/")[::-1]
        self.done: list[str] = []
        self.fds = [root.fd]
        self.links = 0
        self.target = ""
        self.floor: int | None = None  # todo is at least this long while its top came out of a link

    def follow(self) -> str:
        while self.todo:
            if self.floor is not None and len(self.todo) <= self.floor:
                self.floor = None
            name = self.todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                self._up()
                continue
            try:
                found = os.stat(name, dir_fd=self.fds[-1], follow_symlinks=False)
            except FileNotFoundError:
                if self.floor is not None:
                    raise self._outside() from None
                self.root.require()
                return "/".join([*self.done, name, *self.todo[::-1]])
            if stat.S_ISLNK(found.st_mode):
                self._link(name)
            else:
                self._down(name, found)
        return "/".join(self.done)

    def _up(self) -> None:
        if not self.done:
            raise self._outside()
        self.done.pop()
        self.fds.pop()

    def _link(self, name: str) -> None:
        self.links += 1
        self.target = os.readlink(name, dir_fd=self.fds[-1])
        inside = self.root.within(self.target) if self.target.startswith("/") else self.target
        if inside is None or self.links > _LINKS:
            raise self._outside()
        if self.target.startswith("/"):
            self.done.clear()
            del self.fds[1:]
        if self.floor is None:
            self.floor = len(self.todo)
        self.todo += inside.split("/")[::-1]

    def _down(self, name: str, found: os.stat_result) -> None:
        if self.todo:
            fd = self.root.opener(self.fds[-1], name, kernel.PASS)
            self.stack.callback(os.close, fd)
        spelled = _spelled(self.fds[-1], name, found) if self.root.case_insensitive else name
        if self.todo:
            self.fds.append(fd)
        self.done.append(spelled)

    def _outside(self) -> AgentFault:
        return AgentFault(
            "outside_scope",
            "The path goes through a link that leads out of the workspace, dangles or loops.",
            remedy="Use the path of a real file inside the workspace.",
            path=self.path,
            target=self.target.encode("utf-8", "backslashreplace").decode(),
        )


def digest(directory: int, name: str) -> str | None:
    """SHA-256 of a regular file by its directory; None when absent, NOT_A_FILE for anything else."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            return NOT_A_FILE
        fd = os.open(name, kernel.READ, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            return NOT_A_FILE
        raise
    try:
        return digest_of(fd) if stat.S_ISREG(os.fstat(fd).st_mode) else NOT_A_FILE
    finally:
        os.close(fd)


def digest_of(fd: int) -> str:
    """SHA-256 of everything an open file holds, wherever its offset is."""
    hashed, offset = hashlib.sha256(), 0
    while block := os.pread(fd, _BLOCK, offset):
        hashed.update(block)
        offset += len(block)
    return hashed.hexdigest()


def fault(error: OSError, path: str) -> Fault:
    """The refusal for a failed look at `path`: every failure is one, none is an answer."""
    name = errno.errorcode.get(error.errno or 0, "unknown")
    match name:
        case "ELOOP" | "EXDEV":
            return path_changed(path)
        case "ENOTDIR" | "EISDIR":
            return not_a_file(path, "a file stands where a folder should be, or the other way round")
        case "ENAMETOOLONG":
            return AgentFault("bad_path", "The path is too long for this file system.", path=path, reason=name)
        case _:
            return WorldFault(
                "unreadable",
                f"The file system refused access ({name}).",
                remedy="Check the rights of the file and its folder.",
                path=path,
                error=name,
            )


def path_changed(path: str) -> AgentFault:
    """The refusal when a folder on the way is not the one that was looked at."""
    return AgentFault(
        "path_changed",
        "A folder or file on this path was moved or replaced by a link meanwhile.",
        remedy="Read the file again.",
        path=path,
    )


def not_a_file(path: str, reason: str) -> AgentFault:
    """The refusal for directories, devices, FIFOs and sockets."""
    return AgentFault(
        "not_a_file",
        "There is no regular file at this path.",
        remedy="Name a regular file.",
        path=path,
        reason=reason,
    )


def _spelled(directory: int, name: str, found: os.stat_result) -> str:
    """The name as the directory lists it, for file systems that take it in any case."""
    wanted, names = paths.fold(name), os.listdir(directory)
    if name in names:
        return name
    for listed in names:
        if paths.fold(listed) == wanted:
            with suppress(OSError):
                if os.stat(listed, dir_fd=directory, follow_symlinks=False).st_ino == found.st_ino:
                    return listed
    return name


def _case_insensitive(root: int) -> bool:
    """Whether a name that nobody wrote leads to a file that is there. Looks only; writes no probe file."""
    names = set(os.listdir(root))
    for name in sorted(names):
        other = name.swapcase()
        if other == name or other in names:
            continue
        with suppress(FileNotFoundError):
            here = os.stat(name, dir_fd=root, follow_symlinks=False)
            there = os.stat(other, dir_fd=root, follow_symlinks=False)
            return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
        return False
    return os.path.normcase("A") == "a"
