"""The one table of records, in SQLite.

Knows SQL, WAL and damage. Does not know what an event means, nor contents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import apsw

from remit.core.chain import Anchor, Broken, Record, canonical, parse, verify
from remit.core.faults import WorldFault
from remit.edges.store import refusals
from remit.home import settle

SCHEMA = 1
MIGRATIONS: Mapping[int, str] = MappingProxyType({})
"""SQL that leads from a schema to the next one."""

GROWN: Final = 4_000_000
"""Bytes of WAL that are there from the start: about the 1000 pages after which SQLite begins it again."""

_APPLICATION = 0x52454D54  # "REMT" tells a journal from any other SQLite file
_CREATE = (
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, event TEXT NOT NULL,"
    " prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT;"
    f" PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {SCHEMA}"
)
# As bytes: damaged text need not be UTF-8.
_SELECT = (
    "SELECT seq, CAST(at AS BLOB), CAST(event AS BLOB), CAST(prev AS BLOB), CAST(hash AS BLOB)"
    " FROM records WHERE seq > ? ORDER BY seq"
)
_BATCH = 500
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.TooBigError, UnicodeDecodeError)

Row: TypeAlias = tuple[Any, ...]


class Table:
    """An open journal file. `damaged`, `unreadable` and `head` are what was found when it was opened."""

    damaged: Broken | None = None
    unreadable: tuple[int, ...] = ()
    head: Record | None = None

    def __init__(self, path: Path, anchor: Anchor | Broken | None) -> None:
        """Raises WorldFault `journal_newer`, `journal_unreadable`."""
        self._path = path
        self._wal = path.with_name(f"{path.name}-wal")
        self._db = _connect(path)
        try:
            self._open(anchor)
            self._files = {file: _identity(file) for file in (path, self._wal)}
        except BaseException as error:
            self._keep_wal()
            self._db.close()
            if isinstance(error, apsw.Error | OSError):
                raise refusals.unreadable(error) from error
            raise

    def add(self, records: Sequence[Record]) -> None:
        """Adds records in one durable transaction. Raises apsw.Error or WorldFault `journal_moved`, adding none."""
        if any(_identity(file) != seen for file, seen in self._files.items()):
            raise refusals.moved()
        rows = [(record.seq, record.at, canonical(record.event), record.prev, record.hash) for record in records]
        self._transact(partial(self._db.executemany, "INSERT INTO records VALUES (?, ?, ?, ?, ?)", rows))

    def read(self, after: int) -> Iterator[Record]:
        """In order; of a damaged journal, what can be read. Raises WorldFault `journal_damaged` for new damage."""
        for row in self._rows(after):
            try:
                yield _record(row)
            except ValueError as error:
                if self.damaged is None:
                    raise refusals.damaged(Broken(row[0], "unreadable")) from error

    def grow(self) -> None:
        if self.damaged is not None or (self._wal.exists() and self._wal.stat().st_size >= GROWN):
            return
        cache = self._db.pragma("cache_size")
        with suppress(apsw.Error, OSError):
            try:
                # A transaction larger than the cache spills into the WAL; rolled back, it leaves only the length.
                self._db.pragma("cache_size", 16)
                self._db.execute("BEGIN IMMEDIATE; CREATE TABLE pad (data)")
                self._db.execute("INSERT INTO pad VALUES (zeroblob(?))", (GROWN + 200_000,))
            finally:
                self._rollback()
                self._db.pragma("cache_size", cache)
            settle(self._wal)  # SQLite's locks are on other files, so closing this one drops none

    def close(self) -> None:
        self._files = {}  # SQLite removes the WAL now
        self._db.close()

    def _open(self, anchor: Anchor | Broken | None) -> None:
        """Looks before it writes: a damaged or newer journal stays as it is, byte for byte."""
        empty = False
        try:
            empty = self._is_empty()
            if not empty:
                self._check_schema(self._db.pragma("user_version"))
            self.damaged = self._verify(anchor, empty)
        except _DAMAGE:
            self.damaged = Broken(0, "file")
        if self.damaged is None:
            self._prepare(empty)
        else:
            self._keep_wal()
            self.unreadable = tuple(self._unreadables())
        self.head = self._last()

    def _is_empty(self) -> bool:
        tables = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        # Not only no table: one damaged byte can hide them all, and the next one would be written over them.
        return tables == [(0,)] and self._db.pragma("page_count") <= 1 and not self._db.pragma("user_version")

    def _check_schema(self, version: int) -> None:
        if self._db.pragma("application_id") != _APPLICATION or version < 1:
            raise apsw.NotADBError("not a journal")
        if version > SCHEMA:
            raise refusals.newer(version, SCHEMA)
        # Before the chain is read, because that needs today's table. Each step is one transaction.
        for step in range(version, SCHEMA):
            self._transact(partial(self._db.execute, f"{MIGRATIONS[step]}; PRAGMA user_version = {step + 1}"))

    def _verify(self, anchor: Anchor | Broken | None, empty: bool) -> Broken | None:
        if isinstance(anchor, Broken):
            return anchor
        try:
            verdict = verify(iter(()) if empty else self.read(0), anchor)
        except WorldFault as fault:
            seq = fault.data.get("seq")
            return Broken(seq if isinstance(seq, int) else 0, "unreadable")
        if isinstance(verdict, Broken):
            return verdict
        # The records are whole, but the next one would be built into a tree that need not be.
        whole = empty or self._db.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        return None if whole else Broken(0, "file")

    def _prepare(self, empty: bool) -> None:
        if self._db.pragma("journal_mode", "wal") != "wal":
            raise apsw.CantOpenError("no write-ahead log on this file system")
        for name, value in (("synchronous", "FULL"), ("fullfsync", 1), ("checkpoint_fullfsync", 1)):
            self._db.pragma(name, value)
        if empty:
            self._transact(self._create)
            settle(self._path.parent)

    def _create(self) -> None:
        if self._is_empty():  # another process may have been first
            self._db.execute(_CREATE)

    def _transact(self, work: Callable[[], object]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            work()
            self._db.execute("COMMIT")
        finally:
            self._rollback()

    def _rollback(self) -> None:
        if self._db.in_transaction:
            with suppress(apsw.Error):
                self._db.execute("ROLLBACK")

    def _keep_wal(self) -> None:
        # The last connection to close would otherwise copy the WAL into a file that is to stay as it is.
        self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def _rows(self, after: int) -> Iterator[Row]:
        more = whole = True
        while more:
            rows, whole = self._batch(after)
            yield from rows
            after = rows[-1][0] if rows else after
            more = whole and bool(rows)
        if not whole and self.damaged is None:
            raise refusals.damaged(Broken(after + 1, "unreadable"))
        if not whole:
            yield from reversed(self._batch(after, backward=True)[0])

    def _batch(self, after: int, *, backward: bool = False) -> tuple[list[Row], bool]:
        """Rows up to the first that SQLite cannot reach, and whether there was none such."""
        rows: list[Row] = []
        query = f"{_SELECT} DESC" if backward else f"{_SELECT} LIMIT {_BATCH}"
        try:
            for row in self._db.execute(query, (after,)):
                last = rows[-1][0] if rows else None
                if row[0] <= after or (last is not None and (row[0] < last) != backward):
                    return rows, False  # out of order: a damaged tree
                rows.append(row)
        except _DAMAGE:
            return rows, False
        return rows, True

    def _last(self) -> Record | None:
        """The last record; if that cannot be read, the last before it that can."""
        with suppress(*_DAMAGE):
            for row in self._db.execute(f"{_SELECT} DESC", (0,)):
                with suppress(ValueError):
                    return _record(row)
        return None

    def _unreadables(self) -> Iterator[int]:
        for row in self._rows(0):
            try:
                _record(row)
            except ValueError:
                yield row[0]


def _connect(path: Path) -> apsw.Connection:
    version = apsw.sqlite_lib_version()
    number = tuple(map(int, version.split(".")))
    # Before these, a checkpoint could skip committed pages (sqlite.org/wal.html#walresetbug).
    if not (number >= (3, 51, 3) or (3, 50, 7) <= number < (3, 51) or (3, 44, 6) <= number < (3, 45)):
        raise refusals.old_sqlite(version)
    try:
        # Made here for its mode, which SQLite gives to the files beside it too.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except (OSError, apsw.Error) as error:
        raise refusals.unreadable(error) from error
    db.set_busy_timeout(2000)
    return db


def _record(row: Row) -> Record:
    """Raises ValueError for a row that is no record any more."""
    seq, *texts = row
    try:
        at, event, prev, digest = (text.decode() for text in texts)
        return Record(seq, at, parse(event), prev, digest)
    except (AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
