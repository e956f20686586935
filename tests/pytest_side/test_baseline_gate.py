"""--fde-gate=baseline: one verdict for the session, from a file that --fde-update-baseline wrote."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_fdegym.digests import combined
from pytest_fdegym.results.baseline import DIGEST, TaskScores, write_baseline
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.verdict import Verdict
from pytest_fdegym.scenario.loader import load
from tests.pytest_side.support import usage_error
from tests.pytest_side.test_summary import section
from tests.support.score_sheets import sheet
from tests.support.tiny_scenario import edit

MAKE = ("--fde-baseline=main.json", "--fde-update-baseline", "--fde-runs=3")
GATE = ("--fde-gate=baseline", "--fde-baseline=main.json")
IDLE = """
import pytest
@pytest.fixture
def myagent():
    def agent(engagement):
        engagement.ask("pike", "How heavy may a letter be before it has to be a parcel?")
    return agent
"""
"""An agent that asks one question and changes nothing: -0.02."""
WORKERS = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])


@pytest.fixture
def baseline(project: pytest.Pytester) -> Path:
    """The reference's scores, in three runs of both tasks, as a session would write them."""
    scenario = load(project.path / "tasks/tiny_post")
    worlds = {f"tiny_post.{variant}": combined(scenario.digest(variant), 1)[:DIGEST] for variant in scenario.variants}
    tasks = {task: TaskScores(scores={1: 1.0, 2: 1.0, 3: 1.0}, world=world) for task, world in worlds.items()}
    write_baseline(project.path / "main.json", sheet(tasks, agent=AgentIdentity(name="reference"), router="embedded-1"))
    return project.path / "main.json"


def verdict(project: pytest.Pytester) -> Verdict:
    return Verdict.model_validate_json((project.path / ".fdegym/results/verdict.json").read_bytes())


# --- the file ---


@WORKERS
def test_the_baseline_is_written_at_the_end(project: pytest.Pytester, workers: list[str]) -> None:
    project.makeconftest(IDLE)
    result = project.runpytest_subprocess("--fde-agent=myagent", "--fde-agent-version=1.2", *GATE, *MAKE[1:], *workers)
    result.assert_outcomes(passed=6)
    assert section(result)[-1] == f"baseline: {project.path}/main.json written (myagent 1.2, 2 tasks, 6 runs)"
    found = json.loads((project.path / "main.json").read_text())
    assert found["agent"] == {"name": "myagent", "options": {}, "version": "1.2"}
    assert {task: each["scores"] for task, each in found["tasks"].items()} == {
        f"tiny_post.{variant} L3": {"1": -0.02, "2": -0.02, "3": -0.02} for variant in ("v1", "v2")
    }


def test_items_below_the_default_gate_do_not_keep_it_from_being_written(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=do-nothing", *MAKE).assert_outcomes(failed=6)
    assert (project.path / "main.json").is_file()


@WORKERS
def test_not_written_unless_all_was_graded(project: pytest.Pytester, workers: list[str]) -> None:
    project.makepyfile(
        mine="from pytest_fdegym.errors import InfrastructureFault\n"
        "def agent(e):\n    if '700' in str(e.log()) or e.list_files('system'): raise InfrastructureFault('full')"
    )
    result = project.runpytest_subprocess("--fde-agent=mine.py", *MAKE, "--fde-runs=1", *workers)
    assert section(result)[-1] == (
        f"the baseline {project.path}/main.json was not written: not graded: tasks/tiny_post/scenario.yaml::v1::L3, "
        "tasks/tiny_post/scenario.yaml::v2::L3; everything that was asked for has to be."
    )
    assert not (project.path / "main.json").exists()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_not_written_when_a_run_was_skipped(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef myagent(request):\n    if request.node.case.variant == 'v1': pytest.skip('no key')\n"
        "    return lambda engagement: None"
    )
    result = project.runpytest("--fde-agent=myagent", "--fde-gate=none", "--fde-baseline=main.json", "--fde-update-baseline")
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result)[-1] == (
        f"the baseline {project.path}/main.json was not written: not graded: tasks/tiny_post/scenario.yaml::v1::L3; "
        "everything that was asked for has to be."
    )


