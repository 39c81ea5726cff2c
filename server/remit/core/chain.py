"""Is the journal still what was written? Each record seals the one before it.

Knows records, hashes and canonical JSON (RFC 8785, "JCS"). Does not know what an event means, where records are kept,
or what time it is. The chain shows accidental and clumsy edits up to the last anchor; someone with the user's rights
can rewrite a chain from any record on, and only an anchor kept elsewhere tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias, cast

import rfc8785

from remit.core.faults import Json, OurFault

GENESIS = "0" * 64
"""The `prev` of the first record."""

SAFE = 2**53 - 1
"""The largest integer that JSON readers agree on (RFC 8785 §3.2.2.3, RFC 7493 §2.2)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event in its place: `seq` counts from 1 and is the only order; `at` (ISO 8601, UTC) is a label.

    `event` has a "type"; `prev` and `hash` are SHA-256 in hex.
    """

    seq: int
    at: str
    event: dict[str, Json]
    prev: str
    hash: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of the chain at some moment, kept outside the journal. `Anchor(0, GENESIS)` asks for nothing."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Sound:
    """Every record holds and the anchor was met. The head is (0, GENESIS) when there is no record."""

    seq: int
    hash: str


Why = Literal["order", "link", "content", "truncated", "rewritten", "unreadable", "anchor", "file"]

WORDS: Mapping[Why, str] = {
    "order": "a record is missing, repeated or out of order",
    "link": "the record does not follow from the one before it",
    "content": "the record was changed after it was written",
    "truncated": "records that were written here are gone",
    "rewritten": "the record is not the one that was anchored",
    "unreadable": "the record cannot be read",
    "anchor": "the anchor file cannot be read",
    "file": "the file that holds the records is damaged",
}


@dataclass(frozen=True, slots=True)
class Broken:
    """`seq` is the first place (from 1) that does not hold; 0 when it is the anchor or the file, no record."""

    seq: int
    why: Why


Verdict: TypeAlias = Sound | Broken


def seal(prev: str, seq: int, at: str, event: Mapping[str, Json]) -> Record:
    """The next record: hash = SHA-256(prev in hex, then JCS of {at, event, seq}).

    The record holds its own copy of the event, as it will be read back (1.0 is 1, a tuple is a list).
    Raises OurFault `event_malformed`: no "type", or something that canonical JSON cannot say (NaN, an integer
    beyond 2**53, half a surrogate pair).
    """
    if not isinstance(event.get("type"), str):
        raise OurFault("event_malformed", "An event needs a type.", remedy="Report this bug.")
    try:
        text = canonical(dict(event))
        return Record(seq, at, parse(text), prev, _digest(prev, seq, at, text))
    except (ValueError, TypeError, RecursionError) as error:
        kind = cast(str, event["type"])
        message = f"An event of type {kind[:40]} cannot be written as canonical JSON."
        raise OurFault("event_malformed", message, remedy="Report this bug.", detail=str(error)) from error


def verify(records: Iterable[Record], anchor: Anchor | None) -> Verdict:
    """Reads the records once, in order from the first. A lost tail is seen only by an anchor at or after it."""
    seq, prev = 0, GENESIS
    for record in records:
        seq += 1
        if (why := _fault(record, seq, prev)) is not None:
            return Broken(seq, why)
        if anchor is not None and anchor.seq == seq and anchor.hash != record.hash:
            return Broken(seq, "rewritten")
        prev = record.hash
    if anchor is not None and anchor.seq > seq:
        return Broken(seq + 1, "truncated")
    return Sound(seq, prev)


def canonical(value: Json) -> str:
    """RFC 8785 text of a value. Raises ValueError (or RecursionError) for what it cannot say."""
    # The C encoder says the same, six times faster, where neither numbers nor the order of keys are delicate.
    if _plain(value):
        text = _ENCODER.encode(value)
        text.encode()  # half a surrogate pair has no canonical form
        return text
    return rfc8785.dumps(value).decode()


def parse(text: str) -> dict[str, Json]:
    """The event that `canonical` wrote, so that canonical(parse(t)) == t. Raises ValueError or RecursionError."""
    event = _DECODER.decode(text)
    if not isinstance(event, dict):
        raise ValueError("an event is an object")
    return event


def _fault(record: Record, seq: int, prev: str) -> Why | None:
    if record.seq != seq:
        return "order"
    if record.prev != prev:
        return "link"
    try:
        same = record.hash == _digest(prev, seq, record.at, canonical(record.event))
    except (ValueError, TypeError, RecursionError):
        return "content"
    return None if same else "content"


def _digest(prev: str, seq: int, at: str, text: str) -> str:
    # JCS sorts keys, so the body's text is put together from the event's text instead of being made twice.
    body = f'{prev}{{"at":{_ENCODER.encode(at)},"event":{text},"seq":{seq}}}'
    return sha256(body.encode()).hexdigest()


def _plain(value: Json) -> bool:
    """True where `json.dumps` writes canonical text: no floats, safe integers, ASCII keys (JCS sorts by UTF-16)."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and key.isascii() and _plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_plain, value))
    if isinstance(value, str) or value is None:
        return True
    return isinstance(value, int) and -SAFE <= value <= SAFE


def _number(digits: str) -> int | float:
    # Canonical text writes the float 1e20 in full; as an integer it could not be written again.
    value = int(digits)
    return value if -SAFE <= value <= SAFE else float(digits)


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_int=_number)
