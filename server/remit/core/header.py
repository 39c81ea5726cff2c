"""What stands above the hunks of one file in a unified diff: names, modes, blob ids and git's other extended lines.

unidiff leaves names quoted and cuts off real folders, so names are read here, exactly or not at all.
Format: git-diff(1) "Generating patch text with -p".
Does not live here: hunks (`unified`), whether a path may be written (scope), whether it exists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from remit.core.chunk import Mode
from remit.core.faults import AgentFault, Json
from remit.core.reader import Reader, malformed, shown

NULL = "/dev/null"
BLANKS = 64
"""Blanks in a `diff --git` line up to which every way to read it is tried; with more, git would have to quote."""
_EXTENDED = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|index"
    r"|similarity index|dissimilarity index) (.*)"
)
_BINARY = re.compile(r"Binary files? .* (?:differ|has changed)$|GIT binary patch$")
_INDEX = re.compile(r"([0-9a-f]{40})\.\.([0-9a-f]{40})(?: |$)|([0-9a-f]{64})\.\.([0-9a-f]{64})(?: |$)")
_ABSENT = re.compile(r"\t(?:\((?:nonexistent|revision 0)\)|(?:1970-01-01|1969-12-31) [\d:.]+ [-+]\d{4})$")
"""How Subversion, and GNU diff with -N, say that a side is not there."""
_COMBINED = re.compile(r"diff --(?:cc|combined) |@@@+ -\d")
_SUBMODULE = re.compile(r"Submodule \S+ (?:[0-9a-f]{7,64}\.\.\.?[0-9a-f]{7,64}|contains |\(?(?:new|deleted) submodule)")
_PAIRS = {("a", "b"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("1", "2")}
_PAIRS |= {(new, old) for old, new in _PAIRS}  # git diff -R
_LONGEST = 20_000  # two names of 4,096 bytes, quoted; each blank in the line is one more way to read it
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_PLAIN = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(slots=True)
class Head:
    """One file's header as written. `line`: 1-based, its first. `old` and `new`: the names after --- and +++, without
    quotes. `git`: each way to read the two names behind `diff --git`. `says`: the extended lines by their words.
    `absent`: is the old, is the new side said not to be there, by the time behind its name?
    """

    line: int
    git: list[tuple[str, str]] = field(default_factory=list)
    says: dict[str, str] = field(default_factory=dict)
    old: str | None = None
    new: str | None = None
    absent: tuple[bool, bool] = (False, False)


def begins(reader: Reader) -> bool:
    """Does a file's section begin here?"""
    return reader.peek().startswith("diff --git ") or is_names(reader)


def is_names(reader: Reader, ahead: int = 0) -> bool:
    """Do the lines --- OLD and +++ NEW stand here? A hunk's removed and added line can look the same."""
    return reader.peek(ahead).startswith("--- ") and reader.peek(ahead + 1).startswith("+++ ")


def read(reader: Reader) -> Head:
    """Take the header that begins here. AgentFault: malformed_patch, binary_patch."""
    head = Head(reader.at + 1)
    if reader.peek().startswith("diff --git "):
        head.git = _git_names(reader.peek()[len("diff --git ") :], head.line)
        reader.take()
        while extended := _EXTENDED.fullmatch(reader.peek()):
            head.says[extended[1]] = extended[2]
            reader.take()
        refuse_binary(reader, head.git[0][1])
    if is_names(reader):
        names = [reader.peek(step)[4:] for step in (0, 1)]
        head.old, head.new = (_name(name, head.line) for name in names)
        head.absent = (bool(_ABSENT.search(names[0])), bool(_ABSENT.search(names[1])))
        reader.at += 2
    return head


def refuse_binary(reader: Reader, name: str | None = None) -> None:
    """AgentFault binary_patch where such an entry stands here, under this name or its own line."""
    line = reader.peek()
    if _BINARY.match(line):
        raise AgentFault(
            "binary_patch",
            "The patch changes a binary file.",
            remedy="Leave binary files out; nothing of this patch was used.",
            entry=shown(line if name is None else name),
        )


def refuse_foreign(reader: Reader) -> None:
    """AgentFault combined_diff, special_file, malformed_patch where something stands that is no change of one file."""
    line, number = reader.peek(), reader.at + 1
    if _COMBINED.match(line):
        raise AgentFault(
            "combined_diff",
            "The patch is a merge's combined diff, against several old texts at once.",
            remedy="Send a diff against one of them: git diff, or git show -m --first-parent.",
            line=number,
        )
    if _SUBMODULE.match(line):
        raise _special("of a submodule", shown(line), number)
    if line.startswith("Property changes on: "):
        raise malformed(
            f"Line {number} changes Subversion properties, which nothing here carries out.", number, "Leave them out."
        )


