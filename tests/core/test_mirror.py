"""The mirror of open buffers: trusted only while the client's story adds up."""

from __future__ import annotations

from hashlib import sha256

import pytest

from remit.core import leaves
from remit.core.mirror import Mirror
from remit.core.model import ABSENT
from remit.core.text import Edit, Position, Range

NAME = "a.txt"


def at(line: int, start: int, end: int | None = None) -> Range:
    return Range(Position(line, start), Position(line, start if end is None else end))


def sha(data: bytes) -> str:
    return sha256(data).hexdigest()


def opened(text: str, disk: bytes | None, version: int = 1) -> Mirror:
    mirror = Mirror()
    mirror.open(NAME, version, text, disk, 1.0)
    return mirror


def test_a_buffers_digest_is_of_what_a_save_would_write() -> None:
    assert opened("a\n", b"a\n").buffers[NAME].digest() == sha(b"a\n")
    bom = opened("a\n", b"\xef\xbb\xbfa\n").buffers[NAME]
    assert (bom.digest(), bom.loaded) == (sha(b"\xef\xbb\xbfa\n"), sha(b"\xef\xbb\xbfa\n"))
    wide = opened("ä\n", "ä\n".encode("utf-16-le").join([b"\xff\xfe", b""])).buffers[NAME]
    assert wide.digest() == sha(b"\xff\xfe" + "ä\n".encode("utf-16-le"))
    assert opened("new\n", None).buffers[NAME].loaded == ABSENT


def test_a_digest_is_worked_out_once_a_version() -> None:
    mirror = opened("a\n", b"a\n")
    buffer = mirror.buffers[NAME]
    first = buffer.digest()
    assert buffer.digest() is first
    mirror.change(NAME, 2, [Edit("b", at(0, 0, 1))], 2.0)
    assert buffer.digest() == sha(b"b\n")
    assert (buffer.version, buffer.changed_at, buffer.trusted) == (2, 2.0, True)


@pytest.mark.parametrize("version", [1, 0, -3])
def test_a_version_that_does_not_go_up_is_not_trusted(version: int) -> None:
    mirror = opened("a\n", b"a\n")
    assert mirror.change(NAME, version, [Edit("b", at(0, 0))], 2.0) == f"version {version} came after version 1"
    buffer = mirror.buffers[NAME]
    assert (buffer.trusted, str(buffer.text), buffer.version) == (False, "a\n", 1)


def test_doubt_stays_until_the_whole_text_is_told() -> None:
    mirror = opened("a\n", b"a\n")
    mirror.change(NAME, 1, [Edit("b", at(0, 0))], 2.0)
    mirror.change(NAME, 5, [Edit("c", at(0, 0))], 3.0)
    assert mirror.buffers[NAME].trusted is False
    assert mirror.change(NAME, 6, [Edit("lost", at(0, 0)), Edit("all of it\n"), Edit("really ", at(0, 0))], 4.0) is None
    buffer = mirror.buffers[NAME]
    assert (buffer.trusted, str(buffer.text)) == (True, "really all of it\n")


def test_a_change_that_no_text_could_have_is_doubt() -> None:
    mirror = opened("a\n", b"a\n")
    backwards = Range(Position(0, 1), Position(0, 0))
    assert mirror.change(NAME, 2, [Edit("b", backwards)], 2.0)
    assert mirror.buffers[NAME].trusted is False


def test_a_document_changed_before_it_was_opened_is_unknown() -> None:
    mirror = Mirror()
    assert mirror.change(NAME, 3, [Edit("b", at(0, 0))], 1.0) == "changed before it was opened"
    assert (mirror.unknown, mirror.buffers) == ({NAME}, {})
    assert mirror.change(NAME, 4, [Edit("all of it\n")], 2.0) is None
    assert (mirror.unknown, str(mirror.buffers[NAME].text)) == (set(), "all of it\n")


def test_saving_and_closing_what_nobody_opened_is_said() -> None:
    mirror = Mirror()
    assert mirror.saved(NAME, b"x\n", 1.0) is False
    assert mirror.unknown == {NAME}
    assert mirror.close(NAME) is False
    assert mirror.unknown == set()


