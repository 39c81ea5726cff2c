"""`kill -9` of the server: everything that was durable is there again, and nothing is done twice.

Also the sessions without an editor: what waits there is taken over by the editor that opens, and nothing is lost.
"""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from remit.core.faults import UserFault
from remit.edges.socket import Link
from remit.home import home, live, place
from world import World, offer_of, refused, settled

POLICY = """\
[checks.slow]
argv = ["python3", "-c", "import time, pathlib; pathlib.Path('began').touch(); time.sleep(60)"]
inputs = ["a.txt"]
"""


async def test_everything_pending_is_there_again(world: World) -> None:
    world.put("a.txt", "one\ntwo\nthree\n")
    world.put("b.txt", "b\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    first = await agent.propose("a.txt", "two", "TWO")
    second = await agent.propose("b.txt", "b", "B")
    question = (await agent("ask_human", question="Which?", options=["one", "two"]))["decision"]["decisionId"]
    action = (await editor.run("remit.accept", offer=await offer_of(editor, first)))["result"]
    await settled(editor, action)
    editor.type("a.txt", 0, 0, "typed ")
    before = await editor.view()
    await editor.kill()
    await editor.restart()

    after = await editor.view()
    assert [one["proposal"] for one in after["proposals"]] == [second]
    assert [one["decision"] for one in after["decisions"]] == [question]
    assert after["tasks"][0]["contractDigest"] == before["tasks"][0]["contractDigest"]
    assert after["actions"] == before["actions"]
    assert editor.text("a.txt") == "typed one\nTWO\nthree\n"
    await editor.until(lambda: "patch-pending" in editor.codes("b.txt"))
    await editor.run("remit.decide", offer=after["decisions"][0]["offer"], option="one")
    again = await world.agent()
    assert (await again("wait_for_decision", decisionId=question))["decision"]["answer"] == "one"
    assert await again.state(first) == "applied"
    assert (await again("read_file", path="a.txt"))["text"] == "typed one\nTWO\nthree\n"


async def test_killed_while_the_editor_applies_the_digest_tells(world: World) -> None:
    """The server dies between sending the edit and hearing of it; the editor did apply it."""
    world.put("a.txt", "a\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    offer = await offer_of(editor, name)
    take = editor.take

    def die_first(_editor: Any, params: Any) -> Any:
        editor.process.send_signal(signal.SIGKILL)
        return take(params)

    editor.answer_edit = die_first
    accepting = asyncio.ensure_future(editor.run("remit.accept", offer=offer))
    await editor.process.wait()
    accepting.cancel()
    editor.client._stop_event.set()
    assert editor.text("a.txt") == "A\n"
    editor.answer_edit = None
    await editor.restart()
    await editor.until(lambda: editor.diagnostics is not None and editor.codes("a.txt") == [])
    again = await world.agent()
    async with asyncio.timeout(15):
        while (state := await again.state(name)) == "outcome_unknown":
            continue
    assert state == "applied"
    assert len(editor.edits) == 1, "nothing is sent again"


async def test_killed_before_the_editor_applied_it_may_be_accepted_again(world: World) -> None:
    world.put("a.txt", "a\n")
    editor = await world.active()
    editor.open("a.txt")
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    offer = await offer_of(editor, name)

    def die(_editor: Any, _params: Any) -> Any:
        editor.process.send_signal(signal.SIGKILL)
        raise ConnectionError("gone")

    editor.answer_edit = die
    accepting = asyncio.ensure_future(editor.run("remit.accept", offer=offer))
    await editor.process.wait()
    accepting.cancel()
    editor.client._stop_event.set()
    editor.answer_edit = None
    await editor.restart()
    again = await world.agent()
    async with asyncio.timeout(15):
        while (state := await again.state(name)) == "outcome_unknown":
            continue
    assert state == "failed_without_effect"
    assert editor.text("a.txt") == "a\n"
    assert (await refused(editor.run("remit.accept", offer=offer))).code == "already_decided"
    action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
    assert (await settled(editor, action))["state"] == "succeeded"
    assert editor.text("a.txt") == "A\n"


async def test_a_check_that_was_cut_off_is_unknown_not_failed(world: World) -> None:
    world.put("a.txt", "a\n")
    verification = {"required": ["slow"], "allowed": [], "forbidden": []}
    editor = await world.active(policy=POLICY, verification=verification)
    view = await editor.view()
    action = (await editor.run("remit.runCheck", offer=view["tasks"][0]["checks"][0]["offer"]))["result"]
    async with asyncio.timeout(15):
        while not (world.root / "began").exists():
            await editor.view()
    await editor.kill()
    await editor.restart()
    found = (await editor.view())["actions"][action]
    assert found["state"] == "needs_human_decision"
    report = await editor.run("remit.report", format="json")
    assert [line["subject"] for line in report["toBeConfirmed"] if line["kind"] == "check"] == ["slow"]
    assert report["failed"] == []
    decision = next(one for one in (await editor.view())["decisions"] if one["kind"] == "unknown_outcome")
    await editor.run("remit.decide", offer=decision["offer"], option="not_run")
    report = await editor.run("remit.report", format="json")
    assert [line["subject"] for line in report["notRun"]] == ["slow"]


async def test_without_an_editor_proposals_wait_and_an_editor_takes_over(world: World) -> None:
    from remit import wiring

    world.put("a.txt", "a\n")
    editor = await world.active()
    await editor.stop()
    os.environ["REMIT_HOME"] = str(world.base)
    try:
        link = Link(lambda: wiring._reach(world.root), "codex", "1")
        contract = await link.call("get_contract", {})
        assert (contract["session"], contract["active"]) == ("headless", True)
        read = await link.call("read_file", {"path": "a.txt"})
        files = [{"path": "a.txt", "content": "A\n"}]
        params: Any = {"files": files, "bases": {"a.txt": read["digest"]}, "key": "k1"}
        proposed = await link.call("propose_patch", params)
        name = str(proposed["proposalId"])
        question = await link.call("ask_human", {"question": "Shall I?", "options": ["yes", "no"]})
        here = live(place(world.root, home({"REMIT_HOME": str(world.base)})))
        assert here is not None and here.role == "headless"

        waiting = asyncio.ensure_future(link.call("wait_for_review", {"proposalId": name, "seconds": 20}))
        await editor.restart()
        assert (await editor.view())["mode"] == "editor"
        assert [one["proposal"] for one in (await editor.view())["proposals"]] == [name]
        decided: Any = question["decision"]
        assert [one["decision"] for one in (await editor.view())["decisions"]] == [decided["decisionId"]]
        action = (await editor.run("remit.accept", offer=await offer_of(editor, name)))["result"]
        assert (await settled(editor, action))["state"] == "succeeded"
        answer = await asyncio.wait_for(waiting, 30)
        assert (answer["state"], answer["settled"]) == ("applied", True)
        assert await link.call("propose_patch", params) == proposed, "the same request gets the same answer"
        assert world.bytes("a.txt") == b"A\n"
        await link.close()
    finally:
        del os.environ["REMIT_HOME"]


async def test_a_headless_session_never_applies(world: World) -> None:
    from remit import wiring
    from remit.core.turn import Subject
    from remit.mediator import Abilities, Command

    world.put("a.txt", "a\n")
    editor = await world.active()
    agent = await world.agent()
    name = await agent.propose("a.txt", "a", "A")
    await editor.stop()
    os.environ["REMIT_HOME"] = str(world.base)
    try:
        owned = wiring.own(world.root, "headless")
        owned.session.attach("headless", "no editor", "", "utf-16", Abilities(), ())
        from remit.core import reviewing

        turn = owned.session.peek()
        offer = reviewing.offer(turn, turn.state.proposals[name], "accept")
        assert isinstance(owned.session.mediator.memory.offers.subjects[offer], Subject)
        with pytest.raises(UserFault) as refusal:
            owned.session.command("accept", Command(offer=offer))
        assert refusal.value.code == "no_editor"
        await owned.close()
    finally:
        del os.environ["REMIT_HOME"]
    assert world.bytes("a.txt") == b"a\n"
