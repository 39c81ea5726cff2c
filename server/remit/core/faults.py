"""Whose fault is it? Every refusal Remit gives is one of these.

A fault says what is wrong (`code`, stable; `message`, for people), what to do now (`remedy`) and what the caller
needs to go on (`data`, plain JSON values). It never carries an LSP or MCP code: only the doors know those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias, Union

Json: TypeAlias = Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]]
Party = Literal["agent", "user", "world", "us"]


class Fault(Exception):
    """A refusal. Whatever raised it has changed nothing."""

    party: ClassVar[Party]

    def __init__(self, code: str, message: str, *, remedy: str = "", **data: Json) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.data: dict[str, Json] = data

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class AgentFault(Fault):
    """The agent asked for something that must be refused; the text goes back to the agent."""

    party: ClassVar[Party] = "agent"


class UserFault(Fault):
    """The human's own file or answer cannot be used as it is."""

    party: ClassVar[Party] = "user"


class WorldFault(Fault):
    """The disk, the editor or another process failed; nothing was decided."""

    party: ClassVar[Party] = "world"


class OurFault(Fault):
    """Remit broke one of its own rules: a bug to report."""

    party: ClassVar[Party] = "us"


def no_unicode(field: str) -> AgentFault:
    """The refusal `invalid_unicode` of a request whose `field` holds half a character, or bytes that are no UTF-8."""
    name = field[:20].encode("utf-8", "backslashreplace").decode()[:20]
    return AgentFault(
        "invalid_unicode",
        f"{name} is no Unicode text: it holds half a character, or bytes that are not UTF-8.",
        remedy="Send whole characters: a pair of surrogates is one, and a single one is none.",
        field=field.encode("utf-8", "backslashreplace").decode(),
    )


PARTIES: Mapping[Party, type[Fault]] = {kind.party: kind for kind in (AgentFault, UserFault, WorldFault, OurFault)}


def to_dict(fault: Fault) -> dict[str, Json]:
    """The wire form that every door uses: code, party, message, remedy, data."""
    return {
        "code": fault.code,
        "party": fault.party,
        "message": fault.message,
        "remedy": fault.remedy,
        "data": fault.data,
    }


def from_dict(raw: Mapping[str, Json]) -> Fault:
    """The fault that `to_dict` wrote; an unknown party counts as ours."""
    kind = {str(party): cls for party, cls in PARTIES.items()}.get(str(raw.get("party")), OurFault)
    data = raw.get("data")
    return kind(
        str(raw.get("code", "internal")),
        str(raw.get("message", "")),
        remedy=str(raw.get("remedy", "")),
        **(data if isinstance(data, dict) else {}),
    )
