"""The call of an item: the gate's verdict on a run. A module apart, for pytest cuts tracebacks at the file of what it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_fdegym.pytest_side.score_card import score_card
from pytest_fdegym.pytest_side.session import SESSION
from pytest_fdegym.results.record import Record

if TYPE_CHECKING:
    from pytest_fdegym.pytest_side.nodes import CaseItem


class BelowGate(Exception):
    """Carries the score card to the report of a run that the gate stopped."""


def judge(item: CaseItem, record: Record) -> None:
    """Raise BelowGate with the score card where the gate stops the run."""
    session = item.config.stash[SESSION]
    if record.scores is not None and not session.plan.gate.passes(record.scores):
        raise BelowGate(score_card(record, item.load().scenario.file.kpi, session.plan.gate, session.settings.store))


def verdict_item(fixture: str | None) -> Callable[..., None]:
    """The function that is collected; `fixture` gives the agent, if a fixture does."""

    def fde_item(request: pytest.FixtureRequest, fde_run: Record) -> None:
        judge(request.node, fde_run)

    fde_item.__test__ = True  # type: ignore[attr-defined]  # collected whatever python_functions says
    # In the static closure, so that the fixture's params, scope and --setup-plan work as in any test.
    return pytest.mark.usefixtures(fixture)(fde_item) if fixture else fde_item
