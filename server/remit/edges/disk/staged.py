"""A set of file changes that happens as one: staged beside its places, committed, and taken back if any part fails.

Keeps no journal: whoever calls writes the intent between `stage` and `commit`, and the outcome after it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Literal

from remit.core import paths
from remit.core.effects import DiskChange
from remit.core.faults import AgentFault, Fault, Json, OurFault, WorldFault
from remit.edges.disk import kernel
from remit.edges.disk.hands import PART, Hands, Item, Stuck, stale
from remit.edges.disk.root import Root, digest, digest_of, fault, not_a_file

_PATH_FAULTS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG})
_ACTION = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class Staged:
    """All changes of one action. Use: `commit` or `abort`; after a commit `finish` or `revert`."""

    def __init__(self, root: Root, moves: kernel.PlainMoves, action: str, changes: Sequence[DiskChange]) -> None:
        if not _ACTION.match(action):
            raise OurFault("bad_action", "The action id cannot be part of a file name.", action=action)
        if len({change.path for change in changes}) != len(changes):
            raise AgentFault(
                "duplicate_path", "One file is changed twice in the same proposal.", remedy="Join the two changes."
            )
        self.action = action
        self._root, self._hands = root, Hands(root, moves)
        self._state: Literal["staged", "committed", "closed"] = "staged"
        self._items: list[Item] = []
        for number, change in enumerate(changes):
            try:
                self._stage(number, change)
            except (Fault, OSError) as error:
                self.abort()
                raise _cause(error, change.path) from error

    @property
    def exchange(self) -> bool:
        """Whether the kernel did every move so far in one step; else a racing save could have been missed."""
        return self._hands.exchange

    @property
    def kept(self) -> dict[str, str]:
        """Path to the copy that was kept of a text somebody saved while we were at it."""
        return dict(self._hands.kept)

    def commit(self) -> None:
        """Do every change, or none.

        AgentFault `stale` (data: path, current, kept) or `path_changed`, WorldFault `write_failed`: everything is as
        it was. WorldFault `outcome_unknown` (data: found, path to digest or None; kept; cause): something could not
        be put back, or the disk did not confirm.
        """
        self._turn("staged", "committed")
        done: list[Item] = []
        # Deletes first: a name may be needed by what replaces it.
        for item in sorted(self._items, key=lambda item: item.change.after is not None):
            try:
                self._hands.apply(item)
            except (Fault, OSError, Stuck) as error:
                self._state = "closed"
                cause = _cause(error, item.change.path)
                self._undo(done, cause, stuck=isinstance(error, Stuck))
                self._drop_ours()
                cause.data["kept"] = dict[str, Json](self.kept)
                raise cause from error
            done.append(item)
        try:
            self._sync(done)
        except OSError as error:
            # After a failed fsync a second one proves nothing, so this is not tried again.
            raise self._unknown(_cause(error, "")) from error

    def revert(self) -> None:
        """After `commit`: put every before-image back where the file is still ours.

        WorldFault `outcome_unknown` (data: found, kept) when some file is not ours any more; those stay as found,
        with the before-image left in its temporary file.
        """
        self._turn("committed", "closed")
        self._undo(self._items, None)
        self._drop_ours()

    def finish(self) -> None:
        """After `commit`: drop the kept before-images.

        WorldFault `late_save` (data: kept) when some program wrote into a file after it was replaced; its text is then
        in the named copy.
        """
        self._turn("committed", "closed")
        for item in self._items:
            if item.change.before is not None:
                self._hands.drop(item, item.change.before)
        if self.kept:
            raise WorldFault(
                "late_save",
                "A program saved into a file after it was replaced; that text was kept in a copy.",
                remedy="Compare the copy with the file.",
                kept=dict[str, Json](self.kept),
            )

    def abort(self) -> None:
        """Before `commit`: drop the new texts; nothing else was changed."""
        self._turn("staged", "closed")
        self._drop_ours()

    def _stage(self, number: int, change: DiskChange) -> None:
        if change.before is None and change.after is None:
            raise OurFault("bad_change", "A change from absent to absent is no change.", path=change.path)
        path = paths.parse(change.path, portable=False)
        real = self._root.real(path)
        if real != path:
            raise AgentFault(
                "path_changed",
                "The path goes through a link, or the disk spells it in another way.",
                remedy="Bind the change to the real path.",
                path=path,
                real=real,
            )
        parent, _, name = path.rpartition("/")
        with ExitStack() as stack:
            home, folder = self._home(parent, stack)
            kept = self._base(folder, name, change) if home == parent else None
            if kept is None and change.before is not None:
                raise stale(path, None)
            here = os.fstat(folder)
            temp = f".remit-{self.action}-{number}.tmp"
            item = Item(change, home, (here.st_dev, here.st_ino), temp, None)
            if change.after is not None:
                item.digest = hashlib.sha256(change.after).hexdigest()
                self._write(folder, item, change.after, self._attributes(change, kept))
        self._items.append(item)

    def _home(self, parent: str, stack: ExitStack) -> tuple[str, int]:
        """The deepest folder on the way to `parent` that exists, open."""
        while True:
            try:
                return parent, stack.enter_context(self._root.directory(parent))
            except FileNotFoundError:
                if not parent:
                    raise
                parent = parent.rpartition("/")[0]

    def _base(self, folder: int, name: str, change: DiskChange) -> kernel.Attributes | None:
        """Check what is there against what must be there; its attributes when there is something."""
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise not_a_file(change.path, "only regular files are changed")
            fd = os.open(name, kernel.READ, dir_fd=folder)
            try:
                if (current := digest_of(fd)) != change.before:
                    raise stale(change.path, current)
                if (links := os.fstat(fd).st_nlink) > 1 and not change.break_link:
                    raise _hard_link(change.path, links)
                return kernel.attributes(fd)
            finally:
                os.close(fd)
        return None

    def _attributes(self, change: DiskChange, kept: kernel.Attributes | None) -> kernel.Attributes | None:
        """What the file keeps: its own, or its source's; None for one that is new."""
        if kept is not None or change.mode_from is None:
            return kept
        source, _, name = paths.parse(change.mode_from, portable=False).rpartition("/")
        with self._root.directory(source) as folder:
            fd = os.open(name, kernel.READ, dir_fd=folder)
            try:
                return kernel.attributes(fd)
            finally:
                os.close(fd)

    def _write(self, folder: int, item: Item, data: bytes, wanted: kernel.Attributes | None) -> None:
        """The new text, whole and durable under the temporary name; under another one until it is that.

        A new file is made as any program makes one: umask or the folder's default access list say who may read it.
        """
        part = f"{item.temp}{PART}"
        rights = 0o666 if wanted is None else 0o600
        fd = os.open(part, kernel.NEW | getattr(os, "O_CLOEXEC", 0), rights, dir_fd=folder)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if wanted is not None:
                kernel.dress(fd, replace(wanted, mode=kernel.executable(wanted.mode, item.change.executable)))
            elif item.change.executable is not None:
                os.fchmod(fd, kernel.executable(stat.S_IMODE(os.fstat(fd).st_mode), item.change.executable))
            os.fsync(fd)
            kernel.Moves().place(folder, part, folder, item.temp)
        except OSError:
            # Not yet an item: nobody else would remove it.
            os.unlink(part, dir_fd=folder)
            raise
        finally:
            os.close(fd)

    def _undo(self, done: Sequence[Item], cause: Fault | None, *, stuck: bool = False) -> None:
        """Take changes back, the last first; WorldFault `outcome_unknown` when one is not ours any more."""
        for item in reversed(done):
            try:
                stuck |= not self._hands.take_back(item)
            except (Fault, OSError):
                stuck = True
        for made in reversed(self._hands.made):
            parent, _, name = made.rpartition("/")
            with suppress(OSError), self._root.directory(parent) as folder:
                os.rmdir(name, dir_fd=folder)
        try:
            self._sync(done)
        except OSError:
            stuck = True
        if stuck:
            raise self._unknown(cause) from cause

    def _sync(self, done: Sequence[Item]) -> None:
        folders = {folder for item in done for folder in (item.home, item.parent)}
        for path in sorted(folders | {made.rpartition("/")[0] for made in self._hands.made}):
            # Undoing may have removed it again; the folder above it is in the set too.
            with suppress(FileNotFoundError), self._root.directory(path) as folder:
                kernel.sync_folder(folder)

    def _unknown(self, cause: Fault | None) -> WorldFault:
        found: dict[str, Json] = {}
        for item in self._items:
            found[item.change.path] = None
            with suppress(OSError), self._root.directory(item.parent) as parent:
                found[item.change.path] = digest(parent, item.name)
        return WorldFault(
            "outcome_unknown",
            "Some files could not be brought to a known state.",
            remedy="Look at the named files; the copies that were kept hold the other texts.",
            found=found,
            kept=dict[str, Json](self.kept),
            cause=cause.code if cause else None,
        )

    def _drop_ours(self) -> None:
        """Remove the temporary files that hold our new texts and nothing else."""
        for item in self._items:
            if item.digest is not None:
                self._hands.drop(item, item.digest)

    def _turn(self, now: Literal["staged", "committed"], then: Literal["committed", "closed"]) -> None:
        if self._state != now:
            raise OurFault("illegal_move", f"These changes are {self._state}, not {now}.")
        self._state = then


def _hard_link(path: str, links: int) -> AgentFault:
    return AgentFault(
        "hard_link",
        f"This file has {links} names; the others would keep the old text.",
        remedy="Ask the human to allow it for this file.",
        path=path,
        links=links,
    )


def _cause(error: Fault | OSError | Stuck, path: str) -> Fault:
    if isinstance(error, Fault):
        return error
    if isinstance(error, OSError) and error.errno in _PATH_FAULTS:
        return fault(error, path)
    known = error if isinstance(error, OSError) else error.__cause__
    name = errno.errorcode.get(known.errno or 0, "unknown") if isinstance(known, OSError) else "unknown"
    return WorldFault(
        "write_failed",
        f"The file could not be written ({name}); nothing was changed.",
        remedy="Free the disk or the file, then try again.",
        path=path,
        error=name,
    )
