"""The cases of parsing, placing and encodings, with all their inputs, through the real server: an agent on the socket
proposes, the human accepts in the editor, and what lies on disk is compared byte for byte.

Each case's folder says where it comes from (`tests/cases/ID/case.json`). What is pure is in the core's tests too.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from remit.core.faults import Fault
from world import CASES, Agent, World, offer_of, settled, sha

Tree = dict[str, bytes]
FOLDERS = [path for kind in ("DP", "PL", "EN") for path in sorted(CASES.glob(f"{kind}-*"))]

# Our word where the case suggests another one for the same refusal.
WORDS = {"binary_patch_unsupported": "binary_patch"}

# What the case allows besides, and the further inputs: the refusal, or the files that are other than before.
OTHERWISE: dict[str, str | Tree] = {
    "DP-09/patch_two_hunks_overcount.diff": {"test.txt": b"red\ngreen2\nblue\ncyan2\ngrey\n"},
    "DP-09/patch_undercount.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-09/patch_undercount_hides_change.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-12/wrap_fence.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_heredoc.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_indented.txt": "bad_patch_envelope",
    "DP-12/wrap_json.txt": "bad_patch_envelope",
    "DP-13/patch_git_binary.diff": "binary_patch",
    "DP-14/patch_noprefix.diff": {"w/two.txt": b"2\n"},
    "DP-15/patch.diff": "not_unicode",  # JSON cannot say what is no Unicode text
    "EN-02/patch.diff": {"cfg.ps1": b'\xef\xbb\xbf$mode = "b"\r\nStart\r\n'},
    "EN-04/patch.diff": {"f.ini": b"host=b\r\ntls=1\r\nport=1\r\nuser=u\r\n"},
    "EN-06/lone.json": "not_unicode",
    "EN-06/lone_in_path.json": "not_unicode",
    "EN-06/lone_in_search.json": "not_unicode",
    "PL-03/patch_missing_anchor.apply_patch": "context_not_found",
    "PL-04/patch_single_delete.diff": {"n.txt": b"one\ntwo\nthree\nfour\nfive\nseven\n"},
    "PL-09/patch.diff": "target_exists",
}


def tree(folder: Path) -> Tree:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def inputs() -> list[tuple[Path, str | Tree]]:
    """Every input of every case, and what must come of it: a refusal, or the whole tree."""
    found: list[tuple[Path, str | Tree]] = []
    for folder in FOLDERS:
        told = json.loads((folder / "case.json").read_bytes())
        for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name != "case.json"):
            wanted = OTHERWISE.get(f"{folder.name}/{path.name}")
            if isinstance(wanted, dict):
                wanted = tree(folder / "before") | wanted
            elif wanted is None:
                assert path.name == told["input"], path
                reject = told["expect"] == "reject"
                kind = str(told.get("error_kind"))
                wanted = WORDS.get(kind, kind) if reject else tree(folder / "expected")
            found.append((path, wanted))
    return found


def asked(path: Path, before: Tree) -> dict[str, Any]:
    """The parameters of `propose_patch`."""
    raw = path.read_bytes().decode(errors="surrogateescape")
    sent = {"edits": [json.loads(raw)]} if path.suffix == ".json" else {"patch": raw}
    return {"bases": {name: sha(data) for name, data in before.items()}, **sent}


async def outcome(world: World, agent: Agent, path: Path) -> str | tuple[Tree, set[str]]:
    """Propose this input for the case's files and accept it: the refusal, or the tree and what is executable."""
    before = tree(path.parent / "before")
    for child in world.root.iterdir():
        if child.name not in ("task.contract.json", ".remit"):
            shutil.rmtree(child) if child.is_dir() else child.unlink()
    for name, data in before.items():
        world.put(name, data)
    try:
        answer = await agent("propose_patch", **asked(path, before))
    except Fault as fault:
        assert {name: data for name, data in tree(world.root).items() if name in before} == before
        return fault.code
    editor = world.editors[0]
    for decision in (await editor.view())["decisions"]:
        await editor.run("remit.decide", offer=decision["offer"], option="allow")
    action = (await editor.run("remit.accept", offer=await offer_of(editor, answer["proposalId"])))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    after = {name: data for name, data in tree(world.root).items() if name != "task.contract.json"}
    return after, {name for name in after if (world.root / name).stat().st_mode & 0o100}


async def test_every_input_of_every_case_becomes_the_bytes_it_should_or_is_refused_by_name(world: World) -> None:
    await world.active(writeScope=["./"])
    agent = await world.agent()
    wrong: list[tuple[str, Any, Any]] = []
    for path, wanted in inputs():
        found = await outcome(world, agent, path)
        if (found[0] if isinstance(found, tuple) else found) != wanted:
            wrong.append((path.relative_to(CASES).as_posix(), found, wanted))
        modes = json.loads((path.parent / "case.json").read_bytes()).get("expected_mode", {})
        if isinstance(found, tuple) and found[1] != {name for name, mode in modes.items() if mode == "0o755"}:
            wrong.append((path.relative_to(CASES).as_posix(), found[1], modes))
    assert not wrong
