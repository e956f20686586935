"""The figures of a report are those of `results.statistics`, and the rows of its plots those that are computed here by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.report.build import make_report
from pytest_fdegym.results.report.figures import band
from pytest_fdegym.results.report.model import Report
from pytest_fdegym.results.report.reading import runs_in
from pytest_fdegym.results.statistics import floored_score, resolved_rate, summarise, task_means
from tests.results.report.support import MADE, details_of, numbers_of, page_of, several_agents, store
from tests.support.records import graded, void


def report(records: list[Record]) -> Report:
    return make_report(records, made_at=MADE)


def test_a_page_says_what_the_statistics_say(tmp_path: Path) -> None:
    numbers = numbers_of(page_of(store(tmp_path, several_agents())))
    records = [run.record for run in runs_in([tmp_path])]  # in the store's order, on which the last bits of sums depend
    for agent in numbers["agents"]:
        its = [record for record in records if record.agent.name == agent["agent"]]
        summary, rate = summarise(its), resolved_rate(its)
        assert agent["mean_score"] == summary.mean_score
        assert (agent["low_by_task"], agent["high_by_task"]) == (summary.by_task.low, summary.by_task.high)
        assert (agent["low_by_scenario"], agent["high_by_scenario"]) == (summary.by_scenario.low, summary.by_scenario.high)
        assert (agent["mean_uplift"], agent["mean_contact_cost"]) == (summary.mean_uplift, summary.mean_contact_cost)
        assert (agent["mean_usd"], agent["usd_known"]) == (summary.mean_usd, summary.usd_known)
        assert (agent["graded"], agent["planned"], agent["void"]) == (summary.graded, summary.planned, summary.void)
        assert (agent["resolved"], agent["incidents"]) == (summary.resolved, summary.incidents)
        assert (agent["resolved_share"], agent["resolved_low"], agent["resolved_high"]) == (
            rate.value,
            rate.interval.low,
            rate.interval.high,
        )
        scores = task_means(its, floored_score)
        rows = {(row["task"], row["level"]): row["score"] for row in numbers["tasks"] if row["agent"] == agent["agent"]}
        assert {key: score for key, score in rows.items() if score is not None} == scores
    assert numbers["tasks"][0]["task"] == "oil_npt.v1"
    assert len(details_of(page_of(tmp_path))) == len(numbers["runs"]) == len(records)


def test_a_page_as_the_hand_computes_it(tmp_path: Path) -> None:
    """first: v1 at L3 (0.9 + 0.5) / 2 = 0.7, v2 max(-3, -1) - 0.1 = -1.1, v1 at L0 0.85, tolls.v1 min(0.9, 0) - 0.05 = -0.05: mean 0.1."""
    numbers = numbers_of(page_of(store(tmp_path, several_agents())))
    first = numbers["agents"][0]
    assert first["mean_score"] == pytest.approx((0.7 - 1.1 + 0.85 - 0.05) / 4)
    assert (first["graded"], first["planned"], first["void"]) == (5, 6, 1)
    assert [run["outcome"] for run in numbers["runs"] if run["agent"] == "first"] == [
        "resolved",  # oil_npt.v1 at L0
        "resolved",
        "not resolved",
        "below do-nothing",
        "incident",
        "void",
    ]


def test_the_rows_of_the_figures_by_hand() -> None:
    figures = report(several_agents()).figures
    assert {(each.agent, each.level): round(each.score, 9) for each in figures.score_by_level} == {
        ("first", "L0"): 0.85,
        ("first", "L3"): -0.15,  # (0.7 - 1.1 - 0.05) / 3
        ("second", "L3"): 0.5,
    }
    assert {(each.agent, each.share): (round(each.uplift, 9), each.told, each.runs) for each in figures.key_facts_uplift} == {
        ("first", "none"): (-1.0, 0.0, 1),
        ("first", "half or more"): (0.5, 0.5, 1),
        ("first", "all"): (round((1 + 0.9 + 0) / 3, 9), 1.0, 3),
        ("second", "half or more"): (0.2, 0.5, 1),
        ("second", "all"): (0.9, 1.0, 1),
    }
    assert [(each.agent, each.usd, each.contact_cost) for each in figures.cost_score] == [
        ("first", 1.5, pytest.approx((0.05 + 0.1 + 0.05 + 0.05) / 4)),
        ("second", 0.5, 0.05),
    ]
    shares = {each.band: each.share for each in figures.score_bands if each.agent == "first"}
    assert shares == {"below 0": 0.5, "0 to 0.2": 0, "0.2 to 0.4": 0, "0.4 to 0.6": 0.125, "0.6 to 0.8": 0, "0.8 and more": 0.375}
    assert {(each.agent, each.scenario): round(each.score, 9) for each in figures.scenario_agent} == {
        ("first", "oil_npt"): round((0.7 - 1.1 + 0.85) / 3, 9),
        ("first", "tolls"): -0.05,
        ("second", "oil_npt"): 0.2,
        ("second", "tolls"): 0.8,
    }
    # Half of the four tasks of first; Wilson's interval of 2 in 4 is 0.150 to 0.850.
    assert [(each.agent, each.share, each.tasks) for each in figures.below_do_nothing] == [("first", 0.5, 4), ("second", 0, 2)]
    assert figures.below_do_nothing[0].low == pytest.approx(0.150, abs=5e-4)
    assert figures.below_do_nothing[0].high == pytest.approx(0.850, abs=5e-4)


def test_bands_forgive_float_error() -> None:
    assert [band(score) for score in (-0.001, 0.0, 0.95 - 0.15, 0.799, 1.2)] == [
        "below 0",
        "0 to 0.2",
        "0.8 and more",
        "0.6 to 0.8",
        "0.8 and more",
    ]


def test_agents_of_one_name_are_told_apart_and_long_ones_cut() -> None:
    command = "x" * 500
    agents = [AgentIdentity(name="a", version="1"), AgentIdentity(name="a", version="2"), AgentIdentity(name="b", options={"k": command})]
    more = [AgentIdentity(name="c", options={"k": f"{command}{end}"}) for end in "12"]
    names = [each.agent for each in report([graded(agent=agent) for agent in (*agents, *more)]).agents]
    assert names[:3] == ["a 1", "a 2", "b"]
    assert len(set(names)) == 5
    assert max(map(len, names)) < 200


def test_planned_runs_without_a_record_lower_the_coverage() -> None:
    (agent,) = make_report([graded()], made_at=MADE, planned=3).agents
    assert (agent.graded, agent.planned) == (1, 3)


def test_nothing_graded_is_no_figure() -> None:
    only = report([void()])
    assert only.agents[0].mean_score is None
    assert only.figures.score_by_level == ()
    assert only.figures.score_bands == ()


def test_what_is_not_comparable_is_said() -> None:
    records = [graded(router="embedded-1"), graded("oil_npt.v2", router="llm:m"), graded("oil_npt.v3", isolation="none")]
    assert report(records).cautions == (
        "Runs under 2 routers are averaged here (embedded-1, llm:m); they are not comparable.",
        "Some runs had no sandbox: what their agents could read is not known.",
    )
    assert report(several_agents()).cautions == ("The agents were not graded on the same tasks; their means are over their own.",)
    assert report([graded(), graded(run=2, world_digest="f" * 64)]).cautions == (
        "Runs from before and after a change of the scenario are averaged here: oil_npt.v1.",
    )
