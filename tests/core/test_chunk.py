"""`core.chunk`: the values between reading and placing: frozen, compared by content, silent where nothing was said."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from remit.core import chunk, patch
from remit.core.chunk import Chunk, FilePatch, Patch


def test_what_was_not_said_is_not_made_up() -> None:
    bare = Chunk(("a",), ("b",))
    assert (bare.line, bare.anchors, bare.at_end) == (None, (), False)
    assert (bare.old_final_newline, bare.new_final_newline) == (None, None)
    file = FilePatch("f", "modify")
    assert (file.source, file.chunks, file.content, file.mode) == (None, (), None, None)
    assert (file.old_blob, file.new_blob) == (None, None)
    assert Patch("unified", ()).notes == ()


@pytest.mark.parametrize("value", [Chunk((), ()), FilePatch("f", "delete"), Patch("unified", ())])
def test_values_stay_as_they_are(value: Chunk | FilePatch | Patch) -> None:
    for field in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field.name, None)


def test_equal_content_is_one_value() -> None:
    files = {FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",), line),)) for line in (0, 0, 1)}
    assert len(files) == 2


def test_patch_is_the_room_where_others_find_them() -> None:
    assert (patch.Chunk, patch.FilePatch, patch.Patch) == (Chunk, FilePatch, Patch)


def test_the_usual_rules_convert_nothing_and_are_among_all() -> None:
    assert chunk.USUAL == ("exact", "offset", "line_ends")
    assert set(chunk.USUAL) < set(chunk.EVERY) == set(get_args(chunk.Rule))
