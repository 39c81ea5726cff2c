"""The lost-edit race: an editor process saves while we replace the same file; `edges/test_race` reads the figures.

A program of its own, because it forks the editor: two processes on two cores meet inside the system calls, which two
threads of one interpreter never do. Each way of saving races with the real disk protocol and with what everybody
writes first (compare, then replace), which must lose or the zeros of the other prove nothing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from remit.core.faults import AgentFault, WorldFault
from remit.edges.disk import Disk, DiskChange

FILE = "a"
FSYNC = 1e-4
LEAD = 2e-4
"""Seconds that the editor is ahead, since it has to wake up first. FSYNC: what one costs here."""


def by_rename(path: Path, data: bytes) -> None:
    spare = path.with_name(path.name + "~new")
    spare.write_bytes(data)
    spare.rename(path)


def in_place(path: Path, data: bytes) -> None:
    """The old length first: what is written over stays readable until it is cut."""
    with path.open("r+b" if path.exists() else "wb", buffering=0) as file:
        file.write(data)
        file.truncate()


def truncate_then_write(path: Path, data: bytes) -> None:
    with path.open("wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        file.write(data[len(data) // 2 :])


def copy_backup(path: Path, data: bytes) -> None:
    """Vim's `backupcopy=yes`."""
    if path.exists():
        shutil.copyfile(path, path.with_name(path.name + "~"))
    path.write_bytes(data)


def move_aside(path: Path, data: bytes) -> None:
    """Vim's `backupcopy=no`: the file is absent for a moment."""
    if path.exists():
        path.rename(path.with_name(path.name + "~"))
    path.write_bytes(data)


SAVES: dict[str, Callable[[Path, bytes], None]] = {
    save.__name__: save for save in (by_rename, in_place, truncate_then_write, copy_backup, move_aside)
}
EDITORS = ("by_rename", "in_place")
"""The two that every editor is one of; the others are their variants, and get a quarter of the rounds."""


def naive(root: Path, base: bytes, ours: bytes) -> str:
    path = root / FILE
    if path.read_bytes() != base:
        return "stale"
    spare = root / "spare"
    with spare.open("wb") as file:
        file.write(ours)
        file.flush()
        os.fsync(file.fileno())
    spare.replace(path)
    return "done"


def careful(root: Path, base: bytes, ours: bytes) -> str:
    """`caught`: the save fell between the last look and the exchange, which is where a naive writer loses it."""
    disk, outcome = Disk(root), "stale"
    try:
        staged = disk.stage("t", [DiskChange(FILE, sha256(base).hexdigest(), ours)])
        outcome = "caught"
        staged.commit()
        staged.finish()
    except (AgentFault, WorldFault) as fault:
        return outcome if fault.code == "stale" else fault.code
    finally:
        disk.close()
    return "done"


def slow_fsync(fd: Any, sync: Callable[[Any], None] = os.fsync) -> None:
    """On a file system in memory a sync costs nothing; on the fastest disk it takes longer than this."""
    sync(fd)
    spin(time.perf_counter() + FSYNC)


def spin(until: float) -> None:
    while time.perf_counter() < until:
        pass


def editor(orders: int, answers: int, path: Path, save: Callable[[Path, bytes], None]) -> None:
    """Save each text that is ordered, so many seconds after the order, until the orders end."""
    while order := os.read(orders, 12):
        delay, number = struct.unpack("=dI", order)
        spin(time.perf_counter() + delay)
        save(path, b"user %d, and a little more" % number)
        os.write(answers, b".")


def outcome_of(root: Path, base: bytes, ours: bytes, apply: Callable[[Path, bytes, bytes], str]) -> str:
    try:
        return apply(root, base, ours)
    except FileNotFoundError:
        return "absent"


def race(root: Path, rounds: int, apply: Callable[[Path, bytes, bytes], str], save: str) -> dict[str, Any]:
    """Figures of `rounds` rounds. `lost`: saves that are nowhere afterwards; `torn`: files that are neither text."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    path, chance = root / FILE, random.Random(save)
    from_editor, answers = os.pipe()
    orders, to_editor = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(to_editor)
        editor(orders, answers, path, SAVES[save])
        os._exit(0)
    os.close(orders)
    outcomes: Counter[str] = Counter()
    lost = torn = 0
    # The race is where an apply turns from stale to done: each round moves towards it, with some play about it.
    middle, began = LEAD, time.perf_counter()
    for number in range(rounds):
        for left in root.iterdir():
            left.unlink()
        base, ours, user = b"base %d" % number, b"ours %d" % number, b"user %d, and a little more" % number
        path.write_bytes(base)
        os.write(to_editor, struct.pack("=dI", middle + chance.uniform(0, 1.5e-4), number))
        spin(time.perf_counter() + LEAD)
        outcome = outcome_of(root, base, ours, apply)
        outcomes[outcome] += 1
        middle = max(0.0, middle + (-3e-6 if outcome == "done" else 3e-6))
        os.read(from_editor, 1)
        lost += user not in [left.read_bytes() for left in root.iterdir()]
        torn += path.read_bytes() not in (ours, user)
    os.close(to_editor)
    os.waitpid(child, 0)
    took = round(time.perf_counter() - began, 1)
    return {"rounds": rounds, "lost": lost, "torn": torn, "seconds": took, "outcomes": dict(outcomes)}


def main(base: Path, rounds: int) -> None:
    os.fsync = slow_fsync  # for both writers alike
    found = {
        save: {
            apply.__name__: race(base / save, rounds if save in EDITORS else rounds // 4, apply, save)
            for apply in (naive, careful)
        }
        for save in SAVES
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
