"""What a whole session promises, as properties: thin in `make test`, 20 000 examples each in `make test-long`.

Real reviewing, applying and taking back, over the fakes, with files open in the played editor or closed. Properties of
the patch engine alone are in `test_properties`; single stories are in the tests of each module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from changes import changes
from depth import depth
from fakes import Bench, contract_text, desk, sha
from remit.core import codec, diff, form, undoing
from remit.core.chunk import USUAL
from remit.core.effects import Edited
from remit.core.events import decode
from remit.core.faults import Fault, OurFault, UserFault
from remit.core.state import State
from remit.core.text import Edit, Position, Range, split_lines

pytestmark = pytest.mark.deep

thorough = settings(
    max_examples=depth(100, 20_000), deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)

PIECES = ["a\n", "b\n", "c\n", "}\n", "\n", "d\r\n", "e\r", "f\u2028\n", "é\n", "g"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@dataclass(frozen=True, slots=True)
class Case:
    """One file: what is in it (None: it is not there), what is proposed, and whether the editor has it open."""

    old: str | None
    new: str | None
    opened: bool

    @property
    def proposed(self) -> str | None:
        """A file keeps its line ends when it is proposed whole with others (`tests/core/test_form.py`)."""
        if self.old is None or self.new is None:
            return self.new
        return form.whole(self.old, self.new, marked=False, rules=USUAL)[0]


CHANGED = st.builds(lambda texts, opened: Case(texts[0], texts[1], opened), changes(TEXTS), st.booleans())
MADE = st.builds(Case, st.none(), TEXTS, st.just(False))
GONE = st.builds(Case, TEXTS, st.none(), st.just(False))


def cases(*kinds: st.SearchStrategy[Case]) -> st.SearchStrategy[dict[str, Case]]:
    """One to three files, each of which changes."""
    real = st.one_of(*kinds).filter(lambda one: one.old != one.proposed)
    return st.lists(real, min_size=1, max_size=3).map(lambda made: {f"src/{n}": one for n, one in enumerate(made)})


def table(files: dict[str, Case]) -> Bench:
    """A desk with these files, and the proposal P1 that changes them."""
    bench = desk({path: one.old for path, one in files.items() if one.old is not None})
    for path, one in files.items():
        if one.opened:
            bench.open(path)
    bench.propose({path: one.new for path, one in files.items()})
    return bench


def seen(bench: Bench, path: str) -> str | None:
    """What the human sees: the buffer, or the file."""
    if path in bench.documents:
        return bench.text(path)
    data = bench.disk.files.get(path)
    return None if data is None else data.decode()


def took(bench: Bench, act: Any, target: str, hunk: str = "") -> None:
    bench.act(act, target, hunk)
    bench.play()


# --- accepted in parts, accepted whole --------------------------------------------------------------------------------


@thorough
@given(cases(CHANGED, CHANGED, CHANGED, MADE, GONE), st.data())
def test_hunks_accepted_in_any_order_make_what_the_whole_makes(files: dict[str, Case], data: st.DataObject) -> None:
    whole, parts = table(files), table(files)
    took(whole, "accept", "P1")
    while waiting := parts.state.open_proposals():
        (entry,) = waiting
        hunk = data.draw(st.sampled_from([hunk for file in entry.outline.files for hunk in file.hunks]))
        took(parts, "acceptHunk", entry.outline.proposal, hunk)
    for path, one in files.items():
        assert seen(whole, path) == one.proposed
        assert seen(parts, path) == one.proposed
        if one.opened and one.old is not None:
            assert whole.disk.files[path] == parts.disk.files[path] == one.old.encode(), "somebody saved"


# --- taken back -------------------------------------------------------------------------------------------------------


@thorough
@given(cases(CHANGED, CHANGED, MADE, GONE), st.data())
def test_what_was_applied_and_is_taken_back_never_was(files: dict[str, Case], data: st.DataObject) -> None:
    """All of it, or one hunk of it alone: where nothing else moved, each file is as before."""
    bench = table(files)
    hunks = [hunk.id for _, hunk in bench.session.peek().proposal("P1").hunks()]
    part = data.draw(st.sampled_from(["", *hunks]))
    took(bench, "acceptHunk" if part else "accept", "P1", part)
    applied = next(name for name, entry in bench.state.proposals.items() if entry.state == "applied")
    took(bench, "undo", applied)
    assert bench.state.proposals[applied].state == "undone"
    assert {path: seen(bench, path) for path in files} == {path: one.old for path, one in files.items()}


# --- two sides change one file ----------------------------------------------------------------------------------------

Op = str
OPS = ["keep", "keep", "keep", "drop", "change", "add"]
SLOTS = st.lists(st.tuples(st.sampled_from(OPS), st.sampled_from(OPS)), min_size=2, max_size=14)


def written(number: int, side: str, op: Op, line: str) -> list[str]:
    """What a side makes of a line (of none, where it is gone already)."""
    return {
        "keep": [line],
        "drop": [],
        "change": [f"{side} {number}\n"],
        "add": [line, f"{side} +{number}\n"],
    }[op]


def side(name: str, ops: list[Op]) -> str:
    return "".join("".join(written(n, name, op, f"line {n}\n")) for n, op in enumerate(ops))


def apart(slots: list[tuple[Op, Op]]) -> bool:
    """Do the sides keep at least one line between their changes?"""
    one, two = ([n for n, ops in enumerate(slots) if ops[which] != "keep"] for which in (0, 1))
    return all(abs(m - n) > 1 for m in one for n in two)


def put(bench: Bench, path: str, text: str) -> None:
    """The human makes the file so: by typing, where it is open; else by a program of theirs."""
    if path in bench.documents:
        for span in reversed(diff.between(bench.text(path), text)):
            bench.change(path, Edit("".join(span.new), Range(Position(span.old_start, 0), Position(span.old_end, 0))))
    else:
        bench.disk.files[path] = text.encode()
        bench.clock.advance(1.1)
    assert seen(bench, path) == text


def or_conflict(bench: Bench, act: Callable[[], None]) -> bool:
    """Was it done? If not it was for a conflict, and nothing has moved."""
    before = (dict(bench.disk.files), {path: bench.text(path) for path in bench.documents}, bench.seq)
    fault = refusal(act)
    if fault is None:
        return True
    now = (dict(bench.disk.files), {path: bench.text(path) for path in bench.documents}, bench.seq)
    assert fault.code == "conflict" and now == before and not bench.edits, fault
    return False


def refusal(act: Callable[[], Any]) -> Fault | None:
    """The fault that an act is refused with; None where it is done."""
    try:
        act()
    except Fault as fault:
        return fault
    return None


def took_back(bench: Bench, name: str) -> None:
    """Where it cannot be done it is not offered; the reason is what the work itself says."""
    undoing.reverse(bench.session.peek(), bench.state.proposals[name])
    took(bench, "undo", name)


@thorough
@given(SLOTS, st.booleans())
def test_a_rebase_holds_what_both_sides_wrote_in_its_order(slots: list[tuple[Op, Op]], opened: bool) -> None:
    """Every line is of one side or of both, none is lost or made up, and each stands where it was written."""
    old, ours, theirs = (side(name, [pick(s) for s in slots]) for name, pick in SIDES.items())
    assume(ours != old and theirs != old)
    bench = table({"src/a": Case(old, ours, opened)})
    put(bench, "src/a", theirs)
    done = or_conflict(bench, lambda: took(bench, "rebase", "P1"))
    clash = any("keep" not in ops and ops != ("drop", "drop") for ops in slots)
    assert done or not apart(slots), "a rebase that was possible was refused"
    assert not done or not clash, "one side was chosen over the other"
    if not done:
        return
    assert seen(bench, "src/a") == theirs, "a rebase applies nothing"
    for entry in bench.state.open_proposals():  # none where all of it is there already
        took(bench, "accept", entry.outline.proposal)
    joined = [
        written(n, "theirs", two, f"line {n}\n") if one == "keep" else written(n, "ours", one, f"line {n}\n")
        for n, (one, two) in enumerate(slots)
    ]
    assert seen(bench, "src/a") == "".join(line for lines in joined for line in lines)


SIDES: dict[str, Callable[[tuple[Op, Op]], Op]] = {
    "base": lambda ops: "keep",
    "ours": lambda ops: ops[0],
    "theirs": lambda ops: ops[1],
}


@thorough
@given(SLOTS, st.booleans())
def test_taking_back_keeps_every_edit_made_since(slots: list[tuple[Op, Op]], opened: bool) -> None:
    """The agent's change first, then the human's on top of it; then the agent's is taken back."""
    old, new = side("base", ["keep" for _ in slots]), side("agent", [one for one, _ in slots])
    present, wanted = "", ""
    for n, (agent, human) in enumerate(slots):
        lines = written(n, "agent", agent, f"line {n}\n")
        first, rest = "".join(lines[:1]), "".join(lines[1:])
        op = "keep" if agent == "drop" else human  # nothing is left there to change
        present += {"keep": first + rest, "drop": rest, "change": f"human {n}\n{rest}"}.get(
            op, f"{first}{rest}human +{n}\n"
        )
        wanted += "".join(written(n, "human", op, f"line {n}\n"))
    assume(new != old)
    bench = table({"src/a": Case(old, new, opened)})
    took(bench, "accept", "P1")
    put(bench, "src/a", present)
    done = or_conflict(bench, lambda: took_back(bench, "P1"))
    clash = any(agent == "change" and human in ("drop", "change") for agent, human in slots)
    assert done or not apart(slots), "what could be taken back was not"
    assert not done or not clash, "an edit was overwritten"
    if not done:
        assert seen(bench, "src/a") == present
        return
    # Where old lines come back beside a line that the human put in, either may come first; no other line may.
    there, line = split_lines(seen(bench, "src/a") or ""), split_lines(wanted)
    for mine in (True, False):
        assert [one for one in there if ("human" in one) is mine] == [one for one in line if ("human" in one) is mine]


