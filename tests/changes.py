"""Generated changes of texts: an old text and what one or two sides made of it, line by line, so that most changes have
several places. Two texts that have nothing to do with each other come too, seldom.

Only strategies for Hypothesis live here; what is asked of the texts is said by the tests.
"""

from __future__ import annotations

from hypothesis import strategies as st

from remit.core.text import split_lines

OPS = ["keep", "keep", "keep", "drop", "change", "add"]


@st.composite
def changes(draw: st.DrawFn, texts: st.SearchStrategy[str], sides: int = 1) -> tuple[str, ...]:
    """The old text, and `sides` new ones."""
    old = draw(texts)
    return (old, *(draw(texts) if draw(st.integers(0, 5)) == 0 else _changed(draw, old, texts) for _ in range(sides)))


def _changed(draw: st.DrawFn, old: str, texts: st.SearchStrategy[str]) -> str:
    lines = split_lines(old)
    ops = draw(st.lists(st.sampled_from(OPS), min_size=len(lines), max_size=len(lines)))
    fresh = split_lines(draw(texts)) or ["new\n"]
    made = list[str]()
    for number, (line, op) in enumerate(zip(lines, ops, strict=True)):
        other = fresh[number % len(fresh)]
        made += {"keep": [line], "drop": [], "change": [other], "add": [line, other]}[op]
    return "".join(made)
