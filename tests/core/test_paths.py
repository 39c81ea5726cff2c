"""What a name means, what a scope lets in, and how dangerous a path is. No file is touched here but the cases."""

from __future__ import annotations

import json
import posixpath
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from remit.core import paths
from remit.core.faults import AgentFault, Fault, UserFault

CASES = Path(__file__).parents[1] / "cases"


def scenario(case: str) -> Any:
    return json.loads((CASES / case / "scenario.json").read_text("utf-8"))


def refusal(raw: str, *, portable: bool = True) -> str:
    with pytest.raises(AgentFault) as caught:
        paths.parse(raw, portable=portable)
    assert len(caught.value.message) <= 100
    json.dumps(caught.value.data).encode("utf-8")
    return caught.value.code


@pytest.mark.parametrize("raw", ["docs/a.md", "a", ".gitignore", "Prüf liste/x", "a..b", "..foo", "~weird.txt", "日本"])
def test_a_plain_path_is_kept_as_it_is(raw: str) -> None:
    assert paths.parse(raw) == raw
    assert paths.parse("./" + raw) == raw


@pytest.mark.parametrize(
    "raw", ["/etc/x", "../x", "a/../../x", "a/..", "..", "./../x", "/", "~", "~/x", ".. /x", "... /x"]
)
def test_a_path_that_leads_out_is_named_so(raw: str) -> None:
    assert refusal(raw) == "outside_scope"


BAD_NAMES = [
    *("", ".", "./", "././a", "a//b", "a/", "a/./b", "x\0y", "a\nb", "a\u202eb", "a\u200db", "a\u2028b", "a\x85b"),
    *("a\ud800b", "a\\b", "C:x", "c:/x", "a:b", "a.", "a /b", "nul", "NUL.txt", "com1.log", "LPT\u00b9", "conin$"),
    *("x" * 256, "é" * 128, "a/" * 2048 + "a"),
]


@pytest.mark.parametrize("raw", BAD_NAMES)
def test_a_name_that_cannot_be_used_is_refused(raw: str) -> None:
    assert refusal(raw) == "bad_path"


def test_reading_goes_on_after_a_refusal_with_the_name_shown() -> None:
    with pytest.raises(AgentFault) as caught:
        paths.parse("a\ud800b")
    assert caught.value.data == {
        "path": "a\\ud800b",
        "reason": "it contains the invisible or unwritable character U+D800",
    }


def test_case_ps_08_portable_names() -> None:
    case = scenario("PS-08")
    for raw in case["reject_windows"]:
        assert refusal(raw) in {"bad_path", "outside_scope"}
    for raw in case["reject_everywhere"]:
        assert refusal(raw, portable=False) in {"bad_path", "outside_scope"}
    for raw in case["allowed_linux"]:
        assert paths.parse(raw, portable=False) == raw


def test_case_ps_04_every_spelling_of_git_is_never_writable() -> None:
    case = scenario("PS-04")
    assert [(path, paths.rank(path).tier) for path in case["paths"]] == [(path, "never") for path in case["paths"]]
    assert [path for path in case["allowed"] if paths.rank(path).tier in ("never", "loud")] == []


def test_case_ps_03_configuration_that_runs_code_is_loud() -> None:
    named = re.findall(r"[^\s,]*\.[\w./*-]+", " ".join(step[1] for step in scenario("PS-03")["steps"]))
    concrete = [name.replace("*", "my") for name in named]
    assert ".vscode/tasks.json" in concrete and ".github/workflows/x.yml" in concrete
    assert {name: paths.rank(name).tier for name in concrete} == dict.fromkeys(concrete, "loud")
    assert paths.rank(".remit/policy.toml").tier == "never"


