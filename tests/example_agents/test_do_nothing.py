"""The agent that hands over at once."""

from __future__ import annotations

from pytest_fdegym.runner import Case, Settings, run
from tests.example_agents.conftest import example


def test_scores_exactly_zero_on_any_task(stranger: Case, settings: Settings) -> None:
    record = run(stranger, example("do_nothing.py"), settings)
    assert (record.end_reason, record.engaged.messages) == ("handover", 0)
    assert record.scores is not None
    assert record.scores.score == 0.0
