"""The system calls Python has no name for, each with the plain form for systems that lack it.

Knows descriptors and names. Knows no digests, no actions and no workspace. Every failure is an OSError.
Sources: openat2(2), rename(2), fcntl(2) F_SETLEASE; renameatx_np(2) on macOS (not tried on a real machine yet).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

Opener = Callable[[int, str, int], int]

# O_PATH needs no right to read a directory that is only passed through.
PASS = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# A FIFO must not make us wait and a terminal must not become ours.
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

_OPENAT2 = 437  # the same number on every architecture but Alpha
_BENEATH, _NO_SYMLINKS, _NO_MAGICLINKS = 0x08, 0x04, 0x02
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_NOREPLACE, _EXCHANGE = 1, 2
_APPLE_EXCLUSIVE, _APPLE_SWAP = 4, 2
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
_F_SETLEASE, _F_SETSIG = 1024, 10
_NOT_ALLOWED = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP})
_ACCESS_LIST = "system.posix_acl_access"
_VOUCHING = frozenset({"security.capability", "security.ima", "security.evm"})  # for exactly the old bytes


def _libc() -> Any:
    return None if sys.platform == "win32" else ctypes.CDLL(None, use_errno=True)


_LIBC = _libc()


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def openat2(root: int, path: str, flags: int) -> int:
    """Open `path` ("" is the root itself) below `root`; the kernel refuses links and every way out. Linux 5.6."""
    if _LIBC is None or not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    # Without O_NOFOLLOW the kernel says ELOOP for a last component that is a link; it follows none either way.
    how = _How((flags | os.O_CLOEXEC) & ~os.O_NOFOLLOW, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS)
    # EAGAIN: something was renamed while the kernel looked; it proves nothing, so look again.
    for _ in range(16):
        fd = int(_LIBC.syscall(_OPENAT2, root, os.fsencode(path or "."), ctypes.byref(how), ctypes.sizeof(how)))
        if fd >= 0:
            return fd
        if ctypes.get_errno() != errno.EAGAIN:
            break
    raise _error(path)


def walk(root: int, path: str, flags: int) -> int:
    """What `openat2` does, one component at a time with O_NOFOLLOW."""
    *above, last = path.split("/") if path else ["."]
    at = root
    try:
        for name in above:
            below = _step(at, name, PASS)
            if at != root:
                os.close(at)
            at = below
        return _step(at, last, flags)
    finally:
        if at != root:
            os.close(at)


def opener(root: int) -> Opener:
    """`openat2` where the kernel has it and lets us call it, else `walk`; found by trying."""
    try:
        os.close(openat2(root, "", PASS))
    except OSError:
        return walk
    return openat2


class PlainMoves:
    """Exchange and place by link and rename. A save that falls between two of the calls can be missed."""

    def exchange(self, directory: int, left: str, right: str) -> bool:
        """Swap two files of one directory. Returns whether the kernel did it in one step."""
        spare = f"{left}.swap"
        linked = _link(directory, right, directory, spare)
        if not linked:
            os.rename(right, spare, src_dir_fd=directory, dst_dir_fd=directory)
        try:
            os.rename(left, right, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            if linked:
                os.unlink(spare, dir_fd=directory)
            else:
                os.rename(spare, right, src_dir_fd=directory, dst_dir_fd=directory)
            raise
        os.rename(spare, left, src_dir_fd=directory, dst_dir_fd=directory)
        return False

    def place(self, source: int, name: str, target: int, new: str) -> bool:
        """Give a file a new name that must be free (FileExistsError). Returns whether it was one step."""
        if _link(source, name, target, new):
            os.unlink(name, dir_fd=source)
            return False
        with suppress(FileNotFoundError):
            os.stat(new, dir_fd=target, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
        return False


class Moves(PlainMoves):
    """The same two moves by the kernel, in one step each; the plain ones where the file system cannot."""

    def exchange(self, directory: int, left: str, right: str) -> bool:
        return self._rename(directory, left, directory, right, _EXCHANGE) or super().exchange(directory, left, right)

    def place(self, source: int, name: str, target: int, new: str) -> bool:
        return self._rename(source, name, target, new, _NOREPLACE) or super().place(source, name, target, new)

    def _rename(self, source: int, name: str, target: int, new: str, flag: int) -> bool:
        result = _renameat2(source, os.fsencode(name), target, os.fsencode(new), flag)
        if result and ctypes.get_errno() not in _NOT_HERE:
            raise _error(name)
        return result == 0


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a replaced file keeps besides its bytes."""

    mode: int
    owner: tuple[int, int] | None = None
    extended: tuple[tuple[str, bytes], ...] = ()


