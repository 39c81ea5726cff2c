"""Who allowed an act, and on what ground: a human's answer to one showing, or the contract and policy themselves.

The value that events carry. Making one is `core/turn.py`'s for a human, `core/atonce.py`'s for `review: after`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from remit.core.model import Digest, Model

By = Annotated[str, Field(description="The principal: `human` with the client's name, `remit`, or an agent's id.")]

CONTRACT = "contract and policy"
"""The principal where nobody was asked: what a human has activated says that it may be done, and reviewed after."""


class Approval(Model):
    """Who allowed an act, by which showing, and what exactly was shown."""

    by: By
    offer: str = Field(description="The id of the showing; used once.")
    binding: Digest = Field(description="Fingerprint of everything that was shown.")
    contract: Digest | None = Field(default=None, description="Where nobody was asked: the contract that allows it.")
    policy: Digest | None = Field(default=None, description="Where nobody was asked: the policy that allows it.")

    @property
    def unasked(self) -> bool:
        """Whether no human was asked before."""
        return self.by == CONTRACT
