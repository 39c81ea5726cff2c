"""Files below one root, read and replaced by directory descriptors. The public names and nothing else."""

from remit.core.effects import DiskChange
from remit.edges.disk.files import Disk, Found, Mark
from remit.edges.disk.kernel import Moves, PlainMoves, openat2, walk
from remit.edges.disk.staged import Staged

__all__ = ["Disk", "DiskChange", "Found", "Mark", "Moves", "PlainMoves", "Staged", "openat2", "walk"]