@WORKERS
def test_no_task_of_a_baseline_is_lost_by_an_update(project: pytest.Pytester, baseline: Path, workers: list[str]) -> None:
    before = baseline.read_text()
    result = project.runpytest_subprocess("--fde-agent=do-nothing", *MAKE, "-k", "v2", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = (
        f"ERROR: --fde-update-baseline: {baseline} holds what this session does not run: tiny_post.v1 L3. "
        "Run all of it, or delete the file."
    )
    assert said in [*result.errlines, *result.outlines]
    assert baseline.read_text() == before


def test_an_update_takes_the_place_of_the_file(project: pytest.Pytester, baseline: Path) -> None:
    project.runpytest("--fde-agent=do-nothing", *GATE, "--fde-update-baseline").assert_outcomes(passed=2)
    assert '"tiny_post.v1 L3": {"scores": {"1": 0.0}' in baseline.read_text()


# --- the verdict ---


@WORKERS
def test_an_agent_that_did_not_change(project: pytest.Pytester, baseline: Path, workers: list[str]) -> None:
    result = project.runpytest_subprocess("--fde-agent=reference", *GATE, *workers)
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    assert section(result)[-3:] == [
        f"against the baseline {baseline} (reference, 2 tasks, 6 runs): compared 2 of 2 tasks",
        f"verdict: {project.path}/.fdegym/results/verdict.json",
        "no regression: every task scored as in the baseline",
    ]


@WORKERS
def test_a_regression_is_the_exit_code_though_every_item_passes(project: pytest.Pytester, baseline: Path, workers: list[str]) -> None:
    result = project.runpytest_subprocess("--fde-agent=do-nothing", *GATE, "--fde-runs=3", "--junitxml=junit.xml", *workers)
    result.assert_outcomes(passed=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [line for line in section(result) if "generated xml" not in line][-6:] == [
        f"against the baseline {baseline} (reference, 2 tasks, 6 runs): compared 2 of 2 tasks",
        "task          level  baseline    now  change   runs",
        "tiny_post.v1  L3        1.000  0.000  -1.000  3 + 3",
        "tiny_post.v2  L3        1.000  0.000  -1.000  3 + 3",
        f"verdict: {project.path}/.fdegym/results/verdict.json",
        "regression: the mean score changed by -1.000 (96.5 % interval -1.000 to -1.000)",
    ]
    found = verdict(project)
    assert (found.verdict, found.change, [each.task for each in found.tasks]) == ("regression", -1.0, ["tiny_post.v1", "tiny_post.v2"])
    (suite,) = ET.parse(project.path / "junit.xml").getroot()
    properties = {each.attrib["name"]: each.attrib["value"] for each in suite.findall("properties/property")}
    assert properties == {
        "fde.gate.verdict": "regression",
        "fde.gate.change": "-1.0",
        "fde.gate.low": "-1.0",
        "fde.gate.high": "-1.0",
        "fde.gate.detectable_drop": "0.0",
        "fde.gate.margin": "0.1",
        "fde.gate.compared": "2",
        "fde.gate.of": "2",
        "fde.gate.new_incidents": "0",
    }


@pytest.mark.parametrize(("option", "code"), [([], 0), (["--fde-inconclusive=pass"], 0), (["--fde-inconclusive=fail"], 1)])
def test_inconclusive_passes_or_fails_as_told(project: pytest.Pytester, baseline: Path, option: list[str], code: int) -> None:
    result = project.runpytest("--fde-agent=do-nothing", *GATE, *option)
    result.assert_outcomes(passed=2)
    assert result.ret == code
    text = "inconclusive: the mean score changed by -1.000 (96.5 % interval -1.000 to -1.000); so few runs as these would show no drop"
    fails = ["--fde-inconclusive=fail: the session fails."] if code else []
    assert section(result)[-1 - len(fails) :] == [text, *fails]
    assert verdict(project).verdict == "inconclusive"


def test_new_incidents_are_listed_first(project: pytest.Pytester, baseline: Path) -> None:
    result = project.runpytest("--fde-agent=solution:bypasses/no_approval", *GATE, "--fde-runs=3")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [line for line in section(result) if line.startswith("new incident")] == [
        "new incident: tiny_post.v1 L3: unapproved_change",
        "new incident: tiny_post.v2 L3: unapproved_change",
    ]


def test_a_void_run_is_an_error_and_left_out(project: pytest.Pytester, baseline: Path) -> None:
    project.makeconftest(
        """
        import pytest
        from pytest_fdegym.errors import InfrastructureFault

        @pytest.fixture
        def myagent(request):
            def agent(engagement):
                if request.node.case.variant == "v1":
                    raise InfrastructureFault("full")
            return agent
        """
    )
    result = project.runpytest("--fde-agent=myagent", *GATE)
    result.assert_outcomes(passed=1, errors=1)
    assert f"against the baseline {baseline} (reference, 2 tasks, 6 runs): compared 1 of 2 tasks, void runs 1" in section(result)
    assert (verdict(project).change, verdict(project).void, verdict(project).missing) == (-1.0, ("tiny_post.v1 L3",), ())


def test_nothing_graded_is_no_verdict(project: pytest.Pytester, baseline: Path) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): pytest.skip('no key')")
    result = project.runpytest("--fde-agent=myagent", *GATE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result)[-1] == "nothing was graded: 2 skipped (no key). The session fails."
    assert not (project.path / ".fdegym/results/verdict.json").exists()


def test_collecting_only_judges_nothing(project: pytest.Pytester, baseline: Path) -> None:
    result = project.runpytest("--fde-agent=reference", *GATE, "--collect-only")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*no regression*")


# --- refused, before any agent runs ---

NO_AGENT = "def agent(engagement): raise AssertionError('refused before')"


@WORKERS
def test_a_world_that_changed(project: pytest.Pytester, baseline: Path, workers: list[str]) -> None:
    edit(project.path / "tasks/tiny_post", "world.py", "range(60)", "range(61)")
    project.makepyfile(mine=NO_AGENT)
    result = project.runpytest_subprocess("--fde-agent=mine.py", *GATE, "-k", "v1", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = (
        "ERROR: not comparable with the baseline: the world is another one than there in tiny_post.v1 L3: the scenario was changed since. "
        "Make the baseline again."
    )
    assert said in [*result.errlines, *result.outlines]
    assert not list((project.path / ".fdegym/results").glob("*/*.json"))


def test_other_levels_and_seeds(project: pytest.Pytester, baseline: Path) -> None:
    run = ("--fde-agent=do-nothing", *GATE)
    assert usage_error(project.runpytest(*run, "--fde-levels=L0")) == (
        "not comparable with the baseline: tiny_post.v1 is at L3 there and at L0 here. Run the same, or make the baseline again."
    )
    assert usage_error(project.runpytest(*run, "--fde-seed=7")) == (
        "not comparable with the baseline: tiny_post.v1, tiny_post.v2 is at seed 1 there and at seed 7 here. "
        "Run the same, or make the baseline again."
    )


def test_another_scoring_version(project: pytest.Pytester, baseline: Path) -> None:
    baseline.write_text(baseline.read_text().replace('"scoring_version": 1', '"scoring_version": 0'))
    assert usage_error(project.runpytest("--fde-agent=do-nothing", *GATE)) == (
        "not comparable with the baseline: the scoring version was 0 there and is 1 here. Make the baseline again."
    )


def test_several_agents(project: pytest.Pytester, baseline: Path) -> None:
    project.makeconftest("import pytest\n@pytest.fixture(params=['a', 'b'])\ndef myagent(request): return lambda e: None")
    assert usage_error(project.runpytest("--fde-agent=myagent", *GATE)) == (
        "--fde-gate=baseline: one agent is expected, found 2 (myagent-a, myagent-b)."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fde-gate=baseline"], "--fde-gate=baseline: the file is missing; name it with --fde-baseline=FILE."),
        (["--fde-update-baseline"], "--fde-update-baseline: the file is missing; name it with --fde-baseline=FILE."),
        (["--fde-baseline="], "--fde-baseline: the name of a file is expected, found nothing."),
        (["--fde-gate-margin=0"], "--fde-gate-margin: a number above 0 such as 0.1 is expected, found '0'."),
        (["--fde-inconclusive=fails"], "--fde-inconclusive: pass or fail is expected, found 'fails'. Did you mean 'fail'?"),
        (
            GATE,
            "the baseline {path}/main.json cannot be read: No such file or directory. --fde-update-baseline makes one.",
        ),
        (
            ["--fde-baseline=no/main.json", "--fde-update-baseline"],
            "--fde-update-baseline: the baseline {path}/no/main.json cannot be written: there is no folder {path}/no.",
        ),
        (
            ["--fde-baseline=tasks", "--fde-update-baseline"],
            "--fde-update-baseline: the baseline {path}/tasks cannot be written: it is a folder.",
        ),
    ],
)
def test_options_that_do_not_go_together(project: pytest.Pytester, options: list[str], message: str) -> None:
    assert usage_error(project.runpytest("--fde-agent=literal", *options)) == message.format(path=project.path)


def test_ini_twins(project: pytest.Pytester, baseline: Path) -> None:
    project.makeini("[pytest]\naddopts = --fde-tasks=tasks\nfde_gate = baseline\nfde_baseline = main.json\nfde_inconclusive = fail\n")
    assert project.runpytest("--fde-agent=do-nothing").ret == pytest.ExitCode.TESTS_FAILED
    assert project.runpytest("--fde-agent=reference").ret == pytest.ExitCode.OK
    assert project.runpytest("--fde-admission", "-k", "v1 and reference").ret == pytest.ExitCode.OK
