"""--fde-update-worth: admission writes what key facts are worth."""

from __future__ import annotations

import json

import pytest

from tests.pytest_side.support import usage_error
from tests.support.tiny_scenario import edit

FILE = "tasks/tiny_post/worth.yaml"


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_it_is_written_by_the_process_that_has_all_reports(project: pytest.Pytester, workers: list[str]) -> None:
    (project.path / FILE).unlink()
    result = project.runpytest_subprocess("--fde-admission", "--fde-update-worth", "--fde-seed=1-2", "-k", "F_LIMIT", *workers)
    assert result.parseoutcomes()["passed"] == 2
    result.stdout.fnmatch_lines(["2 of 2 anchors hold", f"worth: {FILE} written (2 measured)"])
    assert "warning" not in result.stdout.str()
    assert (project.path / FILE).read_text().splitlines()[-3:] == ["worth:", "  v1: {F_LIMIT: 0.62}", "  v2: {F_LIMIT: 0.75}"]
    assert project.runpytest("--fde-admission", "-k", "F_LIMIT").ret == 0


def test_what_is_stale_fails_without_it(project: pytest.Pytester) -> None:
    edit(project.path / "tasks/tiny_post", "worth.yaml", "0.62", "0.9")
    result = project.runpytest("--fde-admission", "-k", "F_LIMIT and v1")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["worth.yaml has 0.9 for F_LIMIT, which is worth 0.62 on seed 1; --fde-update-worth corrects it"])


def test_nothing_measured_writes_nothing(project: pytest.Pytester) -> None:
    before = (project.path / FILE).read_text()
    result = project.runpytest("--fde-admission", "--fde-update-worth", "-k", "v1 and literal")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["--fde-update-worth: no ablation was run, nothing was written"])
    assert (project.path / FILE).read_text() == before


def test_without_admission_or_the_seed_that_is_kept(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest("--fde-agent=literal", "--fde-update-worth")) == (
        "--fde-update-worth: what facts are worth is measured by admission; give --fde-admission, too."
    )
    assert usage_error(project.runpytest("--fde-admission", "--fde-update-worth", "--fde-seed=2-3")) == (
        "--fde-update-worth: worth.yaml holds what is measured on seed 1, found --fde-seed=2,3."
    )


def test_records_carry_it_and_agents_never_see_it(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import pytest

        @pytest.fixture
        def looks():
            def agent(engagement):
                found = engagement.run("ls -aR; cat worth.yaml ../worth.yaml; cat $OLDPWD/tasks/tiny_post/worth.yaml; env")
                (engagement.workspace / "system" / "seen.txt").write_text(found.stdout)
            return agent
        """
    )
    project.runpytest("--fde-agent=looks", "--fde-gate=none", "-k", "v1")
    store = project.path / ".fdegym/results/looks"
    record = json.loads((store / "tiny_post.v1.L3.run1.json").read_text())
    assert record["engaged"]["worth"] == {"F_LIMIT": 0.62}
    assert record["kpi"] == {"name": "orders sent the right way", "unit": "%"}
    seen = (store / "tiny_post.v1.L3.run1.patch").read_text()
    assert "TASK.md" in seen
    assert "worth" not in seen
    assert "0.62" not in seen
