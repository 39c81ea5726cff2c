"""Who may write in a folder? One process, for as long as it lives.

Knows `flock` (POSIX). Does not know what is in the folder.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from remit.core.faults import WorldFault


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody else has the lock; pid 0 and role "" when it does not say who."""

    pid: int
    role: str


class Lock:
    """The right to write in one folder, free at once when its process ends.

    Locks a file and the folder it lies in: the file alone can be removed under its holder and made anew by another,
    which gives two holders. So there is one lock in a folder.
    """

    def __init__(self, path: Path, fds: tuple[int, ...]) -> None:
        self._path = path
        self._fds = fds

    @classmethod
    def take(cls, path: Path, role: str) -> Lock | Held:
        """Takes the lock without waiting. The folder exists. Raises WorldFault `lock_unusable`."""
        fds: list[int] = []
        try:
            fds.append(_locked(path.parent, os.O_RDONLY | os.O_DIRECTORY))
            fds.append(_locked(path, os.O_RDWR | os.O_CREAT))
        except OSError as error:
            for fd in fds:
                os.close(fd)
            if isinstance(error, BlockingIOError):
                return _holder(path)
            message = f"The lock cannot be taken: {error.strerror}."
            raise WorldFault("lock_unusable", message, remedy="Look at the folder it is in.", path=str(path)) from error
        with suppress(OSError):  # on a full disk the lock is good all the same, it only does not say whose it is
            os.ftruncate(fds[-1], 0)
            os.pwrite(fds[-1], json.dumps({"pid": os.getpid(), "role": role}).encode(), 0)
        return cls(path, tuple(fds))

    def holds(self) -> bool:
        """Whether folder and file are still the ones that were locked; if not, stop writing."""
        paths = (self._path.parent, self._path)
        return bool(self._fds) and all(map(_is_at, self._fds, paths))

    def release(self) -> None:
        """Gives the lock back. May be called twice. The file stays, empty: removing it would race with the next."""
        if self._fds:
            with suppress(OSError):
                os.ftruncate(self._fds[-1], 0)
        for fd in reversed(self._fds):
            os.close(fd)
        self._fds = ()


def _locked(path: Path, flags: int) -> int:
    """A descriptor of what is at `path` after it was locked. Raises BlockingIOError when another has it."""
    while True:
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(fd, path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # removed between open and lock: what is locked has no name any more


def _is_at(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False


def _holder(path: Path) -> Held:
    with suppress(OSError, ValueError, RecursionError):
        match json.loads(path.read_bytes()):
            case {"pid": int(pid), "role": str(role)}:
                return Held(pid, role)
            case _:
                pass
    return Held(0, "")
