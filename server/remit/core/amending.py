"""The human changes the proposed text before accepting it. The record keeps both: the agent's, and what became of it.

The amended proposal takes the old one's place and waits for its own answer; nothing is applied here.
"""

from __future__ import annotations

from collections.abc import Mapping

from remit.core import codec, diff, ending, paths, rebasing, reviewing, staleness
from remit.core.faults import UserFault
from remit.core.proposal import FileChange, hunks_of
from remit.core.text import split_lines
from remit.core.turn import Turn


def amend(turn: Turn, name: str, texts: Mapping[str, str]) -> str:
    """Put the human's texts (by path, whole) in the place of the proposed ones; the id of the amended proposal.

    Of a proposal that was shown rebased, the amended one is made for the present text.

    UserFaults: already_decided, approval_unknown, approval_stale, stale, busy, invalid_params, no_change, unencodable.
    """
    subject = turn.answer(name, "amend")
    entry = reviewing.open_entry(turn, subject.target)
    proposal = turn.proposal(subject.target)
    ending.demand_free(turn, proposal)
    shown = reviewing.shows(turn, entry, "amend")
    onto = reviewing.onto_present(turn, name, subject, shown, proposal)
    wanted = {paths.parse(path, portable=False): text for path, text in texts.items()}
    strange = sorted(wanted.keys() - {file.path for file in proposal.files if file.op != "delete"})
    if strange or not wanted:
        word = ", ".join(strange) or "no path"
        raise UserFault("invalid_params", f"{proposal.id} writes nothing to {word}.", remedy="Name its own files.")
    new_id, first = turn.state.next_id("P"), 1
    files: list[FileChange] = []
    for file in onto.files:
        made = _amended(turn, file, wanted[file.path], new_id, first) if file.path in wanted else file
        if onto is not proposal and made is file:
            made = rebasing.renamed(file, new_id, first)
        files.append(made)
        first += len(made.hunks)
    kept = tuple(file for file in files if file.hunks)
    if not kept or kept == onto.files:
        raise UserFault("no_change", "The text is as it was.", remedy="Accept or reject the proposal instead.")
    turn.approve(name, subject, shown)
    update = {"id": new_id, "files": kept, "parent": proposal.id, "made": "amend"}
    reviewing.succeed(turn, proposal, onto.model_copy(update=update))
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
