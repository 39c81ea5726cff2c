"""What is fuzzed in the core: each parser as one function of bytes that fails when a promise of it is broken.

A target has seeds to start from, words to mix in, and a bug that can be put into the code for a control run. Does not
live here: the doors' wires (`wires`), who makes the inputs and counts them (`drive`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import rfc8785

from remit.core import chain, envelope, paths, place, source
from remit.core import patch as patches
from remit.core.chunk import Chunk
from remit.core.diff import unified
from remit.core.faults import AgentFault, Fault, UserFault, to_dict
from remit.core.lines import View
from remit.core.patch import parse
from remit.core.syntax import Problem, Span, Tree
from remit.core.text import split_lines

CASES = Path(__file__).resolve().parents[1] / "cases"


@dataclass(frozen=True, slots=True)
class Target:
    """`check` raises anything at all when a promise is broken; `bug` breaks one in this process, for good.

    Inputs have at most `longest` bytes: enough to break a promise, and no more than can be tried often.
    """

    name: str
    check: Callable[[bytes], None]
    bug: Callable[[], None]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...]
    raw: tuple[bytes, ...] = ()
    longest: int = 2048

    def pieces(self) -> list[bytes]:
        """What is mixed in: the words in UTF-8, and bytes that are no text."""
        return [*(word.encode("utf-8", "surrogatepass") for word in self.words), *self.raw]


def told(fault: Fault, *kinds: type[Fault]) -> None:
    """A refusal of the promised kind that can be sent: short, with a remedy, plain JSON in UTF-8."""
    assert isinstance(fault, kinds), fault
    assert len(fault.message) <= 100 and fault.remedy, fault
    json.dumps(to_dict(fault), ensure_ascii=False, allow_nan=False).encode()


def put(place: object, name: str, value: object) -> None:
    """Another value under this name, for a control run. A bug in what is not there any more would be none."""
    assert hasattr(place, name), name
    setattr(place, name, value)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# --- patches ----------------------------------------------------------------------------------------------------------


def check_patch(data: bytes) -> None:
    try:
        patch = parse(text_of(data))
    except Fault as fault:
        told(fault, AgentFault)
        return
    names = [name for file in patch.files for name in (file.path, *([file.source] * (file.op == "rename")))]
    assert names and all(names) and len(set(names)) == len(names)
    for file in patch.files:
        assert (file.op in ("rename", "copy")) == bool(file.source)
        assert file.op == "create" or file.content is None
        assert not any("\n" in line for chunk in file.chunks for line in (*chunk.old, *chunk.new))


def check_envelope(data: bytes) -> None:
    check_patch(b"*** Begin Patch\n" + data)


def check_place(data: bytes) -> None:
    """Before the first NUL: a text. Behind it: a patch; the chunks of its first file are carried out on the text."""
    raw, _, rest = data.partition(b"\0")
    text = text_of(raw)
    rules = place.RULES if len(rest) % 2 else ("exact",)
    try:
        chunks = parse(text_of(rest)).files[0].chunks
        placed = place.place(text, chunks, rules)
    except Fault as fault:
        told(fault, AgentFault)
        return
    _check_untouched(text, chunks, placed)
    check_replace(text, chunks)


def _check_untouched(text: str, chunks: tuple[Chunk, ...], placed: place.Placed) -> None:
    """All between the places of the chunks stands in the new text as before, in the same order."""
    assert len(placed.placements) == len(chunks)
    if not chunks:
        assert placed.text == text
        return
    views = {"exact": View(text, "exact"), "line_ends": View(text, "line_ends")}
    starts = views["line_ends"].starts
    regions = []
    for found in placed.placements:
        view = views["exact" if found.rule in ("exact", "offset") else "line_ends"]
        start = starts[min(found.line, len(starts) - 1)]
        line = next(at for at, offset in enumerate(view.starts) if offset >= start)
        regions.append((start, view.starts[line + len(view.read(chunks[found.chunk].old))]))
    regions.sort()
    at = end = regions[0][0]
    assert placed.text.startswith(text[:at])
    for start, stop in regions:
        kept = text[end:start]
        at = placed.text.index(kept, at) + len(kept)
        end = max(end, stop)
    assert placed.text.endswith(text[end:])


def check_replace(text: str, chunks: tuple[Chunk, ...]) -> None:
    """A chunk as search and replacement: the one place changes, or nothing does."""
    for chunk in chunks:
        search, new = "\n".join(chunk.old), "\n".join(chunk.new)
        try:
            placed = place.replace(text, search, new)
        except Fault as fault:
            told(fault, AgentFault)
            continue
        line = placed.placements[0].line
        before = "".join(split_lines(text)[:line])
        assert placed.text.startswith(before)
        if placed.placements[0].rule == "exact":
            assert text.replace(search, new, 1) == placed.text


def bug_patch() -> None:
    """One file may stand twice in a patch."""
    put(patches, "_check_once", lambda files: None)


def bug_envelope() -> None:
    """A chunk may be empty, and nobody thought of the end of the text."""

    def careless(reader: Any, kind: str, path: str) -> Any:
        if kind == "Update" and reader.lines[reader.at] == "*** Move to: ":
            raise IndexError(path)
        return entry(reader, kind, path)

    entry = envelope._entry
    put(envelope, "_entry", careless)


def bug_place() -> None:
    """A change at the very end takes the last character before it along."""
    written = place._written

    def greedy(text: str, edits: Any) -> str:
        if edits and edits[0].start > 4 and edits[0].end == len(text):
            return written(text[: edits[0].start - 2] + "~" + text[edits[0].start - 1 :], edits)
        return written(text, edits)

    put(place, "_written", greedy)


# --- contract, policy -------------------------------------------------------------------------------------------------


def _check_source(text: str, value: object, problems: tuple[Problem, ...]) -> None:
    assert (value is None) == bool(problems)
    for problem in problems:
        assert problem.message
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert problem.span.start < len(text) or not text


def check_contract(data: bytes) -> None:
    text = text_of(data)
    found = source.contract.__wrapped__(text)
    _check_source(text, found.value, found.problems)
    assert found.value is None or isinstance(json.loads(text), dict)


def check_policy(data: bytes) -> None:
    text = text_of(data)
    found = source.policy.__wrapped__(text)
    _check_source(text, found.value, found.problems)


def bug_contract() -> None:
    """A field that nobody knows always resembles one."""

    def careless(name: str, text: str, span: Span, known: Sequence[str]) -> str:
        return get_close_matches(name, known, n=1, cutoff=0.75)[0]

    put(source, "_alike", careless)


def bug_policy() -> None:
    """A scope entry that cannot match is not turned into a problem."""

    def careless(entries: tuple[str, ...], pointer: Any, tree: Tree) -> Any:
        for entry in entries:
            paths.Scope((entry.removeprefix("!"),))
        return iter(())

    put(source, "_patterns", careless)


# --- journal ----------------------------------------------------------------------------------------------------------


def check_chain(data: bytes) -> None:
    """What canonical JSON says is said alike by the standard's own package, and reads back as it was."""
    try:
        event = chain.parse(data.decode("utf-8", "surrogatepass"))
        text = chain.canonical(event)
    except (ValueError, RecursionError):
        return
    again = chain.parse(text)
    assert again == event and chain.canonical(again) == text
    assert text == rfc8785.dumps(again).decode()


