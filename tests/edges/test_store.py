"""The journal keeps what it acknowledged, names what it lost, and refuses what it cannot keep."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from remit import home
from remit.core.chain import GENESIS, Anchor, Broken, Record, Sound, verify
from remit.core.faults import Json, OurFault, WorldFault
from remit.edges.store import Held, Lock, Store, journal, table
from remit.edges.store.lock import _holder

AT = "2026-12-01T10:00:00Z"
CASES = Path(__file__).parents[1] / "cases"
FILES = ("journal.db", "journal.db-wal", "anchor.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "j"


def note(n: Json) -> dict[str, Json]:
    return {"type": "noted", "n": n}


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def filled(folder: Path, count: int) -> list[Record]:
    with closing(Store(folder)) as store:
        return [store.append(AT, [note(n)])[0] for n in range(1, count + 1)]


def refused(work: Callable[[], object], code: str) -> WorldFault:
    with pytest.raises(WorldFault) as fault:
        work()
    assert fault.value.code == code
    assert len(fault.value.message) <= 100 and fault.value.remedy
    return fault.value


def content(folder: Path) -> dict[str, bytes]:
    found = {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}
    return {name: data for name, data in found.items() if data}  # a reader makes an empty WAL


def crash_image(folder: Path, to: Path) -> Path:
    """What is on disk while the journal is open, as a crash would leave it."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("*-shm"))
    return to


def tamper(folder: Path, sql: str) -> None:
    with closing(apsw.Connection(str(folder / "journal.db"))) as db:
        db.execute(sql)


# What it is for


def test_what_was_appended_is_there_after_reopening(folder: Path) -> None:
    with closing(Store(folder)) as store:
        assert store.head is None and list(store.read()) == []
        one = store.append(AT, [note(1)])
        more = store.append(AT, [note("é\u2028"), note([1.5, None])])
        assert store.append(AT, []) == ()
    with closing(Store(folder)) as store:
        records = list(store.read())
        assert records == [*one, *more]
        assert store.head == more[-1]
        assert [r.seq for r in store.read(after=1)] == [2, 3]
        assert store.append(AT, [note(4)])[0].prev == more[-1].hash
        assert store.damaged is None and store.unreadable == ()


def test_reading_is_in_batches_and_sees_what_comes_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Store(folder)) as store:
        store.append(AT, [note(n) for n in range(1200)])
        reading = store.read()
        assert next(reading).seq == 1
        store.append(AT, [note("late")])
        assert [r.seq for r in reading] == list(range(2, 1202))


def test_all_or_nothing_when_an_event_is_malformed(folder: Path) -> None:
    with closing(Store(folder)) as store:
        with pytest.raises(OurFault):
            store.append(AT, [note(1), note(float("nan"))], {digest(b"x"): b"x"})
        assert store.head is None and list(store.read()) == []
        assert store.blob(digest(b"x")) is None


def test_everything_is_private_and_nothing_is_left_open(folder: Path) -> None:
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)], {digest(b"x"): b"x"})
        modes = {p.stat().st_mode & 0o777 for p in folder.rglob("*") if p.is_file()}
        assert modes == {0o600}
        assert {p.stat().st_mode & 0o777 for p in [folder, *folder.rglob("*")] if p.is_dir()} == {0o700}
    assert sorted(p.name for p in folder.iterdir()) == ["anchor.json", "blobs", "journal.db"]


def test_a_folder_open_to_others_is_refused(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    refused(lambda: Store(folder), "unsafe_folder")
    assert list(folder.iterdir()) == []


def test_it_is_durable_by_setting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[apsw.Connection] = []
    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, opened.append])
    with closing(Store(folder)):
        (db,) = opened
        assert (db.pragma("journal_mode"), db.pragma("synchronous")) == ("wal", 2)


def test_grow_makes_the_wal_large_and_changes_nothing_else(folder: Path, tmp_path: Path) -> None:
    with closing(Store(folder)) as store:
        records = list(store.append(AT, [note(1)]))
        store.grow()
        size = (folder / "journal.db-wal").stat().st_size
        assert size >= table.GROWN
        records += [store.append(AT, [note(n)])[0] for n in range(2, 50)]
        store.grow()
        assert (folder / "journal.db-wal").stat().st_size == size
        assert list(store.read()) == records
        image = crash_image(folder, tmp_path / "image")
    for where in (folder, image):
        with closing(Store(where)) as store:
            assert store.damaged is None and list(store.read()) == records
    assert (folder / "journal.db").stat().st_size < 100_000


