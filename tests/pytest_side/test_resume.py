"""--fde-resume: only what is missing, void or stale runs; the rest counts as it is stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.results.store import Store
from tests.support.tiny_scenario import edit

V1 = ("-k", "v1")
STORE = ".fdegym/results"
COUNTS = """
import pytest
from pathlib import Path

@pytest.fixture
def myagent():
    with Path("made").open("a") as made:
        made.write("x")
    def agent(engagement):
        with Path("calls").open("a") as calls:
            calls.write("x")
    return agent
"""


def resume_lines(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("resume: ")]


def count(project: pytest.Pytester, name: str) -> int:
    file = project.path / name
    return len(file.read_text()) if file.exists() else 0


@pytest.fixture
def counted(project: pytest.Pytester) -> pytest.Pytester:
    """The project with an agent, a fixture, that counts how often it is made and called."""
    project.makeconftest(COUNTS)
    return project


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_what_is_up_to_date_is_not_run_and_its_agent_is_not_made(counted: pytest.Pytester, workers: list[str]) -> None:
    run = ("--fde-agent=myagent", "--fde-gate=none", "--fde-resume")
    first = counted.runpytest_subprocess(*run, *V1, *workers)
    assert resume_lines(first) == ["resume: no run is up to date", "resume: 1 missing"]
    again = counted.runpytest_subprocess(*run, *workers)
    again.assert_outcomes(passed=2)
    assert (count(counted, "made"), count(counted, "calls")) == (2, 2), "v1 and v2 once each"
    assert resume_lines(again) == ["resume: 1 of 2 runs were up to date, taken from the store", "resume: 1 missing"]
    again.stdout.fnmatch_lines(["tiny_post.v1 *", "tiny_post.v2 *", "resolved 0/2, *graded 2 of 2 planned"])


def test_it_is_said_before_anything_runs(counted: pytest.Pytester) -> None:
    counted.runpytest("--fde-agent=myagent", "--fde-gate=none", *V1)
    result = counted.runpytest("--fde-agent=myagent", "--fde-gate=none", "--fde-resume", "-v")
    said = [line for line in result.outlines if line.startswith("fdegym: resume: ")]
    assert said == [
        "fdegym: resume: 1 of 2 runs are up to date, not run again",
        "fdegym: resume: 1 missing",
        "fdegym: resume: tiny_post.v1 at L3, run 1: up to date",
        "fdegym: resume: tiny_post.v2 at L3, run 1: missing",
    ]


def test_a_stored_failure_fails_with_its_card_and_junit_has_its_figures(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=literal", *V1)
    result = project.runpytest("--fde-agent=literal", "--fde-resume", "--junitxml=out.xml", *V1)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["score 0.000, asked for 0.8 without incident (tiny_post.v1 at L3)"])
    case = ET.parse(project.path / "out.xml").find(".//testcase")
    assert case is not None
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert (properties["fde.score"], properties["fde.end_reason"], properties["fde.resumed"]) == ("0.0", "handover", "True")


def test_the_gate_may_be_another_one(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=literal", *V1)
    project.runpytest("--fde-agent=literal", "--fde-resume", "--fde-gate=none", *V1).assert_outcomes(passed=1, deselected=1)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--fde-agent-version=2"], "the agent's version was none, now 2"),
        (["--fde-max-turns=7"], "the limit of turns was 200, now 7"),
        (["--fde-max-usd=none", "--fde-metering=off"], "the limit of USD was 8, now none, metering was on, now off"),
    ],
)
def test_other_settings_are_stale(counted: pytest.Pytester, options: list[str], why: str) -> None:
    counted.runpytest("--fde-agent=myagent", *V1)
    result = counted.runpytest("--fde-agent=myagent", "--fde-resume", *options, *V1)
    assert resume_lines(result) == ["resume: no run is up to date", f"resume: 1 stale: {why}"]
    assert count(counted, "calls") == 2


def test_a_changed_scenario_is_stale(counted: pytest.Pytester) -> None:
    counted.runpytest("--fde-agent=myagent", *V1)
    edit(counted.path / "tasks/tiny_post", "briefs/L3.md", "dull", "grey")
    result = counted.runpytest("--fde-agent=myagent", "--fde-resume", *V1)
    assert resume_lines(result)[1] == (
        "resume: 1 stale: the scenario was changed (fdegym regrade grades such deliveries again, without the agent)"
    )
    assert count(counted, "calls") == 2


def test_void_runs_and_interrupted_ones_run(counted: pytest.Pytester) -> None:
    counted.runpytest("--fde-agent=myagent", "--fde-gate=none", "--fde-runs=3")
    folder = counted.path / STORE / "myagent"
    record = json.loads((folder / "tiny_post.v1.L3.run1.json").read_text())
    (folder / "tiny_post.v1.L3.run1.json").write_text(json.dumps({**record, "status": "void", "scores": None}))
    (folder / "tiny_post.v1.L3.run2.json").unlink()
    (folder / "tiny_post.v1.L3.run2.events.jsonl.part").write_text('{"kind": "start"')
    result = counted.runpytest("--fde-agent=myagent", "--fde-gate=none", "--fde-runs=3", "--fde-resume")
    assert resume_lines(result) == [
        "resume: 4 of 6 runs were up to date, taken from the store",
        "resume: 1 missing: interrupted",
        "resume: 1 void",
    ]
    assert count(counted, "calls") == 8
    assert not [*folder.glob("*.part"), *folder.glob(".*")]
    assert {each.status for each in Store(counted.path / STORE).records()} == {"graded"}


def test_more_runs_than_before(counted: pytest.Pytester) -> None:
    counted.runpytest("--fde-agent=myagent", "--fde-gate=none", *V1)
    counted.runpytest("--fde-agent=myagent", "--fde-gate=none", "--fde-runs=2", "--fde-resume", *V1)
    assert count(counted, "calls") == 2


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_record_that_cannot_be_read_is_refused(counted: pytest.Pytester, workers: list[str]) -> None:
    counted.runpytest("--fde-agent=myagent", *V1)
    path = counted.path / STORE / "myagent/tiny_post.v1.L3.run1.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    result = counted.runpytest_subprocess("--fde-agent=myagent", "--fde-resume", *V1, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    message = f"--fde-resume: {path} has schema version 2; this release reads 1."
    assert message in "\n".join([*result.outlines, *result.errlines])
    assert count(counted, "calls") == 1


def test_an_item_that_a_plugin_runs_again_is_run(counted: pytest.Pytester) -> None:
    result = counted.runpytest("--fde-agent=myagent", "--fde-resume", "--reruns=2", *V1)
    assert count(counted, "calls") == 3, "each attempt is a run of its own"
    assert resume_lines(result) == ["resume: no run is up to date", "resume: 1 missing"]


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan"])
def test_planning_looks_at_nothing(counted: pytest.Pytester, option: str) -> None:
    result = counted.runpytest("--fde-agent=myagent", "--fde-resume", option)
    assert result.ret == 0
    assert not [line for line in result.outlines if "resume" in line]


def test_stored_runs_cost_the_session_nothing(counted: pytest.Pytester) -> None:
    conftest = COUNTS.replace("def agent(engagement):", "def agent(engagement):\n        engagement.record_usage(turns=1, usd=1.0)")
    counted.makeconftest(conftest)
    run = ("--fde-agent=myagent", "--fde-gate=none", "--fde-resume", "--fde-budget-usd=1.5")
    counted.runpytest(*run, *V1).assert_outcomes(passed=1, deselected=1)
    counted.runpytest(*run).assert_outcomes(passed=2)


def test_the_baseline_is_made_of_stored_runs_too(project: pytest.Pytester) -> None:
    base = ("--fde-agent=expert", "--fde-baseline=main.json", "--fde-resume")
    project.runpytest("--fde-agent=expert", *V1)
    assert project.runpytest(*base, "--fde-update-baseline").ret == 0
    result = project.runpytest(*base, "--fde-gate=baseline")
    result.stdout.fnmatch_lines(["resume: 2 of 2 runs were up to date*", "no regression: every task scored as in the baseline"])


WAITS = """
import os, time
from pathlib import Path
def agent(engagement):
    with Path("calls").open("a") as calls:
        calls.write("x")
    Path(f"at_work.{os.environ.get('NAME')}").touch()
    while not Path("go").exists():
        time.sleep(0.02)
