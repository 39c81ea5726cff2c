"""What is fuzzed of texts in the core: edits, charsets, names in a patch, printed diffs, merges, search and replace.

Each is held against a naive model of the same. Reading and placing patches is in `targets`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, get_args

from fuzz.targets import PATCH_WORDS, Target, put, text_of, told
from remit.core import codec, diff, header, place, text
from remit.core.codec import Charset, Decoded
from remit.core.faults import AgentFault, Fault, WorldFault
from remit.core.patch import parse
from remit.core.text import Edit, Position, PositionEncoding, Range, Text, split_lines

_END = re.compile(r"\r\n|\r|\n")


# --- the editor's edits -----------------------------------------------------------------------------------------------

ENCODINGS: tuple[PositionEncoding, ...] = get_args(PositionEncoding)
_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def _units(char: str, encoding: str) -> int:
    name, width = _CODECS[encoding]
    return len(char.encode(name, "surrogatepass")) // width


def _starts(whole: str) -> list[int]:
    return [0, *(found.end() for found in _END.finditer(whole))]


def _offset(whole: str, position: Position, encoding: str) -> int:
    """Where a position is, found by walking over the whole text."""
    starts = _starts(whole)
    if position.line >= len(starts):
        return len(whole)
    at, left = starts[position.line], position.character
    while at < len(whole) and whole[at] not in "\r\n" and left >= (width := _units(whole[at], encoding)):
        at, left = at + 1, left - width
    return at


def _change(data: bytes) -> Edit:
    """Four bytes of positions, then the text; 255 for the whole text, 254 for a place that no text has."""
    numbers, new = data[:4].ljust(4, b"\0"), text_of(data[4:])
    if numbers[0] == 255:
        return Edit(new)
    top, left, bottom, right = (-1 if number == 254 else number for number in numbers)
    return Edit(new, Range(Position(top, left), Position(bottom, right)))


def check_text(data: bytes) -> None:
    """The first byte is the encoding; then, between NULs, the text and the changes, one after the other."""
    encoding = ENCODINGS[data[0] % 3] if data else "utf-16"
    first, *changes = data[1:].split(b"\0\0")
    model = text_of(first)
    buffer = Text(model)
    for data in changes[:12]:
        edit = _change(data)
        wrong = edit.range is not None and (
            edit.range.start > edit.range.end
            or min(edit.range.start.line, edit.range.start.character, edit.range.end.line, edit.range.end.character) < 0
        )
        if edit.range is not None and not wrong:
            assert buffer.offset(edit.range.start, encoding) == _offset(model, edit.range.start, encoding)
        try:
            buffer.edit(edit, encoding)
            assert not wrong, edit
        except Fault as fault:
            told(fault, WorldFault)
            assert wrong, edit
        if edit.range is None:
            model = edit.text
        elif not wrong:
            start, end = (_offset(model, at, encoding) for at in (edit.range.start, edit.range.end))
            model = model[:start] + edit.text + model[end:]
        starts = _starts(model)
        assert str(buffer) == model and buffer.line_count == len(starts)
        assert [buffer.line(at) for at in range(len(starts))] == [
            model[at:end] for at, end in zip(starts, [*starts[1:], len(model)], strict=True)
        ]
        assert buffer.offset(buffer.end(encoding), encoding) == len(model)


def bug_text() -> None:
    """In UTF-16, a character beyond the first 65536 counts as one."""
    units: Any = text._units
    put(text, "_units", lambda part, encoding: len(part) if encoding == "utf-16" else units(part, encoding))


# --- bytes and text ---------------------------------------------------------------------------------------------------

CHARSETS = (*codec.MARKED, codec.UTF8, *codec.LEGACY, Charset("opaque"), Charset("opaque", b"\xff\xfe"))


def check_codec(data: bytes) -> None:
    """All bytes come back; a text comes back from its bytes, or is refused at the first character that is in the way."""
    found = codec.decode(data)
    assert codec.encode(found.text, found.charset) == data
    assert codec.decode_as(data, found.charset) == found.text
    judged = codec.charset_of_buffer(found.text, data)
    assert judged is not None and codec.encode(found.text, judged) == data
    assert codec.same_text(found.text, _END.sub("\n", found.text))
    ends = {end.group() for end in _END.finditer(found.text)}
    assert codec.eol_style(found.text) == (
        "mixed" if len(ends) > 1 else {"\n": "lf", "\r\n": "crlf", "\r": "cr"}[ends.pop()] if ends else "none"
    )
    for whole in (
        data.decode("utf-8", "surrogateescape"),
        data.decode("utf-16-le", "surrogatepass" if _even(data) else "replace"),
    ):
        _check_written(whole)


def _even(data: bytes) -> bool:
    return len(data) % 2 == 0


def _check_written(whole: str) -> None:
    for charset in CHARSETS:
        try:
            written = codec.encode(whole, charset)
        except Fault as fault:
            told(fault, AgentFault)
            at = fault.data["offset"]
            assert isinstance(at, int) and fault.data["character"] == f"U+{ord(whole[at]):04X}"
            codec.encode(whole[:at], charset)
            continue
        again = codec.decode_as(written, charset)
        assert codec.encode(again, charset) == written
        assert charset.name == "opaque" or again == whole


def bug_codec() -> None:
    """A mark before bytes that break its promise is forgotten."""
    decode = codec.decode

    def careless(data: bytes) -> Decoded:
        found = decode(data)
        return Decoded(found.text, Charset("opaque")) if found.charset.name == "opaque" else found

    put(codec, "decode", careless)


# --- names ------------------------------------------------------------------------------------------------------------

_SPELLED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def _quoted(name: bytes) -> str:
    """As git spells a name (quote.c), bytes beyond ASCII too."""
    if all(32 <= byte < 127 and byte not in _SPELLED for byte in name):
        return name.decode()
    return '"{}"'.format(
        "".join(
            f"\\{_SPELLED[byte]}" if byte in _SPELLED else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
            for byte in name
        )
    )


def _header(old: bytes, new: bytes) -> str:
    tabs = ["\t" if b" " in name and _quoted(name) == name.decode(errors="replace") else "" for name in (old, new)]
    before, after = _quoted(b"a/" + old), _quoted(b"b/" + new)
    moved = "" if old == new else f"similarity index 90%\nrename from {_quoted(old)}\nrename to {_quoted(new)}\n"
    hunk = f"--- {before}{tabs[0]}\n+++ {after}{tabs[1]}\n@@ -1 +1 @@\n-a\n+b\n"
    return f"diff --git {before} {after}\n{moved}{hunk}"


def check_names(data: bytes) -> None:
    """Two names between a NUL: however git spells them, these and no others are read."""
    old, _, new = (part.replace(b"\0", b"") for part in data.partition(b"\0"))
    if not old or not new or len(data) > 1000 or data.count(b" ") > 20:
        return
    for one, two in ((old, old), (old, new)):
        file = parse(_header(one, two)).files[0]
        assert (file.source or file.path, file.path) == (text_of(one), text_of(two))


def bug_names() -> None:
    """An escape that git writes is not known."""
    header._PLAIN.pop(ord("v"))


# --- printed and joined -----------------------------------------------------------------------------------------------


def check_printed(data: bytes) -> None:
    """Two texts between a NUL: a change carried out makes the other text, and so does a printed one, read and placed."""
    old, new = [text_of(part) for part in [*data.split(b"\0"), b""][:2]]
    for one, two in ((old, new), (new, old)):
        assert diff.apply(one, diff.between(one, two)) == two
        printed = diff.unified(one, two, "a/f", "b/f")
        assert bool(printed) == (one != two)
        if printed:
            assert place.place(one, parse(printed).files[0].chunks, ("exact",)).text == two


def check_merge(data: bytes) -> None:
    """Three texts between NULs: no merge prefers a side, invents a line, or loses what only one side changed."""
    old, new, other = [text_of(part) for part in [*data.split(b"\0"), b"", b""][:3]]
    assert diff.merge(old, old, new) == diff.merge(old, new, old) == diff.merge(old, new, new) == diff.Merged(new)
    ours, theirs = diff.merge(old, new, other), diff.merge(old, other, new)
    assert isinstance(ours, diff.Merged) == isinstance(theirs, diff.Merged)
    if isinstance(ours, diff.Merged):
        assert ours == theirs
        known = {line for whole in (old, new, other) for line in split_lines(whole)}
        assert known.issuperset(split_lines(ours.text))


def bug_merge() -> None:
    """Where both sides change one place, the first one's word stands."""
    merge = diff.merge

    def careless(base: str, ours: str, theirs: str) -> Any:
        found = merge(base, ours, theirs)
        alone = isinstance(found, diff.Conflict) and len(found.regions) == 1 and "\r" in found.regions[0].base
        return diff.Merged(ours) if alone else found

    put(diff, "merge", careless)


