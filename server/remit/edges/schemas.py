"""What others read of Remit's models: the JSON Schemas, and the agents' verbs in `methods.md`, written from the models.

Run by `make contracts`; nothing at work imports it. The models themselves are in `core/`; examples and prose are
written by hand beside what is written here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union

from pydantic import JsonValue, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from remit.core import events
from remit.core.answers import ProposalResult, ProposeResult
from remit.core.contract import TaskContract
from remit.core.faults import Party
from remit.core.model import Model
from remit.core.policy import Policy
from remit.core.proposal import Proposal
from remit.core.report import Report
from remit.core.verbs import VERBS, Hello, Verb

DIALECT = "https://json-schema.org/draft/2020-12/schema"
BEGIN, END = "<!-- written by `make contracts`: do not edit below -->\n", "<!-- written by `make contracts`: end -->\n"


class Refusal(Model):
    """Why nothing was done, and what to do now: the wire form of a fault, alike at every door."""

    code: str
    party: Party
    message: str
    remedy: str
    data: dict[str, JsonValue]


Verdict = Union[ProposeResult, ProposalResult, Refusal]

SCHEMAS: Mapping[str, tuple[TypeAdapter[Any], str, str]] = {
    "contract": (TypeAdapter(TaskContract), "Task contract", ""),
    "policy": (TypeAdapter(Policy), "Policy", "Of `.remit/policy.toml`, as the JSON value that the TOML text is."),
    "proposal": (TypeAdapter(Proposal), "Proposal", ""),
    "verdict": (
        TypeAdapter(Verdict),
        "Verdict",
        "What proposing, `proposal_status` and `wait_for_review` answer: where a proposal stands, or a refusal.",
    ),
    "report": (TypeAdapter(Report), "Report", ""),
    "event": (events.ADAPTER, "Journal event", "One event of the journal, told apart by `type`."),
}
"""Each schema by its file's first word: the model, the title, and words where the model has none of its own."""


def write(folder: Path) -> None:
    """Bring every file that is written from the models up to date."""
    for name, text in files((folder / "methods.md").read_text(encoding="utf-8")).items():
        (folder / name).write_text(text, encoding="utf-8")


def files(methods: str) -> dict[str, str]:
    """Every generated file's text by name; `methods` is `methods.md` as it is, whose prose is kept."""
    made = {f"{name}.schema.json": f"{json.dumps(schema(name), indent=2, ensure_ascii=False)}\n" for name in SCHEMAS}
    head, rest = methods.split(BEGIN)
    return {**made, "methods.md": head + BEGIN + verbs() + END + rest.split(END)[1]}


# --- schemas ----------------------------------------------------------------------------------------------------------


class _Untitled(GenerateJsonSchema):
    """Field titles only repeat the names."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 -- the signature is pydantic's
        return False


def schema(name: str) -> dict[str, Any]:
    """One schema, of what is read and of what is written alike: a field with a default may be left out."""
    adapter, title, words = SCHEMAS[name]
    made = adapter.json_schema(by_alias=True, schema_generator=_Untitled)
    for part in made.get("$defs", {}).values():
        if "const" in part.get("properties", {}).get("type", {}):
            # Its default is for Remit's own code; without the word nobody can tell which event it is.
            part["required"] = ["type", *part.get("required", ())]
    described = {"description": words} if words else {}
    return {"$schema": DIALECT, "$id": f"{name}.schema.json", **made, "title": title, **described}


# --- the agents' verbs ------------------------------------------------------------------------------------------------


def verbs() -> str:
    """The verbs and every shape they use, as Markdown."""
    shapes: dict[str, dict[str, Any]] = {}
    out = [*_shape("hello", _unfold(Hello, shapes), "###", "Params")]
    for name, verb in VERBS.items():
        out += _verb(name, verb, shapes)
    out += ["### Shapes", ""]
    for name in sorted(shapes):
        out += _shape(name, shapes[name], "####", "")
    return "\n".join(out)


def _verb(name: str, verb: Verb, shapes: dict[str, dict[str, Any]]) -> Iterator[str]:
    right = f"Right: `{verb.right}`." if verb.right else "Always allowed."
    effect = "Changes nothing." if verb.read_only else "Has an effect, and takes a `key`."
    yield from (f"### {name}", "", verb.description, "", f"{right} {effect}", "")
    for word, model in (("Params", verb.params), ("Result", verb.result)):
        yield from _fields(_unfold(model, shapes), word)


def _unfold(model: type[Model], shapes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The model's own schema; those it refers to are added to `shapes`."""
    made = model.model_json_schema(by_alias=True, schema_generator=_Untitled)
    shapes.update(made.pop("$defs", {}))
    return made


def _shape(name: str, made: dict[str, Any], level: str, word: str) -> Iterator[str]:
    yield from (f"{level} {name}", "")
    if made.get("description"):
        yield from (made["description"], "")
    yield from _fields(made, word)


def _fields(made: dict[str, Any], word: str) -> Iterator[str]:
    fields = made.get("properties", {})
    if not fields:
        yield from (f"{word}: none.", "")
        return
    if word:
        yield from (f"{word}:", "")
    yield from ("| field | type | default | meaning |", "|---|---|---|---|")
    for name, field in fields.items():
        cells = (
            f"`{name}`",
            f"{_type(field)}{_bounds(field)}",
            _default(name, field, made),
            field.get("description", ""),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _default(name: str, field: dict[str, Any], made: dict[str, Any]) -> str:
    if name in made.get("required", ()):
        return "required"
    default = field.get("default")
    return "nothing" if default in (None, "", [], {}) else f"`{json.dumps(default)}`"


def _bounds(field: dict[str, Any]) -> str:
    """The limits of a value, as far as they are plain numbers."""
    words = {"minimum": "from {}", "maximum": "to {}", "maxLength": "at most {} characters", "maxItems": "at most {}"}
    found = {**field, **{key: one for part in field.get("anyOf", ()) for key, one in part.items()}}
    said = [word.format(found[key]) for key, word in words.items() if key in found]
    return f" ({' '.join(said)})" if said else ""


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " | ".join(_type(one) for one in field["anyOf"])
    if "enum" in field or "const" in field:
        return " | ".join(f"`{one}`" for one in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    if field.get("type") == "object" and isinstance(values := field.get("additionalProperties"), dict):
        return f"map to {_type(values)}"
    return str(field.get("type", "any JSON value"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
