"""The templates in an author's texts and files: one sandboxed jinja2 environment without chance, and errors with the author's line.

A template names the scenario's parameters and ``world`` (the public values that ``prepare`` and ``build`` planted).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from datetime import date, datetime, time
from types import TracebackType
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pytest_fdegym.errors import nearest

WORLD = "world"
_MARKS = ("{{", "{%", "{#")
_FILE_NAME = "<template>"


class TemplateProblem(Exception):
    """A template is wrong; `line` counts from 1 within the text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class _Environment(ImmutableSandboxedEnvironment):
    """Keys before methods: ``world.items`` is the planted value `items`, not the dict's method."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def _make_environment() -> _Environment:
    environment = _Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    environment.globals = {"range": environment.globals["range"]}
    del environment.filters["random"]  # the same world gives the same texts
    return environment


_ENVIRONMENT = _make_environment()


def is_template(text: str) -> bool:
    """Whether `text` holds anything to be filled in."""
    return any(mark in text for mark in _MARKS)


def check(text: str, names: Set[str]) -> Iterator[TemplateProblem]:
    """Yield what is wrong with a template that may use `names` and ``world``, without filling it in."""
    if not is_template(text):
        return
    try:
        tree = _ENVIRONMENT.parse(text)
        undeclared = meta.find_undeclared_variables(tree) - set(names) - {WORLD} - set(_ENVIRONMENT.globals)
    except jinja2.TemplateSyntaxError as error:
        yield TemplateProblem(error.lineno, f"the template cannot be read: {error.message}")
        return
    except RecursionError:
        yield _too_deep()
        return
    for name in sorted(undeclared):
        line = next((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), 1)
        known = ", ".join([*sorted(names), WORLD])
        yield TemplateProblem(line, f"{name!r} is not defined.{nearest(name, [*names, WORLD])} Known: {known}.")


def render(text: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> str:
    """Fill in a text. Raises `TemplateProblem`."""
    if not is_template(text):
        return text
    try:
        return _ENVIRONMENT.from_string(text).render({**params, WORLD: public})
    except jinja2.TemplateSyntaxError as error:
        raise TemplateProblem(error.lineno, f"the template cannot be read: {error.message}") from None
    except jinja2.UndefinedError as error:
        raise TemplateProblem(_line_of(error), _undefined(error, text, public)) from None
    except Exception as error:  # a filter or an operator that the value does not suit: the author's to mend
        raise TemplateProblem(_line_of(error), f"the template cannot be filled in: {type(error).__name__}: {error}") from None


def evaluate(text: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> Any:
    """The value of a text that is one ``{{ expression }}``, kept as it is (a number, a list); any other text is filled in."""
    expression = _single_expression(text)
    if expression is None:
        return render(text, params, public)
    try:
        value = _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)(**{**params, WORLD: public})
        if isinstance(value, jinja2.Undefined):
            str(value)  # raises for StrictUndefined, with jinja's own explanation
    except jinja2.UndefinedError as error:
        raise TemplateProblem(1, _undefined(error, text, public)) from None
    except Exception as error:  # see render
        raise TemplateProblem(1, f"the template cannot be filled in: {type(error).__name__}: {error}") from None
    return plain(value)


def plain(value: Any) -> Any:
    """Sets and generators as lists in a fixed order; anything else as it is."""
    if isinstance(value, Set):
        return sorted(value, key=lambda each: (type(each).__name__, str(each)))
    if value is None or isinstance(value, str | int | float | bool | list | tuple | Mapping | datetime | date | time):
        return value
    return list(value) if hasattr(value, "__iter__") else value


def _too_deep() -> TemplateProblem:
    return TemplateProblem(1, "the template cannot be read: it is nested too deeply")


def _single_expression(text: str) -> str | None:
    found = re.fullmatch(r"\s*\{\{[-+]?(.*?)[-+]?\}\}\s*", text, re.DOTALL)
    if found is None:
        return None
    try:
        body = _ENVIRONMENT.parse(text.strip()).body
    except jinja2.TemplateSyntaxError as error:
        raise TemplateProblem(error.lineno, f"the template cannot be read: {error.message}") from None
    except RecursionError:
        raise _too_deep() from None
    single = len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1
    return found.group(1) if single else None


def _undefined(error: jinja2.UndefinedError, text: str, public: Mapping[str, Any]) -> str:
    """Name the value that prepare and build did not plant; jinja's own words where it is something else."""
    for node in _ENVIRONMENT.parse(text).find_all(nodes.Getattr):
        attribute = node.attr
        if isinstance(node.node, nodes.Name) and node.node.name == WORLD and attribute not in public:
            known = ", ".join(sorted(public)) or "none"
            return f"'world.{attribute}' is not defined: neither prepare nor build planted it.{nearest(attribute, public)} Known: {known}."
    return f"the template cannot be filled in: {error.message}"


def _line_of(error: Exception) -> int:
    """The template's line: jinja rewrites tracebacks so that its frames look like Python's."""
    line = 1
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in (_FILE_NAME, "<unknown>"):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
