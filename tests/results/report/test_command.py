"""`fdegym report`: several folders, several formats, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fdegym.cli import main
from pytest_fdegym.results.baseline import of_records
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.verdict import judge
from tests.results.report.support import numbers_of, several_agents, store, without_plotly
from tests.support.records import graded


def test_several_formats_of_several_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = several_agents()
    first = store(tmp_path / "shard1", records[:4])
    second = store(tmp_path / "shard2", [*records[4:], records[0]])  # one of them twice, as a copied folder has it
    page, figures = tmp_path / "r.html", tmp_path / "r.json"
    assert main(["report", str(first), str(second), "--html", str(page), "--json", str(figures), "--markdown", "-"]) == 0
    assert len(json.loads(figures.read_text())["runs"]) == len(numbers_of(page.read_text())["runs"]) == len(records)
    captured = capsys.readouterr()
    assert captured.out.startswith("### Deliveries\n")
    assert captured.err == f"html: {page}\njson: {figures}\n"


def test_a_page_without_being_told_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(store(tmp_path / "results", [graded()]))]) == 0
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_a_page_without_figures_is_written_and_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, page, table = str(store(tmp_path / "results", several_agents())), tmp_path / "r.html", tmp_path / "r.csv"
    without_plotly(monkeypatch)
    assert main(["report", folder, "--html", str(page), "--csv", str(table)]) == 0
    assert capsys.readouterr().err == (
        f"html: {page}\ncsv: {table}\n"
        'The figures of the page are not drawn: pip install "pytest-fdegym[report]" draws them. Their numbers are in it as tables.\n'
    )
    assert len(numbers_of(page.read_text())["runs"]) == len(several_agents())
    assert main(["report", folder, "--csv", str(table)]) == 0
    assert capsys.readouterr().err == f"csv: {table}\n"


def test_the_verdict_beside_the_runs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = of_records([graded()], "a")
    (store(tmp_path, [graded()]) / "verdict.json").write_text(judge(scores, scores).model_dump_json())
    assert main(["report", str(tmp_path), "--markdown", "-"]) == 0
    assert "**no regression: every task scored as in the baseline**" in capsys.readouterr().out


def test_a_verdict_on_other_runs_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = of_records([graded()], "x")
    (store(tmp_path, [graded(uplift=0.5)]) / "verdict.json").write_text(judge(scores, scores).model_dump_json())
    assert main(["report", str(tmp_path), "--markdown", "-"]) == 0
    out = capsys.readouterr().out
    assert "> A verdict.json is of other runs than these, and is not shown; fdegym gate judges again." in out
    assert "regression" not in out


def test_a_verdict_says_whose_it_is_among_several_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = of_records([graded()], "x")
    records = [graded(), graded(agent=AgentIdentity(name="other"))]
    (store(tmp_path, records) / "verdict.json").write_text(judge(scores, scores).model_dump_json())
    assert main(["report", str(tmp_path), "--markdown", "-"]) == 0
    assert "**myagent: no regression: every task scored as in the baseline**" in capsys.readouterr().out


def test_the_summary_of_a_job_is_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "step_summary_7"
    summary.write_text("what another step wrote\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert main(["report", str(store(tmp_path / "results", [graded()])), "--markdown", str(summary)]) == 0
    assert summary.read_text().startswith("what another step wrote\n### Deliveries\n")


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["report", *arguments]) == 2
    return capsys.readouterr().err


def test_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused([str(tmp_path)], capsys) == f"fdegym report: {tmp_path}: there is no record of a run.\n"
    assert refused([str(tmp_path / "x")], capsys) == f"fdegym report: there is no results folder {tmp_path / 'x'}.\n"


def test_two_records_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [store(tmp_path / name, [graded(uplift=uplift)]) for name, uplift in (("a", 0.1), ("b", 0.2))]
    file = "myagent/oil_npt.v1.L3.run1.json"
    assert refused([str(folder) for folder in folders], capsys) == (
        f"fdegym report: {folders[0] / file} and {folders[1] / file} are two records of one run: oil_npt.v1 at L3, run 1, by myagent. "
        "Report on them apart, or tell the agents apart with --fde-agent-version.\n"
    )


def test_versions_of_an_agent_are_reported_on_side_by_side(tmp_path: Path) -> None:
    folders = [store(tmp_path / version, [graded(agent=AgentIdentity(name="a", version=version))]) for version in ("1", "2")]
    page = tmp_path / "r.html"
    assert main(["report", *map(str, folders), "--html", str(page)]) == 0
    assert [agent["agent"] for agent in numbers_of(page.read_text())["agents"]] == ["a 1", "a 2"]


def test_places_where_nothing_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(store(tmp_path / "results", [graded()]))
    assert refused([folder, "--csv", str(tmp_path)], capsys) == f"fdegym report: {tmp_path} is a folder; a file is expected.\n"
    assert refused([folder, "--csv", str(tmp_path / "no" / "a.csv")], capsys) == f"fdegym report: there is no folder {tmp_path / 'no'}.\n"
    assert refused([folder, "--parquet", "-"], capsys) == "fdegym report: --parquet: a file is expected, found '-'.\n"
