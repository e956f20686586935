"""Beside pytest's own options and plugins."""

from __future__ import annotations

import pytest

LITERAL_IN_V1 = """
import pytest
@pytest.fixture
def myagent(request):
    from pytest_fdegym.admission.actors import actor
    fine = request.node.case.variant != "v1" or request.config.getoption("--fde-agent-version") == "2"
    return actor("reference" if fine else "literal")
"""
RUN = ("--fde-agent=myagent",)


@pytest.fixture
def half(project: pytest.Pytester) -> pytest.Pytester:
    """A project whose agent, also the privileged kind, fails in v1 until its version 2."""
    project.makeconftest(LITERAL_IN_V1)
    return project


def test_last_failed(half: pytest.Pytester) -> None:
    half.runpytest(*RUN).assert_outcomes(passed=1, failed=1)
    half.runpytest(*RUN, "--lf").assert_outcomes(failed=1, deselected=1)
    half.runpytest(*RUN, "--lf", "--fde-agent-version=2").assert_outcomes(passed=1, deselected=1)


def test_failed_first(half: pytest.Pytester) -> None:
    half.runpytest(*RUN, "--fde-runs=2").assert_outcomes(passed=2, failed=2)
    result = half.runpytest(*RUN, "--fde-runs=2", "--ff", "-v", "--fde-agent-version=2")
    order = [line.split()[0].partition("::")[2] for line in result.outlines if "PASSED" in line]
    assert order == ["v1::L3-run1", "v1::L3-run2", "v2::L3-run1", "v2::L3-run2"]


def test_stepwise(half: pytest.Pytester) -> None:
    half.runpytest(*RUN, "--sw").assert_outcomes(failed=1)
    half.runpytest(*RUN, "--sw", "--fde-agent-version=2").assert_outcomes(passed=2)


def test_stop_at_the_first(half: pytest.Pytester) -> None:
    result = half.runpytest(*RUN, "-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["resolved 0/1, with incidents 0, void 0, graded 1 of 2 planned"])


@pytest.mark.parametrize("plugin", ["cacheprovider", "xdist", "junitxml", "capture"])
def test_without_a_plugin(half: pytest.Pytester, plugin: str) -> None:
    half.runpytest_subprocess(*RUN, "-p", f"no:{plugin}").assert_outcomes(passed=1, failed=1)


def test_without_a_terminal(half: pytest.Pytester) -> None:
    result = half.runpytest_subprocess(*RUN, "-p", "no:terminal")
    assert (result.ret, result.outlines, result.errlines) == (pytest.ExitCode.TESTS_FAILED, [], [])


def test_setup_show(half: pytest.Pytester) -> None:
    result = half.runpytest(*RUN, "--setup-show", "-k", "v2")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*SETUP    F myagent*", "*SETUP    F fde_run*", "*v2::L3*", "*TEARDOWN F myagent*"])


def test_quiet(half: pytest.Pytester) -> None:
    result = half.runpytest(*RUN, "-q")
    assert result.outlines[0].startswith("F.")


def test_names_in_the_long_report(half: pytest.Pytester) -> None:
    half.runpytest(*RUN, "-rA").stdout.fnmatch_lines(
        ["PASSED tasks/tiny_post/scenario.yaml::v2::L3", "FAILED tasks/tiny_post/scenario.yaml::v1::L3*"]
    )


@pytest.mark.parametrize("distribution", ["load", "loadfile", "worksteal"])
def test_xdist(half: pytest.Pytester, distribution: str) -> None:
    result = half.runpytest_subprocess(*RUN, "-n2", f"--dist={distribution}", "--fde-runs=2", "-m", "tiny_post and L3")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "fdegym: agent myagent (fixture), levels L3, 2 runs each, seed 1, gate resolved",
            "literal    tiny_post.v1  L3        2  0.000  0.000  0.000       0/2          -  handover",
            "reference  tiny_post.v2  L3        2  1.000  1.000  0.000       2/2          -  handover",
            "all agents: graded 4 of 4 planned",
        ]
    )
    assert len(list((half.path / ".fdegym" / "results" / "myagent").glob("*.json"))) == 0
    assert len(list((half.path / ".fdegym" / "results").glob("*/*.json"))) == 4


def test_a_worker_that_dies(project: pytest.Pytester) -> None:
    project.makepyfile(mine="import os\ndef agent(engagement): os._exit(3)")
    result = project.runpytest_subprocess("--fde-agent=mine.py", "-n1", "--max-worker-restart=1", "--fde-gate=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*crashed while running 'tasks/tiny_post/scenario.yaml::v1::L3'*"])


def test_xdist_collects_the_rootdirs_tasks_from_below_it(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makeini("[pytest]\nfde_tasks = tasks\nfde_agent = reference\n")
    monkeypatch.chdir(project.mkdir("below"))
    project.runpytest_subprocess("-n2").assert_outcomes(passed=2)


def test_interrupted(project: pytest.Pytester) -> None:
    project.makepyfile(
        mine="""
        import pathlib
        def agent(engagement):
            if list(pathlib.Path(".fdegym").rglob("*.json")):
                raise KeyboardInterrupt
        """
    )
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--fde-gate=none")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["tiny_post.v1  L3  *", "resolved 0/1, with incidents 0, void 0, graded 1 of 2 planned"])
    assert [path.name for path in (project.path / ".fdegym").rglob("*.json")] == ["tiny_post.v1.L3.run1.json"]
