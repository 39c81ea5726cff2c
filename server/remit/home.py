"""Where does Remit keep things on this machine, and which of them belong to a workspace?

Knows folders, names and who may look into them (POSIX). Does not know what is written there, takes no lock and opens
no socket. Nothing here is inside a workspace, and nothing but `private`, `keep` and `announce` writes.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import platformdirs

from remit.core.faults import Json, UserFault, WorldFault

SOCKET_BYTES = 103 if sys.platform == "darwin" else 107
"""The longest path a Unix socket can have, without its final NUL (`sun_path` in unix(7))."""

TEMP = ".new-"
"""How the name of a file begins that `keep` has not finished; left behind only by a crash."""


@dataclass(frozen=True, slots=True)
class Home:
    """`state` lasts (journals); `run` need not outlive a login (sockets, tokens). Both may not exist yet."""

    state: Path
    run: Path


@dataclass(frozen=True, slots=True)
class Place:
    """Everything that belongs to one workspace. `state` is its journal's folder; `lock` and `info` lie in it."""

    id: str
    root: Path
    state: Path
    lock: Path
    socket: Path
    token: Path
    info: Path


@dataclass(frozen=True, slots=True)
class Session:
    """The session that announced itself for a workspace. Doors use its `socket`, whatever their environment says."""

    pid: int
    role: str
    version: str
    root: Path
    socket: Path
    token: Path


def home(env: Mapping[str, str] = os.environ) -> Home:
    """REMIT_HOME holds both folders; else the user's state folder, and XDG_RUNTIME_DIR when that is safely ours.

    Creates nothing. Raises UserFault `bad_home` when REMIT_HOME is not an absolute path.
    """
    if chosen := env.get("REMIT_HOME"):
        base = Path(chosen)
        if not base.is_absolute():
            raise UserFault("bad_home", "REMIT_HOME is not an absolute path.", remedy="Set it to one.", value=chosen)
        return Home(base / "state", base / "run")
    # A relative path in an XDG variable is to be ignored (XDG Base Directory Specification).
    xdg = Path(env.get("XDG_STATE_HOME", ""))
    state = xdg / "remit" if xdg.is_absolute() else platformdirs.user_state_path("remit", appauthor=False)
    runtime = Path(env.get("XDG_RUNTIME_DIR", ""))
    ours = runtime.is_absolute() and _ours(runtime)
    return Home(state, runtime / "remit" if ours else state / "run")


def place(root: Path, home: Home) -> Place:
    """The place of the workspace at `root`, the same under each of its names (links, bind mounts, other case).

    The id is made from the resolved path, because device numbers change between boots; a known place whose root is this
    very directory (device and inode, compared now) comes first. Creates nothing.
    Raises UserFault `no_workspace` (no such directory) and `path_too_long` (no room for a socket).
    """
    try:
        real = root.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError) as error:
        raise _no_workspace(root, str(error)) from error
    if not stat.S_ISDIR(found.st_mode):
        raise _no_workspace(root, "not a directory")
    return _at(_identify(real, found, list(_known(home))), real, home)


def private(folder: Path) -> Path:
    """Makes `folder` (0700, and missing parents) and checks it: a real directory, ours, closed to everybody else.

    A folder that is not so is refused, never repaired: somebody else may have put things into it.
    Raises WorldFault `unsafe_folder`, or `unwritable_folder` when it cannot be made.
    """
    try:
        _make(folder)
    except OSError as error:
        message = f"The folder {folder.name[:40]} cannot be made: {error.strerror}."
        remedy = "Make room or give access to it."
        raise WorldFault("unwritable_folder", message, remedy=remedy, folder=str(folder)) from error
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unsafe(folder, "not a directory that can be opened") from error
    try:
        found, above = os.fstat(fd), folder.parent.stat()
    finally:
        os.close(fd)
    if found.st_uid != os.geteuid():
        raise _unsafe(folder, "owned by another user")
    if found.st_mode & 0o077:
        raise _unsafe(folder, "open to other users")
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        raise _unsafe(folder, "in a folder that anybody can change")
    return folder


def keep(path: Path, data: bytes) -> None:
    """Writes a file (0600) all or not at all; durable on return. Raises OSError, and leaves no half file then."""
    temp = path.with_name(f"{TEMP}{secrets.token_hex(8)}")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(fd, left) :]
            settle(fd)
        finally:
            os.close(fd)
        os.rename(temp, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temp)
        raise
    settle(path.parent)


def settle(what: int | Path) -> None:
    """Waits until a file (or a folder's list of names) is on the disk itself. Raises OSError."""
    fd = what if isinstance(what, int) else os.open(what, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if sys.platform == "darwin":
            import fcntl  # fsync leaves the data in the drive's cache there (fsync(2), F_FULLFSYNC)

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)
    finally:
        if fd is not what:
            os.close(fd)


