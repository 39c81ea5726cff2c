"""The human puts a contract or a policy in force: one exact text, by digest.

Also the drafts and amendments an agent asks for: they become texts that a human sees whole before anything counts.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from remit.core import applying, asking, codec, diff, source, staleness
from remit.core import events as e
from remit.core.faults import AgentFault, Json, UserFault
from remit.core.model import ABSENT, fingerprint
from remit.core.permission import excess
from remit.core.proposal import FileChange, Proposal, hunks_of
from remit.core.requests import AmendParams, DraftParams
from remit.core.state import DecisionEntry
from remit.core.turn import Turn

POLICY_PATH = ".remit/policy.toml"
DRAFTS = ".remit/contracts"


def is_contract(path: str) -> bool:
    return path.endswith(".contract.json")


def shows(turn: Turn, path: str) -> dict[str, Json]:
    """What showing a contract or policy for activation shows: its present text, and the policy beside it."""
    return {"digest": turn.look(path).digest, "policy": turn.policy_digest()}


def offer(turn: Turn, path: str) -> str:
    return turn.offer("activate", path, shows(turn, path))


def activate(turn: Turn, name: str) -> str:
    """Put in force what was shown; the task's id, or `policy`. UserFaults: contract_invalid, policy_invalid,
    contract_exceeds_policy, approval_stale, approval_unknown, already_decided, buffer_unknown."""
    subject = turn.answer(name, "activate")
    path = subject.target
    snapshot = turn.look(path)
    if not snapshot.trusted:
        staleness.demand_known(snapshot, snapshot.digest, UserFault)  # the human may be looking at another text
    text = snapshot.text
    if path == POLICY_PATH:
        if (problems := source.policy(text).problems) or snapshot.origin == "absent":
            raise UserFault("policy_invalid", _first(problems, path), path=path)
        approval = turn.approve(name, subject, shows(turn, path))
        turn.emit(e.PolicyActivated(policy=turn.keep(text.encode()), approval=approval))
        return "policy"
    found = source.contract(text)
    if found.value is None:
        raise UserFault("contract_invalid", _first(found.problems, path), path=path)
    wider = excess(found.value, turn.policy())
    if wider:
        raise UserFault("contract_exceeds_policy", wider[0][1], remedy="Narrow the contract, or change the policy.")
    approval = turn.approve(name, subject, shows(turn, path))
    put_in_force(turn, found.value.task_id, path, text, approval)
    return found.value.task_id


def put_in_force(turn: Turn, task: str, path: str, text: str, approval: e.Approval) -> None:
    replaced = turn.state.contracts[task][1].path if task in turn.state.contracts else path
    turn.emit(
        e.ContractActivated(
            task=task,
            path=path,
            contract=turn.keep(text.encode()),
            policy=turn.policy_digest(),
            approval=approval,
        )
    )
    # What was drafted from the text before would take back what this one changes.
    for subject in dict.fromkeys((path, replaced)):
        asking.withdraw(turn, subject, f"the contract of {task} has changed; ask again")


def _first(problems: tuple[source.Problem, ...], path: str) -> str:
    return problems[0].message if problems else f"{path} does not exist."


# --- what an agent may ask for ----------------------------------------------------------------------------------------


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
    if not _free(turn, path, text):
        raise AgentFault("contract_exists", f"{path} exists with other text.", remedy="Use another taskId.", path=path)
    return _ask(
        turn,
        agent,
        None,
        "contract",
        f"An agent drafts a contract: “{_short(params.goal)}”, writing {', '.join(params.write_scope)}. Activate it?",
        params.why,
        (
            e.Option(id="discard", title="Discard", effect="Nothing is written; the agent stays without a contract."),
            e.Option(id="edit", title="Write the draft, let me edit it", effect=f"{path} is written, not activated."),
            e.Option(id="activate", title="Activate as drafted", effect=f"{path} is written and is in force."),
        ),
        path,
        text,
    )


def _free(turn: Turn, path: str, text: str) -> bool:
    """Whether writing `text` there takes nothing away: what the human wrote is never replaced unseen."""
    snapshot = turn.look(path)
    return snapshot.trusted and (snapshot.origin == "absent" or snapshot.text == text)


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
        params.why + "\n\n" + diff.unified(old, text, active.path, active.path, context=0),
        (
            e.Option(id="refuse", title="Refuse", effect="The contract stays as it is."),
            e.Option(id="allow", title="Widen the contract", effect=f"It is in force, and in {active.path} if you changed nothing there."),
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
        ("may write", params.write_scope),
        ("gets the rights", params.allowed_tools),
        ("may run", params.checks),
    )
    return "It " + "; ".join(f"{word} {', '.join(what)}" for word, what in parts if what) + "."


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 80 else line[:79] + "…"


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


# --- the human said yes -----------------------------------------------------------------------------------------------


def carry_out(turn: Turn, entry: DecisionEntry, option: str, approval: e.Approval) -> None:
    """The drafted or widened text is put in force as asked, and written into the human's file.

    UserFaults: contract_active, contract_exists, contract_invalid, contract_exceeds_policy, and those of applying.
    """
    asked = entry.asked
    assert asked.content is not None and asked.about is not None
    text = turn.kept(asked.content).decode()
    value = source.contract(text).value
    if value is None:
        raise UserFault("contract_invalid", "The drafted contract is not valid any more.")
    if asked.kind == "contract":
        _demand_unused(turn, value.task_id, asked.about, text)
    before = _in_force(turn, value.task_id)
    if option in ("activate", "allow"):
        wider = excess(value, turn.policy())
        if wider:
            raise UserFault("contract_exceeds_policy", wider[0][1], remedy="Change the policy first.")
        put_in_force(turn, value.task_id, asked.about, text, approval)
    if asked.kind == "contract" or turn.look(asked.about).text == before:
        _write(turn, value.task_id, asked.about, text, approval)
    # Else the human has written something else there since; what was shown is a change of the text in force.


def _demand_unused(turn: Turn, task: str, path: str, text: str) -> None:
    """A draft was shown as a new contract: it takes no other's place, in force or in the folder."""
    remedy = "Discard the draft, or do away with the other contract."
    if task in turn.state.contracts:
        raise UserFault("contract_active", f"Another contract of {task} is active by now.", remedy=remedy)
    if not _free(turn, path, text):
        raise UserFault("contract_exists", f"{path} exists by now, with other text.", remedy=remedy, path=path)


