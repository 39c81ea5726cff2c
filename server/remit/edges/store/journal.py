"""The journal as its one owner uses it: append, read, fetch contents.

Knows in which order things become durable: contents, then the records that cite them, then now and then the anchor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

import apsw

from remit.core.chain import GENESIS, Anchor, Broken, Record, seal
from remit.core.faults import Json
from remit.edges.store import refusals
from remit.edges.store.blobs import Blobs, read
from remit.edges.store.table import Table
from remit.home import TEMP, keep, private

ANCHOR_EVERY: Final = 64
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_NO_BLOBS: Mapping[str, bytes] = MappingProxyType({})


class Store:
    """One open journal. Exactly one process may append (see `Lock`); others may read.

    `damaged` says where the chain or its anchor does not hold: reading goes on, appending is refused, and nothing on
    disk is changed. `unreadable` lists the records (seq) that `read` has to leave out then.
    """

    def __init__(self, folder: Path) -> None:
        """Opens or makes the journal in `folder` and checks all of it.

        Raises WorldFault `unsafe_folder`, `unwritable_folder`, `journal_newer`, `journal_unreadable`.
        """
        self._folder = private(folder)
        self._blobs = Blobs(folder / "blobs")
        # The anchor first: a writer that goes on meanwhile only adds records, so it is never ahead of what is read.
        self._table = Table(folder / "journal.db", _read_anchor(folder / "anchor.json"))
        self.damaged = self._table.damaged
        self.unreadable = self._table.unreadable
        self._head = self._table.head
        self._commits = 0
        self._swept = False

    @property
    def head(self) -> Record | None:
        """The last record (of a damaged journal: the last that can be read)."""
        return self._head

    def append(
        self, at: str, events: Sequence[Mapping[str, Json]], blobs: Mapping[str, bytes] = _NO_BLOBS
    ) -> tuple[Record, ...]:
        """Adds events, and the contents they cite by SHA-256, all or none; they are durable on return.

        Raises WorldFault `journal_unwritable` (nothing was recorded; may work later), `journal_damaged`,
        `journal_moved`, and OurFault `event_malformed`, `digest_wrong`.
        """
        if self.damaged is not None:
            raise refusals.damaged(self.damaged)
        records = self._seal(at, events)
        try:
            self._sweep()
            for digest, data in blobs.items():
                self._blobs.put(digest, data)
            if records:
                self._table.add(records)
        except (OSError, apsw.Error) as error:
            raise refusals.unwritable(error) from error
        if records:
            self._head = records[-1]
            self._commits += 1
            if self._commits % ANCHOR_EVERY == 1:
                self._anchor()
        return records

    def read(self, after: int = 0) -> Iterator[Record]:
        """The records with seq > `after`, in order, with those that are added while reading.

        Of a damaged journal: all that can be read. Raises WorldFault `journal_damaged` when damage shows only now.
        """
        return self._table.read(after)

    def blob(self, digest: str) -> bytes | None:
        """The contents with this SHA-256, None if they are not kept.

        Raises WorldFault `blob_damaged`, `blob_unreadable`, and OurFault `digest_wrong` for what is no digest.
        """
        return self._blobs.get(digest)

    def grow(self) -> None:
        """Makes the WAL file large once, so that commits overwrite it in place: nearly twice as fast as growing it.

        Only speed depends on it; when there is no room, nothing happens. Some 10 ms: call it after the start.
        """
        self._table.grow()

    def close(self) -> None:
        """Writes the anchor, if anything was added, and closes. May be called twice."""
        if self._commits:
            self._anchor()
            self._commits = 0
        self._table.close()

    def _seal(self, at: str, events: Sequence[Mapping[str, Json]]) -> tuple[Record, ...]:
        records: list[Record] = []
        seq, prev = (self._head.seq, self._head.hash) if self._head else (0, GENESIS)
        for event in events:
            records.append(seal(prev, seq + 1, at, event))
            seq, prev = seq + 1, records[-1].hash
        return tuple(records)

    def _anchor(self) -> None:
        if self._head is None:
            return
        # A missed anchor stops nobody: the records are durable, and the next one makes up for it.
        with suppress(OSError):
            keep(self._folder / "anchor.json", json.dumps({"seq": self._head.seq, "hash": self._head.hash}).encode())

    def _sweep(self) -> None:
        if not self._swept:
            for left in self._folder.glob(f"{TEMP}*"):
                left.unlink(missing_ok=True)
            self._blobs.sweep()
            self._swept = True


def _read_anchor(path: Path) -> Anchor | Broken | None:
    try:
        data = read(path)
    except OSError:
        return Broken(0, "anchor")
    return None if data is None else _anchor_in(data)


def _anchor_in(data: bytes) -> Anchor | Broken:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return Broken(0, "anchor")
    match raw:
        case {"seq": bool()}:
            return Broken(0, "anchor")
        case {"seq": int(seq), "hash": str(digest)} if seq >= 0 and _HASH.fullmatch(digest):
            return Anchor(seq, digest)
        case _:
            return Broken(0, "anchor")
