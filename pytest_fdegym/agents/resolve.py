"""What ``--fde-agent`` means: reads the value, and loads what it names. Knows nothing of pytest."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import re
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from pytest_fdegym.errors import AgentNotFound, UsageError, nearest

ENTRY_POINT_GROUP = "pytest_fdegym.agents"
BUILT_IN = ("do-nothing", "literal", "reference", "expert")
PREFIXES = ("builtin", "solution", "entrypoint", "fixture", "cmd")
DEFAULT_CALLABLE = "agent"

Kind = Literal["builtin", "entrypoint", "module", "file", "command", "fixture"]
Agent = Callable[[Any], Any]
Installed = Mapping[str, Sequence[EntryPoint]]
T = TypeVar("T")

_FILE = re.compile(r"(?P<path>.+\.py)(?::(?P<callable>[^:/]+))?")
_MODULE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<callable>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


@dataclass(frozen=True)
class Reference:
    """What a value of --fde-agent refers to.

    `target` is the name of the built-in (or ``solution:NAME``), of the entry point or of the fixture, the module's or the file's path,
    or the shell command; `callable` is what is wanted of the module or file, None for the default.
    """

    text: str
    kind: Kind
    target: str
    callable: str | None = None

    @property
    def name(self) -> str:
        """How the agent is called in records."""
        return self.target if self.kind in ("builtin", "entrypoint", "fixture") else self.text

    @property
    def may_be_a_fixture_too(self) -> bool:
        """Whether a fixture could have the same name; only pytest can find out."""
        return self.kind in ("builtin", "entrypoint") and self.text == self.target and self.text.isidentifier()


def installed_agents() -> Installed:
    """The entry points of the group ``pytest_fdegym.agents``, by name."""
    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        found[entry_point.name].append(entry_point)
    return found


def parse(text: str, installed: Installed) -> Reference:
    """Say what `text` refers to, without loading it.

    An unprefixed name that is nothing else is taken for a fixture's. Raises AgentNotFound for what can be no agent, naming what there
    is and the nearest match, and UsageError for a name that could be two things.
    """
    prefix, colon, rest = text.partition(":")
    if colon and prefix in PREFIXES:
        return _prefixed(text, prefix, rest, installed)
    if match := _FILE.fullmatch(text):
        return Reference(text, "file", match["path"], match["callable"])
    if match := _MODULE.fullmatch(text):
        return Reference(text, "module", match["module"], match["callable"])
    if text in BUILT_IN and text in installed:
        raise UsageError(
            f"--fde-agent={text} could be two things: the built-in {text!r}, and the agent of that name that "
            f"{_origins(installed[text])} installed. Say builtin:{text} or entrypoint:{text}."
        )
    if text in BUILT_IN:
        return Reference(text, "builtin", text)
    if text in installed:
        return _entry_point(text, text, installed)
    if text.isidentifier():
        return Reference(text, "fixture", text)
    raise AgentNotFound(
        f"--fde-agent={text} is no agent.{nearest(text, (*BUILT_IN, *installed))} {what_there_is(installed)} A name of these is accepted, "
        "or solution:NAME, package.module:callable, path/to/agent.py[:callable], 'cmd:SHELL COMMAND', or a fixture's name."
    )


def what_there_is(installed: Installed) -> str:
    """``Built in: do-nothing, ... Installed: none.``"""
    return f"Built in: {', '.join(BUILT_IN)}. Installed: {', '.join(sorted(installed)) or 'none'}."


def _prefixed(text: str, prefix: str, rest: str, installed: Installed) -> Reference:
    if not rest.strip():
        raise AgentNotFound(f"--fde-agent={text}: something is expected after {prefix}:")
    if prefix == "cmd":
        return Reference(text, "command", rest)
    if prefix == "solution":
        return Reference(text, "builtin", text)
    if prefix == "fixture":
        if not rest.isidentifier():
            raise AgentNotFound(f"--fde-agent={text}: {rest!r} cannot be the name of a fixture.")
        return Reference(text, "fixture", rest)
    if prefix == "builtin":
        if rest not in BUILT_IN:
            raise AgentNotFound(f"--fde-agent={text}: there is no such built-in.{nearest(rest, BUILT_IN)} Built in: {', '.join(BUILT_IN)}.")
        return Reference(text, "builtin", rest)
    return _entry_point(text, rest, installed)


def _entry_point(text: str, name: str, installed: Installed) -> Reference:
    if name not in installed:
        known = ", ".join(sorted(installed)) or "none"
        raise AgentNotFound(f"--fde-agent={text}: no such agent is installed.{nearest(name, installed)} Installed: {known}.")
    if len(installed[name]) > 1:
        raise UsageError(f"--fde-agent={text} could be two things: {_origins(installed[name])} both installed an agent of that name.")
    return Reference(text, "entrypoint", name)


def _origins(found: Sequence[EntryPoint]) -> str:
    return " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))


def load(reference: Reference, directory: Path, options: Mapping[str, str], installed: Installed) -> Agent:
    """Load a module, file or entry point and return the agent: a callable that takes an Engagement.

    `directory` is what a relative path starts from; modules are looked for there too, after all other places. A class is instantiated
    with the options, a callable gets those it names as keyword arguments. Raises AgentNotFound, with the agent's own traceback if its
    code raised, and UsageError for options that it does not take.
    """
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
    return AgentNotFound(f"--fde-agent={reference.text}: {doing} failed\n{_own_traceback(error)}")


def _own_traceback(error: BaseException) -> str:
    """The traceback from the first frame that is neither ours nor the import system's."""
    kept = error.__traceback__
    while kept is not None:
        name = kept.tb_frame.f_globals.get("__name__", "")
        if name != __name__ and name.partition(".")[0] != "importlib":
            break
        kept = kept.tb_next
    return "".join(traceback.format_exception(type(error), error, kept)).rstrip()


