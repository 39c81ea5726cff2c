"""Taking back what was applied: the agent's hunks go, what the human wrote since stays; or it is said why not.

A reverse patch by three-way merge on the present text, applied like any other. What is shown for the yes is exactly
what is written.
"""

from __future__ import annotations

from remit.core import applying, codec, diff, ending, staleness
from remit.core.entries import ProposalEntry
from remit.core.faults import Fault, Json, UserFault
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Hunk, Proposal, hunks_of
from remit.core.snapshot import Snapshot
from remit.core.text import split_lines
from remit.core.turn import Turn


def undo(turn: Turn, name: str) -> str:
    """Take an applied proposal back; the id of the action that does it.

    UserFaults: already_decided, approval_unknown, approval_stale, conflict, no_change, disk_conflict, buffer_unknown,
    no_editor, client_cannot_apply, target_open, busy.
    """
    subject = turn.answer(name, "undo")
    entry = turn.state.proposals[subject.target]
    if entry.state != "applied":
        raise UserFault("already_decided", f"{subject.target} is {entry.state}.", state=entry.state)
    made = reverse(turn, entry)
    ending.demand_free(turn, made)
    applying.demand_able(turn, made)
    approval = turn.approve(name, subject, _shows(entry, made))
    turn.record(made)
    return applying.begin(turn, made, approval)


def offer(turn: Turn, entry: ProposalEntry) -> str | None:
    """The offer to take an applied proposal back, if that can be done on the present texts."""
    try:
        return turn.offer("undo", entry.outline.proposal, _shows(entry, reverse(turn, entry)))
    except Fault:
        return None


def newest(turn: Turn, path: str) -> ProposalEntry | None:
    """The last proposal that was applied to a file and was not taken back."""
    for entry in reversed(turn.state.proposals.values()):
        paths = {name for file in entry.outline.files for name in (file.path, file.source)}
        if entry.state == "applied" and entry.outline.made != "undo" and path in paths:
            return entry
    return None


def _shows(entry: ProposalEntry, made: Proposal) -> dict[str, Json]:
    """What is shown: the proposal, and to which content each file goes from which."""
    files: list[Json] = [[file.path, file.op, file.base, file.result] for file in made.files]
    return {"proposal": entry.outline.digest, "files": files}


def reverse(turn: Turn, entry: ProposalEntry) -> Proposal:
    """The proposal that takes an applied one back, made for the present. UserFaults: conflict, no_change, …"""
    proposal = turn.proposal(entry.outline.proposal)
    name = turn.state.next_id("P")
    files: list[FileChange] = []
    for file in proposal.files:
        first = 1 + sum(len(done.hunks) for done in files)
        if (back := _back(turn, file, name, first)) is not None:
            files.append(back)
    if not files:
        raise UserFault("no_change", f"Nothing of {proposal.id} is left in the files.")
    return proposal.model_copy(
        update={"id": name, "files": tuple(files), "parent": proposal.id, "made": "undo", "note": ""}
    )


def _back(turn: Turn, file: FileChange, name: str, first: int) -> FileChange | None:
    if file.op == "delete":
        return _recreated(turn, file, name, first)
    snapshot = turn.look(file.path)
    staleness.demand_known(snapshot, snapshot.digest, UserFault)
    if file.op == "create":
        return _deleted(snapshot, file, name, first)
    merged = _merged(turn, snapshot, file)
    if merged == snapshot.text and file.op == "modify":
        return None
    change = {
        "base": snapshot.digest,
        "result": turn.keep(codec.encode(merged, snapshot.charset)),
        "hunks": hunks_of(name, diff.between(snapshot.text, merged), first),
        "charset": snapshot.charset.name,
        "bom": snapshot.charset.bom.hex(),
    }
    turn.keep(codec.encode(snapshot.text, snapshot.charset))
    if file.op == "modify":
        return file.model_copy(update=change)
    if file.source is None or turn.look(file.source).digest != ABSENT:
        raise _conflict(file.origin, "there is another file at its old place")
    whole = _whole(name, first, snapshot.text, merged)
    return file.model_copy(update={**change, "path": file.source, "source": file.path, "hunks": whole})


def _merged(turn: Turn, snapshot: Snapshot, file: FileChange) -> str:
    charset = staleness.shared_charset(file, snapshot)
    before = staleness.base_text(turn, file.base, charset)
    after = staleness.result_text(turn, file, charset)
    if before is None or after is None or snapshot.origin == "absent":
        raise _conflict(file.path, "the file is gone")
    merged = diff.merge(after, snapshot.text, before)
    if isinstance(merged, diff.Merged):
        return merged.text
    beside = _beside(after, diff.since(after, before), diff.since(after, snapshot.text))
    if beside is None:
        raise _conflict(file.path, "the same lines were changed since")
    return beside


def _beside(text: str, back: tuple[diff.Span, ...], since: tuple[diff.Span, ...]) -> str | None:
    """Both changes of `text` where they touch at most, and do not both put lines in at one place; else None.

    A merge of two people's work must not guess that neighbours get along. Here the lines that go are those the agent
    brought, each still as it was brought: what was written right beside them since is nobody's to take along. Not where
    it could be a copy of them that goes, nor where two lines would become one.
    """
    both = sorted([*back, *since], key=lambda span: (span.old_start, span.old_end))
    for at, other in enumerate(both[1:]):
        one = both[at]
        if one.old_end > other.old_start or (one.old_end == other.old_start and _is_open(one, other, back)):
            return None
    written = "".join(line for span in since for line in span.new)
    if any(span.old and "".join(span.old) in written for span in back):
        return None
    made = diff.apply(text, both)
    lines = [line for span in (*back, *since) for line in span.new if line]
    return made if set(lines) <= set(split_lines(made)) else None


def _is_open(one: diff.Span, other: diff.Span, back: tuple[diff.Span, ...]) -> bool:
    """Whether two changes that touch leave open which lines come first: one only puts lines in, and of the other, which
    brings old lines back, nobody knows which of them they stood beside."""
    if one.old and other.old:
        return False
    brought = one if one in back else other
    return bool(brought.new) and len(brought.new) != len(brought.old)


def _deleted(snapshot: Snapshot, file: FileChange, name: str, first: int) -> FileChange:
    if not snapshot.is_named(file.result):
        raise _conflict(file.path, "it was changed since it was made")
    hunks = _whole(name, first, snapshot.text, "")
    return file.model_copy(update={"op": "delete", "base": snapshot.digest, "result": ABSENT, "hunks": hunks})


def _recreated(turn: Turn, file: FileChange, name: str, first: int) -> FileChange:
    if turn.look(file.path).digest != ABSENT:
        raise _conflict(file.path, "there is another file now")
    text = staleness.base_text(turn, file.base, file.encoding()) or ""
    hunks = _whole(name, first, "", text)
    return file.model_copy(update={"op": "create", "base": ABSENT, "result": file.base, "hunks": hunks})


def _whole(name: str, first: int, old: str, new: str) -> tuple[Hunk, ...]:
    return hunks_of(name, (diff.Span(0, tuple(split_lines(old)), 0, tuple(split_lines(new))),), first)


def _conflict(path: str, why: str) -> UserFault:
    return UserFault("conflict", f"{path} cannot be taken back: {why}.", remedy="Change it by hand.", path=path)
