"""The summary's texts."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fdegym.pytest_side.tables import admission_lines, result_lines
from pytest_fdegym.results.record import AgentIdentity
from tests.support.records import graded, void


def test_results() -> None:
    records = [
        graded("oil_npt.v10", uplift=0.62, cost=0.18, usd=1.5),
        graded("oil_npt.v2", uplift=-3.0, cost=0.1, incident=True, usd=0.5),
        graded("oil_npt.v2", uplift=1.0, run=2, end_reason="limit_usd"),
        void("oil_npt.v2", run=3),
    ]
    lines = result_lines(records, planned=5)
    assert lines[:3] == [
        "task         level  runs       S       U      C  resolved  incidents  end",
        "oil_npt.v2   L3        3  -0.050  -1.000  0.050       1/2       harm  handover 1, limit_usd 1, void 1",
        "oil_npt.v10  L3        1   0.440   0.620  0.180       0/1          -  handover",
    ]
    assert lines[4].startswith("mean score 0.195 (95 % interval over tasks: -0.050 to 0.440, over scenarios: none from one)")
    assert lines[5:] == [
        "mean uplift -0.190, mean contact cost 0.115, mean model cost 1.00 USD (known for 2 of 3 runs)",
        "resolved 1/3, with incidents 1, void 1, graded 3 of 5 planned",
    ]


def test_agents_of_one_name_are_told_apart() -> None:
    records = [graded(agent=AgentIdentity(name="mine", version="1", options={"size": size})) for size in ("big", "small")]
    lines = result_lines(records, planned=2)
    assert [line.partition("  ")[0] for line in lines[:3]] == ["agent", "mine 1 size=big", "mine 1 size=small"]
    assert [line for line in lines if line.startswith("agent mine")] == ["agent mine 1 size=big", "agent mine 1 size=small"]
    assert lines[-1] == "all agents: graded 2 of 2 planned"


def test_nothing_ran() -> None:
    assert result_lines([], planned=2) == ["resolved 0/0, with incidents 0, void 0, graded 0 of 2 planned"]
    assert admission_lines([], 2) == ["0 of 2 anchors hold"]


def test_nothing_graded() -> None:
    assert result_lines([void()], planned=1) == [
        "task        level  runs  S  U  C  resolved  incidents  end",
        "oil_npt.v1  L3        1  -  -  -       0/0          -  void",
        "",
        "resolved 0/0, with incidents 0, void 1, graded 0 of 1 planned",
    ]


def measured(seed: int, adjusted: float) -> dict[str, Any]:
    return {"name": "x", "seed": seed, "kpi": 10.0 * seed, "uplift_adjusted": adjusted, "score": adjusted}


@pytest.mark.parametrize(
    ("verdict", "row"),
    [
        (
            {"passed": True, "problems": [], "warnings": [], "measurements": [measured(1, 1.0), measured(2, 0.97)], "worth": None},
            "oil_npt   v1       reference      2   15    0.970  1.000  0.970      -  ok",
        ),
        (
            {"passed": True, "problems": [], "warnings": ["thin"], "measurements": [measured(1, 0.9)], "worth": 0.1},
            "oil_npt   v1       reference      1   10    0.900  0.900  0.900  0.100  warning: thin",
        ),
        (
            {"passed": False, "problems": ["bad", "worse"], "warnings": [], "measurements": [measured(1, 0.9)], "worth": None},
            "oil_npt   v1       reference      1   10    0.900  0.900  0.900      -  FAILED: bad (and 1 more)",
        ),
        (None, "oil_npt   v1       reference      -    -        -      -      -      -  error"),
    ],
)
def test_admission(verdict: dict[str, Any] | None, row: str) -> None:
    lines = admission_lines([{"scenario": "oil_npt", "variant": "v1", "check": "reference", "verdict": verdict}], 1)
    assert lines[1].split() == row.split()
    assert lines[0].split() == ["scenario", "variant", "check", "seeds", "KPI", "U_adj", "min", "max", "S", "min", "worth"]
    assert lines[-1] == f"{int(bool(verdict and verdict['passed']))} of 1 anchors hold"


def test_warnings_of_admission_are_told_in_full() -> None:
    verdict = {"passed": True, "problems": [], "warnings": ["docs/a.md:3: one", "docs/b.md:1: two"], "measurements": [], "worth": None}
    lines = admission_lines([{"scenario": "oil_npt", "variant": "v1", "check": "documents", "verdict": verdict}], 1)
    assert " ".join(lines[1].split()) == "oil_npt v1 documents - - - - - - warning: docs/a.md:3: one (and 1 more)"
    assert lines[2:] == [
        "",
        "warning: oil_npt.v1 documents: docs/a.md:3: one",
        "warning: oil_npt.v1 documents: docs/b.md:1: two",
        "",
        "1 of 1 anchors hold",
    ]
