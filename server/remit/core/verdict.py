"""How a proposal stands, as its agent is told: its hunks, what moved, what took its place, and what to do next.

Deciding about it is `reviewing`'s and what an agent reads besides is `reading`'s.
"""

from __future__ import annotations

from remit.core import codec, overlapping, printer, proposing, staleness
from remit.core.answers import (
    ProposalResult,
    ReplacementView,
    StaleView,
)
from remit.core.entries import ProposalEntry
from remit.core.faults import AgentFault, OurFault
from remit.core.model import ABSENT
from remit.core.permission import rights
from remit.core.proposal import FileChange, Proposal
from remit.core.turn import Turn

CUT = "\n… (cut; the hunks say the rest)\n"
PAGE_ENTRIES = 20
"""The status page names at most this many of each kind: it must fit into a model that has lost its history."""


def demand_visible(turn: Turn, agent: str, task: str | None, name: str) -> None:
    """Refuse what is neither this agent's nor of its task. AgentFault("unknown_proposal")."""
    entry = turn.state.proposals.get(name)
    if entry is None or not (entry.outline.agent == agent or (task is not None and entry.outline.task == task)):
        raise AgentFault("unknown_proposal", f"There is no proposal {name}.", remedy="Call task_status.")


def shown_proposal(turn: Turn, task: str | None, name: str) -> ProposalResult:
    """`proposal` with its diff, where the task lets the agent read. AgentFault("unknown_proposal")."""
    answer = proposal(turn, name)
    if task is not None and "read_file" not in rights(turn.contract(task), turn.policy()):
        return answer  # the lines around a change are more than its agent sent
    body = turn.state.proposals[name].outline.body
    # A proposal never changes, and this is asked again with each event for as long as somebody waits.
    try:
        text, _ = turn.memory.told.get(("diff", body, ""), lambda: (_diff(turn, turn.proposal(name)), False))
    except OurFault:
        return answer  # its texts were purged: what is known of it is told all the same
    return answer.model_copy(update={"diff": text})


def _diff(turn: Turn, whole: Proposal) -> str:
    parts: list[str] = []
    for file in whole.files:
        base = None if file.base == ABSENT else turn.kept(file.base)
        result = None if file.result == ABSENT else turn.kept(file.result)
        texts = [_as_git_has_it(data, file) for data in (base, result)]
        ids = [codec.blob_id(data) if data is not None and file.charset == "utf-8" else None for data in (base, result)]
        parts.append(printer.printed([printer.change(file, texts[0], texts[1], (ids[0], ids[1]))]))
        if sum(map(len, parts)) > staleness.DIFF_LIMIT:
            break
    text = "".join(parts).encode(errors="backslashreplace").decode()
    return text if len(text) <= staleness.DIFF_LIMIT else text[: staleness.DIFF_LIMIT] + CUT


def _as_git_has_it(data: bytes | None, file: FileChange) -> str:
    """The text, with its mark where git takes it for a part of the first line."""
    if data is None:
        return ""
    return data.decode() if file.charset == "utf-8" else codec.decode_as(data, file.encoding())


def proposal(turn: Turn, name: str) -> ProposalResult:
    """How a proposal stands, with what became of its parts. AgentFault("unknown_proposal")."""
    whole = turn.proposal(name)
    entry = turn.state.proposals[name]
    heads = _heads(turn, entry)
    stale = tuple(
        view for head in heads if head.open for view in staleness.views(turn, turn.proposal(head.outline.proposal))
    )
    blocking = tuple(
        d.asked.decision
        for d in turn.state.pending_decisions()
        if d.asked.subject in {h.outline.proposal for h in heads}
    )
    settled = not any(head.open or head.state == "accepted" for head in heads)
    open_heads = (turn.proposal(head.outline.proposal) for head in heads if head.open)
    doubt = next((said for head in open_heads if (said := staleness.doubt(turn, head))), "")
    return ProposalResult(
        proposal_id=name,
        state=entry.state,
        fresh=entry.open and not stale and staleness.is_fresh(turn, whole),
        settled=settled and not blocking,
        hunks=tuple(proposing.hunk_view(turn, file, hunk) for file, hunk in whole.hunks()),
        replaced_by=tuple(head.outline.proposal for head in heads if head is not entry),
        stale=stale,
        overlaps=overlapping.told(turn, whole) if entry.open else (),
        decisions=blocking,
        reason=doubt or entry.reason,
        replacements=tuple(_replacement(turn, head) for head in heads if head is not entry),
        next=_next(heads, stale, settled, blocking, doubt),
    )


def _heads(turn: Turn, entry: ProposalEntry) -> list[ProposalEntry]:
    """The proposals in which this one lives on: itself, or whatever replaced it."""
    found: list[ProposalEntry] = []
    waiting = [entry]
    while waiting:  # and not recursion: an agent may replace its own for ever
        here = waiting.pop()
        waiting += [turn.state.proposals[name] for name in reversed(here.replaced_by)]
        if not here.replaced_by:
            found.append(here)
    return found


def _replacement(turn: Turn, head: ProposalEntry) -> ReplacementView:
    whole = turn.proposal(head.outline.proposal)
    return ReplacementView(
        proposal_id=whole.id,
        made=whole.made,
        state=head.state,
        digest=head.outline.digest,
        files=tuple(proposing.file_view(file) for file in whole.files),
    )


def _next(
    heads: list[ProposalEntry], stale: tuple[StaleView, ...], settled: bool, blocking: tuple[str, ...], doubt: str
) -> str:
    if blocking:
        return f"It waits for the human's answer to {', '.join(blocking)}."
    if doubt:
        return f"Nothing is applied while that is so: {doubt} Wait for the human, or call ask_human."
    if stale and all(view.rebase == "clean" for view in stale):
        return "The file moved; it still fits and is shown so: call wait_for_review again, or propose with `replaces`."
    if stale:
        return "The file moved and it does not fit: see `conflicts`, read the file, propose anew with `replaces`."
    if not settled:
        return "It waits for the human's review: call wait_for_review again."
    states = sorted({head.state for head in heads})
    if states == ["applied"]:
        return "All of it is applied. Read a file again before you change it further."
    if states == ["undone"]:
        return "It was applied, and the human took it back. Do not propose it again unasked."
    if "outcome_unknown" in states:
        return "Nobody knows whether it was applied. Do not propose it again before the human has said."
    return f"It is {' and '.join(states)}. See the hunks for what was applied and what was not."
