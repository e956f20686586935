"""The rows of the table of outcomes as pytest and JUnit show them, and those that only a whole session can provoke.

The others are provoked in tests/runner/test_outcome_rows.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_fdegym.outcomes import outcome
from tests.pytest_side.support import usage_error
from tests.support.providers import Fault, FaultKind, Provider
from tests.support.tiny_scenario import edit

V1 = ("-k", "v1")
ASKS = """
import openai

def agent(engagement):
    client = openai.OpenAI(base_url={url!r}, api_key="sk-the-real-key-of-the-user", max_retries=0)
    client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "x"}}])
"""


def junit(project: pytest.Pytester) -> dict[str, int]:
    """How many items JUnit reports as what."""
    root = ET.parse(project.path / "junit.xml").getroot()
    return {kind: sum(1 for _ in root.iter(kind)) for kind in ("testcase", "error", "failure")}


@pytest.mark.parametrize(
    ("kind", "row"),
    [("rate_limit", "rate_limit"), ("reset", "reset"), ("authentication", "authentication"), ("server_error", "provider_error")],
)
def test_what_is_void_is_an_error(project: pytest.Pytester, kind: FaultKind, row: str) -> None:
    pytest.importorskip("openai")
    with Provider(lambda call: Fault(kind)) as provider:
        project.makepyfile(mine=ASKS.format(url=provider.openai))
        result = project.runpytest("--fde-agent=mine.py", "--fde-retries=0", "--fde-metering=off", "--junitxml=junit.xml", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    assert junit(project) == {"testcase": 1, "error": 1, "failure": 0}
    result.stdout.fnmatch_lines([f"VOID: the agent's model provider failed ({row}): *"])
    assert outcome(row).lands == "void"


@pytest.mark.parametrize(("kind", "row"), [("overflow", "context_overflow"), ("bad_request", "bad_request")])
def test_what_is_graded_is_a_failure(project: pytest.Pytester, kind: FaultKind, row: str) -> None:
    pytest.importorskip("openai")
    with Provider(lambda call: Fault(kind)) as provider:
        project.makepyfile(mine=ASKS.format(url=provider.openai))
        result = project.runpytest("--fde-agent=mine.py", "--fde-metering=off", "--junitxml=junit.xml", *V1)
    result.assert_outcomes(failed=1, deselected=1)
    assert junit(project) == {"testcase": 1, "error": 0, "failure": 1}
    assert f'name="fde.fault" value="{row}"' in (project.path / "junit.xml").read_text()


def test_how_often_it_is_tried_is_an_option(project: pytest.Pytester) -> None:
    pytest.importorskip("openai")
    with Provider(lambda call: Fault("reset")) as provider:
        project.makepyfile(mine=ASKS.format(url=provider.openai))
        project.runpytest("--fde-agent=mine.py", "--fde-retries=0", "--fde-metering=off", *V1)
    assert len(provider.model_calls) == 1
    assert usage_error(project.runpytest("--fde-agent=literal", "--fde-retries=many")).endswith(
        "--fde-retries: a whole number from 0 to 9 is expected, found 'many'."
    )


def test_row_worker_crash(project: pytest.Pytester) -> None:
    project.makepyfile(mine="import os, signal\ndef agent(engagement): os.kill(os.getpid(), signal.SIGKILL)\n")
    result = project.runpytest_subprocess("--fde-agent=mine.py", "-n1", "--max-worker-restart=2", "--junitxml=junit.xml", "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert junit(project) == {"testcase": 2, "error": 2, "failure": 0}
    result.stdout.fnmatch_lines_random(
        [
            "*VOID*tasks/tiny_post/scenario.yaml::v1::L3*",
            "VOID: the process that ran it died (worker 'gw0' crashed while running 'tasks/tiny_post/scenario.yaml::v1::L3')",
            "resolved 0/0, with incidents 0, void 2, graded 0 of 2 planned",
        ]
    )
    assert outcome("worker_crash").lands == "void"


def test_row_interrupted(project: pytest.Pytester) -> None:
    # What a shell starts in the background ignores the signal, and so does what that starts.
    heed = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    project.makepyfile(mine=f"{heed}def agent(engagement):\n    os.kill(os.getpid(), signal.SIGINT)\n    while True: pass\n")
    result = project.runpytest_subprocess("--fde-agent=mine.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert list(Path(project.path).rglob("*.L3.run1.json")) == []
    assert outcome("interrupted").lands == "no record"


def test_row_scenario_error(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "world.py", "overpaid = sum(", "overpaid = 1 / 0 + sum(")
    project.runpytest("--fde-agent=literal", "--junitxml=junit.xml", *V1).assert_outcomes(errors=1, deselected=1)
    assert junit(project) == {"testcase": 1, "error": 1, "failure": 0}


def test_row_unusable(project: pytest.Pytester) -> None:
    project.makepyfile(results="a file where the folder of results should be")
    assert project.runpytest("--fde-agent=nobody-of-that-name").ret == pytest.ExitCode.USAGE_ERROR
    assert project.runpytest("--fde-agent=literal", "--fde-results=results.py").ret == pytest.ExitCode.USAGE_ERROR
    assert outcome("unusable").lands == "refused"


STUCK = """
import time

def agent(engagement):
    import threading
    threading.Thread(target=engagement.record_usage, kwargs={"turns": 200}).start()
    time.sleep(3600)
"""


def test_an_agent_that_cannot_be_stopped_is_told_in_the_card_and_the_summary(project: pytest.Pytester) -> None:
    project.makepyfile(mine=STUCK)
    result = project.runpytest_subprocess("--fde-agent=mine.py")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "end              the limit of turns was reached; what the agent left was graded",
            "  - the agent could not be stopped: its thread did not react to being interrupted and was left",
            "    behind (it waits in C code, or swallows every exception). It can no longer reach the customer.",
            "the agent could not be stopped: * It can no longer reach the customer., 2 times",
        ]
    )
