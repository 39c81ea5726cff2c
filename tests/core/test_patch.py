"""`core.patch`: which form a text has, what comes off around it, and what is refused before or after reading it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.core.faults import AgentFault
from remit.core.patch import HUNKS, Chunk, FilePatch, Patch, parse

CASES = Path(__file__).parents[1] / "cases"
CHANGE = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
GIT = "diff --git a/f b/f\n"
ENVELOPE = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n"


def refusal(text: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        parse(text)
    assert len(caught.value.message) <= 100
    assert caught.value.remedy
    return caught.value


def case(name: str) -> str:
    return (CASES / name).read_bytes().decode(errors="surrogateescape")


def test_a_whole_reading() -> None:
    assert parse(CHANGE) == Patch(
        "unified",
        (FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",), 0, (), True, True),)),),
    )
    assert parse(ENVELOPE) == Patch("begin_patch", (FilePatch("f", "modify", chunks=(Chunk(("a",), ("b",)),)),))


def test_what_was_set_aside_is_told() -> None:
    patch = parse(case("DP-05/patch.diff"))
    assert (patch.format, patch.notes) == ("unified", ("other text set aside", "mail signature set aside"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed_patch"),
        ("\n \n", "malformed_patch"),
        ("no patch here\n", "malformed_patch"),
        (CHANGE + CHANGE, "duplicate_file"),
        (ENVELOPE.replace("*** End", "*** Delete File: f\n*** End"), "duplicate_file"),
        (ENVELOPE.replace("@@", "*** Move to: g\n@@").replace("*** End", "*** Add File: f\n*** End"), "duplicate_file"),
        (case("DP-13/patch.diff"), "binary_patch"),
        (case("DP-12/wrap_json.txt"), "bad_patch_envelope"),
        (case("DP-12/wrap_indented.txt"), "bad_patch_envelope"),
        ("Here you are:\n" + ENVELOPE, "bad_patch_envelope"),
        (CHANGE + ENVELOPE, "bad_patch_envelope"),
        (ENVELOPE + "more\n", "malformed_patch"),
    ],
)
def test_refused_by_name(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_a_bad_envelope_is_told_apart_and_quoted() -> None:
    fault = refusal(case("DP-12/wrap_json.txt"))
    assert fault.data == {"wrapper": "json", "received": case("DP-12/wrap_json.txt")[:40]}
    assert refusal(case("DP-12/wrap_indented.txt")).data["wrapper"] == "indent"
    assert refusal("```\n" + ENVELOPE).data["wrapper"] == "fence"
    assert refusal("cat <<EOF\n" + ENVELOPE).data["wrapper"] == "heredoc"


@pytest.mark.parametrize("line", ["*** Begin Patch", "  *** Begin Patch", 'BEGIN = "*** Begin Patch"'])
def test_a_unified_diff_may_speak_of_envelopes(line: str) -> None:
    text = f"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n {line}\n-{line}\n+{line}\n"
    assert parse(text).files[0].chunks == (Chunk((line, line), (line, line), 0, (), True, True),)


def test_the_name_that_stands_twice_is_found_among_many() -> None:
    text = "".join(f"--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in [*range(2_000), 1_999])
    assert refusal(text).data == {"path": "1999"}


def test_a_name_that_stands_twice_is_shown() -> None:
    text = CHANGE.replace("/f", "/\udcff")
    assert refusal(text + text).data == {"path": "\\udcff"}


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("wrap_fence.txt", ("markdown fence set aside",)),
        ("wrap_heredoc.txt", ("here-document set aside",)),
        ("patch.apply_patch", ()),
    ],
)
def test_wrappers_that_come_off(name: str, notes: tuple[str, ...]) -> None:
    patch = parse(case(f"DP-12/{name}"))
    assert ([file.chunks for file in patch.files], patch.notes) == ([(Chunk(("a = 1",), ("a = 2",)),)], notes)


def test_a_fence_with_words_around_it() -> None:
    patch = parse(f"Here is the change:\n\n```diff\n{CHANGE}```\nThat is all.\n")
    assert (patch.files, patch.notes) == (parse(CHANGE).files, ("markdown fence set aside",))


@given(st.lists(st.sampled_from([*CHANGE.split("\n"), *ENVELOPE.split("\n"), "```", "diff --git a/f b/f", "\\"])))
def test_only_our_faults(parts: list[str]) -> None:
    with suppress(AgentFault):
        assert parse("\n".join(parts)).files


def test_more_hunks_than_anybody_reviews_are_refused_unread() -> None:
    text = "--- a/f\n+++ b/f\n" + "@@ -1 +1 @@\n-a\n+b\n" * (HUNKS + 1)
    with pytest.raises(AgentFault) as caught:
        parse(text)
    assert (caught.value.code, caught.value.data) == ("too_many_changes", {"count": HUNKS + 1, "limit": HUNKS})


def test_what_is_copied_may_stand_in_several_entries() -> None:
    copies = "".join(f"diff --git a/f b/{to}\ncopy from f\ncopy to {to}\n" for to in "gh")
    assert [file.path for file in parse(f"{copies}{GIT}{CHANGE}").files] == ["g", "h", "f"]
    assert refusal(copies + copies).data == {"path": "g"}
    moved = "diff --git a/f b/i\nrename from f\nrename to i\n"
    assert len(parse(copies + moved).files) == 3
    assert refusal(f"{moved}{GIT}{CHANGE}").code == "duplicate_file"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (json.dumps({"patch": CHANGE}), "json"),
        ("".join(f"  {line}\n" for line in CHANGE.split("\n")), "indent"),
        ("".join(f"> {line}\n" for line in CHANGE.split("\n")), "quote"),
        ("".join(f"\x1b[1m{line}\x1b[m\n" for line in CHANGE.split("\n")), "colours"),
    ],
)
def test_a_unified_diff_inside_something_else_is_refused_by_what_that_is(text: str, seen: str) -> None:
    fault = refusal(text)
    assert (fault.code, fault.data["wrapper"]) == ("bad_patch_envelope", seen)


def test_words_about_a_patch_are_none() -> None:
    assert refusal("{ I would change --- nothing }").code == "bad_patch_envelope"
    assert refusal("Nothing to do.").code == "malformed_patch"
