"""Files below a root: links, kinds and limits when reading; all or none, and no lost save, when writing."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import chain, product
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from remit.core.faults import Fault, OurFault
from remit.edges import disk as disks
from remit.edges.disk import Disk, DiskChange, Found, Mark, Moves, PlainMoves, kernel
from remit.edges.disk.tree import steady

CASES = Path(__file__).parents[1] / "cases"


def sha(data: bytes) -> str:
    return sha256(data).hexdigest()


def change(path: str, before: bytes | None, after: bytes | None, **more: object) -> DiskChange:
    return DiskChange(path, None if before is None else sha(before), after, **more)  # type: ignore[arg-type]


def tree(root: Path) -> dict[str, bytes | str]:
    """Everything below `root`: text of files, targets of links, "" for empty folders."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
        elif path.is_dir() and not any(path.iterdir()):
            found[name] = ""
    return found


def code(act: Callable[[], object]) -> str:
    return refusal(act).code


def refusal(act: Callable[[], object]) -> Fault:
    with pytest.raises(Fault) as caught:
        act()
    assert len(caught.value.message) <= 100
    json.dumps(caught.value.data).encode("utf-8")
    return caught.value


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture(params=["openat2", "walk"])
def disk(root: Path, request: pytest.FixtureRequest) -> Iterator[Disk]:
    opened = Disk(root, limit=1000, opener=getattr(disks, request.param))
    yield opened
    opened.close()


@pytest.fixture(params=["kernel", "plain"])
def writer(root: Path, request: pytest.FixtureRequest) -> Iterator[Disk]:
    opened = Disk(root, moves=Moves() if request.param == "kernel" else PlainMoves())
    yield opened
    opened.close()


class FailingMoves(Moves):
    """Does what the world is told to do just before a move: fail, save a file, kill the process."""

    def __init__(self, before: dict[int, Callable[[], object]]) -> None:
        self.before, self.count = before, 0

    def exchange(self, directory: int, left: str, right: str) -> bool:
        self._step()
        return super().exchange(directory, left, right)

    def place(self, source: int, name: str, target: int, new: str) -> bool:
        self._step()
        return super().place(source, name, target, new)

    def _step(self) -> None:
        self.count += 1
        self.before.get(self.count, lambda: None)()


def nothing(_digest: str) -> bool:
    return False


def everything(_digest: str) -> bool:
    return True


def no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# Reading


def test_a_file_is_read_with_what_matters_about_it(root: Path, disk: Disk) -> None:
    (root / "d").mkdir()
    (root / "d/a.txt").write_bytes(b"a\r\n")
    (root / "d/a.txt").chmod(0o640)
    assert disk.read("d/a.txt") == Found(b"a\r\n", "d/a.txt", 0o640, 1)
    found = (root / "d/a.txt").stat()
    assert disk.mark("d/a.txt") == Mark(3, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@pytest.mark.parametrize("path", ["none.txt", "none/deep/er.txt"])
def test_absent_is_an_answer(disk: Disk, path: str) -> None:
    assert (disk.read(path), disk.mark(path), disk.real(path)) == (None, None, path)


def test_the_kernel_really_gives_the_strong_guard(root: Path) -> None:
    assert Disk(root).guard == "openat2"
    assert Disk(root, opener=disks.walk).guard == "walk"


@pytest.mark.parametrize("path", ["../ws/a", "/etc/passwd", "a/../../x", ""])
def test_a_path_is_checked_again_at_the_door(disk: Disk, path: str) -> None:
    assert code(lambda: disk.read(path)) in {"outside_scope", "bad_path"}


@pytest.mark.parametrize(
    ("link", "target", "path", "real"),
    [
        ("link.txt", "d/real.txt", "link.txt", "d/real.txt"),
        ("d/up.txt", "../top.txt", "d/up.txt", "top.txt"),
        ("folder", "d", "folder/real.txt", "d/real.txt"),
        ("folder", "d/", "folder/new.txt", "d/new.txt"),
        ("d/deep/here", "../..", "d/deep/here/top.txt", "top.txt"),
        ("absolute", "{root}/d/real.txt", "absolute", "d/real.txt"),
        ("second", "link2", "second", "top.txt"),
        ("d/odd", ".././/d/deep/../real.txt", "d/odd", "d/real.txt"),
    ],
)
def test_a_link_that_stays_inside_is_reported_as_its_target(
    root: Path, disk: Disk, link: str, target: str, path: str, real: str
) -> None:
    (root / "d/deep").mkdir(parents=True)
    (root / "d/real.txt").write_bytes(b"real")
    (root / "top.txt").write_bytes(b"top")
    (root / "link2").symlink_to("top.txt")
    (root / link).symlink_to(target.format(root=root))
    assert disk.real(path) == real
    found = disk.read(path)
    assert (found and (found.real, found.data)) == (
        (real, (root / real).read_bytes()) if (root / real).exists() else None
    )


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("out", "../outside", "out/there.txt"),
        ("out", "../outside", "out/new.txt"),
        ("out.txt", "../outside/there.txt", "out.txt"),
        ("out.txt", "{outside}/there.txt", "out.txt"),
        ("evil", "{root}_evil/x", "evil"),
        ("dangling", "nowhere.txt", "dangling"),
        ("dangling", "../outside/new.txt", "dangling"),
        ("d", "nowhere", "d/new.txt"),
        ("loop", "loop", "loop"),
        ("loop", "loop2", "loop/x"),
        ("proc", "/proc/self/root/etc/passwd", "proc"),
        ("back", "../ws/../outside/there.txt", "back"),
    ],
)
def test_a_link_that_leads_out_dangles_or_loops_is_refused(
    root: Path, disk: Disk, link: str, target: str, path: str
) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "there.txt").write_bytes(b"secret")
    (root / "loop2").symlink_to("loop2")
    (root / link).symlink_to(target.format(root=root, outside=outside))
    before = tree(root.parent)
    for act in (disk.read, disk.mark, disk.real):
        assert code(lambda act=act: act(path)) == "outside_scope"  # type: ignore[misc]
    assert code(lambda: disk.stage("a", [change(path, None, b"x")])) == "outside_scope"
    assert tree(root.parent) == before


