"""Bytes to text and back without loss, and the digests that name content.

Every file decodes, and what was not edited comes back byte for byte. Text that a file's charset cannot hold is
refused by name and place, never replaced.

Does not open files and does not decide what is fresh; lines and positions live in `text`.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from remit.core.faults import AgentFault, OurFault
from remit.core.leaves import Frozen

EolStyle = Literal["lf", "crlf", "cr", "mixed", "none"]


@dataclass(frozen=True, slots=True)
class Charset:
    """How a file's text is written: after `bom`, in the codec `name`.

    `name` is a Python codec in lower case ("utf-8", "utf-16-le", "latin-1", ...) or one of two that are ours, both
    reversible for all bytes: "windows-1252" as browsers read it (https://encoding.spec.whatwg.org/windows-1252.html,
    where Python's has five holes), and "opaque", for bytes that are no text we know: UTF-8 where it can be, and each
    other byte XX the private character U+F7XX. A lone surrogate (PEP 383) would say the same, but no JSON can carry it.
    """

    name: str
    bom: bytes = b""


UTF8 = Charset("utf-8")
OPAQUE = Charset("opaque")
WINDOWS_1252 = Charset("windows-1252")
GUESSED = frozenset({OPAQUE.name, WINDOWS_1252.name})
"""Charsets that nothing in a file's bytes proves."""

# The marks we believe, and what follows them. Bytes that break their mark's promise are opaque after the mark.
MARKED = (
    Charset("utf-8", codecs.BOM_UTF8),
    Charset("utf-16-le", codecs.BOM_UTF16_LE),
    Charset("utf-16-be", codecs.BOM_UTF16_BE),
)
# What an editor may have been told about bytes that are not UTF-8. They differ in 0x80 to 0x9f only.
LEGACY = (WINDOWS_1252, Charset("latin-1"))

_1252 = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
_TO_1252 = codecs.charmap_build(_1252)
# One character of UTF-8 beyond ASCII: table 3-7 of the Unicode standard.
_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]"
    rb"|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}"
)
_STRAY = 0xF700
# The characters that stand for stray bytes, when a file holds them as text of its own: each of their bytes is stray.
_BORROWED = re.compile("[\uf780-\uf7ff]")
_ESCAPED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text without its byte order mark, and the charset that writes it back."""

    text: str
    charset: Charset


def decode(data: bytes) -> Decoded:
    """The text of any bytes; never fails. `encode(d.text, d.charset) == data` for the `d` it returns."""
    charset = next((marked for marked in MARKED if data.startswith(marked.bom)), UTF8)
    body = data[len(charset.bom) :]
    text = _read(body, charset)
    if text is not None:
        return Decoded(text, charset)
    if not charset.bom and b"\0" not in body and not _CHARACTER.search(body):
        return Decoded(_from_1252(body), WINDOWS_1252)
    return Decoded(_from_opaque(body), Charset(OPAQUE.name, charset.bom))


def encode(text: str, charset: Charset) -> bytes:
    """The bytes that a save of `text` writes.

    Raises `AgentFault("unencodable")` with `offset` (code points from the start of `text`) and `character` ("U+20AC")
    of the first character that `charset` cannot hold.
    """
    try:
        return charset.bom + _write(text, charset)
    except UnicodeEncodeError as error:
        character = f"U+{ord(text[error.start]):04X}"
        raise AgentFault(
            "unencodable",
            f"The file's encoding ({charset.name}) cannot hold {character}, character {error.start} of the text.",
            remedy="Write the text without this character, or ask for the file's encoding to be changed.",
            charset=charset.name,
            offset=error.start,
            character=character,
        ) from error
    except LookupError as error:
        raise OurFault("unknown_charset", f"No codec is called {charset.name!r}.", charset=charset.name) from error


def decode_as(data: bytes, charset: Charset) -> str:
    """The text that `encode` wrote as `data` in `charset`; OurFault("wrong_charset") for bytes it never wrote."""
    text = _read(data.removeprefix(charset.bom), charset)
    if text is None:
        raise OurFault("wrong_charset", f"Kept bytes are not {charset.name}.", charset=charset.name)
    return text


def decode_as_or(data: bytes, charset: Charset | None) -> str:
    """The text of a file beside a buffer in `charset`; by its own marks when it is not in that charset any more."""
    try:
        return decode(data).text if charset is None else decode_as(data, charset)
    except OurFault:
        return decode(data).text


def charset_of_buffer(text: str, disk: bytes | None) -> Charset | None:
    """Which charset a save of this editor buffer will write, judged by the bytes it was loaded from.

    The one that makes `text` from `disk`, line ends aside. For a dirty buffer, which no charset makes from `disk`,
    that of the file if the file shows it (UTF-8, or a byte order mark), else None: it cannot be known. A buffer
    without a file (`disk` is None) is UTF-8. A mark that the client left in the text (U+FEFF) is not in the charset.
    """
    if disk is None:
        return UTF8
    decoded = decode(disk)
    if same_text(text, decoded.text):
        return decoded.charset
    guessed = decoded.charset.name in GUESSED
    if decoded.charset.bom and text.startswith("\ufeff") and not guessed:
        decoded = Decoded("\ufeff" + decoded.text, Charset(decoded.charset.name))
        if same_text(text, decoded.text):
            return decoded.charset
    for charset in () if disk.isascii() else LEGACY:
        read = _read(disk, charset)
        if read is not None and same_text(text, read):
            return charset
    return None if guessed else decoded.charset


def same_text(a: str, b: str) -> bool:
    """Are these equal but for line ends? Editors give a whole buffer one style when they load it."""
    return a == b or _with_lf(a) == _with_lf(b)


def eol_style(text: str) -> EolStyle:
    """Which line ends the text has; "mixed" when more than one kind, "none" when it has no line end."""
    crlf = text.count("\r\n")
    counts: dict[EolStyle, int] = {"lf": text.count("\n") - crlf, "crlf": crlf, "cr": text.count("\r") - crlf}
    seen = [style for style, count in counts.items() if count]
    if not seen:
        return "none"
    return seen[0] if len(seen) == 1 else "mixed"


def digest(data: bytes) -> str:
    """SHA-256 in lower-case hex: the identity of content everywhere in Remit."""
    return hashlib.sha256(data).hexdigest()


def digest_of(lines: Frozen, charset: Charset) -> str:
    """The digest of the bytes that a save of these lines writes; only what has changed since the last time is encoded.

    Raises as `encode`.
    """
    hashed = hashlib.sha256(charset.bom)
    try:
        for leaf in lines.leaves:
            hashed.update(leaf.encoded(charset.name, lambda text: _write(text, charset)))
    except (UnicodeEncodeError, LookupError):
        return digest(encode(str(lines), charset))
    return hashed.hexdigest()


def blob_id(data: bytes) -> str:
    """The object id that git (SHA-1 format) gives a blob of these bytes, as in a diff's `index` line."""
    # https://git-scm.com/book/en/v2/Git-Internals-Git-Objects, "Object Storage"; a name here, not a protection.
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def stray(text: str) -> int:
    """How many bytes of an opaque text are no characters; each is shown as U+F7XX."""
    return len(_BORROWED.findall(text))


