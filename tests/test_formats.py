"""Every form in which a change comes, through `propose_patch`: what becomes of it, byte by byte, or by which name it is
refused. Here are texts as git, Subversion, Mercurial and GNU diff print them, and what models do to them.

The rules of one form are in the test of its module; here the whole way is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import pytest

from desks import refused_proposal
from fakes import Bench, MemoryDisk, MemoryFile, contract_text, desk, sha
from remit.core import binding
from remit.core.diff import unified
from remit.core.faults import AgentFault
from remit.core.model import ABSENT

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
NEW = TEXT.replace("two", "TWO")
HUNK = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
GIT = f"diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n{HUNK}"
FILES: dict[str, str | bytes] = {
    "src/a": TEXT,
    "src/b": "b\n",
    "src/run.sh": "#!/bin/sh\necho hi\n",
    "src/dos": "one\r\ntwo\r\nthree\r\n",
    "src/bom": b"\xef\xbb\xbfone\r\ntwo\r\n",
    'src/two "words" é.md': "one\n",
    "src/empty": "",
    "other/c": "secret\n",
}


@pytest.fixture
def bench() -> Bench:
    return desk(FILES)


def bases(bench: Bench, *names: str) -> dict[str, str]:
    return {name: sha(bench.disk.files[name]) for name in names}


def proposed(bench: Bench, patch: str, *bound: str) -> dict[str, Any]:
    return bench.call("propose_patch", patch=patch, bases=bases(bench, *(bound or ("src/a",))))


def outcome(bench: Bench, answer: dict[str, Any]) -> dict[str, bytes | None]:
    """Accept all of it; the files that are other than before."""
    before = dict(bench.disk.files)
    bench.accept(str(answer["proposalId"]))
    after = bench.disk.files
    return {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}


# --- what is around a patch -------------------------------------------------------------------------------------------


MAIL = """From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Date: Mon, 1 Dec 2025 00:00:00 +0000
Subject: [PATCH 1/2] Louder

- a list in the message
+ another one
---
 src/a | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

