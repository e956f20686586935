"""What deliveries are measured against: kept by content, never stale, and never from a disturbed replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fdegym.admission.actors import DoNothing, SolutionActor
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.grading import Grader, Measured
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, run
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_scenario import edit, write_tiny_scenario


def reference(folder: Path, cache: Path) -> Record:
    """A run of the reference in a session of its own."""
    with session(cache.parent / "results", cache=cache) as settings:
        return run(Case(load(folder), "v1", "L3"), SolutionActor("reference"), settings)


def kpis(record: Record) -> tuple[float, float]:
    assert record.scores is not None, record.void_cause
    return record.scores.kpi_baseline, record.scores.kpi_reference


def test_a_second_session_takes_what_the_first_one_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cache = write_tiny_scenario(tmp_path / "tiny_post"), tmp_path / "cache"
    assert kpis(reference(folder, cache)) == (60.0, 100.0)
    (kept,) = cache.iterdir()
    monkeypatch.setattr(Grader, "_once", None)  # a second measurement would fail
    assert kpis(reference(folder, cache)) == (60.0, 100.0)
    assert json.loads(kept.read_text())["kpi_reference"] == 100.0


def test_a_changed_scenario_is_measured_again(tmp_path: Path) -> None:
    folder, cache = write_tiny_scenario(tmp_path / "tiny_post"), tmp_path / "cache"
    reference(folder, cache)
    edit(folder, "site/system/shipping.py", "LETTER_LIMIT_GRAMS = 100", "LETTER_LIMIT_GRAMS = 200")
    assert kpis(reference(folder, cache)) == (70.0, 100.0)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_text(path.read_text().replace("100.0", '"60"')), id="a text for a number"),
        pytest.param(lambda path: path.write_text(path.read_text().replace("100.0", "NaN")), id="NaN"),
        pytest.param(lambda path: path.write_text(path.read_text()[:-20]), id="not whole"),
        pytest.param(lambda path: path.chmod(0o666), id="others may write it"),
        pytest.param(lambda path: path.parent.chmod(0o777), id="others may write the folder"),
    ],
)
def test_what_was_tampered_with_is_measured_again(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    folder, cache = write_tiny_scenario(tmp_path / "tiny_post"), tmp_path / "cache"
    reference(folder, cache)
    (kept,) = cache.iterdir()
    spoil(kept)
    assert kpis(reference(folder, cache)) == (60.0, 100.0)


def test_a_disturbed_replay_is_never_a_yardstick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cache = write_tiny_scenario(tmp_path / "tiny_post"), tmp_path / "cache"
    measure, calls = Grader.measure, []

    def disturbed(self: Grader, *args: object, **kw: object) -> Measured:
        found = measure(self, *args, **kw)  # type: ignore[arg-type]  # passed on as they came
        calls.append(found)
        if len(calls) != 2:
            return found
        return Measured(78.0, found.incidents, found.operations, notes=("ship died on 44 calls",))

    monkeypatch.setattr(Grader, "measure", disturbed)
    with session(tmp_path / "results", cache=cache) as settings:
        record = run(Case(load(folder), "v1", "L3"), DoNothing(), settings)
    assert (record.status, record.void_cause) == (
        "void",
        "tiny_post.v1: the replay of the system as found or the reference was disturbed: ship died on 44 calls",
    )
    assert not cache.exists()


def test_a_scenario_that_changes_under_a_session_is_its_authors_to_know(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    with session(tmp_path / "results", cache=tmp_path / "cache") as settings:
        case = Case(load(folder), "v1", "L3")
        settings.prepared.get(case.scenario, "v1", 1)
        edit(folder, "world.py", "range(5, 1001, 5)", "range(5, 501, 5)")
        with pytest.raises(ScenarioError) as refused:
            run(case, DoNothing(), settings)
    assert str(refused.value) == f"{folder}: the scenario was changed while it was in use; start again"
    assert not (tmp_path / "cache").exists()
