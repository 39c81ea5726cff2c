"""What a proposal is on the present text: as it was made, fitted to what the text has become, or at odds with it.

What a review shows, and the new proposal that an answer to it makes; deciding is `core/reviewing.py`'s. Nothing here
guesses: a change that does not fit line by line is a conflict, with both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from remit.core import codec, diff, fitting, staleness
from remit.core.faults import Json, UserFault
from remit.core.fitting import Clash
from remit.core.model import ABSENT
from remit.core.proposal import FileChange, Hunk, Proposal
from remit.core.snapshot import Snapshot, Stale, judge
from remit.core.turn import Turn

Standing = Literal["fresh", "clean", "conflict", "not_possible"]

WHOLE = (0, 1 << 40)
"""The lines of a change that is about all of a file."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One file of a proposal as the present shows it.

    `hunks`: what is left to be made, under the names it was proposed with; where `clean`, on the present lines.
    `spots`: the present lines that each of the proposal's own hunks is about, by its name.
    """

    file: FileChange
    snapshot: Snapshot
    standing: Standing
    hunks: tuple[Hunk, ...]
    spots: dict[str, tuple[int, int]] = field(default_factory=dict)
    clashes: tuple[Clash, ...] = ()


def shown(turn: Turn, proposal: Proposal) -> tuple[Shown, ...]:
    """Each file of a proposal as it is now. Cheap: asked with each keystroke, for everything that waits."""
    return tuple(_shown(turn, file) for file in proposal.files)


def _shown(turn: Turn, file: FileChange) -> Shown:
    snapshot = turn.glance(file.origin)
    if file.op == "rename" and (there := turn.glance(file.path)).digest != ABSENT:
        return Shown(file, there, "not_possible", file.hunks)
    if not isinstance(judge(snapshot, _bound(file)), Stale):
        return Shown(file, snapshot, "fresh", file.hunks)
    charset = staleness.shared_charset(file, snapshot)
    since, spans = staleness.moved(turn, file.base, charset, snapshot), staleness.spans(turn, file, charset)
    if since is None or spans is None or file.op != "modify" or snapshot.origin == "absent":
        return Shown(file, snapshot, "not_possible", file.hunks)
    found = fitting.fit(since, spans)
    spots = {hunk.id: spot for hunk, spot in zip(file.hunks, found.spots, strict=True)}
    if found.clashes:
        return Shown(file, snapshot, "conflict", file.hunks, spots, found.clashes)
    if not staleness.holds(snapshot.charset, file, charset):
        return Shown(file, snapshot, "not_possible", file.hunks)
    return Shown(file, snapshot, "clean", tuple(_at(file.hunks[i], span) for i, span in found.kept), spots)


def _at(hunk: Hunk, span: diff.Span) -> Hunk:
    """A hunk at its present place; one that has moved says by how many lines."""
    shift = span.old_start - hunk.old_start
    placed = f"rebase({shift:+d})" if shift else hunk.placed
    there = {"old_start": span.old_start, "old": span.old, "new_start": span.new_start, "new": span.new}
    return hunk.model_copy(update={**there, "placed": placed})


def fits(files: Iterable[Shown]) -> bool:
    """Whether it is stale, and every file of it fits the present as it is or by a rebase."""
    standings = {one.standing for one in files}
    return "clean" in standings and standings <= {"fresh", "clean"}


def left(files: Iterable[Shown]) -> bool:
    """Whether anything of it is not there yet."""
    return any(one.hunks for one in files)


def present(turn: Turn, proposal: Proposal, hunk: str = "") -> list[Json]:
    """What an answer is bound to besides the proposal: each file that has moved, and to which content. Where its hunks
    are now, and what an answer leads to, follows from these. With a hunk, only its file counts."""
    concerned = (file for file in proposal.files if not hunk or any(each.id == hunk for each in file.hunks))
    return [[file.path, digest] for file in concerned if (digest := _moved_to(turn, file)) is not None]


def _moved_to(turn: Turn, file: FileChange) -> str | None:
    if file.op == "rename" and (there := turn.glance(file.path)).digest != ABSENT:
        return there.digest
    snapshot = turn.glance(file.origin)
    return snapshot.digest if isinstance(judge(snapshot, _bound(file)), Stale) else None


def _bound(file: FileChange) -> str:
    return file.base if file.op != "create" else ABSENT


def change(one: Shown) -> tuple[FileChange, bytes]:
    """The file change that is shown, with the bytes that it leads to; for a file whose rebase is clean."""
    lines, out, at = one.snapshot.lines, list[str](), 0
    for hunk in one.hunks:
        out += (*lines[at : hunk.old_start], *hunk.new)
        at = hunk.old_start + len(hunk.old)
    charset = one.snapshot.charset
    data = codec.encode("".join([*out, *lines[at:]]), charset)
    update = {"base": one.snapshot.digest, "result": codec.digest(data), "hunks": one.hunks}
    return one.file.model_copy(update={**update, "charset": charset.name, "bom": charset.bom.hex()}), data


def make(turn: Turn, proposal: Proposal, *, empty: bool = False) -> Proposal:
    """The proposal made anew on the present text, with a name of its own; not recorded yet. Files that hold it all
    already are left out, or kept without a hunk (`empty`). UserFaults: conflict, disk_conflict, buffer_unknown."""
    name, first = turn.state.next_id("P"), 1
    files: list[FileChange] = []
    for one in shown(turn, proposal):
        staleness.demand_known(turn.look(one.file.origin), one.snapshot.digest, UserFault)
        if one.standing in ("conflict", "not_possible"):
            raise _conflict(one)
        if one.hunks or empty:
            made = renamed(one.file if one.standing == "fresh" else _kept(turn, one), name, first)
            hunks = (new.model_copy(update={"was": old.id}) for new, old in zip(made.hunks, one.hunks, strict=True))
            files.append(made.model_copy(update={"hunks": tuple(hunks)}))
            first += len(one.hunks)
    return proposal.model_copy(
        update={"id": name, "files": tuple(files), "parent": proposal.id, "made": "rebase"}
        | {"contract": turn.contract_digest(proposal.task), "policy": turn.policy_digest()}
    )


def renamed(file: FileChange, name: str, first: int) -> FileChange:
    """The change with its hunks named `name.first` and on."""
    hunks = (hunk.model_copy(update={"id": f"{name}.{at}"}) for at, hunk in enumerate(file.hunks, first))
    return file.model_copy(update={"hunks": tuple(hunks)})


def _kept(turn: Turn, one: Shown) -> FileChange:
    made, data = change(one)
    turn.keep(data)
    # The base too: parts are made from it, and a crash is undone with it.
    turn.keep(codec.encode(one.snapshot.text, one.snapshot.charset))
    return made


def _conflict(one: Shown) -> UserFault:
    path = one.file.path
    if one.standing == "not_possible":
        return UserFault("conflict", f"{path} cannot be rebased.", remedy="Have it proposed anew.", path=path)
    return UserFault(
        "conflict",
        f"{path}: the same lines were changed on both sides.",
        remedy="Have it proposed anew.",
        path=path,
        lines=[clash.base_start + 1 for clash in one.clashes],
        conflicts=[view.wire() for view in staleness.conflicts(one.clashes)],
    )
