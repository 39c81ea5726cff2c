"""Seeded makers of what both judges are asked: files, a change of them, its patch, and what befell the patch since.

The texts have few different lines, so that a place is often not the only one that fits. Same seed, same pairs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from differential.judge import Git
from remit.core import diff
from remit.core.text import split_lines

LINES = (
    "a",
    "b",
    "}",
    "",
    "  x = 1",
    "\tif y:",
    "-- z",
    "++ z",
    "é€",
    "trailing  ",
    "@@ -1 +1 @@",
    "lone\rcr",
    "\x0cff",
)
NAMES = ("f", "d/g.txt", "two words", "tä/b", 'quo"te', "tab\tbed", "e/e/e", "-dash", "back\\slash")


@dataclass(frozen=True, slots=True)
class Pair:
    """Files as they are now, and a patch for them. `what` befell it, in one word; `maker` printed it."""

    seed: int
    maker: str
    what: str
    files: dict[str, bytes]
    patch: bytes


def pair(git: Git, seed: int) -> Pair:
    """The pair of this seed. About a third is left as it was made."""
    chance = random.Random(seed)
    while True:
        before, after = _change(chance)
        executable = [name for name in after if chance.random() < 0.1]
        maker = chance.choice(("git", "git", "remit"))
        if maker == "git":
            words = (f"-U{chance.choice((0, 1, 2, 3, 3, 3))}", *chance.choice(((), ("-M",), ("--full-index",))))
            patch = git.diff(before, after, *words, executable=executable)
        else:
            patch = printed(before, after, chance.choice((0, 1, 3, 3)))
        if patch:
            break
    what = chance.choice(("none", "none", *MUTATIONS, *MISHAPS))
    if what in MUTATIONS:
        patch = MUTATIONS[what](chance, patch)
    elif what in MISHAPS:
        before = {name: MISHAPS[what](chance, data) for name, data in before.items()}
    return Pair(seed, maker, what, before, patch)


def printed(before: dict[str, bytes], after: dict[str, bytes], context: int) -> bytes:
    """The patch as Remit prints it."""
    out = ""
    for name in dict.fromkeys([*before, *after]):
        old, new = (tree.get(name, b"").decode("utf-8", "surrogateescape") for tree in (before, after))
        names = (f"a/{name}" if name in before else "/dev/null", f"b/{name}" if name in after else "/dev/null")
        out += diff.unified(old, new, *names, context)
    return out.encode("utf-8", "surrogateescape")


def _change(chance: random.Random) -> tuple[dict[str, bytes], dict[str, bytes]]:
    before, after = dict[str, bytes](), dict[str, bytes]()
    for name in chance.sample(NAMES, chance.choice((1, 1, 1, 2, 3))):
        old = text(chance)
        new = edited(chance, old)
        match chance.randrange(12):
            case 0:
                after[name] = new.encode()
            case 1:
                before[name] = old.encode()
            case 2:
                before[name], after[name + "2"] = old.encode(), (new if chance.random() < 0.5 else old).encode()
            case 3:
                before[name], after[name] = old.encode() + b"\x80\xff\n", new.encode() + b"\x80\xff\n"
            case 4:
                before[name], after[name] = b"\xef\xbb\xbf" + old.encode(), b"\xef\xbb\xbf" + new.encode()
            case _:
                before[name], after[name] = old.encode(), new.encode()
    return before, after


def text(chance: random.Random) -> str:
    """Up to 60 lines, few of them different."""
    size = chance.choice((0, 1, 2, 5, 10, 20, 40, 60))
    some = chance.sample(LINES, chance.choice((2, 4, 8)))
    lines = [chance.choice(some) if chance.random() < 0.7 else f"line {n}" for n in range(size)]
    end = chance.choice(("\n", "\n", "\n", "\r\n"))
    made = "".join(line + (end if chance.random() < 0.97 else "\r\n") for line in lines)
    return made if chance.random() < 0.8 else made.removesuffix("\n").removesuffix("\r")


def edited(chance: random.Random, before: str) -> str:
    """The text with one to four stretches of it replaced."""
    lines = split_lines(before)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(lines))
        end = min(len(lines), at + chance.choice((0, 1, 1, 2, 4)))
        lines[at:end] = [chance.choice(LINES) + "\n" for _ in range(chance.choice((0, 1, 1, 2)))]
    return "".join(lines)


# --- what befalls a patch ---------------------------------------------------------------------------------------------


def _some(pattern: bytes) -> Callable[[random.Random, bytes], tuple[int, int] | None]:
    def choose(chance: random.Random, patch: bytes) -> tuple[int, int] | None:
        spans = [found.span() for found in re.finditer(pattern, patch, re.MULTILINE)]
        return chance.choice(spans) if spans else None

    return choose


def _at(pattern: bytes, change: Callable[[random.Random, bytes], bytes]) -> Callable[[random.Random, bytes], bytes]:
    """One place in the patch that matches is changed."""
    choose = _some(pattern)

    def mutate(chance: random.Random, patch: bytes) -> bytes:
        span = choose(chance, patch)
        return patch if span is None else patch[: span[0]] + change(chance, patch[slice(*span)]) + patch[span[1] :]

    return mutate


def _numbers(which: tuple[int, ...], by: tuple[int, ...]) -> Callable[[random.Random, bytes], bytes]:
    def change(chance: random.Random, header: bytes) -> bytes:
        found = re.fullmatch(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", header)
        assert found
        numbers = [int(found[group] or 1) for group in range(1, 5)]
        moved = chance.choice(by)
        for at in which:
            numbers[at] = max(0, numbers[at] + moved)
        return b"@@ -%d,%d +%d,%d @@" % tuple(numbers)

    return change


_HEADER = rb"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@"
_HUNK = rb"^@@ -(?:.*\n)(?:[ +\-\\].*\n|\n)*"

MUTATIONS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "old count wrong": _at(_HEADER, _numbers((1,), (-2, -1, 1, 2))),
    "both counts wrong": _at(_HEADER, _numbers((1, 3), (-1, 1, 3))),
    "lines shifted": _at(_HEADER, _numbers((0, 2), (-3, -1, 1, 2, 5))),
    "old line shifted": _at(_HEADER, _numbers((0,), (-1, 1, 4))),
    "patch in CRLF": lambda chance, patch: patch.replace(b"\n", b"\r\n"),
    "blanks stripped": lambda chance, patch: re.sub(rb"^ $", b"", patch, flags=re.MULTILINE),
    "ends of lines stripped": lambda chance, patch: re.sub(rb"[ \t]+$", b"", patch, flags=re.MULTILINE),
    "mark lost": _at(rb"^\\ No newline at end of file\n", lambda chance, mark: b""),
    "last newline lost": lambda chance, patch: patch.removesuffix(b"\n"),
    "cut short": lambda chance, patch: patch[: chance.randint(0, len(patch))],
    "hunk twice": _at(_HUNK, lambda chance, hunk: hunk + hunk),
    "hunk lost": _at(_HUNK, lambda chance, hunk: b""),
    "line lost": _at(rb"^[ +-].*\n", lambda chance, line: b""),
    "line twice": _at(rb"^[ +-].*\n", lambda chance, line: line + line),
    "other line": _at(rb"^[ +-].*\n", lambda chance, line: line[:1] + b"zz\n"),
    "other sign": _at(rb"^[ +-]", lambda chance, sign: chance.choice((b" ", b"+", b"-"))),
    "patch twice": lambda chance, patch: patch + patch,
    "text before": lambda chance, patch: b"From 0123456789 Mon\nSubject: x\n\n---\n f | 1 +\n\n" + patch,
    "text behind": lambda chance, patch: patch + b"-- \n2.39.5\n\n",
    "names without time": _at(rb"^(?:---|\+\+\+) .*\n", lambda chance, line: line.rstrip() + b"\t2020-01-01\n"),
    "other name": _at(rb"^(?:---|\+\+\+) [ab]/", lambda chance, line: line + b"x"),
    "prefix lost": lambda chance, patch: re.sub(rb"^(---|\+\+\+) [ab]/", rb"\1 ", patch, flags=re.MULTILINE),
    "byte lost": _at(rb"[\s\S]", lambda chance, byte: b""),
}


# --- what befalls the files -------------------------------------------------------------------------------------------


def _moved(chance: random.Random, data: bytes) -> bytes:
    return b"new 1\nnew 2\n" * chance.choice((1, 1, 3)) + data


def _touched(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    lines[chance.randrange(len(lines))] += b"!"
    return b"\n".join(lines)


MISHAPS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "lines added above": _moved,
    "a line changed": _touched,
    "lines added below": lambda chance, data: data + b"below\n",
    "file in CRLF": lambda chance, data: re.sub(rb"\r?\n", b"\r\n", data),
    "file in LF": lambda chance, data: data.replace(b"\r\n", b"\n"),
    "final newline": lambda chance, data: data[:-1] if data.endswith(b"\n") else data + b"\n",
    "file doubled": lambda chance, data: data + data,
}
