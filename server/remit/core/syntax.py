"""The syntax trees of JSON and TOML: the value of a text, the place of each key and value, and what does not parse.

Nothing here knows what the text is for; that is `core/source.py`. Whatever the text, nothing is raised.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import tree_sitter
import tree_sitter_json
import tree_sitter_toml

Pointer = tuple[str | int, ...]
DEPTH = 64
"""Levels of nesting that are read; no contract and no policy has more than a handful."""


@dataclass(frozen=True, slots=True)
class Span:
    """Code point offsets in the text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong where; `fix` is what to write over the span instead, where there is one good guess."""

    message: str
    span: Span
    fix: str | None = None


@dataclass(slots=True)
class Tree:
    value: Any = None
    keys: dict[Pointer, Span] = field(default_factory=dict)
    values: dict[Pointer, Span] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class _Offsets:
    """Byte offsets of a tree to code point offsets of its text."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        plain = len(self.data) == len(text)
        self._inner = [] if plain else [at for at, byte in enumerate(self.data) if 0x80 <= byte < 0xC0]

    def point(self, offset: int) -> int:
        return offset - bisect_left(self._inner, offset)

    def span(self, node: tree_sitter.Node) -> Span:
        return Span(self.point(node.start_byte), self.point(node.end_byte))


@cache
def _parser(language: str) -> tree_sitter.Parser:
    grammar = {"json": tree_sitter_json.language, "toml": tree_sitter_toml.language}[language]
    return tree_sitter.Parser(tree_sitter.Language(grammar()))


# --- JSON -------------------------------------------------------------------------------------------------------------


def read_json(text: str) -> Tree:
    tree, offsets = Tree(), _Offsets(text)
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


def _too_deep(pointer: Pointer, span: Span, tree: Tree) -> bool:
    if len(pointer) > DEPTH:
        tree.problems.append(Problem("This is nested too deeply.", span))
    return len(pointer) > DEPTH


def _walk_json(node: tree_sitter.Node, pointer: Pointer, tree: Tree, offsets: _Offsets) -> None:
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


def _walk_pair(pair: tree_sitter.Node, pointer: Pointer, tree: Tree, offsets: _Offsets) -> None:
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


def read_toml(text: str) -> Tree:
    tree, offsets = Tree(), _Offsets(text)
    tree.values[()] = Span(0, len(text))
    counts: dict[Pointer, int] = {}
    for node in _parser("toml").parse(offsets.data).root_node.named_children:
        if node.type == "pair":
            _walk_toml_pair(node, (), tree, offsets)
        elif node.type in ("table", "table_array_element"):
            _walk_table(node, tree, offsets, counts)
    if tree.problems:  # nested too deeply: the parser would take very long over it
        return tree
    try:
        tree.value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        tree.problems.append(_toml_syntax(str(error), text))
    except (RecursionError, ValueError) as error:
        tree.problems.append(_unreadable(error, text))
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
    """The parts of a bare, quoted or dotted key."""
    parts: list[str | int] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type == "dotted_key":
            waiting.extend(reversed(node.named_children))
        elif node.type in KEYS:
            parts.append(_toml_name(node))
    return tuple(parts)


def _toml_name(node: tree_sitter.Node) -> str:
    text = (node.text or b"").decode("utf-8", "surrogatepass")
    try:
        return next(iter(tomllib.loads(f"{text} = 0"))) if node.type == "quoted_key" else text
    except tomllib.TOMLDecodeError:
        return text


KEYS = ("bare_key", "quoted_key", "dotted_key")


def _walk_table(node: tree_sitter.Node, tree: Tree, offsets: _Offsets, counts: dict[Pointer, int]) -> None:
    head = next((child for child in node.named_children if child.type in KEYS), None)
    if head is None:
        return
    pointer = _toml_key(head)
    if _too_deep(pointer, offsets.span(head), tree):
        return
    for length in range(1, len(pointer)):  # below an array of tables, its last one is meant
        if pointer[:length] in counts:
            pointer = (*pointer[:length], counts[pointer[:length]] - 1, *pointer[length:])
    if node.type == "table_array_element":
        index = counts.get(pointer, 0)
        counts[pointer] = index + 1
        pointer = (*pointer, index)
    _mark(pointer, 0, offsets.span(head), tree)
    for pair in node.named_children:
        if pair.type == "pair":
            _walk_toml_pair(pair, pointer, tree, offsets)


def _mark(pointer: Pointer, after: int, span: Span, tree: Tree) -> None:
    """A key names every level of its pointer below `after`."""
    for length in range(after + 1, len(pointer) + 1):
        tree.keys.setdefault(pointer[:length], span)
        tree.values.setdefault(pointer[:length], span)


def _walk_toml_pair(pair: tree_sitter.Node, pointer: Pointer, tree: Tree, offsets: _Offsets) -> None:
    key, *rest = [child for child in pair.named_children if child.type not in ("comment", "ERROR")]
    here = (*pointer, *_toml_key(key))
    if _too_deep(here, offsets.span(key), tree):
        return
    _mark(here, len(pointer), offsets.span(key), tree)
    if rest:
        _walk_toml_value(rest[-1], here, tree, offsets)


def _walk_toml_value(value: tree_sitter.Node, here: Pointer, tree: Tree, offsets: _Offsets) -> None:
    tree.values[here] = offsets.span(value)
    if _too_deep(here, tree.values[here], tree):
        return
    children = [child for child in value.named_children if child.type not in ("comment", "ERROR")]
    for index, child in enumerate(children):
        if value.type == "array":
            _walk_toml_value(child, (*here, index), tree, offsets)
        elif value.type == "inline_table" and child.type == "pair":
            _walk_toml_pair(child, here, tree, offsets)
