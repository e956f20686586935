"""Folders that were checked whole before are collected by a short look; mistakes are told all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_fdegym.pytest_side.in_order import InOrder
from pytest_fdegym.scenario.loader import load, peek
from tests.pytest_side.support import collected
from tests.support.tiny_scenario import edit, write_tiny_scenario

TASKS = Path(__file__).parents[2] / "tasks"
MISTAKE = (
    "tasks/tiny_post/people.yaml:*: people.pike.topics.limit.facts: 'F_LIMUT' is not a fact of scenario.yaml. Did you mean 'F_LIMIT'?*"
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def spoil(folder: Path, *, unnoticed: bool) -> None:
    """A wrong name in people.yaml; unnoticed: in a file of the same size and time."""
    before = (folder / "people.yaml").stat()
    edit(folder, "people.yaml", "facts: [F_LIMIT]\n", "facts: [F_LIMUT]\n")
    times = before.st_mtime_ns if unnoticed else before.st_mtime_ns + 1
    os.utime(folder / "people.yaml", ns=(times, times))


@pytest.mark.parametrize("sessions_before", [0, 1])
def test_a_mistake_is_told_at_collection(project: pytest.Pytester, sessions_before: int) -> None:
    for _ in range(sessions_before):
        assert len(collected(project.runpytest("--fde-agent=literal", "--collect-only", "-q"))) == 2
    spoil(project.path / "tasks" / "tiny_post", unnoticed=False)
    for _ in range(2):  # what is not in order is never noted
        result = project.runpytest("--fde-agent=literal", "--collect-only", "-q")
        assert result.ret == pytest.ExitCode.INTERRUPTED
        result.stdout.fnmatch_lines(["*problem* in the scenario tasks/tiny_post:", MISTAKE])


def test_a_folder_that_was_in_order_is_not_read_whole_until_one_of_its_items_runs(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=literal", "--collect-only", "-q")
    spoil(project.path / "tasks" / "tiny_post", unnoticed=True)
    assert len(collected(project.runpytest("--fde-agent=literal", "--collect-only", "-q"))) == 2
    result = project.runpytest("--fde-agent=literal", "-k", "v1")
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["*problem* in the scenario tasks/tiny_post:", MISTAKE])
    assert "Traceback" not in result.stdout.str()


def test_admission_reads_everything(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=literal", "--collect-only", "-q")
    spoil(project.path / "tasks" / "tiny_post", unnoticed=True)
    result = project.runpytest("--fde-admission", "--collect-only", "-q")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([MISTAKE])


def test_what_shipped_with_the_package_is_not_read_whole(pytester: pytest.Pytester, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fdegym.pytest_side.session.shipped_tasks", lambda: bundle)
    spoil(bundle / "tiny_post", unnoticed=False)
    assert len(collected(pytester.runpytest("--fde-agent=literal", "--collect-only", "-q"))) == 2
    result = pytester.runpytest("--fde-agent=literal", "-k", "v1")
    result.assert_outcomes(errors=1, deselected=1)


def test_a_cache_that_cannot_be_written(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.path / "a_file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.path / "a_file"))
    for _ in range(2):
        assert len(collected(project.runpytest("--fde-agent=literal", "--collect-only", "-q"))) == 2


def test_what_counts_as_a_change(tmp_path: Path) -> None:
    folder, in_order = write_tiny_scenario(tmp_path / "tiny_post"), InOrder(tmp_path / "cache")
    assert not in_order.holds(folder)
    in_order.note(folder)
    assert in_order.holds(folder)
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "world.pyc").touch()
    assert in_order.holds(folder)  # bytecode is no part of it
    (folder / "site" / "new.md").touch()
    assert not in_order.holds(folder)
    in_order.note(folder)
    (folder / "site" / "new.md").rename(folder / "site" / "other.md")
    assert not in_order.holds(folder)
    in_order.note(folder)
    (folder / "linked.md").symlink_to("nowhere")
    assert not in_order.holds(folder)


@pytest.mark.parametrize("folder", sorted(file.parent for file in TASKS.glob("*/scenario.yaml")), ids=lambda folder: folder.name)
def test_a_short_look_tells_what_a_long_one_does(folder: Path) -> None:
    outline, scenario = peek(folder), load(folder)
    assert (outline.folder, outline.id, outline.sector, outline.title) == (folder, scenario.id, scenario.file.sector, scenario.file.title)
    assert [(each.id, each.title, each.levels) for each in outline.variants] == [
        (name, scenario.file.variants[name].title, scenario.levels(name)) for name in scenario.variants
    ]
