"""Taking back what an apply put into open files: when the rest of it failed, or a crash cut it off.

The agent's hunks go, what was typed since stays; where the two cannot be told apart nothing is touched, and the human
is asked. Closed files are put back by the disk (`core/applying.py`, `core/recovering.py`).
"""

from __future__ import annotations

from remit.core import editing, ending, plan
from remit.core.editing import ANSWER, QUIET, Flight
from remit.core.effects import EditBuffers, Wake
from remit.core.turn import Turn

TRIES = 3
"""How often an edit is taken back anew, when something was typed while that was on its way."""


def begin(turn: Turn, name: str, flight: Flight, reason: str) -> None:
    """All files must be as before, for this reason: take the agent's hunks out of the buffers."""
    flight.said = reason
    if not plan.buffers(turn, name):
        _end(turn, name, flight)
        return
    flight.phase, flight.wanted, flight.tries = "undo", {}, 0
    flight.deadline = turn.clock + ANSWER
    again(turn, name, flight)


def again(turn: Turn, name: str, flight: Flight) -> None:
    """Send what takes them out of the present texts, as soon as nobody types."""
    paths = plan.buffers(turn, name)
    if not editing.quiet(turn, flight, paths):
        turn.act(Wake(QUIET))
        return
    back = editing.reversal(turn, flight.proposal, paths)
    if isinstance(back, str):
        _lose(turn, name, flight, back)
    elif not back.edits:
        _end(turn, name, flight)
    else:
        flight.wanted, flight.seen, flight.answered = back.wanted, turn.found(paths), None
        flight.tries, flight.deadline = flight.tries + 1, turn.clock + ANSWER
        turn.act(EditBuffers(name, f"Remit: take back {flight.proposal.id}", back.edits, undo=True))
        turn.act(Wake(ANSWER))


def look(turn: Turn, name: str, flight: Flight) -> None:
    """Whether the buffers are as they shall be; what was typed while the edit was on its way is to be kept too."""
    found = turn.found(plan.buffers(turn, name))
    if found == flight.wanted:
        _end(turn, name, flight)
    elif flight.answered is False and found != flight.seen and flight.tries < TRIES:
        again(turn, name, flight)
    elif flight.answered is False or turn.clock >= flight.deadline:
        _lose(turn, name, flight, "the editor's part could not be taken back")


def _end(turn: Turn, name: str, flight: Flight) -> None:
    if flight.recovered:
        turn.memory.inflight.pop(name, None)  # the digests tell the rest
    else:
        ending.end(turn, name, "failed_without_effect", flight.said)


def _lose(turn: Turn, name: str, flight: Flight, reason: str) -> None:
    if flight.recovered:
        turn.memory.inflight.pop(name, None)
        ending.ask_about(turn, turn.state.actions[name], f"{flight.said}; {reason}")
    else:
        ending.lose(turn, name, f"{flight.said}; {reason}")