# --- fresh, stale, and fresh again ------------------------------------------------------------------------------------


@thorough
@given(changes(TEXTS), st.data())
def test_a_proposal_is_fresh_exactly_while_its_base_is_there(texts: tuple[str, str], data: st.DataObject) -> None:
    """By digest alone: it is stale after any edit, and fresh again after its undo, whoever did that how."""
    old, new = texts
    case = Case(old, new, data.draw(st.booleans()))
    assume(case.proposed != old)
    bench, path = table({"src/a": case}), "src/a"
    shown = bench.offer("accept", "P1")
    for step in range(data.draw(st.integers(1, 6))):
        back = data.draw(st.booleans())
        if back and case.opened and bench.documents[path].past:
            bench.undo(path)
        elif case.opened:
            lines = split_lines(bench.text(path))
            ends = st.integers(0, len(lines))
            one, two = sorted([data.draw(ends), data.draw(ends)])
            words = data.draw(st.sampled_from(["", "x", "\n", "a\n", "".join(lines[one:two])]))
            bench.change(path, Edit(words, Range(Position(one, 0), Position(two, 0))))
        else:
            put(bench, path, data.draw(st.sampled_from([old, old + "x", old.replace("\n", "\r\n"), "", f"{step}"])))
        status = bench.call("proposal_status", proposalId="P1")
        assert status["fresh"] is _is(bench, old) and bool(status["stale"]) is not _is(bench, old)
    if not _is(bench, old):
        before = seen(bench, path)
        with pytest.raises(UserFault) as caught:
            bench.command("accept", shown)
        assert caught.value.code == "stale" and seen(bench, path) == before
    while case.opened and bench.documents[path].past:
        bench.undo(path)
    if not case.opened:
        put(bench, path, old)
    assert seen(bench, path) == old
    took(bench, "accept", "P1")
    assert seen(bench, path) == case.proposed


