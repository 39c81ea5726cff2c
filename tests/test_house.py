"""The house rules that a machine can check: who imports whom, how long things may grow, what stands where.

Each test collects all offenders and names them, so that one run shows all there is to mend. What ruff and mypy can
say is left to them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "remit"
CORE = PACKAGE / "core"
TESTS = ROOT / "tests"

CORE_FILE_LINES, FILE_LINES, FUNCTION_LINES, DOCSTRING_CHARACTERS = 300, 400, 50, 40
NAMELESS = {"common", "helper", "helpers", "misc", "util", "utils"}
MODULE_NAME = re.compile(r"[a-z][a-z0-9]*|__init__|__main__")
TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "contracts",
    "docs",
    "pyproject.toml",
    "server",
    "tests",
    "vscode-extension",
}
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-setup.lock")


def python_files(*folders: Path) -> list[Path]:
    """All Python files below the folders, but for test cases, which are other people's text."""
    cases = TESTS / "cases"
    found = (path for folder in folders for path in sorted(folder.rglob("*.py")))
    return [path for path in found if not path.is_relative_to(cases)]


def place(path: Path, line: int | None = None) -> str:
    where = path.relative_to(ROOT).as_posix()
    return where if line is None else f"{where}:{line}"


def line_count(path: Path) -> int:
    return len(path.read_bytes().split(b"\n")) - 1


def listing(offenders: list[str]) -> str:
    return "\n  ".join(["", *offenders])


def test_imports_keep_to_the_floors() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_says_what_lives_there() -> None:
    offenders = [
        place(path)
        for path in python_files(PACKAGE, TESTS)
        if len(ast.get_docstring(ast.parse(path.read_bytes())) or "") < DOCSTRING_CHARACTERS
    ]
    assert not offenders, listing(offenders)


def test_files_stay_within_their_budget() -> None:
    offenders = [
        f"{place(path)}: {lines} lines of {budget}"
        for path in python_files(PACKAGE)
        if (lines := line_count(path)) > (budget := CORE_FILE_LINES if path.is_relative_to(CORE) else FILE_LINES)
    ]
    assert not offenders, listing(offenders)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From the `def` line to the last one, the docstring not counted."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_functions_stay_within_their_budget() -> None:
    offenders = [
        f"{place(path, node.lineno)} {node.name}: {lines} lines of {FUNCTION_LINES}"
        for path in python_files(PACKAGE)
        for node in functions(ast.parse(path.read_bytes()))
        if (lines := function_lines(node)) > FUNCTION_LINES
    ]
    assert not offenders, listing(offenders)


def test_a_module_is_named_by_one_word_that_says_something() -> None:
    names = [*python_files(PACKAGE), *(path for path in PACKAGE.rglob("*") if (path / "__init__.py").is_file())]
    offenders = [place(path) for path in names if path.stem in NAMELESS or not MODULE_NAME.fullmatch(path.stem)]
    assert not offenders, listing(offenders)


def test_each_core_module_has_its_own_test_file() -> None:
    missing = []
    for path in python_files(CORE):
        own = TESTS / "core" / path.relative_to(CORE).with_name(f"test_{path.name}")
        if path.name != "__init__.py" and not own.is_file():
            missing.append(f"{place(path)} wants {place(own)}")
    assert not missing, listing(missing)


def attributes(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, full dotted text and last word of each attribute, and of each name a `from` import brings in."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node), node.attr
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}", alias.name


def test_lines_end_where_editors_end_them() -> None:
    """`splitlines` cuts at eight more characters than an editor does, so a line number means two things."""
    offenders = [
        place(path, line)
        for path in python_files(PACKAGE, TESTS)
        for line, _, word in attributes(path)
        if word == "splitlines"
    ]
    assert not offenders, listing(offenders)


def test_tests_neither_sleep_nor_look_away() -> None:
    sleeps = {"time.sleep", "asyncio.sleep", "anyio.sleep"}
    excuses = {"importorskip", "skip", "skipif", "skipTest", "xfail"}
    offenders = [
        f"{place(path, line)} {text}"
        for path in python_files(TESTS)
        for line, text, word in attributes(path)
        if text in sleeps or (word in excuses and text.startswith(("pytest.", "unittest.", "self.")))
    ]
    assert not offenders, listing(offenders)


def test_the_top_level_is_fixed() -> None:
    offenders = [
        path.name
        for path in sorted(ROOT.iterdir())
        if path.name not in TOP_LEVEL and path.suffix != ".lock" and not path.name.startswith(".")
    ]
    assert not offenders, listing(offenders)


def test_the_readme_names_the_words() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [word for word in ("make demo", "make test", "make check") if word not in text]
    assert not missing, f"README.md does not say: {', '.join(missing)}"


def lock_entries(name: str) -> list[str]:
    """Each requirement with its hashes on one line; comments left out."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("#")]


def lock_pins(name: str) -> dict[str, str]:
    pins = (entry.split(" ")[0].partition("==") for entry in lock_entries(name))
    return {package: version for package, _, version in pins}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_each_package_by_hash(name: str) -> None:
    entries = lock_entries(name)
    unpinned = [
        entry for entry in entries if not re.match(r"[a-z0-9-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}(?![0-9a-f])", entry)
    ]
    assert entries, f"{name} is empty"
    assert not unpinned, listing(unpinned)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_place(name: str) -> None:
    """Neither an index nor a folder: a lock must mean the same on every machine."""
    lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
    places = [
        f"{name}:{number} {line}"
        for number, line in enumerate(lines, 1)
        if re.search(r"://|file:|\s@\s|^\s*(-i|-f|--(?!hash=)[a-z-]+)\b|(^|\s)/", line)
    ]
    assert not places, listing(places)


def asked() -> dict[str, list[Requirement]]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = [Requirement(text) for text in project["project"]["dependencies"]]
    groups = {name: [Requirement(text) for text in texts] for name, texts in project["dependency-groups"].items()}
    return dict(zip(LOCKS, (runtime, runtime + groups["dev"], groups["setup"]), strict=True))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_answers_what_the_project_asks_for(name: str) -> None:
    pins = lock_pins(name)
    stale = [
        f"{wanted} but {name} has {pins.get(canonicalize_name(wanted.name), 'nothing')}; run `make lock`"
        for wanted in asked()[name]
        if not wanted.specifier.contains(pins.get(canonicalize_name(wanted.name), "0"), prereleases=True)
    ]
    assert not stale, listing(stale)


def test_both_locks_agree() -> None:
    apart = lock_pins(LOCKS[0]).items() - lock_pins(LOCKS[1]).items()
    assert not apart, listing([f"{name}=={version} only in {LOCKS[0]}" for name, version in sorted(apart)])
