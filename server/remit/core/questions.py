"""Findings about what waits for the human's answer: decisions, wherever they can be seen.

A decision is never only in a prompt that may be gone: it is shown here until it is answered or withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from remit.core import activating
from remit.core.entries import DecisionEntry
from remit.core.finding import TOP, Doable, Finding, Region, Severity, asks, in_contract, short
from remit.core.turn import Turn

KINDS: Mapping[str, tuple[str, Severity]] = {
    "unknown_outcome": ("outcome-unknown", "error"),
    "protected_path": ("protected-path", "warning"),
}


def decisions(turn: Turn) -> Iterator[Finding]:
    for entry in turn.state.pending_decisions():
        asked = entry.asked
        code, severity = KINDS.get(asked.kind, ("decision-pending", "warning"))
        places = _places(turn, entry)
        for path, region in places:
            others = tuple((p, r, "Also shown here.") for p, r in places if p != path)
            yield Finding(
                code,
                path,
                region,
                severity,
                short(f"{asked.decision}: {asks(turn, asked)}"),
                answers(entry),
                others,
                {"decision": asked.decision},
            )


def _places(turn: Turn, entry: DecisionEntry) -> list[tuple[str, Region]]:
    """Where a decision is shown: its contract, the file it is about; else whatever the human has open."""
    asked, places = entry.asked, []
    if asked.task in turn.state.contracts:
        pointer = ("verification",) if asked.kind == "run" else ("taskId",)
        places.append(in_contract(turn, asked.task, *pointer))
    if asked.about and asked.about not in {path for path, _ in places} and turn.exists(asked.about):
        places.append((asked.about, TOP))
    return places or [(next(iter(turn.memory.mirror.buffers), asked.about or activating.POLICY_PATH), TOP)]


def answers(entry: DecisionEntry) -> tuple[Doable, ...]:
    """What a plain editor can answer: the options, or yes and no where free text was asked for."""
    asked = entry.asked
    if not asked.options:
        return tuple(Doable(f"Answer “{word}”", "decide", asked.decision, option=word) for word in ("yes", "no"))
    return tuple(Doable(f"{asked.decision}: {o.title}", "decide", asked.decision, option=o.id) for o in asked.options)
