"""The hooks that a conftest.py or a plugin may implement to follow runs. Called in the process that runs the item (an xdist worker)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_fdegym.observer import Event
    from pytest_fdegym.results.record import Record


def pytest_fdegym_event(item: pytest.Item, event: Event) -> None:
    """Something happened in the run of `item`: its start, a message, a command, the handover, the grade and so on (`event.kind`).

    Called in order, from the thread in which it happens.
    """


def pytest_fdegym_graded(item: pytest.Item, record: Record) -> None:
    """The run of `item` is over, graded or void; called before the gate decides."""
