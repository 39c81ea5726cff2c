"""A contract or a policy as its text: the value, and the exact place of every problem in it.

Knows JSON and TOML syntax trees and pydantic's error paths. Does not know what is in force, nor any file or editor.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar

import tree_sitter
import tree_sitter_json
import tree_sitter_toml
from pydantic import ValidationError

from remit.core.contract import TaskContract
from remit.core.faults import Fault
from remit.core.model import Model
from remit.core.paths import Scope
from remit.core.policy import Policy

Pointer = tuple[str | int, ...]
DEPTH = 64
"""Levels of nesting that are read; no contract and no policy has more than a handful."""

V = TypeVar("V", bound=Model)


@dataclass(frozen=True, slots=True)
class Span:
    """Code point offsets in the text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Source(Generic[V]):
    """What a text says: `value` is None while there are problems."""

    text: str
    value: V | None
    problems: tuple[Problem, ...]
    keys: Mapping[Pointer, Span] = field(default_factory=dict)
    values: Mapping[Pointer, Span] = field(default_factory=dict)

    def at(self, *pointer: str | int) -> Span:
        """The place of the value at `pointer`, else of its nearest parent, else the start of the text."""
        for length in range(len(pointer), -1, -1):
            if (span := self.values.get(pointer[:length])) is not None:
                return span if length == len(pointer) or length else Span(span.start, span.start + 1)
        return Span(0, min(1, len(self.text)))


@lru_cache(maxsize=64)
def contract(text: str) -> Source[TaskContract]:
    """The contract that a JSON text is, or what is wrong with it and where."""
    return _read(text, TaskContract, _json, _contract_problems)


@lru_cache(maxsize=16)
def policy(text: str) -> Source[Policy]:
    """The policy that a TOML text is, or what is wrong with it and where."""
    return _read(text, Policy, _toml, _policy_problems)


@dataclass(slots=True)
class _Tree:
    value: Any = None
    keys: dict[Pointer, Span] = field(default_factory=dict)
    values: dict[Pointer, Span] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def _read(
    text: str, model: type[V], parse: Callable[[str], _Tree], more: Callable[[V, _Tree], Iterator[Problem]]
) -> Source[V]:
    tree = parse(text)
    value: V | None = None
    if not tree.problems:
        try:
            value = model.model_validate(tree.value, by_alias=True, by_name=False)
            tree.problems.extend(more(value, tree))
        except ValidationError as error:
            tree.problems.extend(_located(error, tree, text))
    problems = tuple(sorted(tree.problems, key=lambda problem: problem.span.start))
    return Source(text, None if problems else value, problems, tree.keys, tree.values)


# --- from pydantic's words to ours ------------------------------------------------------------------------------------


def _located(error: ValidationError, tree: _Tree, text: str) -> Iterator[Problem]:
    for item in error.errors(include_url=False):
        pointer = tuple(part for part in item["loc"] if part != "[key]")
        kind, name = item["type"], str(pointer[-1]) if pointer else ""
        if kind == "extra_forbidden":
            yield Problem(f"Unknown field “{name}”.", tree.keys.get(pointer) or _nearest(tree, pointer, text))
        elif kind == "missing":
            yield Problem(f"“{name}” is missing.", _nearest(tree, pointer[:-1], text, first=True))
        else:
            yield Problem(_message(item["msg"], name, tree.value, pointer), _nearest(tree, pointer, text))


def _message(message: str, name: str, value: Any, pointer: Pointer) -> str:
    words = message.removeprefix("Value error, ").replace("Input should be", "must be").rstrip(".")
    if pointer and pointer[0] == "allowedTools" and len(pointer) == 2 and "pattern" in words:
        given = value["allowedTools"][pointer[1]]
        return f"Unknown right “{given}”: use read_file, apply_patch, run_check, git_commit or external:<id>."
    return f"“{name}”: {words}." if name else f"{words[:1].upper()}{words[1:]}."