def with_options(found: object, options: Mapping[str, str], text: str) -> Agent:
    """Make an agent of what was found: a class becomes an instance, and options become keyword arguments.

    Raises AgentNotFound if it is not callable, and UsageError for options that it does not take or lacks.
    """
    if not callable(found):
        raise AgentNotFound(f"--fde-agent={text} is {_kind(found)}; an agent is a callable that takes an Engagement.")
    if not inspect.isclass(found):
        return _bind(found, options, text)
    _check(_accepted(found, skip=0), options, text)
    try:
        made = found(**options)
    except Exception as error:
        raise AgentNotFound(f"--fde-agent={text}: making an instance of {found.__name__} failed\n{_own_traceback(error)}") from None
    if not callable(made):
        raise AgentNotFound(
            f"--fde-agent={text} is the class {found.__name__}, which has no __call__; an agent is a callable that takes an Engagement."
        )
    return _bind(made, {}, text)


@dataclass(frozen=True)
class _Accepted:
    names: tuple[str, ...]
    required: tuple[str, ...]
    anything: bool
    """Whether there is a ``**kwargs``."""
    positional: int
    """How many arguments can be given by position."""


def _accepted(target: Callable[..., Any], *, skip: int) -> _Accepted:
    """What `target` takes by keyword, its first `skip` positional parameters aside."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):  # some callables written in C tell nothing
        return _Accepted((), (), False, skip)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    options = [p for p in positional[skip:] if p.kind == p.POSITIONAL_OR_KEYWORD] + [p for p in parameters if p.kind == p.KEYWORD_ONLY]
    return _Accepted(
        names=tuple(p.name for p in options),
        required=tuple(p.name for p in options if p.default is p.empty),
        anything=any(p.kind == p.VAR_KEYWORD for p in parameters),
        positional=skip if variadic else len(positional),
    )


def _check(accepted: _Accepted, options: Mapping[str, str], text: str) -> None:
    for name in options:
        if name not in accepted.names and not accepted.anything:
            takes = f"It takes: {', '.join(accepted.names)}." if accepted.names else "It takes none."
            raise UsageError(
                f"--fde-agent-opt {name}={options[name]}: the agent {text} has no such option.{nearest(name, accepted.names)} {takes}"
            )
    if missing := [name for name in accepted.required if name not in options]:
        raise UsageError(f"--fde-agent={text} needs {' '.join(f'--fde-agent-opt {name}=...' for name in missing)}")


def _bind(agent: Agent, options: Mapping[str, str], text: str) -> Agent:
    accepted = _accepted(agent, skip=1)
    if accepted.positional < 1:
        raise AgentNotFound(f"--fde-agent={text} takes no argument by position; an agent is a callable that takes an Engagement.")
    _check(accepted, options, text)
    return functools.partial(agent, **options) if options else agent


def _kind(value: object) -> str:
    return f"the module {value.__name__}" if isinstance(value, ModuleType) else f"a {type(value).__name__} ({value!r:.60})"