def _in_force(turn: Turn, task: str) -> str | None:
    return turn.kept(turn.contract_digest(task)).decode() if task in turn.state.contracts else None


def _write(turn: Turn, task: str, path: str, text: str, approval: e.Approval) -> None:
    """Write the human's own file as an action like any other; when that fails the editor shows that the two differ."""
    snapshot = turn.look(path)
    if snapshot.text == text and snapshot.origin != "absent":
        return
    name = turn.state.next_id("P")
    result = turn.keep(codec.encode(text, snapshot.charset))
    spans = diff.between(snapshot.text, text)
    change = FileChange(
        path=path,
        op="create" if snapshot.origin == "absent" else "modify",
        base=snapshot.digest if snapshot.origin != "absent" else ABSENT,
        result=result,
        hunks=hunks_of(name, spans),
        charset=snapshot.charset.name,
        bom=snapshot.charset.bom.hex(),
    )
    contract = turn.contract_digest(task) if task in turn.state.contracts else fingerprint([])
    proposal = Proposal(
        id=name, task=task, agent="remit", files=(change,), contract=contract, policy=turn.policy_digest(), made="remit"
    )
    applying.demand_able(turn, proposal)
    if snapshot.origin != "absent":
        turn.keep(codec.encode(snapshot.text, snapshot.charset))
    turn.record(proposal)
    applying.begin(turn, proposal, approval)
