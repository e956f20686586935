"""--fde-report: what is written at the end of a session, and that `fdegym report --junit` names runs as pytest does."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_fdegym.cli import main
from tests.pytest_side.support import usage_error
from tests.results.report.support import details_of, numbers_of, without_plotly


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_reports_on_a_session(project: pytest.Pytester, workers: list[str]) -> None:
    result = project.runpytest_subprocess("--fde-agent=expert", "--fde-report=out.html", "--fde-report=runs.csv", *workers)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["results: *", f"report: {project.path / 'out.html'}", f"report: {project.path / 'runs.csv'}"])
    page = (project.path / "out.html").read_text("utf-8")
    (agent,) = numbers_of(page)["agents"]
    assert (agent["mean_score"], agent["graded"], agent["planned"]) == (0.95, 2, 2)
    for details in details_of(page):
        assert [each["kind"] for each in details["timeline"]].count("message") == 2
        assert sum(each.get("charge", 0) for each in details["timeline"]) == pytest.approx(0.05)
        assert "+LETTER_LIMIT_GRAMS" in details["patch"]
    assert len((project.path / "runs.csv").read_text().splitlines()) == 3


def test_a_page_without_figures_is_said_once(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    without_plotly(monkeypatch)
    result = project.runpytest_inprocess("--fde-agent=expert", "-k", "v1", "--fde-report=a.html", "--fde-report=b.html")
    said = 'The figures of the page are not drawn: pip install "pytest-fdegym[report]" draws them. Their numbers are in it as tables.'
    assert result.outlines.count(said) == 1
    assert numbers_of((project.path / "b.html").read_text("utf-8"))["agents"][0]["graded"] == 1


def test_the_summary_of_a_job(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = project.path / "step_summary"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.runpytest("--fde-agent=literal", "-k", "v1", f"--fde-report={summary}").assert_outcomes(failed=1, deselected=1)
    assert summary.read_text().startswith("before\n### Deliveries\n")
    assert "| literal | **0.000** |" in summary.read_text()


def test_a_resumed_session_reports_on_what_was_stored_too(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=expert", "-k", "v1").assert_outcomes(passed=1, deselected=1)
    result = project.runpytest(
        "--fde-agent=expert", "--fde-resume", "--fde-report=out.html", "--fde-report=out.md", "--fde-report=runs.csv"
    )
    result.assert_outcomes(passed=2)
    assert "resume: 1 of 2 runs were up to date, taken from the store" in result.outlines
    page = (project.path / "out.html").read_text("utf-8")
    (agent,) = numbers_of(page)["agents"]
    assert (agent["mean_score"], agent["graded"], agent["planned"]) == (0.95, 2, 2)
    for details in details_of(page):
        assert [each["kind"] for each in details["timeline"]].count("message") == 2, "the log of a stored run, as of one that was just made"
        assert "+LETTER_LIMIT_GRAMS" in details["patch"]
    assert "| **0.950** |" in (project.path / "out.md").read_text()
    assert len((project.path / "runs.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_resumed_session_in_which_nothing_runs_reports_the_same(project: pytest.Pytester, workers: list[str]) -> None:
    run = ("--fde-agent=expert", "--fde-resume", *workers)
    project.runpytest_subprocess(*run, "--fde-report=first.csv").assert_outcomes(passed=2)
    project.runpytest_subprocess(*run, "--fde-report=again.csv").assert_outcomes(passed=2)
    assert (project.path / "again.csv").read_text() == (project.path / "first.csv").read_text()


def test_the_verdict_of_this_session_is_in_it(project: pytest.Pytester) -> None:
    baseline = ["--fde-gate=baseline", "--fde-baseline=b.json", "--fde-agent=reference"]
    project.runpytest(*baseline, "--fde-update-baseline")
    project.runpytest(*baseline, "--fde-report=r.md").assert_outcomes(passed=2)
    assert "**no regression: every task scored as in the baseline**" in (project.path / "r.md").read_text()


def test_a_coverage_that_falls_short_is_said(project: pytest.Pytester) -> None:
    project.makepyfile(mine="from pytest_fdegym.errors import InfrastructureFault\ndef agent(e): raise InfrastructureFault('full')")
    project.runpytest("--fde-agent=mine.py", "--fde-report=r.md").assert_outcomes(errors=2)
    assert "| 0 | 2 | 0 of 2 |" in (project.path / "r.md").read_text()


def test_what_cannot_be_written_is_refused_before_an_agent_works(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest("--fde-agent=expert", "--fde-report=no/r.html")) == (
        f"--fde-report: there is no folder {project.path / 'no'}."
    )
    assert usage_error(project.runpytest("--fde-agent=expert", "--fde-report=report")) == (
        "--fde-report: a file that ends in .html, .md, .csv, .parquet, .json (or the one that $GITHUB_STEP_SUMMARY names) is expected, "
        f"found '{project.path / 'report'}'."
    )


def test_junit_from_the_store_names_runs_as_pytest_does(project: pytest.Pytester) -> None:
    pytest.importorskip("junitparser")
    project.runpytest_subprocess("--fde-agent=expert", "--fde-runs=2", "--junitxml=pytest.xml").assert_outcomes(passed=4)
    assert main(["report", str(project.path / ".fdegym" / "results"), "--junit", str(project.path / "store.xml")]) == 0
    assert cases(project.path / "store.xml") == cases(project.path / "pytest.xml")


def cases(file: Path) -> list[tuple[str, str, dict[str, str]]]:
    return [
        (case.attrib["classname"], case.attrib["name"], {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")})
        for case in ET.parse(file).getroot().iter("testcase")
    ]
