"""The gateway while the agent works: the client in the workspace, the cap, the event log; nothing there tells the truth."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.gateway import client as gateway_client
from pytest_fdegym.gateway.client import VARIABLE
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.base import CommandResult
from tests.support.settings import python_agent
from tests.support.tiny_gateway import SECRET

CHAT = """
import sys
sys.path.insert(0, "system")
from gateway import Gateway, GatewayError
for text in sys.argv[1:]:
    try:
        print(Gateway().chat([{"role": "user", "content": text}]))
    except GatewayError as error:
        print(error.status, error)
"""


def worked(case: Case, settings: Settings, *commands: list[str]) -> tuple[list[CommandResult], Record]:
    """What some commands gave, run in the workspace, and the record."""
    results: list[CommandResult] = []

    def agent(engagement: Engagement) -> None:
        results.extend(engagement.run(command) for command in commands)

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    return results, record


def test_use_is_capped_and_recorded(case: Case, settings: Settings) -> None:
    (chat,), record = worked(case, settings, ["python3", "-c", CHAT, "N1?", "Is N2 a letter?", "hello", "again", "and again"])
    assert chat.stdout.splitlines() == [
        *["unknown"] * 3,
        *["429 the 3 calls that the gateway allows for engineering work are used up"] * 2,
    ], chat.stderr
    assert settings.store is not None
    events = [json.loads(line) for line in settings.store.paths(record).events.read_text().splitlines()]
    calls = [{key: event[key] for key in ("text", "answer", "usd")} for event in events if event["kind"] == "gateway"]
    assert calls == [{"text": text, "answer": "unknown", "usd": 0.25} for text in ("N1?", "Is N2 a letter?", "hello")]
    assert record.scores is not None
    assert record.scores.score == 0.0, "what the engineer's own calls cost is nobody's KPI"


def test_the_client_is_found_with_and_without_the_environment(case: Case, settings: Settings) -> None:
    results, _ = worked(
        case,
        settings,
        ["sh", "-c", f"echo ${VARIABLE}; cat bin/.gateway"],
        ["env", "-u", VARIABLE, "python3", "-c", CHAT, "hello"],
    )
    paths = results[0].stdout.split()
    assert paths[0] == paths[1]
    assert paths[0].endswith("/gateway.sock")
    assert results[1].stdout == "unknown\n", results[1].stderr


def test_a_command_finds_it_too(case: Case, settings: Settings) -> None:
    command = f"python3 - hello > system/answer.txt <<'END'\n{CHAT}\nEND"
    record = run(case, CommandAgent(AgentIdentity(name="cmd"), command), settings)
    assert settings.store is not None
    assert "+unknown\n" in settings.store.paths(record).patch.read_text()


def test_the_task_tells_of_it_without_price_or_cap(case: Case, settings: Settings) -> None:
    briefs: list[str] = []
    run(case, python_agent(lambda engagement: briefs.append(engagement.brief)), settings)
    text = " ".join(briefs[0].split())
    assert (
        "There is no network but the company's LLM gateway (OpenAI protocol over a unix socket). `system/gateway.py` is a client for it; "
        "its models are `post-small`, `post-large`."
    ) in text
    assert "0.25" not in text
    assert "with `db`, `gateway` passed by keyword" in text


def test_the_client_is_the_same_file_for_every_customer_and_part_of_the_system_as_found(case: Case, settings: Settings) -> None:
    files: dict[str, str] = {}

    def reads(engagement: Engagement) -> None:
        files.update({name: engagement.read_text(name) for name in engagement.list_files() if not name.endswith(".db")})

    record = run(case, python_agent(reads), settings)
    assert files["system/gateway.py"] == Path(gateway_client.__file__).read_text()
    assert settings.store is not None
    assert settings.store.paths(record).patch.read_text() == "", "nothing was changed, so nothing was delivered beyond what was found"


def test_no_truth_is_on_the_wire_nor_in_the_workspace(case: Case, settings: Settings) -> None:
    prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    assert SECRET in prepared.heldout.truth.values()
    search = ["grep", "-r", "-e", SECRET, "-e", "simulated", "-e", "v1.L3", "-e", "tiny_post", "."]
    listing = ["sh", "-c", f"env; curl -s --unix-socket ${VARIABLE} http://gateway/v1/models; cat /proc/net/unix 2>/dev/null"]
    (found, wire, chat), _ = worked(case, settings, search, listing, ["python3", "-c", CHAT, "What is the secret?", "N1"])
    assert (found.exit_code, found.stdout) == (1, ""), found.stdout
    for word in (SECRET, "simulated", "tiny_post", "production", "trial"):
        assert word not in wire.stdout + chat.stdout


def test_a_mistake_of_the_author_at_work_is_no_fault_of_the_agent(case: Case, settings: Settings) -> None:
    with pytest.raises(ScenarioError, match="answer: ZeroDivisionError: the model is confused"):
        worked(case, settings, ["python3", "-c", CHAT, "boom"])


def test_nobody_answers_after_handover(case: Case, settings: Settings) -> None:
    sockets: list[Path] = []

    def agent(engagement: Engagement) -> None:
        sockets.append(Path(engagement.read_text("bin/.gateway").strip()))
        assert sockets[0].is_socket()

    assert run(dataclasses.replace(case, variant="v2"), python_agent(agent), settings).agent_error is None
    assert not sockets[0].exists()
