"""pydantic's errors turned into problems with a line: what was found, what is accepted, the nearest match.

A file with mistakes is still looked at as far as it goes: `validate` leaves out the smallest part that cannot be read and returns the
rest, so that mistakes elsewhere are found in the same pass.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pytest_fdegym.errors import nearest

from .problems import KeyPath, Problem
from .yaml_source import YamlSource

M = TypeVar("M", bound=BaseModel)

_PATTERNS = {
    r"^[A-Za-z][A-Za-z0-9_]*$": "a name of letters, digits and _ that begins with a letter",
    r"^v[1-9][0-9]*$": "v1, v2, ...",
    r"^[a-z][a-z0-9_]*$": "a name of small letters, digits and _ that begins with a letter",
    r"^[A-Za-z0-9_]+/[A-Za-z0-9_]+$": "person/topic",
    r"\{\{.*\}\}": "a text with {{ ... }}",
}
"""What the patterns of `model` mean."""

_EXPECTED = {
    "string_type": "text",
    "string_too_long": "a text of at most {max_length} characters",
    "mapping_type": "a mapping",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "less_than_equal": "at most {le:g}",
    "less_than": "less than {lt:g}",
    "greater_than_equal": "at least {ge:g}",
    "greater_than": "more than {gt:g}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""pydantic's kinds of error -> what is expected instead."""

_MOMENT = "a date and time (2025-03-04 08:00:00)"
_TIME_OF_DAY = "a time of day (08:00)"

_STAND_INS: Mapping[str, Any] = {
    "id": "unreadable",
    "kpi": {"name": "unreadable", "unit": "-", "minimum_gap": 1},
    "calendar": {"start": datetime(2025, 1, 1, 8)},
    "entry_points": {"unreadable": {"file": "unreadable", "function": "unreadable"}},
    "variants": {"v1": {"title": "unreadable"}},
    "parameters": {},
    "incidents": {},
    "facts": {},
    "people": {"unreadable": {"name": "-", "role": "-", "directory": "-", "rate": 0, "patience": 1, "fallback": "-", "topics": {}}},
    "expert": [{"wait_until": datetime(2025, 1, 1, 8)}],
}
"""For required keys of a file that cannot be read, so that the rest of the file can be; texts get the word itself."""


@dataclass
class Validated(Generic[M]):
    """A model as far as it could be read, what was wrong, and which key paths it therefore lacks."""

    model: M | None
    problems: list[Problem]
    dropped: list[KeyPath]


def validate(kind: type[M], source: YamlSource) -> Validated[M]:
    """Validate `source` against the model `kind`; never raises for what an author wrote."""
    if not isinstance(source.data, dict):
        found = "is empty" if source.data is None else f"holds {describe(source.data)}"
        return Validated(None, [source.problem((), f"{found}; keys are expected")], [])
    data = copy.deepcopy(source.data)
    told: list[Problem] | None = None
    dropped: list[KeyPath] = []
    while True:
        wrong, model = _pass(kind, data, source)
        if told is None:
            told = [problem for _, problem in wrong]  # pydantic tells all at once; what a later pass finds comes from what was left out
        if not wrong:
            return Validated(model, told, dropped)
        for path in dict.fromkeys(path for path, _ in wrong):
            gone = _droppable(kind, path) if path else ()
            while gone and gone in dropped:
                gone = _droppable(kind, gone[:-1]) if len(gone) > 1 else ()
            if not gone:
                return Validated(None, told, dropped)
            _leave_out(kind, data, gone)
            dropped.append(gone)


def _pass(kind: type[M], data: Any, source: YamlSource) -> tuple[list[tuple[KeyPath, Problem]], M | None]:
    try:
        model = kind.model_validate(data)
    except ValidationError as error:
        return _problems_of(error, kind, data, source), None
    return list(_silent_conversions(data, model, source)), model


def describe(value: Any) -> str:
    """What was found, for a message: ``'x' (text)``, ``true (YAML reads yes, no, on and off so)``, ``a list``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"{str(value).lower()} (YAML reads yes, no, on and off so; put a word in quotes)"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...") + " (text)"
    if isinstance(value, int | float):
        return f"{value!r} (a number)"
    if isinstance(value, date):
        return f"{value} ({'a date and time' if isinstance(value, datetime) else 'a date'})"
    if isinstance(value, dict | list):
        return f"{'a mapping' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return type(value).__name__


def pattern_error(pattern: str) -> str | None:
    """Why `pattern` is no regular expression, or one that later versions of Python will read in another way; None when it is fine."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, Warning) as error:
        return str(error)
    return None


def model_at(kind: Any, path: KeyPath) -> type[BaseModel] | None:
    """The model class that describes the value at `path` of a file described by `kind`."""
    found = _models_in(_annotation_at(kind, path))
    return found[0] if found else None


def _annotation_at(kind: Any, path: KeyPath) -> Any:
    for part in path:
        kind = _step(kind, part)
    return kind


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Union, UnionType, Annotated):
        return [each for arg in get_args(annotation) for each in _models_in(arg)]
    return []


