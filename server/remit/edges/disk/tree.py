"""Walks over the whole tree: the files worth listing, and the temporary files that a crash left behind.

Follows no links. Removes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from remit.core import paths
from remit.core.faults import AgentFault
from remit.edges.disk import kernel
from remit.edges.disk.root import NOT_A_FILE, Root, digest

TEMPORARY = re.compile(r"\.remit-(?P<action>[A-Za-z0-9_-]{1,64})-(?P<n>[0-9]{1,6})\.tmp(?:\.swap|\.part)?\Z")
_IGNORE_BYTES = 1 << 20
_IGNORE_LINES = 2_000
_STAR = "[^/]*"
# With three `**` in one pattern a single deep path takes a minute. Leaving a pattern out only lists more files.
_IGNORE_DEEP = 2
_CLOSED = frozenset({".git", ".remit"})

# The `.gitignore` files above a folder, innermost first, each with the folder it stands in.
_Rules = tuple[tuple[str, GitIgnoreSpec], ...]


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary file of some action. `digest` is NOT_A_FILE for what cannot be read."""

    path: str
    action: str
    digest: str


def files(root: Root, limit: int) -> list[str]:
    """The first `limit` regular files in path order that no `.gitignore` ignores."""
    found: list[str] = []
    walk = _files(root)
    while len(found) < limit and (path := next(walk, None)) is not None:
        found.append(path)
    return found


def leftovers(root: Root) -> Iterator[Leftover]:
    """Every temporary file below the root, `.git` folders excepted."""
    pending = [""]
    while pending:
        at = pending.pop()
        with suppress(OSError), root.directory(at) as fd:
            for name, is_folder, is_file in _entries(fd):
                path = f"{at}/{name}" if at else name
                if is_folder and paths.fold(name) != ".git":
                    pending.append(path)
                elif is_file and (named := TEMPORARY.match(name)):
                    yield Leftover(path, named["action"], _digest(fd, name))


def _files(root: Root) -> Iterator[str]:
    # A stack and not recursion: a tree may be deeper than Python's stack.
    pending: list[tuple[str, bool, _Rules]] = [("", True, ())]
    while pending:
        path, is_folder, rules = pending.pop()
        if is_folder:
            pending += reversed(_folder(root, path, rules))
        else:
            yield path


def _folder(root: Root, at: str, rules: _Rules) -> list[tuple[str, bool, _Rules]]:
    """What is to be listed in one folder, in the order of whole paths."""
    try:
        with root.directory(at) as fd:
            entries = list(_entries(fd))
            rules = _with_ignore(fd, at, rules) if any(name == ".gitignore" for name, *_ in entries) else rules
    except OSError:
        return []
    listed = []
    for name, is_folder, is_file in entries:
        path = f"{at}/{name}" if at else name
        if not (is_folder or is_file) or paths.fold(name) in _CLOSED or TEMPORARY.match(name):
            continue
        if _addressable(path) and not _ignored(path + "/" * is_folder, rules):
            listed.append((path, is_folder, rules))
    return sorted(listed, key=lambda entry: entry[0] + "/" * entry[1])


def _entries(fd: int) -> Iterator[tuple[str, bool, bool]]:
    with os.scandir(fd) as entries:
        for entry in entries:
            yield entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)


def _with_ignore(fd: int, at: str, rules: _Rules) -> _Rules:
    with suppress(OSError):
        ignore = os.open(".gitignore", kernel.READ, dir_fd=fd)
        try:
            text = os.pread(ignore, _IGNORE_BYTES, 0).decode("utf-8", "surrogateescape")
        finally:
            os.close(ignore)
        return ((at, _spec(text)), *rules)
    return rules


def _spec(text: str) -> GitIgnoreSpec:
    patterns = []
    for line in text.removeprefix("\ufeff").split("\n")[:_IGNORE_LINES]:
        if line.count("**") > _IGNORE_DEEP:
            continue
        # git leaves out a line it cannot read and goes on.
        with suppress(GitIgnorePatternError, re.error):
            pattern = GitIgnoreSpecPattern(line.removesuffix("\r"))
            if pattern.regex is not None:
                pattern.regex = re.compile(steady(pattern.regex.pattern))
            patterns.append(pattern)
    return GitIgnoreSpec(patterns)


def steady(pattern: str) -> str:
    """The same expression without the backtracking by which a few stars in a hostile `.gitignore` take minutes.

    Between two stars of one component the first place that fits is as good as any later one, so it is never given up;
    `fnmatch` does the same. Stars with nothing between them are one.
    """
    first, *rest = re.sub(f"(?:{re.escape(_STAR)})+", _STAR, pattern).split(_STAR)
    held = [
        f"(?>{_STAR}?{part})" if part and "/" not in part.replace("[^/]", "") else f"{_STAR}{part}"
        for part in rest[:-1]
    ]
    return "".join([first, *held, *(_STAR + part for part in rest[-1:])])


def _ignored(path: str, rules: _Rules) -> bool:
    for at, spec in rules:
        verdict = spec.check_file(path[len(at) + 1 :] if at else path).include
        if verdict is not None:
            return verdict
    return False


def _addressable(path: str) -> bool:
    try:
        return paths.parse(path, portable=False) == path
    except AgentFault:
        return False


def _digest(fd: int, name: str) -> str:
    with suppress(OSError):
        return digest(fd, name) or NOT_A_FILE
    return NOT_A_FILE