def _read(data: bytes, charset: Charset) -> str | None:
    """The text of `data` (without a mark) in exactly this charset, or None when they do not fit."""
    if charset.name == OPAQUE.name:
        return _from_opaque(data)
    if charset.name == WINDOWS_1252.name:
        return _from_1252(data)
    try:
        return data.decode(charset.name)
    except UnicodeDecodeError:
        return None


def _write(text: str, charset: Charset) -> bytes:
    """The bytes without a mark. Raises UnicodeEncodeError, LookupError."""
    if charset.name == OPAQUE.name:
        _BORROWED.sub("x", text).encode()  # a lone surrogate of somebody's own has no byte here
        return _BORROWED.sub(lambda found: chr(ord(found[0]) - _STRAY + 0xDC00), text).encode(
            "utf-8", "surrogateescape"
        )
    if charset.name == WINDOWS_1252.name:
        return codecs.charmap_encode(text, "strict", _TO_1252)[0]
    return text.encode(charset.name)


def _from_1252(data: bytes) -> str:
    return codecs.charmap_decode(data, "strict", _1252)[0]


def _from_opaque(data: bytes) -> str:
    text = data.decode("utf-8", "surrogateescape")
    text = _BORROWED.sub(lambda found: "".join(chr(_STRAY + byte) for byte in found[0].encode()), text)
    return _ESCAPED.sub(lambda found: chr(_STRAY + ord(found[0]) - 0xDC00), text)


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
