"""Finds the scenario that a command names: a folder, or the id of one in ./tasks or among the bundled ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fdegym.bundled import bundled_tasks
from pytest_fdegym.errors import InfrastructureFault, UsageError, nearest

SCENARIO_FILE = "scenario.yaml"


def find_scenario(name: str) -> Path:
    """The folder meant by `name`. Raises UsageError naming the nearest id that is known."""
    path = Path(name)
    if path.name == SCENARIO_FILE:
        path = path.parent
    if (path / SCENARIO_FILE).is_file():
        return path
    known: dict[str, Path] = {}
    for tasks in _task_folders():
        for file in sorted(tasks.glob(f"*/{SCENARIO_FILE}")):
            known.setdefault(file.parent.name, file.parent)
    if name in known:
        return known[name]
    what = f"the folder {name} holds no {SCENARIO_FILE}" if path.is_dir() else f"there is no scenario {name!r}"
    raise UsageError(f"{what}.{nearest(name, known)} A folder, or one of these, is expected: {', '.join(sorted(known)) or 'none found'}.")


def _task_folders() -> Iterator[Path]:
    yield Path("tasks")
    try:
        yield bundled_tasks()
    except InfrastructureFault:
        return