# Contents


def test_contents_come_back_by_digest(folder: Path) -> None:
    data = {digest(b): b for b in (b"", b"one", os.urandom(300_000))}
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)], data)
        store.append(AT, [note(2)], data)
        store.append(AT, [], {digest(b"no event"): b"no event"})
    with closing(Store(folder)) as store:
        assert {name: store.blob(name) for name in data} == data
        assert store.blob(digest(b"no event")) == b"no event"
        assert store.blob("0" * 64) is None


def test_damaged_contents_are_named_and_healed_by_the_true_ones(folder: Path) -> None:
    name = digest(b"true")
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)], {name: b"true"})
        (folder / "blobs" / name[:2] / name[2:]).write_bytes(b"trUe")
        assert refused(lambda: store.blob(name), "blob_damaged").data == {"digest": name}
        store.append(AT, [note(2)], {name: b"true"})
        assert store.blob(name) == b"true"


def test_a_link_in_the_place_of_contents_is_not_followed(folder: Path, tmp_path: Path) -> None:
    name = digest(b"true")
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)], {name: b"true"})
        path = folder / "blobs" / name[:2] / name[2:]
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        refused(lambda: store.blob(name), "blob_unreadable")


@pytest.mark.parametrize("name", ["", "../../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n"])
def test_only_a_digest_names_contents(folder: Path, name: str) -> None:
    with closing(Store(folder)) as store:
        with pytest.raises(OurFault):
            store.blob(name)
        with pytest.raises(OurFault):
            store.append(AT, [note(1)], {name: b"x"})
        assert store.head is None


def test_contents_under_a_wrong_digest_are_our_fault(folder: Path) -> None:
    with closing(Store(folder)) as store:
        with pytest.raises(OurFault) as fault:
            store.append(AT, [note(1)], {digest(b"x"): b"y"})
        assert fault.value.code == "digest_wrong"
        assert store.head is None and store.blob(digest(b"x")) is None


def test_half_written_files_of_a_crash_are_removed_by_the_writer(folder: Path) -> None:
    filled(folder, 1)
    (folder / "blobs" / "ab").mkdir(mode=0o700)
    left = [folder / f"{home.TEMP}1", folder / "blobs" / "ab" / f"{home.TEMP}2"]
    for path in left:
        path.write_bytes(b"half")
    with closing(Store(folder)) as store:
        assert all(path.exists() for path in left), "a reader removes nothing"
        store.append(AT, [note(2)])
    assert not any(path.exists() for path in left)


# Killed


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Forks; `work` gets a pipe to acknowledge into. Returns the child's pid and the reading end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        pid = os.fork()  # a test runner with threads is warned; the child uses nothing of theirs
    if pid == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(1)
    os.close(writing)
    return pid, reading


@pytest.mark.parametrize("after", [0, 1, 2, 5, 17, 63, 64, 65, 130, 300])
def test_every_acknowledged_record_survives_kill_9(folder: Path, after: int) -> None:
    def work(pipe: int) -> None:
        store = Store(folder)
        store.grow()
        n = 0
        while True:
            n += 1
            data = f"content {n}".encode()
            records = store.append(AT, [note(n), {"type": "kept", "digest": digest(data)}], {digest(data): data})
            os.write(pipe, f"{records[-1].seq} {records[-1].hash}\n".encode())

    pid, reading = in_child(work)
    with os.fdopen(reading) as lines:
        acknowledged = [next(lines).split() for _ in range(after)]
        os.kill(pid, signal.SIGKILL)
        acknowledged += [line.split() for line in lines]
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    with closing(Store(folder)) as store:
        records = list(store.read())
        assert store.damaged is None
        assert len(acknowledged) >= after
        assert all(records[int(seq) - 1].hash == hash for seq, hash in acknowledged)
        assert len(records) % 2 == 0, "a batch is there as a whole or not at all"
        assert len(records) // 2 - len(acknowledged) in (0, 1)
        assert all(store.blob(str(r.event["digest"])) is not None for r in records if r.event["type"] == "kept")
        assert store.append(AT, [note("on")])[0].seq == len(records) + 1


