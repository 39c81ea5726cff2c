"""`core.snapshot`: what a frozen look is called, and whether a change may be applied to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import sha
from remit.core.model import ABSENT
from remit.core.snapshot import Fresh, Parted, Snapshot, Stale, Unknown, judge

A, B, C = sha("a"), sha("b"), sha("c")


def test_a_clean_buffer_has_the_disks_digest_as_a_second_name_and_a_dirty_one_has_not() -> None:
    assert Snapshot("f", A, "buffer", disk=B).names() == {A, B}
    assert Snapshot("f", A, "buffer", disk=B, clean=False).names() == {A}
    assert Snapshot("f", A, "disk", disk=A).names() == {A}
    assert Snapshot("f", ABSENT, "absent").names() == {ABSENT}


def test_where_it_was_seen_is_said_in_words() -> None:
    assert Snapshot("f", A, "buffer", version=3).source == "buffer v3"
    assert Snapshot("f", A, "disk").source == "disk"
    assert Snapshot("f", ABSENT, "absent").source == "absent"


@pytest.mark.parametrize(
    ("snapshot", "binding", "expected"),
    [
        (Snapshot("f", A, "disk"), A, Fresh()),
        (Snapshot("f", A, "disk"), B, Stale(B, A)),
        (Snapshot("f", ABSENT, "absent"), ABSENT, Fresh()),
        (Snapshot("f", ABSENT, "absent"), A, Stale(A, ABSENT)),
        (Snapshot("f", A, "buffer", disk=B), B, Fresh()),
        (Snapshot("f", A, "buffer", disk=B, clean=False), B, Stale(B, A)),
        (Snapshot("f", A, "buffer", disk=B, clean=False, parted=True), A, Parted(A, B)),
        (Snapshot("f", A, "buffer", disk=B, clean=False, parted=True), C, Stale(C, A)),
        (Snapshot("f", A, "buffer", trusted=False), A, Unknown()),
        (Snapshot("f", A, "buffer", trusted=False, parted=True), B, Unknown()),
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
    snapshot = Snapshot("f", digest, "buffer", disk=disk, clean=clean, parted=parted, trusted=trusted)
    fresh = isinstance(judge(snapshot, binding), Fresh)
    assert fresh == (trusted and not parted and (binding == digest or (clean and binding == disk)))
