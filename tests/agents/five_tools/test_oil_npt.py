"""The five-tool agent resolves oil_npt.v1 with a model that asks, reads the answers and edits the files; nothing of the truth is in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pydantic_ai.models.function import FunctionModel

from pytest_fdegym.agents.five_tools.agent import FiveToolAgent
from pytest_fdegym.agents.loading import load as load_agent
from pytest_fdegym.agents.resolve import parse
from pytest_fdegym.bundled import bundled_tasks
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from tests.agents.five_tools import expert_model
from tests.support.settings import python_agent

EXAMPLES = Path(__file__).parents[3] / "example_agents"


def test_from_the_command_line(pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for file in (EXAMPLES / "scripted.py", Path(expert_model.__file__)):
        shutil.copy(file, pytester.path)
    result = pytester.runpytest_subprocess(
        "--fde-agent=five-tools", "--fde-agent-opt=model=expert_model:answer", "-k", "oil_npt and v1 and L3"
    )
    result.assert_outcomes(passed=1)
    (path,) = (pytester.path / ".fdegym" / "results").rglob("*.run1.json")
    record = json.loads(path.read_text())
    assert record["scores"]["resolved"]
    assert record["end_reason"] == "handover"
    assert set(record["engaged"]["key_facts"]) <= set(record["engaged"]["facts"])
    assert record["usage"]["turns"] > 20


@pytest.mark.parametrize("seed", [2, 3])
def test_in_other_worlds(settings: Settings, seed: int) -> None:
    """Other seeds plant other figures, which only the answers and the data tell."""
    scripted = load_agent(parse("scripted.py", {}), EXAMPLES, {}, {})
    agent = python_agent(FiveToolAgent(FunctionModel(expert_model.model(scripted))))
    record = run(Case(load(bundled_tasks() / "oil_npt"), "v1", "L3", seed=seed), agent, settings)
    assert record.agent_error is None, record.agent_error
    assert record.scores is not None
    assert record.scores.resolved, record.scores
