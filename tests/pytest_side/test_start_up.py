"""An ordinary session, with the plugin installed and not used."""

from __future__ import annotations

import json

import pytest

from tests.pytest_side.support import collected
from tests.support.tiny_scenario import write_tiny_scenario


def test_nothing_of_ours_is_collected_or_loaded(pytester: pytest.Pytester) -> None:
    write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    pytester.makepyfile(
        test_own="""
        import json, sys
        def test_loaded(record_property):
            known = sys.stdlib_module_names | {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"}
            ours = sorted(name for name in sys.modules if name.partition(".")[0] == "pytest_fdegym")
            open("loaded.json", "w").write(json.dumps([ours, "pydantic" in sys.modules, "yaml" in sys.modules, "jinja2" in sys.modules]))
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    assert "fdegym:" not in result.stdout.str()
    assert json.loads((pytester.path / "loaded.json").read_text()) == [
        [
            "pytest_fdegym",
            "pytest_fdegym._version",
            "pytest_fdegym.plugin",
            "pytest_fdegym.pytest_side",
            "pytest_fdegym.pytest_side.hookspecs",
            "pytest_fdegym.pytest_side.option_values",
            "pytest_fdegym.pytest_side.options",
        ],
        False,
        False,
        False,
    ]


def test_a_conftest_that_listens_to_runs_is_no_error(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_fdegym_graded(item, record): ...\ndef pytest_fdegym_event(item, event): ...")
    pytester.makepyfile("def test_own(): ...")
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.fixture
def with_tests_inside(pytester: pytest.Pytester) -> pytest.Pytester:
    scenario = write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    for folder in ("site/system/tests", "site.v2", "solutions/reference", "notes"):
        (scenario / folder).mkdir(parents=True, exist_ok=True)
        (scenario / folder / f"test_{folder.replace('/', '_').replace('.', '_')}.py").write_text("def test_customers(): ...\n")
    return pytester


def test_a_customers_tests_are_not_the_users(with_tests_inside: pytest.Pytester) -> None:
    result = with_tests_inside.runpytest("--collect-only", "-q")
    assert collected(result) == ["tasks/tiny_post/notes/test_notes.py::test_customers"]


def test_a_customers_tests_can_be_named(with_tests_inside: pytest.Pytester) -> None:
    result = with_tests_inside.runpytest("--collect-only", "-q", "tasks/tiny_post/site/system")
    assert collected(result) == ["tasks/tiny_post/site/system/tests/test_site_system_tests.py::test_customers"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("tasks", ["tasks/tiny_post/scenario.yaml::v1::L3", "tasks/tiny_post/scenario.yaml::v2::L3"]), ("tasks/tiny_post/site/system", [])],
)
def test_never_with_an_agent(with_tests_inside: pytest.Pytester, path: str, expected: list[str]) -> None:
    assert collected(with_tests_inside.runpytest("--collect-only", "-q", "--fde-agent=literal", path)) == expected


@pytest.mark.parametrize("folder", ["site", "solutions"])
def test_folders_of_that_name_elsewhere_are_ordinary(pytester: pytest.Pytester, folder: str) -> None:
    (pytester.mkdir(folder) / "test_own.py").write_text("def test_own(): ...\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_help_with_a_broken_agent_in_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfde_agent = no-such-agent\n")
    result = pytester.runpytest("--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  --fde-agent=AGENT*"])