def test_kill_9_at_each_call_that_makes_contents_durable(tmp_path: Path) -> None:
    def killed_at(n: int, folder: Path) -> bool:
        def work(pipe: int) -> None:
            store = Store(folder)
            store.append(AT, [note(0)])
            count = 0

            def counted(call: Callable[..., object]) -> Callable[..., object]:
                def at(*args: object, **more: object) -> object:
                    nonlocal count
                    count += 1
                    if count == n:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return call(*args, **more)

                return at

            calls = {name: counted(getattr(os, name)) for name in ("open", "write", "fsync", "rename", "close")}
            pytest.MonkeyPatch().setattr(home, "os", SimpleNamespace(**{**vars(os), **calls}))
            store.append(AT, [note(1)], {digest(b"one"): b"one", digest(b"two"): b"two"})
            os.write(pipe, b".")
            os._exit(0)

        pid, reading = in_child(work)
        status = os.waitpid(pid, 0)[1]
        with os.fdopen(reading, "rb") as pipe:
            acknowledged = pipe.read() == b"."
        assert acknowledged == (status == 0) and status in (0, signal.SIGKILL)
        with closing(Store(folder)) as store:
            records = [r.event["n"] for r in store.read()]
            assert store.damaged is None and records in ([0], [0, 1])
            if 1 in records or acknowledged:
                assert records == [0, 1]
                assert (store.blob(digest(b"one")), store.blob(digest(b"two"))) == (b"one", b"two")
            store.append(AT, [note(2)])
        assert list(folder.rglob(f"{home.TEMP}*")) == []
        return status != 0

    points = 0
    while killed_at(points + 1, tmp_path / str(points)):
        points += 1
    assert points >= 15


# Torn and tampered


def test_a_torn_wal_gives_a_prefix_and_the_anchor_tells(folder: Path, tmp_path: Path) -> None:
    store = Store(folder)
    records = [store.append(AT, [note(n)])[0] for n in range(1, 9)]
    whole = crash_image(folder, tmp_path / "whole")
    store.close()
    wal = (whole / "journal.db-wal").read_bytes()
    anchor = Anchor(8, records[-1].hash)
    lengths: set[int] = set()
    for cut in [*range(0, len(wal), 997), *range(len(wal) - 60, len(wal) + 1, 7)]:
        for anchored in (False, True):
            torn = tmp_path / "torn"
            shutil.copytree(whole, torn)
            (torn / "journal.db-wal").write_bytes(wal[:cut])
            (torn / "anchor.json").unlink()
            if anchored:
                (torn / "anchor.json").write_text(json.dumps({"seq": anchor.seq, "hash": anchor.hash}))
            with closing(Store(torn)) as again:
                got = list(again.read())
                assert got == records[: len(got)]
                lost = Broken(len(got) + 1, "truncated") if anchored and len(got) < 8 else None
                assert again.damaged == lost
                if lost is None:
                    assert again.append(AT, [note("new")])[0].seq == len(got) + 1
            lengths.add(len(got))
            shutil.rmtree(torn)
    assert lengths >= {0, 1, 4, 7}


@pytest.mark.parametrize("place", [1, 3, 5])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('UPDATE records SET event = \'{"n":99,"type":"noted"}\'', "content"),
        ("UPDATE records SET event = '{\"n\":'", "unreadable"),
        ("UPDATE records SET event = CAST(x'7bff7d' AS TEXT)", "unreadable"),
        ("UPDATE records SET event = '[]'", "unreadable"),
        ("UPDATE records SET at = '2020-01-01T00:00:00Z'", "content"),
        ("UPDATE records SET prev = 'f'", "link"),
        ("UPDATE records SET hash = upper(hash)", "content"),
        ("DELETE FROM records", "order"),
    ],
)
def test_a_changed_row_is_named_and_appending_refused(folder: Path, place: int, change: str, why: str) -> None:
    records = filled(folder, 6)
    tamper(folder, f"{change} WHERE seq = {place}")
    before = content(folder)
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(place, why)  # type: ignore[arg-type]
        others = [r for r in records if r.seq != place]
        assert [r for r in store.read() if r.seq != place] == others
        assert store.unreadable == ((place,) if why == "unreadable" else ())
        fault = refused(lambda: store.append(AT, [note(7)], {digest(b"x"): b"x"}), "journal_damaged")
        assert fault.data == {"seq": place, "why": why}
        assert store.blob(digest(b"x")) is None
    assert content(folder) == before, "evidence stays as it is"


