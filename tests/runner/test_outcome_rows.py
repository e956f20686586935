"""Each row of the table of outcomes, provoked by a real fault: where the run lands, and whether it is tried again.

The rows that only a whole pytest session can provoke are in tests/pytest_side/test_outcome_rows.py.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.admission.actors import SolutionActor
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.limits import Limits
from pytest_fdegym.outcomes import OUTCOMES, outcome
from pytest_fdegym.people.router import RoutablePerson, RouterContext, Routing
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import NOT_STORED, Case, Settings, run
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.world import GatewayRequest
from tests.support.providers import Answer, Fault, Provider, Raw, Reply
from tests.support.settings import python_agent, session
from tests.support.tiny_gateway import write_tiny_gateway

IN_A_SESSION = {"worker_crash", "interrupted", "budget", "under_way", "scenario_error", "unusable"}
"""Rows of tests/pytest_side/test_outcome_rows.py."""


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that were waited before another attempt."""
    return []


@pytest.fixture
def quick(settings: Settings, pauses: list[float]) -> Settings:
    """Settings that note the pauses instead of making them."""
    return dataclasses.replace(settings, sleep=pauses.append)


def lands(record: Record, row: str) -> None:
    """Assert that the run is where the table says."""
    assert (record.fault, record.status) == (row, outcome(row).lands), record.void_cause or record.agent_error
    assert (record.scores is None) == (record.status == "void")


# --- the agent's model ---

QUOTA = Raw(b'{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}', 429)
BAD_TOOLS = Raw(
    b'{"error": {"message": "An assistant message with \'tool_calls\' needs tool messages", "type": "invalid_request_error"}}',
    400,
)
PROVIDER: dict[str, Answer] = {
    "reset": Fault("reset"),
    "provider_error": Fault("server_error"),
    "rate_limit": Fault("rate_limit"),
    "quota": QUOTA,
    "authentication": Fault("authentication"),
    "context_overflow": Fault("overflow"),
    "bad_request": Fault("bad_request"),
    "bad_tool_call": BAD_TOOLS,
}
RETRIED = {outcome.id for outcome in OUTCOMES if outcome.retried != "no"}


def asks_openai(provider: Provider) -> Callable[[Engagement], None]:
    openai = pytest.importorskip("openai")

    def agent(engagement: Engagement) -> None:
        with openai.OpenAI(base_url=provider.openai, api_key=provider.key, max_retries=0) as client:
            client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": engagement.brief}])

    return agent


def asks_anthropic(provider: Provider) -> Callable[[Engagement], Any]:
    anthropic = pytest.importorskip("anthropic")

    async def agent(engagement: Engagement) -> None:
        async with anthropic.AsyncAnthropic(base_url=provider.anthropic, api_key=provider.key, max_retries=0) as client:
            await client.messages.create(model="claude-x", max_tokens=10, messages=[{"role": "user", "content": engagement.brief}])

    return agent


@contextmanager
def failing(row: str) -> Iterator[Provider]:
    """A provider that always fails so."""
    with Provider(lambda call: PROVIDER.get(row, Reply("hello"))) as provider:
        if row == "unreachable":
            provider.refuse()
        yield provider


@pytest.mark.parametrize("client", [asks_openai, asks_anthropic])
@pytest.mark.parametrize("row", ["unreachable", *PROVIDER])
def test_what_a_model_client_raises(case: Case, quick: Settings, pauses: list[float], row: str, client: Callable[[Provider], Any]) -> None:
    with failing(row) as provider:
        record = run(case, python_agent(client(provider)), quick)
    lands(record, row)
    assert pauses == ([2.0, 4.0] if row in RETRIED else []), "the same cause three times"
    if record.status == "void":
        assert record.void_cause is not None
        assert record.void_cause.startswith(f"the agent's model provider failed ({row}): ")
    else:
        assert record.end_reason == "agent_error"


CURL = """
import json, os, sys, urllib.request
body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "x"}]}).encode()
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers), timeout=30)
"""


@pytest.mark.parametrize("row", ["unreachable", *(row for row in PROVIDER if row != "bad_tool_call")])
def test_what_the_proxy_sees_of_a_command(case: Case, quick: Settings, pauses: list[float], row: str) -> None:
    with failing(row) as provider, Meter(upstreams(provider.environment)) as meter:
        agent = CommandAgent(AgentIdentity(name="cmd"), f"exec python3 -c '{CURL}'")
        record = run(case, agent, dataclasses.replace(quick, meter=meter))
    lands(record, row)
    assert len(pauses) == (2 if row in RETRIED else 0)


