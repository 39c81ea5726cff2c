"""`core.leaves` against a plain list, after each change; and that what two states share is shared, not gone over."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.core import leaves
from remit.core.leaves import FULL, LEAF, Frozen, Gap, Lines, apart, spliced


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves so short that every change meets their borders."""
    monkeypatch.setattr(leaves, "LEAF", 4)
    monkeypatch.setattr(leaves, "FULL", 8)


numbers = st.integers(0, 60)
changes = st.lists(st.tuples(numbers, numbers, st.integers(0, 20)), max_size=12)


@settings(max_examples=300)
@given(size=numbers, story=changes, freezes=st.sets(st.integers(0, 12)))
def test_lines_equal_a_list_after_each_change_and_what_was_frozen_stays(
    size: int, story: list[tuple[int, int, int]], freezes: set[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF", 4)
        patch.setattr(leaves, "FULL", 8)
        model = [f"{number}\n" for number in range(size)]
        lines, kept = Lines(model), list[tuple[Frozen, list[str]]]()
        for step, (one, two, many) in enumerate(story):
            if step in freezes:
                kept.append((lines.freeze(), list(model)))
            start, end = sorted((min(one, len(model)), min(two, len(model))))
            new = [f"{step}.{number}\n" for number in range(many)]
            lines.splice(start, end, list(new))
            model[start:end] = new
            assert [lines[at] for at in range(len(lines))] == model
            assert list(lines.freeze()) == model if step in freezes else True
            sizes = [len(leaf.lines) for leaf in lines._leaves]
            assert max(sizes) <= leaves.FULL and (0 not in sizes or sizes == [0])
        for frozen, then in kept:
            assert (list(frozen), len(frozen), str(frozen)) == (then, len(then), "".join(then))


@given(size=numbers, start=st.integers(-70, 70), end=st.integers(-70, 70), step=st.sampled_from([1, 2, -1, -3]))
def test_frozen_lines_are_a_sequence(size: int, start: int, end: int, step: int) -> None:
    model = [f"{number}\n" for number in range(size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF", 4)
        frozen = Frozen.of(model)
    assert frozen[start:end:step] == model[start:end:step]
    assert [frozen[at] for at in range(-size, size)] == [*model, *model]
    for outside in (size, -size - 1):
        with pytest.raises(IndexError):
            frozen[outside]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("outside", [-1, 9, 100])
def test_a_line_that_is_not_there_is_no_line(outside: int) -> None:
    with pytest.raises(IndexError):
        Lines(["x\n"] * 9)[outside]


@given(size=numbers, story=changes)
def test_equal_lines_are_equal_however_they_came_to_be(size: int, story: list[tuple[int, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF", 4)
        patch.setattr(leaves, "FULL", 8)
        model = [f"{number}\n" for number in range(size)]
        lines = Lines(model)
        first = lines.freeze()
        for one, two, many in story:
            start, end = sorted((min(one, len(model)), min(two, len(model))))
            new = [f"{number}\n" for number in range(many)]
            lines.splice(start, end, list(new))
            model[start:end] = new
        now = lines.freeze()
        assert now == Frozen.of(model)
        assert (now == first) == (list(first) == model)
        made, at = list[str](), 0
        for gap in apart(first, now):
            made += [*first[at : gap.start], *now[gap.other_start : gap.other_end]]
            at = gap.end
        assert [*made, *first[at:]] == model


@given(size=numbers, story=changes)
def test_changes_of_one_state_are_carried_out_together(size: int, story: list[tuple[int, int, int]]) -> None:
    model = [f"{number}\n" for number in range(size)]
    edits, at = list[tuple[int, int, list[str]]](), 0
    for one, two, many in sorted(story):
        start, end = sorted((min(one, size), min(two, size)))
        if start >= at:
            edits.append((start, end, ["new\n"] * many))
            at = end + 1
    expected = list(model)
    for start, end, new in reversed(edits):
        expected[start:end] = new
    frozen = Frozen.of(model)
    assert list(spliced(frozen, edits)) == expected
    assert list(frozen) == model


@given(old=st.lists(st.sampled_from("ab"), max_size=30), new=st.lists(st.sampled_from("ab"), max_size=30))
def test_lines_become_others_and_keep_what_both_have(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF", 4)
        patch.setattr(leaves, "FULL", 8)
        lines = Lines(old)
        before = lines.freeze()
        lines.become(list(new))
        assert list(lines.freeze()) == new
        assert (lines.freeze() is before) == (old == new)


def test_a_change_in_a_long_text_leaves_all_other_leaves_shared() -> None:
    lines = Lines([f"{number}\n" for number in range(100 * LEAF)])
    before = lines.freeze()
    lines.splice(5000, 5001, ["other\n"])
    after = lines.freeze()
    assert len(before.leaves) == 100 and sum(a is not b for a, b in zip(before.leaves, after.leaves, strict=True)) == 1
    first = 5000 // LEAF * LEAF
    assert apart(before, after) == [Gap(first, first + LEAF, first, first + LEAF)]
    lines.splice(90 * LEAF, 90 * LEAF, ["more\n"])
    last = apart(before, lines.freeze())[1]
    assert (last, last.level) == (Gap(90 * LEAF, 91 * LEAF, 90 * LEAF, 91 * LEAF + 1), False)


def test_shifted_lines_that_repeat_are_still_equal() -> None:
    lines = Lines(["x\n"] * (10 * LEAF))
    before = lines.freeze()
    lines.splice(0, 1, [])
    lines.splice(len(lines), len(lines), ["x\n"])
    assert not all(gap.level for gap in apart(before, lines.freeze()))
    assert lines.freeze() == before


def test_what_is_frozen_twice_without_a_change_is_one_and_the_same() -> None:
    lines = Lines(["a\n"])
    assert lines.freeze() is lines.freeze()
    first = lines.freeze()
    lines.splice(0, 0, ["b\n"])
    assert lines.freeze() is not first


def test_a_full_leaf_is_divided_and_an_emptied_one_goes() -> None:
    lines = Lines([])
    for _ in range(4 * FULL):
        lines.splice(0, 0, ["x\n"])
    assert len(lines._leaves) >= 4
    lines.splice(1, len(lines), [])
    assert (len(lines), len(lines._leaves)) == (1, 1)
    lines.splice(0, 1, [])
    assert (len(lines), list(lines.freeze())) == (0, [])


def test_a_leaf_is_encoded_once_until_it_changes() -> None:
    lines = Lines([f"{number}\n" for number in range(3 * LEAF)])
    first = [leaf.encoded("utf-8", str.encode) for leaf in lines.freeze().leaves]
    lines.splice(0, 1, ["é\n"])
    second = [leaf.encoded("utf-8", str.encode) for leaf in lines.freeze().leaves]
    assert second[0] == first[0].replace(b"0\n", "é\n".encode(), 1)
    assert [a is b for a, b in zip(first, second, strict=True)] == [False, True, True]
    again = lines.freeze().leaves[0].encoded("utf-16-le", lambda text: text.encode("utf-16-le"))
    assert again == "".join(lines.freeze()[:LEAF]).encode("utf-16-le")
