"""The agent of the OpenAI Agents SDK, in a user's project, against a provider that answers from a script."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_fdegym.results.record import Record
from tests.example_agents.conftest import EXAMPLES
from tests.support.providers import Call, Provider, Reply, Tokens, ToolCall
from tests.support.tiny_scenario import write_tiny_scenario

pytest.importorskip("agents", reason="pip install openai-agents")

COUNT = "SELECT count(*) FROM orders WHERE grams > 100 AND grams <= 500"
SHIP = """
def ship(order, *, db):
    grams = db.execute("SELECT grams FROM orders WHERE id = ?", (order["id"],)).fetchone()[0]
    return "letter" if grams <= 500 else "parcel"
"""


def last_output(call: Call) -> str:
    return next(str(item["output"]) for item in reversed(call.body["input"]) if item.get("type") == "function_call_output")


def model(call: Call) -> Reply:
    """A model that knows the customer: one tool after the other, and what it learns goes into the next."""
    query = f'python3 -c \'import sqlite3; print(sqlite3.connect("data/orders.db").execute("{COUNT}").fetchone()[0])\''
    step = sum(item.get("type") == "function_call_output" for item in call.body["input"])
    match step:
        case 0:
            return Reply("Let me see who is there.", [ToolCall("people")], Tokens(1000, 10))
        case 1:
            assert "pike: Jonas Pike, Post room." in last_output(call)
            return Reply(tools=[ToolCall("ask", {"person": "pike", "message": "How heavy may a letter be?"})], usage=Tokens(1100, 20))
        case 2:
            assert "Up to 500 g goes as a letter" in last_output(call)
            return Reply(tools=[ToolCall("run", {"command": query})], usage=Tokens(1200, 30))
        case 3:
            told = f"{last_output(call).split()[0]} orders went as parcels for nothing. Do you approve a new shipping rule?"
            return Reply(tools=[ToolCall("ask", {"person": "moss", "message": told})], usage=Tokens(1300, 40))
        case 4:
            assert "My approval is SHIP-7." in last_output(call)
            return Reply(tools=[ToolCall("write_file", {"path": "system/shipping.py", "content": SHIP})], usage=Tokens(1400, 50))
        case _:
            return Reply("Letters up to 500 g are sent as letters now.", usage=Tokens(1500, 60))


@pytest.fixture
def project(pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shutil.copy(EXAMPLES / "agents_sdk.py", pytester.path)
    pytester.makeconftest("from agents_sdk import agents_sdk")
    write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    return pytester


def test_resolves_a_task_and_is_metered(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider(model) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        result = project.runpytest_subprocess(
            "--fde-agent=agents_sdk", "--fde-agent-opt=model=gpt-5-mini", "--fde-tasks=tasks", "-k", "v1", timeout=120
        )
    result.assert_outcomes(passed=1, deselected=1)
    (file,) = project.path.glob(".fdegym/results/agents_sdk/*.json")
    record = Record.model_validate(json.loads(file.read_text()))
    assert record.scores is not None
    assert (record.scores.score, record.scores.resolved) == (0.95, True)
    usage = record.usage
    assert (usage.turns, usage.input_tokens, usage.output_tokens) == (6, 7500, 210)
    assert (provider.served.turns, provider.served.input, provider.served.output) == (6, 7500, 210)
    assert {call.body["model"] for call in provider.model_calls} == {"gpt-5-mini"}