def test_a_handover_without_a_single_answer_of_the_model_is_no_result(case: Case, quick: Settings) -> None:
    with failing("provider_error") as provider, Meter(upstreams(provider.environment)) as meter:
        agent = CommandAgent(AgentIdentity(name="cmd"), f"python3 -c '{CURL}'; exit 0")
        record = run(case, agent, dataclasses.replace(quick, meter=meter))
    lands(record, "provider_error")


def test_an_outage_after_good_work_is_void_all_the_same_and_not_tried_again(case: Case, quick: Settings, pauses: list[float]) -> None:
    with failing("provider_error") as provider:
        fails = asks_openai(provider)

        def agent(engagement: Engagement) -> None:
            engagement.ask("pike", "How heavy may a letter be before it has to be a parcel?")
            fails(engagement)

        record = run(case, python_agent(agent), quick)
    lands(record, "provider_error")
    assert pauses == []


ACTS: dict[str, Callable[[Engagement], object]] = {
    "a message": lambda engagement: engagement.ask("pike", "hello"),
    "waiting": lambda engagement: engagement.wait(days=1),
    "a command": lambda engagement: engagement.run("true"),
    "a changed file": lambda engagement: engagement.write_text("notes.txt", "x"),
    "a removed file": lambda engagement: (engagement.workspace / "system" / "labels.py").unlink(),
    "a turn of the model": lambda engagement: engagement.record_usage(turns=1),
}
READS: dict[str, Callable[[Engagement], object]] = {
    "the directory": lambda engagement: engagement.people(),
    "mail": lambda engagement: engagement.inbox(),
    "a file": lambda engagement: engagement.read_text("TASK.md"),
}


@pytest.mark.parametrize(("what", "again"), [*((name, False) for name in ACTS), *((name, True) for name in READS)])
def test_only_an_agent_that_has_not_acted_is_begun_again(case: Case, quick: Settings, what: str, again: bool) -> None:
    workspaces: list[tuple[Path, list[str]]] = []
    with failing("rate_limit") as provider:
        fails = asks_openai(provider)

        def agent(engagement: Engagement) -> None:
            workspaces.append((engagement.workspace, engagement.list_files()))
            {**ACTS, **READS}[what](engagement)
            if len(workspaces) == 1:
                fails(engagement)

        record = run(case, python_agent(agent), quick)
    assert (len(workspaces), record.status) == ((2, "graded") if again else (1, "void"))
    assert len({tuple(files) for _, files in workspaces}) == 1, "a fresh workspace"


def test_each_new_beginning_is_told(case: Case, quick: Settings) -> None:
    with Provider([Fault("server_error"), Fault("server_error"), Reply("hello")]) as provider:
        record = run(case, python_agent(asks_openai(provider)), quick)
    assert (record.status, record.end_reason, record.fault) == ("graded", "handover", None)
    assert quick.store is not None
    events = quick.store.paths(record).events.read_text().splitlines()
    assert sum('"kind": "retry"' in line and '"fault": "provider_error"' in line for line in events) == 2


@pytest.mark.parametrize("retries", [0, 1])
def test_how_often_is_the_users_to_say(case: Case, quick: Settings, retries: int) -> None:
    with failing("reset") as provider:
        run(case, python_agent(asks_openai(provider)), dataclasses.replace(quick, retries=retries))
    assert len(provider.model_calls) == retries + 1


# --- the agent ---


