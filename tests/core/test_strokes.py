"""Who changed a buffer: hands, formatters, the disk and proposals, told apart as far as they can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.strokes import FORMATTER, KNOWN, QUICK, USER, Stroke, Strokes


def typed(*wide: bool, start: float = 0.0) -> Strokes:
    strokes = Strokes()
    strokes.named("base", 0)
    for at, one in enumerate(wide):
        strokes.note(start + at, wide=one)
    return strokes


def test_typing_is_the_users() -> None:
    assert typed().since("base") == ()
    assert typed(False, False).since("base") == (USER,)
    assert typed(False).since("never") is None


@pytest.mark.parametrize(
    ("wide", "after", "expected"),
    [(True, QUICK / 2, FORMATTER), (True, QUICK * 2, USER), (False, QUICK / 2, USER)],
)
def test_a_wide_change_right_before_a_save_is_a_formatters(wide: bool, after: float, expected: Stroke) -> None:
    strokes = typed(wide)
    strokes.saved(after)
    assert strokes.since("base") == (expected,)


def test_only_the_last_change_before_a_save_is_judged_and_only_once() -> None:
    strokes = typed(False, True)
    strokes.saved(1.1)
    assert strokes.since("base") == (USER, FORMATTER)
    strokes.note(5.0, wide=False)
    strokes.saved(5.1)
    assert strokes.since("base") == (USER, FORMATTER)
    strokes.named("later", 2)
    assert strokes.since("later") == (USER,)


def test_a_buffer_that_follows_its_disk_was_loaded_and_a_save_says_otherwise() -> None:
    strokes = typed(True)
    strokes.loaded("base", "new")
    assert strokes.since("base") == (Stroke("disk", "new"),)
    strokes.saved(QUICK * 3)
    assert strokes.since("base") == (USER,)


def test_what_was_typed_for_a_while_was_not_loaded() -> None:
    strokes = typed(False, False)
    strokes.loaded("base", "new")
    assert strokes.since("base") == (USER,)


def test_a_proposals_change_is_its_own_and_what_follows_is_not() -> None:
    strokes = typed(False, True)
    strokes.proposed("P1")
    strokes.named("applied", 2)
    strokes.note(9.0, wide=False)
    assert strokes.since("base") == (USER, Stroke("proposal", "P1"))
    assert strokes.every() == (USER, Stroke("proposal", "P1"))
    assert strokes.since("applied") == (USER,)


def test_nothing_happened_yet() -> None:
    strokes = Strokes()
    strokes.saved(1.0)
    strokes.proposed("P1")
    assert strokes.every() == ()


@given(st.lists(st.sampled_from(["type", "format", "propose", "name"]), max_size=30))
def test_since_tells_exactly_the_kinds_that_came_after(story: list[str]) -> None:
    strokes, kinds = Strokes(), list[Stroke]()
    named = {"start": 0}
    strokes.named("start", 0)
    for at, what in enumerate(story):
        if what == "name":
            named[f"n{at}"] = len(kinds)
            strokes.named(f"n{at}", strokes.step)
            continue
        strokes.note(10.0 * at, wide=what == "format")
        kinds.append(USER)
        if what == "format":
            strokes.saved(10.0 * at)
            kinds[-1] = FORMATTER
        elif what == "propose":
            strokes.proposed("P")
            kinds[-1] = Stroke("proposal", "P")
    for name, step in named.items():
        assert set(strokes.since(name) or ()) == set(kinds[step:])


def test_only_so_many_moments_are_remembered() -> None:
    strokes = Strokes()
    for at in range(2 * KNOWN):
        strokes.note(at, wide=False)
        strokes.named(f"d{at}", strokes.step)
    assert strokes.since("d0") is None
    assert strokes.since(f"d{2 * KNOWN - 1}") == ()
