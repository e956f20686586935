"""Records for tests of what is done with records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pytest_fdegym.results.record import AgentIdentity, IncidentRecord, Record, Scores, Usage
from pytest_fdegym.scoring.uplift import score


def graded(task: str = "oil_npt.v1", *, uplift: float = 1.0, cost: float = 0.0, incident: bool = False, **changes: Any) -> Record:
    """A graded record with a consistent score; `usd` and any field of Record may be given."""
    result = score(uplift, cost, incident=incident)
    scenario, _, variant = task.partition(".")
    usd = changes.pop("usd", None)
    values: dict[str, Any] = {
        "harness_version": "0",
        "task": task,
        "scenario": scenario,
        "variant": variant,
        "level": "L3",
        "sector": "Energy",
        "run": 1,
        "seed": 1,
        "agent": AgentIdentity(name="myagent"),
        "status": "graded",
        "scores": Scores(
            kpi=uplift,
            kpi_baseline=0.0,
            kpi_reference=1.0,
            uplift=result.uplift,
            uplift_adjusted=result.uplift_adjusted,
            contact_cost=cost,
            score=result.score,
            resolved=result.resolved,
        ),
        "incidents": (IncidentRecord(id="harm", text="harm was done", keys=("k",), count=1),) if incident else (),
        "usage": Usage(usd=usd),
        "end_reason": "handover",
        "isolation": "bubblewrap",
        "router": "embedded-1",
        "digest": "d" * 64,
        "world_digest": "e" * 64,
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        "wall_seconds": 1.0,
        "harness_cpu_seconds": 0.01,
        **changes,
    }
    return Record(**values)


def void(task: str = "oil_npt.v1", **changes: Any) -> Record:
    """A void record."""
    return graded(task, **{"status": "void", "void_cause": "the sandbox failed", "end_reason": None, **changes}).model_copy(
        update={"scores": None}
    )
