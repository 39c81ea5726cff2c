"""Looking: the buffer before the disk; what is remembered for showing is never remembered for deciding."""

from __future__ import annotations

import pytest

from fakes import FixedClock, MemoryFiles, sha
from remit.core.faults import Fault
from remit.core.mirror import Mirror
from remit.core.sight import SECOND, TICK, Sight
from remit.core.text import Edit, Position, Range


class Counting(MemoryFiles):
    """Counts what is read."""

    reads = 0

    def read(self, path: str):  # type: ignore[no-untyped-def]
        self.reads += 1
        return super().read(path)

    def mark(self, path: str) -> object | None:
        data = self.files.get(path)
        return None if data is None else sha(data)


def sight(**files: bytes) -> tuple[Sight, Counting, FixedClock]:
    disk, clock = Counting(dict(files)), FixedClock()
    return Sight(disk, Mirror(), clock.monotonic), disk, clock


def test_a_closed_file_is_read_each_time_a_decision_looks() -> None:
    eye, disk, _ = sight(a=b"one\n")
    assert eye.look("a").digest == sha(b"one\n")
    disk.files["a"] = b"two\n"
    assert (eye.look("a").text, disk.reads) == ("two\n", 2)
    assert eye.look("none").origin == "absent"


def test_a_glance_reads_again_only_when_the_stat_has_moved() -> None:
    eye, disk, clock = sight(a=b"one\n")
    eye.glance("a")
    clock.advance(2 * TICK)
    assert [eye.glance("a").text for _ in range(3)] == ["one\n"] * 3
    assert disk.reads == 2, "once more, after the stat could have missed a write"
    disk.files["a"] = b"two\n"
    assert (eye.glance("a").text, disk.reads) == ("two\n", 3)
    del disk.files["a"]
    assert eye.glance("a").origin == "absent"


def test_a_skim_may_be_a_second_old_and_no_older() -> None:
    eye, disk, clock = sight(a=b"one\n")
    eye.skim("a")
    disk.files["a"] = b"two\n"
    assert eye.skim("a").digest == sha(b"one\n")
    assert eye.skim("a", -1).digest == sha(b"two\n")
    clock.advance(SECOND + 0.1)
    disk.files["a"] = b"three\n"
    assert eye.skim("a").digest == sha(b"three\n")


def test_a_skim_keeps_no_text_and_takes_the_buffer_of_what_is_open() -> None:
    eye, disk, clock = sight(a=b"one\n")
    eye.skim("a")
    clock.advance(2 * TICK)
    eye.skim("a", -1)
    clock.advance(SECOND + 1)
    eye.skim("a")
    assert disk.reads == 2, "its stat is enough by now"
    assert eye.glance("a").text == "one\n"
    eye.mirror.open("a", 1, "typed\n", b"one\n", 0.0)
    assert eye.skim("a").digest == sha(b"typed\n")


def test_two_writes_in_one_tick_of_the_clock_are_told_apart() -> None:
    class Ticking(Counting):
        def mark(self, path: str) -> object | None:
            return 7

    disk, clock = Ticking({"a": b"one\n"}), FixedClock()
    eye = Sight(disk, Mirror(), clock.monotonic)
    assert eye.glance("a").text == "one\n"
    disk.files["a"] = b"two\n"
    clock.advance(10)
    assert eye.glance("a").text == "two\n"


def test_what_was_written_is_forgotten_at_once() -> None:
    eye, disk, _ = sight(a=b"one\n")
    eye.skim("a")
    assert eye.list() == ["a"]
    disk.files["a"], disk.files["b"] = b"two\n", b""
    eye.nudge()
    assert (eye.skim("a").digest, eye.list()) == (sha(b"two\n"), ["a", "b"])


def test_an_open_buffer_is_the_truth_and_knows_its_disk() -> None:
    eye, disk, _ = sight(a=b"one\n")
    eye.mirror.open("a", 1, "one\n", b"one\n", 0.0)
    clean = eye.look("a")
    assert (clean.origin, clean.clean, clean.parted) == ("buffer", True, False)
    assert clean.is_named(sha(b"one\n"))
    eye.mirror.change("a", 2, [Edit("x", Range(Position(0, 0), Position(0, 0)))], 1.0)
    dirty = eye.look("a")
    assert (dirty.text, dirty.clean, dirty.parted, dirty.disk) == ("xone\n", False, False, sha(b"one\n"))
    disk.files["a"] = b"else\n"
    assert eye.look("a").parted
    disk.files["a"] = b"xone\n"
    agreed = eye.look("a")
    assert (agreed.clean, agreed.parted) == (True, False), "the two agree again"


def test_a_disk_that_parts_and_comes_back_while_nobody_looks_has_not_parted() -> None:
    eye, disk, _ = sight(a=b"one\n")
    eye.mirror.open("a", 1, "one\n", b"one\n", 0.0)
    disk.files["a"] = b"two\n"
    assert eye.look("a").parted
    disk.files["a"] = b"one\n"
    assert not eye.look("a").parted


def test_line_ends_that_the_editor_made_uniform_are_the_same_text_under_two_names() -> None:
    eye, disk, _ = sight(a=b"one\r\ntwo\n")
    eye.mirror.open("a", 1, "one\r\ntwo\r\n", b"one\r\ntwo\n", 0.0)
    seen = eye.look("a")
    assert seen.clean
    assert seen.is_named(sha(b"one\r\ntwo\n")) and seen.is_named(sha(b"one\r\ntwo\r\n"))
    assert not seen.is_named(sha(b"one\ntwo\n"))
    assert seen.normalised
    eye.mirror.change("a", 2, [Edit("x", Range(Position(0, 0), Position(0, 0)))], 1.0)
    assert eye.look("a").normalised, "what was typed since does not change that"
    disk.files["a"] = b"xone\r\ntwo\r\n"
    eye.mirror.saved("a", disk.files["a"], 2.0)
    assert not eye.look("a").normalised, "the save has done it"


def test_a_document_that_was_never_opened_is_in_doubt() -> None:
    eye, _, _ = sight(a=b"one\n")
    assert eye.mirror.change("a", 5, [Edit("x", Range(Position(0, 0), Position(0, 0)))], 0.0) is not None
    assert not eye.look("a").trusted


def test_stirred_says_once_what_was_written_since_it_was_read() -> None:
    eye, disk, _ = sight(a=b"one\n")
    eye.look("a")
    disk.files["a"] = b"two\n"
    assert eye.stirred({"a", "b"}), "also a write before the first question"
    assert not eye.stirred({"a", "b"})
    disk.files["b"] = b"new\n"
    assert eye.stirred({"a", "b"})


def test_what_the_disk_refuses_is_not_hidden_from_decisions() -> None:
    eye, disk, _ = sight(**{"d/a": b""})
    with pytest.raises(Fault):
        eye.look("d")
    assert eye.bytes("d") is None
    disk.unreadable.add("d/a")
    with pytest.raises(Fault):
        eye.look("d/a")


def test_what_is_not_there_yet_is_named_by_where_it_would_be() -> None:
    class Linked(Counting):
        def real(self, path: str) -> str:
            return path.replace("link/", ".git/hooks/")

    eye = Sight(Linked({}), Mirror(), FixedClock().monotonic)
    assert (eye.look("link/x").path, eye.look("link/x").origin) == (".git/hooks/x", "absent")