def attributes(fd: int) -> Attributes:
    """The attributes of an open file; left out are set-id bits, as on every other write, and what vouches for bytes."""
    found = os.fstat(fd)
    extended = []
    for name in _extended_names(fd):
        try:
            extended.append((name, os.getxattr(fd, name)))
        except OSError as error:
            # Some are only for the system to see; one that is just gone is not the file's any more.
            if error.errno not in {*_NOT_ALLOWED, errno.ENODATA}:
                raise
    mode = stat.S_IMODE(found.st_mode) & ~(stat.S_ISUID | stat.S_ISGID)
    return Attributes(mode, (found.st_uid, found.st_gid), tuple(extended))


def dress(fd: int, wanted: Attributes) -> None:
    """Give an open file these attributes, as far as we are allowed to; nobody may do more with it than before.

    An OSError when the disk is too full for one, or an access list cannot be set.
    """
    mode = wanted.mode
    if wanted.owner is not None and sys.platform != "win32":
        if not _own(fd, *wanted.owner):
            # They would be the rights of another group: it gets what everybody has.
            mode &= 0o707 | (mode & 0o007) << 3
        if sys.platform.startswith("linux"):
            _extend(fd, dict(wanted.extended))
    os.fchmod(fd, mode)


def executable(mode: int, wanted: bool | None) -> int:
    """The mode with the x bits set for everybody who may read, or cleared; as it is for None."""
    if wanted is None:
        return mode
    return mode | (mode & 0o444) >> 2 if wanted else mode & ~0o111


def sync_folder(fd: int) -> None:
    """fsync of a directory; where the file system has none for directories there is nothing to be done."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise


@contextmanager
def unwritten(fd: int) -> Iterator[bool]:
    """While inside: False when some program has the file open for writing, so that its bytes may still change.

    A read lease says so and makes new writers wait. Where there are no leases the answer is True, unproved.
    """
    try:
        # The default signal of a broken lease would end this process; SIGURG is ignored by default.
        _fcntl(fd, _F_SETSIG, signal.SIGURG)
        _fcntl(fd, _F_SETLEASE, 0)
    except OSError as error:
        yield error.errno != errno.EAGAIN
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            _fcntl(fd, _F_SETLEASE, 2)


def _step(at: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags | getattr(os, "O_CLOEXEC", 0), dir_fd=at)
    except NotADirectoryError:
        # A link opened as a directory is reported like a file; openat2 tells them apart and so do we.
        if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _link(source: int, name: str, target: int, new: str) -> bool:
    """Whether the file system knows hard links, and then the file has a second name."""
    try:
        os.link(name, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
        return False
    return True


def _renameat2(source: int, name: bytes, target: int, new: bytes, flag: int) -> int:
    if sys.platform == "darwin":
        apple = _APPLE_SWAP if flag == _EXCHANGE else _APPLE_EXCLUSIVE
        return int(_LIBC.renameatx_np(source, name, target, new, apple))
    number = _RENAMEAT2.get(platform.machine()) if sys.platform.startswith("linux") else None
    if number is None:
        ctypes.set_errno(errno.ENOSYS)
        return -1
    return int(_LIBC.syscall(number, source, name, target, new, flag))


def _own(fd: int, user: int, group: int) -> bool:
    """Whether the file has this group now; the owner too, where we may give it away."""
    for owner in (user, -1):
        with suppress(OSError):
            os.fchown(fd, owner, group)
            return True
    return _group(fd) == group


def _group(fd: int) -> int:
    return os.fstat(fd).st_gid


def _extended_names(fd: int) -> list[str]:
    if not sys.platform.startswith("linux"):
        return []
    try:
        return [name for name in os.listxattr(fd) if name not in _VOUCHING]
    except OSError as error:
        if error.errno not in _NOT_ALLOWED:
            raise
        return []


def _extend(fd: int, wanted: dict[str, bytes]) -> None:
    # A default access list of the directory is not the file's own.
    for name in set(_extended_names(fd)) - set(wanted):
        with _allowed(name):
            os.removexattr(fd, name)
    for name, value in wanted.items():
        with _allowed(name):
            os.setxattr(fd, name, value)


@contextmanager
def _allowed(name: str) -> Iterator[None]:
    """Leave to the system what only it may set. Without its access list a file would be open to others."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NOT_ALLOWED or name == _ACCESS_LIST:
            raise


def _fcntl(fd: int, command: int, argument: int) -> None:
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import fcntl  # absent on Windows

    fcntl.fcntl(fd, command, argument)


def _error(path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), path)
