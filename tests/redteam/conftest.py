"""A planted project for the attacks, and the tables at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.sandbox.choose import choose
from tests.redteam.project import place, planted
from tests.redteam.support import Ground, ground
from tests.redteam.tables import of_attacks, of_strategies
from tests.sandbox.people import skip_if_lacking


@pytest.fixture(scope="module", params=["auto", pytest.param("landlock", marks=pytest.mark.slow)])
def confining(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox of this machine that confines."""
    try:
        return choose(request.param)
    except SandboxUnavailable as refusal:
        skip_if_lacking(str(refusal))
        raise


@pytest.fixture(scope="module")
def arena(confining: Sandbox) -> Iterator[Ground]:
    """A session in a planted project."""
    with place() as root, planted(root) as project, ground(project, confining) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What came of the attacks and of the scenarios' strategies."""
    properties = [
        (str(key), value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for key, value in getattr(report, "user_properties", ())
    ]
    for title, lines in (("attacks on the grader", of_attacks(properties)), ("strategies of the scenarios", of_strategies(properties))):
        for number, line in enumerate(lines):
            if number == 0:
                terminalreporter.section(title)
            terminalreporter.write_line(line)
