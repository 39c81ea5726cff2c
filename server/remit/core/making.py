"""One file's part of a proposal: from what is asked for it to a change bound to what is there, or a refusal.

Looks at the file, demands that the wish was made from it, places it. The proposal as a whole is `proposing`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from remit.core import binding, codec, diff, place, staleness
from remit.core.faults import AgentFault
from remit.core.form import Kept
from remit.core.model import ABSENT
from remit.core.permission import Ask, Refuse, may_write, rights
from remit.core.place import Placed
from remit.core.proposal import FileChange, Hunk, hunks_of
from remit.core.snapshot import Snapshot
from remit.core.text import split_lines
from remit.core.turn import Turn
from remit.core.wish import Wish


def change(
    turn: Turn, agent: str, task: str, asked: Wish, bases: Mapping[str, str], name: str, first: int
) -> FileChange:
    """The change of one file. AgentFaults: see `contracts/methods.md` under `propose_patch`.

    `name` and `first`: how its hunks are called, and from which number on.
    """
    snapshot = turn.look(asked.source or asked.path)
    if asked.copies:
        _demand_reading(turn, task, snapshot.path)
    elif snapshot.path != (asked.source or asked.path):
        permitted(turn, task, [snapshot.path])  # before anything of it is told
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
            "target_exists",
            f"{path} exists already.",
            remedy="Name another path.",
            path=path,
            current=there.digest,
            origin=there.source,
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
            else "Leave it out.",
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
    """Refuse characters that cannot be written, or only by a guess. AgentFaults: invalid_unicode, unencodable."""
    if new.isascii():
        return
    if (bad := next((i for i, c in enumerate(new) if "\ud800" <= c <= "\udfff"), None)) is not None:
        message = f"Character {bad} of the new text is half a character."
        raise AgentFault("invalid_unicode", message, remedy="Send whole characters.", offset=bad)
    if not staleness.guessed(snapshot):
        return
    for span in diff.between(snapshot.text, new):
        fresh = {c for line in span.new for c in line if c > "\x7f"} - {c for line in span.old for c in line}
        if fresh:
            raise AgentFault(
                "unencodable",
                f"{snapshot.path} is in an encoding that nobody knows; a new character could be the wrong byte.",
                remedy="Use ASCII and characters of the lines you replace; or ask the human to save it as UTF-8, or to "
                "open it in its encoding.",
                path=snapshot.path,
                encoding=snapshot.charset.name,
                characters=[f"U+{ord(c):04X}" for c in sorted(fresh)[:10]],
            )


def permitted(turn: Turn, task: str, touched: list[str]) -> dict[str, Ask]:
    """Refuse what the task may not write; what needs a yes of its own, and why. AgentFaults: outside_scope,
    protected_path."""
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
