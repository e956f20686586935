"""What an agent that is a command must not see of this machine, and what it must not write, as far as pytest's session knows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import pytest_fdegym
from pytest_fdegym.bundled import ARCHIVE, bundled_tasks, cache_folder
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.pytest_side.targets import find_scenarios, is_scenario

_PACKAGE = Path(pytest_fdegym.__file__).parent
_CACHES = ("XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "POETRY_CACHE_DIR")
"""Variables that say where package managers keep copies: this package, with its tasks, may be among them."""


def hidden_places(config: pytest.Config, plan: Plan, scenarios: Iterable[Path]) -> tuple[Path, ...]:
    """The folders and files that hold truth: tasks of every kind, the repositories they are in, records, caches and pytest's own folders.

    `scenarios` are the folders of those that were collected. The folders that runs will write in are made, for only what exists can be
    hidden.
    """
    for folder in (plan.results, cache_folder()):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    tasks = {*plan.tasks, *_beside(scenarios), *find_scenarios(config.rootpath, config.getini("norecursedirs")), *_bundled()}
    places = {*tasks, *_repositories(tasks), plan.results, cache_folder(), *_pytests_own(config)}
    places |= {*plan.reports, *([plan.baseline] if plan.baseline else [])}  # of an earlier session: they tell of its runs
    places |= {Path(os.environ[name]) for name in _CACHES if os.environ.get(name)}
    return tuple(sorted(place for place in places if place.is_absolute()))


def kept_places(config: pytest.Config) -> tuple[Path, ...]:
    """The user's project: whatever home it lies in, an agent must not change the tests that grade it."""
    return (config.rootpath, config.invocation_params.dir)


def _bundled() -> Iterator[Path]:
    yield _PACKAGE / ARCHIVE
    with contextlib.suppress(InfrastructureFault):
        tasks = bundled_tasks()
        # Of a checkout everything: its tests and its history tell as much as its tasks.
        yield tasks.parent if tasks.parent == _PACKAGE.parent else tasks


def _beside(scenarios: Iterable[Path]) -> Iterator[Path]:
    for folder in scenarios:
        yield folder
        with contextlib.suppress(OSError):
            yield from (each for each in folder.parent.iterdir() if is_scenario(each))


def _repositories(tasks: Iterable[Path]) -> Iterator[Path]:
    """The histories that scenarios are kept in."""
    for folder in tasks:
        for above in (folder, *folder.parents):
            repository = above / ".git"
            if repository.is_dir():
                yield repository
            elif repository.is_file():  # of a work tree or a submodule
                yield from _elsewhere(repository)


def _elsewhere(file: Path) -> Iterator[Path]:
    try:
        named = file.read_text(encoding="utf-8", errors="surrogateescape").partition("gitdir:")[2].strip()
        folder = (file.parent / named).resolve()
        yield folder
        common = folder / "commondir"
        if common.is_file():
            yield (folder / common.read_text(encoding="utf-8", errors="surrogateescape").strip()).resolve()
    except OSError:
        return


def _pytests_own(config: pytest.Config) -> Iterator[Path]:
    """Its cache, its temporary folders where they were put somewhere, and reports of earlier sessions."""
    with contextlib.suppress(ValueError):  # pytest without its cache
        yield config.rootpath / config.getini("cache_dir")
    given = [config.getoption(name, default=None) for name in ("basetemp", "xmlpath")]
    for path in (*given, os.environ.get("PYTEST_DEBUG_TEMPROOT")):
        if path:
            yield config.invocation_params.dir / path