@pytest.mark.parametrize(
    ("path", "tier", "rule"),
    [
        (".git", "never", ".git"),
        ("a/.GIT/hooks/x", "never", ".git"),
        ("GIT~1/x", "never", ".git"),
        (".remit/contracts/a.json", "never", ".remit"),
        ("REMIT~1/x", "never", ".remit"),
        (".ReMit /x", "never", ".remit"),
        ("deep/task.contract.json", "never", "*.contract.json"),
        ("TASK.CONTRACT.JSON.", "never", "*.contract.json"),
        ("docs/.remit-7-0.tmp", "never", ".remit-*"),
        (".vscode/tasks.json", "loud", ".vscode"),
        ("sub/.VSCODE", "loud", ".vscode"),
        (".gitmodules", "loud", ".gitmodules"),
        (".github/Workflows/ci.yml", "loud", ".github/workflows"),
        ("a/.github/workflows/ci.yml", "loud", ".github/workflows"),
        ("agents.md", "loud", "AGENTS.md"),
        (".env", "loud", ".env*"),
        (".env.local", "loud", ".env*"),
        (".envrc", "loud", ".env*"),
        ("venv/bin/python3.11", "loud", "bin/python*"),
        ("lib/site-packages/x.pth", "loud", "*.pth"),
        (".Zſhrc", "loud", ".zshrc"),
        ("hub.git/hooks/x", "loud", "*.git"),
        ("Makefile", "marked", "Makefile"),
        ("tests/conftest.py", "marked", "conftest.py"),
        ("PACKAGE.JSON", "marked", "package.json"),
        ("web/Dockerfile.dev", "marked", "Dockerfile.*"),
        (".github/CODEOWNERS", "plain", ""),
        (".gitignore", "plain", ""),
        ("git/notes.md", "plain", ""),
        ("environment.py", "plain", ""),
        ("src/python/bin.py", "plain", ""),
        ("build/out.txt", "plain", ""),
        ("docs/agents.md.txt", "plain", ""),
        ("contract.json", "plain", ""),
    ],
)
def test_rank(path: str, tier: str, rule: str) -> None:
    assert paths.rank(path) == paths.Rank(tier, rule)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("patterns", "path", "decided"),
    [
        (["docs/"], "docs/a.md", "docs/"),
        (["docs"], "docs/deep/a.md", "docs"),
        (["docs"], "docs", "docs"),
        (["docs/"], "docs", None),
        (["docs"], "docs_evil/a.md", None),
        (["docs"], "docs.md", None),
        (["docs"], "src/docs/a.md", None),
        (["./docs/"], "docs/a.md", "./docs/"),
        (["."], "any/thing", "."),
        (["**"], "any/thing", "**"),
        (["docs/**"], "docs", None),
        (["docs/**"], "docs/a/b", "docs/**"),
        (["*.md"], "a.md", "*.md"),
        (["*.md"], "docs/a.md", "*.md"),
        (["./*.md"], "docs/a.md", None),
        (["./*.md"], "a.md", "./*.md"),
        (["**/*.md"], "a.md", "**/*.md"),
        (["**/*.md"], "x/y/a.md", "**/*.md"),
        (["src/*/test_?.py"], "src/pkg/test_a.py", "src/*/test_?.py"),
        (["src/*/test_?.py"], "src/a/b/test_a.py", None),
        (["a[!x]b"], "a/b", None),
        (["a[^x]b"], "acb", "a[^x]b"),
        (["docs", "!docs/private"], "docs/private/a", None),
        (["docs", "!docs/private", "docs/private/ok.md"], "docs/private/ok.md", "docs/private/ok.md"),
        (["**", "!*.key"], "deep/in/a.key", None),
        (["**", "!*.key"], "deep/in/a.keys", "**"),
        (["**", "!docs"], "src/docs/a", "**"),
        (["docs"], "docs/../src/a", None),
        (["docs"], "docs\n", None),
        (["docs"], "docs//a", None),
        (["docs"], "Docs/a", None),
        ([], "a", None),
    ],
)
def test_the_last_entry_that_covers_a_path_decides(patterns: list[str], path: str, decided: str | None) -> None:
    assert paths.Scope(patterns).match(path) == decided


