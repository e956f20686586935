"""A planted project for the attacks, and the table at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.sandbox.choose import choose
from tests.redteam.catalogue import Attack
from tests.redteam.families import attacks
from tests.redteam.project import place, planted
from tests.redteam.support import Ground, ground
from tests.sandbox.people import skip_if_lacking


@pytest.fixture(scope="module", params=["auto", pytest.param("landlock", marks=pytest.mark.slow)])
def arena(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A session in a planted project, under each sandbox of this machine that confines."""
    try:
        sandbox = choose(request.param)
    except SandboxUnavailable as refusal:
        skip_if_lacking(str(refusal))
        raise
    with place() as root, planted(root) as project, ground(project, sandbox) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each attack: mechanism, asset, on how many scenarios it was stopped, effect on the score, and its control."""
    rows: dict[str, dict[str, list[str]]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, value in getattr(report, "user_properties", ()):
                if key.startswith("redteam."):
                    name, _, kind = key.removeprefix("redteam.").partition(".")
                    rows.setdefault(name, {}).setdefault(kind, []).append(str(value))
    if not rows:
        return
    terminalreporter.section("attacks on the grader")
    known = attacks()
    for name, found in sorted(rows.items(), key=lambda row: list(known).index(row[0])):
        terminalreporter.write_line(_line(known[name], found))
    pairs = {(known[name].mechanism, known[name].asset) for name in rows}
    terminalreporter.write_line(f"{len(pairs)} distinct (mechanism, asset) of {len(known)} known")


def _line(attack: Attack, found: dict[str, list[str]]) -> str:
    scores = found.get("effect", [])
    with contextlib.suppress(ValueError):
        scores = [f"{max(map(float, scores)):+.2f}"] if scores else ["not run"]
    control = (found.get("control") or [f"not run ({attack.control.value})"])[0]
    scenarios = len(set(found.get("scenario", [])))
    return f"{attack.mechanism} | {attack.asset} | {scenarios} scenarios | effect {scores[0]} | control: {control}"
