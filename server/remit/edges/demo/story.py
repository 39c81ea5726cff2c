"""The story itself: what the human, the agent and Remit do, step by step, and what is promised at each.

Each step is one function in `STORY`. What should be is worked out here, by plain text replacement, from the published
source; it is compared with the editor's buffer, with the disk and with git, never with what Remit says of itself.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from remit.core.diff import unified
from remit.edges.demo.play import Step
from remit.edges.demo.stage import CONTRACT, CONTRACT_TEXT, POLICY, SOURCE, TASK, Stage, attempt
from remit.edges.demo.told import Teller

PATTERNS, ERRORS = f"{SOURCE}/constants.py", f"{SOURCE}/errors.py"

HEADER = (
    r"""    r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?\ @@[ ]?(.*)")""",
    r"""    r"^@@ -(?P<old>\d+)(?:,(?P<old_lines>\d+))?"
    r" \+(?P<new>\d+)(?:,(?P<new_lines>\d+))?\ @@[ ]?(?P<section>.*)")""",
)
ENCODING = ("DEFAULT_ENCODING = 'UTF-8'", "DEFAULT_ENCODING = 'latin-1'")
GIVES_UP = (
    '"""Exception when parsing the unified diff data."""',
    '"""The text is no unified diff: a header is missing, or a hunk is cut short."""',
)
THOUGHT = "# Which of these are public?\n"
PROSE = '"""Useful constants and regexes used by the package."""\n'


