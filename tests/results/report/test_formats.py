"""Markdown, CSV, Parquet and JSON say what the report says."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.baseline import of_records
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.report.build import make_report
from pytest_fdegym.results.report.markdown import LONGEST, escaped, markdown
from pytest_fdegym.results.report.model import Report, RunRow
from pytest_fdegym.results.report.run_tables import COLUMNS, runs_csv, runs_parquet
from pytest_fdegym.results.report.write import format_of
from pytest_fdegym.results.verdict import judge
from tests.results.report.support import HOSTILE, MADE, several_agents
from tests.support.records import graded


def test_csv_comes_back_as_it_was() -> None:
    report = make_report([*several_agents(), graded(agent=AgentIdentity(name='a "quoted", name\nof two lines'))], made_at=MADE)
    rows = list(csv.DictReader(io.StringIO(runs_csv(report), newline="")))
    assert tuple(rows[0]) == COLUMNS
    # Unknown is an empty cell, and no column has empty texts beside unknown ones.
    back = [RunRow.model_validate({name: _cell(name, text) for name, text in row.items()}) for row in rows]
    assert back == list(report.runs)


def _cell(name: str, text: str) -> str | None:
    return None if text == "" and name not in ("incidents", "audit") else text


def test_csv_holds_nothing_that_agents_or_customers_wrote() -> None:
    report = make_report([graded(notes=("=cmd()",), agent_error="=cmd()", details={"a": "=cmd()"})], made_at=MADE)
    assert "cmd" not in runs_csv(report)


def test_parquet_has_typed_columns() -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    report = make_report(several_agents(), made_at=MADE)
    table = pq.read_table(io.BytesIO(runs_parquet(report)))
    assert table.to_pylist() == [run.model_dump() for run in report.runs]
    kinds = {name: str(table.schema.field(name).type) for name in ("task", "score", "messages", "usd", "turns")}
    assert kinds == {"task": "string", "score": "double", "messages": "int64", "usd": "double", "turns": "int64"}
    assert pa.types.is_string(table.schema.field("fault").type)


def test_json_comes_back_as_it_was() -> None:
    report = make_report(several_agents(), made_at=MADE)
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert json.loads(report.model_dump_json())["schema_version"] == 1


def test_markdown_for_a_pull_request() -> None:
    before = of_records([graded(uplift=1.0), graded("oil_npt.v2", uplift=1.0)], "a")
    now = [graded(uplift=1.0, usd=1.5), graded("oil_npt.v2", uplift=0.9, cost=0.1, incident=True)]
    verdict = judge(before, of_records(now, "b"))
    assert markdown(make_report(now, made_at=MADE, verdicts=[verdict])).splitlines() == [
        "### Deliveries",
        "",
        f"**{verdict.text}**",
        "",
        "- new incident: oil\\_npt.v2 L3: harm",
        "",
        "| agent | mean score | 95 % over tasks | over scenarios | resolved | U | C | USD a run | incidents | void | graded |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        "| myagent | **0.450** | -0.100 to 1.000 | none from one | 1/2 | 0.950 | 0.050 | 1.50 | 1 | 0 | 2 of 2 |",
        "",
        "<details><summary>2 tasks, incidents and the lowest scores first</summary>",
        "",
        "| task | level | agent | runs | S | U | C | resolved | incidents |",
        "|---|---|---|---|---|---|---|---|---|",
        "| oil\\_npt.v2 | L3 | myagent | 1 | -0.100 | 0.900 | 0.100 | 0/1 | harm |",
        "| oil\\_npt.v1 | L3 | myagent | 1 | 1.000 | 1.000 | 0.000 | 1/1 |  |",
        "",
        "</details>",
    ]


def test_markdown_has_room_in_a_comment() -> None:
    text = markdown(make_report([graded(f"oil_npt.v{number}") for number in range(1, 2000)], made_at=MADE))
    assert LONGEST - 500 < len(text) <= LONGEST
    assert re.search(r"and \d+ more, for which there is no room\n\n</details>\n$", text)


def test_what_others_wrote_is_no_markup_and_calls_nobody() -> None:
    text = escaped(f"@team #12 [x](http://y) {HOSTILE}")
    assert "\n" not in text
    assert "<" not in text
    assert "@" not in text
    assert not re.search(r"(?<!\\)[|`*_\[\]#]", text.replace("&#64;", ""))


@pytest.mark.parametrize(
    ("name", "kind"), [("a.html", "html"), ("a.MD", "markdown"), ("a.csv", "csv"), ("s.json", "json"), ("a.parquet", "parquet")]
)
def test_a_files_ending_decides(name: str, kind: str) -> None:
    assert format_of(Path(name), {}) == kind


def test_the_summary_of_a_job_is_markdown_whatever_its_name() -> None:
    assert format_of(Path("/tmp/step_7"), {"GITHUB_STEP_SUMMARY": "/tmp/step_7"}) == "markdown"


def test_another_ending_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        format_of(Path("out.htm"), {"GITHUB_STEP_SUMMARY": ""})
    assert str(refused.value) == (
        "a file that ends in .html, .md, .csv, .parquet, .json (or the one that $GITHUB_STEP_SUMMARY names) is expected, found 'out.htm'. "
        "Did you mean '.html'?"
    )
