"""May this task write this path? Contract and policy say so together; the answer is a value with its rule.

Paths are text, already parsed (`core/paths.py`). Removing a permission never allows more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Union

from remit.core.contract import TaskContract
from remit.core.paths import Scope, rank
from remit.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Allow:
    rule: str


@dataclass(frozen=True, slots=True)
class Ask:
    """In scope, but only with an approval of its own."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    code: str
    rule: str
    reason: str


Decision = Union[Allow, Ask, Refuse]


@lru_cache(maxsize=256)
def _scope(patterns: tuple[str, ...]) -> Scope:
    return Scope(patterns)


def may_write(path: str, contract: TaskContract, policy: Policy) -> Decision:
    """Whether the task may change `path`, whether it exists or not."""
    tier = rank(path)
    if tier.tier == "never":
        return Refuse("protected_path", tier.rule, f"{path} is never written for an agent ({tier.rule}).")
    if (rule := _scope(policy.protect.never).match(path, folded=True)) is not None:
        return Refuse("protected_path", rule, f"{path} is protected by the policy ({rule}).")
    rule = _scope(contract.write_scope).match(path)
    if rule is None:
        return Refuse("outside_scope", "writeScope", f"{path} is outside the write scope of {contract.task_id}.")
    if policy.limits.write_scope is not None and _scope(policy.limits.write_scope).match(path) is None:
        return Refuse("outside_scope", "limits.writeScope", f"{path} is outside what the policy allows any task.")
    if tier.tier == "loud":
        return Ask(tier.rule, f"{path} can make other programs run code ({tier.rule}).")
    if (loud := _scope(policy.protect.loud).match(path, folded=True)) is not None:
        return Ask(loud, f"{path} needs an approval of its own (policy: {loud}).")
    return Allow(rule)


def after(path: str, contract: TaskContract, policy: Policy) -> str:
    """Why a change of `path` is not one to apply at once and review after; empty where it is."""
    if contract.review != "after" or "apply_patch" not in rights(contract, policy):
        return "the contract says so (review: before)"
    if not isinstance(decision := may_write(path, contract, policy), Allow):
        return decision.reason
    if (tier := rank(path)).tier != "plain":
        return f"{path} needs a look before it is written ({tier.rule})"
    if _scope(policy.review.after).match(path) is None:
        return f"the policy does not let {path} be reviewed after"
    return ""


def rights(contract: TaskContract, policy: Policy) -> tuple[str, ...]:
    """The rights that are really there: the contract's, less what the policy takes away."""
    limit = policy.limits.allowed_tools
    kept = (right for right in contract.allowed_tools if limit is None or right in limit)
    return tuple(right for right in kept if right != "git_commit" or policy.limits.commit_allowed)


def excess(contract: TaskContract, policy: Policy) -> tuple[tuple[tuple[str | int, ...], str], ...]:
    """Where the contract asks for more than the policy allows: (pointer into the contract, message)."""
    found: list[tuple[tuple[str | int, ...], str]] = []
    limits = policy.limits
    for index, right in enumerate(contract.allowed_tools):
        if limits.allowed_tools is not None and right not in limits.allowed_tools:
            found.append((("allowedTools", index), f"The policy does not allow “{right}”."))
    if contract.network == "enabled" and limits.network == "disabled":
        found.append((("network",), "The policy does not allow the network."))
    if contract.commit_allowed and not limits.commit_allowed:
        found.append((("commitAllowed",), "The policy does not allow commits."))
    for index, entry in _beyond(contract, limits.write_scope):
        found.append((("writeScope", index), f"The policy does not allow writing “{entry}”."))
    if contract.review == "after":
        known = policy.review.after
        beyond = _beyond(contract, known) if known else [(0, entry) for entry in contract.write_scope]
        for _, entry in beyond[:1]:
            found.append((("review",), f"The policy does not let “{entry}” be reviewed after it was applied."))
    return tuple(found)


def _beyond(contract: TaskContract, limit: tuple[str, ...] | None) -> list[tuple[int, str]]:
    """The entries of the write scope that a limit does not hold, as far as can be told; globs are told path by path."""
    found: list[tuple[int, str]] = []
    for index, entry in enumerate(contract.write_scope if limit is not None else ()):
        literal = entry.rstrip("/")
        # A folder is asked about by something in it; a bare name may be either.
        probes = (f"{literal}/_",) if entry.endswith("/") else (literal, f"{literal}/_")
        plain = not entry.startswith("!") and not any(c in entry for c in "*?[")
        if plain and all(_scope(limit or ()).match(probe) is None for probe in probes):
            found.append((index, entry))
    return found
