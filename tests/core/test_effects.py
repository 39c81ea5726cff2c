"""Effects and outcomes are closed unions of frozen values."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from remit.core import effects
from remit.core.effects import BufferEdit, DiskChange, EditBuffers, Edited, Effect, FilesDone, Outcome, StageFiles, Wake


def test_every_value_of_the_module_is_an_effect_an_outcome_or_part_of_one() -> None:
    known = {kind for kind in vars(effects).values() if dataclasses.is_dataclass(kind)}
    own = {kind for kind in known if getattr(kind, "__module__", "") == effects.__name__}
    assert own == {*get_args(Effect), *get_args(Outcome), BufferEdit, DiskChange}


@pytest.mark.parametrize("kind", [*get_args(Effect), *get_args(Outcome), BufferEdit, DiskChange])
def test_values_are_frozen_and_without_room_for_more(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert not hasattr(kind, "__dict__") or "__slots__" in vars(kind)


def test_an_effect_names_its_action_and_equal_effects_are_equal() -> None:
    change = DiskChange("a.txt", None, b"new")
    assert StageFiles("A1", (change,)) == StageFiles("A1", (DiskChange("a.txt", None, b"new"),))
    assert {kind for kind in get_args(Effect) if "action" not in kind.__dataclass_fields__} == {Wake}


def test_what_is_not_said_is_the_careful_answer() -> None:
    assert (EditBuffers("A1", "", ()).undo, Edited("A1", None).reason) == (False, "")
    assert FilesDone("A1", "commit").result == "done"
    plain = DiskChange("a.txt", None, None)
    assert (plain.mode_from, plain.executable, plain.break_link) == (None, None, False)
