"""Proposals as values: the table of moves, digests, and hunks that can be taken one by one in any order."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.core import codec, diff
from remit.core.faults import OurFault
from remit.core.model import ABSENT
from remit.core.proposal import (
    MOVES,
    OPEN,
    FileChange,
    Move,
    Proposal,
    ProposalState,
    hunks_of,
    keep,
    move,
    rebind,
)

STATES: tuple[ProposalState, ...] = get_args(ProposalState)
BYS: tuple[Move, ...] = get_args(Move)


def sha(text: str) -> str:
    return codec.digest(text.encode("utf-8", "surrogateescape"))


def change(old: str, new: str, path: str = "a.txt") -> FileChange:
    spans = diff.between(old, new)
    return FileChange(path=path, op="modify", base=sha(old), result=sha(new), hunks=hunks_of("P1", spans))


def proposal(*files: FileChange, name: str = "P1") -> Proposal:
    return Proposal(id=name, task="t", agent="agent-0001", files=files, contract="c", policy="p")


@pytest.mark.parametrize(("state", "by"), list(product(STATES, BYS)))
def test_a_move_is_in_the_table_or_a_bug(state: ProposalState, by: Move) -> None:
    if (state, by) in MOVES:
        assert move(state, by) == MOVES[state, by]
    else:
        with pytest.raises(OurFault, match="cannot"):
            move(state, by)


def test_only_what_is_open_can_be_decided_and_only_what_was_accepted_is_applied() -> None:
    decided = {state for state, by in MOVES if by in ("accept", "reject", "supersede", "withdraw")}
    assert decided == OPEN
    assert {state for (state, _), to in MOVES.items() if to == "applied"} == {"accepted", "outcome_unknown"}


def test_the_digest_is_of_what_would_happen_not_of_its_name() -> None:
    one = proposal(change("a\n", "b\n"))
    assert one.digest() == one.model_copy(update={"id": "P9", "note": "x", "parent": "P1", "made": "rest"}).digest()
    others = [
        proposal(change("a\n", "c\n")),
        proposal(change("a\n", "b\n", "b.txt")),
        one.model_copy(update={"contract": "d"}),
        one.model_copy(update={"policy": "d"}),
        one.model_copy(update={"task": "d"}),
    ]
    assert len({one.digest(), *(other.digest() for other in others)}) == 6


def test_half_characters_of_an_unknown_encoding_are_kept() -> None:
    one = proposal(change("caf\udce9\n", "caf\udce9!\n"))
    assert Proposal.parse(one.body()) == one
    assert one.body().isascii()
    assert one.digest() == Proposal.parse(one.body()).digest()


def test_a_rename_touches_both_paths_and_stands_on_its_source() -> None:
    moved = FileChange(path="b", op="rename", source="a", base=sha("x"), result=sha("x"), hunks=())
    made = FileChange(path="c", op="create", base=ABSENT, result=sha("x"), hunks=())
    assert (moved.origin, moved.touches(), made.origin) == ("a", ("a", "b"), "c")
    assert proposal(moved, made, made).touches() == ("a", "b", "c")


def test_hunks_are_found_by_name_and_only_several_can_be_divided() -> None:
    several = change("1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n")
    found = proposal(several).hunk("P1.2")
    assert found is not None and found[1].new == ("five\n",)
    assert proposal(several).hunk("P1.3") is None
    assert (several.divisible, change("a\n", "b\n").divisible) == (True, False)
    assert [hunk.id for hunk in hunks_of("P2", diff.between("a\n", "b\n"), first=5)] == ["P2.5"]


def test_a_change_of_another_text_is_our_bug() -> None:
    with pytest.raises(OurFault):
        change("a\n", "b\n").text("c\n")


# --- one by one -------------------------------------------------------------------------------------------------------

LINE = st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "e\r", "\x0c\x85f\n"])
TEXT = st.tuples(st.lists(LINE, max_size=14), st.sampled_from(["", "end"])).map(
    lambda parts: "".join(parts[0]) + parts[1]
)


@settings(max_examples=200)
@given(TEXT, TEXT, st.data())
def test_hunks_accepted_one_by_one_in_any_order_make_the_whole(old: str, new: str, data: st.DataObject) -> None:
    whole = rest = change(old, new)
    text = old
    for name in data.draw(st.permutations([hunk.id for hunk in whole.hunks])):
        part = keep(rest, [name], ABSENT)
        text = part.text(text)
        rest = rebind(rest, [name], sha(text))
        assert rest.text(text) == new, "what is left still leads to the same end"
        assert rest.base == sha(text)
    assert (text, rest.hunks) == (new, ())


@settings(max_examples=200)
@given(TEXT, TEXT, st.data())
def test_any_part_can_be_taken_back_from_where_it_says_it_lies(old: str, new: str, data: st.DataObject) -> None:
    whole = change(old, new)
    chosen = data.draw(st.sets(st.sampled_from([hunk.id for hunk in whole.hunks]))) if whole.hunks else set()
    part = keep(whole, chosen, ABSENT)
    text = part.text(old)
    back = [diff.Span(hunk.new_start, hunk.new, hunk.old_start, hunk.old) for hunk in part.hunks]
    assert diff.apply(text, back) == old
    rest = rebind(whole, chosen, sha(text))
    back = [diff.Span(hunk.new_start, hunk.new, hunk.old_start, hunk.old) for hunk in rest.hunks]
    assert diff.apply(new, back) == text
