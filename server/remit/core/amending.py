"""The human changes the proposed text before accepting it. The record keeps both: the agent's, and what became of it.

The amended proposal takes the old one's place and waits for its own answer; nothing is applied here.
"""

from __future__ import annotations

from collections.abc import Mapping

from remit.core import asking, codec, diff, paths, reviewing, staleness
from remit.core import events as e
from remit.core.faults import UserFault
from remit.core.proposal import FileChange, hunks_of
from remit.core.text import split_lines
from remit.core.turn import Turn


def amend(turn: Turn, name: str, texts: Mapping[str, str]) -> str:
    """Put the human's texts (by path, whole) in the place of the proposed ones; the id of the amended proposal.

    UserFaults: already_decided, approval_unknown, approval_stale, stale, busy, invalid_params, no_change, unencodable.
    """
    subject = turn.answer(name, "amend")
    entry = reviewing.open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    reviewing.demand_free(turn, proposal)
    reviewing.demand_fresh(turn, proposal)
    wanted = {paths.parse(path, portable=False): text for path, text in texts.items()}
    strange = sorted(wanted.keys() - {file.path for file in proposal.files if file.op != "delete"})
    if strange or not wanted:
        word = ", ".join(strange) or "no path"
        raise UserFault("invalid_params", f"{proposal.id} writes nothing to {word}.", remedy="Name its own files.")
    new_id = turn.state.next_id("P")
    files: list[FileChange] = []
    for file in proposal.files:
        first = 1 + sum(len(done.hunks) for done in files)
        files.append(_amended(turn, file, wanted[file.path], new_id, first) if file.path in wanted else file)
    kept = tuple(file for file in files if file.hunks)
    if not kept or kept == proposal.files:
        raise UserFault("no_change", "The text is as it was.", remedy="Accept or reject the proposal instead.")
    turn.approve(name, subject, reviewing.shows(turn, entry))
    made = proposal.model_copy(update={"id": new_id, "files": kept, "parent": proposal.id, "made": "amend"})
    turn.record(made)
    turn.emit(e.Superseded(proposal=proposal.id, replaced_by=(new_id,)))
    asking.withdraw(turn, proposal.id, f"{new_id} took its place")
    asking.ask_all(turn, made)
    return new_id


def _amended(turn: Turn, file: FileChange, text: str, name: str, first: int) -> FileChange:
    before = staleness.base_text(turn, file.base, file.encoding()) or ""
    result = turn.keep(codec.encode(text, file.encoding()))
    if result == file.result:
        return file
    spans = diff.between(before, text)
    if file.op != "modify" and len(spans) != 1:
        whole = diff.Span(0, tuple(split_lines(before)), 0, tuple(split_lines(text)))
        spans = (whole,)
    return file.model_copy(update={"result": result, "hunks": hunks_of(name, spans, first)})
