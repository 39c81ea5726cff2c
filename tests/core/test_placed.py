"""`core.placed`: how a place is told in one word, and for each hunk of what is made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import diff
from remit.core.chunk import Chunk
from remit.core.place import place
from remit.core.placed import Placed, Placement, words

TEXT = "".join(f"{number}\n" for number in range(20))


@pytest.mark.parametrize(
    ("placement", "word"),
    [
        (Placement(0, 3, "exact", 0), "exact"),
        (Placement(0, 3, "offset", -5), "offset(-5)"),
        (Placement(0, 3, "line_ends", 0), "line_ends"),
        (Placement(0, 3, "line_ends", 2), "offset(2), line_ends"),
        (Placement(0, 3, "tabs", 2, ("line_ends",)), "offset(2), line_ends, tabs"),
    ],
)
def test_a_place_in_a_word(placement: Placement, word: str) -> None:
    assert placement.word == word


def told(text: str, *chunks: Chunk) -> list[tuple[int, str]]:
    placed = place(text, chunks)
    changes = diff.between(text, placed.text)
    return [(one.old_start, word) for one, word in zip(changes, words(text, placed, changes), strict=True)]


def test_each_hunk_has_the_word_of_its_own_chunk() -> None:
    near, far = Chunk(("3",), ("three",), 3), Chunk(("15",), ("fifteen",), 10)
    assert told(TEXT, near, far) == told(TEXT, far, near) == [(3, "exact"), (15, "offset(5)")]
    one = Chunk(("3", "4", "5"), ("x", "4", "y"), 2)
    assert told(TEXT, one) == [(3, "offset(1)"), (5, "offset(1)")]


def test_a_hunk_made_of_two_chunks_has_both_words() -> None:
    assert told(TEXT, Chunk(("4",), ("y",), 0), Chunk(("3",), ("x",), 3)) == [(3, "exact, offset(4)")]


def test_a_change_that_can_be_seen_elsewhere_has_the_word_of_the_nearest_chunk() -> None:
    """One more of several equal lines: the chunk says which, the comparison another one."""
    text = "x\n" * 6
    placed = Placed(text + "x\n", (Placement(0, 1, "offset", 1),), ((2, 2, "offset(1)"),))
    for at in range(7):
        assert words(text, placed, [diff.Span(at, (), at, ("x\n",))]) == ("offset(1)",)
    assert words(text, Placed(text, ()), []) == ()
    assert words(text, Placed(text, ()), [diff.Span(0, (), 0, ("x\n",))]) == ("exact",)


@given(st.lists(st.integers(0, 19), unique=True, max_size=8), st.randoms(use_true_random=False))
def test_no_word_is_lost_and_none_is_made_up(lines: list[int], random: object) -> None:
    chunks = [Chunk((f"{line}",), (f"new {line}",), max(0, line - line % 3)) for line in lines]
    found = told(TEXT, *chunks)
    assert {part for _, word in found for part in word.split(", ")} == {
        f"offset({line % 3})" if line % 3 else "exact" for line in lines
    }
