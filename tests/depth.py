"""How deep the tests marked `deep` go: thin in `make test`, thick in `make test-long`, which sets REMIT_DEPTH=long."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

LONG = os.environ.get("REMIT_DEPTH") == "long"


def depth(thin: T, thick: T) -> T:
    """What this run asks for: mostly a count."""
    return thick if LONG else thin