"""
B = "diff --git a/src/b b/src/b\nindex 6178079..5c3a8f1 100644\n--- a/src/b\n+++ b/src/b\n@@ -1 +1 @@\n-b\n+B\n"


@pytest.mark.parametrize(
    ("patch", "notes"),
    [
        (GIT, []),
        (f"{MAIL}{GIT}-- \n2.39.5\n\n", ["other text set aside", "mail signature set aside"]),
        (f"Here it is:\n\n```diff\n{GIT}```\n\nDone.\n", ["markdown fence set aside"]),
        (f"git apply <<'EOF'\n{GIT}EOF\n", ["here-document set aside"]),
        (f"Index: src/a\n{'=' * 67}\n{GIT.partition(chr(10))[2]}", []),
        (GIT.partition("\n")[2].replace("+++ b/src/a", "+++ b/src/a\t2026-01-02 00:00:00.5 +0100"), []),
        (f"# HG changeset patch\n# User me\ndiff -r 0a1b2c -r 3d4e5f src/a\n{GIT.partition(chr(10))[2]}", None),
        (f"diff -u a/src/a b/src/a\n{GIT.partition(chr(10))[2]}", []),
        (GIT.replace("a/src", "i/src").replace("b/src", "w/src"), []),
        (GIT.replace("a/src", "src").replace("b/src", "src"), []),
        (GIT.replace("a/src", "x/src").replace("b/src", "a/src").replace("x/src", "b/src"), []),
        (GIT.replace("-1,3 +1,3", "-1,4 +1,3"), ["line 4: hunk counts 4,3 read as 3,3"]),
    ],
)
def test_what_stands_around_is_told_and_nothing_of_the_patch_is_lost(
    bench: Bench, patch: str, notes: list[str] | None
) -> None:
    answer = proposed(bench, patch)
    assert notes is None or answer["notes"] == notes
    assert outcome(bench, answer) == {"src/a": NEW.encode()}


def test_a_series_of_mails_is_one_proposal_where_no_file_comes_twice(bench: Bench) -> None:
    second = MAIL.replace("1/2", "2/2")
    answer = proposed(bench, f"{MAIL}{GIT}-- \n2.39.5\n\n{second}{B}-- \n2.39.5\n\n", "src/a", "src/b")
    assert outcome(bench, answer) == {"src/a": NEW.encode(), "src/b": b"B\n"}
    again = f"{MAIL}{GIT}-- \n2.39.5\n\n{second}{GIT}-- \n2.39.5\n\n"
    bench = desk(FILES)
    assert refused_proposal(bench, "duplicate_file", patch=again, bases=bases(bench, "src/a"))["path"] == "src/a"


def test_two_fences_with_prose_between_them_are_read(bench: Bench) -> None:
    patch = f"First:\n```diff\n{GIT}```\n- then\n- the other\n```diff\n{B}```\n"
    assert outcome(bench, proposed(bench, patch, "src/a", "src/b")) == {"src/a": NEW.encode(), "src/b": b"B\n"}


def test_two_envelopes_in_a_row_are_one(bench: Bench) -> None:
    one = "*** Begin Patch\n*** Update File: src/a\n@@\n-two\n+TWO\n*** End Patch\n"
    two = "*** Begin Patch\n*** Update File: src/b\n@@\n-b\n+B\n*** End Patch\n"
    answer = proposed(bench, f"{one}\n{two}", "src/a", "src/b")
    assert answer["notes"] == ["several blocks read as one"]
    assert outcome(bench, answer) == {"src/a": NEW.encode(), "src/b": b"B\n"}
    bench = desk(FILES)
    refused_proposal(bench, "duplicate_file", patch=one + one, bases=bases(bench, "src/a"))
    assert "End Patch" in one
    fault = refused_proposal(bench, "malformed_patch", patch=f"{one}and more\n", bases=bases(bench, "src/a"))
    assert fault["line"] == 7


COMBINED = (
    "diff --cc src/a\nindex 1111111,2222222..3333333\n--- a/src/a\n+++ b/src/a\n@@@ -1,1 -1,1 +1,1 @@@\n- x\n -y\n++z\n"
)
WORDS = "diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1,3 +1,3 @@\n"
SVN = "malformed_patch"
SUBMODULE = "Submodule lib 0123456..89abcde:\n  > a commit\n"


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        (COMBINED, "combined_diff"),
        (COMBINED.replace("--cc", "--combined"), "combined_diff"),
        (f"{WORDS}one\n[-two-]{{+TWO+}}\nthree\n", "word_diff"),
        (f"{WORDS} one\n  [-two-]{{+TWO+}}\n three\n", "word_diff"),
        (f"{WORDS} one\n~\n-two\n+TWO\n~\n three\n~\n", "word_diff"),
        ("\x1b[1mdiff --git a/src/a b/src/a\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n", "bad_patch_envelope"),
        ("".join(f"    {line}\n" for line in GIT.split("\n")), "bad_patch_envelope"),
        ("".join(f"> {line}\n" for line in GIT.split("\n")), "bad_patch_envelope"),
        ('{"patch": "' + GIT.replace("\n", "\\n") + '"}', "bad_patch_envelope"),
        (SUBMODULE + GIT, "special_file"),
        (GIT.replace("--- a", "new file mode 120000\n--- a"), "special_file"),
        ("diff --git a/l b/l\nindex 0123456..89abcde 160000\n--- a/l\n+++ b/l\n" + HUNK, "special_file"),
        (f"{GIT}Binary files a/src/l and b/src/l differ\n", "binary_patch"),
        (
            f"{GIT}\nProperty changes on: src/a\n{'_' * 67}\nAdded: svn:eol-style\n## -0,0 +1 ##\n+LF\n",
            "malformed_patch",
        ),
        (GIT + GIT, "duplicate_file"),
        ("no patch at all\n", "malformed_patch"),
        (f"--- src/a\n+++ src/b\n{HUNK}", "ambiguous_path"),
        (f"{GIT} stray\n+line\n", "no_match"),
        (f"{GIT}\nprose\n+line\n", "malformed_patch"),
        (GIT.replace("@@ -1,3 +1,3 @@", "@@ ... @@"), "malformed_patch"),
        (f"--- /dev/null\n+++ /dev/null\n{HUNK}", "malformed_patch"),
    ],
)
def test_what_is_no_change_of_text_is_refused_by_name(bench: Bench, patch: str, code: str) -> None:
    refused_proposal(bench, code, patch=patch, bases=bases(bench, "src/a"))


# --- what becomes of files --------------------------------------------------------------------------------------------


def test_a_patch_in_crlf_for_a_file_in_lf(bench: Bench) -> None:
    answer = proposed(bench, GIT.replace("\n", "\r\n"))
    assert [hunk["placed"] for hunk in answer["hunks"]] == ["line_ends"]
    assert outcome(bench, answer) == {"src/a": NEW.encode()}


@pytest.mark.parametrize(
    ("stamp", "made"),
    [
        ("(nonexistent)", True),
        ("(revision 0)", True),
        ("1970-01-01 00:00:00.000000000 +0000", True),
        ("1969-12-31 19:00:00.000000000 -0500", True),
        ("2026-01-01 00:00:00.000000000 +0000", False),
    ],
)
def test_a_side_that_is_said_not_to_be_there(stamp: str, made: bool) -> None:
    bench = desk(FILES)
    create = f"--- src/new\t{stamp}\n+++ src/new\t2026-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+n\n"
    if made:
        assert outcome(bench, proposed(bench, create)) == {"src/new": b"n\n"}
    else:
        refused_proposal(bench, "target_missing", patch=create)
    delete = f"--- src/b\t2026-01-01 00:00:00 +0000\n+++ src/b\t{stamp}\n@@ -1 +0,0 @@\n-b\n"
    bench = desk(FILES)
    assert outcome(bench, proposed(bench, delete, "src/b")) == {"src/b": None if made else b""}


def test_a_file_last_written_at_the_epoch_is_there_all_the_same(bench: Bench) -> None:
    patch = f"--- src/a\t1970-01-01 00:00:00 +0000\n+++ src/a\t1970-01-01 00:00:00 +0000\n{HUNK}"
    assert outcome(bench, proposed(bench, patch)) == {"src/a": NEW.encode()}


def test_a_name_with_quotes_blanks_and_octal(bench: Bench) -> None:
    name = 'src/two "words" é.md'
    spelled = 'src/two \\"words\\" \\303\\251.md'
    patch = f'diff --git "a/{spelled}" "b/{spelled}"\n--- "a/{spelled}"\n+++ "b/{spelled}"\n@@ -1 +1 @@\n-one\n+ONE\n'
    with pytest.raises(AgentFault) as caught:
        proposed(bench, patch, "src/a")
    assert (caught.value.code, caught.value.data["path"]) == ("missing_base_hash", name)
    assert outcome(bench, proposed(bench, patch, name)) == {name: b"ONE\n"}


def test_mode_alone_mode_with_text_and_mode_of_a_new_file(bench: Bench) -> None:
    mode = "diff --git a/src/run.sh b/src/run.sh\nold mode 100644\nnew mode 100755\n"
    answer = proposed(bench, mode, "src/run.sh")
    assert (answer["files"][0]["op"], answer["files"][0]["executable"]) == ("modify", True)
    text = f"{mode}--- a/src/run.sh\n+++ b/src/run.sh\n@@ -2 +2 @@\n-echo hi\n+echo ho\n"
    answer = proposed(bench, text, "src/run.sh")
    assert answer["files"][0]["executable"] is True
    new = "diff --git a/src/n.sh b/src/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/src/n.sh\n@@ -0,0 +1 @@\n+x\n"
    answer = proposed(bench, new)
    assert (answer["files"][0]["op"], answer["files"][0]["executable"]) == ("create", True)
    same = "diff --git a/src/b b/src/b\nold mode 100755\nnew mode 100644\n"
    bench = desk(FILES)
    assert refused_proposal(bench, "no_change", patch=same, bases=bases(bench, "src/b"))["path"] == "src/b"


def test_a_move_with_a_change_and_a_move_alone(bench: Bench) -> None:
    head = "diff --git a/src/a b/src/z\nsimilarity index 90%\nrename from src/a\nrename to src/z\n"
    answer = proposed(bench, f"{head}--- a/src/a\n+++ b/src/z\n{HUNK}")
    assert [hunk["placed"] for hunk in answer["hunks"]] == ["exact"]
    assert outcome(bench, answer) == {"src/a": None, "src/z": NEW.encode()}
    bench = desk(FILES)
    plain = head.replace("a/src/a b/src/z", "src/a src/z")
    assert outcome(bench, proposed(bench, plain)) == {"src/a": None, "src/z": TEXT.encode()}


def test_a_move_without_prefixes_out_of_a_folder_called_a() -> None:
    bench = desk({"a/x": TEXT}, contract=None)
    patch = "diff --git a/x b/x\nsimilarity index 100%\nrename from a/x\nrename to b/x\n"
    with pytest.raises(AgentFault) as caught:
        bench.call("propose_patch", patch=patch)
    assert (caught.value.code, caught.value.data["path"]) == ("outside_scope", "a/x")


def test_empty_files_come_and_go(bench: Bench) -> None:
    new = "diff --git a/src/e b/src/e\nnew file mode 100644\nindex 0000000..e69de29\n"
    old = "diff --git a/src/empty b/src/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
    assert outcome(bench, proposed(bench, new + old, "src/empty")) == {"src/e": b"", "src/empty": None}


# --- copies -----------------------------------------------------------------------------------------------------------

COPY = "diff --git a/src/a b/src/copy\nsimilarity index 90%\ncopy from src/a\ncopy to src/copy\n"


def test_a_copy_is_a_new_file_and_says_of_what(bench: Bench) -> None:
    answer = proposed(bench, f"{COPY}--- a/src/a\n+++ b/src/copy\n{HUNK}")
    assert answer["files"] == [
        {"path": "src/copy", "op": "create", "base": ABSENT, "result": sha(NEW), "copyOf": "src/a"}
    ]
    assert outcome(bench, answer) == {"src/copy": NEW.encode()}


def test_a_source_may_be_copied_twice_and_changed_by_the_same_patch(bench: Bench) -> None:
    patch = COPY + COPY.replace("src/copy", "src/more") + GIT
    made = {"src/copy": TEXT.encode(), "src/more": TEXT.encode(), "src/a": NEW.encode()}
    assert outcome(bench, proposed(bench, patch)) == made


def test_a_copy_keeps_bytes_and_mark_and_may_be_of_what_is_out_of_scope(bench: Bench) -> None:
    patch = COPY.replace("src/a", "src/bom") + COPY.replace("src/a", "other/c").replace("src/copy", "src/c")
    made = outcome(bench, proposed(bench, patch, "src/bom", "other/c"))
    assert made == {"src/copy": bench.disk.files["src/bom"], "src/c": b"secret\n"}


def test_a_copy_is_bound_to_its_source_when_it_is_proposed_and_to_absence_after(bench: Bench) -> None:
    assert refused_proposal(bench, "missing_base_hash", patch=COPY)["path"] == "src/a"
    assert refused_proposal(bench, "stale", patch=COPY, bases={"src/a": sha("old\n")})["path"] == "src/a"
    assert (
        refused_proposal(
            bench,
            "target_exists",
            patch=COPY.replace("copy to src/copy", "copy to src/b").replace("b/src/copy", "b/src/b"),
            bases=bases(bench, "src/a"),
        )["path"]
        == "src/b"
    )
    refused_proposal(bench, "target_missing", patch=COPY.replace("src/a", "src/none"))
    answer = proposed(bench, COPY)
    bench.disk.files["src/a"] = b"moved on\n"
    assert bench.call("proposal_status", proposalId=answer["proposalId"])["fresh"] is True
    assert outcome(bench, answer) == {"src/copy": TEXT.encode()}
    bench = desk(FILES)
    answer = proposed(bench, COPY)
    bench.disk.files["src/copy"] = b"somebody's\n"
    assert bench.call("proposal_status", proposalId=answer["proposalId"])["fresh"] is False


def test_who_may_not_read_copies_nothing() -> None:
    bench = desk(FILES, contract=contract_text(allowedTools=["apply_patch"]))
    data = refused_proposal(bench, "right_missing", patch=COPY, bases=bases(bench, "src/a"))
    assert (data["right"], data["path"]) == ("read_file", "src/a")


@dataclass(slots=True)
class Programs(MemoryDisk):
    """A disk on which every file is a program."""

    def read(self, path: str) -> MemoryFile | None:
        found = MemoryDisk.read(self, path)
        return None if found is None else replace(found, mode=0o755)


def test_a_copy_of_a_program_is_a_program_unless_the_patch_says_otherwise() -> None:
    bench = desk(FILES)
    bench = bench.restart(disk=Programs(bench.disk.files))
    bench.connect()
    assert proposed(bench, COPY)["files"][0]["executable"] is True
    plain = COPY.replace("similarity", "old mode 100755\nnew mode 100644\nsimilarity")
    assert proposed(bench, plain)["files"][0]["executable"] is False
    mode = "diff --git a/src/b b/src/b\nold mode 100644\nnew mode 100755\n"
    with pytest.raises(AgentFault) as caught:
        proposed(bench, mode, "src/b")
    assert caught.value.code == "no_change"


# --- index lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("like", ["0" * 40, "0" * 64], ids=["sha1", "sha256"])
def test_full_blob_ids_bind_and_say_what_must_come_out(bench: Bench, like: str) -> None:
    old, new = binding.blob_id(TEXT.encode(), like), binding.blob_id(NEW.encode(), like)
    line = f"index {old}..{new} 100644\n--- a/src/a"
    answer = bench.call("propose_patch", patch=GIT.replace("--- a/src/a", line))
    assert answer["files"][0]["base"] == sha(TEXT)
    copied = bench.call("propose_patch", patch=f"{COPY}index {old}..{old}\n")
    assert copied["files"][0]["copyOf"] == "src/a"
    bench = desk(FILES)
    other = binding.blob_id(b"other\n", like)
    wrong = GIT.replace("--- a/src/a", f"index {old}..{other} 100644\n--- a/src/a")
    assert refused_proposal(bench, "result_mismatch", patch=wrong)["index"] == other
    gone = GIT.replace("--- a/src/a", f"index {other}..{new} 100644\n--- a/src/a")
    data = refused_proposal(bench, "stale", patch=gone)
    assert (data["index"], data["current"]) == (other, sha(TEXT))
    assert refused_proposal(bench, "base_mismatch", patch=gone, bases=bases(bench, "src/a"))["index"] == other
    short = GIT.replace("--- a/src/a", f"index {old[:12]}..{new[:12]} 100644\n--- a/src/a")
    refused_proposal(bench, "missing_base_hash", patch=short)


def test_a_blob_that_the_agent_was_shown_is_told_what_moved_since(bench: Bench) -> None:
    bench.call("read_file", path="src/a")
    bench.disk.files["src/a"] = (TEXT + "eight\n").encode()
    old, new = (binding.blob_id(text.encode(), "0" * 40) for text in (TEXT, NEW))
    data = refused_proposal(bench, "stale", patch=GIT.replace("--- a/src/a", f"index {old}..{new}\n--- a/src/a"))
    assert isinstance(data["stale"], list) and isinstance(data["stale"][0], dict)
    assert (data["stale"][0]["base"], data["stale"][0]["rebase"]) == (sha(TEXT), "clean")


def test_a_blob_of_unsaved_text_binds_too(bench: Bench) -> None:
    bench.open("src/b")
    bench.type("src/b", 0, 0, "x")
    blobs = [binding.blob_id(text, "0" * 40) for text in (b"xb\n", b"B\n")]
    patch = B.replace("index 6178079..5c3a8f1", f"index {'..'.join(blobs)}").replace("-b\n", "-xb\n")
    assert bench.call("propose_patch", patch=patch)["files"][0]["base"] == sha("xb\n")


# --- the form of a file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sent", "made", "kept"),
    [
        ("src/dos", "one\nTWO\nthree\n", b"one\r\nTWO\r\nthree\r\n", ["line_ends"]),
        ("src/dos", "one\nTWO\nthree", b"one\r\nTWO\r\nthree", ["line_ends"]),
        ("src/dos", "one\r\nTWO\nthree\r\n", b"one\r\nTWO\nthree\r\n", None),
        ("src/a", TEXT.replace("\n", "\r\n") + "8\r\n", TEXT.encode() + b"8\n", ["line_ends"]),
        ("src/bom", "\ufeffone\r\nTWO\r\n", b"\xef\xbb\xbfone\r\nTWO\r\n", ["bom"]),
        ("src/bom", "one\r\nTWO\r\n", b"\xef\xbb\xbfone\r\nTWO\r\n", None),
        ("src/bom", "\ufeffone\nTWO\n", b"\xef\xbb\xbfone\r\nTWO\r\n", ["bom", "line_ends"]),
    ],
)
def test_a_whole_text_leaves_the_form_of_the_file_and_says_so(
    bench: Bench, name: str, sent: str, made: bytes, kept: list[str] | None
) -> None:
    answer = bench.call("propose_patch", files=[{"path": name, "content": sent}], bases=bases(bench, name))
    assert answer["files"][0].get("kept") == kept
    assert {hunk["placed"] for hunk in answer["hunks"]} == {"line_ends" if "line_ends" in (kept or ()) else "exact"}
    assert outcome(bench, answer) == {name: made}


def test_a_whole_text_that_differs_in_form_alone_is_no_change(bench: Bench) -> None:
    for sent in ("\ufeffone\r\ntwo\r\n", "one\ntwo\n"):
        data = refused_proposal(
            bench, "no_change", files=[{"path": "src/bom", "content": sent}], bases=bases(bench, "src/bom")
        )
        assert "patch can change line ends" in str(data["remedy"])


def test_git_shows_the_mark_as_part_of_the_first_line(bench: Bench) -> None:
    head = "--- a/src/bom\n+++ b/src/bom\n"
    patch = f"{head}@@ -1,2 +1,2 @@\n-\ufeffone\r\n+\ufeffONE\r\n two\r\n"
    assert outcome(bench, proposed(bench, patch, "src/bom")) == {"src/bom": b"\xef\xbb\xbfONE\r\ntwo\r\n"}
    bench = desk(FILES)
    for gone in (
        f"{head}@@ -1,2 +1,2 @@\n-\ufeffone\r\n+ONE\r\n two\r\n",
        f"{head}@@ -1,2 +1,1 @@\n-\ufeffone\r\n two\r\n",
        f"{head}@@ -1,1 +1,2 @@\n+zero\r\n \ufeffone\r\n",
    ):
        refused_proposal(bench, "byte_order_mark", patch=gone, bases=bases(bench, "src/bom"))
    other = f"{head}@@ -2,1 +2,1 @@\n-\ufefftwo\r\n+\ufeffTWO\r\n"
    refused_proposal(bench, "no_match", patch=other, bases=bases(bench, "src/bom"))
    delete = "--- a/src/bom\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-\ufeffone\r\n-two\r\n"
    assert outcome(bench, proposed(bench, delete, "src/bom")) == {"src/bom": None}


# --- rules ------------------------------------------------------------------------------------------------------------

LOOSE = '[placement]\nallow = ["exact", "offset", "line_ends", "trailing_blanks", "tabs"]\n'
STRICT = '[placement]\nallow = ["exact"]\n'
GO = "func f() {\n\tif ok {\n\t\treturn 1\n\t}\n}\n"
BLANKS = (
    "*** Begin Patch\n*** Update File: src/f.go\n@@\n"
    "     if ok {\n-        return 1\n+        g()\n+        return 2\n*** End Patch\n"
)


def test_rules_that_are_off_are_named_with_the_place() -> None:
    bench = desk({"src/f.go": GO, "src/a": TEXT})
    data = refused_proposal(bench, "no_match", patch=BLANKS, bases=bases(bench, "src/f.go"))
    assert (data["rule_off"], data["place"]) == ("tabs", 2)
    edit = [{"path": "src/f.go", "search": "    if ok {\n        return 1\n", "replace": "    if ok {\n"}]
    data = refused_proposal(bench, "no_match", edits=edit, bases=bases(bench, "src/f.go"))
    assert (data["rule_off"], data["place"]) == ("tabs", 2)
    strict = desk({"src/a": TEXT, "src/dos": "one\r\ntwo\r\nthree\r\n"}, policy=STRICT)
    moved = GIT.replace("-1,3 +1,3", "-3,3 +3,3")
    data = refused_proposal(strict, "no_match", patch=moved, bases=bases(strict, "src/a"))
    assert (data["rule_off"], data["place"]) == ("offset", 1)
    dos = moved.replace("src/a", "src/dos")
    data = refused_proposal(strict, "no_match", patch=dos, bases=bases(strict, "src/dos"))
    assert (data["rule_off"], data["place"]) == ("offset, line_ends", 1)
    delete = "--- a/src/dos\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"
    data = refused_proposal(strict, "no_match", patch=delete, bases=bases(strict, "src/dos"))
    assert data["rule_off"] == "line_ends"
    whole = [{"path": "src/dos", "content": "one\n"}]
    assert strict.call("propose_patch", files=whole, bases=bases(strict, "src/dos"))["files"][0]["result"] == sha(
        "one\n"
    )


def test_rules_that_are_on_place_in_every_form_and_say_so() -> None:
    made = GO.replace("\t\treturn 1", "\t\tg()\n\t\treturn 2").encode()
    bench = desk({"src/f.go": GO}, policy=LOOSE)
    answer = proposed(bench, BLANKS, "src/f.go")
    assert [hunk["placed"] for hunk in answer["hunks"]] == ["tabs"]
    assert outcome(bench, answer) == {"src/f.go": made}
    bench = desk({"src/f.go": GO}, policy=LOOSE)
    edit = {"path": "src/f.go", "search": "        return 1\n", "replace": "        g()\n        return 2\n"}
    answer = bench.call("propose_patch", edits=[edit], bases=bases(bench, "src/f.go"))
    assert [hunk["placed"] for hunk in answer["hunks"]] == ["tabs"]
    assert outcome(bench, answer) == {"src/f.go": made}


def test_the_order_of_hunks_and_files_changes_nothing() -> None:
    old = "".join(f"line {number}\n" for number in range(60))
    new = old.replace("line 3\n", "").replace("line 20\n", "TWENTY\nmore\n").replace("line 50\n", "FIFTY\n")
    hunks = [f"@@ -{part}" for part in unified(old, new, "x", "x").split("@@ -")[1:]]
    made = set()
    for order in permutations(hunks):
        bench = desk({"src/a": old})
        answer = proposed(bench, f"--- a/src/a\n+++ b/src/a\n{''.join(order)}")
        told = [{key: value for key, value in hunk.items() if key != "id"} for hunk in answer["hunks"]]
        made.add((answer["files"][0]["result"], str(told)))
        assert outcome(bench, answer) == {"src/a": new.encode()}
    assert len(hunks) == 3 and len(made) == 1


def test_each_hunk_says_its_own_rule(bench: Bench) -> None:
    patch = f"{GIT}@@ -3,2 +3,2 @@\n six\n-seven\n+SEVEN\n"
    answer = proposed(bench, patch)
    assert [(hunk["oldStart"], hunk["placed"]) for hunk in answer["hunks"]] == [(2, "exact"), (7, "offset(3)")]
    both = f"{GIT}@@ -1,1 +1,1 @@\n-three\n+THREE\n"
    answer = proposed(bench, both)
    assert [(hunk["oldStart"], hunk["placed"]) for hunk in answer["hunks"]] == [(2, "exact, offset(2)")]
