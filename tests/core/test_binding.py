"""What a change must be bound to, and what a refusal carries when it is not.

The fresh and the stale, the missing and the doubtful; what is asked for is `test_proposing`'s.
"""

from __future__ import annotations

from typing import Any

import pytest

from desks import FILES, TEXT, change, refused_proposal, stale_view, whole
from fakes import Bench, desk, sha
from remit.core import binding, codec
from remit.core.faults import AgentFault
from remit.core.model import ABSENT
from remit.core.text import Edit


@pytest.fixture
def bench() -> Bench:
    return desk(FILES)


def result_of(bench: Bench, name: str, file: int = 0) -> str:
    turn = bench.session.peek()
    made = turn.proposal(name).files[file]
    return codec.decode_as(turn.kept(made.result), made.encoding())


# --- what is made -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", codec.MARKED, ids=lambda mark: mark.name)
def test_a_byte_order_mark_may_be_quoted_and_stays_one(bench: Bench, mark: codec.Charset) -> None:
    """git shows the mark in the first line of a diff, read_file does not; the file has one before and after."""
    data, wanted = codec.encode("a\nb\n", mark), codec.encode("A\nb\n", mark)
    bench.disk.files["src/m"] = data
    diff = "--- a/src/m\n+++ b/src/m\n@@ -1,2 +1,2 @@\n-{}a\n+{}A\n b\n"
    asked: list[dict[str, Any]] = [
        {"patch": diff.format("\ufeff", "\ufeff")},
        {"patch": diff.format("", "")},
        {"patch": diff.format("", "\ufeff")},
        {"patch": change("\ufeffa", "\ufeffA", "src/m")},
        {"files": [{"path": "src/m", "content": "\ufeffA\nb\n"}]},
        {"files": [{"path": "src/m", "content": "A\nb\n"}]},
        {"edits": [{"path": "src/m", "search": "\ufeffa", "replace": "\ufeffA"}]},
        {"edits": [{"path": "src/m", "search": "a", "replace": "A"}]},
    ]
    for one in asked:
        answer = bench.call("propose_patch", **one, bases={"src/m": sha(data)})
        assert answer["files"][0]["result"] == sha(wanted), one
    gone = "--- a/src/m\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-\ufeffa\n-b\n"
    assert bench.call("propose_patch", patch=gone, bases={"src/m": sha(data)})["files"][0]["op"] == "delete"


def test_a_byte_order_mark_is_not_taken_away_by_the_way(bench: Bench) -> None:
    data = codec.encode("a\nb\n", codec.MARKED[0])
    bench.disk.files["src/m"] = data
    edits = [{"path": "src/m", "search": "\ufeffa", "replace": "A"}]
    refused_proposal(bench, "byte_order_mark", edits=edits, bases={"src/m": sha(data)})


def test_a_full_blob_id_of_git_is_a_binding(bench: Bench) -> None:
    head = f"diff --git a/src/b b/src/b\nindex {codec.blob_id(b'b' + chr(10).encode())}..{'0' * 40} 100644\n"
    patch = head + "--- a/src/b\n+++ b/src/b\n@@ -1 +1 @@\n-b\n+B\n"
    assert bench.call("propose_patch", patch=patch)["files"][0]["base"] == sha("b\n")


def test_a_created_file_in_a_patch_needs_no_binding(bench: Bench) -> None:
    patch = "*** Begin Patch\n*** Add File: src/new\n+n\n*** End Patch\n"
    assert bench.call("propose_patch", patch=patch)["files"][0]["op"] == "create"


def test_a_change_without_a_base_is_refused(bench: Bench) -> None:
    data = refused_proposal(bench, "missing_base_hash", **whole("src/a", "x\n"))
    assert data["path"] == "src/a"
    assert refused_proposal(bench, "missing_base_hash", patch=change("two", "TWO"))["path"] == "src/a"


def test_a_stale_change_is_told_what_moved_and_that_it_still_fits(bench: Bench) -> None:
    base = bench.call("read_file", path="src/a")["digest"]
    bench.open("src/a")
    bench.type("src/a", 6, 0, "SEVEN ")
    data = refused_proposal(bench, "stale", patch=change("two", "TWO"), bases={"src/a": base})
    now = sha(TEXT.replace("seven", "SEVEN seven"))
    assert (data["path"], data["current"]) == ("src/a", now)
    view = stale_view(data)
    assert (view["base"], view["current"], view["origin"], view["rebase"]) == (sha(TEXT), now, "buffer v2", "clean")
    assert "-seven\n+SEVEN seven\n" in str(view["diff"]) and view["lineEndsOnly"] is False


@pytest.mark.parametrize(
    ("read", "typed", "rebase"),
    [(True, "TWO and a half\n", "conflict"), (True, TEXT, "clean"), (False, "TWO and a half\n", "not_possible")],
)
def test_a_stale_change_is_told_whether_a_rebase_would_do(bench: Bench, read: bool, typed: str, rebase: str) -> None:
    base = bench.call("read_file", path="src/a")["digest"] if read else sha(TEXT)
    new = "0\n" + TEXT if rebase == "clean" else TEXT.replace("two\n", typed)
    bench.disk.files["src/a"] = new.encode()
    view = stale_view(refused_proposal(bench, "stale", patch=change("two", "TWO"), bases={"src/a": base}))
    assert view["rebase"] == rebase
    assert bool(view["diff"]) == read
    both = {"baseLine": 2, "base": ["two\n"], "line": 2, "present": ["TWO and a half\n"], "proposed": ["TWO\n"]}
    assert view["conflicts"] == ([{**both, "cut": False}] if rebase == "conflict" else [])


