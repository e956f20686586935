"""What is collected, under which ids, and how it is selected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_side.support import collected, usage_error
from tests.support.tiny_scenario import edit, write_tiny_scenario

V1, V2 = "tasks/tiny_post/scenario.yaml::v1::L3", "tasks/tiny_post/scenario.yaml::v2::L3"


def ids(pytester: pytest.Pytester, *options: str, agent: str = "literal") -> list[str]:
    return collected(pytester.runpytest("--collect-only", "-q", f"--fde-agent={agent}", *options))


# --- ids ---


def test_one_item_per_variant_at_the_default_level(project: pytest.Pytester) -> None:
    assert ids(project) == [V1, V2]


def test_levels_exist_where_there_is_a_brief(project: pytest.Pytester) -> None:
    assert [each.removeprefix("tasks/tiny_post/scenario.yaml::") for each in ids(project, "--fde-levels=all")] == [
        "v1::L0",
        "v1::L1",
        "v1::L2",
        "v1::L3",
        "v2::L3",
    ]


def test_repeats(project: pytest.Pytester) -> None:
    assert ids(project, "--fde-runs=2", "-k", "v1") == [f"{V1}-run1", f"{V1}-run2"]


# --- selection ---


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (["-k", "tiny_post and v1 and L3"], [V1]),
        (["-k", "Retail and not v1"], [V2]),
        (["-k", "oil_npt"], []),
        (["-m", "L3"], [V1, V2]),
        (["-m", "L0"], []),
        (["-m", "retail and v2"], [V2]),
        (["-m", "tiny_post and fde"], [V1, V2]),
        (["--deselect", V1], [V2]),
    ],
)
def test_keywords_and_markers(project: pytest.Pytester, selection: list[str], expected: list[str]) -> None:
    assert ids(project, *selection) == expected


def test_the_markers_argument(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        def pytest_collection_modifyitems(items):
            print("MARK", items[0].get_closest_marker("fde").kwargs)
        """
    )
    result = project.runpytest("--collect-only", "-q", "-s", "--fde-agent=literal")
    result.stdout.fnmatch_lines(["MARK {'scenario': 'tiny_post', 'variant': 'v1', 'level': 'L3', 'sector': 'Retail', 'run': 1}"])


def test_a_sector_sets_off_no_marker_of_pytests(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "scenario.yaml", "sector: Retail", "sector: Skip")
    project.runpytest("--fde-agent=reference", "-k", "v1").assert_outcomes(passed=1, deselected=1)


# --- paths ---


@pytest.mark.parametrize("path", ["tasks", "tasks/tiny_post", "tasks/tiny_post/scenario.yaml", "."])
def test_path_on_the_command_line(project: pytest.Pytester, path: str) -> None:
    assert ids(project, path) == [V1, V2]


def test_node_id_on_the_command_line(project: pytest.Pytester) -> None:
    assert ids(project, V2) == [V2]
    assert ids(project, "tasks/tiny_post/scenario.yaml::v1") == [V1]


def test_own_tests_are_collected_where_the_user_named_their_path(project: pytest.Pytester) -> None:
    (project.mkdir("tests") / "test_own.py").write_text("def test_own(): ...\n")
    assert ids(project) == [V1, V2]
    assert ids(project, "tests", "tasks") == ["tests/test_own.py::test_own", V1, V2]


def test_testpaths_do_not_count_as_named(project: pytest.Pytester) -> None:
    (project.mkdir("tests") / "test_own.py").write_text("def test_own(): ...\n")
    project.makeini("[pytest]\ntestpaths = tests\nfde_tasks = tasks\n")
    assert ids(project) == [V1, V2]


def test_scenario_yaml_of_another_tool(project: pytest.Pytester) -> None:
    (project.mkdir("molecule") / "scenario.yaml").write_text("driver: docker\n")
    assert ids(project, ".") == [V1, V2]


# --- bundled tasks and the rootdir's ---


def test_bundled_tasks_and_those_of_the_rootdir(pytester: pytest.Pytester, bundle: Path) -> None:
    edit(write_tiny_scenario(pytester.path / "own" / "deep" / "mine"), "scenario.yaml", "id: tiny_post", "id: mine")
    write_tiny_scenario(pytester.path / "node_modules" / "tiny_post")
    pytester.makepyfile(test_own="def test_own(): ...")
    assert bundle.is_dir()
    assert ids(pytester, "-k", "v1") == [V1, "own/deep/mine/scenario.yaml::v1::L3"]


def test_nothing_beside_the_bundled_scenarios_is_looked_at(pytester: pytest.Pytester, bundle: Path) -> None:
    for folder in (bundle.parent, bundle, pytester.path):
        (folder / "test_stray.py").write_text("def test_stray(): ...\n")
    (bundle.parent / "other").mkdir()
    (bundle.parent / "other" / "conftest.py").write_text("raise AssertionError('not to be loaded')\n")
    assert ids(pytester) == [V1, V2]
    assert ids(pytester, V2) == [V2]


