"""The bench itself: its arithmetic and its verdicts, and that every part of it runs; never how fast anything is."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import PARTS, TINY, main, run
from bench.ratio import Row, as_json, busy, exponent, measure, repeated, table


def ticking(seconds: float) -> float:
    """A case that says itself how long it took."""
    return seconds


def test_a_slowed_down_candidate_is_called_missed() -> None:
    """The control: the same bound, the same peer, and a candidate that takes twice what it may."""
    for slowed, verdict in ((1, "met"), (2, "missed")):
        times = measure({"candidate": lambda slowed=slowed: ticking(0.02 * slowed), "peer": lambda: ticking(0.1)})  # type: ignore[misc]
        assert Row("T1", "x", times["candidate"] / times["peer"], 0.25).verdict == verdict


def test_time_is_taken_from_outside_where_a_case_says_none() -> None:
    calls: list[int] = []
    assert measure({"some": lambda: calls.append(1)}, rounds=3)["some"] > 0
    assert len(calls) == 4
    assert measure({"many": repeated(lambda: calls.append(1), 5)}, rounds=3)["many"] > 0
    assert len(calls) == 4 + 4 * 5


def test_time_at_work_is_told_by_the_case() -> None:
    calls: list[int] = []
    said = busy(lambda: calls.append(1))()
    assert isinstance(said, float) and said >= 0 and calls == [1]


def test_the_median_is_taken_and_every_round_has_every_case() -> None:
    said = {"a": iter([9.0, 1.0, 5.0, 2.0]), "b": iter([9.0, 4.0, 4.0, 7.0])}
    seen: list[str] = []

    def case(name: str) -> float:
        seen.append(name)
        return next(said[name])

    found = measure({name: lambda name=name: case(name) for name in said}, rounds=3)  # type: ignore[misc]
    assert found == {"a": 2.0, "b": 4.0}  # the first of each is not counted
    assert [sorted(seen[at : at + 2]) for at in range(0, 8, 2)] == [["a", "b"]] * 4


def test_rounds_are_in_an_order_of_their_own() -> None:
    seen: list[str] = []
    measure({name: lambda name=name: seen.append(name) for name in "abcd"}, rounds=9)  # type: ignore[misc]
    rounds = ["".join(seen[at : at + 4]) for at in range(4, 40, 4)]
    assert len(set(rounds)) > 3
    assert all(sorted(one) == list("abcd") for one in rounds)


@pytest.mark.parametrize(("large", "power"), [(1.0, 0.0), (4.0, 1.0), (8.0, 1.5), (16.0, 2.0)])
def test_how_time_grows_is_told_as_a_power(large: float, power: float) -> None:
    assert exponent(1.0, large, 4) == pytest.approx(power)


def test_verdicts() -> None:
    told = [Row("T1", "x", *of).verdict for of in ((0.25, 0.25), (0.26, 0.25), (None, 0.25), (3.0, None), (0.0, 0.0))]
    assert told == ["met", "missed", "not run", "-", "met"]


def test_the_table_and_the_json_say_the_same() -> None:
    rows = [
        Row("T12", "an edit", 0.1234, 0.25),
        Row("T8", "grows", 1.5, 1.1, "", "a note"),
        Row("T11", "codex", None, 0.5),
    ]
    lines = table(rows).split("\n")
    assert lines[1].split() == ["T12", "an", "edit", "0.123x", "<=", "0.25x", "met"]
    assert lines[2].split() == ["T8", "grows", "1.5", "<=", "1.1", "missed", "a", "note"]
    assert lines[3].split() == ["T11", "codex", "<=", "0.5x", "not", "run"]
    assert [one["verdict"] for one in json.loads(as_json(rows))] == ["met", "missed", "not run"]


IN_PROCESS = [name for name in PARTS if "server" not in name]


def test_every_part_in_process_runs() -> None:
    targets = sorted({target for name in IN_PROCESS for target in PARTS[name][0]})
    rows = run(TINY, [], parts=IN_PROCESS)
    assert {row.target for row in rows} == set(targets)
    assert all(row.ratio is not None and row.ratio >= 0 for row in rows if "exponent" not in row.what)


@pytest.mark.parametrize("part", [name for name in PARTS if name not in IN_PROCESS])
def test_the_parts_through_the_server_run(part: str) -> None:
    rows = run(TINY, [], parts=[part])
    assert {row.target for row in rows} == set(PARTS[part][0])
    assert all(row.ratio is None or row.ratio > 0 for row in rows)


def test_words(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    assert main(["--tiny", "--rounds", "1", "--only", "T7", "--json", f"{tmp_path}/out.json"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("target") and "T7" in said.out and "T8" not in said.out
    assert "digests" in said.err
    with open(f"{tmp_path}/out.json", encoding="utf-8") as file:
        assert {one["target"] for one in json.load(file)} == {"T7"}
