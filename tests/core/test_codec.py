"""`core.codec`: no byte is lost, no character replaced, and the names of content are those of sha256sum and git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remit.core.codec import (
    OPAQUE,
    UTF8,
    WINDOWS_1252,
    Charset,
    Decoded,
    blob_id,
    charset_of_buffer,
    decode,
    decode_as,
    digest,
    encode,
    eol_style,
    same_text,
    stray,
)
from remit.core.faults import AgentFault, OurFault

CASES = Path(__file__).parents[1] / "cases"
UTF8_BOM = Charset("utf-8", b"\xef\xbb\xbf")
UTF16_LE = Charset("utf-16-le", b"\xff\xfe")
UTF16_BE = Charset("utf-16-be", b"\xfe\xff")


# The cases


@pytest.mark.parametrize(
    ("file", "charset", "old", "new"),
    [
        ("EN-01/{}/shop.c", WINDOWS_1252, "int qty = 1;", "int qty = 2;"),
        ("EN-02/{}/cfg.ps1", UTF8_BOM, '$mode = "a"', '$mode = "b"'),
        ("EN-05/{}/m.psd1", UTF16_LE, "b = 2", "b = 3"),
        ("EN-06/{}/e.txt", UTF8, "x", "🍸"),
    ],
)
def test_case_edited_as_text_gives_the_expected_bytes(file: str, charset: Charset, old: str, new: str) -> None:
    decoded = decode((CASES / file.format("before")).read_bytes())
    assert decoded.charset == charset
    assert decoded.text.count(old) == 1
    data = encode(decoded.text.replace(old, new), decoded.charset)
    assert data == (CASES / file.format("expected")).read_bytes()
    assert b"\xef\xbf\xbd" not in data


def test_en_02_first_line_is_seen_without_the_mark() -> None:
    text = decode((CASES / "EN-02/before/cfg.ps1").read_bytes()).text
    assert text == '$mode = "a"\r\nStart\r\n'


def test_en_06_lone_surrogate_is_refused_by_name_and_offset() -> None:
    text = json.loads((CASES / "EN-06/lone.json").read_text("utf-8"))["replace"]
    with pytest.raises(AgentFault) as refusal:
        encode("x" + text, UTF8)
    assert refusal.value.code == "unencodable"
    assert refusal.value.data == {"charset": "utf-8", "offset": 1, "character": "U+D83D"}


@pytest.mark.parametrize("file", ["EN-01/before/shop.c", "EN-02/before/cfg.ps1", "EN-05/before/m.psd1"])
def test_digest_is_the_one_the_case_names(file: str) -> None:
    case, _, name = file.split("/")
    named = json.loads((CASES / case / "case.json").read_text("utf-8"))["before_sha256"][name]
    assert digest((CASES / file).read_bytes()) == named


# There and back


@settings(max_examples=200)
@given(st.tuples(st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]), st.binary()).map(b"".join))
@example(b"\xef\xbb\xbf\xef\xbb\xbfa")
@example(b"\xff\xfe\x00\x00a\x00\x00\x00")
@example(b"\xff\xfe\x3d\xd8")
@example(b"\xfe\xff\x00")
@example(b"\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\x80")
@example(b"\xef\x9e\x80\xff\xef\x9f\xbf")
def test_any_bytes_come_back(data: bytes) -> None:
    decoded = decode(data)
    assert encode(decoded.text, decoded.charset) == data
    decoded.text.encode()  # JSON can carry it


@settings(max_examples=200)
@given(st.binary(), st.sampled_from([OPAQUE, WINDOWS_1252]))
@example(bytes(range(256)), WINDOWS_1252)
@example(bytes(range(256)), OPAQUE)
def test_a_guess_reads_any_bytes_and_writes_them_back(data: bytes, charset: Charset) -> None:
    text = decode_as(data, charset)
    text.encode()
    assert encode(text, charset) == data


def test_stray_bytes_are_counted() -> None:
    assert (stray(decode(b"pr\xeat \xc3\xa9 \xff").text), stray("prêt")) == (2, 0)


@settings(max_examples=200)
@given(st.text(), st.sampled_from([UTF8_BOM, UTF16_LE, UTF16_BE]))
def test_any_text_in_a_marked_file_comes_back(text: str, charset: Charset) -> None:
    assert decode(encode(text, charset)) == Decoded(text, charset)


@settings(max_examples=200)
@given(st.text(st.characters(codec=None)), st.sampled_from([UTF8, UTF16_LE, Charset("cp1252"), Charset("latin-1")]))
def test_text_is_written_exactly_or_refused_at_the_first_bad_character(text: str, charset: Charset) -> None:
    bad = next((offset for offset, character in enumerate(text) if not fits(character, charset)), None)
    if bad is None:
        assert encode(text, charset).removeprefix(charset.bom).decode(charset.name) == text
        return
    with pytest.raises(AgentFault) as refusal:
        encode(text, charset)
    assert (refusal.value.data["offset"], refusal.value.data["character"]) == (bad, f"U+{ord(text[bad]):04X}")


def fits(character: str, charset: Charset) -> bool:
    """One character at a time, by Python's other error handler."""
    return "?" not in character.replace("?", "").encode(charset.name, "replace").decode(charset.name)


