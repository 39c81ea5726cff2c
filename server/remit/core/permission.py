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
    if limits.write_scope is not None:
        widest = _scope(limits.write_scope)
        for index, entry in enumerate(contract.write_scope):
            literal = entry.rstrip("/")
            # A folder is asked about by something in it; a bare name may be either.
            probes = (f"{literal}/_",) if entry.endswith("/") else (literal, f"{literal}/_")
            plain = not entry.startswith("!") and not any(c in entry for c in "*?[")
            if plain and all(widest.match(probe) is None for probe in probes):
                found.append((("writeScope", index), f"The policy does not allow writing “{entry}”."))
    return tuple(found)
