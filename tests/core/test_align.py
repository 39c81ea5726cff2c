"""`core.align`: whatever the window, the blocks lead from one side to the other; and how much is compared for it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import align
from remit.core.align import Block, blocks, common, common_end, tokens

sides = st.lists(st.sampled_from("abcdefgh"), max_size=80)


def carried_out(old: Sequence[str], new: Sequence[str], found: Sequence[Block]) -> list[str]:
    out: list[str] = []
    at = 0
    for block in found:
        assert block.old >= at
        out += old[at : block.old]
        assert len(out) == block.new
        out += new[block.new : block.new_end]
        at = block.old_end
    return [*out, *old[at:]]


@given(sides, sides, st.sampled_from([1, 2, 5, 16, 1000]))
def test_the_blocks_lead_from_one_side_to_the_other(old: list[str], new: list[str], window: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "WINDOW", window)
        one, two = tokens(old, new)
        assert carried_out(one, two, list(blocks(one, two))) == two


@given(sides, sides, sides, st.integers(0, 3))
def test_common_ends(old: list[str], new: list[str], end: list[str], head: int) -> None:
    one, two = [*end, *old, *end], [*end, *new, *end]
    first = common(one, two)
    assert first >= len(end) and one[:first] == two[:first]
    assert first == min(len(one), len(two)) or one[first] != two[first]
    last = common_end(one, two, min(head, len(end)))
    assert one[len(one) - last :] == two[len(two) - last :]
    room = min(len(one), len(two)) - min(head, len(end))
    assert last == room or one[-1 - last] != two[-1 - last]


@given(sides, sides)
def test_equal_lines_have_equal_tokens(old: list[str], new: list[str]) -> None:
    one, two = tokens(old, new)
    assert [[mine == other for other in two] for mine in one] == [[mine == other for other in new] for mine in old]
    assert all(token.count("\n") == 1 and token.endswith("\n") for token in [*one, *two])


NUMBERED = [f"line {number}" for number in range(3000)]

FAR = {
    "put in": [*NUMBERED[:500], *(f"new {number}" for number in range(900)), *NUMBERED[500:]],
    "taken away": [*NUMBERED[:500], *NUMBERED[1700:]],
    "moved": [*NUMBERED[800:2000], *NUMBERED[:800], *NUMBERED[2000:]],
}


@pytest.mark.parametrize("name", FAR)
def test_a_window_finds_its_step_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than a window and comes, goes or moves is one block, or two, and nothing else changes."""
    new = [*FAR[name], "end"]  # so that nothing can be told from the end backwards
    one, two = tokens(NUMBERED, new)
    whole = list(blocks(one, two))
    monkeypatch.setattr(align, "WINDOW", 100)
    windowed = list(blocks(one, two))
    lines = [sum(block.old_count + block.new_count for block in found) for found in (whole, windowed)]
    assert lines[0] == lines[1]


def shapes(size: int) -> dict[str, tuple[list[str], list[str]]]:
    """Pairs of sides that share little, or everything in many ways."""
    chance = random.Random(size)
    lines = [f"line {number}" for number in range(size)]
    twice = [f"line {number // 2}" for number in range(size)]
    four = chance.choices("abcd", k=size)
    return {
        "shuffled": (lines, chance.sample(lines, size)),
        "reversed": (lines, lines[::-1]),
        "each line twice, shuffled": (twice, chance.sample(twice, size)),
        "four lines": (four, chance.choices("abcd", k=size)),
        "one line": (["a"] * size, [*["a"] * (size // 2), "b", *["a"] * (size // 2)]),
        "alternating": (["a", "b"] * (size // 2), ["b", "b", "a"] * (size // 3)),
        "nothing shared": (lines, [f"other {number}" for number in range(size)]),
        "half of the lines": (lines, [line if chance.random() < 0.5 else f"{line}!" for line in lines]),
    }


def work(monkeypatch: pytest.MonkeyPatch, old: Sequence[str], new: Sequence[str]) -> float:
    """What xdiff may do at most: the power 1.5 of the lines it is shown at once; their square for the least change."""
    done: list[float] = []
    compare = align._compare

    def counted(old: Sequence[str], new: Sequence[str], at: int, stop: int, there: int, end: int) -> list[Block]:
        size = stop - at + end - there
        done.append(size**2 if size <= align.LEAST else size**1.5)
        return compare(old, new, at, stop, there, end)

    monkeypatch.setattr(align, "_compare", counted)
    one, two = tokens(old, new)
    assert carried_out(one, two, list(blocks(one, two))) == two
    monkeypatch.setattr(align, "_compare", compare)
    return sum(done)


@pytest.mark.parametrize("name", shapes(12))
@pytest.mark.parametrize("window", [500, 1_000_000])
def test_the_work_grows_with_the_lines(name: str, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "WINDOW", window)
    monkeypatch.setattr(align, "LEAST", 100)
    small, large = (work(monkeypatch, *shapes(size)[name]) for size in (3000, 12_000))
    if window == 500:
        assert large <= 4 * small * 1.2
    else:
        assert large > 4 * small * 1.5  # without windows the test sees it grow
