"""What the journal says when it cannot. Knows errors of SQLite and the system; does nothing."""

from __future__ import annotations

import errno

import apsw

from remit.core.chain import WORDS, Broken
from remit.core.faults import WorldFault


def damaged(broken: Broken) -> WorldFault:
    where = f"at record {broken.seq}" if broken.seq else "as a whole"
    return WorldFault(
        "journal_damaged",
        f"The journal is damaged {where}: {WORDS[broken.why]}.",
        remedy="Read it with `remit journal`. To begin a new one, move its folder away and keep it.",
        seq=broken.seq,
        why=broken.why,
    )


def unwritable(error: OSError | apsw.Error) -> WorldFault:
    reason, remedy = _reason(error)
    message = f"The journal cannot be written ({reason}), so nothing was recorded."
    return WorldFault("journal_unwritable", message, remedy=remedy, reason=reason, detail=_detail(error))


def unreadable(error: OSError | apsw.Error) -> WorldFault:
    reason, remedy = _reason(error)
    message = f"The journal cannot be opened ({reason})."
    return WorldFault("journal_unreadable", message, remedy=remedy, reason=reason, detail=_detail(error))


def newer(found: int, known: int) -> WorldFault:
    message = f"The journal has schema {found}; this Remit knows {known}."
    return WorldFault("journal_newer", message, remedy="Use the Remit that wrote it.", found=found, known=known)


def moved() -> WorldFault:
    message = "The journal's files were removed or replaced while in use."
    return WorldFault("journal_moved", message, remedy="Put them back, or restart Remit.")


def old_sqlite(version: str) -> WorldFault:
    return WorldFault("sqlite_old", f"SQLite {version} can lose committed records.", remedy="Update apsw.")


def _detail(error: OSError | apsw.Error) -> str:
    # Without the file's name: the refusal may go to an agent, and where the journal lies is none of its business.
    return error.strerror or "" if isinstance(error, OSError) else str(error)


def _reason(error: OSError | apsw.Error) -> tuple[str, str]:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, apsw.FullError) or number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "disk full", "Make room on the disk; it then goes on without a restart."
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError) or number in (errno.EROFS, errno.EACCES):
        return "read-only", "Give write access to Remit's state folder."
    if isinstance(error, apsw.BusyError | apsw.LockedError | apsw.ConstraintError):
        return "in use by another process", "End the other Remit that has this workspace."
    if isinstance(error, apsw.ConnectionClosedError):
        return "closed", "Restart Remit."
    return "input/output error", "Check the disk."
