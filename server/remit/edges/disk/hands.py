"""One file change, done or taken back without losing a save that races with it.

The rule of every step: what was displaced is looked at after it was displaced, and what is not the promised base goes
back on top. Knows one change at a time; that many happen as one is `staged`'s.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain

from remit.core.effects import DiskChange
from remit.core.faults import AgentFault
from remit.edges.disk import kernel
from remit.edges.disk.root import Root, digest, digest_of, path_changed

_ROUNDS = 16
_COPIES = 1000
PART = ".part"
"""The end of a name under which a text is still being written: never in place, never anybody's only copy."""
_UNREADABLE = "unreadable"


@dataclass(slots=True)
class Item:
    """A change with its places: `home` is the folder of the temporary file, `parent` that of the file itself.

    `digest`: of `after`; None for a delete. `identity`: device and inode of `home` when it was staged.
    """

    change: DiskChange
    home: str
    identity: tuple[int, int]
    temp: str
    digest: str | None
    parent: str = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.parent, _, self.name = self.change.path.rpartition("/")


class Stuck(Exception):
    """A move failed half way and could not be put back."""


class Hands:
    """Does, takes back and cleans up single changes. `made`: folders made on the way, outermost first.

    `exchange`: every move so far was one step of the kernel. `kept`: path to the copy of a text somebody saved.
    """

    def __init__(self, root: Root, moves: kernel.PlainMoves) -> None:
        self._root, self._moves = root, moves
        self.exchange = True
        self.made: list[str] = []
        self.kept: dict[str, str] = {}

    def apply(self, item: Item) -> None:
        """Do one change. After AgentFault `stale`, `path_changed` or OSError it is as it was; after Stuck it is not."""
        with self._at(item) as (home, parent):
            if item.change.before is None:
                try:
                    self._place(home, item.temp, parent, item.name)
                except FileExistsError:
                    raise stale(item.change.path, _look(parent, item.name)) from None
            elif item.change.after is None:
                self._delete(item, home)
            else:
                self._replace(item, home)

    def take_back(self, item: Item) -> bool:
        """Whether the file is again what it was before; otherwise it is what somebody made of it meanwhile."""
        with self._at(item) as (home, parent):
            if item.change.before is None:
                return self._remove_created(item, home, parent)
            if item.change.after is None:
                try:
                    self._place(home, item.temp, home, item.name)
                except FileExistsError:
                    return False
                return True
            if digest(home, item.name) is None:
                return False
            return self._settle(home, item, item.change.before) == item.digest

    def drop(self, item: Item, expected: str) -> None:
        """Remove the temporary file if it still holds `expected`; what somebody wrote into it is kept by name."""
        with suppress(OSError), self._root.directory(item.home) as home:
            if _drop(home, item.temp, expected) is False:
                self._keep(home, item)

    def _replace(self, item: Item, home: int) -> None:
        try:
            self._exchange(home, item)
        except FileNotFoundError:
            if (current := _look(home, item.name)) == item.change.before:
                raise
            raise stale(item.change.path, current) from None
        displaced = _look(home, item.temp)
        if displaced == item.change.before:
            return
        try:
            if self._settle(home, item, displaced) != item.digest:
                self._keep(home, item)
        except OSError as error:
            raise Stuck from error
        raise stale(item.change.path, displaced)

    def _delete(self, item: Item, home: int) -> None:
        try:
            self._place(home, item.name, home, item.temp)
        except FileNotFoundError:
            raise stale(item.change.path, None) from None
        displaced = _look(home, item.temp)
        if displaced == item.change.before:
            return
        try:
            self._place(home, item.temp, home, item.name)
        except FileExistsError:
            self._keep(home, item)
        except OSError as error:
            raise Stuck from error
        raise stale(item.change.path, displaced)

    def _remove_created(self, item: Item, home: int, parent: int) -> bool:
        try:
            self._place(parent, item.name, home, item.temp)
        except FileNotFoundError:
            return True
        if _look(home, item.temp) == item.digest:
            return True
        try:
            self._place(home, item.temp, parent, item.name)
        except FileExistsError:
            self._keep(home, item)
        return False

    def _settle(self, home: int, item: Item, held: str | None) -> str | None:
        """Swap until the newest text is on top; returns the digest of what is left in the temporary file.

        `held` is what that file holds now and should be on top. If the swap brings out a text that was never seen,
        somebody saved in between, and that text is newer still.
        """
        known = {item.digest, held}
        for _ in range(_ROUNDS):
            try:
                self._exchange(home, item)
            except FileNotFoundError:
                self._place(home, item.temp, home, item.name)
                return item.digest
            held = _look(home, item.temp)
            if held in known:
                return held
            known.add(held)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), item.name)

    @contextmanager
    def _at(self, item: Item) -> Iterator[tuple[int, int]]:
        """The item's two folders, home as it was when staged; missing ones on the way to `parent` are made."""
        with ExitStack() as stack:
            try:
                home = stack.enter_context(self._root.directory(item.home))
            except FileNotFoundError:
                raise path_changed(item.change.path) from None
            found = os.fstat(home)
            if (found.st_dev, found.st_ino) != item.identity:
                raise path_changed(item.change.path)
            at, parent = item.home, home
            below = item.parent.removeprefix(item.home).strip("/")
            for name in below.split("/") if below else ():
                at = f"{at}/{name}" if at else name
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=parent)
                    self.made.append(at)
                parent = self._root.opener(parent, name, os.O_RDONLY | kernel.FOLDER)
                stack.callback(os.close, parent)
            yield home, parent

    def _keep(self, home: int, item: Item) -> None:
        """Give a text that is somebody else's a name that no sweep removes."""
        name = _put_by(self._moves, home, item.temp)
        self.kept[item.change.path] = f"{item.home}/{name}" if item.home else name

    def _exchange(self, home: int, item: Item) -> None:
        self.exchange &= self._moves.exchange(home, item.temp, item.name)

    def _place(self, source: int, name: str, target: int, new: str) -> None:
        self.exchange &= self._moves.place(source, name, target, new)


