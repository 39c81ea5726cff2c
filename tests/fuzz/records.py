"""What is fuzzed of things that are read from the disk: journal records, events, small files of ours, `.gitignore`.

Each is a function of bytes that never opens a file. Contracts and policies are in `targets`.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from core.test_events import EVERY
from fuzz.targets import JSON_WORDS, Target, put, told
from remit import home
from remit.core import chain, events
from remit.core.chain import GENESIS, Anchor, Record, Sound
from remit.core.faults import Fault, OurFault, WorldFault
from remit.edges.disk import tree
from remit.edges.store import journal, lock, table

# --- the journal's rows -----------------------------------------------------------------------------------------------


def _rows(data: bytes) -> list[Any]:
    """A row is a line, its fields are between tabs; what is no number is no text either, as SQLite may hand it out."""
    rows = []
    for line in data.split(b"\n"):
        seq, *texts = [*line.split(b"\t"), b"", b"", b"", b""][:5]
        rows.append(
            (int(seq) if seq.isdigit() and len(seq) < 18 else -1, *(None if one == b"-" else one for one in texts))
        )
    return rows


def _holds(records: list[Record]) -> int:
    """How many records, from the first, are what they should be: by the standard's own package."""
    prev = GENESIS
    for number, record in enumerate(records, 1):
        body = {"seq": number, "at": record.at, "event": record.event}
        try:
            made = sha256(prev.encode() + rfc8785.dumps(body)).hexdigest()  # type: ignore[arg-type]
        except (ValueError, RecursionError):
            return number - 1
        if (record.seq, record.prev, record.hash) != (number, prev, made):
            return number - 1
        prev = made
    return len(records)


def check_journal(data: bytes) -> None:
    """Rows become records or are no records; a chain is sound when each seals the one before, else broken just there."""
    records = []
    for row in _rows(data):
        try:
            records.append(table._record(row))
        except ValueError:
            break
    good = _holds(records)
    verdict = chain.verify(records, None)
    assert (verdict.seq, isinstance(verdict, Sound)) == ((good, True) if good == len(records) else (good + 1, False))
    if good:
        head = records[good - 1]
        assert chain.verify(records[:good], Anchor(good, head.hash)) == Sound(good, head.hash)
        assert not isinstance(chain.verify(records[: good - 1], Anchor(good, head.hash)), Sound)


def bug_journal() -> None:
    """Whether a record follows from the one before it is not asked."""
    fault: Any = chain._fault

    def careless(record: Record, seq: int, prev: str) -> Any:
        found = fault(record, seq, prev)
        return None if found == "link" else found

    put(chain, "_fault", careless)


def _chain() -> bytes:
    records = [chain.seal(GENESIS, 1, "2026-12-01T10:00:00Z", {"type": "noted", "n": 1})]
    for number in (2, 3):
        records.append(chain.seal(records[-1].hash, number, "2026-12-01T10:00:00Z", {"type": "é", "n": [1.5, None]}))
    return "\n".join(
        "\t".join([str(one.seq), one.at, chain.canonical(one.event), one.prev, one.hash]) for one in records
    ).encode()


# --- events -----------------------------------------------------------------------------------------------------------


def check_event(data: bytes) -> None:
    """An event is one that this version knows, and then it is written as it was read, or it is refused by its type."""
    try:
        raw = chain.parse(data.decode("utf-8", "surrogateescape"))
        chain.canonical(raw)
    except (ValueError, RecursionError):
        return
    try:
        event = events.decode(raw)
    except Fault as fault:
        told(fault, WorldFault)
        assert fault.code == "journal_unreadable"
        return
    try:
        record = chain.seal(GENESIS, 1, "", events.encode(event))
    except OurFault as fault:
        told(fault, OurFault)
        return
    assert events.decode(record.event) == event


def bug_event() -> None:
    """An event without a type was not thought of."""
    decode = events.decode

    def careless(raw: Any) -> Any:
        return decode({**raw, "type": raw["type"]})

    put(events, "decode", careless)


# --- small files of ours ----------------------------------------------------------------------------------------------


