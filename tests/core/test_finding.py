"""`core.finding`: places of findings, and words that fit one line of a problem list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import CONTRACT_PATH, contract_text, desk
from remit.core.finding import NAME, TOP, Region, agent_name, asks, in_contract, lines_region, region_of, short
from remit.core.plain import visible
from remit.core.source import Span
from remit.core.text import Text, split_lines


@pytest.mark.parametrize(
    ("text", "span", "region"),
    [
        ("", Span(0, 0), TOP),
        ("abc", Span(1, 2), Region(0, 1, 0, 2)),
        ("a\nbc\n", Span(2, 4), Region(1, 0, 1, 2)),
        ("a\r\nb\rc", Span(3, 6), Region(1, 0, 2, 1)),
        ("a\n", Span(2, 2), Region(1, 0, 1, 0)),
        ("👍x\u2028y", Span(1, 4), Region(0, 1, 0, 4)),
    ],
)
def test_offsets_become_lines_and_columns(text: str, span: Span, region: Region) -> None:
    assert region_of(text, span) == region


@given(text=st.text(alphabet="a\n\ré", max_size=12), data=st.data())
def test_a_region_leads_back_to_its_offsets(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    region = region_of(text, Span(start, end))
    lines = [*split_lines(text), ""]
    if not (0 < start < len(text) and text[start - 1 : start + 1] == "\r\n"):
        assert sum(map(len, lines[: region.line])) + region.column == start
    assert region.end_line < Text(text).line_count + 1


@pytest.mark.parametrize(
    ("start", "count", "region"),
    [
        (0, 1, Region(0, 0, 0, 1)),
        (1, 2, Region(1, 0, 2, 3)),
        (1, 0, Region(1, 0, 1, 0)),
        (9, 0, Region(2, 0, 2, 0)),
        (2, 9, Region(2, 0, 2, 3)),
    ],
)
def test_whole_lines_leave_out_the_last_line_end_and_stay_in_the_text(start: int, count: int, region: Region) -> None:
    assert lines_region(["a\n", "bb\r\n", "ccc\r"], start, count) == region
    assert lines_region([], start, count) == TOP


@given(st.text(max_size=300))
def test_a_message_is_one_line_of_at_most_a_hundred_characters(message: str) -> None:
    line = short(message)
    assert len(line) <= 100 and "\n" not in line and "\r" not in line
    if len(words := visible(" ".join(message.split()))) <= 100:
        assert line == words


def test_a_place_in_the_contract_follows_its_present_text() -> None:
    bench = desk({}, contract='{"taskId": "t", "goal": "g", "writeScope": [], "allowedTools": []}')
    assert in_contract(bench.session.peek(), "t", "taskId") == (CONTRACT_PATH, Region(0, 11, 0, 14))
    bench.disk.files[CONTRACT_PATH] = contract_text("t").encode()
    assert in_contract(bench.session.peek(), "t", "taskId") == (CONTRACT_PATH, Region(1, 12, 1, 15))
    del bench.disk.files[CONTRACT_PATH]
    assert in_contract(bench.session.peek(), "t", "taskId") == (CONTRACT_PATH, TOP)


def test_an_agent_is_called_by_the_name_it_claims() -> None:
    turn = desk({}).session.peek()
    assert agent_name(turn, "agent-0001") == "coder"
    assert agent_name(turn, "nobody") == "nobody"


def test_no_name_is_so_long_that_it_hides_what_is_done() -> None:
    bench = desk({"src/a": "a\n"})
    bench.connect("agent-0002", "x" * 100)
    assert len(agent_name(bench.session.peek(), "agent-0002")) == NAME
    bench.connect("agent-0003", " ")
    assert agent_name(bench.session.peek(), "agent-0003") == "agent-0003"


def test_the_end_of_a_long_path_is_seen() -> None:
    assert short(f"P1 by coder would create src/{'a' * 200}/run.sh.").endswith("/run.sh.")


def test_only_an_agents_own_question_is_said_to_be_its_own() -> None:
    bench = desk({"src/.env": "a\n"})
    bench.call("ask_human", question="Widen the contract of task-1?")
    bench.propose({"src/.env": "b\n"})
    told = [asks(bench.session.peek(), entry.asked) for entry in bench.state.decisions.values()]
    assert told[0] == "coder asks: Widen the contract of task-1?"
    assert told[1].startswith("P1 changes src/.env.")
