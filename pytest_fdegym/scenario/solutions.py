"""Laying a solution over a workspace: what it is based on first, then what it takes away, then its own files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_fdegym.errors import ScenarioError

from .fill import render_tree
from .scenario import Scenario, Solution

MANIFEST = "manifest.yaml"


def chain(solutions: Mapping[str, Solution], solution: Solution) -> tuple[Solution, ...]:
    """`solution` and what it is based on, the base first. The loader has refused cycles and unknown bases."""
    found = [solution]
    while (base := found[0].manifest.based_on) is not None:
        found.insert(0, solutions[base])
    return tuple(found)


def lay(scenario: Scenario, solution: Solution, workspace: Path, params: Mapping[str, Any], public: Mapping[str, Any]) -> tuple[Path, ...]:
    """Lay `solution` over a built workspace.

    Returns the scripts that the caller has to run in the workspace afterwards, in this order (nearly always none). What a base is granted
    is not inherited: sign-offs and facts are those of `solution`'s own manifest. Raises `ScenarioError` where `remove` names what the
    workspace does not hold, or a template cannot be filled in.
    """
    scripts: list[Path] = []
    for part in chain(scenario.solutions, solution):
        for index, name in enumerate(part.manifest.remove):
            _remove(part, index, workspace / name)
        script = part.manifest.script
        render_tree(part.folder, workspace, params, public, skip=(MANIFEST, *([script] if script else [])))
        if script:
            scripts.append(part.folder / script)
    return tuple(scripts)


def _remove(solution: Solution, index: int, path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()
    else:
        name = solution.manifest.remove[index]
        raise ScenarioError(str(solution.source.problem(("remove", index), f"{name!r} is not in the workspace, so it cannot be removed")))
