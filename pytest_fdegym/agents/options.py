"""Makes an agent of what was found: a class becomes an instance, ``--fde-agent-opt`` values become keyword arguments."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pytest_fdegym.agents.resolve import Agent
from pytest_fdegym.errors import AgentNotFound, UsageError, nearest


def with_options(found: object, options: Mapping[str, str], text: str) -> Agent:
    """Make an agent of what was found: a class becomes an instance, and options become keyword arguments.

    Raises AgentNotFound if it is not callable, and UsageError for options that it does not take or lacks.
    """
    if not callable(found):
        raise AgentNotFound(f"--fde-agent={text} is {described(found)}; an agent is a callable that takes an Engagement.")
    if not inspect.isclass(found):
        return _bind(found, options, text)
    _check(_accepted(found, skip=0), options, text)
    try:
        made = found(**options)
    except Exception as error:
        raise AgentNotFound(f"--fde-agent={text}: making an instance of {found.__name__} failed\n{own_traceback(error)}") from None
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
    if accepted.positional >= 1:
        _check(accepted, options, text)
    bound = functools.partial(agent, **options) if options and accepted.positional >= 1 else agent
    if (refusal := takes_no_engagement(bound)) is not None:
        raise AgentNotFound(f"--fde-agent={text} {refusal}")
    return bound


def takes_no_engagement(agent: Agent) -> str | None:
    """Why `agent` cannot be called with an Engagement alone; None where it can, or where it does not tell what it takes."""
    try:
        signature = inspect.signature(agent)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(object())
    except TypeError:
        return f"does not take an Engagement: it would be called with that alone, and its parameters are {signature}."
    return None


def described(value: object) -> str:
    """What somebody took for an agent: ``an int (3)``, ``the module os``, ``None``."""
    if value is None:
        return "None"
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind} ({value!r:.60})"


def own_traceback(error: BaseException) -> str:
    """The traceback from the first frame that is neither ours nor the import system's."""
    kept = error.__traceback__
    while kept is not None:
        name = kept.tb_frame.f_globals.get("__name__", "")
        if not name.startswith("pytest_fdegym.") and name.partition(".")[0] != "importlib":
            break
        kept = kept.tb_next
    return "".join(traceback.format_exception(type(error), error, kept)).rstrip()