def bug_chain() -> None:
    """Any number counts as one that both encoders write alike."""
    plain = chain._plain
    put(chain, "_plain", lambda value: isinstance(value, float) or plain(value))


# --- paths ------------------------------------------------------------------------------------------------------------


def check_path(data: bytes) -> None:
    """What is accepted lies inside, on POSIX and on Windows, and is one name whichever way it is walked."""
    raw = data.decode("utf-8", "surrogateescape" if len(data) % 2 else "replace")
    for portable in (True, False):
        try:
            path = paths.parse(raw, portable=portable)
        except Fault as fault:
            told(fault, AgentFault)
            continue
        assert path in (raw, raw.removeprefix("./")) and paths.parse(path, portable=portable) == path
        parts = path.split("/")
        assert all(parts) and not {".", ".."} & set(parts) and not path.startswith(("/", "~/"))
        assert PurePosixPath(path).parts == tuple(parts)
        assert len(path.encode()) < 4096 and max(len(part.encode()) for part in parts) < 256
        if portable:
            walked = PureWindowsPath(path)
            assert walked.parts == tuple(parts) and not walked.drive and not walked.root
            assert not walked.is_reserved() and not any(part.rstrip(". ") != part for part in parts)
            assert paths.fold(paths.fold(path)) == paths.fold(path)
            assert len(data) % 8 or paths.rank(paths.fold(path)) == paths.rank(path)