def test_case_ps_01_a_folder_that_is_a_link(tmp_path: Path) -> None:
    ws, out = tmp_path / "ws", tmp_path / "out"
    shutil.copytree(CASES / "PS-01/before", ws)
    out.mkdir()
    (out / "there.txt").write_bytes(b"t\n")
    (ws / "drop").symlink_to("../out")
    (tmp_path / "wslink").symlink_to("ws")
    disk = Disk(tmp_path / "wslink")
    for path, before in (("drop/new.txt", None), ("drop/there.txt", b"t\n"), ("sub/../drop/e.txt", None)):
        fault = refusal(lambda path=path, before=before: disk.stage("a", [change(path, before, b"x")]))  # type: ignore[misc]
        assert fault.code == "outside_scope"
    assert tree(out) == {"there.txt": b"t\n"}
    staged = disk.stage("a", [change("keep.txt", b"k\n", b"K\n")])
    staged.commit()
    staged.finish()
    assert tree(ws) == {"drop": "../out", "keep.txt": b"K\n"}


def test_case_ps_02_a_patch_through_a_link_writes_nothing(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    shutil.copytree(CASES / "PS-02/before", ws)
    (tmp_path / "outside").write_bytes(b"x\n")
    (ws / "link").symlink_to("../outside")
    assert code(lambda: Disk(ws).stage("a", [change("link", b"x\n", b"y\n")])) == "outside_scope"
    assert tree(tmp_path) == {"outside": b"x\n", "ws/a.txt": b"a\n", "ws/link": "../outside"}


def test_only_regular_files_are_files(root: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    # The address of a socket is short.
    monkeypatch.chdir(root)
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "file").write_bytes(b"")
    (root / "rootlink").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        for path in ("folder", "fifo", "sock", "file/below", "rootlink"):
            assert code(lambda path=path: disk.read(path)) == "not_a_file"  # type: ignore[misc]
            assert code(lambda path=path: disk.mark(path)) == "not_a_file"  # type: ignore[misc]
            assert code(lambda path=path: disk.stage("a", [change(path, None, b"")])) == "not_a_file"  # type: ignore[misc]


def test_a_large_file_is_refused_and_not_cut(root: Path, disk: Disk) -> None:
    (root / "fits").write_bytes(b"x" * 1000)
    (root / "large").write_bytes(b"x" * 1001)
    assert (found := disk.read("fits")) is not None and len(found.data) == 1000
    fault = refusal(lambda: disk.read("large"))
    assert (fault.code, fault.data["size"], fault.data["limit"]) == ("too_large", 1001, 1000)


def test_a_file_that_grows_without_saying_so_is_refused(disk: Disk, root: Path) -> None:
    (root / "status").symlink_to("/proc/self/status")
    shutil.copyfile("/proc/self/status", root / "copy")
    assert code(lambda: disk.read("copy")) == "too_large"
    assert code(lambda: disk.read("status")) == "outside_scope"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE])
def test_every_failure_of_the_world_is_a_refusal(root: Path, number: int) -> None:
    def failing(at: int, path: str, flags: int) -> int:
        raise OSError(number, os.strerror(number))

    (root / "a").write_bytes(b"")
    fault = refusal(lambda: Disk(root, opener=failing).read("a"))
    assert (fault.code, fault.party, fault.data["error"]) == ("unreadable", "world", errno.errorcode[number])


def test_a_deleted_root_does_not_look_like_an_empty_one(root: Path, disk: Disk) -> None:
    root.rmdir()
    root.mkdir()
    acts: list[Callable[[], object]] = [lambda: disk.read("a"), lambda: disk.list(9), lambda: disk.stage("a", [])]
    assert [code(act) for act in acts] == ["root_gone"] * 3