def _nearest(tree: _Tree, pointer: Pointer, text: str, *, first: bool = False) -> Span:
    for length in range(len(pointer), -1, -1):
        span = tree.values.get(pointer[:length])
        if span is not None:
            return Span(span.start, span.start + 1) if first or length < len(pointer) else span
    return Span(0, min(1, len(text)))


# --- what a model cannot say ------------------------------------------------------------------------------------------


def _contract_problems(value: TaskContract, tree: _Tree) -> Iterator[Problem]:
    yield from _patterns(value.write_scope, ("writeScope",), tree)
    both = set(value.verification.required) & set(value.verification.forbidden)
    for index, check in enumerate(value.verification.required):
        if check in both:
            span = tree.values[("verification", "required", index)]
            yield Problem(f"“{check}” is both required and forbidden.", span)
    if value.commit_allowed and not value.may("git_commit"):
        yield Problem("commitAllowed needs git_commit in allowedTools.", tree.values[("commitAllowed",)])


def _policy_problems(value: Policy, tree: _Tree) -> Iterator[Problem]:
    yield from _patterns(value.limits.write_scope or (), ("limits", "writeScope"), tree)
    yield from _patterns(value.protect.never, ("protect", "never"), tree)
    yield from _patterns(value.protect.loud, ("protect", "loud"), tree)
    for name, check in value.checks.items():
        yield from _patterns(check.inputs, ("checks", name, "inputs"), tree)


def _patterns(entries: tuple[str, ...], pointer: Pointer, tree: _Tree) -> Iterator[Problem]:
    for index, entry in enumerate(entries):
        try:
            Scope((entry.removeprefix("!"),))
        except Fault as fault:
            yield Problem(fault.message, tree.values[(*pointer, index)])


# --- JSON -------------------------------------------------------------------------------------------------------------