def test_line_ends_alone_are_named(bench: Bench) -> None:
    base = bench.call("read_file", path="src/a")["digest"]
    bench.disk.files["src/a"] = TEXT.replace("\n", "\r\n").encode()
    assert stale_view(refused_proposal(bench, "stale", **whole("src/a", "x\n", base)))["lineEndsOnly"] is True


def test_a_clean_buffer_has_the_disks_name_too_and_a_dirty_one_has_not(bench: Bench) -> None:
    bench.open("src/dos", "one\ntwo\n")
    assert bench.call("propose_patch", **whole("src/dos", "1\n2\n", sha("one\r\ntwo\r\n")))["proposalId"] == "P1"
    bench.type("src/dos", 0, 0, "x")
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", **whole("src/dos", "1\n2\n", sha("one\r\ntwo\r\n")))
    assert caught.value.code == "stale"


def test_the_third_equal_refusal_in_a_row_says_stop(bench: Bench) -> None:
    ask = whole("src/a", "x\n", sha("never"))
    remedies = [str(refused_proposal(bench, "stale", **ask)["remedy"]) for _ in range(3)]
    assert ["stop" in remedy for remedy in remedies] == [False, False, True]
    bench.disk.files["src/a"] = b"moved\n"
    assert "stop" not in str(refused_proposal(bench, "stale", **ask)["remedy"])


def test_a_file_that_exists_is_not_created(bench: Bench) -> None:
    data = refused_proposal(bench, "target_exists", **whole("src/b", "x\n", ABSENT))
    assert (data["path"], data["current"], data["origin"]) == ("src/b", sha("b\n"), "disk")
    patch = "*** Begin Patch\n*** Add File: src/b\n+n\n*** End Patch\n"
    assert refused_proposal(bench, "target_exists", patch=patch)["current"] == sha("b\n")
    move = "diff --git a/src/b b/src/a\nrename from src/b\nrename to src/a\n"
    assert refused_proposal(bench, "target_exists", patch=move, bases={"src/b": sha("b\n")})["path"] == "src/a"


@pytest.mark.parametrize("base", [sha("x"), ABSENT])
def test_a_file_that_is_not_there_is_not_changed(bench: Bench, base: str) -> None:
    refused_proposal(bench, "target_missing", **whole("src/no", None, base))
    refused_proposal(bench, "target_missing", patch=change("a", "b", "src/no"), bases={"src/no": base})
    move = "diff --git a/src/no b/src/z\nrename from src/no\nrename to src/z\n"
    refused_proposal(bench, "target_missing", patch=move, bases={"src/no": base})


def test_buffer_and_disk_that_have_parted_are_not_guessed_at(bench: Bench) -> None:
    bench.open("src/b")
    bench.type("src/b", 0, 0, "x")
    bench.disk.files["src/b"] = b"theirs\n"
    data = refused_proposal(bench, "disk_conflict", **whole("src/b", "y\n", sha("xb\n")))
    assert (data["buffer"], data["disk"]) == (sha("xb\n"), sha("theirs\n"))


def test_a_buffer_nobody_told_of_is_not_guessed_at(bench: Bench) -> None:
    bench.open("src/b")
    bench.session.changed("src/b", 1, [])
    assert refused_proposal(bench, "buffer_unknown", **whole("src/b", "y\n", sha("b\n")))["path"] == "src/b"


def test_a_change_of_the_buffer_alone_does_not_move_the_binding(bench: Bench) -> None:
    bench.open("src/b")
    bench.change("src/b", Edit("typed\n"))
    bench.undo("src/b")
    assert bench.call("propose_patch", **whole("src/b", "B\n", sha("b\n")))["proposalId"] == "P1"


def test_blob_ids_of_both_kinds_are_gits() -> None:
    """`git hash-object --stdin` in a repository of each format says so."""
    assert binding.blob_id(b"hello\n", "0" * 40) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert binding.blob_id(b"hello\n", "0" * 64) == "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"


def test_the_same_index_line_refused_again_and_again_says_stop(bench: Bench) -> None:
    patch = f"diff --git a/src/b b/src/b\nindex {'1' * 40}..{'2' * 40}\n--- a/src/b\n+++ b/src/b\n@@ -1 +1 @@\n-b\n+B\n"
    remedies = [str(refused_proposal(bench, "stale", patch=patch)["remedy"]) for _ in range(3)]
    assert ["stop" in remedy for remedy in remedies] == [False, False, True]


def test_a_blob_of_the_disk_binds_a_buffer_whose_line_ends_the_editor_changed(bench: Bench) -> None:
    data = b"one\r\ntwo\n"
    bench.disk.files["src/mixed"] = data
    bench.open("src/mixed", "one\r\ntwo\r\n")
    ids = binding.blob_id(data, "0" * 40), "2" * 40
    head = f"diff --git a/src/mixed b/src/mixed\nindex {'..'.join(ids)}\n--- a/src/mixed\n+++ b/src/mixed\n"
    patch = f"{head}@@ -2 +2 @@\n-two\n+2\n"
    data_of = refused_proposal(bench, "result_mismatch", patch=patch)
    assert data_of["index"] == "2" * 40
    bound = {"src/mixed": sha(data)}
    assert refused_proposal(bench, "result_mismatch", patch=patch, bases=bound)["index"] == "2" * 40
