"""The journal on disk: records in SQLite, contents beside them by digest, and the lock of the one who may write.

Knows files, transactions and what makes them durable. Does not know what an event means and decides nothing.

    journal.db    one table; WAL with synchronous=FULL, which lost nothing in power cuts where NORMAL did
    blobs/ab/cd…  contents by SHA-256, durable before the record that cites them
    anchor.json   the head at the first commit, at every 64th and at close
    lock          who writes

The chain names changed, missing and swapped records. The anchor adds a lost or rewritten tail up to where it was last
written: after a crash that may be 64 commits behind, and whoever removes or rewrites the anchor too is not seen.
"""

from remit.edges.store.journal import Store
from remit.edges.store.lock import Held, Lock

__all__ = ["Held", "Lock", "Store"]
