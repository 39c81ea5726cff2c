"""Which file does this name mean, may the task write it, and how dangerous is it?

Paths are workspace-relative POSIX strings ("docs/a.md"). Everything here is decided from the text alone, so it says
the same for a path that exists and for one that does not. Whether a link leads elsewhere is the disk's to answer.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from remit.core.faults import AgentFault, UserFault

Tier = Literal["never", "loud", "marked", "plain"]

_COMPONENT_BYTES = 255
_PATH_BYTES = 4095
_UNSHOWABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DRIVE = re.compile(r"[A-Za-z]:")
# CONIN$, CONOUT$ and the superscript digits are devices too:
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\Z", re.IGNORECASE)
_SHORT_NAME = re.compile(r"([^~]{1,6})~[0-9]\Z")
_GLOB = frozenset("*?[")
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")


def parse(raw: str, *, portable: bool = True) -> str:
    """`raw` as a workspace-relative path; only one leading "./" is taken off, nothing else is changed.

    `portable` refuses what Windows reads as another name (devices, streams, trailing dots and blanks); pass False
    where the platform is known to be POSIX. Raises AgentFault `bad_path` (data: path, reason) and `outside_scope`.
    """
    path = raw.removeprefix("./")
    if reason := _unshowable(path):
        raise _bad_path(raw, reason)
    if "\\" in path:
        raise _bad_path(raw, "it contains a backslash")
    parts = path.split("/")
    if path.startswith("/") or parts[0] == "~" or any(_climbs(part, portable) for part in parts):
        raise AgentFault(
            "outside_scope",
            "The path leads out of the workspace.",
            remedy="Give a path relative to the workspace root, without '..'.",
            path=_printable(raw),
        )
    if _DRIVE.match(path):
        raise _bad_path(raw, "it starts with a drive letter")
    if len(path.encode()) > _PATH_BYTES:
        raise _bad_path(raw, f"it is longer than {_PATH_BYTES} bytes")
    for part in parts:
        if reason := _bad_component(part) or (_unportable(part) if portable else ""):
            raise _bad_path(raw, reason)
    return path


def fold(path: str) -> str:
    """The form in which two names are compared that any file system might hold to be one: case, Unicode, ignorables."""
    visible = "".join(char for char in path if unicodedata.category(char) != "Cf")
    # Case folding can leave a text that is no longer composed, and composing can give one that folds further.
    once = unicodedata.normalize("NFC", unicodedata.normalize("NFD", visible).casefold())
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", once).casefold())


@dataclass(frozen=True, slots=True)
class Pattern:
    """One scope entry, split into components. `directory`: it ended in "/" and so matches only what is below it."""

    text: str
    excludes: bool
    directory: bool
    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, index: int = 0) -> Pattern:
        """The entry in `text`; raises UserFault `bad_pattern` (data: index, pattern, reason)."""
        excludes = text.startswith("!")
        body = text.removeprefix("!")
        if reason := _bad_pattern(body):
            raise UserFault(
                "bad_pattern",
                f"Scope entry {index + 1} can never match: {reason}.",
                remedy="Write a directory, a file or a glob relative to the workspace root.",
                index=index,
                pattern=_printable(text),
                reason=reason,
            )
        rooted = body.startswith("./")
        body = body.removeprefix("./").removesuffix("/")
        parts = tuple(body.split("/")) if body not in ("", ".") else ()
        # As in a .gitignore, a glob without a slash is meant for every folder ("!*.key", "*.md"); "./*.md" and a plain
        # name are bound to the root, so that "docs" can never mean another "docs" further down.
        if len(parts) == 1 and _GLOB & set(parts[0]) and not rooted:
            parts = ("**", *parts)
        return cls(text, excludes, bool(parts) and text.endswith("/"), parts)

    def covers(self, path: str, *, folded: bool = False) -> bool:
        """Whether the entry names this file or a directory above it, component by component."""
        names = (fold(path) if folded else path).split("/")
        reached = {0}
        for position, part in enumerate(self.parts):
            if part == "**":
                least = min(reached) + (position == len(self.parts) - 1)
                reached = set(range(least, len(names) + 1))
            else:
                matches = _matcher(fold(part) if folded else part)
                reached = {at + 1 for at in reached if at < len(names) and matches.match(names[at])}
            if not reached:
                return False
        return min(reached) < len(names) if self.directory else True


class Scope:
    """The entries of one `writeScope` or `readScope`, in order; the last that covers a path decides."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(Pattern.parse(text, index) for index, text in enumerate(patterns))

    def match(self, path: str, *, folded: bool = False) -> str | None:
        """The text of the entry that lets `path` in, or None. `folded`: as a case-insensitive file system compares."""
        if _unshowable(path) or any(part in ("", ".", "..") for part in path.split("/")):
            return None
        for pattern in reversed(self.patterns):
            if pattern.covers(path, folded=folded):
                return None if pattern.excludes else pattern.text
        return None