def bug_printed() -> None:
    """A line that ends in a carriage return counts as one that has its end."""
    marked: Any = diff._marked
    put(diff, "_marked", lambda sign, line: sign + line if line.endswith("\r") else marked(sign, line))


# --- search and replace -----------------------------------------------------------------------------------------------


def _swaps(data: bytes) -> tuple[str, list[place.Swap]]:
    """A text, then, between NULs, how often (`*`: as it is there), what to look for, and what comes in its place."""
    first, *rest = data.split(b"\0")
    swaps = []
    for count, search, new in zip(rest[::3], rest[1::3], rest[2::3], strict=False):
        often = None if count == b"*" else int(count) if count.isdigit() and len(count) < 4 else 1
        swaps.append(place.Swap(text_of(search), text_of(new), often))
    return text_of(first), swaps[:6]


def _swapped(whole: str, swaps: list[place.Swap]) -> str | None:
    """All occurrences of all searches replaced, or None where that is not clear."""
    edits = []
    for swap in swaps:
        places = [at for at in range(len(whole)) if swap.search and whole.startswith(swap.search, at)]
        if not places or swap.count not in (None, len(places)):
            return None
        edits += [(at, at + len(swap.search), swap.new) for at in places]
    edits.sort()
    if any(two[0] < one[1] for one, two in pairwise(edits)):
        return None
    made, last = [], 0
    for start, end, new in edits:
        made += [whole[last:start], new]
        last = end
    return "".join([*made, whole[last:]])


