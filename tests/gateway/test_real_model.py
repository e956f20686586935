"""A real model behind the gateway, at a real HTTP server of this machine: what it gives is marked, and what it fails with is no answer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.admission.actors import DoNothing, SolutionActor
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.chat_endpoint import ChatEndpoint
from pytest_fdegym.errors import UsageError
from pytest_fdegym.gateway.real import RealModel, real_model
from pytest_fdegym.runner import Case, Settings, run
from tests.support.chat_server import Answer, Chat, ChatServer, Status
from tests.support.settings import python_agent, session

KEY = "sk-gateway-secret"


class Rule:
    """Answers every question with a letter, unless told otherwise by the test."""

    def __init__(self) -> None:
        self.instead: Answer | None = None

    def __call__(self, chat: Chat) -> Answer:
        return self.instead if self.instead is not None else "letter"


@pytest.fixture
def rule() -> Rule:
    return Rule()


@pytest.fixture
def server(rule: Rule) -> Iterator[ChatServer]:
    with ChatServer(rule) as server:
        yield server


@pytest.fixture
def real(server: ChatServer, tmp_path: Path) -> Iterator[Settings]:
    """A session with the server's model behind every gateway; what is tried again is tried at once."""
    endpoint = ChatEndpoint(server.url, "large-9", KEY, "the gateway's model", sleep=lambda _: None)
    with session(tmp_path / "results", cache=tmp_path / "kpis", gateway_model=RealModel(endpoint)) as settings:
        yield settings


def test_its_results_are_marked_as_comparable_with_no_others(case: Case, real: Settings, server: ChatServer) -> None:
    record = run(case, SolutionActor("shortcuts/asks_the_model"), real)
    assert record.scores is not None
    assert record.scores.kpi == 0.0, "half of the orders rightly sent, for 50 USD"
    assert record.gateway == f"large-9 at {server.url}"
    assert record.notes[-1] == f"large-9 at {server.url} answered at the customer's LLM gateway: this result cannot be compared with others"
    assert server.requests[0]["model"] == "large-9", "whatever name the customer gives it"
    assert re.fullmatch(r"Letter or parcel\? Order N[0-9]+", server.requests[0]["messages"][0]["content"])
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert len(server.requests) == 200


def test_customers_without_a_gateway_are_not_concerned(tmp_path: Path, real: Settings, server: ChatServer) -> None:
    from pytest_fdegym.scenario.loader import load  # noqa: PLC0415
    from tests.support.tiny_scenario import write_tiny_scenario  # noqa: PLC0415

    record = run(Case(load(write_tiny_scenario(tmp_path / "tiny_post")), "v1", "L3"), SolutionActor("reference"), real)
    assert (record.gateway, record.notes, server.requests) == (None, (), [])


def test_what_was_measured_with_one_model_is_not_taken_for_another(case: Case, real: Settings, server: ChatServer, tmp_path: Path) -> None:
    run(case, DoNothing(), real)
    with session(tmp_path / "simulated", cache=tmp_path / "kpis") as simulated:
        run(case, DoNothing(), simulated)
        assert len(list((tmp_path / "kpis").glob("*.json"))) == 2
        run(case, DoNothing(), dataclasses.replace(simulated))
    assert len(list((tmp_path / "kpis").glob("*.json"))) == 2


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_a_model_that_fails_is_void_and_no_wrong_answer(case: Case, real: Settings, server: ChatServer, rule: Rule, status: int) -> None:
    rule.instead = Status(status, '{"error": {"message": "not today"}}')
    record = run(case, SolutionActor("shortcuts/asks_the_model"), real)
    assert (record.status, record.scores) == ("void", None)
    assert record.void_cause is not None
    assert record.void_cause.startswith(f"the gateway's model (large-9 at {server.url}) answered HTTP {status}")
    assert KEY not in record.model_dump_json()


def test_a_failure_at_work_is_void_too(case: Case, real: Settings, server: ChatServer, rule: Rule) -> None:
    rule.instead = Status(401)
    said: list[str] = []

    def agent(engagement: Engagement) -> None:
        code = "from gateway import Gateway; Gateway().chat([{'role': 'user', 'content': 'hello'}])"
        said.append(engagement.run(["env", "-C", "system", "python3", "-c", code]).stderr)

    record = run(case, python_agent(agent), real)
    assert record.status == "void"
    assert said[0].splitlines()[-1] == "gateway.GatewayError: the gateway failed"


def test_a_request_longer_than_the_model_can_read_is_the_deliverys_own(case: Case, real: Settings, rule: Rule) -> None:
    rule.instead = Status(400, '{"error": {"message": "too long", "code": "context_length_exceeded"}}')
    code = """
        def ship(order, *, db, gateway):
            return gateway.chat([{"role": "user", "content": order["id"]}])
    """
    record = run(case, python_agent(lambda engagement: engagement.write_text("system/shipping.py", dedent(code))), real)
    assert record.status == "graded"
    assert record.notes[0] == (
        "ship raised GatewayError: the request is longer than the model can read in system/shipping.py line 3 on 200 of 200 calls"
    )


def test_the_key_stays_in_the_harness(case: Case, real: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDEGYM_GATEWAY_API_KEY", KEY)
    seen: list[str] = []

    def agent(engagement: Engagement) -> None:
        seen.append(engagement.run("env; cat /proc/*/environ; grep -r sk-gateway . ; true").stdout)
        code = "import os\ndef ship(order, *, db, gateway):\n    return 'letter' if 'FDEGYM_GATEWAY_API_KEY' in os.environ else 'parcel'\n"
        engagement.write_text("system/shipping.py", code)

    record = run(case, python_agent(agent), real)
    assert KEY not in seen[0]
    assert record.scores is not None
    assert record.scores.kpi == 50.0, "parcels, all of them"


def test_what_the_option_means() -> None:
    model = real_model("large-9", {"FDEGYM_GATEWAY_BASE_URL": "https://me:secret@models.example/v1", "FDEGYM_GATEWAY_API_KEY": KEY})
    assert model.id == "large-9 at https://models.example/v1"
    assert KEY not in repr(model)
    with pytest.raises(UsageError) as refused:
        real_model("large-9", {})
    assert str(refused.value) == (
        "the gateway's model needs a key: set FDEGYM_GATEWAY_API_KEY or OPENAI_API_KEY, or FDEGYM_GATEWAY_BASE_URL for an endpoint of "
        "your own."
    )
