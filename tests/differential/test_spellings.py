"""One change in all the ways in which git itself can spell it, each through `propose_patch`, accepted and compared.

What git makes of files is the after that it was asked to print; a spelling that is no patch is refused by name.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from differential.judge import Git
from fakes import Bench, contract_text, desk, sha
from remit.core.faults import AgentFault

LINES = "".join(f"line {number}\n" for number in range(1, 40))
BEFORE = {
    "d/text.txt": LINES.encode(),
    "d/two words.md": b"one\ntwo\nthree\n",
    "d/t\xe4b.txt": "é\nü\n".encode(),
    "a/x": b"1\n2\n3\n4\n5\n6\n7\n8\n",
    "d/dos.txt": b"a\r\nb\r\nc\r\n",
    "d/end": b"no newline",
    "d/gone": b"bye\n",
    "d/bom.ps1": b"\xef\xbb\xbfone\r\ntwo\r\n",
    "d/tool": b"#!/bin/sh\n",
}
AFTER = {
    "d/text.txt": LINES.replace("line 3\n", "LINE 3\n").replace("line 30\n", "").encode(),
    "d/two words.md": b"one\n2\nthree\n",
    "d/t\xe4b.txt": "é\nö\n".encode(),
    "b/x": b"1\n2\n3\n4\n5\n6\n7\nEIGHT\n",
    "d/dos.txt": b"a\r\nB\r\nc\r\n",
    "d/end": b"a newline\n",
    "d/bom.ps1": b"\xef\xbb\xbfONE\r\ntwo\r\n",
    "d/copy.txt": LINES.replace("line 20\n", "LINE 20\n").encode(),
    "d/new_tab": b"new\n",
    "d/empty": b"",
    "d/tool": b"#!/bin/sh\n",
}
PLAIN = [
    [],
    ["-U0"],
    ["-U1"],
    ["-U50"],
    ["--no-prefix"],
    ["--src-prefix=i/", "--dst-prefix=w/"],
    ["--src-prefix=c/", "--dst-prefix=i/"],
    ["--src-prefix=o/", "--dst-prefix=w/"],
    ["--full-index"],
    ["--abbrev=7"],
    ["--histogram"],
    ["--patience"],
    ["--minimal"],
    ["--function-context"],
    ["-M"],
    ["-M", "--no-prefix"],
    ["-C", "-M", "--find-copies-harder"],
    ["-C", "-M", "--find-copies-harder", "--full-index"],
    ["-B", "-M"],
    ["--no-renames"],
    ["--stat", "-p"],
    ["--summary", "-p"],
    ["--patch-with-raw"],
    ["--text"],
    ["--line-prefix="],
    ["--inter-hunk-context=5"],
    ["-c", "core.quotePath=false"],
]
NAMED = [
    (["--word-diff"], "word_diff"),
    (["--word-diff=porcelain"], "word_diff"),
    (["--color=always"], "bad_patch_envelope"),
    (["--line-prefix=> "], "bad_patch_envelope"),
    (["--name-only"], "malformed_patch"),
]


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Git:
    return Git(tmp_path_factory.mktemp("git"))


def bench() -> Bench:
    return desk(BEFORE, contract=contract_text(scope=("./",)))


def spelled(git: Git, words: list[str]) -> str:
    if words[:1] == ["-c"]:
        old, new = git._stored(BEFORE), git._stored(AFTER, ["d/tool"])
        done = git.run(*words, "diff-tree", "-p", str(old), str(new), inside=Path(git.store.path))
        return done.stdout.decode("utf-8", "surrogateescape")
    return git.diff(BEFORE, AFTER, *words, executable=["d/tool"]).decode("utf-8", "surrogateescape")


def made(patch: str) -> dict[str, bytes]:
    """The files after accepting it."""
    one = bench()
    answer = one.call("propose_patch", patch=patch, bases={name: sha(data) for name, data in BEFORE.items()})
    tool = next((file for file in answer["files"] if file["path"] == "d/tool"), None)
    assert tool is not None and tool["executable"] is True
    one.accept(str(answer["proposalId"]))
    return {name: data for name, data in one.disk.files.items() if not name.endswith(".json")}


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_every_spelling_of_a_patch_makes_what_git_was_asked_to_print(git: Git, words: list[str]) -> None:
    patch = spelled(git, words)
    assert made(patch) == AFTER


def test_a_patch_that_was_carried_in_crlf_leaves_what_is_there_and_says_what_it_makes(git: Git) -> None:
    patch = spelled(git, ["-M"]).replace("\r\n", "\n").replace("\n", "\r\n")
    crlf = {"d/copy.txt", "d/new_tab"}
    after = {name: data.replace(b"\n", b"\r\n") if name in crlf else data for name, data in AFTER.items()}
    assert made(patch) == after
    one = bench()
    answer = one.call("propose_patch", patch=patch, bases={name: sha(data) for name, data in BEFORE.items()})
    assert len([note for note in answer["notes"] if "so do those of the new file" in note]) == 2
    whole = spelled(git, ["-M", "--full-index"]).replace("\r\n", "\n").replace("\n", "\r\n")
    with pytest.raises(AgentFault) as caught:
        made(whole)
    assert caught.value.code == "result_mismatch"


@pytest.mark.parametrize(("words", "code"), NAMED, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_is_no_patch_is_refused_by_name(git: Git, words: list[str], code: str) -> None:
    with pytest.raises(AgentFault) as caught:
        made(spelled(git, words))
    assert caught.value.code == code


def test_a_reversed_patch_leads_back(git: Git) -> None:
    patch = git.diff(AFTER, BEFORE, "-R", "-M").decode("utf-8", "surrogateescape")
    one = bench()
    answer = one.call("propose_patch", patch=patch, bases={name: sha(data) for name, data in BEFORE.items()})
    one.accept(str(answer["proposalId"]))
    assert {name: data for name, data in one.disk.files.items() if not name.endswith(".json")} == AFTER


def test_full_ids_are_base_enough_for_all_that_has_one(git: Git) -> None:
    """A move without any change has no index line: it needs a base of its own, and here there is none such."""
    patch = spelled(git, ["-M", "-C", "--find-copies-harder", "--full-index"])
    one = bench()
    with pytest.raises(AgentFault) as caught:
        one.call("propose_patch", patch=patch)
    assert (caught.value.code, caught.value.data["path"]) == ("missing_base_hash", "d/tool")
    answer = one.call("propose_patch", patch=patch, bases={"d/tool": sha(BEFORE["d/tool"])})
    one.accept(str(answer["proposalId"]))
    assert {name: data for name, data in one.disk.files.items() if not name.endswith(".json")} == AFTER


def repository(git: Git, folder: Path) -> None:
    for words in (["init", "-q", "-b", "main", "."], ["config", "user.name", "N"], ["config", "user.email", "n@e.org"]):
        assert git.run(*words, inside=folder).returncode == 0


def commit(git: Git, folder: Path, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text)
    for words in (["add", "-A"], ["commit", "-q", "-m", message]):
        done: subprocess.CompletedProcess[bytes] = git.run(*words, inside=folder)
        assert done.returncode == 0, done.stderr


def test_mails_of_several_commits_and_logs_and_merges(git: Git, tmp_path: Path) -> None:
    repository(git, tmp_path)
    commit(git, tmp_path, "f", "one\ntwo\nthree\n", "first")
    commit(git, tmp_path, "f", "one\nTWO\nthree\n", "second\n\n- a list\n+ another\n--- what looks like a name\n")
    commit(git, tmp_path, "g", "new\n", "third")
    for words in (["format-patch", "--stdout", "HEAD~2"], ["log", "-p", "--reverse", "HEAD~2.."]):
        patch = git.run(*words, inside=tmp_path).stdout.decode()
        one = desk({"f": "one\ntwo\nthree\n"}, contract=contract_text(scope=("./",)))
        answer = one.call("propose_patch", patch=patch, bases={"f": sha("one\ntwo\nthree\n")})
        assert "other text set aside" in answer["notes"]
        one.accept(str(answer["proposalId"]))
        assert (one.disk.files["f"], one.disk.files["g"]) == (b"one\nTWO\nthree\n", b"new\n")
    assert git.run("checkout", "-q", "-b", "side", "HEAD~1", inside=tmp_path).returncode == 0
    commit(git, tmp_path, "g", "other\n", "side")
    git.run("merge", "-q", "main", inside=tmp_path)
    commit(git, tmp_path, "g", "both\n", "merge")
    for words in (["show", "HEAD"], ["show", "-c", "HEAD"], ["log", "-p", "--cc", "-1"]):
        patch = git.run(*words, inside=tmp_path).stdout.decode()
        with pytest.raises(AgentFault) as caught:
            desk({"g": "new\n"}, contract=contract_text(scope=("./",))).call("propose_patch", patch=patch)
        assert caught.value.code == "combined_diff"
