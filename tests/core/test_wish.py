"""`core.wish`: every form of a request becomes the same kind of wish, and a file stands in it once."""

from __future__ import annotations

from typing import Any

import pytest

from remit.core.chunk import USUAL
from remit.core.faults import AgentFault
from remit.core.place import Swap
from remit.core.requests import ProposeParams
from remit.core.wish import Wish, once, wishes


def asked(**params: Any) -> tuple[list[Wish], tuple[str, ...]]:
    return wishes(ProposeParams.model_validate(params))


def refused(**params: Any) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        asked(**params)
    return caught.value


def test_whole_texts_and_deletions() -> None:
    found, notes = asked(files=[{"path": "./a", "content": "x\n"}, {"path": "b", "content": None}])
    assert found == [Wish("a", "write", content="x\n"), Wish("b", "delete")]
    assert notes == ()


def test_edits_of_one_file_are_one_wish() -> None:
    edits = [
        {"path": path, "search": text, "replace": text.upper()} for path, text in (("a", "x"), ("b", "y"), ("a", "z"))
    ]
    assert asked(edits=edits)[0] == [
        Wish("a", "modify", swaps=(Swap("x", "X"), Swap("z", "Z"))),
        Wish("b", "modify", swaps=(Swap("y", "Y"),)),
    ]


def test_a_patch_with_its_notes_modes_and_ids() -> None:
    ids = "1" * 40, "2" * 40
    modes = "old mode 100644\nnew mode 100755\n"
    patch = f"Hello.\ndiff --git a/f b/g\n{modes}copy from f\ncopy to g\nindex {'..'.join(ids)}\n"
    (wish,), notes = asked(patch=patch)
    assert (wish.path, wish.source, wish.op, wish.executable) == ("g", "f", "copy", True)
    assert (wish.old_blob, wish.new_blob) == ids
    assert wish.touches() == ("g",) and wish.copies
    assert notes == ("other text set aside",)
    moved, _ = asked(patch="diff --git a/f b/g\nrename from f\nrename to g\n")
    assert moved[0].touches() == ("f", "g") and not moved[0].copies


def test_one_form_at_a_time_and_no_file_twice() -> None:
    file = [{"path": "a", "content": "x"}]
    assert refused().code == refused(patch="x", files=file).code == "invalid_params"
    assert refused(files=[]).code == "no_change"
    assert refused(files=[*file, {"path": "A", "content": "y"}]).code == "duplicate_path"
    once(["a", "b"])
    with pytest.raises(AgentFault):
        once(["a", "./a".removeprefix("./")])


def test_a_wish_carried_out() -> None:
    text = "one\r\ntwo\r\n"
    whole, kept = Wish("a", "write", content="one\n").onto(text, USUAL, marked=False)
    assert (whole.text, kept) == ("one\r\n", ("line_ends",))
    made, kept = Wish("a", "create", content="one\n").onto("", USUAL, marked=False)
    assert (made.text, kept) == ("one\n", ())
    swapped, kept = Wish("a", "modify", swaps=(Swap("two", "2"),)).onto(text, USUAL, marked=False)
    assert (swapped.text, kept) == ("one\r\n2\r\n", ())
    left, _ = Wish("a", "delete").onto(text, USUAL, marked=False)
    assert left.text == text