@dataclass(frozen=True, slots=True)
class Rank:
    """How much a change of a path matters, and the rule that says so ("" for plain)."""

    tier: Tier
    rule: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# A rule is a run of components found anywhere in the path; what lies below it is covered too.
_NEVER = (".git", ".remit", ".remit-*", "*.contract.json")
_LOUD = _words(
    """
    .gitmodules .gitattributes .gitconfig .git-credentials *.git .githooks .husky .lefthook lefthook.y*ml
    .lefthook.y*ml .overcommit.yml .pre-commit-config.y*ml .pre-commit-hooks.y*ml .simple-git-hooks.*
    .vscode .vscode-server .idea .run .vs .fleet .zed .nova .devcontainer .devcontainer.json *.code-workspace
    *.sublime-project .vimrc .nvimrc .exrc .nvim.lua .dir-locals.el .gdbinit .lldbinit
    .cursor .cursorrules .claude .codex .gemini .agents .copilot .continue .windsurf .windsurfrules .clinerules .roo
    .roorules .kilocode .kiro .junie .amazonq .opencode .trae .aider* .mcp.json mcp.json opencode.json*
    AGENTS.md AGENTS.*.md CLAUDE.md CLAUDE.*.md GEMINI.md .github/copilot-instructions.md .github/instructions
    .github/prompts .github/chatmodes .github/agents .github/hooks
    .github/workflows .github/actions .forgejo/workflows .gitea/workflows .gitlab-ci.y*ml .gitlab/ci .circleci
    .buildkite .teamcity .travis.yml .drone.yml .woodpecker* Jenkinsfile azure-pipelines*.y*ml
    bitbucket-pipelines.yml appveyor.yml .appveyor.yml cloudbuild.y*ml
    .env* .direnv .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml pip.conf pip.ini .pypirc .netrc .cargo/config
    .cargo/config.toml .bazelrc mise.toml .mise.toml .ssh .gnupg .aws .docker/config.json
    sitecustomize.py usercustomize.py *.pth pyvenv.cfg bin/python* bin/activate* bin/pip* Scripts/python*
    Scripts/activate* .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
    .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc fish/config.fish fish/conf.d .xprofile .xinitrc
    """
)
_MARKED = _words(
    """
    Makefile GNUmakefile *.mk justfile .justfile Taskfile.y*ml Rakefile Gemfile *.gemspec package.json *.config.js
    *.config.cjs *.config.mjs *.config.ts conftest.py setup.py setup.cfg pyproject.toml pytest.ini tox.ini noxfile.py
    tasks.py Pipfile requirements*.txt Dockerfile Dockerfile.* *.dockerfile Containerfile docker-compose*.y*ml
    compose.y*ml Vagrantfile Procfile CMakeLists.txt *.cmake meson.build configure.ac build.gradle*
    settings.gradle* gradle.properties gradlew gradlew.bat pom.xml build.xml build.sbt Cargo.toml build.rs go.mod
    composer.json BUILD.bazel WORKSPACE.bazel MODULE.bazel flake.nix shell.nix default.nix *.csproj *.targets *.props
    .tool-versions .lintstagedrc* .eslintrc* .babelrc* .mocharc* .rspec package-lock.json yarn.lock pnpm-lock.yaml
    uv.lock poetry.lock Cargo.lock
    """
)
_TIERS: tuple[tuple[Tier, tuple[str, ...]], ...] = (("never", _NEVER), ("loud", _LOUD), ("marked", _MARKED))
_RANKS = (*(Rank(tier, rule) for tier, rules in _TIERS for rule in rules), Rank("plain", ""))


def rank(path: str) -> Rank:
    """The tier of `path` by its components, as any file system would compare them; also for paths `parse` refuses."""
    names = [_protected_form(part) for part in path.split("/")]
    found = (hit for at, name in enumerate(names) for hit in _hits(name, names[at + 1 :]))
    return _RANKS[min(found, default=-1)]


