"""Folders are private or refused; one workspace is one place under all its names."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from remit import home as module
from remit.core.faults import UserFault, WorldFault
from remit.home import SOCKET_BYTES, Home, Place, announce, find_root, home, keep, live, place, private

SELF = os.geteuid()


@pytest.fixture
def base(tmp_path: Path) -> Home:
    return Home(tmp_path / "h" / "state", tmp_path / "h" / "run")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def serve() -> Iterator[list[socket.socket]]:
    sockets: list[socket.socket] = []
    yield sockets
    for one in sockets:
        one.close()


def listen(where: Place, opened: list[socket.socket]) -> None:
    private(where.socket.parent)
    one = socket.socket(socket.AF_UNIX)
    opened.append(one)
    one.bind(str(where.socket))


def test_remit_home_holds_both(tmp_path: Path) -> None:
    env = {"REMIT_HOME": str(tmp_path), "XDG_STATE_HOME": "/elsewhere", "XDG_RUNTIME_DIR": "/elsewhere"}
    assert home(env) == Home(tmp_path / "state", tmp_path / "run")


def test_a_relative_remit_home_is_refused() -> None:
    with pytest.raises(UserFault) as fault:
        home({"REMIT_HOME": "here"})
    assert fault.value.code == "bad_home"


def test_the_runtime_folder_is_used_when_it_is_ours(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(0o700)
    env = {"XDG_STATE_HOME": str(tmp_path / "s"), "XDG_RUNTIME_DIR": str(runtime)}
    assert home(env) == Home(tmp_path / "s" / "remit", runtime / "remit")
    runtime.chmod(0o777)
    assert home(env).run == tmp_path / "s" / "remit" / "run"
    runtime.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(runtime)
    assert home(env | {"XDG_RUNTIME_DIR": str(link)}).run == tmp_path / "s" / "remit" / "run"
    assert home(env | {"XDG_RUNTIME_DIR": "runtime"}).run == tmp_path / "s" / "remit" / "run"


def test_the_runtime_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: SELF + 1)
    env = {"XDG_STATE_HOME": str(tmp_path / "s"), "XDG_RUNTIME_DIR": str(tmp_path)}
    assert home(env).run == tmp_path / "s" / "remit" / "run"


def test_without_variables_it_is_the_users_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    where = home({})
    assert where.state.is_relative_to(tmp_path)
    assert where.run == where.state / "run"
    assert home({"XDG_STATE_HOME": "relative"}) == where
    assert list(tmp_path.iterdir()) == []


def test_private_makes_a_closed_folder_and_its_parents(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    assert private(folder) == folder == private(folder)
    assert [p.stat().st_mode & 0o777 for p in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o777])
def test_an_open_folder_is_refused_and_left_alone(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(WorldFault) as fault:
        private(folder)
    assert fault.value.code == "unsafe_folder"
    assert folder.stat().st_mode & 0o777 == mode


def test_links_files_and_pipes_in_its_place_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "file", "pipe"):
        with pytest.raises(WorldFault) as fault:
            private(tmp_path / name)
        assert fault.value.code == "unsafe_folder", name
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private(tmp_path / "theirs")
    monkeypatch.setattr(os, "geteuid", lambda: SELF + 1)
    with pytest.raises(WorldFault) as fault:
        private(tmp_path / "theirs")
    assert fault.value.data["why"] == "owned by another user"


def test_a_folder_that_anybody_can_swap_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(WorldFault):
        private(shared / "ours")
    shared.chmod(0o1777)
    assert private(shared / "ours").is_dir()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WorldFault) as fault:
        private(tmp_path / "file" / "below")
    assert fault.value.code == "unwritable_folder"


def test_a_folder_that_may_be_gone_after_a_power_cut_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module, "os", SimpleNamespace(**{**vars(os), "fsync": fail}))
    with pytest.raises(WorldFault) as fault:
        private(tmp_path / "new")
    assert fault.value.code == "unwritable_folder"


def test_keep_replaces_whole_files(tmp_path: Path) -> None:
    keep(tmp_path / "f", b"one")
    keep(tmp_path / "f", b"two" * 100_000)
    assert (tmp_path / "f").read_bytes() == b"two" * 100_000
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_keep_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    keep(tmp_path / "f", b"one")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "os", SimpleNamespace(**{**vars(os), call: full}))
    with pytest.raises(OSError):
        keep(tmp_path / "f", b"two")
    monkeypatch.undo()
    assert (tmp_path / "f").read_bytes() == b"one"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_place_is_outside_the_workspace_and_makes_nothing(root: Path, base: Home) -> None:
    where = place(root, base)
    assert len(where.id) == 16 and int(where.id, 16) >= 0
    assert where.root == root
    assert where.state == base.state / "workspaces" / where.id
    assert {where.lock.parent, where.info.parent} == {where.state}
    assert {where.socket.parent, where.token.parent} == {base.run}
    assert not base.state.exists() and not base.run.exists() and list(root.iterdir()) == []


def test_two_names_are_one_place_and_two_folders_are_two(root: Path, base: Home, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "alias").symlink_to(root)
    assert place(tmp_path / "alias", base) == place(root, base) == place(root / ".." / "project", base)
    assert place(tmp_path / "other", base).id != place(root, base).id


def test_a_name_no_link_tells_is_known_by_device_and_inode(root: Path, base: Home, tmp_path: Path) -> None:
    # What a bind mount or another case shows: one directory, two paths. Here the recorded root has the other path.
    where = place(root, base)
    announce(where, "editor", "1")
    moved = tmp_path / "mounted"
    root.rename(moved)
    assert place(moved, base).id != where.id, "the recorded name is gone: not known to be the same"
    root.symlink_to(moved)
    assert place(moved, base).id == where.id


def test_a_folder_made_anew_at_the_path_keeps_its_place(root: Path, base: Home, tmp_path: Path) -> None:
    where = place(root, base)
    announce(where, "editor", "1")
    root.rename(tmp_path / "old")
    root.mkdir()
    assert place(root, base) == where


def test_no_such_workspace(root: Path, base: Home) -> None:
    (root / "file").write_bytes(b"")
    (root / "loop").symlink_to(root / "loop")
    for wrong in (root / "missing", root / "file", root / "loop"):
        with pytest.raises(UserFault) as fault:
            place(wrong, base)
        assert fault.value.code == "no_workspace"


@pytest.mark.parametrize("length", [10, 60, 80, 86, 87, 120, 250])
def test_a_socket_always_fits(root: Path, length: int) -> None:
    deep = Path("/") / ("d" * (length - 1))
    where = place(root, Home(deep / "state", deep))
    assert len(os.fsencode(where.socket)) <= SOCKET_BYTES
    assert (where.socket.parent == deep) == (length + 1 + 21 <= SOCKET_BYTES)


def test_no_room_for_a_socket_is_said(root: Path, base: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/" + "t" * 120)
    with pytest.raises(UserFault) as fault:
        place(root, Home(base.state, Path("/") / ("d" * 120)))
    assert fault.value.code == "path_too_long"


def test_announced_is_live_while_socket_and_process_are(
    root: Path, base: Home, serve: list[socket.socket], tmp_path: Path
) -> None:
    where = place(root, base)
    assert live(where) is None
    session = announce(where, "editor", "0.1")
    assert live(where) is None
    listen(where, serve)
    assert live(where) == session
    assert (session.pid, session.role, session.root) == (os.getpid(), "editor", root)
    assert where.info.stat().st_mode & 0o777 == 0o600
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    where.info.write_text(json.dumps(json.loads(where.info.read_text()) | {"pid": int(gone.stdout)}))
    assert live(where) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"pid": "1"}', '{"pid": -1}', "\udcff", "[" * 9999, '{"inode": INODE, "root": "\\u0000"}'],
)
def test_a_damaged_info_file_is_no_session(root: Path, base: Home, text: str) -> None:
    where = place(root, base)
    private(where.state)
    text = text.replace("INODE", str(root.stat().st_ino))
    where.info.write_bytes(text.encode(errors="surrogateescape"))
    assert live(where) is None
    assert place(root, base) == where
    assert find_root(root, base) == root


def test_a_door_without_the_runtime_variable_finds_the_socket(
    root: Path, base: Home, serve: list[socket.socket], tmp_path: Path
) -> None:
    where = place(root, base)
    announce(where, "editor", "0.1")
    listen(where, serve)
    other = live(place(root, Home(base.state, base.state / "run")))
    assert other is not None and other.socket == where.socket


def test_find_root_prefers_session_then_remit_then_git(root: Path, base: Home, serve: list[socket.socket]) -> None:
    deep = root / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "file.txt").write_bytes(b"")
    assert find_root(deep / "file.txt", base) == find_root(deep / "new.txt", base) == deep
    (root / "a" / ".git").write_text("gitdir: elsewhere")
    assert find_root(deep, base) == root / "a"
    (root / ".remit").mkdir()
    assert find_root(deep, base) == root
    (root / "a" / "b" / ".remit").mkdir()
    assert find_root(deep, base) == root / "a" / "b"
    where = place(root, base)
    announce(where, "editor", "1")
    assert find_root(deep, base) == root / "a" / "b", "announced, but nobody listens"
    listen(where, serve)
    assert find_root(deep, base) == root
    inner = place(deep, base)
    announce(inner, "headless", "1")
    listen(inner, serve)
    assert find_root(deep / "file.txt", base) == deep
    assert find_root(root / "a", base) == root


def test_find_root_of_a_missing_or_linked_start(root: Path, base: Home, tmp_path: Path) -> None:
    (root / ".git").mkdir()
    (tmp_path / "alias").symlink_to(root)
    assert find_root(tmp_path / "alias", base) == root
    assert find_root(tmp_path / "alias" / "new" / "deeper.txt", base) == root
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(UserFault) as fault:
        find_root(root / "loop", base)
    assert fault.value.code == "no_workspace"
