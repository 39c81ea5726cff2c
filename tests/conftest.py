"""What every test gets: settings for Hypothesis, an order in which end-to-end tests come last, and a word about those
that need a program this machine has not got.

Fixtures live beside the tests that need them; fakes for the ports live in `fakes.py`.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from depth import LONG

E2E = Path(__file__).parent / "e2e"

NEEDS = {E2E / "test_neovim.py": "nvim"}
"""Test files that need a program which the locks do not bring."""

# No deadline and no complaint about slow generation: both measure the machine, not the code. A thin run tries the same
# examples each time, so that what is red is the change's doing; `make test-long` goes on looking.
settings.register_profile(
    "remit",
    deadline=None,
    max_examples=100,
    print_blob=True,
    derandomize=not LONG,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("remit")


def without() -> dict[Path, str]:
    """The test files that cannot run here. On a build machine (CI is set) there are none: they fail there instead."""
    if os.environ.get("CI"):
        return {}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {file: name for file, name in NEEDS.items() if not shutil.which(name, path=path)}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was not run; with workers this process has collected nothing, so the arguments must do."""
    asked = [(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args]
    for file, name in without().items():
        if any(file.is_relative_to(one) for one in asked):
            terminalreporter.write_line(f"not run: {file.name}, because there is no {name} here", yellow=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Unit tests first, whole programs last; the tests of one e2e file share one worker and so their servers."""
    missing = without()
    config.hook.pytest_deselected(items=[item for item in items if item.path in missing])
    items[:] = [item for item in items if item.path not in missing]
    for item in items:
        if item.path.is_relative_to(E2E):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: item.path.is_relative_to(E2E))
