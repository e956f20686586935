"""The pytest plugin: registers options, and everything else only when one of them is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fdegym.pytest_side import hookspecs, options

_DATA_FOLDERS = re.compile(r"site(\.v[0-9]+)?|solutions")


def pytest_addoption(parser: pytest.Parser) -> None:
    options.register(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    # Always, so that a conftest.py that listens to a run does not break sessions without one.
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("help", default=False) or config.getoption("version", default=0):
        return
    if options.value(config, "fde_agent") or options.value(config, "fde_admission"):
        from pytest_fdegym.pytest_side.activation import activate  # noqa: PLC0415  (an ordinary session must not pay for it)

        activate(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A customer's files and a scenario's solutions are data, whatever their names are; unless somebody names them."""
    if not _DATA_FOLDERS.fullmatch(collection_path.name) or not (collection_path.parent / "scenario.yaml").is_file():
        return None
    start = config.invocation_params.dir
    named = ((start / argument.partition("::")[0]).absolute() for argument in config.args)
    return None if any(path.is_relative_to(collection_path) for path in named) else True
