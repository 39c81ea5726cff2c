"""`contracts/` says what the code says: schemas, examples and documents, each compared in both directions.

What the examples are is told in `contracts/README.md`. Nothing here knows how the models come to be.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote, urlsplit

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types
from pydantic import ValidationError

from fakes import Bench, sha
from remit.core import events, source
from remit.core.events import Event
from remit.core.faults import PARTIES, AgentFault, to_dict
from remit.core.finding import region_of
from remit.core.overview import overview
from remit.core.proposal import Proposal
from remit.core.verbs import VERBS
from remit.edges import schemas
from remit.edges.lsp import convert, view
from remit.edges.lsp.door import Opener
from remit.edges.lsp.server import build
from remit.edges.socket.server import YIELD
from remit.mediator import NEEDS_TASK

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "remit"
CONTRACTS = ROOT / "contracts"
VALID, INVALID = CONTRACTS / "examples" / "valid", CONTRACTS / "examples" / "invalid"
DIAGNOSTICS = PACKAGE / "edges" / "lsp" / "diagnostics.md"
TEXTS = ("contract", "policy")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def kind(path: Path) -> str:
    """`seed.contract.json` is a contract; `policy.toml` is the policy."""
    return path.name.split(".")[-2]


def value(path: Path) -> Any:
    return tomllib.loads(text(path)) if path.suffix == ".toml" else json.loads(text(path))


def ids(path: Path) -> str:
    return path.name


def validator(name: str) -> Any:
    return Draft202012Validator(schemas.schema(name))


# --- what is generated ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*(f"{name}.schema.json" for name in schemas.SCHEMAS), "methods.md"])
def test_what_is_written_from_the_models_is_up_to_date(name: str) -> None:
    path = CONTRACTS / name
    made = schemas.files(text(CONTRACTS / "methods.md"))[name]
    assert path.is_file() and text(path) == made, f"contracts/{name} is out of date; run `make contracts`"


def test_no_schema_is_left_over() -> None:
    there = {path.name for path in CONTRACTS.glob("*.schema.json")}
    assert there == {f"{name}.schema.json" for name in schemas.SCHEMAS}


def test_the_generator_mends_a_file_that_is_out_of_date(tmp_path: Path) -> None:
    old = text(CONTRACTS / "methods.md").replace("### propose_patch", "### propose_something")
    (tmp_path / "methods.md").write_text(old, encoding="utf-8")
    schemas.write(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert text(path) == text(CONTRACTS / path.name)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_schema_is_one_and_knows_no_place(name: str) -> None:
    made = schemas.schema(name)
    Draft202012Validator.check_schema(made)
    assert made["$id"] == f"{name}.schema.json" and made["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


def test_names_on_the_wire_are_camel_case() -> None:
    def names(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from node.get("properties", {})
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from names(child)

    every = {name for one in schemas.SCHEMAS for name in names(schemas.schema(one))}
    assert "writeScope" in every and not [name for name in every if not re.fullmatch(r"[a-z][A-Za-z0-9]*", name)]


# --- examples ---------------------------------------------------------------------------------------------------------

ACCEPTED = sorted(VALID.iterdir())
REFUSED = sorted(path for path in INVALID.iterdir() if not path.name.endswith(".why.json"))


@pytest.mark.parametrize("path", ACCEPTED, ids=ids)
def test_a_valid_example_is_accepted(path: Path) -> None:
    name, found = "policy" if path.name == "policy.toml" else kind(path), value(path)
    assert [error.message for error in validator(name).iter_errors(found)] == []
    if name in TEXTS:
        read = getattr(source, name)(text(path))
        assert read.problems == () and read.value is not None
    else:
        model = schemas.SCHEMAS[name][0].validate_python(found, by_alias=True, by_name=False)
        assert model.wire() == found


def test_every_schema_has_examples_of_both_kinds() -> None:
    assert {kind(path) for path in ACCEPTED if path.name != "policy.toml"} | {"policy"} == set(schemas.SCHEMAS)
    assert {kind(path) for path in REFUSED} == set(schemas.SCHEMAS)


def test_there_is_an_event_of_each_type() -> None:
    union, _ = get_args(Event)
    types = {model.model_fields["type"].default for model in get_args(union)}
    assert {path.name for path in VALID.glob("*.event.json")} == {f"{name}.event.json" for name in types}
    for path in VALID.glob("*.event.json"):
        assert value(path)["type"] == path.name.split(".")[0]
        assert events.encode(events.decode(value(path))) == value(path)


@pytest.mark.parametrize("path", REFUSED, ids=ids)
def test_an_invalid_example_is_refused_as_it_says(path: Path) -> None:
    why, name = value(path.with_suffix("").with_suffix(f".{kind(path)}.why.json")), kind(path)
    assert why["problems"] and seen_by_schema(path, name) == why["schema"]
    if name in TEXTS:
        read = getattr(source, name)(text(path))
        assert read.value is None
        found = [(one.message, region_of(read.text, one.span)) for one in read.problems]
        assert [(message, [at.line, at.column, at.end_line, at.end_column]) for message, at in found] == [
            (one["message"], one["range"]) for one in why["problems"]
        ]
        return
    with pytest.raises(ValidationError) as caught:
        schemas.SCHEMAS[name][0].validate_python(value(path), by_alias=True, by_name=False)
    problems = [{"kind": one["type"], "at": list(one["loc"])} for one in caught.value.errors()]
    # A verdict is one of three: that it is none of the other two either is no news.
    assert [one for one in why["problems"] if one not in problems] == []


def seen_by_schema(path: Path, name: str) -> str:
    try:
        return "passes" if validator(name).is_valid(value(path)) else "refuses"
    except ValueError:
        return "unreadable"


def test_each_reason_has_its_example() -> None:
    reasons = {path.name.removesuffix(".why.json") for path in INVALID.glob("*.why.json")}
    assert reasons == {path.name.removesuffix(path.suffix) for path in REFUSED}


def test_the_example_proposal_leads_where_it_says() -> None:
    made = Proposal.model_validate(value(VALID / "change.proposal.json"), by_alias=True, by_name=False)
    outline = value(VALID / "proposed.event.json")
    # Approvals in journals that exist are bound to this digest: it may not come out otherwise one day.
    assert (outline["digest"], outline["body"]) == (made.digest(), sha(made.body()))
    assert [file["hunks"] for file in outline["files"]] == [[hunk.id for hunk in file.hunks] for file in made.files]


def test_a_fault_is_what_the_verdict_says() -> None:
    for party in PARTIES.values():
        fault = party("some_code", "Something.", remedy="Do this.", lines=[1, 2], where={"path": None})
        assert validator("verdict").is_valid(to_dict(fault))
    assert schemas.Refusal.model_validate(to_dict(AgentFault("some_code", "Something."))).party == "agent"


def test_the_seed_contract_is_clean_in_an_empty_folder() -> None:
    path, seed = "seed.contract.json", (VALID / "seed.contract.json").read_bytes()
    bench = Bench()
    bench.disk.files[path] = seed
    bench.open(path)
    codes = {found.code: found.severity for found in bench.session.findings()}
    assert codes == {"contract-not-active": "information", "scope-empty": "warning"}
    assert bench.activate(path) == "task-example"
    codes = {found.code: found.severity for found in bench.session.findings()}
    assert codes == {"check-not-run": "hint", "scope-empty": "warning"}


# --- methods.md -------------------------------------------------------------------------------------------------------


def section(title: str) -> str:
    """The text under one heading, up to the next one of its level or above."""
    level = len(title.split(" ")[0])
    head, rest = text(CONTRACTS / "methods.md").split(f"\n{title}\n", 1)
    assert head
    return re.split(rf"(?m)^#{{1,{level}}} ", rest)[0]


def rows(title: str) -> list[list[str]]:
    """The cells of every table row under a heading, without heads."""
    lines = [line for line in section(title).split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0].startswith("`")]


def names(title: str) -> list[str]:
    return [row[0].strip("`") for row in rows(title)]


def door() -> Any:
    def never(*_arguments: Any) -> Any:
        raise AssertionError("nothing is opened here")

    return build(Opener(never, never, never, never), "0")[0].protocol.fm


def test_methods_names_every_lsp_method_and_no_other() -> None:
    served = {name for name in door().features if not name.startswith("remit/")}
    assert set(names("### LSP methods served")) == served


def test_methods_names_every_method_of_our_own() -> None:
    said = {
        node.value
        for path in sorted((PACKAGE / "edges" / "lsp").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"remit/\w+", node.value)
    }
    assert set(names("### Our own methods")[: len(said)]) == said


def test_methods_names_every_field_of_the_view() -> None:
    fields = [name for name in names("### Our own methods") if "/" not in name]
    assert fields == list(overview(Bench().session.peek()))


def test_methods_names_every_command() -> None:
    assert set(names("### Commands")) == set(door().commands)


def test_methods_names_every_verb() -> None:
    heads = re.findall(r"(?m)^### (\w+)$", text(CONTRACTS / "methods.md").split(schemas.BEGIN)[1])
    assert [head for head in heads if head not in ("hello", "Shapes")] == list(VERBS)
    assert names("### How to call a verb") == list(VERBS)
    bound = re.search(r"task is needed \((.*?)\)", section("### How to call a verb"))
    assert bound is not None and set(re.findall(r"`(\w+)`", bound[1])) == NEEDS_TASK
    assert f"`{YIELD}`" in section("#### Who may come in")


def test_every_shape_that_is_referred_to_is_there() -> None:
    body = text(CONTRACTS / "methods.md")
    heads = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"(?m)^#+ (.*)$", body)}
    wanted = set(re.findall(r"\]\(#([\w-]+)\)", body))
    assert wanted and wanted <= heads


# --- fault codes ------------------------------------------------------------------------------------------------------

CODE = re.compile(r"[a-z][a-z0-9_]*")


def raised() -> dict[str, set[str]]:
    """Every fault code in the source, with whose fault it is said to be there. The demo is no door, and left out."""
    files = (path for path in sorted(PACKAGE.rglob("*.py")) if "demo" not in path.parts)
    trees = [ast.parse(path.read_bytes()) for path in files]
    parties = {cls.__name__: {name} for name, cls in PARTIES.items()}
    # What a rule says of a path, and what is asked for by agents and by people alike.
    parties |= {"Refuse": {"agent", "user"}, "party": {"agent", "user"}, "complain": {"world"}}
    found: dict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            for base in (ast.unparse(one) for one in cls.bases):
                if base in parties and base != cls.name:
                    parties[cls.name] = parties[base]
                    for default in defaults(cls):
                        found[default] |= parties[base]
    for tree in trees:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func).rsplit(".", 1)[-1]
            if name in parties and (code := first_code(call)) is not None:
                found[code] |= parties[name]
    return found


def defaults(cls: ast.ClassDef) -> Iterator[str]:
    """The code that a class of faults has by itself."""
    for made in (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"):
        for argument, default in zip(reversed(made.args.args), reversed(made.args.defaults), strict=False):
            if argument.arg == "code" and isinstance(default, ast.Constant):
                yield str(default.value)


def first_code(call: ast.Call) -> str | None:
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return argument.value if CODE.fullmatch(argument.value) else None
    return None


def test_methods_names_every_fault_code_with_whose_it_is() -> None:
    told = {code.strip("`"): set(whose.split(", ")) for code, whose, _ in rows("## Fault codes")}
    found = {code: {"ours" if one == "us" else one for one in whose} for code, whose in raised().items()}
    assert len(told) == len(rows("## Fault codes"))
    assert told == found


def test_fault_codes_are_sorted_and_told_in_a_line() -> None:
    assert names("## Fault codes") == sorted(names("## Fault codes"))
    assert [row[0] for row in rows("## Fault codes") if not row[2].endswith(".")] == []


def test_every_code_that_a_method_is_refused_with_is_one() -> None:
    known = set(raised())
    wrong = [
        code
        for title in ("### Commands", "### How to call a verb")
        for row in rows(title)
        for code in re.findall(r"`([a-z_]+)`", row[-1])
        if code not in known and f"remit.{code}" not in door().commands and code != "replaces"
    ]
    assert wrong == []


# --- diagnostics.md ---------------------------------------------------------------------------------------------------


def codes() -> set[str]:
    """Every word with hyphens in the files that make findings is a diagnostic's code."""
    return {
        node.value
        for name in ("findings", "paperwork", "pending", "questions")
        for node in ast.walk(ast.parse((PACKAGE / "core" / f"{name}.py").read_bytes()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[a-z]+(-[a-z]+)+", node.value)
    }


def test_each_diagnostic_has_its_section() -> None:
    sections = re.findall(r"(?m)^## (.*)$", text(DIAGNOSTICS))
    assert len(sections) == len(set(sections)) and set(sections) == codes()
    for part in text(DIAGNOSTICS).split("\n## ")[1:]:
        code, *paragraphs = part.strip().split("\n\n")
        assert len(paragraphs) == 3 and paragraphs[1].startswith("Shows "), code


def test_what_has_a_lens_is_a_diagnostic() -> None:
    assert codes() >= view.LENSES


def test_a_diagnostic_links_to_its_section() -> None:
    bench = Bench()
    bench.disk.files["a.contract.json"] = b"{}"
    bench.open("a.contract.json")
    found = bench.session.findings()[0]
    drawn = convert.to_diagnostic(found, {found.path: bench.documents[found.path].text}, convert.Uris(ROOT), "utf-16")
    assert drawn.code_description is not None
    link = urlsplit(drawn.code_description.href)
    assert (link.scheme, Path(unquote(link.path)), link.fragment) == ("file", DIAGNOSTICS, "contract-invalid")
