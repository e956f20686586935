"""``--fde-budget-usd`` and ``--fde-budget-minutes``: exactly the runs that fit are run, and what is not run is shown as such."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.pytest_side.budget import NotRun, SessionBudget, Spent
from pytest_fdegym.results.record import Usage
from tests.pytest_side.support import usage_error

BILLS = "def agent(engagement): engagement.record_usage(turns=1, usd=0.3)\n"
TEN_RUNS = ("--fde-runs=5", "--fde-gate=none")


def cost(usd: float | None) -> Usage:
    return Usage(turns=1, usd=usd)


# --- the arithmetic ---


def test_the_first_run_tells_what_a_run_costs() -> None:
    spent = Spent()
    assert spent.answer(1.0) == "start"
    spent = spent.started("a", "process")
    assert spent.answer(1.0) == "wait"
    assert spent.ended("a", cost(0.3)).answer(1.0) == "start"


def test_what_may_not_fit_waits_for_those_under_way() -> None:
    spent = Spent(usd="0.3", largest="0.3", finished=1, running={"a": "process", "b": "process"})
    assert spent.answer(1.0) == "wait"
    assert spent.ended("a", cost(0.0)).answer(1.0) == "start"


def test_what_cannot_fit_is_refused() -> None:
    assert Spent(usd="0.9", largest="0.3", finished=3).answer(1.0) == "refuse"
    assert Spent(usd="0.6", largest="0.3", finished=2).answer(0.9) == "start"


def test_an_unknown_price_counts_as_its_known_part_and_is_counted() -> None:
    spent = Spent().started("a", "p").ended("a", Usage(turns=3, usd=None, usd_at_least=0.2))
    assert (spent.usd, spent.largest, spent.unknown) == ("0.2", "0.2", 1)
    assert Spent().ended("a", Usage()).unknown == 0, "no model was called"


def test_a_run_whose_process_died_is_taken_to_have_cost_what_was_expected() -> None:
    spent = Spent(usd="0.3", largest="0.3", finished=1, running={"a": "dead"}).lost("a")
    assert (spent.usd, spent.running, spent.unknown) == ("0.6", {}, 1)


CENTS = st.integers(1, 300)


@given(budget=CENTS, price=CENTS, workers=st.integers(1, 4), data=st.data())
def test_at_one_price_exactly_the_runs_that_fit_are_run_in_whatever_order(
    budget: int, price: int, workers: int, data: st.DataObject
) -> None:
    """Workers that ask, and end their runs, in any order; the first run is always made, since nobody knows its price."""
    spent, ran, refused = Spent(), 0, 0
    for _ in range(2000):
        if refused:
            break
        answer = spent.answer(budget / 100) if len(spent.running) < workers else "wait"
        if answer == "refuse":
            refused += 1
        elif answer == "start" and (not spent.running or data.draw(st.booleans())):
            ran += 1
            spent = spent.started(str(ran), "process")
        elif spent.running:
            spent = spent.ended(data.draw(st.sampled_from(sorted(spent.running))), cost(price / 100))
        else:
            raise AssertionError(f"{answer}, and nobody is there to wait for")
    # What is under way when the first refusal comes had its room.
    assert ran == max(1, budget // price)
    assert Decimal(spent.usd) <= max(Decimal(budget), Decimal(price)) / 100


# --- one file, several processes ---


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@contextmanager
def opened(folder: Path, usd: float | None = 1.0, minutes: float | None = None, clock: Clock | None = None) -> Iterator[SessionBudget]:
    budget = SessionBudget(folder, usd, minutes, clock or Clock())
    try:
        yield budget
    finally:
        budget.close()


def test_why_there_is_no_room(tmp_path: Path) -> None:
    with opened(tmp_path) as budget:
        for price in (0.3, 0.3, 0.3):
            with budget.run() as spent:
                spent(cost(price))
        with pytest.raises(NotRun) as refused, budget.run():
            pass
    assert str(refused.value) == "the session's budget of 1 USD has no room for another run: 0.9 USD are spent, and one run cost 0.3 USD"


def test_a_price_that_nobody_knows_is_said(tmp_path: Path) -> None:
    with opened(tmp_path, usd=0.2) as budget:
        with budget.run() as spent:
            spent(Usage(turns=1, usd=None, usd_at_least=0.15))
        with pytest.raises(NotRun) as refused, budget.run():
            pass
    assert str(refused.value) == (
        "the session's budget of 0.2 USD has no room for another run: 0.15 USD are spent, and one run cost 0.15 USD "
        "(1 of 1 runs cost an unknown amount more)"
    )


def test_after_the_minutes_no_run_begins(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, usd=None, minutes=30, clock=clock) as first, opened(tmp_path, usd=None, minutes=30, clock=clock) as second:
        clock.seconds = 29.9 * 60
        with first.run():
            clock.seconds = 30 * 60
        with pytest.raises(NotRun) as refused, second.run():
            pass
    assert str(refused.value) == "the session's budget of 30 minutes is used up"


def test_a_run_that_fails_gives_its_room_back(tmp_path: Path) -> None:
    with opened(tmp_path) as budget:
        with pytest.raises(KeyboardInterrupt), budget.run():
            raise KeyboardInterrupt
        assert budget.spent.running == {}


def _dies_in_a_run(folder: str, begun: multiprocessing.synchronize.Event) -> None:
    with opened(Path(folder)) as budget, budget.run():
        begun.set()
        threading.Event().wait()


def test_a_process_that_dies_in_its_run_is_not_waited_for(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    begun = spawn.Event()
    with opened(tmp_path) as budget:
        worker = spawn.Process(target=_dies_in_a_run, args=(str(tmp_path), begun))
        worker.start()
        assert begun.wait(60)
        assert budget.spent.answer(1.0) == "wait"
        worker.kill()
        # Not reaped: it is a zombie, as a worker's process may be for a while.
        with budget.run() as spent:
            spent(cost(0.1))
        assert budget.spent.unknown == 1
        worker.join()


# --- whole sessions ---


def gist(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith(("resolved", "not run"))]


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_exactly_the_runs_that_fit_are_run(project: pytest.Pytester, workers: list[str]) -> None:
    project.makepyfile(mine=BILLS)
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--fde-budget-usd=1", "--junitxml=junit.xml", *TEN_RUNS, *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    why = "the session's budget of 1 USD has no room for another run: 0.9 USD are spent, and one run cost 0.3 USD"
    assert gist(result) == ["resolved 0/3, with incidents 0, void 0, graded 3 of 10 planned", f"not run: 7 ({why})"]
    assert "3 passed, 7 not run" in result.outlines[-1]
    errors = list(ET.parse(project.path / "junit.xml").getroot().iter("error"))
    assert [error.text for error in errors] == [f"NOT RUN: {why}"] * 7


def test_what_is_not_run_has_a_letter_of_its_own_and_is_run_by_lf(project: pytest.Pytester) -> None:
    project.makepyfile(mine=BILLS)
    result = project.runpytest("--fde-agent=mine.py", "--fde-budget-usd=0.3", "-k", "v1 or v2", "--fde-gate=none")
    result.stdout.fnmatch_lines(["tasks/tiny_post/scenario.yaml .N*"])
    again = project.runpytest("--fde-agent=mine.py", "--lf", "--fde-gate=none")
    again.assert_outcomes(passed=1)


def test_without_a_budget_nothing_is_counted(project: pytest.Pytester) -> None:
    project.makepyfile(mine=BILLS)
    project.runpytest("--fde-agent=mine.py", *TEN_RUNS).assert_outcomes(passed=10)


@pytest.mark.parametrize("flag", ["--fde-budget-usd", "--fde-budget-minutes"])
def test_a_budget_is_a_number_above_0(project: pytest.Pytester, flag: str) -> None:
    assert usage_error(project.runpytest("--fde-agent=literal", f"{flag}=0")).endswith(
        f"{flag}: a number above 0, or none, is expected, found '0'."
    )


# --- workers on other machines ---


@pytest.mark.parametrize("flag", ["--fde-budget-usd", "--fde-budget-minutes"])
@pytest.mark.parametrize("worker", ["ssh=host1", "3*ssh=host1", "socket=10.0.0.1:8888"])
def test_workers_on_other_machines_cannot_share_a_budget(project: pytest.Pytester, flag: str, worker: str) -> None:
    run = ("--fde-agent=literal", "--dist=load", f"--tx={worker}//python=python3", "--tx=popen", f"{flag}=5")
    assert usage_error(project.runpytest_subprocess(*run)) == (
        f"{flag}: a budget is kept by workers on this machine, found --tx {worker}. "
        "Leave it out, or run a session of its own, with a share of the budget, on each host."
    )


def test_workers_on_this_machine_can(project: pytest.Pytester) -> None:
    run = ("--fde-agent=literal", "--fde-gate=none", "--dist=load", "--tx=2*popen//python=" + sys.executable, "--fde-budget-usd=5")
    project.runpytest_subprocess(*run).assert_outcomes(passed=2)
