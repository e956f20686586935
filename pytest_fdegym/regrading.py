"""Grades a stored delivery again, as the scenario and the harness are now; the agent does not work again, and what it cost stays."""

from __future__ import annotations

from datetime import datetime

from pytest_fdegym._version import __version__
from pytest_fdegym.deployment.freeze import Frozen
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.errors import UsageError
from pytest_fdegym.gateway.models import SIMULATED
from pytest_fdegym.results.handover import Handover
from pytest_fdegym.results.record import Record, Regraded
from pytest_fdegym.runner import incidents_of, kpi_name, scores_of
from pytest_fdegym.scenario.fill import parameters
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scoring.uplift import SCORING_VERSION
from pytest_fdegym.settings import Settings
from pytest_fdegym.text import kept

GRADED_AGAIN = "graded again by fdegym regrade: the agent worked in the scenario as it was before"
"""The note of a run whose scenario was changed since."""
CHANGED = (
    "its brief, people.yaml, the site or a parameter was changed, so that an agent meets something else now: --fde-resume runs it again, "
    "--anyway grades what was delivered then"
)


def is_current(record: Record, scenario: Scenario) -> bool:
    """Whether nothing that grading depends on was changed since."""
    return record.variant in scenario.variants and record.digest == combined(scenario.digest(record.variant), record.seed, harness_digest())


def is_of_this_world(record: Record, scenario: Scenario) -> bool:
    """Whether the scenario is as it was when the agent worked."""
    return record.world_digest == combined(scenario.digest(record.variant), record.seed)


def why_not(record: Record, scenario: Scenario, *, anyway: bool = False) -> str | None:
    """Why a run cannot be graded again, whatever is stored of it; None where it can. `anyway`: even if its agent met something else."""
    if record.status == "void":
        return "void: there is nothing to grade, --fde-resume runs it again"
    if record.gateway not in (None, SIMULATED):
        return f"{record.gateway} answered at the customer's gateway, and would have to answer again"
    if record.variant not in scenario.variants:
        return f"the scenario has no {record.variant} any more"
    if record.level not in scenario.levels(record.variant):
        return f"{record.task} has no {record.level} any more"
    if not anyway and record.met_digest not in (None, _met(record, scenario)):
        return CHANGED
    return None


def _met(record: Record, scenario: Scenario) -> str:
    level: Level = record.level  # type: ignore[assignment]  # one of the scenario's levels
    return scenario.met_digest(record.variant, level, parameters(scenario, record.variant, record.seed))


def regraded(record: Record, handover: Handover, frozen: Frozen, scenario: Scenario, settings: Settings, at: datetime) -> Record:
    """The record of a graded run, with the scores that its delivery gets now.

    Facts, sign-offs and contacts are those of then, in the scopes of then; key facts too, which tell what could be obtained. Raises
    ScenarioError, and InfrastructureFault where grading itself fails: then the record stands.
    """
    if record.scores is None:
        raise UsageError(f"{record.task} at {record.level}, run {record.run}, is void")
    prepared = settings.prepared.get(scenario, record.variant, record.seed)
    yardstick = settings.grader.yardstick(prepared)
    measured = settings.grader.measure(prepared, frozen, handover.obtained, yardstick)
    scores = scores_of(measured, yardstick, handover.contact_cost)
    first = record.regraded
    world = combined(prepared.digest, record.seed)
    then = Regraded(
        at=at,
        times=1 if first is None else first.times + 1,
        harness_version=record.harness_version if first is None else first.harness_version,
        scoring_version=record.scoring_version if first is None else first.scoring_version,
        digest=record.digest if first is None else first.digest,
        world_digest=record.world_digest if first is None else first.world_digest,
        score=record.scores.score if first is None else first.score,
    )
    notes = (*measured.notes, *handover.other_notes, *([] if then.world_digest == world else [GRADED_AGAIN]))
    return record.model_copy(
        update={
            "harness_version": __version__,
            "kpi": kpi_name(prepared),
            "scores": scores,
            "engaged": record.engaged.model_copy(update={"worth": scenario.worth_in(record.variant)}),
            "incidents": incidents_of(prepared, measured),
            "notes": tuple(map(kept, notes)),
            "details": dict(measured.details),
            "digest": combined(prepared.digest, record.seed, harness_digest()),
            "world_digest": world,
            "scoring_version": SCORING_VERSION,
            "regraded": then,
        }
    )
