"""The scripted agent: resolves oil_npt by asking, and changes nothing where it cannot do so honestly."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.people.router import RoutablePerson, Router, RouterContext, Routing, default_router
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.scenario import Scenario
from tests.example_agents.conftest import example, example_function
from tests.support.settings import python_agent


class DeafTo:
    """The default router, but whoever is named finds no message clear."""

    id = "deaf"

    def __init__(self, person: str) -> None:
        self._person = person
        self._router: Router = default_router()

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        return Routing("miss") if person.id == self._person else self._router.route(person, message, context)


def patch_of(record: Record, settings: Settings) -> str:
    assert settings.store is not None
    return settings.store.paths(record).patch.read_text()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_resolves_the_bundled_task(oil_npt: Scenario, settings: Settings, seed: int) -> None:
    record = run(Case(oil_npt, "v1", "L3", seed=seed), example("scripted.py"), settings)
    assert record.agent_error is None, record.agent_error
    assert record.scores is not None
    assert record.scores.resolved, record.scores
    assert record.key_facts_obtained == len(record.engaged.key_facts)


@pytest.mark.parametrize("person", ["castillo", "whitcomb", "okafor", "halvorsen"])
def test_without_somebodys_answer_nothing_is_changed(
    oil_npt: Scenario, settings: Settings, person: str, capsys: pytest.CaptureFixture[str]
) -> None:
    unheard = dataclasses.replace(settings, router=DeafTo(person))
    record = run(Case(oil_npt, "v1", "L3"), example("scripted.py"), unheard)
    assert (record.end_reason, record.agent_error) == ("handover", None)
    assert patch_of(record, settings) == ""
    assert "did not tell me what I asked for, but: " in capsys.readouterr().out


def test_a_system_that_somebody_edited_is_left_alone(oil_npt: Scenario, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    scripted = example_function("scripted.py")

    def after_somebody(engagement: Engagement) -> None:
        engagement.edit("system/npt/coder.py", "keyword, party = classify", "keyword, party  = classify")
        scripted(engagement)

    record = run(Case(oil_npt, "v1", "L3"), python_agent(after_somebody), settings)
    assert (record.end_reason, record.agent_error) == ("handover", None)
    assert "rules.py" not in patch_of(record, settings)
    assert capsys.readouterr().out == (
        "Nothing was changed: the system is not the one I know: draft/system/npt/coder.py: the text to replace stands there 0 times; "
        "exactly once is expected\n"
    )


def test_another_customer_is_left_alone(stranger: Case, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(stranger, example("scripted.py"), settings)
    assert (record.end_reason, record.agent_error, record.engaged.messages) == ("handover", None, 0)
    assert patch_of(record, settings) == ""
    assert capsys.readouterr().out == (
        "This is not the customer I know (no data/npt.db, docs/contract/master_extract.md, docs/ops/tour_codes.md, system/npt/claims.py, "
        "system/npt/coder.py, system/npt/release.json, system/npt/summary.py). Nothing was changed.\n"
    )
