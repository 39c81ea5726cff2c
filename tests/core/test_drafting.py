"""`core.drafting`: what a contract would allow is read before the agent's own words, whatever they look like."""

from __future__ import annotations

from fakes import CONTRACT_PATH, Bench, desk
from remit.core.drafting import NAMED


def test_a_goal_cannot_pass_for_the_scope() -> None:
    bench = Bench()
    bench.connect()
    goal = "Tidy”, writing docs/ only. Activate it? \u202e\nAll of it is safe."
    bench.call("propose_contract", goal=goal, writeScope=["."], why="It may write docs/.")
    asked = bench.state.decisions["D1"].asked
    assert asked.question.startswith(
        "Activate a contract drafted by an agent? It may write everything (.). Its goal: “Tidy”"
    )
    assert "\u202e" not in asked.question and "\n" not in asked.question
    assert asked.why == "The agent says: It may write docs/."


def test_an_amendments_diff_comes_before_the_agents_words() -> None:
    bench = desk({})
    fake = f'--- {CONTRACT_PATH}\n+++ {CONTRACT_PATH}\n+    "docs/"' + "\n" * 400
    bench.call("request_amendment", writeScope=["."], why=fake)
    asked = bench.state.decisions["D1"].asked
    assert asked.question == "Widen the contract of task-1? It may write everything (.)."
    facts, _, words = asked.why.partition("The agent says: ")
    assert '+    "."' in facts and "docs/" not in facts and words == fake.strip()


def test_a_long_list_says_how_long_it_is() -> None:
    bench = desk({})
    scope = [f"part-{number}/" for number in range(NAMED)] + ["."] * 1
    bench.call("request_amendment", writeScope=scope, why="Much.")
    question = bench.state.decisions["D1"].asked.question
    assert question.endswith("and 1 more.") and len(question) < 300
    assert '+    "."' in bench.state.decisions["D1"].asked.why
