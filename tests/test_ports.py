"""One set of assertions for each port, held against the fake and the real part: what the fakes promise is true.

Only what callers rely on. What else the real parts must do is in `tests/edges/`.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias, Union

import pygit2
import pytest

from fakes import FailingJournal, FixedClock, MemoryDisk, MemoryJournal, sha
from remit.core.chain import Sound, verify
from remit.core.codec import blob_id
from remit.core.effects import DiskChange
from remit.core.faults import AgentFault, Fault, OurFault, WorldFault
from remit.edges.disk import Disk
from remit.edges.store import Store
from remit.wiring import RandomTokens, SystemClock

AnyDisk: TypeAlias = Union[Disk, MemoryDisk]
Log: TypeAlias = Union[Store, MemoryJournal]
AT = "2026-12-01T10:00:00Z"
FILES = {"src/a.txt": b"old a\n", "src/b.txt": b"old b\n", "src/deep/c.txt": b"c\n", "z.txt": b"z\n"}
HIDDEN = {".git/config": b"x\n", ".remit/policy.toml": b"y\n"}


@pytest.fixture(params=["real", "fake"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyDisk]:
    if request.param == "fake":
        yield MemoryDisk({**FILES, **HIDDEN})
        return
    for name, data in {**FILES, **HIDDEN}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with closing(Disk(tmp_path)) as real:
        yield real


@pytest.fixture(params=["real", "fake"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    if request.param == "fake":
        yield MemoryJournal()
        return
    with closing(Store(tmp_path / "j")) as store:
        yield store


def change(path: str, before: bytes | None, after: bytes | None) -> DiskChange:
    return DiskChange(path, None if before is None else sha(before), after)


def content(disk: AnyDisk, path: str) -> bytes | None:
    found = disk.read(path)
    return None if found is None else found.data


def code(act: Callable[[], object]) -> str:
    with pytest.raises(Fault) as caught:
        act()
    return caught.value.code


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_read_whole_under_its_real_name(disk: AnyDisk) -> None:
    found = disk.read("src/a.txt")
    assert found is not None
    assert (found.data, found.real, found.links) == (b"old a\n", "src/a.txt", 1)
    assert disk.real("src/a.txt") == "src/a.txt"
    assert disk.real("src/new.txt") == "src/new.txt"


def test_what_is_not_there_is_none(disk: AnyDisk) -> None:
    assert disk.read("src/none.txt") is None
    assert disk.read("none/none.txt") is None
    assert disk.mark("src/none.txt") is None


def test_a_folder_is_no_file_and_a_path_stays_below_the_root(disk: AnyDisk) -> None:
    assert code(lambda: disk.read("src")) == "not_a_file"
    assert code(lambda: disk.read("../a")) == code(lambda: disk.real("../a"))
    assert code(lambda: disk.read("/etc/passwd")) == code(lambda: disk.real("/etc/passwd"))


def test_a_mark_is_equal_while_nothing_is_written(disk: AnyDisk) -> None:
    before = disk.mark("src/a.txt")
    assert before == disk.mark("src/a.txt")
    staged = disk.stage("A1", [change("src/a.txt", b"old a\n", b"another\n")])
    staged.commit()
    staged.finish()
    assert disk.mark("src/a.txt") != before


def test_a_listing_is_in_path_order_without_remits_and_gits_own(disk: AnyDisk) -> None:
    assert disk.list(100) == ["src/a.txt", "src/b.txt", "src/deep/c.txt", "z.txt"]
    assert disk.list(2) == ["src/a.txt", "src/b.txt"]


# --- writing ----------------------------------------------------------------------------------------------------------

SET = [
    change("src/a.txt", b"old a\n", b"new a\n"),
    change("src/b.txt", b"old b\n", None),
    change("src/new/n.txt", None, b"new\n"),
]


def test_staged_changes_show_only_after_the_commit(disk: AnyDisk) -> None:
    staged = disk.stage("A1", SET)
    assert [content(disk, c.path) for c in SET] == [b"old a\n", b"old b\n", None]
    staged.commit()
    assert [content(disk, c.path) for c in SET] == [b"new a\n", None, b"new\n"]
    staged.finish()
    assert [content(disk, c.path) for c in SET] == [b"new a\n", None, b"new\n"]
    assert disk.sweep((), lambda _digest: True) == ([], [])


def test_an_abort_and_a_revert_leave_every_byte_as_it_was(disk: AnyDisk) -> None:
    disk.stage("A1", SET).abort()
    assert [content(disk, c.path) for c in SET] == [b"old a\n", b"old b\n", None]
    staged = disk.stage("A2", SET)
    staged.commit()
    staged.revert()
    assert [content(disk, c.path) for c in SET] == [b"old a\n", b"old b\n", None]


def test_another_base_is_refused_when_staging(disk: AnyDisk) -> None:
    with pytest.raises(AgentFault) as caught:
        disk.stage("A1", [*SET[:1], change("src/b.txt", b"not this\n", b"new b\n")])
    assert (caught.value.code, caught.value.data["path"]) == ("stale", "src/b.txt")
    assert caught.value.data["current"] == sha(b"old b\n")
    assert code(lambda: disk.stage("A1", [change("src/a.txt", None, b"x")])) == "stale"
    assert code(lambda: disk.stage("A1", [change("none.txt", b"x", b"y")])) == "stale"
    assert content(disk, "src/a.txt") == b"old a\n"


def test_a_base_that_moves_between_stage_and_commit_takes_everything_back(disk: AnyDisk) -> None:
    staged = disk.stage("A1", SET[:2])
    other = disk.stage("A2", [change("src/b.txt", b"old b\n", b"theirs\n")])
    other.commit()
    other.finish()
    assert code(staged.commit) == "stale"
    assert content(disk, "src/a.txt") == b"old a\n"
    assert content(disk, "src/b.txt") == b"theirs\n"


def test_a_revert_over_a_later_save_is_unknown_and_says_so(disk: AnyDisk) -> None:
    staged = disk.stage("A1", SET[:1])
    staged.commit()
    other = disk.stage("A2", [change("src/a.txt", b"new a\n", b"theirs\n")])
    other.commit()
    other.finish()
    assert code(staged.revert) == "outcome_unknown"
    assert content(disk, "src/a.txt") == b"theirs\n"


def test_staged_changes_move_in_one_order_only(disk: AnyDisk) -> None:
    staged = disk.stage("A1", SET[:1])
    assert code(staged.finish) == "illegal_move"
    assert code(staged.revert) == "illegal_move"
    staged.commit()
    assert code(staged.commit) == "illegal_move"
    assert code(staged.abort) == "illegal_move"
    staged.finish()
    assert code(staged.revert) == "illegal_move"


def test_a_change_is_one_change(disk: AnyDisk) -> None:
    assert code(lambda: disk.stage("A1", [SET[0], SET[0]])) == "duplicate_path"
    assert code(lambda: disk.stage("A1", [change("x.txt", None, None)])) == "bad_change"


# --- the journal ------------------------------------------------------------------------------------------------------


def test_what_is_appended_is_read_in_order_and_sealed(log: Log) -> None:
    first = log.append(AT, [{"type": "a", "n": 1}, {"type": "b"}])
    second = log.append(AT, [{"type": "c"}])
    assert [record.seq for record in (*first, *second)] == [1, 2, 3]
    assert [record.event["type"] for record in log.read()] == ["a", "b", "c"]
    assert [record.event["type"] for record in log.read(2)] == ["c"]
    assert list(log.read()) == [*first, *second]
    assert verify(log.read(), None) == Sound(3, second[0].hash)


def test_contents_are_kept_by_digest(log: Log) -> None:
    log.append(AT, [{"type": "a"}], {sha(b"x"): b"x"})
    assert log.blob(sha(b"x")) == b"x"
    assert log.blob(sha(b"y")) is None
    with pytest.raises(OurFault, match="digest"):
        log.append(AT, [{"type": "b"}], {sha(b"y"): b"x"})
    assert [record.event["type"] for record in log.read()] == ["a"]


def test_contents_may_come_without_events(log: Log) -> None:
    assert log.append(AT, [], {sha(b"x"): b"x"}) == ()
    assert log.blob(sha(b"x")) == b"x"


def test_an_event_that_cannot_be_written_leaves_no_record(log: Log) -> None:
    with pytest.raises(OurFault, match="canonical"):
        log.append(AT, [{"type": "a"}, {"type": "b", "n": float("nan")}])
    assert list(log.read()) == []


def test_a_failing_journal_refuses_once_and_keeps_nothing_of_it() -> None:
    log = FailingJournal(at=2)
    log.append(AT, [{"type": "a"}])
    with pytest.raises(WorldFault, match="cannot be written"):
        log.append(AT, [{"type": "b"}])
    log.append(AT, [{"type": "c"}])
    assert [record.event["type"] for record in log.read()] == ["a", "c"]
    assert [record.seq for record in log.cut(1).read()] == [1]


# --- time and names ---------------------------------------------------------------------------------------------------


def test_clocks_count_seconds_and_label_moments_alike() -> None:
    fixed, real = FixedClock(), SystemClock()
    before = fixed.monotonic()
    fixed.advance(2.5)
    assert fixed.monotonic() - before == 2.5
    assert real.monotonic() <= real.monotonic()
    assert [len(clock.now()) for clock in (fixed, real)] == [len("2026-12-01T00:16:42.500Z")] * 2


def test_names_never_repeat() -> None:
    tokens = RandomTokens()
    assert len({tokens.token() for _ in range(100)}) == 100


# --- what git has -----------------------------------------------------------------------------------------------------


def test_what_head_has_is_told_by_its_blob_id(disk: AnyDisk, tmp_path: Path) -> None:
    assert disk.committed("src/a.txt") is None, "there is no repository, or nothing was committed"
    if isinstance(disk, MemoryDisk):
        disk.head["src/a.txt"] = b"committed\n"
    else:
        shutil.rmtree(tmp_path / ".git")
        repository = pygit2.init_repository(str(tmp_path))
        assert disk.committed("src/a.txt") is None, "an unborn branch has nothing"
        (tmp_path / "src/a.txt").write_bytes(b"committed\n")
        repository.index.add("src/a.txt")
        tree, author = repository.index.write_tree(), pygit2.Signature("a", "a@example.org")
        repository.create_commit("HEAD", author, author, "one", tree, [])
        assert disk.committed("src/a.txt") is None, "git has it from here, and not the other way round"
        (tmp_path / "src/a.txt").write_bytes(b"changed\n")
        later = time.time() + 60
        os.utime(tmp_path / "src/a.txt", (later, later))
    assert disk.committed("src/a.txt") == blob_id(b"committed\n")
    assert disk.committed("src/b.txt") is None
    assert disk.committed("src") is None