def test_row_agent_error(case: Case, quick: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        raise ConnectionResetError("of a site that the agent looked at")

    lands(run(case, python_agent(agent), quick), "agent_error")


@pytest.mark.parametrize("agent", [python_agent(lambda engagement: sys.exit(3)), CommandAgent(AgentIdentity(name="cmd"), "exit 3")])
def test_row_agent_exit(case: Case, quick: Settings, agent: Deliverer) -> None:
    lands(run(case, agent, quick), "agent_exit")


@pytest.mark.parametrize(
    ("row", "limits"),
    [
        ("limit_turns", Limits(turns=1, minutes=None, usd=None)),
        ("limit_minutes", Limits(turns=None, minutes=0.001, usd=None)),
        ("limit_usd", Limits(turns=None, minutes=None, usd=0.1)),
    ],
)
def test_rows_of_the_limits(case: Case, quick: Settings, row: str, limits: Limits) -> None:
    def agent(engagement: Engagement) -> None:
        while True:
            engagement.record_usage(turns=1, usd=0.1)

    lands(run(case, python_agent(agent), dataclasses.replace(quick, limits=limits)), row)


# --- the harness ---


def _supervisors() -> list[int]:
    listed = subprocess.run(["ps", "-ww", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, args in rows if int(parent) == os.getpid() and "supervisor" in args]


class KillsSupervisors:
    """A Deliverer whose sandbox is killed while it runs a command."""

    identity = AgentIdentity(name="kills")

    def __init__(self) -> None:
        self.killed: list[int] = []

    def deliver(self, session: Any) -> Any:
        done = threading.Event()

        def kill() -> None:
            while not done.is_set():
                for pid in set(_supervisors()).difference(self.killed):
                    self.killed.append(pid)
                    os.kill(pid, signal.SIGKILL)
                    return

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            return python_agent(lambda engagement: engagement.run("exec tail -f /dev/null")).deliver(session)
        finally:
            done.set()
            thread.join()


def test_row_sandbox_fault(case: Case, quick: Settings, pauses: list[float]) -> None:
    agent = KillsSupervisors()
    record = run(case, agent, quick)
    lands(record, "sandbox_fault")
    assert (len(agent.killed), pauses) == (3, [2.0, 4.0])
    assert record.void_cause is not None
    assert "it ended on its own (exit code -9)" in record.void_cause


def test_a_sandbox_fault_that_the_agent_swallows_is_void_too(case: Case, quick: Settings, pauses: list[float]) -> None:
    def agent(engagement: Engagement) -> None:
        while True:
            try:
                engagement.run("exec tail -f /dev/null")
            except Exception:
                return

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(quick.sandbox, name)

        def run(self, command: Any, layout: Any, bounds: Any, **more: Any) -> Any:
            return quick.sandbox.run(command, dataclasses.replace(layout, readable=(Path("/does/not/exist"),)), bounds, **more)

    broken: Any = Broken()
    lands(run(case, python_agent(agent), dataclasses.replace(quick, sandbox=broken)), "sandbox_fault")
    assert pauses == [2.0, 4.0], "no command was ever run"


class BrokenRouter:
    id = "broken"

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        raise ConnectionError("model unreachable")


def test_row_router_fault(case: Case, quick: Settings, pauses: list[float]) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.ask("pike", "How heavy may a letter be?")

    record = run(case, python_agent(agent), dataclasses.replace(quick, router=BrokenRouter()))
    lands(record, "router_fault")
    assert pauses == [2.0, 4.0], "nobody was reached"


def test_a_router_fault_stops_an_agent_that_does_not_care(case: Case, quick: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        try:
            engagement.ask("pike", "How heavy may a letter be?")
        finally:
            while True:
                pass

    lands(run(case, python_agent(agent), dataclasses.replace(quick, router=BrokenRouter())), "router_fault")


class BrokenModel:
    id = "broken"

    def answer(self, request: GatewayRequest) -> str:
        raise ConnectionError("model unreachable")


def test_row_gateway_model_fault(tmp_path: Path, quick: Settings, pauses: list[float]) -> None:
    case = Case(load(write_tiny_gateway(tmp_path / "tiny_gateway")), "v1", "L3")
    with session(tmp_path / "results", gateway_model=BrokenModel(), sleep=pauses.append) as settings:
        lands(run(case, SolutionActor("shortcuts/asks_the_model"), settings), "gateway_model_fault")


def test_row_harness_fault(case: Case, quick: Settings) -> None:
    class Full:
        identity = AgentIdentity(name="full")

        def deliver(self, session: Any) -> Any:
            raise OSError(28, "No space left on device")

    record = run(case, Full(), quick)
    lands(record, "harness_fault")
    assert record.void_cause == "the harness failed: OSError: [Errno 28] No space left on device"


def test_row_not_stored(case: Case, quick: Settings, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where the folder should be")
    record = run(case, python_agent(lambda engagement: None), dataclasses.replace(quick, store=Store(tmp_path / "results")))
    assert (record.status, outcome("not_stored").lands) == ("graded", "graded")
    assert record.notes[-1].startswith(NOT_STORED)


def test_every_row_is_provoked_somewhere() -> None:
    here = {name.removeprefix("test_row_") for name in globals() if name.startswith("test_row_")}
    here |= {"unreachable", *PROVIDER, "limit_turns", "limit_minutes", "limit_usd"}
    assert here | IN_A_SESSION == {each.id for each in OUTCOMES}
