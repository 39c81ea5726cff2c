"""`core.indent`: when tabs and blanks mean the same, and how a file would begin a new line; refused where unclear."""

from __future__ import annotations

import pytest

from remit.core import lines
from remit.core.faults import AgentFault
from remit.core.indent import LONGEST, Indentation, lead, same_indentation
from remit.core.lines import View


def learned(*pairs: tuple[str, str]) -> Indentation:
    """From (file, patch) pairs of what lines begin with."""
    text = "".join(f"{has}x\n" for has, _ in pairs)
    view = View(text, "tabs")
    return Indentation(0, view, view.lines, [f"{sent}x" for _, sent in pairs])


def refused(indentation: Indentation, line: str) -> AgentFault:
    with pytest.raises(AgentFault) as caught:
        indentation.of(line)
    assert len(caught.value.message) <= 100 and caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("has", "sent", "same"),
    [
        (["\tx"], ["    x"], True),
        (["\tx", "\t\ty"], ["  x", "    y"], True),
        (["\tx", "\t\ty"], ["  x", "      y"], False),
        (["\tx"], [" x"], False),
        (["\tx"], ["x"], False),
        (["  \tx"], ["        x"], True),
        (["x"], ["x"], True),
        ([], [], True),
    ],
)
def test_blanks_are_the_same_by_one_width_for_all_lines(has: list[str], sent: list[str], same: bool) -> None:
    assert same_indentation(has, sent) is same
    assert same_indentation(sent, has) is same


def test_only_tabs_and_blanks_are_blanks() -> None:
    assert [lead(line) for line in ("", "x", " \t x ", "\u00a0x", "\x0cx", "  ")] == ["", "", " \t ", "", "", "  "]


def test_a_new_line_begins_as_the_file_begins_the_old_line_with_the_same_blanks() -> None:
    known = learned(("\t", "    "), ("\t  ", "      "))
    assert [known.of(line) for line in ("    a", "      b", "c", "", "    ")] == ["\ta", "\t  b", "c", "", "\t"]


def test_blanks_never_seen_are_read_as_known_ones_in_a_row_if_that_says_one_thing() -> None:
    known = learned(("\t", "    "))
    assert known.of("            a") == "\t\t\ta"
    assert learned(("\t", "    "), ("\t\t", "        ")).of(" " * 12 + "a") == "\t\t\ta"
    assert refused(known, "      a").data == {"chunk": 0, "line": "      a"}
    assert refused(known, "\ta").code == "indentation_unclear"
    assert refused(learned(("\t", "    "), ("\t  ", "      ")), " " * 12 + "a").code == "indentation_unclear"


def test_one_kind_of_blanks_that_became_two_is_unclear_only_where_it_is_needed() -> None:
    known = learned(("\t", "    "), ("    ", "    "), ("\t\t", "\t\t"))
    assert known.of("\t\ta") == "\t\ta"
    assert refused(known, "    a").code == "indentation_unclear"


def test_no_line_makes_anybody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    known = learned(*(("\t" * n, "    " * n) for n in range(1, 40)))
    assert known.of(" " * LONGEST + "a") == "\t" * (LONGEST // 4) + "a"
    assert refused(known, " " * (LONGEST + 4) + "a").code == "indentation_unclear"
    monkeypatch.setattr(lines, "SEARCHED", 1000)
    assert refused(learned(("\t", "    ")), " " * 400 + "a").code == "search_too_long"
