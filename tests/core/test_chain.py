"""The chain names what is wrong, and canonical JSON is the standard's."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any, get_args

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.core.chain import GENESIS, WORDS, Anchor, Broken, Record, Sound, Why, canonical, parse, seal, verify
from remit.core.faults import OurFault

AT = "2026-12-01T10:00:00Z"

numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
events = st.dictionaries(texts, values, max_size=4).map(lambda event: {**event, "type": "noted"})


def chain(count: int) -> list[Record]:
    records: list[Record] = []
    for n in range(1, count + 1):
        records.append(seal(records[-1].hash if records else GENESIS, n, AT, {"type": "noted", "n": n}))
    return records


def test_the_hash_is_the_documented_one() -> None:
    event: dict[str, Any] = {"type": "noted", "text": "é\u2028", "n": 1.5}
    record = seal(GENESIS, 1, AT, event)
    body = GENESIS.encode() + rfc8785.dumps({"seq": 1, "at": AT, "event": event})
    assert record == Record(1, AT, event, GENESIS, sha256(body).hexdigest())


@settings(max_examples=200)
@given(values)
def test_canonical_is_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value).decode()


@settings(max_examples=200)
@given(events)
def test_an_event_reads_back_as_it_was_sealed(event: dict[str, Any]) -> None:
    record = seal(GENESIS, 1, AT, event)
    again = parse(canonical(record.event))
    assert again == record.event == event
    assert verify([replace(record, event=again)], None) == Sound(1, record.hash)


@pytest.mark.parametrize("number", [1e20, 1e21, -0.0, 5e-324, 2.0**53, -1e300, 1e-7])
def test_hard_numbers_stay_sound(number: float) -> None:
    record = seal(GENESIS, 1, AT, {"type": "noted", "n": number})
    assert parse(canonical(record.event)) == {"type": "noted", "n": number}
    assert verify([record], None) == Sound(1, record.hash)


def test_a_record_keeps_its_own_copy() -> None:
    inner: list[Any] = ["a"]
    record = seal(GENESIS, 1, AT, {"type": "noted", "files": inner})
    inner.append("b")
    assert record.event["files"] == ["a"]
    assert verify([record], None) == Sound(1, record.hash)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": 1},
        {"type": "noted", "n": float("nan")},
        {"type": "noted", "n": float("inf")},
        {"type": "noted", "n": 2**53},
        {"type": "noted", "name": "half \ud800"},
        {"type": "noted", "raw": b"bytes"},
        {"type": "noted", "nested": {1: "key"}},
    ],
)
def test_what_cannot_be_canonical_is_our_fault(event: dict[str, Any]) -> None:
    with pytest.raises(OurFault) as fault:
        seal(GENESIS, 1, AT, event)
    assert fault.value.code == "event_malformed"
    assert len(fault.value.message) <= 100


def test_too_deep_is_our_fault() -> None:
    deep: Any = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(OurFault):
        seal(GENESIS, 1, AT, {"type": "noted", "deep": deep})
    while deep:  # taken apart by hand: the interpreter frees it recursively otherwise
        deep = deep[0]


def test_empty_and_whole_chains_are_sound() -> None:
    records = chain(5)
    assert verify([], None) == Sound(0, GENESIS)
    assert verify([], Anchor(0, GENESIS)) == Sound(0, GENESIS)
    for n in range(1, 6):
        assert verify(records, Anchor(n, records[n - 1].hash)) == Sound(5, records[4].hash)


@pytest.mark.parametrize("place", [1, 2, 3, 4, 5])
def test_each_change_is_named_at_its_place(place: int) -> None:
    def changed(**what: Any) -> list[Record]:
        return [replace(r, **what) if r.seq == place else r for r in chain(5)]

    assert verify(changed(event={"type": "noted", "n": 99}), None) == Broken(place, "content")
    assert verify(changed(event={"type": "noted", "n": float("nan")}), None) == Broken(place, "content")
    assert verify(changed(at="2027-01-01T00:00:00Z"), None) == Broken(place, "content")
    assert verify(changed(hash="f" * 64), None) == Broken(place, "content")
    assert verify(changed(prev="f" * 64), None) == Broken(place, "link")
    assert verify(changed(seq=9), None) == Broken(place, "order")


def test_a_hole_a_copy_and_a_swap_are_named() -> None:
    one, two, three, four = chain(4)
    assert verify([one, three, four], None) == Broken(2, "order")
    assert verify([two, three], None) == Broken(1, "order")
    assert verify([one, two, two, three], None) == Broken(3, "order")
    assert verify([one, three, two], None) == Broken(2, "order")


def test_a_lost_tail_is_seen_only_by_the_anchor() -> None:
    records = chain(4)
    assert verify(records[:3], None) == Sound(3, records[2].hash)
    assert verify(records[:3], Anchor(4, records[3].hash)) == Broken(4, "truncated")
    assert verify([], Anchor(4, records[3].hash)) == Broken(1, "truncated")


def test_a_chain_made_anew_is_seen_only_by_the_anchor() -> None:
    records = chain(3)
    other = seal(records[0].hash, 2, AT, {"type": "noted", "n": 22})
    rest = [records[0], other, seal(other.hash, 3, AT, {"type": "noted", "n": 3})]
    assert verify(rest, None) == Sound(3, rest[2].hash)
    assert verify(rest, Anchor(2, records[1].hash)) == Broken(2, "rewritten")


@settings(max_examples=100)
@given(st.data())
def test_any_one_altered_field_is_found(data: st.DataObject) -> None:
    records = chain(data.draw(st.integers(1, 6)))
    place = data.draw(st.integers(0, len(records) - 1))
    event = data.draw(events.filter(lambda event: event != records[place].event))
    records[place] = replace(records[place], event=event)
    assert verify(records, None) == Broken(place + 1, "content")


def test_every_reason_has_its_words() -> None:
    assert set(WORDS) == set(get_args(Why))
    assert all(len(words) <= 60 for words in WORDS.values())
