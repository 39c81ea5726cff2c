"""The cases of `tests/cases` whose input is a proposal, as values: what is sent, and what must come of it.

What a case expects stands in its folder (`case.json`, `expected/`); only what the folder says in prose is said here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remit.core import codec

CASES = Path(__file__).parent / "cases"
Tree = dict[str, bytes]

NAMES = [
    f"{kind}-{number:02}"
    for kind, last in (("DP", 15), ("PL", 12), ("EN", 7), ("JR", 1))
    for number in range(1, last + 1)
]

# Our word where a case suggests another one for the same refusal.
WORDS = {"binary_patch_unsupported": "binary_patch"}

# The further inputs of a case: the refusal, or the files that change and their new bytes.
VARIANTS: Mapping[str, str | Tree] = {
    "DP-09/patch_two_hunks_overcount.diff": {"test.txt": b"red\ngreen2\nblue\ncyan2\ngrey\n"},
    "DP-09/patch_undercount.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-09/patch_undercount_hides_change.diff": {"test.txt": b"red\ngreen\nblue2\ncyan\ngrey\n"},
    "DP-12/wrap_fence.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_heredoc.txt": {"app.py": b"a = 2\n"},
    "DP-12/wrap_indented.txt": "bad_patch_envelope",
    "DP-12/wrap_json.txt": "bad_patch_envelope",
    "DP-13/patch_git_binary.diff": "binary_patch",
    "DP-14/patch_noprefix.diff": {"w/two.txt": b"2\n"},
    "EN-02/patch.diff": {"cfg.ps1": b'\xef\xbb\xbf$mode = "b"\r\nStart\r\n'},
    "EN-04/patch.diff": {"f.ini": b"host=b\r\ntls=1\r\nport=1\r\nuser=u\r\n"},
    "EN-06/lone.json": "invalid_unicode",
    "EN-06/lone_in_path.json": "invalid_unicode",
    "EN-06/lone_in_search.json": "invalid_unicode",
    "PL-03/patch_missing_anchor.apply_patch": "context_not_found",
    "PL-04/patch_single_delete.diff": {"n.txt": b"one\ntwo\nthree\nfour\nfive\nseven\n"},
    "PL-09/patch.diff": "target_exists",
}

# What the data of a refusal must hold, by the case's note.
SAID: Mapping[str, Mapping[str, Any]] = {
    "DP-12/wrap_indented.txt": {"wrapper": "indent"},
    "DP-12/wrap_json.txt": {"wrapper": "json"},
    "DP-13/patch.diff": {"entry": "b/logo.bin"},
    "DP-13/patch_git_binary.diff": {"entry": "b/logo.bin"},
    "EN-06/lone.json": {"field": "edits.0.replace"},
    "EN-06/lone_in_path.json": {"field": "edits.0.path"},
    "EN-06/lone_in_search.json": {"field": "edits.0.search"},
    "JR-01/patch.apply_patch": {"path": "missing.txt"},
    "PL-01/edit.json": {"count": 3, "candidates": [2, 6, 10]},
    "PL-05/edit.json": {"nearest": {"line": 1}},
    "PL-06/edit.json": {
        "nearest": {"line": 2, "differs": "blanks", "file_blanks": "1 tab (0x09)", "request_blanks": "4 spaces (0x20)"}
    },
    "PL-09/patch.apply_patch": {"path": "notes.txt"},
    "PL-09/patch.diff": {"path": "notes.txt"},
}

# How a hunk was placed, where a case wants that to be said.
PLACED: Mapping[str, str] = {"PL-11/patch.diff": "offset(5)"}


def tree(folder: Path) -> Tree:
    """Every file below a folder, by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal to one tree: what an agent sends (without the bases), and what must come of it.

    `wanted`: the refusal's code, or the whole tree afterwards. `modes`: what files' modes become. `said`: what the
    data of the refusal must hold. `placed`: how a hunk must be said to be placed.
    """

    name: str
    before: Tree
    sent: Mapping[str, Any]
    wanted: str | Tree
    modes: Mapping[str, int] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)
    placed: str | None = None

    def __str__(self) -> str:
        return self.name

    def changed(self) -> set[str]:
        """The files that stay under their name and get another content."""
        after = {} if isinstance(self.wanted, str) else self.wanted
        return {path for path, data in self.before.items() if path in after and after[path] != data}


def told(name: str) -> dict[str, Any]:
    """The `case.json` of a case."""
    found: dict[str, Any] = json.loads((CASES / name / "case.json").read_bytes())
    return found


def proposals() -> list[Proposed]:
    """Every input of every case, its main one first. A file that is none of the known ones is an error."""
    found: list[Proposed] = []
    for name in NAMES:
        case, folder = told(name), CASES / name
        after: str | Tree
        if case["expect"] == "reject":
            after = WORDS.get(case["error_kind"], case["error_kind"])
        else:
            after = tree(folder / "expected")
        modes = {path: int(mode, 8) for path, mode in case.get("expected_mode", {}).items()}
        found.append(_read(folder, case["input"], after, modes))
        others = {path.name for path in folder.iterdir() if path.is_file()} - {"case.json", case["input"]}
        for file in sorted(others):
            wanted = VARIANTS[f"{name}/{file}"]
            found.append(
                _read(folder, file, wanted if isinstance(wanted, str) else tree(folder / "before") | wanted, {})
            )
    return found


def _read(folder: Path, file: str, wanted: str | Tree, modes: Mapping[str, int]) -> Proposed:
    name, before, raw = f"{folder.name}/{file}", tree(folder / "before"), (folder / file).read_bytes()
    sent: dict[str, Any] = {"edits": [json.loads(raw)]} if file.endswith(".json") else {"patch": _text(raw, before)}
    return Proposed(name, before, sent, wanted, modes, SAID.get(name, {}), PLACED.get(name))


def _text(raw: bytes, before: Tree) -> str:
    """A patch as text. One that is not UTF-8 is sent as its file is read: nothing else can be sent."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        (data,) = before.values()
        return codec.decode_as(raw, codec.decode(data).charset)