def test_folded_matching_knows_case_and_composition() -> None:
    scope = paths.Scope(["Docs/Prüf", "!docs/prüf/geheim*"])
    decomposed = unicodedata.normalize("NFD", "docs/PRÜF/a.md")
    assert scope.match(decomposed) is None
    assert scope.match(decomposed, folded=True) == "Docs/Prüf"
    assert scope.match("DOCS/prüf/GEHEIM.md", folded=True) is None


BAD_ENTRIES = [
    *("", "  ", "!", "/", "/docs", "!/docs", "..", "a/../b", "!../x", "a//b", "a/./b", "~/x", "C:/x", "a\\b", " a"),
    *("a ", "a\0", "[z-a].md", "docs/[ab", "x" * 256),
]


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_an_entry_that_can_match_nothing_is_an_error_at_its_place(entry: str) -> None:
    with pytest.raises(UserFault) as caught:
        paths.Scope(["docs/", entry])
    assert (caught.value.code, caught.value.data["index"]) == ("bad_pattern", 1)
    assert len(caught.value.message) <= 100


def test_many_stars_do_not_make_matching_slow() -> None:
    pattern = paths.Pattern.parse("a*" * 60 + "b/**/" * 20 + "z")
    assert not pattern.covers("a" * 255 + "/" + "b/" * 500 + "y")


names = st.text(st.sampled_from("ab.*-_é"), min_size=1, max_size=4).filter(lambda name: name.strip(".") != "")
files = st.lists(names.filter(lambda name: "*" not in name), min_size=1, max_size=4).map("/".join)


@settings(max_examples=200)
@given(
    st.text(max_size=40) | files | st.lists(st.sampled_from(["..", ".", "", "a", "~", "b "]), max_size=5).map("/".join)
)
@example("\ud800")
def test_what_parse_takes_stays_inside(raw: str) -> None:
    for portable in (True, False):
        try:
            path, code = paths.parse(raw, portable=portable), ""
        except Fault as fault:
            path, code = "refused", fault.code
        assert code in {"", "bad_path", "outside_scope"}
        assert posixpath.normpath(posixpath.join("/ws/root", path)) == "/ws/root/" + path
        assert paths.parse(path, portable=portable) == path


@settings(max_examples=200)
@given(st.text(max_size=20))
@example("e\u200d\u0301")
@example("\u0345\u0308")
def test_folding_twice_is_folding_once(path: str) -> None:
    once = paths.fold(path)
    assert paths.fold(once) == once
    assert paths.fold(unicodedata.normalize("NFD", path)) == once == paths.fold(unicodedata.normalize("NFC", path))


@settings(max_examples=200)
@given(files, files, names.filter(lambda name: "*" not in name))
def test_a_literal_entry_never_reaches_a_sibling(entry: str, path: str, suffix: str) -> None:
    inside = path == entry or path.startswith(entry + "/")
    assert (paths.Scope([entry]).match(path) is not None) == inside
    assert paths.Scope([entry]).match(entry + suffix + "/" + path) is None
    assert paths.Scope([entry]).match(entry + "/" + path) == entry


globs = names.map(lambda name: re.sub(r"\*+", "*", name))


@settings(max_examples=200)
@given(st.lists(globs | st.just("**"), min_size=2, max_size=4), st.booleans(), files)
def test_anchored_globs_mean_what_gitignore_means(parts: list[str], below: bool, path: str) -> None:
    # Of one part only, a glob is meant for every folder.
    # pathspec reads a last "**/" as "**"; git and we want a folder there.
    entry = "/".join(parts) + "/" * (below and parts[-1] != "**")
    ignore = GitIgnoreSpecPattern("/" + entry)
    assert paths.Pattern.parse("./" + entry).covers(path) == (ignore.match_file(path) is not None)
