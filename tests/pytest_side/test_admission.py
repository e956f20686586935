"""Admission: an item per anchor, a table at the end."""

from __future__ import annotations

import pytest

from tests.pytest_side.support import collected
from tests.support.tiny_scenario import edit

ID = "tasks/tiny_post/scenario.yaml::v1::"


def test_items(project: pytest.Pytester) -> None:
    ids = collected(project.runpytest("--collect-only", "-q", "--fde-admission", "-k", "v1"))
    assert {"reference", "expert", "shortcut.all_letters", "ablation.F_LIMIT"} <= {each.removeprefix(ID) for each in ids}


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_anchors_hold_on_several_seeds(project: pytest.Pytester, workers: list[str]) -> None:
    result = project.runpytest_subprocess("--fde-admission", "--fde-seed=1-2", "-k", "v1 and (reference or F_LIMIT or expert)", *workers)
    assert result.parseoutcomes()["passed"] == 3
    result.stdout.fnmatch_lines(
        [
            "fdegym: admission, seeds 1, 2",
            "tiny_post  v1       reference * 2  100      1.000  1.000  1.000      -  ok",
            "tiny_post  v1       expert * 2  100      1.000  1.000  0.950      -  ok",
            "tiny_post  v1       ablation.F_LIMIT * 0.375 * 0.625  ok",
            "3 of 3 anchors hold",
        ]
    )
    assert not (project.path / ".fdegym").exists()


def test_anchor_that_does_not_hold(project: pytest.Pytester) -> None:
    folder = project.path / "tasks" / "tiny_post"
    (folder / "solutions/literal/system/shipping.py").write_text("def ship(order, *, db):\n    return 'letter'\n")
    edit(folder, "world.py", "approved = any(", "approved = True or any(")
    result = project.runpytest("--fde-admission", "-k", "v2 and literal")
    assert result.parseoutcomes()["failed"] == 1
    text = result.stdout.str()
    assert "pytest_fdegym/" not in text
    result.stdout.fnmatch_lines(
        [
            "*tiny_post / v2 / literal*",
            "seed 1: literal: U_adj 0.500; at most 0.2 is allowed",
            "*FAILED: seed 1: literal: U_adj 0.500*",
            "0 of 1 anchors hold",
        ]
    )


def test_world_py_that_raises_is_an_error(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "world.py", "overpaid = sum(", "overpaid = 1 / 0 + sum(")
    result = project.runpytest("--fde-admission", "-k", "v1 and reference")
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.fnmatch_lines(["tasks/tiny_post/world.py:*: prepare: ZeroDivisionError: division by zero", "*error"])
    assert "pytest_fdegym/" not in result.stdout.str()


def test_the_plan_measures_nothing(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "world.py", "overpaid = sum(", "overpaid = 1 / 0 + sum(")
    assert project.runpytest("--fde-admission", "--setup-plan", "-k", "v1 and reference").ret == 0
