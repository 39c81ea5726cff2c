"""How deep the tests marked `deep` go: thin in `make test`, thick in `make test-long`, which sets REMIT_DEPTH=long."""

from __future__ import annotations

import os

LONG = os.environ.get("REMIT_DEPTH") == "long"


def depth(thin: int, thick: int) -> int:
    """The count that this run asks for."""
    return thick if LONG else thin
