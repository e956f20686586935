"""Mutated deliveries: always a graded record, and never a better score because something crashed.

By luck of a crash means: an order whose call failed came out better than it does with the system as found. So a delivery of which every
call failed scores no more than the baseline, and one that failed on some orders no more than it would if those had been sent as they always
were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from unittest import mock

import pytest

from pytest_fdegym.agents.session import Ending, Session
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.grading import lay_solution
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.world import Json, Outcome, Returned
from tests.redteam.fuzz.mutating import ODD_PYTHON, PARTLY_ODD, disturb, generator, mutated, no_hang, partly_odd
from tests.support.settings import session
from tests.support.tiny_scenario import edit, write_tiny_scenario

ALL = 1000
SAMPLE = 10
STEP = 25
SECONDS = 200
"""A replay may take 120 s in all."""
LIMIT = 500
AS_FOUND = 100


class Mutant:
    """Lays the reference (or nothing) with its approval, and breaks it."""

    identity = AgentIdentity(name="mutant")

    def __init__(self, number: int) -> None:
        self._number = number

    def deliver(self, session: Session) -> Ending:
        """See session.Deliverer."""
        rng = generator("delivery", self._number)
        if rng.random() < 0.7:
            lay_solution(session.prepared, session.prepared.scenario.solutions["reference"], session.workspace, session.sandbox)
        system = session.workspace / "system"
        half = rng.random() < 0.4
        if half:
            (system / "shipping.py").write_bytes(partly_odd((system / "shipping.py").read_bytes(), rng))
        for _ in range(0 if half else rng.choice([1, 1, 2])):
            path = rng.choice([system / "shipping.py"] * 4 + [system / "labels.py"])
            path.write_bytes(mutated(path.read_bytes(), rng, rng.choice([ODD_PYTHON, PARTLY_ODD]), most=2))
        if rng.random() < 0.15:
            disturb(system, rng)
        session.sandbox.give(session.workspace)
        return Ending(granted_signoffs=("moss/approval",), granted_facts=("F_LIMIT",))


class Watched(Deployment):
    """A deployment that keeps what came of each call, of the last one."""

    outcomes: list[tuple[str, Outcome]]
    last: Watched

    def __enter__(self) -> Watched:
        Watched.last, self.outcomes = self, []
        return super().__enter__()

    def call(self, entry_point: str, *args: Json) -> Outcome:
        outcome = super().call(entry_point, *args)
        self.outcomes.append((args[0]["id"], outcome))
        return outcome


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results"), store=None, cache=tmp_path_factory.mktemp("cache"), retries=0) as settings:
        yield settings


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = write_tiny_scenario(tmp_path_factory.mktemp("tasks") / "tiny_post")
    edit(folder, "scenario.yaml", "seconds: 2", "seconds: 1")
    return Case(load(folder), "v1", "L3")


def as_always(grams: int) -> bool:
    """Whether the system as found sends an order rightly."""
    return (grams <= AS_FOUND) == (grams <= LIMIT)


def most(outcomes: list[tuple[str, Outcome]], grams: dict[str, int]) -> tuple[float, int]:
    """The KPI if each order whose call failed had been sent as the system as found does, and how many those are."""
    right = failed = 0
    for order, outcome in outcomes:
        way = outcome.value if isinstance(outcome, Returned) and outcome.value in ("letter", "parcel") else None
        failed += way is None
        right += as_always(grams[order]) if way is None else (way == "letter") == (grams[order] <= LIMIT)
    return 100 * right / len(outcomes), failed


def check(number: int, case: Case, settings: Settings) -> Record:
    grams = {order["id"]: order["grams"] for order in settings.prepared.get(case.scenario, "v1", 1).heldout.traffic}
    settings.grader.yardstick(settings.prepared.get(case.scenario, "v1", 1))
    with mock.patch("pytest_fdegym.grading.Deployment", Watched), no_hang(SECONDS, f"mutant {number}"):
        record = run(case, Mutant(number), settings)
    scores = record.scores
    assert (record.status, record.void_cause) == ("graded", None), number
    assert scores is not None
    assert all(map(math.isfinite, (scores.kpi, scores.uplift, scores.score))), number
    assert record.end_reason == "handover"
    assert not any("Traceback" in note or "pytest_fdegym/" in note for note in record.notes), record.notes
    assert len(Watched.last.outcomes) == len(grams), number
    bound, failed = most(Watched.last.outcomes, grams)
    assert scores.kpi <= bound + 1e-9, (number, record.notes)
    if failed == len(grams):
        assert scores.uplift_adjusted <= 0, (number, record.notes)
    if failed:
        assert record.notes, number
    return record


def test_a_sample(case: Case, settings: Settings) -> None:
    records = [check(number, case, settings) for number in range(SAMPLE)]
    scores = {record.scores.kpi for record in records if record.scores is not None}
    assert len(scores) > 1, "mutants that all do the same test nothing"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, ALL, STEP))
def test_all(first: int, case: Case, settings: Settings) -> None:
    for number in range(first, min(ALL, first + STEP)):
        check(number, case, settings)