def test_the_root_is_held_and_not_looked_up_again(root: Path, disk: Disk) -> None:
    (root / "a").write_bytes(b"ours")
    identity = disk.identity
    root.rename(root.parent / "moved")
    root.mkdir()
    (root / "a").write_bytes(b"other")
    assert (found := disk.read("a")) is not None and found.data == b"ours"
    assert disk.identity == identity != (root.stat().st_dev, root.stat().st_ino)


def test_a_folder_swapped_for_a_link_after_the_look_is_refused(root: Path) -> None:
    (root / "d").mkdir()
    (root / "d/a").write_bytes(b"a")
    (root.parent / "outside").mkdir()
    (root.parent / "outside/a").write_bytes(b"secret")
    for opener in (disks.openat2, disks.walk):

        def swapping(at: int, path: str, flags: int, opener: kernel.Opener = opener) -> int:
            if flags & kernel.PASS != kernel.PASS and path == "d":
                (root / "d").rename(root / "d0")
                (root / "d").symlink_to("../outside")
            return opener(at, path, flags)

        assert code(lambda swapping=swapping: Disk(root, opener=swapping).read("d/a")) == "path_changed"  # type: ignore[misc]
        (root / "d").unlink()
        (root / "d0").rename(root / "d")


def test_case_is_probed_by_looking(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "Abc").write_bytes(b"x")
    assert Disk(root).case_insensitive is False
    os.link(root / "Abc", root / "aBC")
    assert Disk(root).case_insensitive is False
    (root / "aBC").unlink()
    real = os.stat

    def folding(path: str | int, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        name = "Abc" if isinstance(path, str) and path.lower() == "abc" else path
        return real(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "stat", folding)
    disk = Disk(root)
    assert disk.case_insensitive is True
    assert disk.real("ABC") == "Abc"


# Listing


def test_list_leaves_out_what_is_ignored_and_what_is_not_ours(root: Path, disk: Disk) -> None:
    for name in (
        "a.txt a-b/x a/x a/z.log build/out keep/build/in docs/deep/b.md docs/deep/b.tmp docs/important.tmp"
        " .git/config .GIT/x .remit/policy.toml sub/.git/x node/x .remit-1-0.tmp docs/.remit-1-1.tmp"
    ).split():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\r\n/build/\r\nnode\n[z-a]\n!\n")
    (root / "docs/.gitignore").write_bytes(b"*.tmp\n!important.tmp\n")
    (root / "link").symlink_to("a.txt")
    (root / "folderlink").symlink_to("docs")
    os.mkfifo(root / "fifo")
    (root / os.fsdecode(b"caf\xe9")).write_bytes(b"")
    expected = [
        ".gitignore", "a-b/x", "a.txt", "a/x", "docs/.gitignore", "docs/deep/b.md", "docs/important.tmp",
        "keep/build/in",
    ]  # fmt: skip
    assert disk.list(100) == expected == sorted(expected)
    assert [disk.list(limit) for limit in range(4)] == [expected[:limit] for limit in range(4)]


# Writing


def test_all_kinds_of_change_happen_together(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    (root / "gone").write_bytes(b"2")
    staged = writer.stage(
        "t1", [change("a", b"1", b"one"), change("gone", b"2", None), change("new/deep/b", None, b"b"),
               change("new/deep/c", None, b"c")],
    )  # fmt: skip
    assert {name: data for name, data in tree(root).items() if ".remit-" not in name} == {"a": b"1", "gone": b"2"}
    staged.commit()
    assert {left.rpartition("/")[2] for left in writer.leftovers()} == {".remit-t1-0.tmp", ".remit-t1-1.tmp"}
    assert set(writer.leftovers().values()) == {sha(b"1"), sha(b"2")}
    staged.finish()
    assert tree(root) == {"a": b"one", "new/deep/b": b"b", "new/deep/c": b"c"}
    assert staged.kept == {}


def test_the_record_says_whether_the_kernel_exchanged(root: Path) -> None:
    (root / "a").write_bytes(b"1")
    for moves, expected in ((Moves(), True), (PlainMoves(), False)):
        staged = Disk(root, moves=moves).stage("t", [change("a", b"1", b"1")])
        staged.commit()
        staged.finish()
        assert staged.exchange is expected


def test_revert_puts_everything_back(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    (root / "gone").write_bytes(b"2")
    before = tree(root)
    inode = (root / "a").stat().st_ino
    staged = writer.stage("t", [change("a", b"1", b"x"), change("gone", b"2", None), change("n/b", None, b"b")])
    staged.commit()
    staged.revert()
    assert tree(root) == before
    assert (root / "a").stat().st_ino == inode


def test_abort_leaves_no_trace(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    before = tree(root)
    writer.stage("t", [change("a", b"1", b"x"), change("n/b", None, b"b")]).abort()
    assert tree(root) == before


def test_moves_out_of_order_are_our_own_fault(root: Path, writer: Disk) -> None:
    staged = writer.stage("t", [change("b", None, b"b")])
    for early in (staged.finish, staged.revert):
        assert code(early) == "illegal_move"
    staged.commit()
    for late in (staged.commit, staged.abort):
        assert code(late) == "illegal_move"
    staged.finish()
    assert code(staged.revert) == "illegal_move"
    assert isinstance(refusal(lambda: writer.stage("../x", [])), OurFault)
    assert code(lambda: writer.stage("t", [change("c", None, None)])) == "bad_change"
    assert code(lambda: writer.stage("t", [change("c", None, b""), change("c", None, b"")])) == "duplicate_path"


@pytest.mark.parametrize(
    ("there", "wanted", "current"),
    [(b"2", b"1", sha(b"2")), (None, b"1", None), (b"2", None, sha(b"2"))],
)
@pytest.mark.parametrize("after", [b"new", None])
def test_another_base_is_stale_at_stage(
    root: Path, writer: Disk, there: bytes | None, wanted: bytes | None, current: str | None, after: bytes | None
) -> None:
    if there is not None:
        (root / "a").write_bytes(there)
    before = tree(root)
    fault = refusal(lambda: writer.stage("t", [change("z", None, b"z"), change("a", wanted, after or b"n")]))
    assert (fault.code, fault.data["path"], fault.data["current"]) == ("stale", "a", current)
    assert tree(root) == before


def test_a_base_in_a_missing_folder_is_stale(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    assert code(lambda: writer.stage("t", [change("none/a", b"1", b"2")])) == "stale"
    assert tree(root) == {"a": b"1"}


def save_by_rename(path: Path, data: bytes) -> None:
    spare = path.with_name(path.name + "~")
    spare.write_bytes(data)
    spare.rename(path)


SAVES: list[Callable[[Path], object]] = [
    lambda path: path.write_bytes(b"user"),
    lambda path: save_by_rename(path, b"user"),
    lambda path: path.unlink(missing_ok=True),
]


@pytest.mark.parametrize(("save", "target"), list(product(SAVES, ["a", "gone", "n/b"])))
def test_a_save_between_stage_and_commit_wins(
    root: Path, writer: Disk, save: Callable[[Path], object], target: str
) -> None:
    for name, data in (("a", b"1"), ("gone", b"2"), ("other", b"3")):
        (root / name).write_bytes(data)
    staged = writer.stage(
        "t", [change("other", b"3", b"x"), change("a", b"1", b"x"), change("gone", b"2", None),
              change("n/b", None, b"b"), change("last", None, b"l")],
    )  # fmt: skip
    (root / target).parent.mkdir(exist_ok=True)
    save(root / target)
    now = {name: data for name, data in tree(root).items() if ".remit-" not in name}
    if target == "n/b" and "n/b" not in now:
        staged.commit()
        assert (root / "n/b").read_bytes() == b"b"
        return
    fault = refusal(staged.commit)
    assert (fault.code, fault.data["path"]) == ("stale", target)
    assert fault.data["current"] == (sha(b"user") if target in now else None)
    assert tree(root) == now


@pytest.mark.parametrize("failing", range(1, 6))
def test_case_jr_01_a_later_move_fails_and_everything_is_back(tmp_path: Path, failing: int) -> None:
    ws = tmp_path / "ws"
    shutil.copytree(CASES / "JR-01/before", ws)
    before, ledger = tree(ws), (ws / "ledger.csv").read_bytes()
    disk = Disk(ws, moves=FailingMoves({failing: no_space}))
    staged = disk.stage(
        "t", [change("ledger.csv", ledger, None), change("b.txt", b"b\n", b"B\n"), change("n/c", None, b"c"),
              change("n/d", None, b"d"), change("e", None, b"e")],
    )  # fmt: skip
    fault = refusal(staged.commit)
    assert (fault.code, fault.data["error"]) == ("write_failed", "ENOSPC")
    assert tree(ws) == before
    retry = disk.stage("t", [change("b.txt", b"b\n", b"B\n")])
    retry.commit()
    retry.finish()
    assert tree(ws) == before | {"b.txt": b"B\n"}


def test_what_cannot_be_put_back_is_said_with_what_was_found(root: Path) -> None:
    for name in ("a", "b"):
        (root / name).write_bytes(b"1")

    def save_then_fail() -> None:
        save_by_rename(root / "a", b"user")
        no_space()

    staged = Disk(root, moves=FailingMoves({2: save_then_fail})).stage(
        "t", [change("a", b"1", b"x"), change("b", b"1", b"y")]
    )
    fault = refusal(staged.commit)
    assert (fault.code, fault.data["cause"]) == ("outcome_unknown", "write_failed")
    assert fault.data["found"] == {"a": sha(b"user"), "b": sha(b"1")}
    assert tree(root) == {"a": b"user", "b": b"1", ".remit-t-0.tmp": b"1", ".remit-t-1.tmp": b"y"}


def test_a_move_that_fails_both_ways_is_unknown(root: Path) -> None:
    (root / "a").write_bytes(b"1")
    moves = FailingMoves({1: lambda: save_by_rename(root / "a", b"user"), 2: no_space})
    fault = refusal(Disk(root, moves=moves).stage("t", [change("a", b"1", b"x")]).commit)
    assert (fault.code, fault.data["found"]) == ("outcome_unknown", {"a": sha(b"x")})
    assert tree(root) == {"a": b"x", ".remit-t-0.tmp": b"user"}


def test_two_saves_in_a_row_leave_the_newest_on_top_and_lose_none(root: Path) -> None:
    (root / "a").write_bytes(b"1")
    moves = FailingMoves(
        {1: lambda: save_by_rename(root / "a", b"first"), 2: lambda: save_by_rename(root / "a", b"second")}
    )
    fault = refusal(Disk(root, moves=moves).stage("t", [change("a", b"1", b"x")]).commit)
    assert (fault.code, fault.data["current"]) == ("stale", sha(b"first"))
    assert tree(root) == {"a": b"second", ".remit-t-0.conflict": b"first"}
    assert fault.data["kept"] == {"a": ".remit-t-0.conflict"}


def test_revert_keeps_what_the_user_saved_since(root: Path, writer: Disk) -> None:
    for name in ("a", "b", "gone"):
        (root / name).write_bytes(b"1")
    staged = writer.stage(
        "t", [change("a", b"1", b"x"), change("b", b"1", b"y"), change("gone", b"1", None), change("n/c", None, b"c"),
              change("d", None, b"d")],
    )  # fmt: skip
    staged.commit()
    save_by_rename(root / "a", b"user")
    (root / "gone").write_bytes(b"again")
    (root / "n/c").write_bytes(b"mine")
    (root / "d").unlink()
    fault = refusal(staged.revert)
    assert fault.code == "outcome_unknown"
    assert fault.data["found"] == {
        "a": sha(b"user"), "b": sha(b"1"), "gone": sha(b"again"), "n/c": sha(b"mine"), "d": None,
    }  # fmt: skip
    now = {name: data for name, data in tree(root).items() if ".remit-" not in name}
    assert now == {"a": b"user", "b": b"1", "gone": b"again", "n/c": b"mine"}


def test_a_program_that_still_writes_into_the_old_file_loses_nothing(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    staged = writer.stage("t", [change("a", b"1", b"x")])
    with (root / "a").open("r+b", buffering=0) as editor:
        staged.commit()
        editor.write(b"late")
    fault = refusal(staged.finish)
    assert (fault.code, fault.data["kept"]) == ("late_save", {"a": ".remit-t-0.conflict"})
    assert tree(root) == {"a": b"x", ".remit-t-0.conflict": b"late"}
    assert writer.sweep([], nothing) == ([], [])


def test_a_copy_is_not_dropped_while_somebody_may_still_write_into_it(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    staged = writer.stage("t", [change("a", b"1", b"x")])
    with (root / "a").open("r+b", buffering=0) as editor:
        staged.commit()
        assert code(staged.finish) == "late_save"
        editor.write(b"later still")
    assert tree(root) == {"a": b"x", ".remit-t-0.conflict": b"later still"}


def test_a_reader_of_the_old_file_is_in_nobodys_way(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    staged = writer.stage("t", [change("a", b"1", b"x")])
    with (root / "a").open("rb"):
        staged.commit()
        staged.finish()
    assert tree(root) == {"a": b"x"}


def test_a_failing_fsync_of_a_folder_is_unknown_and_not_tried_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = Disk(root).stage("t", [change("a", None, b"x")])
    calls = []

    def failing(fd: int) -> None:
        calls.append(fd)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    fault = refusal(staged.commit)
    assert (fault.code, fault.data["found"], len(calls)) == ("outcome_unknown", {"a": sha(b"x")}, 1)


def test_a_file_system_that_cannot_sync_a_folder_is_not_a_failure(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsync(2), EINVAL: some network and FUSE file systems have none for folders; the files themselves are synced."""
    folder = refusing(os.fsync, errno.EINVAL, lambda fd: stat.S_ISDIR(os.fstat(fd).st_mode))
    monkeypatch.setattr(os, "fsync", folder)
    done(Disk(root), change("a", None, b"x"))
    assert tree(root) == {"a": b"x"}
    monkeypatch.setattr(os, "fsync", refusing(os.fsync, errno.EINVAL, lambda _fd: True))
    assert code(lambda: Disk(root).stage("t", [change("a", b"x", b"y")])) == "write_failed"


def test_case_ps_06_a_folder_swapped_between_stage_and_commit(tmp_path: Path) -> None:
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    outside.mkdir()
    for opener in (disks.openat2, disks.walk):
        shutil.copytree(CASES / "PS-06/before", ws)
        staged = Disk(ws, opener=opener).stage("t", [change("d/a.txt", b"a\n", b"A\n"), change("d/n/b", None, b"b")])
        (ws / "d").rename(ws / "d0")
        (ws / "d").symlink_to(outside)
        assert code(staged.commit) == "path_changed"
        (ws / "d").unlink()
        (ws / "d").mkdir()
        (ws / "d/a.txt").write_bytes(b"a\n")
        assert tree(outside) == {}
        assert (ws / "d0/a.txt").read_bytes() == b"a\n"
        shutil.rmtree(ws)


def test_case_ps_06_a_new_folder_swapped_while_it_is_made(tmp_path: Path) -> None:
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    outside.mkdir()
    for opener in (disks.openat2, disks.walk):
        shutil.copytree(CASES / "PS-06/before", ws)

        def swapping(at: int, path: str, flags: int, opener: kernel.Opener = opener) -> int:
            if path == "new" and (ws / "d/new").is_dir():
                (ws / "d/new").rmdir()
                (ws / "d/new").symlink_to(outside)
            return opener(at, path, flags)

        staged = Disk(ws, opener=swapping).stage("t", [change("d/new/b", None, b"b")])
        assert code(staged.commit) in {"path_changed", "write_failed"}
        assert tree(outside) == {}
        shutil.rmtree(ws)


# What a file keeps


def test_case_ps_07_mode_links_and_names(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    shutil.copytree(CASES / "PS-07/before", ws)
    (ws / "run.sh").chmod(0o755)
    (ws / "link.txt").symlink_to("real.txt")
    os.link(ws / "real.txt", ws / "hard.txt")
    disk = Disk(ws)
    script = (ws / "run.sh").read_bytes()
    found = disk.read("link.txt")
    assert found is not None
    assert (found.real, found.links) == ("real.txt", 2)
    fault = refusal(lambda: disk.stage("t", [change(found.real, b"v1\n", b"v2\n")]))
    assert (fault.code, fault.data["links"]) == ("hard_link", 2)
    assert code(lambda: disk.stage("t", [change("link.txt", b"v1\n", b"v2\n")])) == "path_changed"
    old = os.umask(0o077)
    try:
        staged = disk.stage(
            "t", [change("run.sh", script, script.replace(b"X", b"Y")), change("new.txt", None, b"n"),
                  change("real.txt", b"v1\n", b"v2\n", break_link=True)],
        )  # fmt: skip
        staged.commit()
        staged.finish()
    finally:
        os.umask(old)
    assert stat.S_IMODE((ws / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((ws / "new.txt").stat().st_mode) == 0o600
    assert tree(ws) == {
        "run.sh": b"#!/bin/sh\necho Y\n", "new.txt": b"n", "real.txt": b"v2\n", "hard.txt": b"v1\n",
        "link.txt": "real.txt",
    }  # fmt: skip


def test_a_rename_takes_the_mode_and_attributes_along(root: Path, writer: Disk) -> None:
    (root / "old").write_bytes(b"1")
    (root / "old").chmod(0o4751)
    os.setxattr(root / "old", "user.origin", b"here")
    staged = writer.stage(
        "t", [change("new", None, b"1", mode_from="old"), change("old", b"1", None), change("plain", None, b"")]
    )
    staged.commit()
    staged.finish()
    assert stat.S_IMODE((root / "new").stat().st_mode) == 0o751
    assert os.getxattr(root / "new", "user.origin") == b"here"
    assert os.listxattr(root / "plain") == []
    assert tree(root) == {"new": b"1", "plain": b""}


def test_owner_is_kept(root: Path, writer: Disk) -> None:
    (root / "a").write_bytes(b"1")
    other = 12345 if os.geteuid() == 0 else os.geteuid()
    os.chown(root / "a", other, -1)
    staged = writer.stage("t", [change("a", b"1", b"2")])
    staged.commit()
    staged.finish()
    assert (root / "a").stat().st_uid == other


def refusing(real: Callable[..., None], number: int, refused: Callable[..., bool]) -> Callable[..., None]:
    """The same call, failing with that error where `refused` says so."""

    def call(*arguments: Any) -> None:
        if refused(*arguments):
            raise OSError(number, os.strerror(number))
        real(*arguments)

    return call


def done(disk: Disk, *changes: DiskChange) -> None:
    staged = disk.stage("t", changes)
    staged.commit()
    staged.finish()


def test_the_group_is_kept_where_the_owner_cannot_be(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_bytes(b"1")
    other = 12345 if os.geteuid() == 0 else os.getegid()
    os.chown(root / "a", -1, other)
    (root / "a").chmod(0o660)
    monkeypatch.setattr(os, "fchown", refusing(os.fchown, errno.EPERM, lambda _fd, uid, _gid: uid != -1))
    done(Disk(root), change("a", b"1", b"2"))
    found = (root / "a").stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (other, 0o660)


@pytest.mark.parametrize(("mode", "after"), [(0o660, 0o600), (0o664, 0o644), (0o640, 0o600), (0o604, 0o604)])
def test_what_a_group_might_do_is_not_given_to_another(
    root: Path, monkeypatch: pytest.MonkeyPatch, mode: int, after: int
) -> None:
    """The bits of a group that cannot be kept would be those of whichever group the new file is made in."""
    (root / "a").write_bytes(b"1")
    (root / "a").chmod(mode)
    monkeypatch.setattr(os, "fchown", refusing(os.fchown, errno.EPERM, lambda *_: True))
    monkeypatch.setattr(kernel, "_group", lambda _fd: -7)
    done(Disk(root), change("a", b"1", b"22"))
    assert stat.S_IMODE((root / "a").stat().st_mode) == after


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_too_full_for_an_attribute_is_too_full(root: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    (root / "a").write_bytes(b"1")
    os.setxattr(root / "a", "user.origin", b"here")
    monkeypatch.setattr(os, "setxattr", refusing(os.setxattr, number, lambda *_: True))
    fault = refusal(lambda: Disk(root).stage("t", [change("a", b"1", b"2")]))
    assert (fault.code, fault.data["error"]) == ("write_failed", errno.errorcode[number])
    assert tree(root) == {"a": b"1"}


def test_an_attribute_that_only_the_system_may_set_is_left_to_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_bytes(b"1")
    os.setxattr(root / "a", "user.origin", b"here")
    monkeypatch.setattr(os, "setxattr", refusing(os.setxattr, errno.EPERM, lambda *_: True))
    done(Disk(root), change("a", b"1", b"2"))
    assert tree(root) == {"a": b"2"}


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An access list as the kernel takes it: (tag, permissions, id) each."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
LIST = acl((1, 6, NOBODY), (2, 6, 4321), (4, 0, NOBODY), (16, 6, NOBODY), (32, 0, NOBODY))
"""The owner and user 4321 may write; the group and others nothing. Its mode shows as 0660."""


def test_an_access_list_is_kept_or_nothing_is_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_bytes(b"1")
    os.setxattr(root / "a", "system.posix_acl_access", LIST)
    done(Disk(root), change("a", b"1", b"2"))
    assert os.getxattr(root / "a", "system.posix_acl_access") == LIST
    for number in (errno.EPERM, errno.ENOTSUP):
        with monkeypatch.context() as patched:
            patched.setattr(os, "setxattr", refusing(os.setxattr, number, lambda *_: True))
            fault = refusal(lambda: Disk(root).stage("t", [change("a", b"2", b"3")]))
        assert (fault.code, fault.data["error"]) == ("write_failed", errno.errorcode[number])
    assert tree(root) == {"a": b"2"}


def test_a_new_file_has_the_rights_that_its_folder_gives(root: Path, writer: Disk) -> None:
    """A default access list stands in for the umask."""
    (root / "d").mkdir()
    shared = acl((1, 7, NOBODY), (2, 7, 4321), (4, 5, NOBODY), (16, 7, NOBODY), (32, 4, NOBODY))
    os.setxattr(root / "d", "system.posix_acl_default", shared)
    (root / "d/by-hand").write_bytes(b"")
    (root / "by-hand").write_bytes(b"")
    done(writer, change("d/ours", None, b"x"), change("ours", None, b"x"), change("run", None, b"", executable=True))
    for folder in (root / "d", root):
        hand, ours = folder / "by-hand", folder / "ours"
        assert ours.stat().st_mode == hand.stat().st_mode
        assert [(name, os.getxattr(ours, name)) for name in os.listxattr(ours)] == [
            (name, os.getxattr(hand, name)) for name in os.listxattr(hand)
        ]
    assert stat.S_IMODE((root / "run").stat().st_mode) & 0o111


@pytest.mark.parametrize("name", ["security.ima", "security.evm", "security.capability"])
def test_what_vouches_for_the_old_bytes_is_not_put_on_the_new(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (root / "a").write_bytes(b"1")
    put: list[str] = []
    monkeypatch.setattr(os, "listxattr", lambda _fd: [name, "user.x"])
    monkeypatch.setattr(os, "getxattr", lambda _fd, one: one.encode())
    monkeypatch.setattr(os, "setxattr", lambda _fd, one, _value: put.append(one))
    done(Disk(root), change("a", b"1", b"2"))
    assert put == ["user.x"]


@pytest.mark.parametrize(
    ("mode", "executable", "after"), [(0o644, True, 0o755), (0o640, True, 0o750), (0o755, False, 0o644)]
)
def test_a_mode_change_alone_is_a_change(root: Path, writer: Disk, mode: int, executable: bool, after: int) -> None:
    (root / "a").write_bytes(b"1")
    (root / "a").chmod(mode)
    staged = writer.stage("t", [change("a", b"1", b"1", executable=executable)])
    staged.commit()
    staged.finish()
    assert stat.S_IMODE((root / "a").stat().st_mode) == after


# Full disks and crashes


def test_case_jr_03_a_full_disk_changes_nothing_at_any_size(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    shutil.copytree(CASES / "JR-03/before", ws)
    old, disk = (ws / "a.txt").read_bytes(), Disk(ws)
    new = old + b"B" * 5000
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in chain(range(0, 64, 7), (len(old) - 1, len(old), len(new) - 1)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            fault = refusal(lambda: disk.stage("t", [change("b.txt", None, b""), change("a.txt", old, new)]))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (fault.code, fault.data["error"], fault.data["path"]) == ("write_failed", "EFBIG", "a.txt")
        assert tree(ws) == {"a.txt": old}
    staged = disk.stage("t", [change("a.txt", old, new)])
    staged.commit()
    staged.finish()
    assert tree(ws) == {"a.txt": new}


KILLED = """
import hashlib, os, signal, sys
from remit.edges.disk import Disk, DiskChange, Moves

class Killing(Moves):
    left = int(sys.argv[2])
    def exchange(self, directory, left, right):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().exchange(directory, left, right)

changes = [DiskChange(p, hashlib.sha256(b).hexdigest(), a) for p, b, a in (("a", b"1", b"x"), ("b", b"2", b"y"))]
Disk(sys.argv[1], moves=Killing()).stage("dead", changes).commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_at(root: Path, move: int) -> None:
    """Commit in a program that dies just before that move, or, past the last, before it finishes."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, root, str(move)], env=environment, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("move", [1, 2, 3])
def test_after_a_kill_the_leftovers_say_how_far_it_came(root: Path, move: int) -> None:
    (root / "a").write_bytes(b"1")
    (root / "b").write_bytes(b"2")
    (root / ".git").mkdir()
    (root / ".git/.remit-dead-7.tmp").write_bytes(b"not ours")
    killed_at(root, move)
    done = [(root / "a").read_bytes(), (root / "b").read_bytes()]
    assert done == [[b"1", b"2"], [b"x", b"2"], [b"x", b"y"]][move - 1]
    disk = Disk(root)
    left = [b"x" if done[0] == b"1" else b"1", b"y" if done[1] == b"2" else b"2"]
    assert disk.leftovers() == {f".remit-dead-{n}.tmp": sha(data) for n, data in enumerate(left)}
    assert disk.sweep(["dead"], nothing) == ([], [])
    assert sorted(disk.sweep(["other"], everything)[0]) == [".remit-dead-0.tmp", ".remit-dead-1.tmp"]
    assert tree(root) == {"a": done[0], "b": done[1], ".git/.remit-dead-7.tmp": b"not ours"}


def test_sweep_takes_only_what_is_named_as_ours(root: Path, disk: Disk) -> None:
    (root / "d").mkdir()
    names = ["d/.remit-x-1.tmp", ".remit-x-1.tmp.swap", ".remit-x-1.conflict", ".remit-x.tmp", "remit-x-1.tmp"]
    for name in names:
        (root / name).write_bytes(b"")
    (root / ".remit-l-1.tmp").symlink_to("d")
    assert sorted(disk.sweep([], everything)[0]) == [".remit-x-1.tmp.swap", "d/.remit-x-1.tmp"]
    assert set(names[2:]) < set(tree(root))


def test_a_sweep_keeps_a_text_that_nobody_knows(root: Path, disk: Disk) -> None:
    """Killed after the exchange brought out a save that raced: the temporary file is the only place it is in."""
    (root / "d").mkdir()
    texts = {"d/.remit-x-0.tmp": b"ours", "d/.remit-x-1.tmp": b"saved by the user", ".remit-x-2.tmp.part": b"half of"}
    for name, data in texts.items():
        (root / name).write_bytes(data)
    (root / "d/.remit-x-1.conflict").write_bytes(b"of another time")
    gone, kept = disk.sweep([], {sha(b"ours")}.__contains__)
    assert (sorted(gone), kept) == ([".remit-x-2.tmp.part", "d/.remit-x-0.tmp"], ["d/.remit-x-1-2.conflict"])
    assert tree(root) == {"d/.remit-x-1.conflict": b"of another time", "d/.remit-x-1-2.conflict": b"saved by the user"}
    assert disk.sweep([], everything) == ([], [])


def test_a_text_cut_off_while_it_was_written_is_told_from_a_whole_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    write = os.write

    def looking(fd: int, data: Any) -> int:
        seen.extend(name for name in os.listdir(root) if name.startswith(".remit-"))
        return write(fd, data)

    monkeypatch.setattr(os, "write", looking)
    staged = Disk(root).stage("t", [change("a", None, b"x")])
    assert (seen, [*tree(root)]) == ([".remit-t-0.tmp.part"], [".remit-t-0.tmp"])
    staged.abort()
    assert tree(root) == {}


# --- a hostile .gitignore ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 20 + "b", "*?" * 20 + "b", "*[a-c]" * 20 + "b", "**/a/**/a/**/a/b", "*****/", "*****b", "x*****/y*****z"],
)
def test_no_ignore_pattern_holds_up_the_listing(disk: Disk, root: Path, pattern: str) -> None:
    (root / ".gitignore").write_text(f"{pattern}\n*.log\n")
    (root / ("a" * 255)).write_text("")
    (root / "x.log").write_text("")
    start = process_time()
    assert disk.list(10) == [".gitignore", "a" * 255]
    assert process_time() - start < 1


@pytest.mark.filterwarnings("ignore::FutureWarning")  # a set in a set, of the regular expression
@given(st.text("ab*?[]/!", max_size=8), st.text("ab/", min_size=1, max_size=8))
def test_a_steady_pattern_matches_what_it_matched(line: str, path: str) -> None:
    with suppress(GitIgnorePatternError, re.error):
        before = GitIgnoreSpecPattern(line).regex
        if before is not None:
            assert bool(re.match(steady(before.pattern), path)) == bool(before.match(path)), before.pattern
