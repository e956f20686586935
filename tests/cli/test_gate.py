"""fdegym gate: results folders judged against a baseline, without running anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fdegym.results.baseline import dumped, of_records, read_baseline
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store
from pytest_fdegym.results.verdict import Verdict
from tests.cli.conftest import Fdegym
from tests.support.records import graded, void

TASKS = [f"{scenario}.v{n}" for scenario in ("oil_npt", "boot_shop", "ward_beds") for n in range(1, 5)]


def store(folder: Path, records: list[Record]) -> Path:
    for record in records:
        with Store(folder).open_log(record) as log:
            Store(folder).save(record, log, "")
    return folder


@pytest.fixture
def baseline(project: Path) -> Path:
    """Three runs of each task at 0.9."""
    file = project / "main.json"
    file.write_text(dumped(of_records([graded(task, uplift=0.9, run=run) for task in TASKS for run in (1, 2, 3)], "the session")))
    return file


def test_the_shards_of_a_matrix_are_judged_together(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    store(project / "shard1", [graded(task, uplift=0.4) for task in TASKS[:6]])
    store(project / "shard2", [graded(task, uplift=0.4) for task in TASKS[6:]])
    code, out, err = fdegym("gate", "--baseline", "main.json", "shard1", "shard2", "--json", "verdict.json")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "against the baseline main.json (myagent, 12 tasks, 36 runs): compared 12 of 12 tasks"
    assert lines[-1] == "regression: the mean score changed by -0.500 (96.5 % interval -0.500 to -0.500)"
    assert Verdict.model_validate_json((project / "verdict.json").read_text()).text == lines[-1]


def test_an_unchanged_agent(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    store(project / "results", [graded(task, uplift=0.9) for task in TASKS])
    code, out, _ = fdegym("gate", "--baseline", "main.json", "results")
    assert code == 0
    assert out.splitlines()[-1] == "no regression: every task scored as in the baseline"


@pytest.mark.parametrize(("option", "code"), [((), 0), (("--inconclusive=fail",), 1)])
def test_one_shard_that_is_missing(project: Path, baseline: Path, fdegym: Fdegym, option: tuple[str, ...], code: int) -> None:
    store(project / "results", [*(graded(task, uplift=0.9) for task in TASKS[:5]), void(TASKS[5])])
    found, out, _ = fdegym("gate", "--baseline", "main.json", "results", *option)
    assert found == code
    assert out.splitlines() == [
        "against the baseline main.json (myagent, 12 tasks, 36 runs): compared 5 of 12 tasks, void runs 1",
        "not run here: boot_shop.v3 L3, boot_shop.v4 L3, ward_beds.v1 L3, ward_beds.v2 L3, ward_beds.v3 L3 and 1 more",
        "void: boot_shop.v2 L3",
        "inconclusive: 5 of 12 tasks could be compared, and at least half has to be",
    ]


def test_one_agents_folder(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    other = AgentIdentity(name="other")
    store(
        project / "results",
        [graded(task, uplift=value, agent=agent) for task in TASKS for value, agent in ((0.9, other), (0.1, AgentIdentity(name="bad")))],
    )
    (project / "results/verdict.json").write_text("{}")
    assert fdegym("gate", "--baseline", "main.json", "results") == (
        2,
        "",
        "fdegym gate: results holds runs of 2 agents (bad, other); each has a folder of its own in there, which can be named instead.\n",
    )
    assert fdegym("gate", "--baseline", "main.json", "results/other")[0] == 0


def test_update_writes_what_a_session_would(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    store(project / "shard1", [graded(task, uplift=0.4) for task in TASKS[:6]])
    store(project / "shard2", [graded(task, uplift=0.4) for task in TASKS[6:]])
    code, out, _ = fdegym("gate", "--update", "--baseline", "main.json", "shard1", "shard2")
    assert (code, out) == (0, "baseline: main.json written (myagent, 12 tasks, 12 runs)\n")
    assert read_baseline(baseline).tasks["oil_npt.v1 L3"].scores == {1: 0.4}


def test_update_refuses_void_runs(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    before = baseline.read_text()
    store(project / "results", [graded(TASKS[0]), void(TASKS[1])])
    assert fdegym("gate", "--update", "--baseline", "main.json", "results") == (
        2,
        "",
        "fdegym gate: the baseline main.json was not written: there are void runs of oil_npt.v2 L3; run them again first.\n",
    )
    assert baseline.read_text() == before


def test_what_cannot_be_compared(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    store(project / "results", [graded(TASKS[0], world_digest="f" * 64)])
    assert fdegym("gate", "--baseline", "main.json", "results") == (
        2,
        "",
        "fdegym gate: not comparable with the baseline: the world is another one than there in oil_npt.v1 L3: the scenario was changed "
        "since. Make the baseline again.\n",
    )


def test_folders_that_hold_something_else(project: Path, baseline: Path, fdegym: Fdegym) -> None:
    assert fdegym("gate", "--baseline", "main.json", "nowhere")[2] == "fdegym gate: there is no results folder nowhere.\n"
    (project / "empty").mkdir()
    assert fdegym("gate", "--baseline", "main.json", "empty")[2] == "fdegym gate: empty holds no record of a run.\n"
    (project / "other/agent").mkdir(parents=True)
    record = json.loads(graded().model_dump_json())
    del record["seed"]
    (project / "other/agent/a.json").write_text(json.dumps(record))
    assert fdegym("gate", "--baseline", "main.json", "other")[2] == (
        "fdegym gate: other/agent/a.json is not the record of a run: seed: Field required\n"
    )


def test_a_margin_that_is_none(project: Path, fdegym: Fdegym, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        fdegym("gate", "--baseline", "main.json", "results", "--margin", "0")
    assert capsys.readouterr().err.endswith("error: argument --margin: invalid margin value: '0'\n")
