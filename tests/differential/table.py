"""Where `git apply` and Remit rightly differ: each difference by name, with the reason, and how it is recognised.

A pair on which they differ and that fits no line here is a fault of one of them. Three sides: only Remit takes the
patch, only git does, or both do with different bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from differential.judge import Done, Refused, Verdict
from differential.makers import Pair

Side = Literal["remit only", "git only", "other bytes"]


@dataclass(frozen=True, slots=True)
class Difference:
    """`fits` is asked with the pair and both verdicts, git's first."""

    name: str
    side: Side
    why: str
    fits: Callable[[Pair, Verdict, Verdict], bool]


def explained(pair: Pair, git: Verdict, remit: Verdict) -> str | None:
    """The first difference in the table that this one is; "same" or "both refuse" where there is none, None: unknown."""
    if isinstance(git, Refused) and isinstance(remit, Refused):
        return "both refuse"
    if isinstance(git, Done) and isinstance(remit, Done):
        if git.same(remit):
            return "same"
        side: Side = "other bytes"
    else:
        side = "git only" if isinstance(git, Done) else "remit only"
    found = (one.name for one in TABLE if one.side == side and one.fits(pair, git, remit))
    return next(found, None)


def _noted(words: str) -> Callable[[Pair, Verdict, Verdict], bool]:
    return lambda pair, git, remit: isinstance(remit, Done) and any(words in note for note in _notes(remit))


def _notes(done: Done) -> tuple[str, ...]:
    return done.patch.notes if done.patch else ()


def _ruled(*rules: str) -> Callable[[Pair, Verdict, Verdict], bool]:
    return lambda pair, git, remit: (
        isinstance(remit, Done) and any(placed.rule in rules for _, _, placed in remit.placements)
    )


def _said(words: str) -> Callable[[Pair, Verdict, Verdict], bool]:
    return lambda pair, git, remit: isinstance(git, Refused) and words in git.words


def _code(code: str, words: str = "") -> Callable[[Pair, Verdict, Verdict], bool]:
    return lambda pair, git, remit: isinstance(remit, Refused) and remit.why == code and words in remit.words


def _bare(pair: Pair, git: Verdict, remit: Verdict) -> bool:
    """A hunk ends, or begins, with a changed line."""
    return any({line[:1] for line in (hunk[0], hunk[-1])} & {b"+", b"-"} for hunk, _ in _hunks(pair.patch) if hunk)


