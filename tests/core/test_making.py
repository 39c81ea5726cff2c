"""`core.making`: one file's part of a proposal, from each form of asking, and what is refused of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from desks import FILES, TEXT, change, refused_proposal, whole
from fakes import Bench, contract_text, desk, sha
from remit.core import codec
from remit.core.model import ABSENT


@pytest.fixture
def bench() -> Bench:
    return desk(FILES)


def result_of(bench: Bench, name: str, file: int = 0) -> str:
    turn = bench.session.peek()
    made = turn.proposal(name).files[file]
    return codec.decode_as(turn.kept(made.result), made.encoding())


# --- what is made -----------------------------------------------------------------------------------------------------


def test_a_whole_text_becomes_hunks_bound_to_what_was_there(bench: Bench) -> None:
    new = TEXT.replace("two", "TWO").replace("six", "SIX")
    answer = bench.call("propose_patch", note="Louder.", **whole("src/a", new, sha(TEXT)))
    assert answer["files"] == [{"path": "src/a", "op": "modify", "base": sha(TEXT), "result": sha(new)}]
    assert [(h["id"], h["oldStart"], h["oldLines"], h["newStart"], h["state"]) for h in answer["hunks"]] == [
        ("P1.1", 2, 1, 2, "pending"),
        ("P1.2", 6, 1, 6, "pending"),
    ]
    assert bench.session.peek().proposal("P1").note == "Louder."
    assert bench.disk.files["src/a"] == TEXT.encode() and bench.story()[-1] == "proposed"


def test_a_unified_diff_and_an_envelope_make_the_same_change(bench: Bench) -> None:
    unified = "--- a/src/a\n+++ b/src/a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    for patch in (unified, change("two", "TWO")):
        answer = bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})
        assert answer["files"][0]["result"] == sha(TEXT.replace("two", "TWO"))


def test_a_patch_that_was_placed_elsewhere_says_so(bench: Bench) -> None:
    patch = "--- a/src/a\n+++ b/src/a\n@@ -4,3 +4,3 @@\n one\n-two\n+TWO\n three\n"
    answer = bench.call("propose_patch", patch=patch, bases={"src/a": sha(TEXT)})
    assert answer["hunks"][0]["placed"] == "offset(-3)"


def test_a_file_is_created_deleted_and_renamed(bench: Bench) -> None:
    created = bench.call("propose_patch", **whole("src/new", "n\n", ABSENT))
    assert created["files"] == [{"path": "src/new", "op": "create", "base": ABSENT, "result": sha("n\n")}]
    empty = bench.call("propose_patch", **whole("src/empty", "", ABSENT))
    assert len(empty["hunks"]) == 1
    deleted = bench.call("propose_patch", **whole("src/b", None, sha("b\n")))
    assert deleted["files"] == [{"path": "src/b", "op": "delete", "base": sha("b\n"), "result": ABSENT}]
    patch = "diff --git a/src/b b/src/z\nsimilarity index 100%\nrename from src/b\nrename to src/z\n"
    renamed = bench.call("propose_patch", patch=patch, bases={"src/b": sha("b\n")})
    assert renamed["files"] == [
        {"path": "src/z", "op": "rename", "source": "src/b", "base": sha("b\n"), "result": sha("b\n")}
    ]


def test_the_line_ends_of_a_file_are_not_changed_by_the_way(bench: Bench) -> None:
    answer = bench.call("propose_patch", **whole("src/dos", "one\nTWO\n", sha("one\r\ntwo\r\n")))
    assert answer["files"][0]["result"] == sha("one\r\nTWO\r\n")
    assert [(h["oldStart"], h["placed"]) for h in answer["hunks"]] == [(2, "line_ends")]


def test_unsaved_text_is_what_a_patch_is_made_from(bench: Bench) -> None:
    bench.open("src/a")
    bench.type("src/a", 0, 0, "zero\n")
    answer = bench.call("propose_patch", patch=change("two", "TWO"), bases={"src/a": sha("zero\n" + TEXT)})
    assert answer["hunks"][0]["oldStart"] == 3


def test_a_byte_order_mark_and_an_encoding_stay(bench: Bench) -> None:
    data = codec.MARKED[1].bom + "é\n".encode("utf-16-le")
    bench.disk.files["src/wide"] = data
    name = bench.propose({"src/wide": "é日\n"})
    made = bench.session.peek().proposal(name).files[0]
    assert made.result == sha(codec.MARKED[1].bom + "é日\n".encode("utf-16-le"))


@settings(max_examples=100)
@given(old=st.text(alphabet="ab\n\ré", max_size=12), new=st.text(alphabet="ab\né", max_size=12))
def test_what_was_proposed_is_what_the_hunks_make(old: str, new: str) -> None:
    bench = desk({"src/a": old})
    assume(not codec.same_text(old, new))
    name = bench.propose({"src/a": new})
    made = bench.session.peek().proposal(name).files[0]
    assert made.text(old) == result_of(bench, name)
    assert codec.same_text(result_of(bench, name), new)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_path_outside_the_scope_is_refused_with_the_scope(bench: Bench) -> None:
    data = refused_proposal(bench, "outside_scope", **whole("other/c", "x\n", sha("c\n")))
    assert (data["path"], data["writeScope"]) == ("other/c", ["src/"])
    refused_proposal(bench, "outside_scope", **whole("../c", "x\n", ABSENT))
    move = "diff --git a/src/b b/other/b\nrename from src/b\nrename to other/b\n"
    assert refused_proposal(bench, "outside_scope", patch=move, bases={"src/b": sha("b\n")})["path"] == "other/b"


@pytest.mark.parametrize("path", ["src/.git/hooks/x", ".remit/policy.toml", "src/t.contract.json"])
def test_what_no_agent_writes_is_refused_whatever_the_scope(path: str) -> None:
    bench = desk(FILES, contract=contract_text(scope=("./",)))
    assert refused_proposal(bench, "protected_path", **whole(path, "x\n", ABSENT))["path"] == path


def test_half_a_character_is_refused_with_its_place(bench: Bench) -> None:
    assert refused_proposal(bench, "invalid_unicode", **whole("src/a", "ab\ud83d\n", sha(TEXT)))["offset"] == 2


@pytest.mark.parametrize("data", [b"caf\xe9 \xff\xfe\nb\n", b"caf\xe9 \xc3\xa9\nb\n", b"caf\xe9\0\nb\n"])
def test_only_ascii_and_what_stands_there_goes_into_a_file_of_unknown_encoding(bench: Bench, data: bytes) -> None:
    bench.disk.files["src/old"] = data
    text: str = bench.call("read_file", path="src/old")["text"]
    first, rest = text.split("\n", 1)
    e = text[3]
    for new in (text + e + "\n", f"{first}\n{e}{rest}", first.replace(e, "\u00ea") + "\n" + rest):
        told = refused_proposal(bench, "unencodable", **whole("src/old", new, sha(data)))
        assert (told["path"], told["encoding"]) == ("src/old", codec.decode(data).charset.name)
        assert "UTF-8" in str(told["remedy"])
    for new, wanted in (
        (text + "plain\n", data + b"plain\n"),
        (f"{e} {first}\n{rest}", b"\xe9 " + data),
        (rest, data.split(b"\n", 1)[1]),
    ):
        name = bench.propose({"src/old": new})
        assert bench.session.peek().proposal(name).files[0].result == sha(wanted)


def test_a_context_line_of_bytes_that_are_no_text_is_found_again(bench: Bench) -> None:
    data = b"caf\xe9 \xc3\xa9\nb\n"
    bench.disk.files["src/old"] = data
    first = bench.call("read_file", path="src/old")["text"].split("\n")[0]
    patch = f"*** Begin Patch\n*** Update File: src/old\n@@\n {first}\n-b\n+B\n*** End Patch\n"
    name = bench.call("propose_patch", patch=patch, bases={"src/old": sha(data)})["proposalId"]
    assert bench.session.peek().proposal(name).files[0].result == sha(b"caf\xe9 \xc3\xa9\nB\n")


def test_an_editor_that_shows_the_text_of_a_legacy_file_proves_its_encoding(bench: Bench) -> None:
    bench.disk.files["src/old"] = b"caf\xe9\n"
    bench.open("src/old", "café\n")
    name = bench.propose({"src/old": "café ü\n"})
    assert bench.session.peek().proposal(name).files[0].result == sha(b"caf\xe9 \xfc\n")


def test_what_a_legacy_encoding_cannot_hold_is_refused_with_its_place(bench: Bench) -> None:
    bench.disk.files["src/old"] = b"caf\xe9\n"
    bench.open("src/old", "café\n")
    data = refused_proposal(bench, "unencodable", **whole("src/old", "café 日\n", sha(b"caf\xe9\n")))
    assert (data["offset"], data["character"]) == (5, "U+65E5")


# --- search and replace -----------------------------------------------------------------------------------------------


def test_search_and_replace_is_a_change_like_any_other(bench: Bench) -> None:
    edits = [
        {"path": "src/a", "search": "two", "replace": "TWO"},
        {"path": "src/a", "search": "six\nseven\n", "replace": "seven\n"},
        {"path": "src/b", "search": "b", "replace": "$& \\1"},
    ]
    bases = {"src/a": sha(TEXT), "src/b": sha("b\n")}
    answer = bench.call("propose_patch", edits=edits, bases=bases)
    assert [file["result"] for file in answer["files"]] == [
        sha(TEXT.replace("two", "TWO").replace("six\n", "")),
        sha("$& \\1\n"),
    ]


def test_search_that_fits_in_many_places_is_refused(bench: Bench) -> None:
    many = [{"path": "src/a", "search": "e", "replace": "E"}]
    refused_proposal(bench, "ambiguous_match", edits=many, bases={"src/a": sha(TEXT)})


def test_search_and_replace_of_an_old_text_is_told_whether_it_still_fits(bench: Bench) -> None:
    bench.call("read_file", path="src/a")
    bench.disk.files["src/a"] = ("zero\n" + TEXT).encode()
    edits = [{"path": "src/a", "search": "five", "replace": "FIVE"}]
    data = refused_proposal(bench, "stale", edits=edits, bases={"src/a": sha(TEXT)})
    assert isinstance(data["stale"], list) and isinstance(data["stale"][0], dict)
    assert data["stale"][0]["rebase"] == "clean"
