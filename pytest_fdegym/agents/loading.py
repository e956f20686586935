"""Loads the agent that a Reference names: a file's, a module's, an entry point's, or the five-tool agent. Knows nothing of pytest."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pytest_fdegym.agents.options import own_traceback, with_options
from pytest_fdegym.agents.resolve import FIVE_TOOLS, PREFIXES, Agent, Installed, Reference
from pytest_fdegym.errors import AgentNotFound, nearest

DEFAULT_CALLABLE = "agent"
T = TypeVar("T")


def load(reference: Reference, directory: Path, options: Mapping[str, str], installed: Installed) -> Agent:
    """Load a module, file or entry point and return the agent: a callable that takes an Engagement.

    `directory` is what a relative path starts from; modules are looked for there too, after all other places. A class is instantiated
    with the options, a callable gets those it names as keyword arguments. Raises AgentNotFound, with the agent's own traceback if its
    code raised, and UsageError for options that it does not take.
    """
    if reference.kind == "builtin" and reference.target == FIVE_TOOLS:
        from pytest_fdegym.agents.five_tools.built_in import five_tools  # noqa: PLC0415  (what it needs is an extra)

        return five_tools(options, reference.text, directory)
    if reference.kind == "file":
        found = _from_file(reference, directory)
    elif reference.kind == "module":
        found = _from_module(reference, directory)
    elif reference.kind == "entrypoint":
        (point,) = installed[reference.target]
        found = _guarded(reference, f"importing {point.value}", point.load)
    else:
        raise ValueError(f"nothing is to be loaded for {reference}")
    return with_options(found, options, reference.text)


def _from_file(reference: Reference, directory: Path) -> object:
    path = (directory / reference.target).absolute()
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")])
        raise AgentNotFound(f"--fde-agent={reference.text}: there is no file {path}.{near}")
    if (folder := str(path.parent)) not in sys.path:
        sys.path.insert(0, folder)  # as for a script, so that the agent finds its neighbours
    name = f"fde_agent_{path.stem}"
    module = importlib.util.module_from_spec(_spec(name, path))

    def execute() -> None:
        sys.modules[name] = module  # dataclasses and pickle look their module up there
        assert module.__spec__ is not None
        assert module.__spec__.loader is not None
        module.__spec__.loader.exec_module(module)

    _guarded(reference, f"importing {path}", execute)
    if reference.callable is not None:
        return _member(reference, module, reference.callable, str(path))
    return _only_callable(reference, module, path)


def _spec(name: str, path: Path) -> importlib.machinery.ModuleSpec:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    return spec


def _public_callables(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__
    ]


def _only_callable(reference: Reference, module: ModuleType, path: Path) -> object:
    if hasattr(module, DEFAULT_CALLABLE):
        return getattr(module, DEFAULT_CALLABLE)
    names = _public_callables(module)
    if len(names) == 1:
        return getattr(module, names[0])
    if not names:
        raise AgentNotFound(f"--fde-agent={reference.text}: {path} defines no callable; one that takes an Engagement is expected.")
    raise AgentNotFound(
        f"--fde-agent={reference.text}: {path} defines several callables and none is called {DEFAULT_CALLABLE!r}. "
        f"Say which: {', '.join(f'{reference.target}:{name}' for name in names)}."
    )


def _from_module(reference: Reference, directory: Path) -> object:
    if str(directory) not in sys.path:
        sys.path.append(str(directory))
    try:
        module = _guarded(reference, f"importing {reference.target}", lambda: importlib.import_module(reference.target))
    except _Missing as missing:
        prefix = reference.target.partition(".")[0]
        raise AgentNotFound(f"--fde-agent={reference.text}: {missing}.{nearest(prefix, PREFIXES)}") from None
    assert reference.callable is not None
    return _member(reference, module, reference.callable, reference.target)


def _member(reference: Reference, module: ModuleType, name: str, where: str) -> object:
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = _public_callables(module)
            listed = ", ".join(known) or "none"
            raise AgentNotFound(f"--fde-agent={reference.text}: {where} has no {name!r}.{nearest(name, known)} Callables there: {listed}.")
        value = getattr(value, part)
    return value


class _Missing(Exception):
    """The module that was named does not exist, as against one that it imports."""


def _guarded(reference: Reference, doing: str, action: Callable[[], T]) -> T:
    try:
        return action()
    except ModuleNotFoundError as error:
        if reference.kind == "module" and error.name and f"{reference.target}.".startswith(f"{error.name}."):
            raise _Missing(str(error)) from None
        raise _failed(reference, doing, error) from None
    except (Exception, SystemExit) as error:
        raise _failed(reference, doing, error) from None


def _failed(reference: Reference, doing: str, error: BaseException) -> AgentNotFound:
    return AgentNotFound(f"--fde-agent={reference.text}: {doing} failed\n{own_traceback(error)}")