def announce(place: Place, role: str, version: str) -> Session:
    """Writes down who serves this workspace (this process), so that doors find it and its other names are known.

    The file stays when the session ends: it is live only as long as its process and its socket are there.
    Raises WorldFault `unsafe_folder`, `unwritable_folder`.
    """
    private(place.state)
    session = Session(os.getpid(), role, version, place.root, place.socket, place.token)
    raw: dict[str, Json] = {
        "pid": session.pid,
        "role": role,
        "version": version,
        "root": str(place.root),
        "inode": place.root.stat().st_ino,
        "socket": str(place.socket),
        "token": str(place.token),
    }
    try:
        keep(place.info, json.dumps(raw, indent=1).encode())
    except OSError as error:
        message = f"The session cannot be announced: {error.strerror}."
        raise WorldFault("unwritable_folder", message, remedy="Make room.", folder=str(place.state)) from error
    return session


def live(place: Place) -> Session | None:
    """The session that serves this workspace now, as far as can be seen without connecting to it."""
    return _live(_read(place.info))


def find_root(start: Path, home: Home) -> Path:
    """The workspace that `start` (a folder, or a file in it) belongs to, resolved.

    The nearest folder above with a live session; else with `.remit`; else with `.git` (also a file); else `start`,
    or the nearest folder above it that exists. Raises UserFault `no_workspace` for a loop of links.
    """
    try:
        here = start.resolve()
    except (OSError, RuntimeError) as error:
        raise _no_workspace(start, str(error)) from error
    here = next(folder for folder in (here, *here.parents) if os.path.isdir(folder))
    above = (here, *here.parents)
    served = [session.root for session in _sessions(home)]
    tests: tuple[Callable[[Path], bool], ...] = (
        lambda folder: any(_same(root, folder) for root in served),
        lambda folder: os.path.isdir(folder / ".remit"),
        lambda folder: os.path.exists(folder / ".git"),
    )
    return next((folder for test in tests for folder in above if test(folder)), here)


def _at(id: str, root: Path, home: Home) -> Place:
    state = home.state / "workspaces" / id
    # A deep home leaves no room for a socket's name. The folder that stands in is checked by `private` like any other.
    for run in (home.run, Path(tempfile.gettempdir()) / f"remit-{os.geteuid()}"):
        socket = run / f"{id}.sock"
        if len(os.fsencode(socket)) <= SOCKET_BYTES:
            return Place(id, root, state, state / "lock", socket, run / f"{id}.token", state / "session.json")
    raise UserFault(
        "path_too_long",
        f"No folder is short enough for a socket (at most {SOCKET_BYTES} bytes).",
        remedy="Set REMIT_HOME to a shorter path.",
        path=str(home.run),
    )


def _identify(real: Path, found: os.stat_result, known: list[tuple[str, dict[str, Json]]]) -> str:
    same = (id for id, info in known if _is(info, found))
    return min(same, default=sha256(os.fsencode(real)).hexdigest()[:16])


def _is(info: dict[str, Json], found: os.stat_result) -> bool:
    # The inode first: it spares a look at each other workspace, some of which may be on disks that do not answer.
    if info.get("inode") != found.st_ino:
        return False
    try:
        return os.path.samestat(os.stat(str(info.get("root"))), found)
    except (OSError, ValueError):
        return False


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _known(home: Home) -> Iterator[tuple[str, dict[str, Json]]]:
    with suppress(OSError):
        for folder in sorted((home.state / "workspaces").iterdir()):
            if (info := _read(folder / "session.json")) is not None:
                yield folder.name, info


def _read(info: Path) -> dict[str, Json] | None:
    try:
        raw = json.loads(info.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _sessions(home: Home) -> Iterator[Session]:
    for _, raw in _known(home):
        if (session := _live(raw)) is not None:
            yield session


def _live(raw: dict[str, Json] | None) -> Session | None:
    match raw:
        case {
            "pid": int(pid),
            "role": str(role),
            "version": str(version),
            "root": str(root),
            "socket": str(socket),
            "token": str(token),
        }:
            there = _alive(pid) and _is_socket(socket)
            return Session(pid, role, version, Path(root), Path(socket), Path(token)) if there else None
        case _:
            return None


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False  # to kill(2) these are groups
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _ours(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _make(folder: Path) -> None:
    if folder.is_symlink() or folder.exists():
        return
    if not folder.parent.exists():
        _make(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(0o700)
        settle(folder.parent.resolve())


def _unsafe(folder: Path, why: str) -> WorldFault:
    return WorldFault(
        "unsafe_folder",
        f"The folder {folder.name[:40]} is {why}.",
        remedy="Look who made it; then remove it, or `chmod 700` it if it is yours.",
        folder=str(folder),
        why=why,
    )


def _no_workspace(root: Path, why: str) -> UserFault:
    name = root.name[:40] or str(root)[:40]
    return UserFault(
        "no_workspace", f"{name} is not a folder that can be opened.", remedy="Open one.", root=str(root), why=why
    )
