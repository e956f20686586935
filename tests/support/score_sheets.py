"""Scores of one agent in a baseline's form, for tests of what is compared with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fdegym.results.baseline import Baseline, TaskScores
from pytest_fdegym.results.record import AgentIdentity


def sheet(tasks: Mapping[str, Sequence[float] | TaskScores], **changes: Any) -> Baseline:
    """``sheet({"oil_npt.v1": [0.9, 0.8]})``: runs 1, 2, ... at L3 unless the key says otherwise; any field of Baseline may be given."""
    values: dict[str, Any] = {
        "agent": AgentIdentity(name="myagent"),
        "harness_version": "0",
        "router": "embedded-1",
        "scoring_version": 1,
        "tasks": {
            name if " " in name else f"{name} L3": (
                runs if isinstance(runs, TaskScores) else TaskScores(scores=dict(enumerate(runs, start=1)), world="e" * 16)
            )
            for name, runs in tasks.items()
        },
        **changes,
    }
    return Baseline(**values)
