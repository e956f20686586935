"""worth.yaml: what admission measured of key facts; it changes no score."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.scenario.loader import load
from tests.scenario.mistakes import Edit, problems_after
from tests.support.tiny_scenario import edit, write_tiny_scenario

W = "worth.yaml"


def test_what_is_known_of_a_variants_key_facts(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    assert load(folder).worth_in("v2") == {"F_LIMIT": 0.75}
    (folder / W).unlink()
    assert load(folder).worth_in("v2") == {}


def test_a_fact_or_a_variant_that_is_gone_does_no_harm(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    edit(folder, W, "v1: {F_LIMIT: 0.62}", "v1: {F_GONE: 0.3, F_LIMIT: 0.62}\n  v9: {F_LIMIT: 1}")
    assert load(folder).worth_in("v1") == {"F_LIMIT": 0.62}


def test_it_is_no_part_of_the_digest(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    before = load(folder).digest("v1")
    edit(folder, W, "0.62", "0.7")
    assert load(folder).digest("v1") == before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ((W, "F_LIMIT: 0.62", "F_LIMIT: much"), "worth.yaml:2: worth.v1.F_LIMIT: 'much' (text) is not accepted; expected: a number"),
        (
            (W, "F_LIMIT: 0.62", "F_LIMIT: .nan"),
            "worth.yaml:2: worth.v1.F_LIMIT: nan (a number) is not accepted; expected: a finite number",
        ),
        ((W, "worth:\n", "worths:\n"), "worth.yaml:1: worths: unknown key. Did you mean 'worth'? Accepted: worth."),
    ],
)
def test_mistakes(tiny: Path, change: Edit, problem: str) -> None:
    assert f"tiny_post/{problem}" in problems_after(tiny, change)
