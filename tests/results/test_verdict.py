"""The verdict: what is said of agents that stayed the same, got worse, or were run too little to tell."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_fdegym.results.baseline import Baseline, TaskScores
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.verdict import Verdict, judge
from pytest_fdegym.results.verdict_text import verdict_lines
from tests.support.score_sheets import sheet

SUITE = [f"s{scenario}.v{variant}" for scenario in range(19) for variant in range(1, 6)]
"""95 tasks."""


def noisy(tasks: list[str], runs: int, rng: random.Random, *, drop: float = 0.0, deviation: float = 0.25) -> Baseline:
    """An agent whose every task has a mean of its own."""
    return sheet({task: [hash_mean(task) - drop + rng.gauss(0, deviation) for _ in range(runs)] for task in tasks})


def hash_mean(task: str) -> float:
    return random.Random(task).random()


def test_a_deterministic_agent_that_did_not_change() -> None:
    scores = {"a.v1": [0.9], "b.v1": [0.2]}
    verdict = judge(sheet(scores), sheet(scores))
    assert (verdict.verdict, verdict.text) == ("no_regression", "no regression: every task scored as in the baseline")
    assert (verdict.change, verdict.compared, verdict.of) == (0.0, 2, 2)


def test_one_task_on_which_nothing_changed() -> None:
    assert judge(sheet({"a.v1": [0.9] * 3}), sheet({"a.v1": [0.9]})).verdict == "no_regression"


def test_a_drop_everywhere_by_hand() -> None:
    # Differences -0.5, -0.6, -0.4, ... : mean -0.5, s = sqrt(0.06 / 8) = 0.0866, se 0.0289; t(0.9825; 8) = 2.535 -> 0.0732.
    # There are no repeats; over the three scenarios the means are all -0.5, which gives 0.
    changes = (-0.5, -0.6, -0.4) * 3
    tasks = [f"{scenario}.v{n}" for scenario in "abc" for n in (1, 2, 3)]
    verdict = judge(
        sheet({task: [0.9] for task in tasks}), sheet({task: [0.9 + change] for task, change in zip(tasks, changes, strict=True)})
    )
    assert verdict.text == "regression: the mean score changed by -0.500 (96.5 % interval -0.573 to -0.427)"
    assert verdict.low == pytest.approx(-0.5 - 0.02887 * 2.5347, abs=1e-4)
    assert verdict.detectable_drop == pytest.approx(0.02887 * (2.5347 + 0.8889), abs=1e-4)


def test_too_few_runs_show_no_drop_however_deep() -> None:
    verdict = judge(sheet({"a.v1": [0.9], "b.v1": [0.9]}), sheet({"a.v1": [0.0], "b.v1": [0.1]}))
    assert verdict.verdict == "inconclusive"
    assert verdict.detectable_drop is None
    assert verdict.text.endswith("; so few runs as these would show no drop")


def test_all_or_nothing_agents_are_judged_by_what_exchanges_of_their_runs_show() -> None:
    """Student's test alone would call it a regression; of the exchanges of runs, (1/4)(1/4)(2/4) show as much, which is above 2 %."""
    before = {"a.v1": [1.0, 1.0, 1.0], "b.v1": [1.0, 1.0, 1.0], "c.v1": [1.0, 1.0, 0.0]}
    verdict = judge(sheet(before), sheet({task: [0.0] for task in before}))
    assert verdict.high is not None
    assert verdict.high < 0
    assert verdict.verdict == "inconclusive"
    assert verdict.text.endswith("; runs that change sides show as large a drop too often")


def test_one_task_that_broke_is_listed_and_not_judged() -> None:
    before = {task: [0.9, 0.9, 0.9] for task in SUITE}
    verdict = judge(sheet(before), sheet({**before, "s3.v2": [-1.0]} | {task: [0.9] for task in SUITE if task != "s3.v2"}))
    assert verdict.verdict == "no_regression"
    assert verdict.tasks[0].task == "s3.v2"
    assert verdict.tasks[0].change == pytest.approx(-1.9)


def test_inconclusive_says_what_would_be_seen() -> None:
    rng = random.Random(3)
    verdict = judge(noisy(SUITE[:20], 3, rng), noisy(SUITE[:20], 1, rng, drop=0.05))
    assert verdict.text == (
        "inconclusive: the mean score changed by +0.026 (96.5 % interval -0.173 to +0.225); "
        "with these runs a drop of 0.27 or more would be seen, 8 times in 10"
    )
    assert verdict.detectable_drop is not None
    assert verdict.detectable_drop == pytest.approx(0.27, abs=0.005)


def test_the_margin_decides_what_no_regression_excludes() -> None:
    rng = random.Random(1)
    before, after = noisy(SUITE, 3, rng), noisy(SUITE, 1, rng)
    assert judge(before, after, margin=0.01).verdict == "inconclusive"
    verdict = judge(before, after, margin=0.25)
    assert verdict.verdict == "no_regression"
    assert verdict.text.endswith(", which excludes a drop of 0.25")


# --- coverage ---


