"""`core.snapshot`: what a frozen look is called, and whether a change may be applied to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import sha
from remit.core.model import ABSENT
from remit.core.snapshot import NOTHING, Fresh, Parted, Snapshot, Stale, Told, Unknown, judge

A, B, C = sha("a"), sha("b"), sha("c")


def test_a_clean_buffer_has_the_disks_digest_as_a_second_name_and_a_dirty_one_has_not() -> None:
    def names(snapshot: Snapshot) -> set[str]:
        return {name for name in (A, B, C, ABSENT) if snapshot.is_named(name)}

    assert names(Snapshot("f", Told(A), "buffer", disk=B)) == {A, B}
    assert names(Snapshot("f", Told(A), "buffer", disk=B, clean=False)) == {A}
    assert names(Snapshot("f", Told(A), "disk", disk=A)) == {A}
    assert names(Snapshot("f", NOTHING, "absent")) == {ABSENT}


def test_where_it_was_seen_is_said_in_words() -> None:
    assert Snapshot("f", Told(A), "buffer", version=3).source == "buffer v3"
    assert Snapshot("f", Told(A), "disk").source == "disk"
    assert Snapshot("f", NOTHING, "absent").source == "absent"


@pytest.mark.parametrize(
    ("snapshot", "binding", "expected"),
    [
        (Snapshot("f", Told(A), "disk"), A, Fresh()),
        (Snapshot("f", Told(A), "disk"), B, Stale(B)),
        (Snapshot("f", NOTHING, "absent"), ABSENT, Fresh()),
        (Snapshot("f", NOTHING, "absent"), A, Stale(A)),
        (Snapshot("f", Told(A), "buffer", disk=B), B, Fresh()),
        (Snapshot("f", Told(A), "buffer", disk=B, clean=False), B, Stale(B)),
        (Snapshot("f", Told(A), "buffer", disk=B, clean=False, parted=True), A, Parted(A, B)),
        (Snapshot("f", Told(A), "buffer", disk=B, clean=False, parted=True), C, Stale(C)),
        (Snapshot("f", Told(A), "buffer", trusted=False), A, Unknown()),
        (Snapshot("f", Told(A), "buffer", trusted=False, parted=True), B, Unknown()),
    ],
)
def test_what_may_be_applied(snapshot: Snapshot, binding: str, expected: object) -> None:
    assert judge(snapshot, binding) == expected


@given(
    digest=st.sampled_from([A, B, ABSENT]),
    disk=st.sampled_from([A, B, ABSENT]),
    binding=st.sampled_from([A, B, C, ABSENT]),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_only_a_trusted_unparted_look_with_that_name_is_fresh(
    digest: str, disk: str, binding: str, flags: tuple[bool, bool, bool]
) -> None:
    clean, parted, trusted = flags
    snapshot = Snapshot("f", Told(digest), "buffer", disk=disk, clean=clean, parted=parted, trusted=trusted)
    fresh = isinstance(judge(snapshot, binding), Fresh)
    assert fresh == (trusted and not parted and (binding == digest or (clean and binding == disk)))
