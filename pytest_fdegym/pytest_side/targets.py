"""Which scenario folders a session collects, and under which paths pytest is told of them. Knows files, not pytest."""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SCENARIO_FILE = "scenario.yaml"
_COMPANIONS = ("people.yaml", "world.py", "briefs", "site")


def is_scenario(folder: Path) -> bool:
    """Whether `folder` is a scenario's: scenario.yaml with at least one of its companions, as other tools use that name too."""
    # Not pathlib's tests, which raise where a path is too long to be looked at.
    return os.path.isfile(folder / SCENARIO_FILE) and any(os.path.exists(folder / name) for name in _COMPANIONS)


class Surroundings:
    """Tells what lies inside of a scenario; remembers what it looked at."""

    def __init__(self) -> None:
        self._is_scenario = functools.cache(is_scenario)

    def are_data(self, path: Path) -> bool:
        """Whether `path` is part of a scenario's folder and not its scenario.yaml: the customer's files, solutions, world.py."""
        if path.name == SCENARIO_FILE and self._is_scenario(path.parent):
            return False
        return any(self._is_scenario(parent) for parent in path.parents)


def find_scenarios(root: Path, norecurse: Sequence[str] = ()) -> list[Path]:
    """The scenario folders at or below `root`, sorted; folders that match `norecurse` (as in pytest's norecursedirs) and virtual
    environments are passed by, links are not followed."""
    found = []
    for name, folders, _ in os.walk(root):
        here = Path(name)
        if is_scenario(here):
            found.append(here)
            folders.clear()
        else:
            folders[:] = [each for each in folders if not _passed_by(here / each, norecurse)]
    return sorted(found)


def _passed_by(folder: Path, norecurse: Sequence[str]) -> bool:
    if folder.name == "__pycache__" or os.path.isfile(folder / "pyvenv.cfg"):
        return True
    for pattern in norecurse:
        if os.sep in pattern:
            matches = fnmatch.fnmatch(str(folder), pattern if pattern.startswith(os.sep) else f"*{os.sep}{pattern}")
        else:
            matches = fnmatch.fnmatch(folder.name, pattern)
        if matches:
            return True
    return False


@dataclass(frozen=True)
class Targets:
    """What pytest is to collect."""

    arguments: tuple[str, ...]
    scenarios: frozenset[Path] = frozenset()
    pruned: tuple[Path, ...] = ()
    """Folders below which nothing but `scenarios` is looked at."""
    selected: tuple[str, ...] = ()
    """Node ids, or beginnings of them, to which the scenarios outside of the rootdir are narrowed; all when empty."""

    def excludes(self, path: Path) -> bool:
        """Whether `path` lies below a pruned folder, and not on the way to a scenario."""
        if path in self._on_the_way:
            return False
        return any(path == folder or folder in path.parents for folder in self.pruned)

    @functools.cached_property
    def _on_the_way(self) -> frozenset[Path]:
        return frozenset(path for each in self.scenarios for path in (each / SCENARIO_FILE, each, *each.parents))


@dataclass(frozen=True)
class TaskFolder:
    """A folder of scenario folders, and the scenarios in it."""

    folder: Path
    scenarios: tuple[Path, ...] = field(default=())

    @property
    def base(self) -> Path:
        """What ids of its tasks start from, so that they read ``tasks/oil_npt/scenario.yaml``."""
        return self.folder.parent

    @classmethod
    def of(cls, folder: Path, norecurse: Sequence[str] = ()) -> TaskFolder:
        """Look into `folder`, which may be a scenario's folder itself."""
        absolute = Path(os.path.abspath(folder))
        return cls(absolute.parent if is_scenario(absolute) else absolute, tuple(find_scenarios(absolute, norecurse)))


def all_of(folders: Iterable[TaskFolder], own: Iterable[Path], rootdir: Path) -> Targets:
    """Everything: the tasks in `folders`, and the scenarios of the user's `own` that are not among them."""
    arguments: dict[str, None] = {}
    scenarios: dict[Path, Path] = {}
    for folder in folders:
        for scenario in folder.scenarios:
            if scenarios.setdefault(scenario.resolve(), scenario) == scenario:
                arguments[str(scenario if rootdir in scenario.parents else folder.base)] = None
    for scenario in own:
        if scenarios.setdefault(scenario.resolve(), scenario) == scenario:
            arguments[str(scenario)] = None
    # A file outside of all given paths would lose its id, so folders are passed, and whatever else is in them is pruned.
    # No folder inside of another: pytest 8.0 then loses what is in both.
    outermost = tuple(each for each in arguments if not any(other in map(str, Path(each).parents) for other in arguments))
    return Targets(outermost, frozenset(scenarios.values()), pruned=(Path(os.sep),))


def named(arguments: Sequence[str], start: Path, folders: Iterable[TaskFolder]) -> Targets:
    """What the user named. Paths (and node ids) that do not exist below `start` but do in a task folder mean the task there, so that an
    id can be copied from the output."""
    result: dict[str, None] = {}
    scenarios: set[Path] = set()
    bases: set[Path] = set()
    selected: list[str] = []
    for argument in arguments:
        name = argument.partition("::")[0]
        folder = None if (start / name).exists() else next((each for each in folders if (each.base / name).exists()), None)
        path = None if folder is None else folder.base / name
        inside = [] if folder is None or path is None else [s for s in folder.scenarios if path in (s, *s.parents, s / SCENARIO_FILE)]
        if folder is None or not inside:
            result[argument] = None
            continue
        result[str(folder.base)] = None
        bases.add(folder.base)
        scenarios.update(inside)
        selected.append(argument)
    return Targets(tuple(result), frozenset(scenarios), tuple(sorted(bases)), tuple(selected))


def selects(selected: Sequence[str], nodeid: str) -> bool:
    """Whether one of `selected` is `nodeid` or a node above it."""
    return any(nodeid == prefix or nodeid.startswith((f"{prefix}::", f"{prefix.rstrip('/')}/", f"{prefix}[")) for prefix in selected)
