"""The properties that JUnit reports, and what reports carry."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest


def properties(project: pytest.Pytester) -> list[dict[str, str]]:
    cases = ET.parse(project.path / "junit.xml").getroot().iter("testcase")
    return [{each.attrib["name"]: each.attrib["value"] for each in case.iter("property")} for case in cases]


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_of_a_graded_run(project: pytest.Pytester, workers: list[str]) -> None:
    project.runpytest_subprocess("--fde-agent=expert", "--junitxml=junit.xml", "-k", "v1", *workers).assert_outcomes(
        passed=1, **({} if workers else {"deselected": 1})
    )
    (found,) = properties(project)
    digest, isolation, router = (found.pop(f"fde.{name}") for name in ("digest", "isolation", "router"))
    assert len(digest) == 64
    assert isolation
    assert router.startswith("embedded-")
    assert found == {
        "fde.agent": "expert",
        "fde.scenario": "tiny_post",
        "fde.variant": "v1",
        "fde.level": "L3",
        "fde.sector": "Retail",
        "fde.run": "1",
        "fde.seed": "1",
        "fde.score": "0.95",
        "fde.uplift": "1.0",
        "fde.uplift_adjusted": "1.0",
        "fde.contact_cost": "0.05",
        "fde.resolved": "True",
        "fde.incidents": "",
        "fde.kpi": "100.0",
        "fde.kpi_baseline": "60.0",
        "fde.kpi_reference": "100.0",
        "fde.messages": "2",
        "fde.trials": "0",
        "fde.days_waited": "0",
        "fde.key_facts": "1/1",
        "fde.turns": "",
        "fde.usd": "",
        "fde.end_reason": "handover",
        "fde.fault": "",
        "fde.gateway": "",
    }


def test_of_a_void_run(project: pytest.Pytester) -> None:
    project.makepyfile(mine="from pytest_fdegym.errors import InfrastructureFault\ndef agent(e): raise InfrastructureFault('full')")
    project.runpytest("--fde-agent=mine.py", "--junitxml=junit.xml", "-k", "v1", "--fde-seed=7")
    (found,) = properties(project)
    assert (found["fde.score"], found["fde.resolved"], found["fde.end_reason"], found["fde.seed"]) == ("", "", "", "7")
    (error,) = ET.parse(project.path / "junit.xml").getroot().iter("error")
    assert error.text == (
        "VOID: full\n\nAn infrastructure fault spoiled the run. It says nothing about the agent and is left out of the averages."
    )


def test_of_an_item_that_is_run_again(project: pytest.Pytester) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.makepyfile(
        mine="""
        runs = []
        def agent(engagement):
            runs.append(1)
            engagement.record_usage(turns=len(runs))
        """
    )
    result = project.runpytest("--fde-agent=mine.py", "--reruns=2", "--junitxml=junit.xml", "-k", "v1")
    assert result.parseoutcomes() == {"failed": 1, "deselected": 1, "rerun": 2}
    result.stdout.fnmatch_lines(["resolved 0/1, with incidents 0, void 0, graded 1 of 1 planned"])
    root = ET.parse(project.path / "junit.xml").getroot()
    turns = [each.attrib["value"] for each in root.iter("property") if each.attrib["name"] == "fde.turns"]
    assert turns == ["3"]


def test_reports_carry_the_record_as_builtins(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import json
        def pytest_runtest_logreport(report):
            if report.when == "call":
                print("CARRIES", json.dumps([report.fde["record"]["scores"]["score"], report.fde["variant"], report.fde["run"]]))
        """
    )
    result = project.runpytest_subprocess("--fde-agent=reference", "-n1", "-s", "-k", "v1")
    result.stdout.fnmatch_lines(['*CARRIES ?1.0, "v1", 1?*'])
