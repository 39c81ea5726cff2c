"""What was worked out once and need not be again: a bounded memory by a name that says everything.

Only for results that follow from the name alone (digests); nothing here ever goes stale. Whoever asks makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recall(Generic[K, V]):
    """The last `limit` results that were asked for."""

    __slots__ = ("_known", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: K, make: Callable[[], V]) -> V:
        """The result of that name; made if it is not known (any more). What `make` raises is not remembered."""
        found = self._known.pop(name) if name in self._known else make()
        self._known[name] = found  # the newest stands last
        if len(self._known) > self._limit:
            del self._known[next(iter(self._known))]
        return found
