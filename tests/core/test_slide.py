"""`core.slide`: where an added or removed stretch comes to rest; git's indent heuristic is the judge."""

from __future__ import annotations

import random
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.align import Block, blocks, tokens
from remit.core.slide import slide
from remit.core.text import split_lines

FUNCTION = "def b():\n    if x:\n        return 1\n\n    return 2\n\n\n"
C = "int b(void)\n{\n\treturn 1;\n}\n\n"
JSON = '    {\n        "name": "b",\n        "size": 2\n    },\n'

INSERTED = {
    "a function between two": ("def a():\n    return 2\n\n\n", FUNCTION, "def c():\n    return 3\n"),
    "a function at the end": ("def a():\n    return 2\n", "\n\n" + FUNCTION.rstrip("\n") + "\n", ""),
    "a C function": ("int a(void)\n{\n\treturn 0;\n}\n\n", C, "int c(void)\n{\n\treturn 2;\n}\n"),
    "an object in a list": ('[\n    {\n        "name": "a"\n    },\n', JSON, '    {\n        "name": "c"\n    }\n]\n'),
    "a method": ("class A:\n    def a(self):\n        pass\n\n", "    def b(self):\n        pass\n\n", "    x = 1\n"),
    "a duplicated block": ("start\n\n" + C, C, "end\n"),
    "a branch": ("if (a) {\n  one();\n}\n", "if (b) {\n  two();\n}\n", "if (c) {\n  three();\n}\n"),
    "a blank line in blank ones": ("a\n\n\n\n", "\n", "b\n"),
}


@pytest.mark.parametrize("name", INSERTED)
@pytest.mark.parametrize("way", ["added", "removed"])
def test_it_rests_where_git_has_it(name: str, way: str, tmp_path: Path) -> None:
    before, stretch, behind = INSERTED[name]
    sides = [before + behind, before + stretch + behind]
    old, new = sides if way == "added" else sides[::-1]
    assert rested(old, new) == git(tmp_path, old, new)


def test_a_whole_function_is_told_as_one() -> None:
    before, stretch, behind = INSERTED["a function between two"]
    assert rested(before + behind, before + stretch + behind) == [Block(4, 0, 4, 7)]


def rested(old: str, new: str) -> list[Block]:
    one, two = split_lines(old), split_lines(new)
    return slide(one, two, list(blocks(*tokens(one, two))))


def git(folder: Path, old: str, new: str) -> list[Block]:
    """What `git diff` tells, as blocks."""
    for name, text in (("old", old), ("new", new)):
        (folder / name).write_bytes(text.encode())
    words = ["git", "diff", "--no-index", "--no-color", "-U0", "--minimal", "--", "old", "new"]
    said = subprocess.run(words, cwd=folder, capture_output=True, check=False).stdout.decode()
    found = []
    for head in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", said, re.MULTILINE):
        i, n, j, m = (1 if number is None else int(number) for number in head.groups())
        found.append(Block(i - (n > 0), n, j - (m > 0), m))
    return found


PIECES = ["def f():\n", "    x = 1\n", "    return x\n", "\n", "\n", "}\n", "\tif y:\n", "        pass\n"]


def test_git_agrees_on_random_insertions(tmp_path: Path) -> None:
    """Of single stretches put into lines that repeat, git has all in the same place; as they were found, it has not."""
    alike = unmoved = 0
    cases = 120
    for seed in range(cases):
        chance = random.Random(seed)
        lines = chance.choices(PIECES, k=30)
        at = chance.randrange(31)
        stretch = chance.choices(PIECES, k=chance.choice((1, 2, 3, 6)))
        old, new = "".join(lines), "".join([*lines[:at], *stretch, *lines[at:]])
        told = git(tmp_path, old, new)
        alike += rested(old, new) == told
        unmoved += list(blocks(*tokens(split_lines(old), split_lines(new)))) == told
    assert alike == cases
    assert unmoved < cases * 0.9


lines = st.lists(st.sampled_from(["a\n", "  b\n", "\n", "}\n", "x\n"]), max_size=16)


@given(lines, lines)
def test_a_block_at_rest_is_the_same_change(old: list[str], new: list[str]) -> None:
    found = list(blocks(*tokens(old, new)))
    settled = slide(old, new, found)
    made: list[str] = []
    at = 0
    for block in settled:
        made += [*old[at : block.old], *new[block.new : block.new_end]]
        at = block.old_end
    assert [*made, *old[at:]] == new
    assert len(settled) <= len(found)
    assert all(two.old > one.old_end for one, two in pairwise(settled))


def test_blocks_that_can_touch_are_joined() -> None:
    old, new = ["a", "x", "b"], ["a", "x", "x", "c"]
    assert slide(old, new, [Block(1, 0, 1, 1), Block(2, 1, 3, 1)]) == [Block(2, 1, 2, 2)]


def test_lines_that_both_sides_begin_with_are_no_change() -> None:
    assert slide(["a", "b"], ["a", "c"], [Block(0, 2, 0, 2)]) == [Block(1, 1, 1, 1)]
    assert slide(["a", "b"], ["a", "b"], [Block(0, 2, 0, 2)]) == []