class _Offsets:
    """Byte offsets of a tree to code point offsets of its text."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self._plain = len(self.data) == len(text)

    def point(self, offset: int) -> int:
        return offset if self._plain else len(self.data[:offset].decode("utf-8", "surrogatepass"))

    def span(self, node: tree_sitter.Node) -> Span:
        return Span(self.point(node.start_byte), self.point(node.end_byte))


@cache
def _parser(language: str) -> tree_sitter.Parser:
    grammar = {"json": tree_sitter_json.language, "toml": tree_sitter_toml.language}[language]
    return tree_sitter.Parser(tree_sitter.Language(grammar()))


def _json(text: str) -> _Tree:
    tree, offsets = _Tree(), _Offsets(text)
    root = _parser("json").parse(offsets.data).root_node
    try:
        tree.value = json.loads(text)
    except json.JSONDecodeError as error:
        tree.problems.append(_json_syntax(error, text, root, offsets))
    except (RecursionError, ValueError) as error:
        tree.problems.append(_unreadable(error, text))
    for child in root.named_children:
        if child.type != "comment":
            _walk_json(child, (), tree, offsets)
    return tree


def _json_syntax(error: json.JSONDecodeError, text: str, root: tree_sitter.Node, offsets: _Offsets) -> Problem:
    broken = next(_errors(root), None)
    start = min(error.pos, max(0, len(text) - 1))
    if broken is not None and abs(offsets.point(broken.start_byte) - start) < 2:
        span = offsets.span(broken)
        if span.end > span.start:
            return Problem(f"Not valid JSON: {error.msg}.", span)
    return Problem(f"Not valid JSON: {error.msg}.", Span(start, min(start + 1, len(text))))


def _unreadable(error: Exception, text: str) -> Problem:
    """What the parsers of the standard library give up on: deep nesting, numbers without end."""
    words = "This is nested too deeply." if isinstance(error, RecursionError) else "A number is too long."
    return Problem(words, Span(0, min(1, len(text))))


def _errors(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        waiting.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)


def _too_deep(pointer: Pointer, span: Span, tree: _Tree) -> bool:
    if len(pointer) > DEPTH:
        tree.problems.append(Problem("This is nested too deeply.", span))
    return len(pointer) > DEPTH


def _walk_json(node: tree_sitter.Node, pointer: Pointer, tree: _Tree, offsets: _Offsets) -> None:
    tree.values[pointer] = offsets.span(node)
    if _too_deep(pointer, tree.values[pointer], tree):
        return
    if node.type == "array":
        items = [child for child in node.named_children if child.type not in ("comment", "ERROR")]
        for index, child in enumerate(items):
            _walk_json(child, (*pointer, index), tree, offsets)
    elif node.type == "object":
        for pair in (child for child in node.named_children if child.type == "pair"):
            _walk_pair(pair, pointer, tree, offsets)


def _walk_pair(pair: tree_sitter.Node, pointer: Pointer, tree: _Tree, offsets: _Offsets) -> None:
    key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
    if key is None or key.text is None:
        return
    try:
        name = json.loads(key.text)
    except ValueError:
        return
    here = (*pointer, name)
    if here in tree.keys:
        tree.problems.append(Problem(f"“{name}” is given twice.", offsets.span(key)))
    tree.keys[here] = offsets.span(key)
    if value is not None:
        _walk_json(value, here, tree, offsets)


# --- TOML -------------------------------------------------------------------------------------------------------------

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _toml(text: str) -> _Tree:
    tree, offsets = _Tree(), _Offsets(text)
    try:
        tree.value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        tree.problems.append(_toml_syntax(str(error), text))
    root = _parser("toml").parse(offsets.data).root_node
    tree.values[()] = Span(0, len(text))
    counts: dict[Pointer, int] = {}
    for node in root.named_children:
        if node.type == "pair":
            _walk_toml_pair(node, (), tree, offsets)
        elif node.type in ("table", "table_array_element"):
            _walk_table(node, tree, offsets, counts)
    return tree


def _toml_syntax(message: str, text: str) -> Problem:
    place = _TOML_PLACE.search(message)
    start = max(0, len(text) - 1)
    if place and place[1]:
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: int(place[1]) - 1]) + int(place[2]) - 1
    start = min(start, max(0, len(text) - 1))
    return Problem(f"Not valid TOML: {_TOML_PLACE.sub('', message)}.", Span(start, min(start + 1, len(text))))


def _toml_key(node: tree_sitter.Node) -> Pointer:
    if node.type == "dotted_key":
        return tuple(part for child in node.named_children for part in _toml_key(child))
    text = (node.text or b"").decode("utf-8", "surrogatepass")
    return (next(iter(tomllib.loads(f"{text} = 0"))) if node.type == "quoted_key" else text,)


def _walk_table(node: tree_sitter.Node, tree: _Tree, offsets: _Offsets, counts: dict[Pointer, int]) -> None:
    head, *rest = node.named_children
    pointer = _toml_key(head)
    if node.type == "table_array_element":
        index = counts.get(pointer, 0)
        counts[pointer] = index + 1
        pointer = (*pointer, index)
    for length in range(1, len(pointer) + 1):
        tree.keys.setdefault(pointer[:length], offsets.span(head))
        tree.values.setdefault(pointer[:length], offsets.span(head))
    for pair in rest:
        if pair.type == "pair":
            _walk_toml_pair(pair, pointer, tree, offsets)


def _walk_toml_pair(pair: tree_sitter.Node, pointer: Pointer, tree: _Tree, offsets: _Offsets) -> None:
    key, value = pair.named_children[0], pair.named_children[-1]
    here = (*pointer, *_toml_key(key))
    for length in range(len(pointer) + 1, len(here) + 1):
        tree.keys.setdefault(here[:length], offsets.span(key))
        tree.values.setdefault(here[:length], offsets.span(key))
    tree.values[here] = offsets.span(value)
    if value.type == "array":
        for index, child in enumerate(child for child in value.named_children if child.type != "comment"):
            tree.values[(*here, index)] = offsets.span(child)
    elif value.type == "inline_table":
        for child in (child for child in value.named_children if child.type == "pair"):
            _walk_toml_pair(child, here, tree, offsets)
