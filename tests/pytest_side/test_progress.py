"""--fde-progress: a line for each run that is under way, between pytest's own. The tests tick; nothing waits for a clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_fdegym.observer import Event
from pytest_fdegym.pytest_side.progress import WorkerProgress
from tests.pytest_side.support import usage_error
from tests.support.tiny_scenario import edit

TICKS = """
import pytest

@pytest.fixture
def myagent(request):
    progress = request.config.pluginmanager.get_plugin("fdegym-progress")

    def agent(engagement):
        engagement.ask("pike", "How heavy may a letter be?")
        print("what the agent prints")
        progress.tick()
        engagement.record_usage(turns=2, usd=0.5)
        progress.tick()

    return agent
"""
RUN = ("--fde-agent=myagent", "--fde-gate=none", "--fde-progress=100000")
ASKED = "fdegym: tiny_post.{} at L3, run 1, agent myagent: 0 min, ? turns, 1 message, 0 trials, USD ?"
PAID = "fdegym: tiny_post.{} at L3, run 1, agent myagent: 0 min, 2 turns, 1 message, 0 trials, USD 0.50"
FILE = "tasks/tiny_post/scenario.yaml"


def shown(result: pytest.RunResult, until: str = "=+ fdegym =+") -> list[str]:
    """What stands between the header and the summary, without blank lines and percentages."""
    start = next(n for n, line in enumerate(result.outlines) if re.search(r"collected 2 items|^2 workers", line))
    end = next(n for n, line in enumerate(result.outlines) if re.fullmatch(until, line))
    lines = (re.sub(r" *\[ *\d+%\]", "", line).rstrip() for line in result.outlines[start + 1 : end])
    return [line for line in lines if line]


@pytest.mark.parametrize("capture", ["fd", "sys", "tee-sys", "no"])
def test_lines_of_their_own_between_dots(project: pytest.Pytester, capture: str) -> None:
    project.makeconftest(TICKS)
    result = project.runpytest_subprocess(*RUN, f"--capture={capture}")
    lines = [line.replace("what the agent prints", "").rstrip() for line in shown(result)]
    assert [line for line in lines if line] == [
        FILE,
        ASKED.format("v1"),
        PAID.format("v1"),
        ".",
        FILE,
        ASKED.format("v2"),
        PAID.format("v2"),
        ".",
    ]


def test_lines_of_their_own_in_verbose_output(project: pytest.Pytester) -> None:
    project.makeconftest(TICKS)
    assert shown(project.runpytest_subprocess(*RUN, "-v")) == [
        f"{FILE}::v1::L3",
        ASKED.format("v1"),
        PAID.format("v1"),
        f"{FILE}::v1::L3 PASSED",
        f"{FILE}::v2::L3",
        ASKED.format("v2"),
        PAID.format("v2"),
        f"{FILE}::v2::L3 PASSED",
    ]


def test_what_the_agent_prints_is_captured_all_the_same(project: pytest.Pytester) -> None:
    project.makeconftest(TICKS)
    result = project.runpytest_subprocess(*RUN, "-rP", "-k", "v1")
    section = result.outlines[result.outlines.index("---------------------------- Captured stdout setup -----------------------------") :]
    assert section[1] == "what the agent prints"
    assert not any(line.startswith("fdegym:") for line in section)


AT_THE_BARRIER = """
import os
import threading
import pytest

VARIANTS = ("v1", "v2")

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        for variant in VARIANTS:
            os.mkfifo(f"at-work-{variant}")
            os.mkfifo(f"go-on-{variant}")

@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session):
    progress = session.config.pluginmanager.get_plugin("fdegym-progress")

    def once_both_are_at_work():
        for variant in VARIANTS:
            open(f"at-work-{variant}").close()
        progress.tick()
        for variant in VARIANTS:
            open(f"go-on-{variant}", "w").close()
        for variant in VARIANTS:
            open(f"at-work-{variant}").close()
        progress.tick()
        for variant in VARIANTS:
            open(f"go-on-{variant}", "w").close()

    if not hasattr(session.config, "workerinput"):
        threading.Thread(target=once_both_are_at_work, daemon=True).start()
    return (yield)

@pytest.fixture
def myagent(request):
    variant = request.node.nodeid.split("::")[1]

    def meet():
        open(f"at-work-{variant}", "w").close()
        open(f"go-on-{variant}").close()

    def agent(engagement):
        engagement.ask("pike", "How heavy may a letter be?")
        meet()
        engagement.record_usage(turns=2, usd=0.5)
        meet()

    return agent
