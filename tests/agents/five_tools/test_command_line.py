"""``pytest --fde-agent=five-tools``, as a user calls it: real processes, a model of the user's own or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pytest_side.support import usage_error
from tests.support.tiny_scenario import write_tiny_scenario

MODELS = """\
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

def answer(messages, info):
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("execute", {"command": "bin/ask --who"})])
    return ModelResponse(parts=[TextPart("Done.")])
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.Pytester:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pytester.makeini("[pytest]\naddopts = --fde-tasks=tasks --fde-gate=none\n")
    write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    pytester.makepyfile(house_models=MODELS)
    return pytester


def records(project: pytest.Pytester) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in sorted((project.path / ".fdegym" / "results").rglob("*run1.json"))]


def test_a_model_of_ones_own(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--fde-agent=five-tools", "--fde-agent-opt=model=house_models:answer", "-k", "v1 and L3")
    result.assert_outcomes(passed=1)
    (record,) = records(project)
    assert record["agent"] == {"name": "five-tools", "version": None, "options": {"model": "house_models:answer"}}
    assert record["end_reason"] == "handover"
    usage = record["usage"]
    assert isinstance(usage, dict)
    assert (usage["turns"], usage["usd"]) == (2, None)


def test_the_agent_as_a_fixture(project: pytest.Pytester) -> None:
    project.makeconftest("""
        import pytest
        from pydantic_ai.models.function import FunctionModel
        from pytest_fdegym.agents.five_tools.agent import FiveToolAgent
        from house_models import answer

        @pytest.fixture(scope="session")
        def mine():
            return FiveToolAgent(FunctionModel(answer), context_tokens=20_000)
        """)
    result = project.runpytest_subprocess("--fde-agent=mine", "-k", "L3", "-p", "no:xdist")
    result.assert_outcomes(passed=2)
    assert [record["end_reason"] for record in records(project)] == ["handover", "handover"]


def test_without_the_extra(project: pytest.Pytester) -> None:
    project.makepyfile(no_extra="import sys\nsys.modules['pydantic_ai'] = None\n")
    result = project.runpytest_subprocess("-p", "no_extra", "--fde-agent=five-tools", "--fde-agent-opt=model=openai:gpt-5")
    assert usage_error(result) == ("--fde-agent=five-tools needs pydantic-ai, which is not installed: pip install 'pytest-fdegym[llm]'")


def test_without_a_model(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest_subprocess("--fde-agent=five-tools")) == (
        "--fde-agent=five-tools needs --fde-agent-opt model=PROVIDER:NAME, for example model=openai:gpt-6.1-sol."
    )


def test_said_with_its_prefix(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--fde-agent=builtin:five-tools", "--fde-agent-opt=model=opnai:gpt-5")
    assert usage_error(result) == (
        "--fde-agent-opt model=opnai:gpt-5: pydantic-ai knows no such model. Did you mean 'openai:gpt-5'? "
        "PROVIDER:NAME is expected, or package.module:NAME."
    )


def test_other_agents_do_not_load_it(project: pytest.Pytester) -> None:
    project.makeconftest("""
        import sys

        def pytest_sessionfinish():
            print("loaded:", sorted(name for name in sys.modules if name.startswith(("pydantic_ai", "pytest_fdegym.agents.five_tools"))))
        """)
    result = project.runpytest_subprocess("--fde-agent=do-nothing", "-k", "v1 and L3", "-s")
    result.stdout.fnmatch_lines(["*loaded: []"])
