"""A model that never stops is ended at each limit, soon, and leaves no process behind."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from pytest_fdegym.agents.five_tools.agent import FiveToolAgent
from pytest_fdegym.limits import Limits
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from tests.agents.five_tools.models import Script, call
from tests.sandbox.test_tree import running
from tests.support.providers import Provider, Reply
from tests.support.settings import python_agent

SECONDS = 2.0
OVERSHOOT = 2.0


@pytest.fixture
def mark() -> str:
    """An argument for sleep by which a process is found again."""
    return f"600.{uuid.uuid4().int % 10**12}"


class Times:
    """When the engagement began (at the latest) and when it was over."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}

    def notify(self, event: Event) -> None:
        self.at.setdefault(event.kind, time.monotonic())

    @property
    def engaged(self) -> float:
        """Seconds from the start of the run to the handover: no less than the engagement took."""
        return self.at["handover"] - self.at["start"]


@pytest.fixture
def limited(case: Case, settings: Settings) -> Callable[..., tuple[Record, float]]:
    """Run an agent within limits; returns the record, and by how much the minutes were exceeded, in seconds."""
    # Measures the yardstick, which later runs find in the settings' cache: between start and engagement nothing is left that takes time.
    run(case, python_agent(lambda engagement: None), settings)

    def limited(agent: FiveToolAgent, **limits: float | None) -> tuple[Record, float]:
        times = Times()
        within = replace(settings, limits=Limits(**{"turns": None, "minutes": None, "usd": None, **limits}))  # type: ignore[arg-type]
        record = run(case, python_agent(agent), within, times)
        return record, times.engaged - SECONDS

    return limited


Limited = Callable[..., tuple[Record, float]]


def test_turns(limited: Limited, mark: str) -> None:
    script = Script([call("execute", command=f"sleep {mark} & true")])
    record, _ = limited(FiveToolAgent(script.model), turns=7)
    assert (record.status, record.end_reason, record.usage.turns, len(script.seen)) == ("graded", "limit_turns", 7, 7)
    assert running(mark) == []


def test_usd(limited: Limited, mark: str) -> None:
    turn = ModelResponse(
        parts=[call("execute", command=f"sleep {mark} & true")], usage=RequestUsage(input_tokens=40_000, output_tokens=0)
    )  # USD 0.10 with gpt-4o
    script = Script([turn], name="gpt-4o")
    record, _ = limited(FiveToolAgent(script.model), usd=0.45)
    assert (record.status, record.end_reason, len(script.seen)) == ("graded", "limit_usd", 5)
    assert record.usage.usd == pytest.approx(0.5)
    assert running(mark) == []


def busy(mark: str) -> Script:
    """Many short turns, each of which leaves a process behind."""
    return Script([call("execute", command=f"sleep {mark} & true")])


def stuck(mark: str) -> Script:
    """One command that does not end, does not listen to signals and has daemons."""
    return Script([call("execute", command=f"trap '' TERM INT HUP; setsid sleep {mark} & sleep {mark}", seconds=600)])


@pytest.mark.parametrize("behaviour", [busy, stuck])
def test_minutes(limited: Limited, mark: str, behaviour: Callable[[str], Script]) -> None:
    record, overshoot = limited(FiveToolAgent(behaviour(mark).model), minutes=SECONDS / 60)
    assert (record.status, record.end_reason) == ("graded", "limit_minutes")
    assert overshoot < OVERSHOOT
    assert running(mark) == []


def test_minutes_while_the_model_does_not_answer(limited: Limited, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    with Provider(lambda asked: Reply("Done.", held=never)) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        record, overshoot = limited(FiveToolAgent("openai-chat:gpt-4o"), minutes=SECONDS / 60)
        never.set()
    assert (record.status, record.end_reason) == ("graded", "limit_minutes")
    assert overshoot < OVERSHOOT


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("behaviour", [busy, stuck])
def test_minutes_every_time(limited: Limited, mark: str, behaviour: Callable[[str], Script], number: int) -> None:
    test_minutes(limited, mark, behaviour)
