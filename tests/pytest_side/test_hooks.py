"""The hooks that follow a run."""

from __future__ import annotations

import pytest


def test_events_and_the_record(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        def pytest_fdegym_event(item, event):
            print("EVENT", item.name, event.kind, event.data.get("task", ""))

        def pytest_fdegym_graded(item, record):
            print("GRADED", item.name, record.task, record.scores.score)
        """
    )
    result = project.runpytest("--fde-agent=expert", "-s", "-k", "v1")
    result.assert_outcomes(passed=1, deselected=1)
    told = [line.partition("EVENT ")[2] for line in result.outlines if "EVENT" in line]
    assert [line.strip() for line in told] == [
        "L3 start tiny_post.v1",
        "L3 message",
        "L3 message",
        "L3 handover",
        "L3 replay",
        "L3 grade",
    ]
    result.stdout.fnmatch_lines(["*GRADED L3 tiny_post.v1 0.95"])
