"""``--fde-min-coverage``: a session of which too much is void, or was not run, fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.pytest_side.coverage import Coverage
from tests.pytest_side.support import usage_error

SKIPS_V2 = """
import pytest
from pytest_fdegym.admission.actors import actor

@pytest.fixture
def myagent(request):
    if request.node.case.variant == "v2":
        pytest.skip("not today")
    return actor("reference")
"""


@given(st.integers(0, 50), st.integers(0, 50))
def test_what_was_graded_is_enough_for_its_own_share(graded: int, more: int) -> None:
    coverage = Coverage(graded, graded + more)
    assert coverage.short_of(coverage.share) is None
    assert (coverage.short_of(1.0) is None) == (more == 0)


def test_nothing_demanded_is_nothing_missed() -> None:
    assert Coverage(0, 10).short_of(0.0) is None


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_the_session_fails_though_every_run_that_was_made_passed(project: pytest.Pytester, workers: list[str]) -> None:
    project.makeconftest(SKIPS_V2)
    result = project.runpytest_subprocess("--fde-agent=myagent", "--fde-min-coverage=0.9", *workers)
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = "coverage 0.500 (graded 1 of 2 planned) is below --fde-min-coverage=0.9. The session fails."
    assert said in result.outlines


def test_enough_is_enough(project: pytest.Pytester) -> None:
    project.makeconftest(SKIPS_V2)
    result = project.runpytest("--fde-agent=myagent", "--fde-min-coverage=0.5")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("coverage *")


def test_void_runs_count_as_missing(project: pytest.Pytester) -> None:
    project.makepyfile(mine="from pytest_fdegym.errors import InfrastructureFault\ndef agent(e): raise InfrastructureFault('full')")
    result = project.runpytest("--fde-agent=mine.py", "--fde-min-coverage=0.1")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["coverage 0.000 (graded 0 of 2 planned) is below --fde-min-coverage=0.1. The session fails."])


@pytest.mark.parametrize("value", ["1.1", "-0.1", "all"])
def test_a_share_is_a_number_from_0_to_1(project: pytest.Pytester, value: str) -> None:
    assert usage_error(project.runpytest("--fde-agent=literal", f"--fde-min-coverage={value}")).endswith(
        f"--fde-min-coverage: a number from 0 to 1 is expected, found {value!r}."
    )
