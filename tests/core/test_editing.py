"""The editor's part: what is said of an edit that came out otherwise, and taking back without losing what was typed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desks import NAME
from fakes import desk
from remit.core import applying, diff, editing
from remit.core.text import Edit

OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\nTWO\nthree\nfour\nfive\n"
# --- in words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (NEW.replace("\n", "\r\n"), f"the editor changed line ends in {NAME}"),
        (NEW.rstrip("\n"), f"the editor added or took away the last line end in {NAME}"),
        (NEW.replace("TWO", "TWO  "), f"the editor stripped trailing blanks in {NAME}"),
        (NEW.replace("TWO", "\tTWO"), f"the editor changed blanks or line breaks in {NAME}"),
        (NEW.replace("five", "mine"), f"{NAME} differs from what was promised in 1 place"),
        (NEW.replace("five", "mine").replace("one", "uno"), f"{NAME} differs from what was promised in 2 places"),
        (OLD, f"{NAME} still has the old text"),
    ],
)
def test_the_difference_is_named(shown: str, words: str) -> None:
    bench = desk({NAME: OLD})
    bench.open(NAME)
    bench.propose({NAME: NEW})
    bench.accept("P1")
    if shown != OLD:
        bench.change(NAME, Edit(shown))
    bench.answer(True)
    bench.wait(applying.CONFIRM)
    entry = bench.state.actions["A1"]
    assert (entry.state, entry.reason) == ("needs_human_decision", f"the editor said applied, but {words}")
    assert words in bench.state.decisions["D1"].asked.question


def test_the_promised_text_is_no_difference() -> None:
    """The control: the same client, and a text as promised."""
    bench = desk({NAME: OLD})
    bench.open(NAME)
    bench.propose({NAME: NEW})
    bench.accept("P1")
    bench.change(NAME, Edit(NEW))
    bench.answer(True)
    assert (bench.state.actions["A1"].state, bench.state.actions["A1"].reason) == ("succeeded", "")


# --- taking back ------------------------------------------------------------------------------------------------------


WORDS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8)


@settings(max_examples=60)
@given(WORDS, WORDS, WORDS)
def test_taking_back_leaves_exactly_what_somebody_else_wrote(old: list[str], new: list[str], typed: list[str]) -> None:
    """The buffer then holds what a merge of the human's change into the old text gives; or it is not touched."""
    before, after, now = "".join(old), "".join(new), "".join(typed)
    if before == after:
        return
    bench = desk({NAME: before})
    bench.open(NAME, before)
    bench.propose({NAME: after})
    bench.change(NAME, Edit(now))
    proposal = bench.session.peek().proposal("P1")
    back = editing.reversal(bench.session.peek(), proposal, [NAME])
    if isinstance(back, str):
        assert isinstance(diff.merge(after, now, before), diff.Conflict)
        return
    for made in back.edits:
        bench.change(NAME, *reversed(made.edits))
    expected = before if now == after else diff.merge(after, now, before)
    assert bench.text(NAME) == (expected if isinstance(expected, str) else getattr(expected, "text", None))
