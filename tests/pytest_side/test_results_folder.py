"""A results folder that cannot be used: found out at the start, or survived."""

from __future__ import annotations

import os

import pytest

from tests.pytest_side.support import usage_error

V1 = ("-k", "v1")
WITH_PROC = pytest.mark.skipif(not os.path.isdir("/proc/1"), reason="there is no /proc")


@pytest.mark.parametrize(
    ("folder", "named", "reason"),
    [
        ("taken", "{path}/taken", "it is not a folder"),
        ("taken/below", "{path}/taken/below", "Not a directory"),
        ("sub/../taken", "{path}/taken", "it is not a folder"),
        pytest.param("/proc/x", "/proc/x", "No such file or directory", marks=WITH_PROC),
    ],
)
@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_refused_at_the_start(project: pytest.Pytester, folder: str, named: str, reason: str, workers: list[str]) -> None:
    (project.path / "taken").touch()
    project.makeconftest("def pytest_collection_finish(): raise AssertionError('refused before collection')")
    result = project.runpytest_subprocess("--fde-agent=literal", f"--fde-results={folder}", *workers)
    assert usage_error(result) == (
        f"--fde-results: nothing can be kept in {named.format(path=project.path)}: {reason}. A folder that can be written is expected."
    )


def test_the_default_folder_is_checked_too(project: pytest.Pytester) -> None:
    (project.path / ".fdegym").touch()
    assert usage_error(project.runpytest("--fde-agent=literal")) == (
        f"--fde-results: nothing can be kept in {project.path}/.fdegym/results: Not a directory. A folder that can be written is expected."
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(project: pytest.Pytester) -> None:
    project.mkdir("locked").chmod(0o500)
    assert usage_error(project.runpytest("--fde-agent=literal", "--fde-results=locked")) == (
        f"--fde-results: nothing can be kept in {project.path}/locked: Permission denied. A folder that can be written is expected."
    )


@pytest.mark.parametrize("options", [["--fde-agent=literal", "--collect-only"], ["--fde-agent=literal", "--setup-plan"]])
def test_not_needed_where_nothing_runs(project: pytest.Pytester, options: list[str]) -> None:
    (project.path / ".fdegym").touch()
    assert project.runpytest(*options).ret == 0


TAKES_THE_FOLDER_AWAY = """
import pathlib, shutil
def agent(engagement):
    results = pathlib.Path(".fdegym/results")
    if results.is_dir():
        shutil.rmtree(results)
        results.touch()
"""


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_folder_that_fails_later_costs_no_run(project: pytest.Pytester, workers: list[str]) -> None:
    project.makepyfile(mine=TAKES_THE_FOLDER_AWAY)
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--fde-gate=min-score:0.5", *workers)
    result.assert_outcomes(failed=2)
    note = f"the record could not be stored: File exists ({project.path}/.fdegym/results)"
    lines = result.outlines
    assert lines.count(note) == 2, "in both cards"
    assert "score 0.000, asked for 0.5 (tiny_post.v1 at L3)" in lines
    assert lines[lines.index("resolved 0/2, with incidents 0, void 0, graded 2 of 2 planned") + 1] == f"{note}, 2 times"
    assert not [line for line in lines if line.startswith("record ")]


def test_a_run_that_was_not_stored_can_pass(project: pytest.Pytester) -> None:
    project.makepyfile(mine=TAKES_THE_FOLDER_AWAY)
    project.runpytest("--fde-agent=mine.py", "--fde-gate=none", *V1).assert_outcomes(passed=1, deselected=1)


def test_the_summary_names_the_folder_without_detours(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=reference", "--fde-results=sub/../out", *V1)
    assert f"results: {project.path}/out" in result.outlines
