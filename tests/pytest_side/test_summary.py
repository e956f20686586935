"""The section at the end of a session, and sessions in which nothing was graded."""

from __future__ import annotations

import pytest

V1 = ("-k", "v1")
SKIPS = "import pytest\n@pytest.fixture\ndef myagent(): pytest.skip('no key')"
NOTHING = "resolved 0/0, with incidents 0, void 0, graded 0 of 2 planned"


def section(result: pytest.RunResult) -> list[str]:
    """The lines between the section's title and the next one."""
    lines = result.outlines
    start = next(number for number, line in enumerate(lines) if line.strip("=") == " fdegym ")
    rest = lines[start + 1 :]
    return [line for line in rest[: next(number for number, line in enumerate(rest) if line[:1] in "=!" and line)] if line]


@pytest.mark.parametrize("more", [[], ["--fde-gate=none"], ["-n2"]])
def test_a_session_in_which_everything_was_skipped_fails(project: pytest.Pytester, more: list[str]) -> None:
    project.makeconftest(SKIPS)
    result = project.runpytest_subprocess("--fde-agent=myagent", *more)
    result.assert_outcomes(skipped=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == [NOTHING, "nothing was graded: 2 skipped (no key). The session fails."]


def test_whatever_else_hides_a_run(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(request): pytest.xfail(request.node.case.variant)")
    result = project.runpytest("--fde-agent=myagent")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == [NOTHING, "nothing was graded: 1 skipped (xfail: v1); 1 skipped (xfail: v2). The session fails."]


def test_one_graded_run_is_a_result(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef myagent(request):\n    if request.node.case.variant == 'v1': pytest.skip('no key')\n"
        "    from pytest_fdegym.admission.actors import actor\n    return actor('reference')"
    )
    result = project.runpytest("--fde-agent=myagent")
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.OK
    assert "resolved 1/1, with incidents 0, void 0, graded 1 of 2 planned" in section(result)


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--fixtures"])
def test_where_nothing_is_to_run_nothing_is_missed(project: pytest.Pytester, option: str) -> None:
    project.makeconftest(SKIPS)
    result = project.runpytest("--fde-agent=myagent", option)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*= fdegym =*")


def test_all_errors(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): raise OSError('no key')")
    result = project.runpytest("--fde-agent=myagent")
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == [NOTHING]


def test_interrupted_in_the_first_run(project: pytest.Pytester) -> None:
    project.makepyfile(mine="def agent(engagement): raise KeyboardInterrupt")
    result = project.runpytest_subprocess("--fde-agent=mine.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert section(result) == [NOTHING]


def test_own_tests_alone_are_not_ours(project: pytest.Pytester) -> None:
    project.makepyfile(test_own="import pytest\ndef test_own(): pytest.skip('later')")
    result = project.runpytest("--fde-agent=literal", "test_own.py")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*= fdegym =*")


def test_admission_that_is_skipped(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\ndef pytest_runtest_setup(item): pytest.skip('later')")
    result = project.runpytest("--fde-admission", "-k", "v1 and reference")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result) == ["0 of 1 anchors hold", "nothing was graded: 1 skipped (later). The session fails."]


# --- agents side by side ---


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_the_agents_of_a_parametrized_fixture_have_rows_and_averages_of_their_own(project: pytest.Pytester, workers: list[str]) -> None:
    project.makeconftest(
        """
        import pytest

        @pytest.fixture(params=["small", "big"])
        def myagent(request):
            def agent(engagement):
                if request.param == "big":
                    engagement.ask("pike", "How heavy may a letter be before it has to be a parcel?")
            return agent
        """
    )
    result = project.runpytest_subprocess("--fde-agent=myagent", "--fde-gate=none", *V1, *workers)
    assert section(result) == [
        "agent          task          level  runs       S      U      C  resolved  incidents  end",
        "myagent-big    tiny_post.v1  L3        1  -0.020  0.000  0.020       0/1          -  handover",
        "myagent-small  tiny_post.v1  L3        1   0.000  0.000  0.000       0/1          -  handover",
        "agent myagent-big",
        "mean score -0.020 (95 % interval over tasks: none from one, over scenarios: none from one)",
        "mean uplift 0.000, mean contact cost 0.020, mean model cost unknown",
        "resolved 0/1, with incidents 0, void 0, graded 1 of 1 runs",
        "agent myagent-small",
        "mean score 0.000 (95 % interval over tasks: none from one, over scenarios: none from one)",
        "mean uplift 0.000, mean contact cost 0.000, mean model cost unknown",
        "resolved 0/1, with incidents 0, void 0, graded 1 of 1 runs",
        "all agents: graded 2 of 2 planned",
        f"results: {project.path}/.fdegym/results",
    ]


# --- levels ---


@pytest.mark.parametrize("workers", [[], ["-n1"]])
@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("L0", ["tiny_post.v2 has only L3: not run"]),
        ("L0,L3", ["tiny_post.v2 has no L0: not run there"]),
        ("L3", []),
        ("all", []),
    ],
)
def test_a_level_that_a_variant_lacks(project: pytest.Pytester, levels: str, said: list[str], workers: list[str]) -> None:
    result = project.runpytest_subprocess("--fde-agent=do-nothing", f"--fde-levels={levels}", "--fde-gate=none", *workers)
    assert [line for line in section(result) if "not run" in line] == said


def test_a_level_that_the_only_variant_lacks(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=do-nothing", "--fde-levels=L0", "tasks/tiny_post/scenario.yaml::v2")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "fdegym: tiny_post.v2 has only L3: not run" in result.outlines