def check_swap(data: bytes) -> None:
    """By the strict rule: what the model makes, or a refusal where it sees none. By all rules: in any order the same."""
    whole, swaps = _swaps(data)
    made = list[str | None]()
    for rules, order in ((("exact",), swaps), (place.RULES, swaps), (place.RULES, swaps[::-1])):
        try:
            made.append(place.swap(whole, order, rules).text)
        except Fault as fault:
            told(fault, AgentFault)
            made.append(None)
    assert made[0] == _swapped(whole, swaps)
    assert made[1] == made[2]


def bug_swap() -> None:
    """Places that overlap are not looked for."""

    def careless(whole: str, pattern: str, *_: object) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer(pattern, whole)]

    put(place, "_occurrences", careless)


# --- the list ---------------------------------------------------------------------------------------------------------

_WORDS = (
    *("\r\n", "\r", "\n", "\0", "\0\0", "é", "\u2028", "\x0b", "\x85", "🎉", "\ufeff", "\ud83d", "a\u0301", "\x01\x00"),
    *("\x00\x01\x00\x02", "\xff", "\t", "aa", "*", "2", "\0*\0", "\\", '"', " b/", "a/", " "),
)
_RAW = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"a\x00b\x00", b"\xe9", b"\x81", b"\x00\xd8", b"\xfe")

_ALL = (
    Target(
        "text",
        check_text,
        bug_text,
        (
            b"\x01one\ntwo\r\nthree\0\0\x00\x01\x01\x01x\0\0\x01\x00\x01\x00\n\0\0\xffnew",
            "\0é\rb\n\0\0\1\0\1\0\n\0\0\0\0\1\1\r".encode(),
            b"\x02a\n\0\0\x09\x00\x09\x05z\0\0\xfe\x00\x00\x00q",
        ),
        _WORDS,
        _RAW,
        512,
    ),
    Target(
        "codec",
        check_codec,
        bug_codec,
        (b"a\r\nb\n", "é€\n".encode(), b"\xff\xfea\0\n\0", b"\xef\xbb\xbfx"),
        _WORDS,
        _RAW,
    ),
    Target("names", check_names, bug_names, (b"a b\0c\td", "é\0x/y".encode(), b'd/"e\\\0f'), _WORDS, _RAW, 200),
    Target(
        "printed",
        check_printed,
        bug_printed,
        (b"one\ntwo\nthree\n\0one\n2\nthree\n\0one\ntwo\nthree\nfour", b"a\r\nb\0a\r\nb\r\n\0", b"x\n\0\0y\n"),
        (*PATCH_WORDS, *_WORDS),
        _RAW,
        400,
    ),
    Target(
        "merge",
        check_merge,
        bug_merge,
        (b"1\n2\n3\n4\n\0001\ntwo\n3\n4\n\0001\n2\n3\n4\nfive", b"a\nb\0a\nb\n\0A\nb"),
        _WORDS,
        _RAW,
        400,
    ),
    Target(
        "swap",
        check_swap,
        bug_swap,
        (
            b"one two one\02\0one\0ONE\01\0two\0TWO",
            b"a\r\nb\n\0*\0a\nb\0c\n",
            b"abc\0\0bc\0x\0\0a\0y",
            b"a." * 120 + b"\0*\0a\0b",
        ),
        _WORDS,
        _RAW,
        400,
    ),
)

TARGETS = {target.name: target for target in _ALL}