def _step(annotation: Any, part: str | int) -> Any:
    """The annotation of what lies under `part`, or None where there is nothing."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _step(get_args(annotation)[0], part)
    if origin in (Union, UnionType):
        return next((found for arg in get_args(annotation) if (found := _step(arg, part)) is not None), None)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        described = annotation.model_fields.get(str(part))
        return described.annotation if described else None
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return get_args(annotation)[1]
    if origin is tuple and isinstance(part, int):
        return get_args(annotation)[0]
    return None


def _problems_of(error: ValidationError, kind: type[BaseModel], data: Any, source: YamlSource) -> list[tuple[KeyPath, Problem]]:
    """One problem a place: a value that suits none of several types gives one message, not one a type."""
    by_place: dict[KeyPath, list[Any]] = {}
    for each in error.errors(include_url=False):
        path = _in_data(each["loc"], data, missing=each["type"] == "missing")
        by_place.setdefault(path, []).append(each)
    return [(path, source.problem(path, _message(kind, path, errors))) for path, errors in by_place.items()]


def _in_data(loc: tuple[str | int, ...], data: Any, *, missing: bool) -> KeyPath:
    """pydantic's location without the names of types that it tried and the marks of keys."""
    path: list[str | int] = []
    rest = list(loc)
    while rest:
        part = rest.pop(0)
        if isinstance(data, dict):
            key = next((each for each in data if each == part or (not isinstance(each, str) and str(each) == part)), None)
            if key is not None:
                path.append(key)
                data = data[key]
                continue
            if missing and not rest:
                path.append(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            path.append(part)
            data = data[part]
    return tuple(path)


def _message(kind: type[BaseModel], path: KeyPath, errors: list[Any]) -> str:
    first = errors[0]
    name = first["type"]
    if name == "missing":
        return "is missing"
    if name == "extra_forbidden":
        owner = model_at(kind, path[:-1])
        accepted = sorted(owner.model_fields) if owner else []
        return f"unknown key.{nearest(str(path[-1]), accepted)} Accepted: {', '.join(accepted)}."
    value = first["input"]
    if first["loc"] and first["loc"][-1] == "[key]":
        if not isinstance(value, str):
            return f"the key {describe(value)} is not accepted; expected: a name"
        return f"the key {value!r} is not accepted; expected: {_expected(first)}"
    return f"{describe(value)} is not accepted; expected: {' or '.join(dict.fromkeys(map(_expected, errors)))}"


def _expected(error: Any) -> str:
    name, context = error["type"], error.get("ctx", {})
    if name == "string_pattern_mismatch":
        return _PATTERNS.get(context["pattern"], f"a text that matches {context['pattern']}")
    if name == "value_error":
        return str(context["error"]).removesuffix(" is expected").rstrip(",")
    if name.startswith(("datetime_", "date_")):
        return _MOMENT
    if name.startswith("time_"):
        return _TIME_OF_DAY
    if name in _EXPECTED:
        return _EXPECTED[name].format(**context)
    return re.sub(r"^Input should be ", "", error["msg"])


def _droppable(kind: type[BaseModel], path: KeyPath) -> KeyPath:
    """The smallest part around `path` that can be left out or replaced: a list item, an entry of a map, an optional key."""
    for length in range(len(path), 1, -1):
        part = path[length - 1]
        owner = _annotation_at(kind, path[: length - 1])
        models = _models_in(owner)
        described = models[0].model_fields.get(str(part)) if models else None
        if isinstance(part, int) or not models or described is None or not described.is_required():
            return path[:length]
    return path[:1]


def _leave_out(kind: type[BaseModel], data: Any, path: KeyPath) -> None:
    """Take `path` out of `data`. List items are replaced, so that the others keep their places."""
    owner = value_at(data, path[:-1])
    part = path[-1]
    if isinstance(owner, list) and isinstance(part, int):
        owner[part] = {} if model_at(kind, path) else "unreadable"
    elif isinstance(owner, dict):
        described = kind.model_fields.get(str(part)) if len(path) == 1 else None
        if described is not None and described.is_required():
            owner[part] = copy.deepcopy(_STAND_INS.get(str(part), "unreadable"))
        else:
            owner.pop(part, None)


def value_at(data: Any, path: KeyPath) -> Any:
    """What stands at `path` of plain data; None where there is nothing."""
    for part in path:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def part_of(model: Any, part: str | int) -> Any:
    """What a model, a mapping or a tuple holds under `part`; None where there is nothing."""
    if isinstance(model, BaseModel):
        return getattr(model, str(part), None)
    if isinstance(model, Mapping):
        return model.get(part)
    if isinstance(model, tuple | list) and isinstance(part, int) and part < len(model):
        return model[part]
    return None


def _silent_conversions(data: Any, model: Any, source: YamlSource, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Problem]]:
    """What pydantic would convert without a word: true to 1.0, and a number to a moment in 1970."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _silent_conversions(value, part_of(model, key), source, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _silent_conversions(value, part_of(model, index), source, (*path, index))
    elif isinstance(model, bool) != isinstance(data, bool) and model is not None:
        expected = "true or false" if isinstance(model, bool) else "a number"
        yield path, source.problem(path, f"{describe(data)} is not accepted; expected: {expected}")
    elif isinstance(model, datetime) and not isinstance(data, date) and not re.match(r"\d{4}-\d\d-\d\d", str(data)):
        yield path, source.problem(path, f"{describe(data)} is not accepted; expected: {_MOMENT}")
    elif isinstance(model, time) and not re.match(r"\d\d?:\d\d", str(data)):
        yield path, source.problem(path, f"{describe(data)} is not accepted; expected: {_TIME_OF_DAY}")
    elif isinstance(model, datetime | time) and model.tzinfo is not None:
        yield path, source.problem(path, f"{describe(data)} is not accepted: times are the customer's own, without a time zone")
