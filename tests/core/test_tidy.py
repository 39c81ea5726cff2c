"""`core.tidy`: changes that stand close together are told by the lines that are rare, if that reads better."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core import tidy as module
from remit.core.align import Block, blocks, tokens
from remit.core.tidy import tidy

sides = st.lists(st.sampled_from("abcd}"), max_size=40)


def told(old: list[str], new: list[str]) -> tuple[list[Block], list[Block]]:
    one, two = tokens(old, new)
    found = list(blocks(one, two))
    return found, tidy(one, two, found)


def cost(found: list[Block]) -> int:
    return sum(block.old_count + block.new_count for block in found)


@given(sides, sides, st.sampled_from([0, 1, 16]))
def test_it_is_the_same_change_and_never_dearer(old: list[str], new: list[str], effort: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EFFORT", effort)
        found, better = told(old, new)
    made: list[str] = []
    at = 0
    for block in better:
        made += [*old[at : block.old], *new[block.new : block.new_end]]
        at = block.old_end
    assert [*made, *old[at:]] == new
    assert cost(better) + module.WORTH * len(better) <= cost(found) + module.WORTH * len(found)


OLD = ["int b() {", "}", "  x();", "  y();", "int a() {", "", "}", "int b() {"]
NEW = ["int b() {", "  x();", "  y();", "", "int b() {", "  x();", "  y();", "int a() {"]


def test_a_shared_blank_line_or_brace_does_not_tear_a_change_apart() -> None:
    """The least change is three lines smaller, in four shreds."""
    found, better = told(OLD, NEW)
    assert (len(found), cost(found)) == (4, 6)
    assert better == [Block(1, 1, 1, 4), Block(5, 3, 8, 0)]


def test_two_edits_with_an_unchanged_line_between_stay_two() -> None:
    old = ["a = 1", "", "b = 2", "", "c = 3"]
    found, better = told(old, ["a = 9", "", "b = 2", "", "c = 9"])
    assert better == found == [Block(0, 1, 0, 1), Block(4, 1, 4, 1)]


def test_a_moved_function_leaves_the_shorter_part_to_move() -> None:
    one = ["def one():", "    a()", "    b()", ""]
    two = ["def two():", "    c()", ""]
    _, better = told([*one, *two, "end"], [*two, *one, "end"])
    assert cost(better) == 2 * len(two)
    assert len(better) == 2


def test_the_search_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that nest unlike on both sides cost the square; the steps are counted, and so are those of a control."""
    spent: list[int] = []
    search = module._Search._best

    def counted(self: module._Search, *words: object) -> object:
        before = self.steps
        found = search(self, *words)  # type: ignore[arg-type]
        spent.append(before - self.steps)
        return found

    monkeypatch.setattr(module._Search, "_best", counted)
    old = [text for number in range(400) for text in (f"u{number + 1}", f"u{number}", "old")]
    new = [text for number in range(400) for text in (f"u{number + 1}", f"u{number}", "old", "old")]
    for effort in (16, 100_000):
        spent.clear()
        monkeypatch.setattr(module, "EFFORT", effort)
        monkeypatch.setattr(module, "CLOSE", 100_000)
        told(old, new)
        assert (sum(spent) <= 17 * (len(old) + len(new))) is (effort == 16)
