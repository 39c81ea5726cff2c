"""An agent proposes: from a patch or whole texts to a proposal bound to digests, or a refusal that says what to do.

Everything is worked out in memory first; a refusal leaves no trace of half a proposal. Deciding about it is
`core/reviewing.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from remit.core import asking, binding, codec, diff, paths, place, plain, room, staleness, wish
from remit.core import events as e
from remit.core.answers import FileView, HunkView, ProposeResult
from remit.core.faults import AgentFault
from remit.core.form import Kept
from remit.core.model import ABSENT
from remit.core.permission import Ask, Refuse, may_write, rights
from remit.core.place import Placed
from remit.core.proposal import FileChange, Hunk, Proposal, hunks_of
from remit.core.requests import ProposeParams
from remit.core.snapshot import Snapshot
from remit.core.text import split_lines
from remit.core.turn import Turn
from remit.core.wish import Wish


def propose(turn: Turn, agent: str, task: str, params: ProposeParams) -> ProposeResult:
    """File a proposal. AgentFaults: see `contracts/methods.md` under `propose_patch`."""
    wishes, notes = wish.wishes(params)
    room.demand_size(len(wishes))
    bases = {paths.parse(path, portable=False): bound for path, bound in params.bases.items()}
    asks = _permitted(turn, task, [path for one in wishes for path in one.touches()])
    name = turn.state.next_id("P")
    files: list[FileChange] = []
    for one in wishes:
        first = 1 + sum(len(file.hunks) for file in files)
        files.append(_change(turn, agent, task, one, bases, name, first))
    touched = [path for file in files for path in file.touches()]
    wish.once(touched)  # a link and its target are one file
    asks |= _permitted(turn, task, touched)
    asks |= {path: why for path in touched if path not in asks and (why := asking.shared(turn, path)) is not None}
    room.demand_size(len(files), sum(len(file.hunks) for file in files), len(asks))
    replaced = _replaced(turn, agent, params.replaces)
    if replaced is None:
        room.demand_proposal(turn)
    proposal = Proposal(
        id=name,
        task=task,
        agent=agent,
        note=plain.prose(params.note),
        files=tuple(files),
        contract=turn.contract_digest(task),
        policy=turn.policy_digest(),
        parent=replaced,
    )
    turn.record(proposal)
    if replaced is not None:
        turn.emit(e.Superseded(proposal=replaced, replaced_by=(name,)))
        asking.withdraw(turn, replaced, f"{name} took its place")
    decisions = tuple(asking.ask(turn, proposal, path, why) for path, why in asks.items())
    turn.memory.repeats.pop(agent, None)
    return ProposeResult(
        proposal_id=name,
        state="pending",
        files=tuple(file_view(file) for file in files),
        hunks=tuple(hunk_view(turn, file, hunk) for file, hunk in proposal.hunks()),
        decisions=decisions,
        notes=notes,
        next="It waits for the human's review: call wait_for_review."
        if turn.state.mode == "editor"
        else "No editor is open, so nothing is applied yet; it waits. Go on, or call wait_for_review later.",
    )


def withdraw(turn: Turn, agent: str, name: str) -> None:
    """An agent takes back its own proposal before it was decided. AgentFaults: unknown_proposal, not_pending."""
    _replaced(turn, agent, name)
    turn.emit(e.Withdrawn(proposal=name, reason="its agent withdrew it"))
    asking.withdraw(turn, name, "its proposal was withdrawn")


def file_view(file: FileChange) -> FileView:
    return FileView(
        path=file.path,
        op=file.op,
        source=file.source,
        base=file.base,
        result=file.result,
        executable=file.executable,
        copy_of=file.copy_of,
        kept=file.kept or None,
    )


def hunk_view(turn: Turn, file: FileChange, hunk: Hunk) -> HunkView:
    return HunkView(
        id=hunk.id,
        path=file.path,
        old_start=hunk.old_start + bool(hunk.old),
        old_lines=len(hunk.old),
        new_start=hunk.new_start + bool(hunk.new),
        new_lines=len(hunk.new),
        state=turn.state.hunks.get(hunk.id, "pending"),
        placed=hunk.placed,
    )


# --- what is allowed --------------------------------------------------------------------------------------------------


def _permitted(turn: Turn, task: str, touched: list[str]) -> dict[str, Ask]:
    contract, policy = turn.contract(task), turn.policy()
    asks: dict[str, Ask] = {}
    for path in touched:
        match may_write(path, contract, policy):
            case Refuse(code, rule, reason):
                raise AgentFault(
                    code,
                    reason,
                    remedy="Leave it alone, or ask with request_amendment."
                    if code == "outside_scope"
                    else "Leave it alone; only the human changes it.",
                    path=path,
                    rule=rule,
                    writeScope=list(contract.write_scope),
                )
            case Ask() as ask:
                asks[path] = ask
            case _:
                pass
    return asks


def _replaced(turn: Turn, agent: str, name: str | None) -> str | None:
    if name is None:
        return None
    entry = turn.state.proposals.get(name)
    if entry is None or entry.outline.agent != agent:
        raise AgentFault("unknown_proposal", f"You have no proposal {name}.", remedy="Call task_status.")
    if not entry.open:
        raise AgentFault("not_pending", f"{name} is {entry.state}; it cannot be replaced.", state=entry.state)
    return name


# --- one file ---------------------------------------------------------------------------------------------------------


def _change(
    turn: Turn, agent: str, task: str, asked: Wish, bases: Mapping[str, str], name: str, first: int
) -> FileChange:
    snapshot = turn.look(asked.source or asked.path)
    if asked.copies:
        _demand_reading(turn, task, snapshot.path)
    elif snapshot.path != (asked.source or asked.path):
        _permitted(turn, task, [snapshot.path])  # before anything of it is told
    binding.demand(turn, agent, asked, snapshot, bases)
    if snapshot.origin != "absent":
        # The base too: parts are made from it, and a crash is undone with it.
        turn.keep(codec.encode(snapshot.text, snapshot.charset))
    target = snapshot.path if asked.source is None else _free(turn, asked.path)
    placed, kept = asked.onto(snapshot.text, turn.policy().placement.allow, marked=bool(snapshot.charset.bom))
    if asked.op == "delete":
        if asked.chunks and placed.text:
            raise AgentFault("no_match", f"{target} holds more than the patch deletes.", remedy=staleness.REMEDY)
        placed = replace(placed, text="")
    else:
        _demand_change(asked, snapshot, placed.text)
        _writable(snapshot, placed.text)
    op = _op(asked, snapshot)
    result = ABSENT if op == "delete" else turn.keep(_result(asked, placed.text, snapshot))
    # A copy is a new file from here on: what is proposed is its whole text, so nothing that happens to the source
    # later makes it stale. The source had to be what the patch says when it was proposed.
    base = "" if asked.copies else snapshot.text
    return FileChange(
        path=target,
        op=op,
        source=snapshot.path if op == "rename" else None,
        base=ABSENT if asked.copies else snapshot.digest,
        result=result,
        hunks=_hunks(base, name, first, asked, placed, kept),
        executable=_mode(asked, snapshot),
        copy_of=snapshot.path if asked.copies else None,
        kept=kept,
        charset=snapshot.charset.name,
        bom=snapshot.charset.bom.hex(),
    )


def _op(asked: Wish, snapshot: Snapshot) -> Literal["create", "modify", "delete", "rename"]:
    if asked.copies or (asked.op in ("write", "create") and snapshot.origin == "absent"):
        return "create"
    if asked.op == "delete":
        return "delete"
    return "modify" if asked.source is None else "rename"


def _mode(asked: Wish, snapshot: Snapshot) -> bool | None:
    """What the change makes of the mode; a copy of a program is a program, as git has it."""
    return True if asked.copies and asked.executable is None and snapshot.mode & 0o100 else asked.executable


def _demand_reading(turn: Turn, task: str, path: str) -> None:
    if "read_file" not in rights(turn.contract(task), turn.policy()):
        raise AgentFault(
            "right_missing",
            f"The contract of {task} does not give the right read_file, which a copy needs.",
            remedy="Ask with request_amendment.",
            right="read_file",
            path=path,
        )


def _free(turn: Turn, path: str) -> str:
    """Where a file that is moved or copied to `path` will be. AgentFaults: target_exists, buffer_unknown."""
    there = turn.look(path)
    staleness.demand_known(there, ABSENT, AgentFault)
    if there.digest != ABSENT:
        raise AgentFault(
            "target_exists", f"{path} exists already.", path=path, current=there.digest, origin=there.source
        )
    return there.path


def _demand_change(asked: Wish, snapshot: Snapshot, new: str) -> None:
    if new != snapshot.text or snapshot.origin == "absent" or asked.source is not None:
        return
    if asked.executable is None or (snapshot.origin == "disk" and asked.executable == bool(snapshot.mode & 0o100)):
        sent = asked.content is not None and asked.content != new
        raise AgentFault(
            "no_change",
            f"{snapshot.path} already is as proposed{', but for the form of the file' if sent else ''}.",
            remedy="A whole text leaves byte order mark and line ends as they are; a patch can change line ends."
            if sent
            else "",
            path=snapshot.path,
        )


def _result(asked: Wish, new: str, snapshot: Snapshot) -> bytes:
    """The bytes that the change makes. AgentFaults: unencodable, result_mismatch."""
    data = codec.encode(new, snapshot.charset)
    if asked.new_blob is not None and (made := binding.blob_id(data, asked.new_blob)) != asked.new_blob:
        raise AgentFault(
            "result_mismatch",
            f"The patch makes another content of {asked.path} than its index line says.",
            remedy="Send the patch as git printed it, or without its index line.",
            path=asked.path,
            index=asked.new_blob,
            made=made,
        )
    return data


def _hunks(old: str, name: str, first: int, asked: Wish, placed: Placed, kept: tuple[Kept, ...]) -> tuple[Hunk, ...]:
    """With how each was placed. A deletion, a move, a new file: one thing to decide, whatever its text."""
    new = placed.text
    spans = diff.between(old, new)
    if asked.op in ("delete", "rename", "copy") or not spans:
        spans = (diff.Span(0, tuple(split_lines(old)), 0, tuple(split_lines(new))),)
    if asked.content is not None:
        told = tuple("line_ends" if "line_ends" in kept and span.new else "exact" for span in spans)
    elif asked.copies:
        told = (", ".join(dict.fromkeys(word for *_, word in placed.changed)) or "exact",)
    else:
        told = place.words(old, placed, spans)
    made = hunks_of(name, spans, first)
    return tuple(hunk.model_copy(update={"placed": word}) for hunk, word in zip(made, told, strict=True))


def _writable(snapshot: Snapshot, new: str) -> None:
    bad = next((i for i, c in enumerate(new) if "\ud800" <= c <= "\udfff"), None) if not new.isascii() else None
    if snapshot.charset.name == "opaque":
        fresh = {c for span in diff.between(snapshot.text, new) for line in span.new for c in line if c > "\x7f"}
        old = {c for span in diff.between(snapshot.text, new) for line in span.old for c in line}
        if fresh - old:
            raise AgentFault(
                "unencodable",
                f"{snapshot.path} is in an encoding that is not known; only ASCII can be put into it.",
                remedy="Write ASCII, or ask the human to save the file as UTF-8.",
                path=snapshot.path,
            )
    elif bad is not None:
        raise AgentFault("invalid_unicode", f"Character {bad} of the new text is half a character.", offset=bad)