def test_a_folder_instead_of_them(pytester: pytest.Pytester, bundle: Path, tmp_path: Path) -> None:
    assert bundle.is_dir()
    write_tiny_scenario(pytester.path / "own" / "tiny_post")
    write_tiny_scenario(tmp_path / "elsewhere" / "tiny_post")
    assert ids(pytester, f"--fde-tasks={tmp_path}/elsewhere", "-k", "v1") == ["elsewhere/tiny_post/scenario.yaml::v1::L3"]
    assert ids(pytester, f"--fde-tasks={tmp_path}/elsewhere/tiny_post", "-k", "v1") == ["elsewhere/tiny_post/scenario.yaml::v1::L3"]


def test_a_folder_without_scenarios(pytester: pytest.Pytester) -> None:
    pytester.mkdir("empty")
    assert usage_error(pytester.runpytest("--fde-agent=literal", "--fde-tasks=empty")) == (
        f"--fde-tasks: there is no scenario's folder (one with a scenario.yaml) in {pytester.path}/empty"
    )


def test_bundled_tasks_under_the_rootdir_are_collected_once(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pytester.path / "tasks"
    write_tiny_scenario(folder / "tiny_post")
    monkeypatch.setattr("pytest_fdegym.pytest_side.collection.bundled_tasks", lambda: folder)
    assert ids(pytester) == [V1, V2]


def test_the_id_of_a_bundled_task_can_be_named(pytester: pytest.Pytester, bundle: Path) -> None:
    assert bundle.is_dir()
    pytester.makepyfile(test_own="def test_own(): ...")
    assert ids(pytester, V2) == [V2]
    assert ids(pytester, V2, "test_own.py") == [V2, "test_own.py::test_own"]
    assert ids(pytester, "tasks/tiny_post") == [V1, V2]


def test_an_id_that_no_bundled_task_has(pytester: pytest.Pytester, bundle: Path) -> None:
    assert bundle.is_dir()
    assert usage_error(pytester.runpytest("--fde-agent=literal", "tasks/tiny_post/scenario.yaml::v9::L3")).startswith(
        "not found: tasks/tiny_post/scenario.yaml::v9::L3. Did you mean 'tasks/tiny_post/scenario.yaml::v"
    )


def test_the_real_bundled_tasks(pytester: pytest.Pytester) -> None:
    assert "tasks/oil_npt/scenario.yaml::v1::L3" in ids(pytester, "-k", "oil_npt and v1 and L3")


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_two_scenarios_of_one_name(pytester: pytest.Pytester, workers: list[str]) -> None:
    for folder in ("a", "b"):
        write_tiny_scenario(pytester.path / folder / "tiny_post")
    result = pytester.runpytest_subprocess("--fde-agent=literal", "--fde-tasks=a", "--fde-tasks=b", *workers)
    assert result.ret != 0
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.fnmatch_lines(
        [
            f"two scenarios are called tiny_post: {pytester.path}/a/tiny_post and {pytester.path}/b/tiny_post. "
            "Say which is meant: name its path, or its folder of tasks with --fde-tasks."
        ]
    )


@pytest.mark.parametrize("arguments", [["--fde-tasks=empty"], ["--fde-tasks=a", "a/tiny_post/scenario.yaml::v9"]])
def test_mistakes_on_the_command_line_under_xdist(pytester: pytest.Pytester, arguments: list[str]) -> None:
    pytester.mkdir("empty")
    pytester.mkdir("below")
    write_tiny_scenario(pytester.path / "a" / "tiny_post")
    result = pytester.runpytest_subprocess("--fde-agent=literal", "-n1", *arguments)
    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert "INTERNALERROR" not in result.stdout.str()


def test_last_failed_among_bundled_tasks_and_own_tests(pytester: pytest.Pytester, bundle: Path) -> None:
    assert bundle.is_dir()
    pytester.makepyfile(test_own="def test_own(): assert False")
    options = ("--fde-agent=literal", "test_own.py", V1)
    pytester.runpytest(*options).assert_outcomes(failed=2, deselected=1)
    again = collected(pytester.runpytest(*options, "--lf", "--collect-only", "-q"))
    assert sorted(again) == [V1, "test_own.py::test_own"]


# --- an author's mistakes ---


def test_mistakes_are_listed_without_a_traceback(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "scenario.yaml", "inject: {db: orders}", "inject: {db: order}")
    result = project.runpytest("--fde-agent=literal")
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "pytest_fdegym/" not in text
    result.stdout.fnmatch_lines(
        [
            "1 problem in the scenario tasks/tiny_post:",
            "tasks/tiny_post/scenario.yaml:*: entry_points.ship.inject.db: *Did you mean 'orders'?*",
        ]
    )
