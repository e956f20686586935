"""Every attack on every scenario: it gets nothing, it adds nothing, and the harness is as it was.

A sample of the attacks runs by default, on a scenario of the tests' own; all of them on all scenarios are ``slow``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.redteam.catalogue import Attack, Seen
from tests.redteam.families import attacks
from tests.redteam.project import BUNDLED
from tests.redteam.support import Ground

ATTACKS = attacks()
ONE_OF = 8
"""Of so many attacks one is in the default selection."""


def _cases() -> Sequence[object]:
    cases = []
    for number, (name, attack) in enumerate(ATTACKS.items()):
        for scenario in (attack.where, *BUNDLED):
            often = scenario == attack.where and number % ONE_OF == 0
            marks = [] if often else [pytest.mark.slow]
            hole = attack.hole or attack.holes.get(scenario)
            marks += [pytest.mark.xfail(strict=True, reason=hole)] if hole else []
            cases.append(pytest.param(name, scenario, id=f"{name}-{scenario}", marks=marks))
    return cases


@pytest.mark.parametrize(("name", "scenario"), _cases())
def test_nothing_comes_of_it(name: str, scenario: str, arena: Ground, record_property: Callable[[str, object], None]) -> None:
    attack = ATTACKS[name]
    seen = arena.play(attack, scenario)
    record_property(f"redteam.{name}.scenario", scenario)
    record_property(f"redteam.{name}.effect", _effect(attack, seen))
    if arena.settings.sandbox.name in attack.open_in:
        return
    assert attack.gets_too_far(seen) == [], seen
    assert seen.ran or not (attack.code or attack.deliverer), seen  # or it would have been stopped by a mistake of its own


def _effect(attack: Attack, seen: Seen) -> str:
    return f"{seen.added if attack.goal == 'adds' else seen.scored or 0.0}"


def test_there_are_enough_of_them() -> None:
    assert len({(attack.mechanism, attack.asset) for attack in ATTACKS.values()}) >= 80


def test_each_says_what_it_tries_and_what_must_happen() -> None:
    for attack in ATTACKS.values():
        assert attack.tries, attack.name
        assert attack.must, attack.name
        assert attack.code or attack.files or attack.work or attack.deliverer, attack.name
