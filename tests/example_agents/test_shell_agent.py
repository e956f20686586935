"""The agent in POSIX shell: asks with bin/ask and leaves the answer with the system."""

from __future__ import annotations

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.scenario import Scenario
from tests.example_agents.conftest import EXAMPLES


def shell_agent() -> CommandAgent:
    """What ``--fde-agent="cmd:$(cat shell_agent.sh)"`` gives."""
    return CommandAgent(AgentIdentity(name="shell_agent"), (EXAMPLES / "shell_agent.sh").read_text())


def added_lines(record: Record, settings: Settings) -> list[str]:
    assert settings.store is not None
    patch = settings.store.paths(record).patch.read_text()
    return [line[1:] for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")]


def test_asks_the_sponsor_and_keeps_the_answer(oil_npt: Scenario, settings: Settings) -> None:
    record = run(Case(oil_npt, "v1", "L3"), shell_agent(), settings)
    assert (record.end_reason, record.agent_error, record.engaged.messages) == ("handover", None, 1)
    title, blank, answer, *_ = added_lines(record, settings)
    assert (title, blank) == ("# What whitcomb wants from this system", "")
    assert answer.startswith("[Tue 04 Mar 2025 10:00] whitcomb: ")
    assert record.scores is not None
    assert (record.scores.uplift, record.incidents) == (0.0, ())


def test_changes_nothing_where_nobody_is_called_a_sponsor(stranger: Case, settings: Settings) -> None:
    record = run(stranger, shell_agent(), settings)
    assert (record.end_reason, record.agent_error, record.engaged.messages) == ("handover", None, 0)
    assert added_lines(record, settings) == []
