"""A bounded memory: made once, the newest kept, failures not remembered."""

from __future__ import annotations

import pytest

from remit.core.recall import Recall


def test_a_result_is_made_once_and_the_one_asked_for_longest_ago_goes_first() -> None:
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    memory: Recall[str, str] = Recall(2)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert memory.get(name, lambda name=name: make(name)) == name.upper()  # type: ignore[misc]
    assert (made, len(memory)) == (["a", "b", "c", "b"], 2)


def test_what_could_not_be_made_is_tried_again() -> None:
    memory: Recall[str, int] = Recall(2)
    with pytest.raises(ValueError, match="x"):
        memory.get("a", lambda: int("x"))
    assert memory.get("a", lambda: 1) == 1
    assert memory.get("a", lambda: 2) == 1
