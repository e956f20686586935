"""Ending a session with a usage error once items are known."""

from __future__ import annotations

import pytest

from pytest_fdegym.pytest_side.session import SESSION


def refuse(config: pytest.Config, items: list[pytest.Item], message: str) -> None:
    """End the session with a usage error; a worker of pytest-xdist leaves it to the controller, which does not hear of its errors."""
    items.clear()  # or pytest-xdist would go on to run them
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(message)
    config.stash[SESSION].refused = message
