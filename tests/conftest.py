"""What every test gets: settings for Hypothesis, and an order in which end-to-end tests come last.

Fixtures live beside the tests that need them; fakes for the ports live in `fakes.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

E2E = Path(__file__).parent / "e2e"

# No deadline and no complaint about slow generation: both measure the machine, not the code.
settings.register_profile(
    "remit", deadline=None, max_examples=100, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("remit")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Unit tests first, whole programs last; the tests of one e2e file share one worker and so their servers."""
    for item in items:
        if item.path.is_relative_to(E2E):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: item.path.is_relative_to(E2E))
