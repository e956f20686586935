"""worth.yaml: what key facts are worth, kept for reports, and whether it is current."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.admission.anchors import plan
from pytest_fdegym.admission.verdict import Measurement, Verdict
from pytest_fdegym.admission.worth import update_worth, worth_of
from pytest_fdegym.errors import UsageError
from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_scenario import edit, write_tiny_scenario


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("unused"), store=None) as settings:
        yield settings


def ablation(folder: Path, settings: Settings, *seeds: int, compares_worth: bool = True) -> Verdict:
    checks = {check.name: check for check in plan(load(folder), "v1", compares_worth=compares_worth)}
    return checks["ablation.F_LIMIT"].run(settings, seeds)


def measured(seed: int, uplift_adjusted: float) -> Measurement:
    return Measurement("ablations/F_A/x", seed, 0, 0, 1, uplift_adjusted, uplift_adjusted, uplift_adjusted, ())


def test_worth_by_hand() -> None:
    """Two fills reach 0.3 and 0.7 on seed 1, and 0.5 and 0.2 on seed 2: 0.3 of an uplift is missed at best on seed 1, 0.5 on seed 2."""
    fills = [measured(1, 0.3), measured(2, 0.5), measured(1, 0.7), measured(2, 0.2)]
    assert worth_of(fills, 1) == pytest.approx(0.3)
    assert worth_of(fills, 2) == pytest.approx(0.5)
    assert worth_of(fills) == pytest.approx(0.3), "on the worst seed"
    assert worth_of(fills, 3) is None


def test_a_worth_that_is_not_current_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, "worth.yaml", "0.62", "0.6")
    found = ablation(folder, settings, 1)
    assert found.problems == ("worth.yaml has 0.6 for F_LIMIT, which is worth 0.62 on seed 1; --fde-update-worth corrects it",)
    assert found.fact == "F_LIMIT"
    assert found.kept_worth == pytest.approx(0.625)
    assert ablation(folder, settings, 1, compares_worth=False).passed
    assert ablation(folder, settings, 2).passed, "only seed 1 is kept"


def test_a_worth_that_is_not_kept_is_a_warning(tmp_path: Path, settings: Settings) -> None:
    found = ablation(write_tiny_scenario(tmp_path / "tiny_post", **{"worth.yaml": None}), settings, 1)
    assert (found.passed, found.warnings) == (
        True,
        ("worth.yaml lacks F_LIMIT (worth 0.62 on seed 1), so reports cannot show it; --fde-update-worth adds it",),
    )


def test_an_update_keeps_what_was_not_measured_and_drops_what_is_gone(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, "worth.yaml", "v2: {F_LIMIT: 0.75}", "v2: {F_GONE: 0.3, F_LIMIT: 0.75}\n  v9: {F_LIMIT: 1}")
    file = update_worth(load(folder), {("v1", "F_LIMIT"): 0.62499})
    assert [line for line in file.read_text().splitlines() if not line.startswith("#")] == [
        "worth:",
        "  v1: {F_LIMIT: 0.62}",
        "  v2: {F_LIMIT: 0.75}",
    ]
    assert load(folder).worth_in("v1") == {"F_LIMIT": 0.62}


def test_an_update_of_a_scenario_without_the_file(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post", **{"worth.yaml": None})
    update_worth(load(folder), {("v2", "F_LIMIT"): -0.001})
    assert load(folder).worth == {"v2": {"F_LIMIT": 0}}


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write_tiny_scenario(Path("tiny_post"), **{"worth.yaml": None})
    scenario = load(folder)
    (folder / "worth.yaml").mkdir()
    with pytest.raises(UsageError) as refused:
        update_worth(scenario, {("v1", "F_LIMIT"): 0.5})
    assert str(refused.value) == "--fde-update-worth: tiny_post/worth.yaml cannot be written: Is a directory."
