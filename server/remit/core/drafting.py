"""An agent asks for a contract, or for a wider one: a whole text that a human sees before anything counts.

What it would allow always stands before the agent's own words. What a yes sets going is `core/activating.py`.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from remit.core import activating, diff, plain, room, source
from remit.core import events as e
from remit.core.faults import AgentFault
from remit.core.model import fingerprint
from remit.core.requests import AmendParams, DraftParams
from remit.core.turn import Turn

DRAFTS = ".remit/contracts"
EVERYTHING = frozenset({".", "./", "*", "**", "**/*"})
NAMED = 10
"""Entries that a question names; how many more there are is said, and the text itself has them all."""


def draft(turn: Turn, agent: str, params: DraftParams) -> str:
    """Ask the human to activate a drafted contract; the decision's id. AgentFaults: contract_active, contract_exists,
    invalid_params."""
    task = params.task_id or _free_name(turn)
    if task in turn.state.contracts:
        raise AgentFault("contract_active", f"{task} is active.", remedy="Use request_amendment to widen it.")
    text = written(
        {
            "taskId": task,
            "goal": params.goal,
            "writeScope": list(params.write_scope),
            "allowedTools": ["read_file", "apply_patch"] + (["run_check"] if params.checks else []),
            "network": "disabled",
            "verification": {"allowed": list(params.checks)},
            "delivery": "local_files",
            "commitAllowed": False,
        }
    )
    _demand_valid(text)
    path = f"{DRAFTS}/{task}.contract.json"
    if not activating.free(turn, path, text):
        raise AgentFault("contract_exists", f"{path} exists with other text.", remedy="Use another taskId.", path=path)
    return _ask(
        turn,
        agent,
        None,
        "contract",
        # What it would allow comes before the agent's own words, which may look like anything.
        f"Activate a contract drafted by an agent? It {_granting(params)}. Its goal: “{plain.line(params.goal, 80)}”",
        _said(params.why),
        (
            e.Option(id="discard", title="Discard", effect="Nothing is written; the agent stays without a contract."),
            e.Option(id="edit", title="Write the draft, let me edit it", effect=f"{path} is written, not activated."),
            e.Option(id="activate", title="Activate as drafted", effect=f"{path} is written and is in force."),
        ),
        path,
        text,
    )


def _free_name(turn: Turn) -> str:
    """A task's name that no contract has, active or drafted."""
    drafted = {entry.asked.about for entry in turn.state.decisions.values()}
    names = (f"task-{number}" for number in count(1))
    return next(n for n in names if n not in turn.state.contracts and f"{DRAFTS}/{n}.contract.json" not in drafted)


def amend(turn: Turn, agent: str, task: str, params: AmendParams) -> str:
    """Ask the human to widen the contract in force; the decision's id. AgentFault("no_change", "invalid_params")."""
    _, active = turn.state.contracts[task]
    raw: dict[str, Any] = json.loads(turn.kept(active.contract))
    before = json.dumps(raw)
    raw["writeScope"] = _added(raw["writeScope"], params.write_scope)
    raw["allowedTools"] = _added(raw["allowedTools"], params.allowed_tools)
    if params.checks:
        verification = raw.setdefault("verification", {})
        verification["allowed"] = _added(verification.get("allowed", []), params.checks)
    if json.dumps(raw) == before:
        raise AgentFault("no_change", "The contract allows all of that already.", remedy="Go on.")
    text = written(raw)
    _demand_valid(text)
    old = written(json.loads(before))
    return _ask(
        turn,
        agent,
        task,
        "amendment",
        f"Widen the contract of {task}? {_widening(params)}",
        diff.unified(old, text, active.path, active.path, context=0) + "\n" + _said(params.why),
        (
            e.Option(id="refuse", title="Refuse", effect="The contract stays as it is."),
            e.Option(
                id="allow",
                title="Widen the contract",
                effect=f"It is in force, and in {active.path} if you changed nothing there.",
            ),
        ),
        active.path,
        text,
    )


def written(value: dict[str, Any]) -> str:
    """The text of a contract as Remit writes it."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _added(have: list[str], more: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys((*have, *more)))


def _widening(params: AmendParams) -> str:
    parts = (
        ("may write", _places(params)),
        ("gets the rights", params.allowed_tools),
        ("may run", params.checks),
    )
    return "It " + "; ".join(f"{word} {plain.listed(what, NAMED)}" for word, what in parts if what) + "."


def _granting(params: DraftParams) -> str:
    runs = f"; may run {plain.listed(params.checks, NAMED)}" if params.checks else ""
    return f"may write {plain.listed(_places(params), NAMED) or 'nothing'}{runs}"


def _places(params: AmendParams | DraftParams) -> tuple[str, ...]:
    """The scope in words: what means the whole workspace does not hide in a dot."""
    return tuple(f"everything ({entry})" if entry in EVERYTHING else entry for entry in params.write_scope)


def _said(words: str) -> str:
    """An agent's reasons, named as such."""
    return f"The agent says: {plain.prose(words)}" if words.strip() else ""


def _demand_valid(text: str) -> None:
    problems = source.contract(text).problems
    if problems:
        raise AgentFault("invalid_params", problems[0].message, remedy="Correct it and ask again.")


def _ask(
    turn: Turn,
    agent: str,
    task: str | None,
    kind: Any,
    question: str,
    why: str,
    options: tuple[e.Option, ...],
    path: str,
    text: str,
) -> str:
    room.demand_question(turn, agent)
    name = turn.state.next_id("D")
    content = turn.keep(text.encode())
    turn.emit(
        e.DecisionAsked(
            decision=name,
            kind=kind,
            task=task,
            agent=agent,
            question=question,
            why=why,
            options=options,
            about=path,
            subject=path,
            binding=fingerprint(
                {"content": content, "in force": turn.state.contracts[task][1].contract if task else ""}
            ),
            content=content,
        )
    )
    return name
