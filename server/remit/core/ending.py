"""How an apply ends: known, or unknown and handed to the human; and what follows from a change that is there.

Carrying it out is `core/applying.py`; finding out after a crash is `core/recovering.py`.
"""

from __future__ import annotations

from remit.core import asking
from remit.core import events as e
from remit.core import proposal as proposals
from remit.core.action import ActionState
from remit.core.entries import ActionEntry
from remit.core.faults import UserFault
from remit.core.model import fingerprint
from remit.core.proposal import Proposal, rebind
from remit.core.turn import Turn


def move(turn: Turn, name: str, state: ActionState, reason: str = "", guard: str = "") -> None:
    """Say that an action has moved, with what was found at its targets."""
    found = turn.found(target.path for target in turn.state.actions[name].plan.targets) if guard == "" else {}
    turn.emit(
        e.ActionMoved(
            action=name, to=state, reason=reason, guard=guard, found=found if state not in ("authorized",) else {}
        )
    )


def end(turn: Turn, name: str, state: ActionState, reason: str = "") -> None:
    """An apply of this session is over, and how it ended is known."""
    flight = turn.memory.inflight.pop(name, None)
    move(turn, name, state, reason)
    proposal = turn.state.actions[name].plan.subject
    if state == "succeeded":
        after_success(turn, name)
    elif turn.state.proposals[proposal].outline.made == "remit" and flight is not None:
        turn.emit(e.Withdrawn(proposal=proposal, reason=reason))


def after_success(turn: Turn, name: str) -> None:
    """What follows from a change that is there: the rest of a divided proposal is bound to it, questions are moot."""
    entry = turn.state.actions[name]
    proposal = turn.proposal(entry.plan.subject)
    asking.withdraw(turn, proposal.id, "its proposal was applied")
    asking.withdraw(turn, name, "what happened is known now")
    if proposal.made == "undo" and proposal.parent is not None:
        turn.emit(e.Undone(proposal=proposal.parent, by=proposal.id))
    if proposal.made != "part" or proposal.parent is None:
        return
    parent = turn.state.proposals[proposal.parent]
    if parent.state not in proposals.OPEN:
        return
    rest = _rest(turn, turn.proposal(proposal.parent), proposal)
    names = (proposal.id,) if rest is None else (proposal.id, rest.id)
    if rest is not None:
        turn.record(rest)
    turn.emit(e.Superseded(proposal=proposal.parent, replaced_by=names))
    asking.withdraw(turn, proposal.parent, f"{names[-1]} took its place")
    if rest is not None:
        asking.ask_all(turn, rest)


def _rest(turn: Turn, whole: Proposal, part: Proposal) -> Proposal | None:
    done = {hunk.id for _, hunk in part.hunks()}
    bases = {file.path: file.result for file in part.files}
    files = []
    for file in whole.files:
        if file.path not in bases:
            files.append(file)
        elif {hunk.id for hunk in file.hunks} - done:
            files.append(rebind(file, done, bases[file.path]))
    if not files:
        return None
    return whole.model_copy(
        update={"id": turn.state.next_id("P"), "files": tuple(files), "parent": whole.id, "made": "rest"}
    )


def demand_free(turn: Turn, proposal: Proposal) -> None:
    """Refuse while another apply is writing one of its files. UserFault("busy")."""
    touched = set(proposal.touches())
    for running in turn.state.running():
        if running.plan.kind == "apply" and touched & {target.path for target in running.plan.targets}:
            raise UserFault(
                "busy",
                f"{running.plan.action} is still writing {running.plan.targets[0].path} ({running.state}).",
                remedy="Wait for it, or answer its decision.",
                action=running.plan.action,
            )


def lose(turn: Turn, name: str, reason: str) -> None:
    """The outcome is unknown: say so, and ask the human, with what was found."""
    turn.memory.inflight.pop(name, None)
    move(turn, name, "outcome_unknown", reason)
    ask_about(turn, turn.state.actions[name], reason)


def ask_about(turn: Turn, entry: ActionEntry, reason: str) -> None:
    """Hand an unknown outcome to the human."""
    move(turn, entry.plan.action, "needs_human_decision", reason)
    ask(turn, entry, reason)


def ask(turn: Turn, entry: ActionEntry, reason: str) -> None:
    """Put the question what became of an apply, with what was found."""
    name = entry.plan.action
    listed = "; ".join(f"{path}: {_found_word(entry, path, found)}" for path, found in entry.found.items())
    turn.emit(
        e.DecisionAsked(
            decision=turn.state.next_id("D"),
            kind="unknown_outcome",
            task=entry.plan.task,
            question=f"Was {entry.plan.subject} applied? Nobody knows: {reason}.",
            why=f"Found now: {listed}." if listed else "Nothing was found that tells.",
            options=(
                e.Option(
                    id="not_applied", title="It was not applied", effect="It can be accepted again. No file is touched."
                ),
                e.Option(id="applied", title="It was applied", effect="It counts as done. No file is touched."),
            ),
            about=next(iter(entry.found), None),
            subject=name,
            binding=fingerprint(dict(entry.found)),
        )
    )


def _found_word(entry: ActionEntry, path: str, found: str) -> str:
    target = next(target for target in entry.plan.targets if target.path == path)
    return {target.after: "the new text", target.before: "the old text"}.get(found, f"other text ({found[:12]}…)")
