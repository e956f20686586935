"""``--fde-metering``: agents' model calls go through a proxy of the session's, whenever their client was made."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.pytest_side.support import usage_error
from tests.support.providers import KEY, Answer, Call, Provider, Reply, Tokens

V1 = ("-k", "v1", "--fde-gate=none")
CLIENT = """
import json, os, urllib.request

class Client:
    "As the SDKs do, it reads the environment once, when it is made."

    def __init__(self):
        self.url, self.key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]

    def ask(self, content):
        body = json.dumps({"model": "gpt-4o-2024-08-06", "messages": [{"role": "user", "content": content}]}).encode()
        headers = {"authorization": "Bearer " + self.key, "content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.url + "/chat/completions", body, headers)) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]
"""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """What the user's environment names."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with Provider(lambda call: Reply("hello", usage=Tokens(1000, 50, 400))) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        yield provider


def records(project: pytest.Pytester) -> list[dict[str, Any]]:
    found = (project.path / ".fdegym" / "results").rglob("*.json")
    return sorted((json.loads(path.read_bytes()) for path in found), key=lambda record: str(record["task"]))


AGENTS = {
    "module": (
        "def agent(engagement):\n    CLIENT.ask('hi')\n    CLIENT.ask('there')\n\nCLIENT = Client()\n",
        "--fde-agent=agent.py:agent",
    ),
    "session fixture": (
        "import pytest\n\n@pytest.fixture(scope='session')\ndef myagent():\n    client = Client()\n"
        "    return lambda engagement: [client.ask('hi'), client.ask('there')]\n",
        "--fde-agent=myagent",
    ),
    "inside the run": (
        "def agent(engagement):\n    client = Client()\n    client.ask('hi')\n    client.ask('there')\n",
        "--fde-agent=agent.py:agent",
    ),
}


@pytest.mark.parametrize("kind", list(AGENTS))
def test_the_record_tells_what_was_served(project: pytest.Pytester, provider: Provider, kind: str) -> None:
    pytest.importorskip("genai_prices")
    code, option = AGENTS[kind]
    name = "conftest" if "fixture" in kind else "agent"
    (project.path / f"{name}.py").write_text(CLIENT + code)
    before = dict(os.environ)
    result = project.runpytest_inprocess(option, "--junitxml=report.xml", "--fde-gate=none")
    result.assert_outcomes(passed=2)
    assert "fdegym: model calls are metered" in result.outlines
    for record in records(project):
        usd = pytest.approx(2 * (600 * 2.50 + 400 * 1.25 + 50 * 10.00) / 1e6)
        assert record["usage"] == {"turns": 2, "input_tokens": 2000, "output_tokens": 100, "usd": usd, "usd_at_least": None}
    assert (provider.served.turns, provider.served.input) == (4, 4000)
    assert {call.headers["authorization"] for call in provider.calls} == {f"Bearer {KEY}"}
    assert 'name="fde.turns" value="2"' in (project.path / "report.xml").read_text()
    assert {name: os.environ.get(name) for name in before if "_API_KEY" in name or "_BASE_URL" in name} == provider.environment
    assert "sk-fdegym-" not in str(os.environ)


def test_each_call_is_in_the_event_log(project: pytest.Pytester, provider: Provider) -> None:
    (project.path / "agent.py").write_text(CLIENT + AGENTS["inside the run"][0])
    project.runpytest("--fde-agent=agent.py:agent", *V1).assert_outcomes(passed=1, deselected=1)
    (log,) = (project.path / ".fdegym" / "results").rglob("*.events.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    used = [line for line in lines if line["kind"] == "usage"]
    assert [(line["api"], line["model"], line["status"], line["turns"]) for line in used] == [("chat", "gpt-4o-2024-08-06", 200, 1)] * 2
    assert KEY not in log.read_text()


def test_workers_count_their_own_runs(project: pytest.Pytester, provider: Provider) -> None:
    (project.path / "agent.py").write_text(CLIENT + AGENTS["module"][0])
    project.makeconftest(
        """
        import os, pathlib

        def pytest_sessionfinish(session):
            if not hasattr(session.config, "workerinput"):
                pathlib.Path("controller").write_text(os.environ["OPENAI_BASE_URL"])
        """
    )
    result = project.runpytest("--fde-agent=agent.py:agent", "-n", "2", "--fde-runs=2", "--fde-gate=none", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=4)
    assert [record["usage"]["turns"] for record in records(project)] == [2] * 4
    assert provider.served.turns == 8
    assert (project.path / "controller").read_text() == provider.openai, "else workers would ask its proxy"


def test_the_limit_of_turns_holds_for_an_agent_that_reports_nothing(project: pytest.Pytester, provider: Provider) -> None:
    (project.path / "agent.py").write_text(CLIENT + "def agent(engagement):\n    while True:\n        Client().ask('more')\n")
    project.runpytest("--fde-agent=agent.py:agent", "--fde-max-turns=3", *V1).assert_outcomes(passed=1, deselected=1)
    (record,) = records(project)
    assert (record["end_reason"], record["usage"]["turns"], provider.served.turns) == ("limit_turns", 3, 3)


@pytest.mark.parametrize("how", ["option", "ini"])
def test_off(project: pytest.Pytester, provider: Provider, how: str) -> None:
    (project.path / "agent.py").write_text(CLIENT + AGENTS["module"][0])
    if how == "ini":
        project.makeini("[pytest]\naddopts = --fde-tasks=tasks\nfde_metering = off\n")
    options = ["--fde-metering=off"] if how == "option" else []
    result = project.runpytest("--fde-agent=agent.py:agent", *options, *V1)
    result.assert_outcomes(passed=1, deselected=1)
    assert "fdegym: model calls are not metered: limits and figures are what the agent reports itself" in result.outlines
    (record,) = records(project)
    assert record["usage"]["turns"] is None
    assert provider.served.turns == 2


@pytest.mark.parametrize("agent", ["do-nothing", "solution:reference"])
def test_agents_that_call_no_model_have_no_proxy(project: pytest.Pytester, provider: Provider, agent: str) -> None:
    project.makeconftest(
        """
        import os

        def pytest_fdegym_event(item, event):
            if event.kind == "start":
                print("ADDRESS", os.environ["OPENAI_BASE_URL"])
        """
    )
    result = project.runpytest(f"--fde-agent={agent}", "-s", *V1)
    assert f"ADDRESS {provider.openai}" in result.stdout.str()
    assert "metered" not in result.stdout.str()


def test_collecting_alone_starts_nothing(project: pytest.Pytester, provider: Provider) -> None:
    (project.path / "agent.py").write_text("import os\nprint('ADDRESS', os.environ['OPENAI_BASE_URL'])\n\ndef agent(engagement): pass\n")
    result = project.runpytest("--fde-agent=agent.py:agent", "--collect-only", "-s")
    assert f"ADDRESS {provider.openai}" in result.stdout.str()


def test_the_routers_own_calls_are_not_the_agents(project: pytest.Pytester, provider: Provider) -> None:
    def answer(call: Call) -> Answer:
        if "temperature" in call.body:  # the router's
            return Reply('{"message": "specific", "topics": {"limit": "asked"}}')
        return Reply("hello")

    provider._script = answer
    code = "def agent(engagement):\n    Client().ask('hi')\n    print(engagement.ask('moss', 'What is the limit?'))\n"
    (project.path / "agent.py").write_text(CLIENT + code)
    project.runpytest("--fde-agent=agent.py:agent", "--fde-router=llm:small-1", *V1).assert_outcomes(passed=1, deselected=1)
    (record,) = records(project)
    assert provider.served.turns >= 2
    assert record["usage"]["turns"] == 1
    assert record["status"] == "graded"


def test_an_address_that_is_none(project: pytest.Pytester, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.path / "agent.py").write_text("def agent(engagement): pass\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    assert usage_error(project.runpytest("--fde-agent=agent.py:agent")) == (
        "OPENAI_BASE_URL: an address such as https://api.openai.com/v1 is expected, found 'localhost:8000'. "
        "(--fde-metering=off leaves it alone.)"
    )
    project.runpytest("--fde-agent=agent.py:agent", "--fde-metering=off", *V1).assert_outcomes(passed=1, deselected=1)


def test_what_is_accepted(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=do-nothing", "--fde-metering=no")
    assert usage_error(result) == "--fde-metering: on or off is expected, found 'no'."


def test_without_prices_the_header_says_what_is_missing(
    project: pytest.Pytester, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "genai_prices" else real(name, *rest))
    (project.path / "agent.py").write_text("def agent(engagement): pass\n")
    result = project.runpytest_inprocess("--fde-agent=agent.py:agent", *V1)
    assert (
        "fdegym: model calls are metered, but what they cost is unknown: genai-prices is not installed "
        "(pip install 'pytest-fdegym[prices]')" in result.outlines
    )


def test_the_environment_is_restored_when_the_agent_cannot_be_loaded(project: pytest.Pytester, provider: Provider) -> None:
    (project.path / "agent.py").write_text("def agent(engagement): pass\n")
    usage_error(project.runpytest_inprocess("--fde-agent=agent.py:nobody"))
    assert os.environ["OPENAI_BASE_URL"] == provider.openai
