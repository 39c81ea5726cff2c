"""An agent proposes: from a patch or whole texts to a proposal bound to digests, or a refusal that says what to do.

Everything is worked out in memory first; a refusal leaves no trace of half a proposal. Deciding about it is
`core/reviewing.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from remit.core import asking, atonce, binding, codec, diff, overlapping, patch, paths, plain, room, staleness
from remit.core import events as e
from remit.core.answers import FileView, HunkView, ProposeResult
from remit.core.binding import Wish
from remit.core.faults import AgentFault
from remit.core.model import ABSENT
from remit.core.permission import Ask, Refuse, may_write
from remit.core.place import Swap
from remit.core.proposal import FileChange, Hunk, Proposal, hunks_of
from remit.core.requests import ProposeParams
from remit.core.snapshot import Snapshot
from remit.core.text import split_lines
from remit.core.turn import Turn


def propose(turn: Turn, agent: str, task: str, params: ProposeParams) -> ProposeResult:
    """File a proposal. AgentFaults: see `contracts/methods.md` under `propose_patch`."""
    wishes = _wishes(params)
    room.demand_size(len(wishes))
    bases = {paths.parse(path, portable=False): bound for path, bound in params.bases.items()}
    asks = _permitted(turn, task, [path for wish in wishes for path in filter(None, (wish.source, wish.path))])
    name = turn.state.next_id("P")
    files: list[FileChange] = []
    for wish in wishes:
        first = 1 + sum(len(file.hunks) for file in files)
        files.append(_change(turn, agent, task, wish, bases, f"{name}", first))
    touched = [path for file in files for path in file.touches()]
    _once(touched)  # a link and its target are one file
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
    because = "" if decisions else atonce.begin(turn, proposal)
    return ProposeResult(
        proposal_id=name,
        state=turn.state.proposals[name].state,
        files=tuple(file_view(file) for file in files),
        hunks=tuple(hunk_view(turn, file, hunk) for file, hunk in proposal.hunks()),
        decisions=decisions,
        overlaps=overlapping.told(turn, proposal),
        next=_next(turn, proposal, because),
    )


def _next(turn: Turn, proposal: Proposal, because: str) -> str:
    if turn.state.proposals[proposal.id].state != "pending":
        return "It is applied at once and reviewed after: call wait_for_review to see what came of it."
    asked = turn.contract(proposal.task).review == "after" and because
    why = f" It is not applied at once: {because.rstrip('.')}." if asked else ""
    if turn.state.mode != "editor":
        return "No editor is open, so nothing is applied yet; it waits. Go on, or call wait_for_review later."
    return f"It waits for the human's review: call wait_for_review.{why}"


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
        was=hunk.was,
    )


# --- what is asked ----------------------------------------------------------------------------------------------------


def _wishes(params: ProposeParams) -> list[Wish]:
    given = [part for part in (params.patch, params.files, params.edits) if part is not None]
    if len(given) != 1:
        raise AgentFault("invalid_params", "Give one of patch, files and edits.", remedy="Send exactly one of them.")
    found = [*_from_patch(params.patch or ""), *_from_files(params), *_from_edits(params)]
    if not found:
        raise AgentFault("no_change", "The proposal holds no change.", remedy="Send at least one file.")
    _once([path for wish in found for path in filter(None, (wish.source, wish.path))])
    return found


def _once(touched: Iterable[str]) -> None:
    seen: set[str] = set()
    for path in touched:
        if paths.fold(path) in seen:
            raise AgentFault("duplicate_path", f"{path} is named twice.", remedy="One entry a file.", path=path)
        seen.add(paths.fold(path))


def _from_files(params: ProposeParams) -> Iterator[Wish]:
    for file in params.files or ():
        yield Wish(
            paths.parse(file.path, portable=False), "delete" if file.content is None else "write", content=file.content
        )


def _from_edits(params: ProposeParams) -> Iterator[Wish]:
    by_path: dict[str, list[Swap]] = {}
    for edit in params.edits or ():
        path = paths.parse(edit.path, portable=False)
        by_path.setdefault(path, []).append(Swap(edit.search, edit.replace, edit.count))
    for path, swaps in by_path.items():
        yield Wish(path, "modify", swaps=tuple(swaps))


def _from_patch(text: str) -> Iterator[Wish]:
    if not text:
        return
    for file in patch.parse(text).files:
        yield Wish(
            path=paths.parse(file.path, portable=False),
            op=file.op,
            source=None if file.source is None else paths.parse(file.source, portable=False),
            content=file.content,
            chunks=file.chunks,
            executable=None if file.mode is None else file.mode == "100755",
            old_blob=file.old_blob,
        )


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
        raise AgentFault(
            "not_pending",
            f"{name} is {entry.state}; it cannot be replaced.",
            remedy="Propose without `replaces`.",
            state=entry.state,
        )
    return name


# --- one file ---------------------------------------------------------------------------------------------------------


def _change(
    turn: Turn, agent: str, task: str, wish: Wish, bases: Mapping[str, str], name: str, first: int
) -> FileChange:
    snapshot = turn.look(wish.source or wish.path)
    if snapshot.path != (wish.source or wish.path):
        _permitted(turn, task, [snapshot.path])  # before anything of it is told
    binding.demand(turn, agent, wish, snapshot, bases)
    if snapshot.origin != "absent":
        # The base too: parts are made from it, and a crash is undone with it.
        turn.keep(codec.encode(snapshot.text, snapshot.charset))
    there = snapshot if wish.source is None else turn.look(wish.path)
    target = there.path
    if wish.source is not None and there.digest != ABSENT:
        raise AgentFault("target_exists", f"{wish.path} exists already.", remedy="Name another path.", path=wish.path)
    if wish.op == "delete":
        if wish.chunks and wish.onto(snapshot.text, snapshot.charset).text:
            raise AgentFault("no_match", f"{target} holds more than the patch deletes.", remedy=staleness.REMEDY)
        return _deletion(snapshot, name, first)
    new, placed = _new_text(wish, snapshot)
    if new == snapshot.text and snapshot.origin != "absent" and wish.source is None and wish.executable is None:
        raise AgentFault("no_change", f"{target} already is as proposed.", remedy="Leave it out.", path=target)
    _writable(snapshot, new)
    return FileChange(
        path=target,
        op="rename" if wish.source is not None else "create" if snapshot.origin == "absent" else "modify",
        source=None if wish.source is None else snapshot.path,
        base=snapshot.digest,
        result=turn.keep(codec.encode(new, snapshot.charset)),
        hunks=_hunks(snapshot.text, new, name, first, placed, whole=wish.source is not None),
        executable=wish.executable,
        charset=snapshot.charset.name,
        bom=snapshot.charset.bom.hex(),
    )


def _deletion(snapshot: Snapshot, name: str, first: int) -> FileChange:
    return FileChange(
        path=snapshot.path,
        op="delete",
        base=snapshot.digest,
        result=ABSENT,
        hunks=_hunks(snapshot.text, "", name, first, "exact", whole=True),
        charset=snapshot.charset.name,
        bom=snapshot.charset.bom.hex(),
    )


def _hunks(old: str, new: str, name: str, first: int, placed: str, *, whole: bool) -> tuple[Hunk, ...]:
    spans = diff.between(old, new)
    if spans and not (whole and len(spans) > 1):
        return hunks_of(name, spans, first, placed)
    # A deletion, a rename, an empty new file: one thing to decide, whatever its text.
    only = diff.Span(0, tuple(split_lines(old)), 0, tuple(split_lines(new)))
    return hunks_of(name, (only,), first, placed)


def _new_text(wish: Wish, snapshot: Snapshot) -> tuple[str, str]:
    result = wish.onto(snapshot.text, snapshot.charset)
    if wish.content is not None:
        if codec.eol_style(snapshot.text) == "crlf" and codec.eol_style(result.text) == "lf":
            # The file's line ends are not the agent's to change by the way.
            return result.text.replace("\n", "\r\n"), "line_ends"
        return result.text, "exact"
    rules = sorted({p.rule if p.rule != "offset" else f"offset({p.offset})" for p in result.placements} - {"exact"})
    return result.text, ", ".join(rules) or "exact"


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
