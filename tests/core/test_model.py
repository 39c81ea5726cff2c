"""Values at the border: frozen, camelCase, nothing unknown; and fingerprints that know a value by what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from remit.core.model import ABSENT, Binding, Digest, Model, canonical, fingerprint


class Sample(Model):
    long_name: int
    other_thing: str | None = None
    many: tuple[str, ...] = Field(default=())


def test_names_are_camel_case_on_the_wire_and_what_is_unset_is_left_out() -> None:
    assert Sample(long_name=1).wire() == {"longName": 1, "many": []}
    assert Sample.model_validate({"longName": 2, "otherThing": "x"}) == Sample(long_name=2, other_thing="x")


def test_unknown_fields_and_changes_are_refused() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Sample.model_validate({"longName": 1, "more": 2})
    with pytest.raises(ValidationError, match="frozen"):
        Sample(long_name=1).long_name = 2  # type: ignore[misc]


@pytest.mark.parametrize("bad", ["", "A" * 64, "a" * 63, "a" * 65, "g" * 64, "a" * 64 + "\n"])
def test_a_digest_is_sixty_four_small_hex_digits(bad: str) -> None:
    for kind in (Digest, Binding):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(bad)
    assert TypeAdapter(Binding).validate_python(ABSENT) == ABSENT
    with pytest.raises(ValidationError):
        TypeAdapter(Digest).validate_python(ABSENT)


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), PLAIN, max_size=4))
def test_a_fingerprint_is_of_what_is_said_not_of_the_order_it_was_said_in(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert fingerprint(turned) == fingerprint(value)
    assert json.loads(canonical(value)) == value
    assert fingerprint({**value, "one more": 1}) != fingerprint(value)


def test_fingerprints_tell_kinds_apart() -> None:
    seen = [fingerprint(value) for value in ([], {}, [1], ["1"], [None], [True], [[1]], {"a": 1}, {"a": "1"})]
    assert len(set(seen)) == len(seen)
    assert fingerprint((1, 2)) == fingerprint([1, 2])
