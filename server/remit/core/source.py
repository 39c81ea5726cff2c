"""A contract or a policy as its text: the value, and the exact place of every problem in it.

Knows pydantic's error paths and what no model can say. Reading JSON and TOML is `core/syntax.py`. Does not know what is
in force, nor any file or editor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Generic, TypeVar

from pydantic import ValidationError

from remit.core.contract import RIGHTS, TaskContract, Verification
from remit.core.faults import Fault
from remit.core.model import Model
from remit.core.paths import Scope
from remit.core.policy import Check, Limits, Placement, Policy, Protect, Review
from remit.core.syntax import Pointer, Problem, Span, Tree, read_json, read_toml

__all__ = ["Problem", "Source", "Span", "contract", "policy"]

V = TypeVar("V", bound=Model)

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character: a client's broken text. No JSON or TOML can hold it."""
_BEYOND = re.compile("[^\x00-\x7f]")


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
                return span if length == len(pointer) or length else Span(span.start, min(span.start + 1, span.end))
        return Span(0, min(1, len(self.text)))


@lru_cache(maxsize=64)
def contract(text: str, *, guessed: bool = False) -> Source[TaskContract]:
    """The contract that a JSON text is, or what is wrong with it and where. `guessed`: nobody knows its encoding."""
    return _read(text, guessed, TaskContract, read_json, _contract_problems)


@lru_cache(maxsize=16)
def policy(text: str, *, guessed: bool = False) -> Source[Policy]:
    """The policy that a TOML text is, or what is wrong with it and where. `guessed`: nobody knows its encoding."""
    return _read(text, guessed, Policy, read_toml, _policy_problems)


def _read(
    text: str,
    guessed: bool,
    model: type[V],
    parse: Callable[[str], Tree],
    more: Callable[[V, Tree], Iterator[Problem]],
) -> Source[V]:
    if (bad := (_BEYOND if guessed else _HALF).search(text)) is not None:
        problem = Problem("This is not UTF-8 text: save the file as UTF-8.", Span(bad.start(), bad.end()))
        return Source(text, None, (problem,))
    tree = parse(text)
    value: V | None = None
    if not tree.problems:
        try:
            value = model.model_validate(tree.value, by_alias=True, by_name=False)
            tree.problems.extend(more(value, tree))
        except ValidationError as error:
            tree.problems.extend(_located(error, tree, text, model))
    problems = tuple(sorted(tree.problems, key=lambda problem: problem.span.start))
    return Source(text, None if problems else value, problems, tree.keys, tree.values)


# --- from pydantic's words to ours ------------------------------------------------------------------------------------


def _located(error: ValidationError, tree: Tree, text: str, known: type[Model]) -> Iterator[Problem]:
    for item in error.errors(include_url=False):
        pointer = tuple(part for part in item["loc"] if part != "[key]")
        kind, name = item["type"], next((part for part in reversed(pointer) if isinstance(part, str)), "")
        if kind == "extra_forbidden":
            span = tree.keys.get(pointer) or _nearest(tree, pointer, text)
            yield Problem(f"Unknown field “{name}”.", span, _alike(name, text, span, _fields(known)))
        elif kind == "missing":
            yield Problem(f"“{name}” is missing.", _nearest(tree, pointer[:-1], text, first=True))
        else:
            span = _nearest(tree, pointer, text)
            right = name == "allowedTools" and pointer[-1] != name and "pattern" in item["msg"]
            fix = _alike(str(item["input"]), text, span, RIGHTS) if right else None
            yield Problem(_message(item["msg"], name, item["input"] if right else None), span, fix)


_WORDS = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Input should be"), "must be"),
    (re.compile(r"a valid dictionary(?: or instance of \w+)?"), "an object"),
    (re.compile(r"a valid tuple"), "a list"),
    (re.compile(r"^String should match pattern '\^\[A-Za-z0-9\].*"), "use 1 to 64 letters, digits, '.', '_' or '-'"),
    (re.compile(r"\.$"), ""),
)


def _message(message: str, name: str, right: object) -> str:
    if right is not None:
        return f"Unknown right “{right}”: use read_file, apply_patch, run_check, git_commit or external:<id>."
    for pattern, word in _WORDS:
        message = pattern.sub(word, message)
    return f"“{name}”: {message}." if name else f"{message[:1].upper()}{message[1:]}."


def _fields(model: type[Model]) -> list[str]:
    """Every field name that the model and the models in it know, as written in a file."""
    inner: tuple[type[Model], ...] = (Check, Limits, Placement, Protect, Review)
    if model is TaskContract:
        inner = (Verification,)
    return [field.alias or name for part in (model, *inner) for name, field in part.model_fields.items()]


def _alike(name: str, text: str, span: Span, known: Sequence[str]) -> str | None:
    """The known name that was surely meant, in the quotes that stand there."""
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    written = text[span.start : span.end]
    return written.replace(name, close[0]) if close and name and name in written else None


def _nearest(tree: Tree, pointer: Pointer, text: str, *, first: bool = False) -> Span:
    for length in range(len(pointer), -1, -1):
        span = tree.values.get(pointer[:length])
        if span is not None:
            return Span(span.start, min(span.start + 1, span.end)) if first or length < len(pointer) else span
    return Span(0, min(1, len(text)))


# --- what a model cannot say ------------------------------------------------------------------------------------------


def _contract_problems(value: TaskContract, tree: Tree) -> Iterator[Problem]:
    yield from _patterns(value.write_scope, ("writeScope",), tree)
    both = set(value.verification.required) & set(value.verification.forbidden)
    for index, check in enumerate(value.verification.required):
        if check in both:
            span = tree.values[("verification", "required", index)]
            yield Problem(f"“{check}” is both required and forbidden.", span)
    if value.commit_allowed and not value.may("git_commit"):
        yield Problem("commitAllowed needs git_commit in allowedTools.", tree.values[("commitAllowed",)])


def _policy_problems(value: Policy, tree: Tree) -> Iterator[Problem]:
    yield from _patterns(value.limits.write_scope or (), ("limits", "writeScope"), tree)
    yield from _patterns(value.review.after, ("review", "after"), tree)
    yield from _patterns(value.protect.never, ("protect", "never"), tree)
    yield from _patterns(value.protect.loud, ("protect", "loud"), tree)
    for name, check in value.checks.items():
        yield from _patterns(check.inputs, ("checks", name, "inputs"), tree)


def _patterns(entries: tuple[str, ...], pointer: Pointer, tree: Tree) -> Iterator[Problem]:
    for index, entry in enumerate(entries):
        try:
            Scope((entry.removeprefix("!"),))
        except Fault as fault:
            yield Problem(fault.message.replace("Scope entry 1", f"“{entry}”"), tree.values[(*pointer, index)])