def check_scope(data: bytes) -> None:
    """Entries, one a line, the last line a path: what an entry lets in is inside, and is below what the entry names."""
    *entries, path = data.decode("utf-8", "replace").split("\n")
    try:
        scope = paths.Scope(entries)
    except Fault as fault:
        told(fault, UserFault)
        return
    for folded in (False, True):
        found = scope.match(path, folded=folded)
        if found is None:
            continue
        parts = path.split("/")
        assert found in entries and not found.startswith("!")
        assert all(parts) and not {".", ".."} & set(parts)
        fixed = found.removeprefix("./").rstrip("/").split("/")
        if not folded and not any(set(part) & set("*?[") for part in fixed) and found not in (".", "./"):
            assert parts[: len(fixed)] == fixed
            assert not found.endswith("/") or len(parts) > len(fixed)


def bug_path() -> None:
    """The step upwards is looked for with a blank too many."""
    put(paths, "_climbs", lambda part, portable: part == ".. ")


def bug_scope() -> None:
    """Whether an entry covers a path is asked of letters, not of components."""
    put(paths.Pattern, "covers", lambda self, path, folded=False: path.startswith(self.text.strip("./")))


# --- seeds ------------------------------------------------------------------------------------------------------------

_TEXT = "one\ntwo\nthree\nfour\n"
_CHANGE = unified(_TEXT, "one\n2\nthree\nfour\nfive", "a/f", "b/f", 1)
_GIT = (
    'diff --git "a/t\\303\\244 b" "b/t\\303\\244\\tb"\nold mode 100644\nnew mode 100755\nsimilarity index 90%\n'
    'rename from "t\\303\\244 b"\nrename to "t\\303\\244\\tb"\nindex 1234567..89abcde\n--- "a/t\\303\\244 b"\n'
    '+++ "b/t\\303\\244\\tb"\n@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n\\ No newline at end of file\n'
)
_NEW = "diff --git a/n b/n\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
_GONE = "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
_UPDATE = "*** Update File: f\n@@ one\n two\n-three\n+3\n*** End of File\n*** End Patch\n"
_ENVELOPES = (
    _UPDATE,
    "*** Add File: n\n+x\n+\n*** Delete File: o\n*** Update File: f\n*** Move to: g\n@@\n-a\n+b\n*** End Patch\n",
    "*** Update File: f\n@@ class A\n@@ def f\n\n-x\n+y\n@@\n+z\n*** End Patch\n",
)
_CONTRACT = (
    '{"taskId": "t", "goal": "g", "writeScope": ["src/", "!src/*.key", "docs/**"],\n'
    '"allowedTools": ["read_file", "apply_patch", "run_check"], "network": "disabled",\n'
    '"verification": {"allowed": ["tests"], "forbidden": ["build"], "required": ["tests"]},\n'
    '"delivery": "local_files", "commitAllowed": false}'
)
_POLICY = (
    '[limits]\nwriteScope = ["src/", "é/"]\n\n[protect]\nnever = ["a/"]\nloud = ["*.sql"]\n\n[checks.tests]\n'
    'argv = ["pytest", "-q"]\ninputs = ["src/**"]\n\n[checks."a.b"]\nkind = "human"\n'
)
_EVENT = '{"at":1.5,"e":1e21,"list":[true,false,null,-0,9007199254740993],"type":"noted","é":"\\u2028\\n"}'


