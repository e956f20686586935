"""Hostile runs by the dozen in one session: when it is over, nothing of them is left on the machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fdegym.sandbox.base import Sandbox
from tests.redteam.catalogue import Attack
from tests.redteam.families import attacks
from tests.redteam.intact import State
from tests.redteam.project import BUNDLED, place, planted
from tests.redteam.support import ground

ALL = 200
SAMPLE = 10
KEPT_BY_SESSIONS = "files"
"""Records and KPIs are what sessions are for; that no attack changes them is looked at after each (test_attacks.py)."""


def drawn(count: int, own: bool) -> Sequence[tuple[Attack, str]]:
    """So many attacks, each on a scenario, the same ones every time; with `own` on scenarios of the tests' own only."""
    rng, known = random.Random(f"hostile runs, {count}"), [attack for attack in attacks().values() if not attack.hole]
    found = list[tuple[Attack, str]]()
    while len(found) < count:
        attack = rng.choice(known)
        scenario = attack.where if own else rng.choice((attack.where, *BUNDLED))
        if scenario not in attack.holes:
            found.append((attack, scenario))
    return found


def check(cases: Sequence[tuple[Attack, str]], sandbox: Sandbox) -> None:
    with place() as root, planted(root) as project:
        for _, scenario in cases:
            project.scenario(scenario)  # what is copied into the project is no leftover
        before = State.of(project)
        with ground(project, sandbox) as session:
            session.check_next = False
            for number, (attack, scenario) in enumerate(cases):
                session.check_next = number == len(cases) - 1
                seen = session.play(attack, scenario)
                if sandbox.name not in attack.open_in:
                    assert attack.gets_too_far(seen) == [], (number, attack.name, scenario, seen)
        after = State.of(project)
        assert before.changed(replace(after, **{KEPT_BY_SESSIONS: before.files})) == []


def test_a_sample(confining: Sandbox) -> None:
    check(drawn(SAMPLE, own=True), confining)


@pytest.mark.slow
def test_two_hundred(confining: Sandbox) -> None:
    check(drawn(ALL, own=False), confining)
