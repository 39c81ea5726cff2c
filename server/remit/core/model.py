"""The manner of every value that crosses a border: frozen, camelCase on the wire, nothing unknown let in.

Only the base class, digests of canonical JSON and the few field types that several borders share live here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import rfc8785
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

ABSENT: Final = "absent"
"""The binding of a change whose target must not exist, and the result of a deletion."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 in hex, of the bytes that a save would write."""

Binding = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64}|absent)$")]
"""A digest, or `absent`."""


class Model(BaseModel):
    """A frozen value with camelCase names on the wire; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """The JSON form, camelCase, without unset optional fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def canonical(value: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """The one byte form of a JSON value (RFC 8785)."""
    return rfc8785.dumps(value)


def fingerprint(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """SHA-256 (hex) of the canonical JSON of `value`: two equal values have one fingerprint."""
    return hashlib.sha256(canonical(value)).hexdigest()