"""


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_the_controller_of_workers_tells_all_that_runs(
    project: pytest.Pytester, verbose: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project.makeconftest(AT_THE_BARRIER)
    result = project.runpytest_subprocess(*RUN, "-n2", *verbose, timeout=60)
    result.assert_outcomes(passed=2)
    lines = [line for line in shown(result) if not line.startswith(("scheduling", f"{FILE}::"))]
    assert lines[:4] == [ASKED.format("v1"), ASKED.format("v2"), PAID.format("v1"), PAID.format("v2")]
    if verbose:
        assert sorted(re.sub(r"gw\d", "gw", line) for line in lines[4:]) == [
            f"[gw] PASSED {FILE}::{variant}::L3" for variant in ("v1", "v2")
        ]
    else:
        assert lines[4:] == [".."]
    assert list(tmp_path.glob("fdegym-progress-*")) == []


SHORT = """
import pytest

@pytest.fixture
def myagent(request):
    printed = request.config.pluginmanager.get_plugin("fdegym-progress")
    return lambda engagement: engagement.write_text("system/seen.txt", repr(printed))
"""


def seen(project: pytest.Pytester) -> str:
    (patch,) = project.path.glob(".fdegym/results/*/*.patch")
    return next(line for line in patch.read_text().splitlines() if line.startswith("+") and "+++" not in line)


@pytest.mark.parametrize("arguments", [("-q",), ("--fde-progress=off",), ("-q", "-n1"), ("--fde-progress=off", "-n1")])
def test_nobody_listens_when_nothing_is_to_be_printed(project: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    project.makeconftest(SHORT)
    project.runpytest_subprocess("--fde-agent=myagent", "--fde-gate=none", "-k", "v1", *arguments)
    assert seen(project) == "+None"


def test_nothing_without_a_terminal(project: pytest.Pytester) -> None:
    project.makeconftest(TICKS)
    result = project.runpytest_subprocess(*RUN, "-p", "no:terminal")
    assert (result.ret, result.outlines, result.errlines) == (pytest.ExitCode.OK, [], [])


def test_a_run_that_broke_off_is_not_told_of_any_more(project: pytest.Pytester) -> None:
    edit(
        project.path / "tasks" / "tiny_post",
        "world.py",
        "    sent = operations.outputs",
        "    raise ValueError\n    sent = operations.outputs",
    )
    project.makeconftest(
        """
        import pytest

        @pytest.fixture
        def myagent(request):
            request.config.pluginmanager.get_plugin("fdegym-progress").tick()
            return lambda engagement: None
        """
    )
    result = project.runpytest_subprocess(*RUN)
    result.assert_outcomes(errors=2)
    assert [line for line in shown(result, "=+ ERRORS =+") if line.startswith("fdegym")] == []


def test_the_thread_ticks_by_itself(project: pytest.Pytester) -> None:
    # The agent goes on when its line was written, whenever that is.
    project.makeconftest(
        """
        import threading
        import pytest
        from pytest_fdegym.pytest_side.progress import Progress

        told = threading.Event()
        tick = Progress.tick

        @pytest.fixture
        def myagent(monkeypatch):
            def ticks(progress):
                tick(progress)
                told.set()

            monkeypatch.setattr(Progress, "tick", ticks)

            def agent(engagement):
                told.clear()
                assert told.wait(60)

            return agent
        """
    )
    result = project.runpytest_subprocess("--fde-agent=myagent", "--fde-gate=none", "--fde-progress=0.01", "-k", "v1")
    result.assert_outcomes(passed=1, deselected=1)
    assert "fdegym: tiny_post.v1 at L3, run 1, agent myagent: 0 min, ? turns, 0 messages, 0 trials, USD ?" in result.outlines


def test_a_folder_that_is_not_there_is_no_progress_and_no_error(tmp_path: Path) -> None:
    worker = WorkerProgress(tmp_path / "gone" / "gw0", lambda: datetime(2026, 1, 1, tzinfo=UTC))
    worker.pytest_fdegym_event(Event("start", {"task": "oil_npt.v1", "level": "L3", "run": 1, "agent": "myagent"}))
    worker.pytest_runtest_teardown()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("given", "found"), [("0", "'0'"), ("minutely", "'minutely'"), ("-1", "'-1'")])
def test_what_is_no_number_of_seconds_is_refused(project: pytest.Pytester, given: str, found: str) -> None:
    assert usage_error(project.runpytest(f"--fde-progress={given}", "--fde-agent=do-nothing")) == (
        f"--fde-progress: a number of seconds above 0, or off, is expected, found {found}."
    )


def test_the_ini_twin(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\naddopts = --fde-tasks=tasks\nfde_progress = none\n")
    assert usage_error(project.runpytest("--fde-agent=do-nothing")) == (
        "ini option fde_progress: a number of seconds above 0, or off, is expected, found 'none'."
    )
