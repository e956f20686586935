"""What has to hold between the parts of a scenario, checked without running world.py."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fdegym.scenario.problems import Problem

from .code import world_problems
from .files import file_problems
from .material import Material
from .people import people_problems
from .reach import reach_problems
from .scenario_file import scenario_problems
from .solutions import solution_problems, solution_warnings

__all__ = ["Material", "problems_of", "warnings_of"]


def problems_of(material: Material) -> Iterator[Problem]:
    """Yield every mistake that lies between the parts; mistakes within one file's shape are `validation`'s."""
    yield from scenario_problems(material)
    misnamed = list(people_problems(material))
    yield from misnamed
    if material.complete and not misnamed:  # a fact that is misspelt would be missed once more wherever it is needed
        yield from reach_problems(material)
    yield from solution_problems(material)
    yield from file_problems(material)
    yield from world_problems(material)


def warnings_of(material: Material) -> Iterator[Problem]:
    """Yield what an author should look at, although the scenario can be used."""
    yield from solution_warnings(material)
