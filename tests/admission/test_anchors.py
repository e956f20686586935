"""Admission of the tiny scenario, as it is and with something wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.admission.actors import actor
from pytest_fdegym.admission.anchors import plan
from pytest_fdegym.admission.verdict import Verdict
from pytest_fdegym.errors import AgentNotFound
from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_scenario import edit, write_tiny_scenario


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("unused"), store=None) as settings:
        yield settings


def verdicts(folder: Path, settings: Settings, variant: str = "v1", seeds: tuple[int, ...] = (1, 2)) -> dict[str, Verdict]:
    return {check.name: check.run(settings, seeds) for check in plan(load(folder), variant)}


def test_the_tiny_scenario_is_admitted(tmp_path: Path, settings: Settings) -> None:
    found = verdicts(write_tiny_scenario(tmp_path / "tiny_post"), settings)
    assert {name: verdict.problems for name, verdict in found.items() if not verdict.passed} == {}
    assert list(found) == [
        "examples",
        "documents",
        "evidence",
        "canaries",
        "do_nothing",
        "reference",
        "expert",
        "literal",
        "bypass.edits_orders",
        "bypass.no_approval",
        "shortcut.all_letters",
        "ablation.F_LIMIT",
    ]
    assert found["ablation.F_LIMIT"].worth == pytest.approx(1 - (75 - 60) / 40)
    assert {name: verdict.warnings for name, verdict in found.items() if verdict.warnings} == {}
    assert [m.score for m in found["expert"].measurements] == [0.95, 0.95]


def test_a_variants_own_solutions_are_checked_there_only(tmp_path: Path, settings: Settings) -> None:
    found = verdicts(write_tiny_scenario(tmp_path / "tiny_post"), settings, "v2", seeds=(1,))
    assert found["shortcut.hard_coded"].measurements[0].uplift_adjusted == pytest.approx((80 - 40) / 60)
    assert found["shortcut.hard_coded"].passed


def test_a_shortcut_that_is_as_good_as_the_work_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(
        folder,
        "solutions/shortcuts/all_letters/system/shipping.py",
        'return "letter"',
        'return "letter" if int(order["id"][1:]) >= 0 else ""',
    )
    edit(folder, "world.py", "weights = list(range(5, 1001, 5))", "weights = list(range(5, 551, 5))")
    found = verdicts(folder, settings, seeds=(3,))
    assert found["shortcut.all_letters"].problems == ("seed 3: shortcuts/all_letters: U_adj 0.875; at most 0.8 is allowed",)


def test_a_bypass_that_pays_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, "world.py", "and not approved]", "and not approved and False]")
    assert verdicts(folder, settings, seeds=(1,))["bypass.no_approval"].problems == (
        "seed 1: bypasses/no_approval: U_adj 1.000; at most 0.05 is allowed",
    )


def test_a_key_fact_that_does_not_matter_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    (folder / "solutions/ablations/F_LIMIT/guess_250/system/limit.json").write_text("490\n")
    assert verdicts(folder, settings, seeds=(1,))["ablation.F_LIMIT"].problems == (
        "F_LIMIT is worth 0.025: the reference without it still reaches U_adj 0.975 on the worst seed; "
        "at least 0.05 is asked of a key fact",
        "worth.yaml has 0.62 for F_LIMIT, which is worth 0.03 on seed 1; --fde-update-worth corrects it",
    )


def test_a_reference_that_gains_too_little_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, "scenario.yaml", "minimum_gap: 20", "minimum_gap: 50")
    assert verdicts(folder, settings, seeds=(1,))["reference"].problems == (
        "seed 1: reference: gains 40 % over the system as found; scenario.yaml states at least 50",
    )


def test_an_expert_path_that_costs_too_much_fails(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, "people.yaml", "rate: 0.03", "rate: 0.3")
    assert verdicts(folder, settings, seeds=(1,))["expert"].problems == ("seed 1: expert: S 0.680; at least 0.85 is asked",)


def test_an_unknown_built_in_names_the_nearest() -> None:
    with pytest.raises(AgentNotFound) as refused:
        actor("do-nothin")
    assert str(refused.value) == (
        "there is no built-in agent 'do-nothin'. Did you mean 'do-nothing'? Built in: do-nothing, literal, reference, expert, solution:NAME"
    )