def put(text: str, *changes: tuple[str, str]) -> str:
    """The text with each change made, every one exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, f"the published source no longer holds {old!r} once"
        text = text.replace(old, new)
    return text


def patch(*files: tuple[str, str, str]) -> str:
    """One unified diff of several (path, old text, new text)."""
    return "".join(unified(old, new, f"a/{path}", f"b/{path}") for path, old, new in files)


def problems(path: str, found: list[types.Diagnostic]) -> list[str]:
    """Problems as an editor lists them."""
    names = {1: "error", 2: "warning", 3: "information", 4: "hint"}
    return [
        f"{names[int(one.severity or 3)]}|{path}:{one.range.start.line + 1}|{one.code}|{one.message}" for one in found
    ]


def shown_diff(text: str) -> list[str]:
    """A diff in lines, without blank context at its end."""
    return text.rstrip().split("\n")


# --- the steps --------------------------------------------------------------------------------------------------------


async def activate(stage: Stage, tell: Teller) -> None:
    editor, agent = stage.editor, stage.agent
    stage.known["published"] = {path: stage.disk(path) for path in (PATTERNS, ERRORS)}
    editor.open(CONTRACT)
    editor.open(PATTERNS)
    tell.say("you", f"open the folder, {CONTRACT} and {PATTERNS}")
    found = await stage.sees(CONTRACT, "contract-not-active")
    tell.promise("A contract that nobody activated is shown as not active.", len(found) == 1, len(found))
    base = await agent.call("read_file", path=ERRORS)
    early = await agent.call("propose_patch", files=[{"path": ERRORS, "content": ""}], bases={ERRORS: base["digest"]})
    tell.refused("Without an active contract an agent can change nothing.", early, "no_contract")
    await editor.activate(POLICY)
    await editor.activate(CONTRACT)
    tell.say("you", "activate the policy (which checks there are), then the contract")
    task = (await agent.call("get_contract"))["task"]
    tell.say("remit", f"in force: {task['taskId']}, may write {', '.join(task['writeScope'])}")
    tell.same("In force is exactly what was activated.", (task["taskId"], task["writeScope"]), (TASK, [f"{SOURCE}/"]))


async def read(stage: Stage, tell: Teller) -> None:
    texts = stage.known["read"] = {}
    for path in (PATTERNS, ERRORS):
        texts[path] = await stage.agent.call("read_file", path=path)
        one = texts[path]
        tell.say("agent", f"reads {path}: {one['lineCount']} lines, {one['origin']}, digest {one['digest'][:12]}…")
    tell.exact("The agent is shown the editor's text.", texts[PATTERNS]["text"], stage.buffer(PATTERNS))
    tell.exact("A file nobody has open is read from disk.", texts[ERRORS]["text"], stage.disk(ERRORS))


async def propose(stage: Stage, tell: Teller) -> None:
    published = stage.known["published"]
    new = stage.known["wanted"] = {
        PATTERNS: put(published[PATTERNS], HEADER, ENCODING),
        ERRORS: put(published[ERRORS], GIVES_UP),
    }
    found = await stage.agent.call(
        "propose_patch",
        patch=patch(*((path, published[path], new[path]) for path in new)),
        bases={path: stage.known["read"][path]["digest"] for path in new},
        note="Named groups, and a docstring that says when.",
    )
    stage.known["first"] = found["proposalId"]
    tell.say("agent", f"proposes {found['proposalId']}: two hunks in {PATTERNS}, one in {ERRORS}")
    tell.same(
        "Each hunk can be decided alone.", [hunk["path"] for hunk in found["hunks"]], [PATTERNS, PATTERNS, ERRORS]
    )
    await _untouched(stage, tell, "Nothing is written by proposing.")


async def diagnose(stage: Stage, tell: Teller) -> None:
    shown = {path: await stage.sees(path, "patch-pending", count) for path, count in ((PATTERNS, 2), (ERRORS, 1))}
    lines = [line for path, found in shown.items() for line in problems(path, found)]
    tell.show("problems", "Problems", lines)
    text = stage.buffer(PATTERNS).split("\n")
    places = [text[one.range.start.line] for one in shown[PATTERNS]]
    tell.same("Each hunk is a problem on the lines it would change.", places, [HEADER[0], ENCODING[0]])
    tell.promise("Files that are not open are marked too.", len(shown[ERRORS]) == 1, len(shown[ERRORS]))


async def type_on(stage: Stage, tell: Teller) -> None:
    stage.known["looked"] = await stage.proposal(stage.known["first"])
    line = stage.buffer(PATTERNS).split("\n").index(PROSE.rstrip("\n")) + 1
    stage.editor.type(PATTERNS, line, 0, THOUGHT)
    await stage.settled()
    stage.known["typed"] = put(stage.known["published"][PATTERNS], (PROSE, PROSE + THOUGHT))
    tell.say("you", f"type “{THOUGHT.strip()}” into line {line + 1}, and do not save")
    found = await stage.sees(PATTERNS, "patch-stale", 2)
    tell.show("problems", "Problems", problems(PATTERNS, found))
    tell.promise("An unsaved keystroke makes the proposal stale at once.", len(found) == 2, f"{len(found)} stale hunks")


async def refuse_stale(stage: Stage, tell: Teller) -> None:
    name = stage.known["first"]
    tell.say("you", f"accept {name} as it was shown before you typed")
    answer = await attempt(stage.editor.run("remit.accept", offer=stage.known["looked"]["accept"]))
    tell.refused("A yes to what was shown before is not applied.", answer, "stale")
    now = await stage.proposal(name)
    tell.same("The review shows the present: the patch as it fits what you typed.", now["shown"], "rebased")
    stale = answer["data"]["stale"][0]
    moved = shown_diff(stale["diff"])
    tell.show("diff", "What has changed since", moved)
    changed = [line for line in moved if line[:1] in "+-" and not line.startswith(("+++", "---"))]
    tell.same("The refusal says what has changed, and nothing else.", changed, [f"+{THOUGHT.rstrip()}"])
    tell.exact("Your unsaved text is still there.", stage.buffer(PATTERNS), stage.known["typed"])
    await _untouched(stage, tell, "Refusing leaves every byte on disk as it was.")


async def propose_again(stage: Stage, tell: Teller) -> None:
    again = await stage.agent.call("read_file", path=PATTERNS)
    tell.say("agent", f"reads {PATTERNS} again: {again['origin']} v{again['version']}, unsaved")
    tell.exact("The agent reads what you typed, not what lies on disk.", again["text"], stage.known["typed"])
    wanted = stage.known["wanted"]
    wanted[PATTERNS] = put(again["text"], HEADER, ENCODING)
    published = stage.known["published"]
    found = await stage.agent.call(
        "propose_patch",
        patch=patch((PATTERNS, again["text"], wanted[PATTERNS]), (ERRORS, published[ERRORS], wanted[ERRORS])),
        bases={PATTERNS: again["digest"], ERRORS: stage.known["read"][ERRORS]["digest"]},
        note="The same, made from what is there now.",
        replaces=stage.known["first"],
    )
    stage.known["second"] = found["proposalId"]
    tell.say("agent", f"proposes {found['proposalId']} instead of {stage.known['first']}")
    gone, fresh = await stage.proposal(stage.known["first"]), await stage.proposal(found["proposalId"])
    tell.promise("The old one waits no longer; the new one is fresh.", not gone and fresh["fresh"], fresh.get("state"))


async def review(stage: Stage, tell: Teller) -> None:
    shown = await stage.proposal(stage.known["second"])
    header, encoding, _ = shown["hunks"]
    tell.show("diff", f"{header['id']}, as it is shown", _hunk(header))
    await stage.editor.run("remit.acceptHunk", offer=header["accept"])
    tell.say("you", f"accept {header['id']}: named groups are what you asked for")
    wanted = put(stage.known["typed"], HEADER)
    await stage.editor.until(lambda: stage.buffer(PATTERNS) != stage.known["typed"])
    tell.exact("The buffer holds that hunk and what you typed, byte for byte.", stage.buffer(PATTERNS), wanted)
    rest = await stage.rest(stage.known["second"])
    hunk = next(one for one in rest["hunks"] if ENCODING[0] in "".join(one["old"]))
    await stage.editor.run("remit.rejectHunk", offer=hunk["reject"])
    tell.say("you", f"reject {encoding['id']}: nobody asked for another encoding")
    tell.show("diff", "What is not wanted", _hunk(encoding))
    told = await stage.agent.call("proposal_status", proposalId=stage.known["second"])
    states = [hunk["state"] for hunk in told["hunks"]]
    tell.same("The agent is told hunk by hunk.", states[:2], ["applied", "rejected"])
    tell.same("The rejected text is nowhere.", ENCODING[1] in stage.buffer(PATTERNS) + stage.disk(PATTERNS), False)
    await _untouched(stage, tell, "You save, Remit never does: the disk is as published.")


async def stay_inside(stage: Stage, tell: Teller) -> None:
    outside, link = "setup.py", f"{SOURCE}/shortcut/notes.txt"
    for path, what, code, text in (
        (outside, "tries to create setup.py", "outside_scope", "A file outside the scope is refused."),
        (
            link,
            "tries a link in the package that leads out of the project",
            "outside_scope",
            "So is a way out by a link.",
        ),
        (CONTRACT, "tries to rewrite its own contract", "protected_path", "No agent can edit its contract."),
    ):
        tell.say("agent", what)
        wish = [{"path": path, "content": "mine\n"}]
        answer = await stage.agent.call("propose_patch", files=wish, bases={path: "absent"})
        tell.refused(text, answer, code)
    notes = (stage.outside / "notes.txt").read_bytes()
    tell.same("What lies outside is untouched.", notes, b"not part of the project\n")
    scope = next(n for n, line in enumerate(CONTRACT_TEXT.split("\n")) if "writeScope" in line)
    marked = await stage.sees(CONTRACT, "scope-violation", 2)
    tell.show("problems", "Problems", problems(CONTRACT, marked))
    tell.same(
        "You see both attempts, at the scope they broke.", [one.range.start.line for one in marked], [scope, scope]
    )


async def forbid(stage: Stage, tell: Teller) -> None:
    tell.say("agent", "asks to run the check “publish”")
    answer = await stage.agent.call("run_check", checkId="publish")
    tell.refused("A forbidden check is never run.", answer, "check_forbidden")
    check = await stage.check("publish")
    tell.same(
        "It is shown as forbidden, with no way to run it.", (check["status"], check["offer"]), ("forbidden", None)
    )


async def run_check(stage: Stage, tell: Teller) -> None:
    not_run = (await stage.check("unit"))["status"]
    tell.same("The required check is shown as not run.", not_run, "not_run")
    early = await stage.agent.call("run_check", checkId="unit")
    tell.say("agent", "asks to run the unit tests")
    tell.refused("It is not run past unsaved text it would not see.", early, "needs_save")
    stage.editor.save(PATTERNS)
    await stage.settled()
    tell.say("you", "save")
    asked = await stage.agent.call("run_check", checkId="unit")
    name = asked["decisionId"]
    decision = await stage.decision(name)
    tell.say("remit", f"asks ({name}): {decision['question'].split(':')[0]}?")
    tell.same("Nothing runs before you say so.", (await stage.check("unit"))["status"], "waiting")
    await stage.editor.run("remit.decide", offer=decision["offer"], option="run")
    tell.say("you", "answer “Run once”")
    run = (await stage.agent.call("wait_for_decision", decisionId=name))["run"]
    tell.show("page", "What the run said", run["output"].strip().split("\n"))
    seen = (run["state"], run["exitCode"], run["fresh"])
    tell.same("The tests of the real package pass, for exactly this content.", seen, ("passed", 0, True))


async def go_stale(stage: Stage, tell: Teller) -> None:
    line = stage.buffer(PATTERNS).split("\n").index(THOUGHT.rstrip("\n"))
    stage.editor.type(PATTERNS, line, 0, "# (all upper case: yes)\n")
    await stage.settled()
    tell.say("you", "type one more line")
    found = await stage.sees(CONTRACT, "check-stale")
    tell.show("problems", "Problems", problems(CONTRACT, found))
    tell.same("One edit later the green run no longer counts.", (await stage.check("unit"))["status"], "stale")


async def crash(stage: Stage, tell: Teller) -> None:
    asked = await stage.agent.call("ask_human", question="Shall the changelog name this?", options=["Yes", "No"])
    question = stage.known["question"] = asked["decision"]["decisionId"]
    before = await stage.editor.view()
    old = stage.known["old offer"] = before["proposals"][0]["accept"]
    buffer, disk = stage.buffer(PATTERNS), stage.disk(PATTERNS)
    await stage.editor.kill()
    tell.say("crash", "kill -9 of the server: one proposal and one question were waiting")
    alone = await stage.agent.call("get_contract")
    tell.same(
        "The agent works on: reading, without an editor.", (alone["session"], alone["active"]), ("headless", True)
    )
    await stage.editor.restart()
    tell.say("you", "start the server again")
    after = await stage.editor.view()
    names = [[one["proposal"] for one in view["proposals"]] for view in (before, after)]
    tell.same("The proposal waits as before.", names[1], names[0])
    hunks = [[(h["id"], h["old"], h["new"]) for h in view["proposals"][0]["hunks"]] for view in (before, after)]
    tell.same("With the same hunk, line for line.", hunks[1], hunks[0])
    tell.same("The question waits as before.", [one["decision"] for one in after["decisions"]], [question])
    tell.exact("The buffer is as it was, unsaved line and all.", stage.buffer(PATTERNS), buffer)
    tell.exact("And so is the disk.", stage.disk(PATTERNS), disk)
    late = await attempt(stage.editor.run("remit.accept", offer=old))
    tell.refused("A yes from before the crash counts for nothing.", late, "approval_unknown")


async def go_on(stage: Stage, tell: Teller) -> None:
    question = stage.known["question"]
    await stage.editor.run("remit.decide", offer=(await stage.decision(question))["offer"], option="No")
    tell.say("you", f"answer {question}: “No”")
    told = await stage.agent.call("wait_for_decision", decisionId=question)
    tell.same("The agent gets the answer to what it asked before the crash.", told["decision"].get("answer"), "No")
    rest = (await stage.editor.view())["proposals"][0]
    await stage.editor.run("remit.accept", offer=rest["accept"])
    tell.say("you", f"accept {rest['proposal']}, the docstring")
    await stage.agent.call("wait_for_review", proposalId=rest["proposal"])
    tell.exact(
        "A file that is not open is written on disk, byte for byte.", stage.disk(ERRORS), stage.known["wanted"][ERRORS]
    )
    changed = stage.git("status", "--porcelain").rstrip("\n").split("\n")
    tell.same(
        "Git, asked as a witness, sees two changed files and no more.", changed, [f" M {PATTERNS}", f" M {ERRORS}"]
    )


async def report(stage: Stage, tell: Teller) -> None:
    tell.say("agent", "says: “All done, all tests pass, published.”")
    await stage.agent.call("finish_task", summary="All done, all tests pass, published.")
    found = await stage.editor.run("remit.report", task=TASK, format="json")
    heads = (("done", "Done"), ("failed", "Failed"), ("notRun", "Not run"), ("toBeConfirmed", "To be confirmed"))
    lines = [f"{head}|{line['text']}" for name, head in heads for line in found.get(name, ())]
    tell.show("report", "The report", [*lines, *(f"Refused|{line['text']}" for line in found["refused"])])
    changes = [line["text"] for line in found["done"] if line["kind"] == "change"]
    tell.promise("Done is what was applied: two changes.", len(changes) == 2, changes)
    said = {head: [line["subject"] for line in found.get(name, ()) if line["kind"] == "check"] for name, head in heads}
    tell.same(
        "A stale run is not called done, and what was not run is said.",
        (said["Done"], said["Not run"], said["To be confirmed"]),
        ([], ["publish"], ["unit"]),
    )
    cited = all(line["evidence"]["events"] for name, _ in heads for line in found.get(name, ()))
    tell.promise("Every line cites its events in the journal.", cited, "all cited" if cited else found)
    claim = found["claims"][0]["text"]
    tell.promise("The agent's own words stand apart, and moved nothing.", claim not in "".join(lines), claim)


STORY: tuple[Step, ...] = (
    Step("You put a contract in force", activate),
    Step("The agent reads", read),
    Step("It proposes three hunks in two files", propose),
    Step("Your editor shows them where they belong", diagnose, picture=True),
    Step("You type, without saving", type_on, picture=True),
    Step("A stale patch goes back, with the reason", refuse_stale, picture=True),
    Step("The agent reads again and proposes anew", propose_again),
    Step("You take one hunk and leave the other", review, picture=True),
    Step("The agent stays inside its remit", stay_inside),
    Step("A forbidden check is not run", forbid),
    Step("The required check runs when you say so", run_check),
    Step("A result is only as old as the text", go_stale),
    Step("The server is killed", crash),
    Step("You go on where you were", go_on),
    Step("The account is computed, not claimed", report),
)


# --- looking ----------------------------------------------------------------------------------------------------------


async def _untouched(stage: Stage, tell: Teller, text: str) -> None:
    """A promise that git sees no change at all."""
    tell.same(text, stage.git("status", "--porcelain"), "")


def _hunk(hunk: dict[str, Any]) -> list[str]:
    sides = (("-", hunk["old"]), ("+", hunk["new"]))
    return [f"{sign}{line.rstrip()}" for sign, lines in sides for line in lines]