def _is(bench: Bench, old: str) -> bool:
    """Is it that text? Of a buffer the line ends do not count: editors make them all alike when they open a file."""
    there = seen(bench, "src/a")
    return there == old or ("src/a" in bench.documents and there is not None and codec.same_text(there, old))


# --- bytes that are no text -------------------------------------------------------------------------------------------

RAW = [b"\xef\xbb\xbf", b"a", b"\0", b"\n", b"\n", b"\r\n", b"\r", b"\xe9", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8"]


@thorough
@given(st.lists(st.sampled_from(RAW), max_size=14).map(b"".join), st.data())
def test_a_patch_of_one_line_moves_no_other_byte(data: bytes, draw: st.DataObject) -> None:
    """A file in whatever encoding, or in none: a line put in at a place is all that is new in it."""
    bench = desk({"src/a": data})
    at = draw.draw(st.integers(0, data.count(b"\n")))
    patch = f"--- a/src/a\n+++ b/src/a\n@@ -{at},0 +{at + 1} @@\n+new\n"
    bench.call("propose_patch", patch=patch, bases={"src/a": sha(data)})
    took(bench, "accept", "P1")
    result = bench.disk.files["src/a"]
    lines = [line.rstrip("\r\n") for line in split_lines(codec.decode(result).text)]
    assert lines.count("new") == 1, "a line of its own"
    added = [b"new\n", b"new\r\n", b"new\r", b"new", b"\nnew", b"\r\nnew"]
    assert [n for n in range(len(result)) for new in added if result[:n] + result[n + len(new) :] == data]
    took(bench, "undo", next(name for name, one in bench.state.proposals.items() if one.state == "applied"))
    assert bench.disk.files["src/a"] == data


# --- refused ----------------------------------------------------------------------------------------------------------

PATHS = ["src/a", "src/b", "src/new", "src/.env", "other/c", ".git/config", "task.contract.json", "../x", "src"]
OURS = ["src/a", "src/b"]
SOME = [*OURS * 6, *PATHS]
COMMANDS = ["accept", "reject", "rebase", "undo", "amend", "acceptHunk", "rejectHunk"]
START = {"src/a": "a\nb\nc\nd\ne\nf\n", "src/b": "a\r\n\r\nb\r\n", "other/c": "c\n", "src/.env": "X=1\n"}
SELDOM = {"stale", "not_pending", "conflict", "busy", "disk_conflict", "missing_base_hash"}
met = Counter[str]()


class Session(RuleBasedStateMachine):
    """Anything that agents, the human and the world may do; a refusal leaves all as it was, but for its record."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = desk(START, contract=contract_text(scope=["src/"]))
        self.offers: list[tuple[str, str]] = []
        self.bench.open("src/b")
        self.bench.propose({"src/a": "a\nB\nc\nd\nE\nf\n"})
        self.bench.propose({"src/b": "a\r\nx\r\nb\r\nc\r\n", "src/a": "A\nb\nc\nd\ne\nf\n"})

    def world(self) -> tuple[Any, ...]:
        bench = self.bench
        flights = {name: (one.phase, one.answered) for name, one in bench.session.mediator.memory.inflight.items()}
        texts = {path: (str(one.text), one.version) for path, one in bench.documents.items()}
        return dict(bench.disk.files), texts, list(bench.edits), list(bench.runs), flights, set(bench.session.staged)

    def tried(self, act: Callable[[], Any]) -> None:
        world, seq = self.world(), self.bench.seq
        fault = refusal(act)
        met[fault.code if fault else "done"] += 1
        if fault is not None:
            assert not isinstance(fault, OurFault), fault
            assert self.world() == world, f"{fault.code} changed something"
            assert self.bench.story(seq) in ([], ["refused"]), f"{fault.code} left {self.bench.story(seq)}"

    def digest(self, path: str) -> str:
        with suppress(Fault):
            return self.bench.session.peek().look(path).digest
        return sha("")

    # --- an agent ---

    @rule(data=st.data())
    def propose(self, data: st.DataObject) -> None:
        files, bases = [], {}
        for path in data.draw(st.lists(st.sampled_from(SOME), min_size=1, max_size=3)):
            files.append({"path": path, "content": data.draw(st.sampled_from([None, "", "x\n", *START.values()]))})
            match data.draw(st.sampled_from(["now", "now", "now", "first", "absent", "none"])):
                case "now":
                    bases[path] = self.digest(path)
                case "first":
                    bases[path] = sha(START.get(path, ""))
                case "absent":
                    bases[path] = "absent"
                case _:
                    pass
        replaces = data.draw(st.sampled_from([None, None, None, *self.bench.state.proposals, "P99"]))
        key = data.draw(st.sampled_from([None, None, "k"]))
        self.tried(lambda: self.bench.call("propose_patch", files=files, bases=bases, replaces=replaces, key=key))

    @rule(
        path=st.sampled_from(SOME),
        old=st.sampled_from(["a", "b", "c", "zz", ""]),
        form=st.sampled_from(["diff", "block", "search", "twice", "torn", "two files"]),
        now=st.booleans(),
    )
    def patch(self, path: str, old: str, form: str, now: bool) -> None:
        hunk = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+new\n"
        block = f"*** Update File: {path}\n@@\n-{old}\n+new\n"
        forms: dict[str, dict[str, Any]] = {
            "diff": {"patch": hunk},
            "block": {"patch": f"*** Begin Patch\n{block}*** End Patch\n"},
            "search": {"edits": [{"path": path, "search": old, "replace": "new"}]},
            "twice": {"patch": hunk + hunk},
            "torn": {"patch": hunk[:-6]},
            "two files": {"patch": f"*** Begin Patch\n{block}*** Delete File: src/b\n*** End Patch\n"},
        }
        bases = {one: self.digest(one) if now else sha(START.get(one, "")) for one in (path, "src/b")}
        self.tried(lambda: self.bench.call("propose_patch", bases=bases, **forms[form]))

    @rule(verb=st.sampled_from(["withdraw_proposal", "proposal_status"]), data=st.data())
    def about(self, verb: str, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([*self.bench.state.proposals, "P99"]))
        self.tried(lambda: self.bench.call(verb, proposalId=name))

    # --- the human ---

    @rule(command=st.sampled_from(COMMANDS), data=st.data())
    def look(self, command: str, data: st.DataObject) -> None:
        """An offer is shown, to be answered at some time."""
        names = [*self.bench.state.proposals][-4:]
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        hunks = [hunk for file in self.bench.state.proposals[name].outline.files for hunk in file.hunks]
        hunk = data.draw(st.sampled_from(hunks)) if command.endswith("Hunk") else ""
        with suppress(Fault):
            self.offers.append((command, self.bench.offer(command, name, hunk)))

    @rule(data=st.data(), last=st.booleans(), wrong=st.sampled_from(["", "", "", *COMMANDS]))
    def answer(self, data: st.DataObject, last: bool, wrong: str) -> None:
        """An offer is answered, an old one too, and perhaps with another command than it is for."""
        if self.offers:
            command, offer = self.offers[-1] if last else data.draw(st.sampled_from(self.offers))
            files = {"src/a": data.draw(st.sampled_from(["", "amended\n", START["src/a"]]))}
            more = {"files": files} if (wrong or command) == "amend" else {}
            self.tried(lambda: self.bench.command(wrong or command, offer, **more))

    @rule(command=st.sampled_from(COMMANDS), data=st.data())
    def look_and_answer(self, command: str, data: st.DataObject) -> None:
        self.look(command, data)
        self.answer(data, True, "")

    @rule(data=st.data())
    def decide(self, data: st.DataObject) -> None:
        if waiting := self.bench.state.pending_decisions():
            asked = waiting[0].asked
            option = data.draw(st.sampled_from([*(one.id for one in asked.options), "no such answer"]))
            self.tried(lambda: self.bench.decide(asked.decision, option))

    # --- the editor and the world ---

    @rule(path=st.sampled_from(OURS))
    def open(self, path: str) -> None:
        if path in self.bench.documents:
            self.bench.close(path)
        elif path in self.bench.disk.files:
            self.bench.open(path)

    @rule(path=st.sampled_from(OURS), line=st.integers(0, 3))
    def type(self, path: str, line: int) -> None:
        if path in self.bench.documents:
            self.bench.type(path, min(line, len(split_lines(self.bench.text(path))) - 1 if line else 0), 0, "t")

    @rule(path=st.sampled_from(OURS))
    def untype(self, path: str) -> None:
        if path in self.bench.documents and self.bench.documents[path].past:
            self.bench.undo(path)

    @rule(path=st.sampled_from(OURS))
    def save(self, path: str) -> None:
        if path in self.bench.documents:
            self.bench.save(path)

    @rule(
        path=st.sampled_from([*OURS, "src/new"]), data=st.sampled_from([None, b"w\n", *map(str.encode, START.values())])
    )
    def write(self, path: str, data: bytes | None) -> None:
        if data is None:
            self.bench.disk.files.pop(path, None)
        else:
            self.bench.disk.files[path] = data
        self.bench.clock.advance(1.1)

    @rule(path=st.sampled_from(OURS), mend=st.booleans())
    def trouble(self, path: str, mend: bool) -> None:
        self.bench.disk.unreadable = set() if mend else {path}

    @rule()
    def play(self) -> None:
        self.bench.play()

    @rule(applied=st.sampled_from([False, True, None]))
    def lie(self, applied: bool | None) -> None:
        """The client answers an edit that it did not take."""
        if self.bench.edits:
            self.bench.session.happened(Edited(self.bench.edits.pop(0).action, applied))

    @rule(seconds=st.sampled_from([1.0, 40.0]))
    def wait(self, seconds: float) -> None:
        self.bench.wait(seconds)

    @invariant()
    def what_is_out_of_scope_is_as_it_was(self) -> None:
        assert self.bench.disk.files["other/c"] == START["other/c"].encode()
        assert ".git/config" not in self.bench.disk.files

    def teardown(self) -> None:
        again = State()
        for record in self.bench.journal.records:
            again.fold(record.seq, record.at, decode(record.event))
        assert again == self.bench.state, "the state is not what the journal adds up to"


def test_a_refusal_changes_nothing_in_a_whole_session() -> None:
    met.clear()
    stories = settings(thorough, max_examples=depth(60, 20_000), stateful_step_count=30)
    run_state_machine_as_test(Session, settings=stories)
    print(dict(met.most_common()))  # noqa: T201
    assert met["done"], "the control: some is not refused"
    often = {"already_decided", "no_match", "outside_scope"}
    assert often | depth(set[str](), SELDOM) <= met.keys(), met


def test_taking_back_is_offered_exactly_when_it_can_be_done() -> None:
    """The offer's own word: no offer where the act would be refused."""
    bench = table({"src/a": Case("a\n", "b\n", False)})
    took(bench, "accept", "P1")
    entry = bench.state.proposals["P1"]
    assert undoing.offer(bench.session.peek(), entry)
    put(bench, "src/a", "c\n")
    assert undoing.offer(bench.session.peek(), entry) is None