def drop_leftover(root: Root, moves: kernel.PlainMoves, path: str, known: Callable[[str], bool]) -> str | None:
    """Remove a temporary file that no action needs, unless some program is writing into it.

    A text that is not known may be a save that nobody has elsewhere: it is put by. Returns where what was at `path`
    is now: "" when it is gone, `path` when it stays.
    """
    parent, _, name = path.rpartition("/")
    try:
        with root.directory(parent) as folder:
            held = digest(folder, name)
            if name.endswith(PART) or (held is not None and known(held)):
                return "" if _drop(folder, name, held) is True else path
            put = _put_by(moves, folder, name)
            return f"{parent}/{put}" if parent else put
    except OSError:
        return path


def _put_by(moves: kernel.PlainMoves, folder: int, temp: str) -> str:
    """Rename a temporary file to the first free name of a conflict copy; that name."""
    stem = temp.removesuffix(".swap").removesuffix(".tmp")
    for name in chain([f"{stem}.conflict"], (f"{stem}-{number}.conflict" for number in range(2, _COPIES))):
        with suppress(FileExistsError):
            moves.place(folder, temp, folder, name)
            return name
    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), temp)


def stale(path: str, current: str | None) -> AgentFault:
    """The refusal of a change whose base is not there. `current`: the digest that is."""
    return AgentFault(
        "stale",
        "The file is not what this change was made from.",
        remedy="Read the file again and make the change from its present text.",
        path=path,
        current=current,
    )


def _look(folder: int, name: str) -> str | None:
    """A digest that never fails: what cannot be read is not the base, and so goes back."""
    try:
        return digest(folder, name)
    except OSError:
        return _UNREADABLE


def _drop(folder: int, name: str, expected: str | None) -> bool | None:
    """Unlink a file that holds what we expect and that nobody is writing into; None when there is none."""
    try:
        fd = os.open(name, kernel.READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        with kernel.unwritten(fd) as still:
            if not still or digest_of(fd) != expected:
                return False
            os.unlink(name, dir_fd=folder)
            return True
    finally:
        os.close(fd)
