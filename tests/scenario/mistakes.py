"""What `load` says about a folder."""

from __future__ import annotations

from pathlib import Path

from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.problems import ScenarioProblems
from tests.support.tiny_scenario import edit

Edit = tuple[str, str, str]
"""File, the only place to be replaced, what stands there instead."""


def problems_of(folder: Path) -> list[str]:
    """The problems, one a line, without the line that counts them; none when the scenario is valid."""
    try:
        load(folder)
    except ScenarioProblems as error:
        count, *lines = str(error).splitlines()
        assert count == f"{len(lines)} problem{'s' * (len(lines) != 1)} in the scenario tiny_post:"
        return lines
    return []


def problems_after(folder: Path, *edits: Edit) -> list[str]:
    """The problems after some edits."""
    for name, old, new in edits:
        edit(folder, name, old, new)
    return problems_of(folder)
