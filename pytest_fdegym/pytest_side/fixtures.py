"""The fixtures: the agent under test, and its run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from pytest_fdegym.observer import Event
from pytest_fdegym.pytest_side.agent_source import deliverer
from pytest_fdegym.pytest_side.nodes import CaseItem
from pytest_fdegym.pytest_side.session import SESSION
from pytest_fdegym.results.properties import properties
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import run
from pytest_fdegym.text import kept


class VoidRun(Exception):
    """An infrastructure fault spoiled the run; the text is its cause."""


class HookObserver:
    """Tells an item's events to the hook ``pytest_fdegym_event``, and keeps what a command that is the agent printed."""

    def __init__(self, item: CaseItem) -> None:
        self._item = item

    def notify(self, event: Event) -> None:
        if event.kind == "command" and event.data.get("output"):
            self._item.output = kept(event.data["output"])
        self._item.ihook.pytest_fdegym_event(item=self._item, event=event)


@pytest.fixture
def fde_agent(request: pytest.FixtureRequest) -> object:
    """The agent under test: what --fde-agent names, a callable that takes an Engagement. Override it to wrap or replace the agent."""
    source = request.config.stash[SESSION].agent
    if source is None:
        raise pytest.UsageError("the fixture fde_agent gives an agent in a session with --fde-agent only")
    if source.fixture is not None:
        return request.getfixturevalue(source.fixture)
    if source.reference.may_be_a_fixture_too and _has_fixture(request, source.reference.target):
        raise source.both()
    return source.given()


@pytest.fixture
def fde_agent_options(request: pytest.FixtureRequest) -> dict[str, str]:
    """What --fde-agent-opt gave, by name: for the fixture that is the agent. One that does not request it takes no options."""
    return dict(request.config.stash[SESSION].plan.agent_options)


def _has_fixture(request: pytest.FixtureRequest, name: str) -> bool:
    try:
        request.getfixturevalue(name)
    except pytest.FixtureLookupError as error:
        return error.argname != name
    except (Exception, pytest.fail.Exception, pytest.skip.Exception):
        return True
    return True


@pytest.fixture
def fde_run(request: pytest.FixtureRequest, fde_agent: object) -> Record:
    """The record of the agent's run on the item's task: the run happens here, in the setup phase."""
    item = request.node
    if not isinstance(item, CaseItem):
        raise pytest.UsageError("the fixture fde_run serves the tasks that pytest-fdegym collects, and no other test")
    session = request.config.stash[SESSION]
    agent, budget = deliverer(fde_agent, session.identity(item.parameter_id)), session.budget
    with _test_id_hidden(), contextlib.nullcontext() if budget is None else budget.run() as spent:
        record = run(item.load(), agent, session.settings, HookObserver(item))
        if spent is not None:
            spent(record.usage)
    item.record = record
    item.set_properties(properties(record))
    item.ihook.pytest_fdegym_graded(item=item, record=record)
    if record.status == "void":
        raise VoidRun(record.void_cause or "unknown")
    return record


@contextlib.contextmanager
def _test_id_hidden() -> Iterator[None]:
    """Take away what pytest tells every process that the agent may start."""
    name = "PYTEST_CURRENT_TEST"
    hidden = os.environ.pop(name, None)
    try:
        yield
    finally:
        if hidden is not None:
            os.environ[name] = hidden
