"""Contents by digest: one file each, never changed, checked when read.

Knows SHA-256 and files. Does not know who cites a content or how long it is to be kept.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from remit.core.faults import OurFault, WorldFault
from remit.home import TEMP, keep, private, settle


class Blobs:
    """A private folder of contents, at `ab/cdef…` by the hex of their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = private(folder)
        self._durable: set[Path] = set()

    def get(self, digest: str) -> bytes | None:
        """The contents, None if they are not kept. Raises WorldFault `blob_damaged`, `blob_unreadable`."""
        path = self._path(digest)
        try:
            data = read(path)
        except OSError as error:
            message = f"The contents {digest[:12]}… cannot be read: {error.strerror}."
            raise WorldFault("blob_unreadable", message, remedy="Check the disk.", digest=digest) from error
        if data is not None and sha256(data).hexdigest() != digest:
            message = f"The contents {digest[:12]}… were changed on disk."
            raise WorldFault("blob_damaged", message, remedy="Restore them from a backup.", digest=digest)
        return data

    def put(self, digest: str, data: bytes) -> None:
        """Keeps contents; durable on return. Damaged ones are replaced. Raises OSError, and OurFault `digest_wrong`."""
        path = self._path(digest)
        if sha256(data).hexdigest() != digest:
            raise OurFault("digest_wrong", "Contents do not have the digest they are kept under.", digest=digest)
        if path.parent not in self._durable:
            with suppress(FileExistsError):
                path.parent.mkdir(0o700)
            settle(self._folder)
            self._durable.add(path.parent)
        if read(path) == data:
            # It may be there from a process that died before it was durable.
            settle(path)
            settle(path.parent)
        else:
            keep(path, data)

    def sweep(self) -> None:
        """Removes what a crash left half written. Only for the one who writes. Raises OSError."""
        for left in self._folder.glob(f"*/{TEMP}*"):
            left.unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        if re.fullmatch(r"[0-9a-f]{64}", digest) is None:
            raise OurFault("digest_wrong", "Not a SHA-256 in hex.", remedy="Report this bug.", digest=digest)
        return self._folder / digest[:2] / digest[2:]


def read(path: Path) -> bytes | None:
    """A file's bytes, None if there is none; follows no link at its end, waits for no pipe. Raises OSError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()