def _hunks(patch: bytes) -> Iterator[tuple[list[bytes], bytes]]:
    """The lines of each hunk by its counts, without marks for a missing newline, and the two lines behind them."""
    lines = patch.split(b"\n")
    at = 0
    while at < len(lines):
        header = re.match(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", lines[at])
        at += 1
        if not header:
            continue
        old, new, body = int(header[1] or 1), int(header[2] or 1), list[bytes]()
        while (old > 0 or new > 0) and at < len(lines) and lines[at][:1] in (b"", b"\r", b" ", b"+", b"-", b"\\"):
            old -= lines[at][:1] not in (b"+", b"\\")
            new -= lines[at][:1] not in (b"-", b"\\")
            body += [] if lines[at][:1] == b"\\" else [lines[at]]
            at += 1
        at += at < len(lines) and lines[at].startswith(b"\\")
        yield body, b"\n".join(lines[at : at + 2])


def _first(pair: Pair, git: Verdict, remit: Verdict) -> bool:
    """A hunk that says it is at the file's first line stands elsewhere."""
    return isinstance(remit, Done) and any(
        placed.offset and (chunk.line or 0) == 0 for _, chunk, placed in remit.placements
    )


def _marked(pair: Pair, git: Verdict, remit: Verdict) -> bool:
    return any(data.startswith(b"\xef\xbb\xbf") for data in pair.files.values())


def _torn(pair: Pair, git: Verdict, remit: Verdict) -> bool:
    return not pair.patch.endswith(b"\n")


def _plain(patch: bytes) -> bool:
    """Is there a name without b/?"""
    return bool(re.search(rb"^\+\+\+ (?!\"?b/|/dev/null)", patch, re.MULTILINE))


def _cut(pair: Pair) -> bool:
    """Does a last line without newline go on, in a file, behind what the patch has of it?"""
    marked = re.findall(rb"^[ -](.*)\n\\ ", pair.patch, re.MULTILINE)
    lasts = [data.rpartition(b"\n")[2] for data in pair.files.values()]
    return any(last.startswith(line) and last != line for line in marked for last in lasts)


_TORN = ("does not have two names", "has no line numbers", "name is missing", "has an unknown escape")
_UNFIT = ("no_match", "malformed_patch", "hunk_counts")


def _overflows(patch: bytes) -> bool:
    """Does a line that looks like a hunk's follow where the counts of one are used up?"""
    return any(
        behind[:1] in (b"+", b"-", b" ") and not re.match(rb"--- .*\n\+\+\+ |-- \n\d", behind)
        for _, behind in _hunks(patch)
    )


TABLE: tuple[Difference, ...] = (
    Difference(
        "counted anew",
        "remit only",
        "Counts after @@ that are wrong: git calls the patch corrupt; Remit reads the hunk if only one end of it is "
        "possible, and the result says so.",
        _noted("hunk counts"),
    ),
    Difference(
        "line ends",
        "remit only",
        "Other line ends, or a final newline on one side only: git finds no match; Remit places by the rule line_ends, "
        "keeps the file's own ends, and the result says so.",
        _ruled("line_ends"),
    ),
    Difference(
        "end of the patch",
        "remit only",
        "The patch's own last newline is missing, as models often leave it: git calls it corrupt.",
        _torn,
    ),
    Difference(
        "first line moved",
        "remit only",
        "git keeps a hunk for line 1 at the file's beginning; Remit looks for its old text elsewhere if that is unique.",
        _first,
    ),
    Difference(
        "no context",
        "remit only",
        "git wants a hunk without context behind it at the file's end (without --unidiff-zero); Remit takes the old text "
        "at its declared line.",
        _bare,
    ),
    Difference(
        "deletion without text",
        "remit only",
        "A deletion that does not show the old text (git diff -D): git refuses it for a file that has any; for Remit the "
        "digest that it is bound to says what is deleted.",
        _said("removal patch leaves file contents"),
    ),
    Difference(
        "headers in CRLF",
        "remit only",
        "A patch whose own lines all end in CRLF: git reads the CR as a part of names in the header, Remit does not.",
        lambda pair, git, remit: b"\r\n--- " in pair.patch or b"\r\nindex " in pair.patch,
    ),
    Difference(
        "no prefixes",
        "remit only",
        "Names without a/ and b/: git takes the first folder off all the same, Remit reads both names as they stand.",
        lambda pair, git, remit: _said("o such file")(pair, git, remit) and _plain(pair.patch),
    ),
    Difference(
        "several places",
        "git only",
        "The old text is not at its line and fits in several places: git takes the nearest, Remit never chooses.",
        lambda pair, git, remit: (
            _code("ambiguous_match")(pair, git, remit) or _code("insertion_point_unclear")(pair, git, remit)
        ),
    ),
    Difference(
        "file twice",
        "git only",
        "One file in two entries: git applies them one after the other; Remit wants one, since each is bound to one text.",
        _code("duplicate_file"),
    ),
    Difference(
        "one place twice",
        "git only",
        "Two hunks for one place: git applies the second to what the first made; for Remit all are made for one text.",
        _code("overlapping_chunks"),
    ),
    Difference(
        "unclear name",
        "git only",
        "Names in --- and +++ that differ, without a rename: git picks one of them.",
        _code("ambiguous_path"),
    ),
    Difference(
        "names apart",
        "git only",
        "The line `diff --git` and the names below it say different files: git goes by some of them.",
        _code("malformed_patch", "do not agree"),
    ),
    Difference(
        "nothing to do",
        "git only",
        "An entry without any change, or with names and no hunk: git passes it over, with whatever was lost of it.",
        _code("malformed_patch", "has no change"),
    ),
    Difference(
        "stray lines",
        "git only",
        "Lines of a patch that belong to no hunk: git takes them for a mail's text and drops them.",
        _code("malformed_patch", "belongs to no file or hunk"),
    ),
    Difference(
        "torn header",
        "git only",
        "A header that breaks off: git takes it for text around the patch, with all that it would have said.",
        lambda pair, git, remit: any(_code("malformed_patch", words)(pair, git, remit) for words in _TORN),
    ),
    Difference(
        "byte order mark",
        "git only",
        "The mark at a file's beginning is a part of its first line for git; for Remit, as for editors, it is not text.",
        lambda pair, git, remit: _marked(pair, git, remit) and _code("no_match")(pair, git, remit),
    ),
    Difference(
        "lines too many",
        "git only",
        "Lines behind a hunk's counts: git drops them; read with the hunk, as Remit does, it fits nowhere.",
        lambda pair, git, remit: isinstance(remit, Refused) and remit.why in _UNFIT and _overflows(pair.patch),
    ),
    Difference(
        "last line cut",
        "git only",
        "At a last line without a newline git compares only as much as the patch has of it, and drops the rest: blanks "
        "that the patch does not show are lost.",
        lambda pair, git, remit: _code("no_match")(pair, git, remit) and _cut(pair),
    ),
    Difference(
        "no text",
        "git only",
        "A byte that makes a UTF-8 file something else: git knows no encodings; Remit does not write what it could not "
        "show.",
        _code("unencodable"),
    ),
    Difference(
        "counts too small",
        "other bytes",
        "Lines of a hunk beyond its counts: git drops them without a word, Remit counts anew and says so.",
        _noted("hunk counts"),
    ),
    Difference(
        "no context, elsewhere",
        "other bytes",
        "A hunk without context behind it: git moves it to where it stands at the file's end, Remit takes the old text at "
        "its declared line.",
        _bare,
    ),
    Difference(
        "no prefixes, other file",
        "other bytes",
        "Names without a/ and b/: git takes the first folder off all the same and so writes another file.",
        lambda pair, git, remit: _plain(pair.patch),
    ),
    Difference(
        "byte order mark, elsewhere",
        "other bytes",
        "A first line with the mark in it: not at its place for Remit, and alone in another one.",
        _marked,
    ),
    Difference(
        "loose here, exact there",
        "other bytes",
        "git looks for the exact old text further off; Remit prefers the declared line, where only line ends differ.",
        _ruled("line_ends"),
    ),
)


def listing(counts: dict[str, int]) -> str:
    """The counts as lines, most first."""
    return "\n".join(f"{count:6} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def names() -> set[str]:
    """All names in the table; no two lines share one."""
    found = {one.name for one in TABLE}
    assert len(found) == len(TABLE) and all(re.search(r"\w", one.why) for one in TABLE)
    return found
