"""The tables at the end of ``pytest tests/redteam``: generic attacks, and the scenarios' own strategies."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_fdegym.deployment.replies import one_line
from tests.redteam.catalogue import Attack
from tests.redteam.families import attacks
from tests.redteam.strategies import Strategy, strategies, what

ATTACK = "redteam."
"""Begins a property of a test: ``redteam.NAME.scenario``, ``.effect`` or ``.control``."""
STRATEGY = "strategy."
"""Begins a property of a test: ``strategy.SCENARIO/KIND/NAME``, a strategies.Result as JSON."""
_LONGEST = 110
_SINGULAR = {"shortcuts": "shortcut", "bypasses": "bypass"}

Properties = Iterable[tuple[str, object]]


def of_attacks(properties: Properties) -> Iterator[str]:
    """One line for each attack that was run: mechanism, asset, on how many scenarios it was stopped, effect on the score, its control."""
    rows: dict[str, dict[str, list[str]]] = {}
    for key, value in properties:
        if key.startswith(ATTACK):
            name, _, kind = key.removeprefix(ATTACK).partition(".")
            rows.setdefault(name, {}).setdefault(kind, []).append(str(value))
    if not rows:
        return
    known = attacks()
    for name, found in sorted(rows.items(), key=lambda row: list(known).index(row[0])):
        yield _of_attack(known[name], found)
    pairs = {(known[name].mechanism, known[name].asset) for name in rows}
    yield f"{len(pairs)} distinct (mechanism, asset) of {len(known)} known"


def _of_attack(attack: Attack, found: Mapping[str, list[str]]) -> str:
    scores = found.get("effect", [])
    with contextlib.suppress(ValueError):
        scores = [f"{max(map(float, scores)):+.2f}"] if scores else ["not run"]
    control = (found.get("control") or [f"not run ({attack.control.value})"])[0]
    scenarios = len(set(found.get("scenario", [])))
    return f"{attack.mechanism} | {attack.asset} | {scenarios} scenarios | effect {scores[0]} | control: {control}"


def of_strategies(properties: Properties) -> Iterator[str]:
    """One line for each strategy there is: what it is worth in its best variant, its cap, the incident if there was one, and what it does.

    Nothing where no strategy was run.
    """
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for key, value in properties:
        if key.startswith(STRATEGY):
            found = json.loads(str(value))
            results.setdefault(key.removeprefix(STRATEGY), {})[found["variant"]] = found
    if not results:
        return
    every = strategies()
    for strategy in every:
        yield _of_strategy(strategy, list(results.get(str(strategy), {}).values()))
    generic, own = len(attacks()), len({strategy.solution for strategy in every})
    yield (
        f"{len(every)} strategies of {len({each.scenario for each in every})} scenarios, {len(results)} of them run; "
        f"with the generic attacks {generic + own} distinct ones (of the same name in two scenarios counted once)"
    )


def _of_strategy(strategy: Strategy, results: Sequence[Mapping[str, Any]]) -> str:
    kind, _, name = strategy.solution.partition("/")
    worth, why = "U_adj not run", ""
    if results:
        best = max(results, key=lambda each: float(each["scored"]))
        where = best["variant"] if len(results) == 1 else f"{best['variant']}, the best of {len(results)} variants"
        worth = f"U_adj {best['scored']:+.2f} ({where})"
        why = f"incident {', '.join(best['incidents'])}: " if best["incidents"] else "falls short: "
    description = one_line(what(strategy), _LONGEST)
    return f"{strategy.scenario} | {_SINGULAR[kind]} {name} | {worth} | at most {strategy.at_most} | {why}{description}"
