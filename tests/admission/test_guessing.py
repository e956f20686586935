"""What admission says of evidence gates: figures that are nearly guessed, phrases that are identifiers, refusals that answer themselves."""

from __future__ import annotations

from pathlib import Path

from pytest_fdegym.admission.lints import lints
from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario.loader import load
from tests.support.tiny_scenario import edit

GATE = '{number: "{{ world.overpaid }}", within: 0.02, near: order|parcel}'
HERE = "tiny_post/people.yaml:20: people.moss.topics.approval.evidence"


def warnings(folder: Path, settings: Settings, seeds: tuple[int, ...] = (1, 2)) -> tuple[str, ...]:
    (lint,) = [each for each in lints(load(folder), "v1") if each.name == "evidence"]
    verdict = lint.run(settings, seeds)
    assert verdict.passed
    return verdict.warnings


def test_a_figure_that_only_the_data_gives(tiny: Path, settings: Settings) -> None:
    assert warnings(tiny, settings) == ()


def test_a_tolerance_that_a_guess_meets(tiny: Path, settings: Settings) -> None:
    edit(tiny, "people.yaml", "within: 0.02", "within: 0.15")
    assert warnings(tiny, settings, (1,)) == (
        f"{HERE}.items.overpaid: who knows no more than the order of magnitude of 25 and names 4 figures in a message passes in 87% of "
        "cases; allow less tolerance or fewer figures",
    )


def test_many_figures_of_which_each_would_do(tiny: Path, settings: Settings) -> None:
    several = ", ".join(f"{{number: {number}, within: 0.03, near: order}}" for number in (22, 25, 18, 33, 14))
    edit(tiny, "people.yaml", GATE, f"{{any: [{several}]}}")
    (warning,) = warnings(tiny, settings)
    assert "beside 4 others that would do" in warning


def test_a_phrase_that_is_an_identifier(tiny: Path, settings: Settings) -> None:
    edit(tiny, "people.yaml", GATE, r"{phrase: '\btariff\s+(?:no\.?\s*)?(?:7|seven)\b'}")
    assert warnings(tiny, settings) == (
        f"{HERE}.items.overpaid: the phrase stands for the identifier 'tariff 7' and counts as that; say so with 'id', which knows other "
        "spellings, too",
    )


def test_a_refusal_that_says_what_is_asked_for(tiny: Path, settings: Settings) -> None:
    edit(tiny, "people.yaml", GATE, "{phrase: orders went as parcels}")
    (warning,) = warnings(tiny, settings)
    assert warning.endswith("people.moss.topics.approval.evidence.miss: the refusal itself, repeated, has in it all that is asked for")
