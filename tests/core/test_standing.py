"""Whether what was applied is still there: wholly, line by line, under what came later, in the editor only."""

from __future__ import annotations

from fakes import Bench, desk
from remit.core import standing

NAME = "src/a.txt"
TEN = "".join(f"{n}\n" for n in range(10))
THREE = TEN.replace("1\n", "one\n").replace("4\n", "four\nand\n").replace("8\n", "")


def applied(new: str | None = THREE, *, opened: bool = True) -> Bench:
    bench = desk({NAME: TEN})
    if opened:
        bench.open(NAME)
    bench.accept(bench.propose({NAME: new}))
    bench.play()
    assert bench.state.proposals["P1"].state == "applied"
    return bench


def gone(bench: Bench, action: str = "A1") -> tuple[str, ...]:
    return standing.gone(bench.session.peek(), bench.state.actions[action])


def test_what_is_there_stands_and_is_not_saved_yet() -> None:
    bench = applied()
    assert gone(bench) == ()
    assert standing.unsaved(bench.session.peek(), bench.state.actions["A1"]) == (NAME,)
    bench.save(NAME)
    assert standing.unsaved(bench.session.peek(), bench.state.actions["A1"]) == ()


def test_typing_elsewhere_leaves_it_and_typing_in_it_does_not() -> None:
    bench = applied()
    bench.type(NAME, 0, 0, "above\n")
    assert gone(bench) == ()
    bench.type(NAME, 6, 0, "in the middle of it ")
    assert gone(bench) == (NAME,)
    bench.undo(NAME)
    assert gone(bench) == ()


def test_a_deleted_line_is_back_when_something_stands_at_its_place() -> None:
    bench = applied()
    assert bench.text(NAME).split("\n")[8:10] == ["7", "9"]
    bench.type(NAME, 9, 0, "8\n")
    assert gone(bench) == (NAME,)


def test_closed_without_saving_it_is_not_there() -> None:
    bench = applied()
    bench.close(NAME)
    assert gone(bench) == (NAME,)


def test_what_was_accepted_later_is_made_from_it() -> None:
    bench = applied()
    bench.accept(bench.propose({NAME: "all else\n"}))
    bench.play()
    assert (gone(bench), gone(bench, "A2")) == ((), ())
    bench.type(NAME, 0, 0, "x")
    assert (gone(bench), gone(bench, "A2")) == ((), (NAME,))


def test_what_was_changed_between_two_changes_is_seen_in_the_text_between() -> None:
    bench = applied()
    bench.type(NAME, 1, 0, "not ")
    bench.accept(bench.propose({NAME: bench.text(NAME) + "more\n"}))
    bench.play()
    assert (gone(bench), gone(bench, "A2")) == ((NAME,), ())


def test_a_deleted_file_that_is_back_and_one_nobody_can_read() -> None:
    bench = applied(None, opened=False)
    assert gone(bench) == ()
    bench.disk.files[NAME] = b"back\n"
    assert gone(bench) == (NAME,)
    bench.disk.unreadable.add(NAME)
    assert gone(bench) == (NAME,)