def test_a_deleted_tail_and_a_deleted_journal_are_found_by_the_anchor(folder: Path) -> None:
    filled(folder, 6)
    tamper(folder, "DELETE FROM records WHERE seq > 4")
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(5, "truncated")
        assert len(list(store.read())) == 4
    (folder / "journal.db").unlink()
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(1, "truncated")
        refused(lambda: store.append(AT, [note(1)]), "journal_damaged")


def test_an_older_copy_put_back_is_found_by_the_anchor(folder: Path, tmp_path: Path) -> None:
    filled(folder, 3)
    shutil.copy(folder / "journal.db", tmp_path / "copy")
    filled(folder, 2)
    shutil.copy(tmp_path / "copy", folder / "journal.db")
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(4, "truncated")


# No place, no hash, a truth value for a place.
NO_ANCHORS = (b'{"seq":-1,"hash":"%064d"}' % 0, b'{"seq":1,"hash":"0"}', b'{"seq":true,"hash":"%064d"}' % 0)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'{"seq":"1","hash":""}', b"\xff", b"[" * 9999, *NO_ANCHORS]
)
def test_an_anchor_that_cannot_be_read_is_named(folder: Path, text: bytes) -> None:
    records = filled(folder, 2)
    (folder / "anchor.json").write_bytes(text)
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(0, "anchor")
        assert list(store.read()) == records


def test_the_anchor_is_written_at_first_now_and_then_and_at_close(folder: Path) -> None:
    def anchored() -> int:
        return int(json.loads((folder / "anchor.json").read_bytes())["seq"])

    store = Store(folder)
    seen = []
    for n in range(1, journal.ANCHOR_EVERY * 2 + 2):
        store.append(AT, [note(n)])
        seen.append(anchored())
    store.close()
    assert seen == [1] * 64 + [65] * 64 + [129]
    with closing(Store(folder)) as store:
        store.append(AT, [note("a"), note("b")])
        store.append(AT, [note("c")])
        assert anchored() == 131
    assert anchored() == 132


def test_flipped_bits_are_named_or_harmless_never_a_changed_record(folder: Path, tmp_path: Path) -> None:
    records = filled(folder, 12)
    whole = (folder / "journal.db").read_bytes()
    dice = random.Random(7)
    used = [n for n, byte in enumerate(whole) if byte] + list(range(120))
    named, codes = 0, set()
    for where in dice.sample(used, 500):
        bad = bytearray(whole)
        bad[where] ^= 1 << dice.randrange(8)
        (folder / "journal.db").write_bytes(bad)
        try:
            store = Store(folder)
        except WorldFault as fault:
            codes.add(fault.code)
            named += 1
            continue
        with closing(store):
            got = list(store.read())
            if store.damaged is None:
                assert got == records
            else:
                named += 1
                assert [r for r in got if r in records] == [r for r in records if r in got]
                refused(lambda store=store: store.append(AT, [note(0)]), "journal_damaged")  # type: ignore[misc]
        if store.damaged is not None:
            assert (folder / "journal.db").read_bytes() == bad
    assert named > 400
    assert codes <= {"journal_newer", "journal_unreadable"}


def test_a_flipped_bit_in_a_record_names_that_record(folder: Path) -> None:
    records = filled(folder, 9)
    whole = (folder / "journal.db").read_bytes()
    for record in records:
        where = whole.index(record.hash.encode())
        (folder / "journal.db").write_bytes(whole[:where] + bytes([whole[where] ^ 4]) + whole[where + 1 :])
        with closing(Store(folder)) as store:
            # The hash is also in the next row, as its `prev`; which of the two comes first in the file is SQLite's.
            assert store.damaged in (Broken(record.seq, "content"), Broken(record.seq + 1, "link"))
            assert len(list(store.read())) == 9