def test_a_save_makes_the_disk_what_the_buffer_stands_on() -> None:
    mirror = opened("a\n", b"a\n")
    mirror.change(NAME, 2, [Edit("b", at(0, 0, 1))], 2.0)
    assert mirror.buffers[NAME].loaded == sha(b"a\n")
    assert mirror.saved(NAME, b"b\n", 3.0) is True
    assert mirror.buffers[NAME].loaded == sha(b"b\n")


def test_a_save_in_another_encoding_is_learnt() -> None:
    mirror = opened("ä\n", "ä\n".encode())
    assert mirror.saved(NAME, b"\xef\xbb\xbf" + "ä\n".encode(), 3.0) is True
    assert mirror.buffers[NAME].digest() == sha(b"\xef\xbb\xbf" + "ä\n".encode())


def test_opened_again_is_told_anew_and_closed_is_gone() -> None:
    mirror = opened("a\n", b"a\n", version=7)
    mirror.change(NAME, 3, [Edit("b", at(0, 0))], 2.0)
    mirror.open(NAME, 1, "c\n", b"a\n", 3.0)
    assert (mirror.buffers[NAME].trusted, mirror.buffers[NAME].version) == (True, 1)
    assert mirror.close(NAME) is True
    assert mirror.buffers == {}


# --- one file under two names -----------------------------------------------------------------------------------------


def test_a_file_open_under_two_names_is_in_doubt_until_one_is_closed() -> None:
    mirror = Mirror()
    mirror.open("a", 1, "one\n", b"one\n", 0.0, "file:///a")
    mirror.open("a", 1, "one\n", b"one\n", 0.0, "file:///link")
    assert mirror.doubted("a")
    mirror.change("a", 2, [Edit("mine ", Range(Position(0, 0), Position(0, 0)))], 1.0, "file:///a")
    assert str(mirror.documents["a"]["file:///link"].text) == "one\n"
    assert mirror.close("a", "file:///link")
    assert not mirror.doubted("a")
    assert str(mirror.buffers["a"].text) == "mine one\n", "the other one is still open, with what was typed"
    assert not mirror.close("a", "file:///link")
    assert mirror.close("a", "file:///a")
    assert (mirror.buffers, mirror.documents) == ({}, {})


def test_a_change_under_a_name_that_was_never_opened_puts_the_file_in_doubt() -> None:
    mirror = Mirror()
    mirror.open("a", 1, "one\n", b"one\n", 0.0, "file:///a")
    assert mirror.change("a", 2, [Edit("x", Range(Position(0, 0), Position(0, 0)))], 1.0, "file:///link") is not None
    assert mirror.doubted("a") and str(mirror.buffers["a"].text) == "one\n"
    mirror.close("a", "file:///link")
    assert not mirror.doubted("a")


# --- names without digests --------------------------------------------------------------------------------------------


def test_lines_go_by_a_name_only_if_a_save_of_them_would_write_it() -> None:
    held = opened("a\n", b"\xef\xbb\xbfa\n").buffers[NAME].content()
    assert held is not None
    held.check(sha(b"a\n"), held.lines)
    assert not held.is_named(sha(b"a\n")), "a save writes the mark as well"
    assert held.is_named(sha(b"\xef\xbb\xbfa\n"))


def test_half_a_character_is_doubt_until_it_is_gone() -> None:
    mirror = opened("a\n", b"a\n")
    buffer = mirror.buffers[NAME]
    assert buffer.content() is not None
    mirror.change(NAME, 2, [Edit("\ud83d", at(0, 0))], 2.0)
    assert (buffer.content(), buffer.digest()) == (None, None)
    mirror.change(NAME, 3, [Edit("", at(0, 0, 1))], 3.0)
    assert buffer.digest() == sha(b"a\n")


def test_a_whole_new_text_shares_what_it_has_in_common_with_the_old() -> None:
    text = "".join(f"{number}\n" for number in range(3 * leaves.LEAF))
    mirror = opened(text, text.encode())
    buffer = mirror.buffers[NAME]
    before = buffer.text.freeze()
    mirror.change(NAME, 2, [Edit(text.replace("7\n", "seven\n", 1))], 2.0)
    assert [a is b for a, b in zip(before.leaves, buffer.text.freeze().leaves, strict=True)] == [
        False,
        True,
        True,
        True,
    ]
