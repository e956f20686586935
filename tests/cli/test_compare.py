"""fdegym compare: a paired table and a verdict for each of several agents."""

from __future__ import annotations

from pathlib import Path

from pytest_fdegym.results.baseline import dumped
from pytest_fdegym.results.record import AgentIdentity
from tests.cli.conftest import Fdegym
from tests.cli.test_gate import store
from tests.support.records import graded
from tests.support.score_sheets import sheet


def test_a_baseline_against_two_agents(project: Path, fdegym: Fdegym) -> None:
    tasks = ["a.v1", "a.v2", "b.v1", "b.v2"]
    (project / "main.json").write_text(dumped(sheet({task: [0.9, 0.9, 0.9] for task in tasks})))
    small, big = AgentIdentity(name="small"), AgentIdentity(name="big", version="2")
    store(project / "results", [graded(task, uplift=0.5, agent=small, world_digest="e" * 64) for task in tasks])
    store(project / "results", [graded(task, uplift=0.9, agent=big, world_digest="e" * 64) for task in tasks[:3]])
    code, out, err = fdegym("compare", "main.json", "results/small", "results/big")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "scores         agent    tasks  runs  void   mean  resolved",
        "main.json      myagent    4/4    12     0  0.900  4.0",
        "results/small  small      4/4     4     0  0.500  0.0",
        "results/big    big 2      3/3     3     0  0.900  3.0",
        "",
        "results/small (small, 4 tasks, 4 runs)",
        "against main.json (myagent, 4 tasks, 12 runs): compared 4 of 4 tasks",
        "",
        "task  level  baseline    now  change   runs",
        "a.v1  L3        0.900  0.500  -0.400  3 + 1",
        "a.v2  L3        0.900  0.500  -0.400  3 + 1",
        "b.v1  L3        0.900  0.500  -0.400  3 + 1",
        "b.v2  L3        0.900  0.500  -0.400  3 + 1",
        "",
        "bootstrap (95 %) of the mean change: over tasks -0.400 to -0.400, over scenarios -0.400 to -0.400",
        "regression: the mean score changed by -0.400 (96.5 % interval -0.400 to -0.400)",
        "",
        "results/big (big 2, 3 tasks, 3 runs)",
        "against main.json (myagent, 4 tasks, 12 runs): compared 3 of 4 tasks",
        "not run here: b.v2 L3",
        "bootstrap (95 %) of the mean change: over tasks +0.000 to +0.000, over scenarios +0.000 to +0.000",
        "no regression: every task scored as in the baseline",
    ]


def test_worlds_that_differ(project: Path, fdegym: Fdegym) -> None:
    (project / "a.json").write_text(dumped(sheet({"a.v1": [0.9]})))
    (project / "b.json").write_text(dumped(sheet({"a.v1": [0.9]}, router="llm:m")))
    assert fdegym("compare", "a.json", "b.json") == (
        2,
        "",
        "fdegym compare: not comparable with the baseline: the router was embedded-1 there and is llm:m here. Make the baseline again.\n",
    )