def test_damage_that_comes_while_it_is_open_is_said(folder: Path) -> None:
    filled(folder, 3)
    with closing(Store(folder)) as store:
        tamper(folder, "UPDATE records SET event = 'x' WHERE seq = 2")
        reading = store.read()
        assert next(reading).seq == 1
        assert refused(lambda: next(reading), "journal_damaged").data["seq"] == 2


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 5000])
def test_a_file_cut_short_is_named(folder: Path, size: int) -> None:
    filled(folder, 40)
    whole = (folder / "journal.db").read_bytes()
    assert len(whole) > 5000
    (folder / "journal.db").write_bytes(whole[:size])
    with closing(Store(folder)) as store:
        assert isinstance(store.damaged, Broken)
    assert (folder / "journal.db").read_bytes() == whole[:size]


def test_another_sqlite_file_is_not_written_over(folder: Path) -> None:
    home.private(folder)
    tamper(folder, "CREATE TABLE records (seq INTEGER PRIMARY KEY)")
    before = (folder / "journal.db").read_bytes()
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(0, "file")
    assert (folder / "journal.db").read_bytes() == before


# Schemas


def test_a_newer_schema_is_refused_and_left_alone(folder: Path) -> None:
    filled(folder, 2)
    tamper(folder, "PRAGMA user_version = 2")
    before = content(folder)
    assert refused(lambda: Store(folder), "journal_newer").data == {"found": 2, "known": 1}
    assert content(folder) == before


def test_an_older_schema_is_migrated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = filled(folder, 2)
    monkeypatch.setattr(table, "SCHEMA", 3)
    monkeypatch.setattr(table, "MIGRATIONS", {1: "CREATE TABLE two (x)", 2: "CREATE TABLE three (x)"})
    with closing(Store(folder)) as store:
        assert list(store.read()) == records and store.damaged is None
    with closing(apsw.Connection(str(folder / "journal.db"))) as db:
        assert db.pragma("user_version") == 3
        assert {row[0] for row in db.execute("SELECT name FROM sqlite_schema")} == {"records", "two", "three"}


def test_a_migration_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(folder, 2)
    monkeypatch.setattr(table, "SCHEMA", 2)
    monkeypatch.setattr(table, "MIGRATIONS", {1: "CREATE TABLE two (x); CREATE TABLE records (x)"})
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(0, "file")
    with closing(apsw.Connection(str(folder / "journal.db"))) as db:
        assert db.pragma("user_version") == 1
        assert [row[0] for row in db.execute("SELECT name FROM sqlite_schema")] == ["records"]


# No room, no right, somebody else


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Sets the longest file this process may write, as a full disk would; bytes, -1 for none."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_no_room_for_contents_refuses_and_works_again(folder: Path, limit: Callable[[int], None]) -> None:
    """JR-03: no record without its contents, no half file, and no restart afterwards."""
    data = (CASES / "JR-03" / "before" / "a.txt").read_bytes()
    with closing(Store(folder)) as store:
        first = list(store.append(AT, [note(1)]))
        store.grow()
        room = (folder / "journal.db-wal").stat().st_size
        big = data * (room // len(data) + 2)
        for size in range(room, len(big), len(data) // 3):
            limit(size)
            fault = refused(
                lambda: store.append(AT, [note(2)], {digest(data): data, digest(big): big}), "journal_unwritable"
            )
            limit(-1)
            assert fault.data["reason"] == "disk full"
            assert list(store.read()) == first and store.blob(digest(big)) is None
            assert list(folder.rglob(f"{home.TEMP}*")) == []
        second = store.append(AT, [note(2)], {digest(big): big})
        assert list(store.read()) == [*first, *second] and store.blob(digest(big)) == big


def test_no_room_for_the_record_refuses_and_works_again(folder: Path, limit: Callable[[int], None]) -> None:
    """JR-03, for every place in the WAL where the disk may be full."""
    with closing(Store(folder)) as store:
        records = list(store.append(AT, [note(1)]))
        for n in range(2, 30):
            start = (folder / "journal.db-wal").stat().st_size
            limit(start + n * 139)  # the next frame takes 4120 bytes
            fault = refused(lambda: store.append(AT, [note(n)]), "journal_unwritable")  # noqa: B023
            limit(-1)
            assert fault.data["reason"] in ("disk full", "input/output error")
            assert store.head == records[-1] and list(store.read()) == records
            records += store.append(AT, [note(n)])
    with closing(Store(folder)) as store:
        assert store.damaged is None and list(store.read()) == records


def test_no_room_to_grow_or_to_anchor_stops_nobody(folder: Path, limit: Callable[[int], None]) -> None:
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)])
        limit(50_000)
        store.grow()
        limit(-1)
        (folder / "anchor.json").unlink()
        (folder / "anchor.json").mkdir()
        store.append(AT, [note(2)])
    (folder / "anchor.json").rmdir()
    with closing(Store(folder)) as store:
        assert store.damaged is None and len(list(store.read())) == 2


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "disk full"),
        (errno.EDQUOT, "disk full"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "input/output error"),
    ],
)
def test_the_refusal_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with closing(Store(folder)) as store:
        monkeypatch.setattr(home, "os", SimpleNamespace(**{**vars(os), "fsync": fail}))
        fault = refused(lambda: store.append(AT, [note(1)], {digest(b"x"): b"x"}), "journal_unwritable")
        assert fault.data == {"reason": reason, "detail": os.strerror(number)}
        monkeypatch.undo()
        assert store.head is None and store.blob(digest(b"x")) is None
        assert store.append(AT, [note(1)], {digest(b"x"): b"x"})[0].seq == 1


