"""Findings about what agents propose and nobody has decided on: each hunk on the lines of the present text.

A hunk whose text has moved is shown as it fits now; one that does not fit, with both sides. Also what was applied
without a review and nobody has looked at yet. What can be done about either is in `core/reviewing.py` and `atonce`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from remit.core import diff, fitting, overlapping, rebasing, staleness
from remit.core.entries import ProposalEntry
from remit.core.faults import Json
from remit.core.finding import TOP, Doable, Finding, Region, agent_name, in_contract, lines_region, short
from remit.core.overlapping import Overlaps, Touch
from remit.core.proposal import FileChange, Hunk, Proposal
from remit.core.rebasing import Shown
from remit.core.snapshot import Snapshot
from remit.core.turn import Turn

RELATED = 5
"""Places of what has changed, or is in conflict, that one finding names."""

UNSEEN = 50
"""Proposals that were applied without a review and are shown, the newest; the report has all of them."""


def proposals(turn: Turn) -> Iterator[Finding]:
    """patch-pending, patch-stale."""
    shown = overlapping.standing(turn)
    others = overlapping.overlaps(shown)
    owned = {d.asked.subject for d in turn.state.decisions.values() if d.asked.kind == "protected_path"}
    for name, files in shown.items():
        entry, proposal = turn.state.proposals[name], turn.proposal(name)
        way = _way(proposal, files, owned)
        for one in files:
            yield from (
                _fresh(turn, entry, proposal, one, others)
                if one.standing == "fresh"
                else (_moved(turn, proposal, one, way, others))
            )


def _way(proposal: Proposal, files: Sequence[Shown], owned: set[str]) -> str:
    """What can be done about a stale one: `accept` it as shown, `rebase` it first, or neither."""
    if not rebasing.fits(files):
        return ""
    return "rebase" if proposal.id in owned or not rebasing.left(files) else "accept"


# --- on the text it was made for --------------------------------------------------------------------------------------


def _fresh(turn: Turn, entry: ProposalEntry, proposal: Proposal, one: Shown, others: Overlaps) -> Iterator[Finding]:
    who = agent_name(turn, proposal.agent)
    file, many = one.file, sum(1 for _ in proposal.hunks())
    failed = f" Last attempt failed: {entry.reason}." if entry.state == "failed_without_effect" else ""
    lines = one.snapshot.lines
    for number, hunk in enumerate(file.hunks, 1):
        path, region = file.origin, lines_region(lines, hunk.old_start, len(hunk.old))
        if file.op == "create":
            path, region = _home(turn, proposal.task, file.path)
        near = others.get(hunk.id, ())
        yield Finding(
            "patch-pending",
            path,
            region,
            "information",
            short(f"{proposal.id} by {who} {_what(file, hunk, number)}.{_ends(one.snapshot)}{failed or _also(near)}"),
            _answers(proposal, hunk, many),
            _touching(turn, near),
            {"proposal": proposal.id, "hunk": hunk.id, **_named(near)},
        )


def _home(turn: Turn, task: str, path: str) -> tuple[str, Region]:
    """A file that does not exist cannot carry a mark: its contract does."""
    return in_contract(turn, task, "writeScope") if task in turn.state.contracts else (path, TOP)


def _what(file: FileChange, hunk: Hunk, number: int) -> str:
    mode = {None: "", True: ", executable", False: ", not executable" * (file.op != "create")}[file.executable]
    if file.op == "create":
        copied = f" as a copy of {file.copy_of}" if file.copy_of is not None else ""
        return f"would create {file.path}{copied}{mode}"
    if file.op == "delete":
        return "would delete this file"
    if file.op == "rename":
        return f"would {'change and ' * (file.result != file.base)}move this file to {file.path}{mode}"
    if file.result == file.base:
        return f"would make this file{mode[1:]}"
    place = f" ({number} of {len(file.hunks)})" if len(file.hunks) > 1 else ""
    how = "" if hunk.placed == "exact" or hunk.placed.startswith("rebase") else f", placed by {hunk.placed}"
    return f"would change {_count(len(hunk.old))} into {_count(len(hunk.new))}{place}{mode}{how}"


def _ends(snapshot: Snapshot) -> str:
    return " A save changes other lines' ends too." if snapshot.normalised else ""


def _count(lines: int) -> str:
    return {0: "no line", 1: "1 line"}.get(lines, f"{lines} lines")


def _answers(proposal: Proposal, hunk: Hunk, many: int) -> tuple[Doable, ...]:
    files = len(proposal.files)
    # What is accepted is more than what this file shows: the title says so.
    also = f" (all {files} files)" if files > 1 else ""
    whole = (
        Doable(f"Accept {proposal.id}{also}", "accept", proposal.id, preferred=many == 1),
        Doable(f"Reject {proposal.id}{also}", "reject", proposal.id),
    )
    if many == 1:
        return whole
    return (
        Doable(f"Accept this hunk ({hunk.id})", "acceptHunk", proposal.id, hunk.id, preferred=True),
        Doable(f"Reject this hunk ({hunk.id})", "rejectHunk", proposal.id, hunk.id),
        *whole,
    )


# --- others for the same lines ----------------------------------------------------------------------------------------


def _also(near: Sequence[Touch]) -> str:
    names = list(dict.fromkeys(touch.proposal for touch in near))
    return f" {' and '.join(names[:2])}{' and others' * (len(names) > 2)} would too." if names else ""


def _named(near: Sequence[Touch]) -> Mapping[str, Json]:
    return {"overlaps": [*dict.fromkeys(touch.proposal for touch in near)]} if near else {}


def _touching(turn: Turn, near: Sequence[Touch]) -> tuple[tuple[str, Region, str], ...]:
    return tuple(_touch(turn, touch) for touch in near)


def _touch(turn: Turn, touch: Touch) -> tuple[str, Region, str]:
    who = agent_name(turn, turn.state.proposals[touch.proposal].outline.agent)
    lines = turn.glance(touch.path).lines
    region = lines_region(lines, touch.start, touch.end - touch.start)
    return touch.path, region, f"{touch.proposal} by {who} is about these lines too ({touch.hunk})."


# --- on a text that has moved -----------------------------------------------------------------------------------------


def _moved(turn: Turn, proposal: Proposal, one: Shown, way: str, others: Overlaps) -> Iterator[Finding]:
    who, file, lines = agent_name(turn, proposal.agent), one.file, one.snapshot.lines
    related = tuple(_since(turn, one, lines))
    many = sum(1 for _ in proposal.hunks())
    fitted = {hunk.id: hunk for hunk in one.hunks} if one.standing == "clean" else {}
    base = {"base": file.base}
    for number, old in enumerate(file.hunks, 1):
        hunk, near = fitted.get(old.id), others.get(old.id, ())
        start, end = one.spots.get(old.id, (old.old_start, old.old_start + len(old.old)))
        if not way:
            words = f"{proposal.id} by {who} was made from a text that has changed. It does not fit any more."
            if one.standing == "clean":
                words = (
                    f"{proposal.id} by {who} was made from a text that has changed. Another part of it does not fit."
                )
        elif hunk is None:
            words = f"{proposal.id} by {who}: the file holds this part of it already."
        else:
            tail = f"{_ends(one.snapshot)}{_also(near)}"
            words = f"{proposal.id} by {who}, {_shift(old, hunk)}, {_what(file, hunk, number)}.{tail}"
        yield Finding(
            "patch-stale",
            file.origin,
            lines_region(lines, start, end - start),
            "warning",
            short(words),
            _stale_answers(proposal, hunk, way, many),
            (*related, *_touching(turn, near)),
            {"proposal": proposal.id, "hunk": old.id, **base, "shown": _shown(way, one), **_named(near)},
        )


def _shown(way: str, one: Shown) -> str:
    return "rebased" if way and one.standing == "clean" else one.standing


def _shift(old: Hunk, hunk: Hunk) -> str:
    """How a hunk came to where it is shown."""
    by = hunk.old_start - old.old_start
    return f"moved {_count(abs(by))} {'down' if by > 0 else 'up'}" if by else "fitted to the present text"


def _since(turn: Turn, one: Shown, lines: Sequence[str]) -> Iterator[tuple[str, Region, str]]:
    """Where both sides changed the same lines; else what has changed at all."""
    path = one.file.origin
    for clash in one.clashes[:RELATED]:
        region = lines_region(lines, clash.present_start, len(clash.present))
        yield path, region, "Changed here and in the proposal: the two do not fit."
    if not one.clashes:
        for span in (staleness.moved(turn, one.file.base, one.file.encoding(), one.snapshot) or ())[:RELATED]:
            yield path, lines_region(lines, span.new_start, len(span.new)), "This has changed since."


def _stale_answers(proposal: Proposal, hunk: Hunk | None, way: str, many: int) -> tuple[Doable, ...]:
    name = proposal.id
    also = f" (all {len(proposal.files)} files)" if len(proposal.files) > 1 else ""
    reject = Doable(f"Reject {name}{also}", "reject", name)
    rebase = Doable(f"Rebase {name} onto the present text", "rebase", name, preferred=way == "rebase")
    if not way:
        return (reject,)
    if way == "rebase":
        return rebase, reject
    alone = many == 1
    whole = (Doable(f"Accept {name} as shown{also}", "accept", name, preferred=alone), reject, rebase)
    if alone or hunk is None:
        return whole
    return (
        Doable(f"Accept this hunk as shown ({hunk.id})", "acceptHunk", name, hunk.id, preferred=True),
        Doable(f"Reject this hunk ({hunk.id})", "rejectHunk", name, hunk.id),
        *whole,
    )


# --- applied, and not looked at ---------------------------------------------------------------------------------------


def unseen(turn: Turn) -> Iterator[Finding]:
    """applied-not-reviewed: what was applied at once, where it is now, until the human has said that they saw it."""
    waiting = [entry for entry in turn.state.proposals.values() if entry.unseen]
    for entry in waiting[-UNSEEN:]:
        proposal = turn.proposal(entry.outline.proposal)
        for file in proposal.files:
            yield from _unseen(turn, proposal, file)


def _unseen(turn: Turn, proposal: Proposal, file: FileChange) -> Iterator[Finding]:
    name, who = proposal.id, agent_name(turn, proposal.agent)
    # Whether it can be taken back is found out where it is asked for: that merges texts.
    doable = (Doable(f"I have seen {name}", "seen", name, preferred=True),)
    snapshot = turn.glance(file.path)
    words = f"{name} by {who} was applied without a review"
    if snapshot.origin == "absent":
        path, region = _home(turn, proposal.task, file.path)
        yield Finding("applied-not-reviewed", path, region, "information", short(f"{words}: {file.path}."), doable)
        return
    for number, (hunk, region) in enumerate(_now(turn, file, snapshot), 1):
        part = f" ({number} of {len(file.hunks)})" if len(file.hunks) > 1 else ""
        data: Mapping[str, Json] = {"proposal": name, "hunk": hunk.id}
        message = short(f"{words}: {_count(len(hunk.old))} became {_count(len(hunk.new))}{part}.")
        yield Finding("applied-not-reviewed", file.path, region, "information", message, doable, data=data)


def _now(turn: Turn, file: FileChange, snapshot: Snapshot) -> Iterator[tuple[Hunk, Region]]:
    """Each applied hunk, and where its lines are in the present text."""
    lines = snapshot.lines
    since = staleness.moved(turn, file.result, file.encoding(), snapshot) or ()
    made = [diff.Span(hunk.new_start, hunk.new, hunk.old_start, hunk.old) for hunk in file.hunks]
    spots = fitting.fit(since, made).spots
    for hunk, (start, end) in zip(file.hunks, spots, strict=True):
        yield hunk, lines_region(lines, start, end - start)