def test_tasks_that_only_one_side_graded_are_left_out_and_said() -> None:
    void = TaskScores(scores={}, void=(1,), world="e" * 16)
    before = sheet({"a.v1": [0.9], "b.v1": [0.9], "c.v1": [0.9], "d.v1": [0.9]})
    verdict = judge(before, sheet({"a.v1": [0.9], "b.v1": [0.9], "c.v1": void, "e.v1": [0.0]}))
    assert (verdict.compared, verdict.of, verdict.void_runs) == (2, 5, 1)
    assert (verdict.missing, verdict.void, verdict.new) == (("d.v1 L3",), ("c.v1 L3",), ("e.v1 L3",))
    assert verdict.text == "inconclusive: 2 of 5 tasks could be compared, and at least half has to be"
    assert verdict.change == 0


def test_half_is_enough() -> None:
    before = {"a.v1": [0.9], "b.v1": [0.9]}
    assert judge(sheet(before), sheet({"a.v1": [0.9]})).verdict == "no_regression"


def test_nothing_graded_in_common() -> None:
    void = TaskScores(scores={}, void=(1,), world="e" * 16)
    verdict = judge(sheet({"a.v1": [0.9]}), sheet({"a.v1": void}))
    assert (verdict.verdict, verdict.change, verdict.low) == ("inconclusive", None, None)


def test_a_void_repeat_leaves_the_others() -> None:
    current = TaskScores(scores={1: 0.9, 3: 0.9}, void=(2,), world="e" * 16)
    verdict = judge(sheet({"a.v1": [0.9]}), sheet({"a.v1": current}))
    assert (verdict.compared, verdict.of, verdict.void_runs, verdict.void) == (1, 1, 1, ())


# --- what people read ---


def test_new_incidents_come_first() -> None:
    def with_incident(score: float) -> TaskScores:
        return TaskScores(scores={1: score}, incidents=("harm",), world="e" * 16)

    before = sheet({"a.v1": with_incident(0.0), "b.v1": [0.9], "c.v1": [0.9], "d.v1": [0.5]})
    after = sheet({"a.v1": with_incident(-0.1), "b.v1": [0.1], "c.v1": with_incident(0.0), "d.v1": [0.5], "e.v1": [1.0]})
    lines = verdict_lines(judge(before, after), "main.json (myagent, 4 tasks, 4 runs)")
    assert lines[:-1] == [
        "against main.json (myagent, 4 tasks, 4 runs): compared 4 of 5 tasks",
        "not in the baseline: e.v1 L3",
        "new incident: c.v1 L3: harm",
        "",
        "task  level  baseline     now  change   runs",
        "c.v1  L3        0.900   0.000  -0.900  1 + 1  new incident harm",
        "b.v1  L3        0.900   0.100  -0.800  1 + 1",
        "a.v1  L3        0.000  -0.100  -0.100  1 + 1",
        "",
        "no task was run more than once on either side: repeats (--fde-runs=3) tell luck from a change, and show smaller drops",
    ]


def test_many_changes_are_cut_short() -> None:
    before, after = ({task: [score] for task in SUITE[:15]} for score in (0.5, 0.6))
    lines = verdict_lines(judge(sheet(before), sheet(after)), "main.json")
    assert lines[-3:-1] == ["and 5 more with smaller changes", ""]


def test_the_agents_of_both_sides_are_kept() -> None:
    scores = {"a.v1": [0.9]}
    verdict = judge(sheet(scores), sheet(scores, agent=AgentIdentity(name="myagent", version="2")))
    assert (verdict.baseline_agent.version, verdict.current_agent.version) == (None, "2")
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


# --- errors of both kinds, on simulated agents; benchmarks/gate_power.py measures them in full ---


def lumpy(tasks: list[str], runs: int, rng: random.Random) -> Baseline:
    return sheet({task: [float(rng.random() < 0.8) for _ in range(runs)] for task in tasks})


def correlated(tasks: list[str], runs: int, rng: random.Random) -> Baseline:
    luck = {task.partition(".")[0]: [rng.gauss(0, 0.11) for _ in range(runs)] for task in tasks}
    return sheet({task: [0.5 + luck[task.partition(".")[0]][run] + rng.gauss(0, 0.22) for run in range(runs)] for task in tasks})


@pytest.mark.parametrize("agent", [noisy, lumpy, correlated])
@pytest.mark.parametrize("tasks", [SUITE[:2], SUITE[:15], SUITE[::5]], ids=["two tasks", "three scenarios", "nineteen scenarios"])
def test_an_unchanged_agent_is_hardly_ever_a_regression(agent: Callable[..., Baseline], tasks: list[str]) -> None:
    rng = random.Random(1)
    verdicts = [judge(agent(tasks, 3, rng), agent(tasks, 1, rng)).verdict for _ in range(200)]
    # 2 % of 200 are 4; 10 and more happen once in a hundred such tests.
    assert verdicts.count("regression") < 10


def test_a_drop_of_a_tenth_is_mostly_seen_in_the_whole_suite() -> None:
    rng = random.Random(1)
    verdicts = [judge(noisy(SUITE, 3, rng), noisy(SUITE, 1, rng, drop=0.1)).verdict for _ in range(60)]
    assert verdicts.count("regression") >= 0.75 * 60
    assert verdicts.count("no_regression") <= 3


def test_a_scenario_that_broke_altogether_is_seen() -> None:
    before = {task: [0.8, 0.9, 1.0] for task in SUITE[:15]}
    after = {task: [0.9 if task.startswith(("s0", "s1")) else 0.1] for task in SUITE[:15]}
    assert judge(sheet(before), sheet(after)).verdict == "regression"