def test_a_writer_that_is_no_longer_alone_is_refused(folder: Path) -> None:
    with closing(Store(folder)) as one, closing(Store(folder)) as two:
        record = one.append(AT, [note("one")])[0]
        fault = refused(lambda: two.append(AT, [note("two")]), "journal_unwritable")
        assert fault.data["reason"] == "in use by another process"
        assert list(two.read()) == [record] == list(one.read())


def test_a_lock_held_by_another_connection_is_waited_for_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[apsw.Connection] = []
    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, opened.append])
    with closing(Store(folder)) as store, closing(apsw.Connection(str(folder / "journal.db"))) as other:
        opened[0].set_busy_timeout(50)
        other.execute("BEGIN IMMEDIATE")
        assert refused(lambda: store.append(AT, [note(1)]), "journal_unwritable").data["reason"] == (
            "in use by another process"
        )
        other.execute("ROLLBACK")
        assert store.append(AT, [note(1)])[0].seq == 1


@pytest.mark.parametrize("name", ["journal.db", "journal.db-wal"])
def test_files_removed_or_replaced_under_it_are_noticed(folder: Path, name: str) -> None:
    with closing(Store(folder)) as store:
        store.append(AT, [note(1)])
        (folder / name).rename(folder / "aside")
        refused(lambda: store.append(AT, [note(2)]), "journal_moved")
        shutil.copy(folder / "aside", folder / name)
        refused(lambda: store.append(AT, [note(2)]), "journal_moved")
        (folder / "aside").rename(folder / name)
        assert store.append(AT, [note(2)])[0].seq == 2


def test_a_closed_store_refuses(folder: Path) -> None:
    store = Store(folder)
    store.close()
    store.close()
    refused(lambda: store.append(AT, [note(1)]), "journal_unwritable")


def test_an_old_sqlite_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.40.1", "3.44.5", "3.50.6", "3.51.2"):
        monkeypatch.setattr(apsw, "sqlite_lib_version", lambda version=version: version)
        refused(lambda: Store(folder), "sqlite_old")
    for version in ("3.44.6", "3.50.7", "3.51.3", "3.54.1"):
        monkeypatch.setattr(apsw, "sqlite_lib_version", lambda version=version: version)
        Store(folder).close()


# JR-02: the five journals of the case, a line a record; the fragment is what was being written at the crash


def lines(name: str) -> list[bytes]:
    return (CASES / "JR-02" / f"journal_{name}.jsonl").read_bytes().strip(b"\n").split(b"\n")


@pytest.mark.parametrize(
    ("name", "kept"), [("torn", 2), ("torn_utf8", 1), ("blank_tail", 1), ("no_newline_but_complete", 2)]
)
def test_jr_02_a_torn_end_is_cut_off_and_the_next_append_stands_alone(
    folder: Path, tmp_path: Path, name: str, kept: int
) -> None:
    store = Store(folder)
    for line in lines(name)[:kept]:
        store.append(AT, [note(json.loads(line))])
    end = (folder / "journal.db-wal").stat().st_size
    for fragment in lines(name)[kept:]:
        store.append(AT, [note(fragment.decode(errors="replace"))])
    image = crash_image(folder, tmp_path / "image")
    store.close()
    with (image / "journal.db-wal").open("r+b") as wal:
        wal.truncate(max(end, (image / "journal.db-wal").stat().st_size - 1) if len(lines(name)) > kept else end)
    with closing(Store(image)) as store:
        assert [r.event["n"] for r in store.read()] == [json.loads(line) for line in lines(name)[:kept]]
        assert store.damaged is None
        store.append(AT, [note("new")])
    with closing(Store(image)) as store:
        assert [r.event["n"] for r in store.read()][kept:] == ["new"]


