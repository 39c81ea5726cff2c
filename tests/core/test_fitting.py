"""`core.fitting`: the verdict and the text of the three-way merge, told from the changed lines alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from remit.core.diff import Conflict, Merged, Span, apply, merge, since
from remit.core.fitting import Clash, fit

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "a\r\n", "\n", "d"]), max_size=8)
BASE = "one\ntwo\nthree\nfour\nfive\n"


def fitted(
    present: str, proposed: str, base: str = BASE
) -> tuple[list[tuple[int, Span]], tuple[int, ...], list[Clash]]:
    found = fit(since(base, present), since(base, proposed))
    return list(found.kept), found.there, list(found.clashes)


def test_a_change_moves_with_the_lines_before_it() -> None:
    kept, there, clashes = fitted("zero\n" + BASE, BASE.replace("four", "FOUR"))
    assert kept == [(0, Span(4, ("four\n",), 4, ("FOUR\n",)))] and not there and not clashes


def test_what_the_text_holds_already_is_left_out() -> None:
    kept, there, clashes = fitted(BASE.replace("two", "TWO"), BASE.replace("two", "TWO").replace("five", "FIVE"))
    assert ([index for index, _ in kept], there, clashes) == ([1], (0,), [])


def test_a_conflict_has_both_sides_at_their_places() -> None:
    _, _, clashes = fitted("zero\n" + BASE.replace("three\n", "3\n3\n"), BASE.replace("three\nfour", "THREE"))
    assert clashes == [Clash(2, ("three\n", "four\n"), 3, ("3\n", "3\n", "four\n"), ("THREE\n",))]


def test_each_change_has_its_lines_in_the_present_text() -> None:
    found = fit(since(BASE, "zero\n" + BASE.replace("one", "1")), since(BASE, BASE.replace("four", "4") + "six\n"))
    assert found.spots == ((4, 5), (6, 6))
    against = fit(since(BASE, BASE.replace("two\n", "")), since(BASE, BASE.replace("two", "2")))
    assert against.spots == ((1, 1),) and len(against.clashes) == 1


@settings(max_examples=500)
@given(LINES, LINES, LINES)
def test_it_says_what_the_three_way_merge_says(base: list[str], ours: list[str], theirs: list[str]) -> None:
    old, present, proposed = "".join(base), "".join(ours), "".join(theirs)
    changes = since(old, proposed)
    found, merged = fit(since(old, present), changes), merge(old, present, proposed)
    if isinstance(merged, Merged):
        assert not found.clashes
        assert apply(present, [span for _, span in found.kept]) == merged.text
        assert sorted([*found.there, *(index for index, _ in found.kept)]) == list(range(len(changes)))
        for index, span in found.kept:
            assert (span.old, span.new) == (changes[index].old, changes[index].new)
            assert "".join(span.old) in present and found.spots[index] == (span.old_start, span.old_end)
    else:
        assert isinstance(merged, Conflict)
        sides = [("".join(one.base), "".join(one.present), "".join(one.proposed)) for one in found.clashes]
        assert sides == [(region.base, region.ours, region.theirs) for region in merged.regions]
        assert [clash.base_start for clash in found.clashes] == [region.base_start for region in merged.regions]
