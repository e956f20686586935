"""The MCP client: asks with a tool and leaves the answer with the system."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason='pip install "pytest-fdegym[mcp]"')

from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.scenario import Scenario
from tests.example_agents.conftest import example


def patch_of(record: Record, settings: Settings) -> str:
    assert record.agent_error is None, record.agent_error
    assert settings.store is not None
    return settings.store.paths(record).patch.read_text()


def test_asks_the_sponsor_and_keeps_the_answer(oil_npt: Scenario, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(Case(oil_npt, "v1", "L3"), example("mcp_agent.py"), settings)
    added = [line[1:] for line in patch_of(record, settings).splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added[:2] == ["# What whitcomb wants from this system", ""]
    assert added[2:]
    assert (record.end_reason, record.engaged.messages, record.incidents) == ("handover", 1, ())
    assert record.scores is not None
    assert record.scores.uplift == 0.0
    assert capsys.readouterr().out == "wrote system/GOAL.md\n"


def test_changes_nothing_where_nobody_is_called_a_sponsor(stranger: Case, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(stranger, example("mcp_agent.py"), settings)
    assert patch_of(record, settings) == ""
    assert (record.end_reason, record.engaged.messages) == ("handover", 0)
    assert capsys.readouterr().out == "nobody here is called a sponsor; nothing was changed\n"