class _Held:
    """A path whose file holds these bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read_bytes(self) -> bytes:
        return self._data


def check_small(data: bytes) -> None:
    """Whatever stands in the session's file, the lock and the anchor: they say what they should, or nothing."""
    path: Any = _Held(data)
    raw = home._read(path)
    assert raw is None or isinstance(raw, dict)
    if raw is not None and not isinstance(raw.get("pid"), int):
        assert home._live(raw) is None
    if raw is not None:
        assert home._is({**raw, "inode": _HERE.st_ino}, _HERE) in (True, False)
    held = lock._holder(path)
    assert isinstance(held.pid, int) and isinstance(held.role, str)
    found = journal._anchor_in(data)
    if isinstance(found, Anchor):
        assert type(found.seq) is int and found.seq >= 0 and re.fullmatch("[0-9a-f]{64}", found.hash)
    else:
        assert found.why == "anchor"


_HERE = Path(__file__).stat()


def bug_small() -> None:
    """Whoever wrote JSON wrote an object."""
    read: Any = home._read
    put(home, "_read", lambda path: json.loads(path.read_bytes()) if path.read_bytes()[:1] == b"[" else read(path))


# --- .gitignore -------------------------------------------------------------------------------------------------------


def check_ignore(data: bytes) -> None:
    """Lines, the last one a path: the steady expressions say what pathspec's own say, where those are quick."""
    *lines, path = data.decode("utf-8", "surrogateescape").split("\n")
    spec = tree._spec("\n".join(lines))
    found = spec.check_file(path).include
    if all(line.count("*") <= 3 for line in lines) and len(path) < 60 and lines:
        assert found == GitIgnoreSpec(_plain(lines)).check_file(path).include


def _plain(lines: list[str]) -> list[GitIgnoreSpecPattern]:
    patterns = []
    for number, line in enumerate(lines):
        if line.count("**") > 2 or number >= 2000:
            continue
        try:
            patterns.append(
                GitIgnoreSpecPattern((line.removeprefix("\ufeff") if not number else line).removesuffix("\r"))
            )
        except (GitIgnorePatternError, re.error):
            continue
    return patterns


def bug_ignore() -> None:
    """What follows the last star is taken where it first fits, like what stands between two."""

    def held(part: str) -> str:
        literal, opening, more = part.partition("(?:")
        return f"(?>[^/]*?{literal}){opening}{more}" if literal and "/" not in literal else f"[^/]*{part}"

    def careless(pattern: str) -> str:
        first, *rest = re.sub(r"(?:\[\^/\]\*)+", "[^/]*", pattern).split("[^/]*")
        return "".join([first, *map(held, rest)])

    put(tree, "steady", careless)


# --- the list ---------------------------------------------------------------------------------------------------------

_TYPES = tuple(f'"{event.type}"' for event in EVERY)
_FIELDS = sorted({f'"{name}":' for event in EVERY for name in events.encode(event)})
_PID = b'{"pid":1,"role":"lsp","version":"1","root":"/x","inode":1,"socket":"/x/s","token":"/x/t"}'
_IGNORE_WORDS = (
    *(
        "*",
        "**",
        "?",
        "[",
        "]",
        "[!a]",
        "[^a]",
        "[]",
        "!",
        "/",
        "/**/",
        "**/",
        "/**",
        "\\",
        "\\ ",
        "#",
        " ",
        "\n",
        "\r",
    ),
    *("*.py", ".py", ".c", "a/b", "[a-z]", "[z-a]", "\ufeff", "é", "{a,b}", "(", "|", "+", "$", "(?", "*a*a*a*a"),
)

_ALL = (
    Target(
        "journal", check_journal, bug_journal, (_chain(), _chain().split(b"\n")[0]), (*JSON_WORDS, "\t", "\n", "0", "f")
    ),
    Target(
        "event",
        check_event,
        bug_event,
        tuple(chain.canonical(events.encode(event)).encode() for event in EVERY),
        (*JSON_WORDS, *_TYPES, *_FIELDS),
    ),
    Target(
        "small",
        check_small,
        bug_small,
        (_PID, b'{"pid":1,"role":"lsp"}', b'{"seq":3,"hash":"' + b"0" * 64 + b'"}'),
        (*JSON_WORDS, '"pid":', '"seq":', '"hash":', '"root":', "\\u0000", "-1", "0", "true"),
    ),
    Target(
        "ignore",
        check_ignore,
        bug_ignore,
        (b"*.py\n!a/*.py\na/b.py", b"/x/**/y\nx/q/y", b"a*b\naxb", b"[a-c]d?\n*.c\nbdd", b"*.py\na.py"),
        _IGNORE_WORDS,
        longest=300,
    ),
)

TARGETS = {target.name: target for target in _ALL}
