"""Which places an agent that is a command must not see, as pytest's session finds them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import pytest_fdegym
from tests.support.tiny_scenario import write_tiny_scenario

V1 = ("-k", "v1 and L3")
SHOW = """
def pytest_fdegym_graded(item, record):
    from pytest_fdegym.pytest_side.session import SESSION
    settings = item.config.stash[SESSION].settings
    print("\\n" + "\\n".join(f"hidden {path}" for path in settings.hidden))
"""


def hidden(project: pytest.Pytester, *arguments: str) -> set[Path]:
    project.makepyfile(shows_hidden=SHOW)
    project.syspathinsert()
    result = project.runpytest("-s", "-p", "shows_hidden", "--fde-gate=none", *arguments, *V1)
    return {Path(line.removeprefix("hidden ")) for line in result.outlines if line.startswith("hidden ")}


def test_tasks_records_and_pytests_own_places(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CACHE_DIR", str(project.path / "pip"))
    write_tiny_scenario(project.path / "elsewhere" / "another")
    found = hidden(project, "--fde-agent=cmd:true", "--fde-results=records", "--junitxml=reports/x.xml")
    package = Path(pytest_fdegym.__file__).parent
    here = {path.relative_to(project.path).as_posix() for path in found if path.is_relative_to(project.path)}
    assert {"tasks", "tasks/tiny_post", "elsewhere/another", "records", "reports/x.xml", "pip", ".pytest_cache"} <= here
    assert package / "tasks.zip" in found
    assert package.parent in found, "of a checkout, its tests and history as well"


def test_reports_and_the_baseline_of_earlier_sessions(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=literal", "--fde-gate=baseline", "--fde-baseline=main.json", "--fde-update-baseline", *V1)
    gate = ("--fde-baseline=main.json", "--fde-report=out/report.html", "--fde-report=runs.csv")
    project.mkdir("out")
    assert {project.path / "main.json", project.path / "out/report.html", project.path / "runs.csv"} <= hidden(
        project, "--fde-agent=cmd:true", *gate
    )


def test_tasks_beside_the_one_that_was_named(project: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("others")
    for name in ("one", "two"):
        write_tiny_scenario(folder / name)
    found = hidden(project, "--fde-agent=cmd:true", str(folder / "one"))
    assert {folder / "one", folder / "two"} <= found


def test_folders_too_deep_to_be_looked_at_are_passed_by(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as within:
        within.chdir(project.path)
        for _ in range(25):  # 25 names of 200 letters: more than a path may have
            Path("n" * 200).mkdir()
            within.chdir("n" * 200)
    found = hidden(project, "--fde-agent=cmd:true")
    assert project.path / "tasks" / "tiny_post" in found


def test_the_history_of_a_work_tree_that_is_kept_somewhere_else(project: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("repository")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(folder)]
    try:
        for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(project.path / "wt")]):
            subprocess.run([*git, *command], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no git")
    write_tiny_scenario(project.path / "wt" / "tasks" / "tiny_post")
    found = hidden(project, "--fde-agent=cmd:true", "wt/tasks/tiny_post")
    assert {folder / ".git", folder / ".git" / "worktrees" / "wt"} <= found


def test_for_other_agents_nothing_is_looked_for(project: pytest.Pytester) -> None:
    assert hidden(project, "--fde-agent=do-nothing") == set()