def _hits(name: str, below: Sequence[str]) -> Iterator[int]:
    """The places in `_RANKS` of the rules that begin at this component."""
    if name in _WORDS:
        yield _WORDS[name]
    # GIT~1 is what a FAT or NTFS volume may call ".git": dots dropped, six characters kept.
    short = _SHORT_NAME.match(name)
    if short and short[1] in _SHORT:
        yield _SHORT[short[1]]
    for place, first, rest in _GLOBS:
        if first.match(name) and len(rest) <= len(below) and all(map(re.Pattern.match, rest, below)):
            yield place


def _protected_form(part: str) -> str:
    """A component as Windows and HFS+ would resolve it: no stream, no trailing dots or blanks, folded."""
    return fold(part).split(":", 1)[0].rstrip(" .")


def _matcher(part: str) -> re.Pattern[str]:
    found = _MATCHERS.get(part)
    if found is None:
        if len(_MATCHERS) > 4096:
            _MATCHERS.clear()
        # fnmatch writes atomic groups, so no pattern makes it backtrack for ever; "[^" is gitignore's other "[!".
        found = _MATCHERS[part] = re.compile(fnmatch.translate(part.replace("[^", "[!")))
    return found


_MATCHERS: dict[str, re.Pattern[str]] = {}

# The rules by how they are found: whole words, short names of dotted words, and all others by pattern.
_FOLDED = tuple((place, fold(found.rule)) for place, found in enumerate(_RANKS[:-1]))
_WORDS = {rule: place for place, rule in _FOLDED if not set(rule) & {*_GLOB, "/"}}
_SHORT = {rule.replace(".", "")[:6]: place for rule, place in reversed(_WORDS.items()) if rule.startswith(".")}
_GLOBS = tuple(
    (place, _matcher(rule.split("/")[0]), [_matcher(part) for part in rule.split("/")[1:]])
    for place, rule in _FOLDED
    if rule not in _WORDS
)


def _unshowable(path: str) -> str:
    for char in path:
        if unicodedata.category(char) in _UNSHOWABLE:
            return f"it contains the invisible or unwritable character U+{ord(char):04X}"
    return ""


def _climbs(part: str, portable: bool) -> bool:
    return part == ".." or (portable and len(part) > 2 and part.startswith("..") and not part.strip(". "))


def _bad_component(part: str) -> str:
    if part in ("", "."):
        return "a component is empty" if not part else "a component is '.'"
    return f"a component is longer than {_COMPONENT_BYTES} bytes" if len(part.encode()) > _COMPONENT_BYTES else ""


def _unportable(part: str) -> str:
    if ":" in part:
        return "it contains ':'"
    if part[-1] in ". ":
        return "a component ends in a dot or a blank"
    return "a component is a Windows device name" if _DEVICE.match(part.split(".", 1)[0].rstrip(" ")) else ""


def _bad_pattern(body: str) -> str:
    parts = body.removeprefix("./").removesuffix("/").split("/")
    if not body.strip():
        return "it is empty"
    if reason := _unshowable(body):
        return reason
    if body.startswith("/") or parts[0] == "~" or _DRIVE.match(body):
        return "it is absolute"
    if "\\" in body:
        return "it contains a backslash"
    if ".." in parts:
        return "it contains '..'"
    if body not in (".", "./") and any(part in ("", ".") for part in parts):
        return "it has an empty component"
    if body != body.strip() or any(len(part.encode()) > _COMPONENT_BYTES for part in parts):
        return "no file has such a name"
    return "a '[' is never closed or its range is empty" if any(map(_broken_class, parts)) else ""


def _broken_class(part: str) -> bool:
    return "[" in _CLASS.sub("", part) or "(?!)" in fnmatch.translate(part.replace("[^", "[!"))


def _bad_path(raw: str, reason: str) -> AgentFault:
    return AgentFault(
        "bad_path",
        f"This path cannot be used: {reason}."[:100],
        remedy="Give a plain relative path with '/' between its components.",
        path=_printable(raw),
        reason=reason,
    )


def _printable(raw: str) -> str:
    """`raw` as text that any JSON writer can encode: lone surrogates become escapes."""
    return raw.encode("utf-8", "backslashreplace").decode("utf-8")
