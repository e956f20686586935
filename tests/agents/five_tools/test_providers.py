"""The five-tool agent over HTTP: OpenAI's two APIs and Anthropic's, in whole pytest runs against a fake provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.five_tools.agent import FiveToolAgent
from pytest_fdegym.runner import Case, Settings, run
from tests.support.providers import Fault, FaultKind, Provider, Reply, Tokens, ToolCall
from tests.support.settings import python_agent
from tests.support.tiny_scenario import write_tiny_scenario

MODELS = {"openai-chat:gpt-4o": "chat", "openai:gpt-4o": "responses", "anthropic:claude-sonnet-4-5": "messages"}
RAISED = Tokens(input=3000, output=200)


def script() -> list[Reply | Fault]:
    edit = {"path": "system/shipping.py", "old": "LETTER_LIMIT_GRAMS = 100", "new": "LETTER_LIMIT_GRAMS = 250"}
    return [
        Reply("Who is there?", [ToolCall("execute", {"command": "bin/ask --who"})], Tokens(1000, 50)),
        Fault("rate_limit"),
        Reply(tools=[ToolCall("list"), ToolCall("edit", edit)], usage=RAISED),
        Reply("Done.", usage=Tokens(4000, 20)),
    ]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("model", MODELS)
def test_a_whole_run(pytester: pytest.Pytester, environment: pytest.MonkeyPatch, tmp_path: Path, model: str) -> None:
    environment.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    with Provider(script()) as provider:
        for name, value in provider.environment.items():
            environment.setenv(name, value)
        result = pytester.runpytest_subprocess(
            "--fde-tasks=tasks", "--fde-gate=none", "-k", "v1 and L3", "--fde-agent=five-tools", f"--fde-agent-opt=model={model}"
        )
    result.assert_outcomes(passed=1)
    (path,) = (pytester.path / ".fdegym" / "results").rglob("*.run1.json")
    record: dict[str, Any] = json.loads(path.read_text())
    assert (record["end_reason"], record["agent_error"]) == ("handover", None)
    assert "+LETTER_LIMIT_GRAMS = 250" in path.with_name(path.name.replace(".json", ".patch")).read_text()
    assert {call.api for call in provider.calls} == {MODELS[model]}
    usage = record["usage"]
    assert (usage["turns"], usage["input_tokens"], usage["output_tokens"]) == (3, provider.served.input, provider.served.output)
    assert usage["usd"] > 0
    *_, last = provider.model_calls
    assert [*json.dumps(last.body).split("bin/ask --who")][1:], "the conversation is sent whole"
    assert "Ada Moss, Owner." in json.dumps(last.body)


def test_the_conversation_is_cached_at_anthropic(case: Case, settings: Settings, environment: pytest.MonkeyPatch) -> None:
    with Provider([Reply(tools=[ToolCall("execute", {"command": "true"})]), Reply("Done.")]) as provider:
        for name, value in provider.environment.items():
            environment.setenv(name, value)
        run(case, python_agent(FiveToolAgent("anthropic:claude-of-nobody")), settings)
    for call in provider.model_calls:
        assert call.body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}


def test_a_provider_that_tells_no_usage_costs_an_unknown_amount(case: Case, settings: Settings, environment: pytest.MonkeyPatch) -> None:
    """Though the model has a price, and pydantic-ai gives a usage of zeros."""
    with Provider([Reply(tools=[ToolCall("execute", {"command": "true"})], usage=None), Reply("Done.", usage=None)]) as provider:
        for name, value in provider.environment.items():
            environment.setenv(name, value)
        record = run(case, python_agent(FiveToolAgent("openai-chat:gpt-4o")), settings)
    assert (record.usage.turns, record.usage.usd) == (2, None)


def test_one_agent_serves_many_runs(case: Case, settings: Settings, environment: pytest.MonkeyPatch) -> None:
    """Each run has an event loop of its own, and connections do not outlive theirs."""
    with Provider(lambda call: Reply("Done.")) as provider:
        for name, value in provider.environment.items():
            environment.setenv(name, value)
        agent = python_agent(FiveToolAgent("openai:gpt-4o"))
        assert [run(case, agent, settings).agent_error for _ in range(3)] == [None] * 3
    assert len(provider.model_calls) == 6


# Names without a price: the clients warn of older ones, and a warning is an error here.
@pytest.mark.parametrize("model", ["openai-chat:small-1", "openai:small-1", "anthropic:small-1"])
@pytest.mark.parametrize(
    ("fault", "status", "row"),
    [
        ("authentication", 401, "authentication"),
        ("rate_limit", 429, "rate_limit"),
        ("server_error", 500, "provider_error"),
        ("overflow", 400, "context_overflow"),
        ("bad_request", 400, "bad_request"),
        ("reset", None, "reset"),
    ],
)
def test_a_model_that_fails(
    case: Case, settings: Settings, environment: pytest.MonkeyPatch, model: str, fault: FaultKind, status: int | None, row: str
) -> None:
    """Its exception comes out as pydantic-ai raised it, with the status by which the run finds its row in the table of outcomes."""
    raised: list[BaseException] = []

    async def agent(engagement: Engagement) -> None:
        try:
            await FiveToolAgent(model)(engagement)
        except ModelAPIError as error:
            raised.append(error)
            raise

    with Provider(lambda call: Fault(fault)) as provider:
        for name, value in provider.environment.items():
            environment.setenv(name, value)
        record = run(case, python_agent(agent), settings)
    error = raised[-1]
    assert (error.status_code if isinstance(error, ModelHTTPError) else None) == status
    assert record.fault == row
