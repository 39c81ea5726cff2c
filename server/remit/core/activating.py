"""The human puts a contract or a policy in force: one exact text, by digest.

Also what follows from a yes to a draft or an amendment; how an agent asks for one is `core/drafting.py`.
"""

from __future__ import annotations

from remit.core import applying, asking, codec, diff, source, staleness
from remit.core import events as e
from remit.core.entries import DecisionEntry
from remit.core.faults import Json, UserFault
from remit.core.model import ABSENT, fingerprint
from remit.core.permission import excess
from remit.core.proposal import FileChange, Proposal, hunks_of
from remit.core.snapshot import Fresh, Snapshot, judge
from remit.core.turn import Turn

POLICY_PATH = ".remit/policy.toml"


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
    text, guessed = snapshot.text, staleness.guessed(snapshot)
    if path == POLICY_PATH:
        if (problems := source.policy(text, guessed=guessed).problems) or snapshot.origin == "absent":
            raise UserFault("policy_invalid", _first(problems, path), path=path)
        approval = turn.approve(name, subject, shows(turn, path))
        turn.emit(e.PolicyActivated(policy=turn.keep(text.encode()), approval=approval))
        return "policy"
    found = source.contract(text, guessed=guessed)
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
    ended = [name for name, (_, known) in turn.state.contracts.items() if known.path == path and name != task]
    turn.emit(
        e.ContractActivated(
            task=task,
            path=path,
            contract=turn.keep(text.encode()),
            policy=turn.policy_digest(),
            approval=approval,
        )
    )
    for name in ended:
        _end(turn, name, task)
    # What was drafted from the text before would take back what this one changes.
    for subject in dict.fromkeys((path, replaced)):
        asking.withdraw(turn, subject, f"the contract of {task} has changed; ask again")


def _end(turn: Turn, task: str, follower: str) -> None:
    """The contract's file names another task now: what waited under the old one is withdrawn."""
    reason = f"{task} has ended: its contract is {follower}'s now"
    for entry in turn.state.open_proposals():
        if entry.outline.task == task:
            turn.emit(e.Withdrawn(proposal=entry.outline.proposal, reason=reason))
    for decision in turn.state.pending_decisions():
        if decision.asked.task == task and decision.asked.kind != "unknown_outcome":
            turn.emit(e.DecisionWithdrawn(decision=decision.asked.decision, reason=reason))


def _first(problems: tuple[source.Problem, ...], path: str) -> str:
    return problems[0].message if problems else f"{path} does not exist."


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
    there = turn.look(asked.about)
    if asked.kind == "contract" or (_known(there) and there.text == before):
        _write(turn, value.task_id, asked.about, text, approval)
    # Else the human has written something else there since; what was shown is a change of the text in force.


def _demand_unused(turn: Turn, task: str, path: str, text: str) -> None:
    """A draft was shown as a new contract: it takes no other's place, in force or in the folder."""
    remedy = "Discard the draft, or do away with the other contract."
    if task in turn.state.contracts:
        raise UserFault("contract_active", f"Another contract of {task} is active by now.", remedy=remedy)
    if not free(turn, path, text):
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


def free(turn: Turn, path: str, text: str) -> bool:
    """Whether writing `text` there takes nothing away: what the human wrote is never replaced unseen."""
    snapshot = turn.look(path)
    return _known(snapshot) and (snapshot.origin == "absent" or snapshot.text == text)


def _known(snapshot: Snapshot) -> bool:
    return isinstance(judge(snapshot, snapshot.digest), Fresh)
