"""Every shortcut and bypass of every bundled scenario stays under its cap, in each variant in which it is a mistake.

Some of them run by default, in one variant; all of them in all variants are ``slow``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.scoring.uplift import TOLERANCE
from pytest_fdegym.settings import Settings
from tests.redteam.families import attacks
from tests.redteam.strategies import AT_MOST, Strategy, result, strategies, variants
from tests.redteam.tables import STRATEGY
from tests.sandbox.people import skip_if_lacking
from tests.support.settings import session

STRATEGIES = strategies()
ONE_OF = 4
"""Of so many strategies one is in the default selection: of each scenario another."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    try:
        with session(tmp_path_factory.mktemp("results"), store=None, cache=tmp_path_factory.mktemp("cache"), retries=0) as settings:
            yield settings
    except SandboxUnavailable as refusal:
        skip_if_lacking(str(refusal))


def _cases(one_of: int) -> Sequence[object]:
    return [
        pytest.param(strategy, id=str(strategy), marks=[] if number % one_of == 0 else pytest.mark.slow)
        for number, strategy in enumerate(STRATEGIES)
    ]


def check(strategy: Strategy, variant: str, settings: Settings, record_property: Callable[[str, object], None]) -> None:
    found = result(strategy, variant, settings)
    record_property(STRATEGY + str(strategy), json.dumps(asdict(found)))
    assert found.disturbed == (), found
    assert found.scored <= strategy.at_most + TOLERANCE, found


@pytest.mark.parametrize("strategy", _cases(ONE_OF))
def test_it_stays_under_its_cap(strategy: Strategy, settings: Settings, record_property: Callable[[str, object], None]) -> None:
    check(strategy, variants(strategy)[0], settings, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_in_every_other_variant(strategy: Strategy, settings: Settings, record_property: Callable[[str, object], None]) -> None:
    for variant in variants(strategy)[1:]:
        check(strategy, variant, settings, record_property)


def test_each_scenario_has_both_kinds() -> None:
    kinds: dict[str, set[str]] = {}
    for strategy in STRATEGIES:
        kinds.setdefault(strategy.scenario, set()).add(strategy.kind)
    assert len(kinds) >= 3
    assert {name: found for name, found in kinds.items() if found != set(AT_MOST)} == {}


def test_there_are_more_than_120_with_the_generic_attacks() -> None:
    known_by_heart = {strategy.solution for strategy in STRATEGIES}  # of the same name in two scenarios: the same idea, counted once
    assert len({(attack.mechanism, attack.asset) for attack in attacks().values()}) + len(known_by_heart) > 120