def blobs(head: Head) -> tuple[str | None, str | None]:
    """The old and the new blob id, where the index line has them in full."""
    found = _INDEX.match(head.says.get("index", ""))
    old, new = [blob for blob in found.groups() if blob] if found else ("", "")
    return old if old.strip("0") else None, new if new.strip("0") else None


def mode(head: Head) -> Mode | None:
    """The mode asked for, if any. AgentFault special_file: for a link, a submodule or any other kind of file."""
    modes = {key: value.strip() for key, value in head.says.items() if key.endswith("mode")}
    for kind in [*modes.values(), *re.findall(r" (\d+)$", head.says.get("index", ""))]:
        if kind not in ("100644", "100755"):
            raise _special(f"of mode {shown(kind)[:12]}", shown(kind), head.line)
    said = modes.get("new mode") or modes.get("new file mode")
    return None if said is None else "100755" if said == "100755" else "100644"


def _special(what: str, mode: str, line: int) -> AgentFault:
    return AgentFault(
        "special_file",
        f"The patch is about a link, a submodule or another special file ({what}).",
        remedy="Leave such entries out; only ordinary files can be changed.",
        mode=mode,
        line=line,
    )


def paths(head: Head) -> tuple[str, str]:
    """The old and the new path, prefixes off; they differ in a rename or a copy only.

    AgentFault: malformed_patch where the names do not agree, ambiguous_path.
    """
    keys = ("rename from", "rename to", "copy from", "copy to")
    moved = [_name(head.says[key], head.line) for key in keys if key in head.says]
    if not head.git:
        return _traditional(head.old or "", head.new or "")
    found: set[tuple[str, str]] = set()
    for old, new in head.git:
        if head.old in (None, NULL, old) and head.new in (None, NULL, new):
            bare = _stripped(old, new)
            if moved and moved in (list(bare), [old, new]):
                found.add((moved[0], moved[1]))  # said without prefix, whatever the two names begin with
            elif not moved and bare[0] == bare[1]:
                found.add(bare)
    if len(found) != 1:
        raise malformed(f"The names in the file header at line {head.line} do not agree.", head.line)
    return found.pop()


def _stripped(old: str, new: str) -> tuple[str, str]:
    (one, _, old_path), (two, _, new_path) = old.partition("/"), new.partition("/")
    return (old_path, new_path) if (one, two) in _PAIRS and old_path and new_path else (old, new)


def _traditional(old: str, new: str) -> tuple[str, str]:
    """Names without a `diff --git` line, where a prefix and a real folder can look alike."""
    if NULL in (old, new):
        known = new if old == NULL else old
        prefix, _, rest = known.partition("/")
        if not rest or prefix not in {prefix for pair in _PAIRS for prefix in pair}:
            return known, known
        if prefix == ("b" if old == NULL else "a"):
            return rest, rest
        names = [known, rest]
    else:
        one, two = _stripped(old, new)
        if one == two:
            return one, two
        names = [one, two]
    raise AgentFault(
        "ambiguous_path",
        "It is not clear which file the patch is about.",
        remedy="Use the prefixes a/ and b/ and, for a rename, git's rename lines.",
        candidates=list[Json](map(shown, names)),
    )


def _git_names(text: str, line: int) -> list[tuple[str, str]]:
    """Every way to read `diff --git OLD NEW`: blanks in unquoted names make it several."""
    if len(text) > _LONGEST:
        raise malformed(f"The file header at line {line} is too long.", line)
    if text.startswith('"'):
        quoted = _QUOTED.match(text)
        cuts = [quoted.end()] if quoted else []
    else:
        cuts = [at for at, char in enumerate(text) if char == " "]
        if len(cuts) > BLANKS:
            cuts = [at for at in cuts if at == len(text) // 2]  # the same name twice needs no guess
    names = [(_name(text[:at], line), _name(text[at + 1 :], line)) for at in cuts if text[:at] and text[at + 1 :]]
    if not names:
        raise malformed(f"The file header at line {line} does not have two names.", line)
    return names


def _name(text: str, line: int) -> str:
    """A name as it stands in a header: C-quoted, or up to a TAB (a time follows, or nothing)."""
    quoted = _QUOTED.match(text)
    name = text.partition("\t")[0]
    if quoted:
        raw = quoted[1].encode(errors="surrogateescape")
        if b"\\" in _ESCAPE.sub(b"", raw):
            raise malformed(f"A quoted name at line {line} has an unknown escape.", line)
        name = _ESCAPE.sub(_unescaped, raw).decode(errors="surrogateescape")
    if not name:
        raise malformed(f"A name is missing at line {line}.", line)
    return name


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) if len(code) == 3 else _PLAIN[code[0]]])