def _cases(*endings: str) -> tuple[bytes, ...]:
    files = sorted(path for path in CASES.glob("[DP][LP]-*/*") if path.suffix in endings and path.stat().st_size < 3000)
    return tuple(path.read_bytes() for path in files)


def _placing(*pairs: tuple[str, str]) -> tuple[bytes, ...]:
    return tuple(f"{text}\0{patch}".encode() for text, patch in pairs)


PATCH_WORDS = (
    *("diff --git ", "--- ", "+++ ", "@@ -", " @@", "/dev/null", "\\ No newline at end of file", "rename from "),
    *("rename to ", "new file mode 100644", "deleted file mode 100755", "old mode ", "new mode ", "index ", "a/", "b/"),
    *('"a/', '\\"', "\\303", "\\v", "\\t", "GIT binary patch", "Binary files ", "copy from ", "```", "-- \n2.39.5"),
    *("*** Begin Patch", "*** End Patch", "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "),
    *("*** End of File", "\r\n", "<<'EOF'\n", "EOF", "From 0123456789", "160000", "\r"),
)
_PATH_WORDS = (
    *("..", "../", "./", "//", "~", "\\", "C:", "con", "NUL.txt", "com1", ".git", "GIT~1", "**", "*", "?", "[", "]"),
    *("[!", "!", "[z-a]", "\u200b", "\u212a", "ß", "\u0130", "a\u0308", " ", "...", ".contract.json", ".env", "\x7f"),
)
JSON_WORDS = (
    *('"', "{", "}", "[", "]", ":", ",", "null", "true", "1e400", "-0", "NaN", "\\u", "\\ud800", "1E1", "0.0"),
    *(
        "9007199254740993",
        "100000000000000000000",
        "\ufeff",
        "//",
        "[]",
        "{}",
        "[" * 70,
        "[" * 30 + "]" * 30,
        '{"a":' * 70,
    ),
)
_SCHEMA_WORDS = (
    *("taskId", "writeScope", "allowedTools", "verification", "external:", "git_commit", "commitAllowed", "budgets"),
    *(
        "acceptance",
        "expires",
        "limits",
        "checks",
        "argv",
        "inputs",
        "kind",
        '"""',
        "'''",
        "[[",
        "]]",
        " = ",
        "\n[a.b]",
    ),
    *("1979-05-27T07:32:00Z", "0x", "inf", "../", "/etc", '"["', "../x", "é"),
)

_ALL = (
    Target(
        "unified",
        check_patch,
        bug_patch,
        (_CHANGE.encode(), _GIT.encode(), _NEW.encode(), _GONE.encode(), *_cases(".diff")),
        PATCH_WORDS,
    ),
    Target("envelope", check_envelope, bug_envelope, tuple(text.encode() for text in _ENVELOPES), PATCH_WORDS),
    Target(
        "place",
        check_place,
        bug_place,
        _placing(
            (_TEXT, _CHANGE),
            (_TEXT.replace("\n", "\r\n"), _CHANGE),
            ("0\n" + _TEXT + _TEXT, _CHANGE),
            ("x", _NEW),
            (_TEXT, "*** Begin Patch\n" + _UPDATE),
            ("a\rb\r\nc", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\rb\r\n-c\n+d\n"),
        ),
        PATCH_WORDS,
    ),
    Target("contract", check_contract, bug_contract, (_CONTRACT.encode(), b"{}", b"[]"), JSON_WORDS + _SCHEMA_WORDS),
    Target("policy", check_policy, bug_policy, (_POLICY.encode(), b"a = 1"), JSON_WORDS + _SCHEMA_WORDS, longest=1024),
    Target("chain", check_chain, bug_chain, (_EVENT.encode(), b"{}"), JSON_WORDS),
    Target("path", check_path, bug_path, (b"docs/a.md", b"./a b/c.d", "é/ß.py".encode()), _PATH_WORDS, longest=512),
    Target(
        "scope",
        check_scope,
        bug_scope,
        (b"src/\n!src/*.key\nsrc/a.py", b"*.md\n./x\ndocs/**\nx/y.md"),
        _PATH_WORDS,
        longest=512,
    ),
)

TARGETS = {target.name: target for target in _ALL}