@pytest.mark.parametrize(
    ("data", "decoded"),
    [
        (b"", Decoded("", UTF8)),
        ("né\n".encode(), Decoded("né\n", UTF8)),
        (b"\xef\xbb\xbf", Decoded("", UTF8_BOM)),
        (b"\xff\xfea\x00", Decoded("a", UTF16_LE)),
        (b"\xfe\xff\x00a", Decoded("a", UTF16_BE)),
        (b"\xff\xfea\x00b", Decoded("a\x00b", Charset("opaque", b"\xff\xfe"))),
        (b"\xef\xbb\xbfa\xff", Decoded("a\uf7ff", Charset("opaque", b"\xef\xbb\xbf"))),
        (b"pr\xeat \xc3\xa9", Decoded("pr\uf7eat é", OPAQUE)),
        (b"pr\xeat \xef\x9f\xaa", Decoded("pr\uf7eat \uf7ef\uf79f\uf7aa", OPAQUE)),
        ("\uf7ea".encode(), Decoded("\uf7ea", UTF8)),
        (b"pr\xeat\0", Decoded("pr\uf7eat\0", OPAQUE)),
        (b"pr\xeat \x80\x81", Decoded("prêt €\x81", WINDOWS_1252)),
        (b"\xe2\x82", Decoded("â‚", WINDOWS_1252)),
    ],
)
def test_decode(data: bytes, decoded: Decoded) -> None:
    assert decode(data) == decoded


@pytest.mark.parametrize(
    ("text", "charset", "offset", "character"),
    [
        ("ab€", Charset("latin-1"), 2, "U+20AC"),
        ("🌲🌵", Charset("cp1252"), 0, "U+1F332"),
        ("\x81", Charset("cp1252"), 0, "U+0081"),
        ("a\udc80", UTF16_LE, 1, "U+DC80"),
        ("a\udcff", UTF8, 1, "U+DCFF"),
        ("\uf7ff\ud800", OPAQUE, 1, "U+D800"),
        ("a\udcff", OPAQUE, 1, "U+DCFF"),
        ("€\x80", WINDOWS_1252, 1, "U+0080"),
        ("ê日", WINDOWS_1252, 1, "U+65E5"),
    ],
)
def test_unencodable(text: str, charset: Charset, offset: int, character: str) -> None:
    with pytest.raises(AgentFault) as refusal:
        encode(text, charset)
    assert refusal.value.data == {"charset": charset.name, "offset": offset, "character": character}
    assert refusal.value.remedy
    assert len(refusal.value.message) <= 100


def test_unknown_charset_is_our_own_fault() -> None:
    with pytest.raises(OurFault, match="klingon"):
        encode("a", Charset("klingon"))


# Buffers


LATIN = b"pr\xeat \xa3 5\r\n"