"""


def session(project: pytest.Pytester, name: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--fde-agent=mine.py", "--fde-gate=none", *V1, *options]
    return subprocess.Popen(
        command, cwd=project.path, env={**os.environ, "NAME": name}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def until(process: subprocess.Popen[str], path: Path) -> None:
    while not path.exists():
        assert process.poll() is None, process.stdout.read() if process.stdout else ""


@pytest.fixture
def first(project: pytest.Pytester) -> Iterator[subprocess.Popen[str]]:
    """A session whose agent is at work until there is a file ``go``."""
    project.makepyfile(mine=WAITS)
    with session(project, "first") as process:
        until(process, project.path / "at_work.first")
        yield process
        process.kill()


@pytest.fixture
def second(project: pytest.Pytester, first: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Another one, with --fde-resume."""
    with session(project, "second", "--fde-resume") as process:
        yield process
        process.kill()


def test_a_second_session_is_told_that_the_run_is_under_way(project: pytest.Pytester, first: subprocess.Popen[str]) -> None:
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--fde-gate=none", *V1)
    (project.path / "go").touch()
    assert first.wait() == 0
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    lines = [line for line in result.outlines if line.startswith("not run: 1 (process ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"not run: 1 (process {first.pid} on ")
    assert lines[0].endswith(
        f" is running the same into {project.path}/.fdegym/results: --fde-resume waits for its record, --fde-results=DIR names another "
        "folder)"
    )
    assert count(project, "calls") == 1


def waiting(process: subprocess.Popen[str]) -> str:
    """What a session printed until it waits: its tests have begun."""
    assert process.stdout is not None
    seen = ""
    while "scenario.yaml" not in seen.rpartition("collected")[2]:
        letter = process.stdout.read(1)
        assert letter, seen
        seen += letter
    return seen


def test_with_resume_it_waits_and_takes_the_record(
    project: pytest.Pytester, first: subprocess.Popen[str], second: subprocess.Popen[str]
) -> None:
    before = waiting(second)
    (project.path / "go").touch()
    assert first.wait() == 0
    out = before + second.communicate()[0]
    assert (second.returncode, count(project, "calls")) == (0, 1)
    assert "fdegym: resume: 1 missing: interrupted" in out
    assert "resume: 1 of 1 runs were up to date, taken from the store" in out.splitlines()


def test_with_resume_it_takes_over_from_one_that_is_killed(
    project: pytest.Pytester, first: subprocess.Popen[str], second: subprocess.Popen[str]
) -> None:
    waiting(second)
    first.kill()
    first.wait()
    until(second, project.path / "at_work.second")
    (project.path / "go").touch()
    second.communicate()
    assert (second.returncode, count(project, "calls")) == (0, 2)
    assert [record.status for record in Store(project.path / STORE).records()] == ["graded"]


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_session_that_is_interrupted_says_how_it_goes_on(project: pytest.Pytester, workers: list[str]) -> None:
    """Ctrl-C, sent by the agent of the second run to pytest's own process once the first one is stored."""
    project.makepyfile(
        stops="""
        import os, signal, time

        def agent(engagement):
            if os.path.exists(".fdegym/results/stops.py/tiny_post.v1.L3.run1.json"):
                os.kill(int(os.environ["CONTROLLER"]), signal.SIGINT)
                time.sleep(30)
        """,
        conftest="""
        import os
        os.environ.setdefault("CONTROLLER", str(os.getpid()))
        """,
    )
    run = ("--fde-agent=stops.py", "--fde-gate=none", *workers)
    first = project.runpytest_subprocess(*run)
    assert first.ret == pytest.ExitCode.INTERRUPTED
    first.stdout.fnmatch_lines(
        [
            "resolved 0/1, with incidents 0, void 0, graded 1 of 2 planned",
            "results: *",
            "interrupted: the same command with --fde-resume runs what is missing",
        ]
    )
    (project.path / "stops.py").write_text("def agent(engagement): ...\n")
    again = project.runpytest_subprocess(*run, "--fde-resume")
    again.assert_outcomes(passed=2)
    assert resume_lines(again) == ["resume: 1 of 2 runs were up to date, taken from the store", "resume: 1 missing: interrupted"]
