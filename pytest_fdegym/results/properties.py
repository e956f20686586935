"""A record as JUnit properties: scalars under ``fde.`` names."""

from __future__ import annotations

from pytest_fdegym.results.record import Record

Scalar = str | int | float | bool


def properties(record: Record) -> dict[str, Scalar]:
    """What JUnit is told of a run. What is not known (a void run's score, an unmetered agent's cost) is an empty text, never 0."""
    scores, engaged, usage = record.scores, record.engaged, record.usage
    values: dict[str, Scalar | None] = {
        "agent": record.agent.name,
        "scenario": record.scenario,
        "variant": record.variant,
        "level": record.level,
        "sector": record.sector,
        "run": record.run,
        "seed": record.seed,
        "score": None if scores is None else scores.score,
        "uplift": None if scores is None else scores.uplift,
        "uplift_adjusted": None if scores is None else scores.uplift_adjusted,
        "contact_cost": None if scores is None else scores.contact_cost,
        "resolved": None if scores is None else scores.resolved,
        "incidents": ",".join(incident.id for incident in record.incidents),
        "kpi": None if scores is None else scores.kpi,
        "kpi_baseline": None if scores is None else scores.kpi_baseline,
        "kpi_reference": None if scores is None else scores.kpi_reference,
        "messages": engaged.messages,
        "trials": engaged.trials,
        "days_waited": engaged.days_waited,
        "key_facts": f"{record.key_facts_obtained}/{len(engaged.key_facts)}",
        "turns": usage.turns,
        "usd": usage.usd,
        "end_reason": record.end_reason,
        "fault": record.fault,
        "isolation": record.isolation,
        "router": record.router,
        "gateway": record.gateway,
        "digest": record.digest,
    }
    return {f"fde.{name}": "" if value is None else value for name, value in values.items()}