def test_jr_02_a_bad_middle_is_named_and_nothing_is_dropped(folder: Path) -> None:
    one, fragment, three = lines("bad_middle")
    with closing(Store(folder)) as store:
        store.append(AT, [note(json.loads(one)), note(0), note(json.loads(three))])
    tamper(folder, f"UPDATE records SET event = '{fragment.decode()}' WHERE seq = 2")
    with closing(Store(folder)) as store:
        assert store.damaged == Broken(2, "unreadable") and store.unreadable == (2,)
        assert [r.event["n"] for r in store.read()] == [{"n": 1}, {"n": 3}]
        refused(lambda: store.append(AT, [note("new")]), "journal_damaged")


# The lock


def test_one_holder_in_a_process_and_its_name(tmp_path: Path) -> None:
    lock = Lock.take(tmp_path / "lock", "editor")
    assert isinstance(lock, Lock) and lock.holds()
    assert Lock.take(tmp_path / "lock", "headless") == Held(os.getpid(), "editor")
    lock.release()
    lock.release()
    assert not lock.holds()
    again = Lock.take(tmp_path / "lock", "headless")
    assert isinstance(again, Lock)
    again.release()
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


HOLDER = """
import sys
from pathlib import Path
from remit.edges.store import Lock
print(type(Lock.take(Path(sys.argv[1]), "other")).__name__, flush=True)
sys.stdin.read()
"""


def other_process(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_another_process_holds_it_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with other_process(path) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"Lock\n"
        assert Lock.take(path, "editor") == Held(holder.pid, "other")
        with other_process(path) as second:
            assert second.communicate()[0] == b"Held\n"
        holder.kill()
    lock = Lock.take(path, "editor")
    assert isinstance(lock, Lock) and lock.holds()
    lock.release()


@pytest.mark.parametrize("text", [b"", b"[]", b'{"pid": "1", "role": "x"}', b"[" * 9999])
def test_a_lock_that_says_nothing_has_a_nameless_holder(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "lock").write_bytes(text)
    assert _holder(tmp_path / "lock") == Held(0, "")


def test_an_unlinked_lock_file_does_not_give_two_holders(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Lock.take(path, "editor")
    assert isinstance(lock, Lock)
    path.unlink()
    assert Lock.take(path, "second") == Held(0, "")
    path.write_bytes(b"made anew")
    assert Lock.take(path, "second") == Held(0, "")
    assert not lock.holds()
    lock.release()
    again = Lock.take(path, "second")
    assert isinstance(again, Lock) and again.holds()
    again.release()


def test_a_file_removed_between_open_and_lock_is_not_taken_for_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    removed: list[int] = []

    def flock(fd: int, how: int) -> None:
        if not removed and path.exists():
            removed.append(fd)
            path.unlink()
        fcntl.flock(fd, how)

    monkeypatch.setattr("remit.edges.store.lock.fcntl", SimpleNamespace(**{**vars(fcntl), "flock": flock}))
    lock = Lock.take(path, "editor")
    assert removed and isinstance(lock, Lock) and lock.holds()
    lock.release()


def test_a_folder_made_anew_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    lock = Lock.take(tmp_path / "f" / "lock", "editor")
    assert isinstance(lock, Lock)
    (tmp_path / "f").rename(tmp_path / "g")
    assert not lock.holds()
    lock.release()


@pytest.mark.parametrize("kind", ["link", "folder", "missing"])
def test_what_cannot_be_locked_is_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    match kind:
        case "link":
            path.symlink_to(tmp_path / "elsewhere")
        case "folder":
            path.mkdir()
        case _:
            path = tmp_path / "no" / "lock"
    refused(lambda: Lock.take(path, "editor"), "lock_unusable")
    assert not (tmp_path / "elsewhere").exists()


def test_an_empty_chain_has_the_genesis_head(folder: Path) -> None:
    with closing(Store(folder)) as store:
        assert verify(store.read(), None) == Sound(0, GENESIS)