@pytest.mark.parametrize(
    ("text", "disk", "charset"),
    [
        pytest.param("né", None, UTF8, id="no file yet"),
        pytest.param("né\n", "né\n".encode(), UTF8, id="clean"),
        pytest.param("né\n", "né\r\n".encode(), UTF8, id="clean but for line ends"),
        pytest.param("né!", "né".encode(), UTF8, id="dirty"),
        pytest.param("a", b"\xef\xbb\xbfa", UTF8_BOM, id="mark hidden by the editor"),
        pytest.param("ab", b"\xef\xbb\xbfa", UTF8_BOM, id="mark hidden, dirty"),
        pytest.param("\ufeffa", b"\xef\xbb\xbfa", UTF8, id="mark left in the text"),
        pytest.param("\ufeffab", b"\xff\xfea\x00", Charset("utf-16-le"), id="mark left in the text, dirty"),
        pytest.param("ab", b"\xff\xfea\x00", UTF16_LE, id="UTF-16, dirty"),
        pytest.param("prêt £ 5\n", LATIN, WINDOWS_1252, id="windows-1252"),
        pytest.param("\x81", b"\x81", WINDOWS_1252, id="a hole"),
        pytest.param("\x80", b"\x80", Charset("latin-1"), id="windows-1252 reads it as another character"),
        pytest.param("Ã©", "é".encode(), WINDOWS_1252, id="UTF-8 bytes opened as windows-1252"),
        pytest.param("Ã© ê", "é ".encode() + b"\xea", WINDOWS_1252, id="a guess that the editor knows better"),
        pytest.param("prêt £ 6\n", LATIN, None, id="windows-1252 or Latin-1, dirty"),
        pytest.param("pr\ufffdt \ufffd 5\r\n", LATIN, None, id="opened with replacement characters"),
        pytest.param("pr\uf7eat é\n", b"pr\xeat \xc3\xa9\n", OPAQUE, id="opaque"),
        pytest.param("\ufeffa", b"\xff\xfea", None, id="broken UTF-16"),
        pytest.param("\ufeffa", b"\xef\xbb\xbf\xef\xbb\xbfa", UTF8_BOM, id="two marks, one hidden by the editor"),
        pytest.param("\ufeff\ufeffa", b"\xef\xbb\xbf\xef\xbb\xbfa", UTF8, id="two marks left in the text"),
    ],
)
def test_charset_of_buffer(text: str, disk: bytes | None, charset: Charset | None) -> None:
    assert charset_of_buffer(text, disk) == charset


@settings(max_examples=200)
@given(st.binary())
def test_clean_buffer_saves_what_is_on_disk(disk: bytes) -> None:
    text = decode(disk).text
    charset = charset_of_buffer(text, disk)
    assert charset is not None
    assert encode(text, charset) == disk


# Line ends


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("", "none"),
        ("a\x0c\x85\u2028b", "none"),
        ("a\n\nb", "lf"),
        ("a\r\nb\r\n", "crlf"),
        ("a\rb", "cr"),
        ("a\r\nb\n", "mixed"),
        ("a\n\r", "mixed"),
        ("\r\r\n", "mixed"),
    ],
)
def test_eol_style(text: str, style: str) -> None:
    assert eol_style(text) == style


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("a\nb\n", "a\r\nb\r", True),
        ("\r\n", "\n", True),
        ("\r\r\n", "\n\n", True),
        ("a\n", "a", False),
        ("a\n\n", "a\r\n", False),
        ("a\u2028", "a\n", False),
    ],
)
def test_same_text(a: str, b: str, same: bool) -> None:
    assert (same_text(a, b), same_text(b, a)) == (same, same)


# Names


def test_digest_is_sha256() -> None:
    # FIPS 180-4's example message "abc".
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"what is up, doc?", "bd9dbf5aae1a3862dd1526723246b20206e5fc37"),
    ],
)
def test_blob_id_is_gits(data: bytes, name: str) -> None:
    assert blob_id(data) == name
