"""Filling in: a variant's parameters and the world's public values put into people, facts, briefs and files."""

from __future__ import annotations

import copy
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_fdegym.errors import ScenarioError, UsageError

from . import templates
from .model import Draw, FactSpec, IncidentSpec, Level, Limited, PeopleFile, ScenarioFile
from .problems import KeyPath, Problem
from .scenario import Scenario
from .streams import stream
from .templates import TemplateProblem
from .validation import part_of, pattern_error, validate
from .yaml_source import YamlSource

_NATIVE = ("number", "ids")
"""Keys of a condition whose value may be computed; so may everything in the scope of a sign-off."""
_PATTERNS = ("phrase", "near")
_PATTERN_LISTS = ("triggers", "never")

TEMPLATE_SUFFIX = ".j2"


@dataclass(frozen=True)
class FilledScenario:
    """What a variant says under one seed: every text with its values, and only what exists in the variant."""

    people: PeopleFile
    facts: Mapping[str, FactSpec]
    incidents: Mapping[str, IncidentSpec]


WRITTEN_SEED = 1
"""Under it every parameter has the value that scenario.yaml states."""


def parameters(scenario: Scenario, variant: str, seed: int = WRITTEN_SEED) -> dict[str, Any]:
    """The values of `variant`: those of scenario.yaml with the variant's overrides. The caller may change what it gets.

    Under seeds other than 1, what has a `draw` is drawn instead, each parameter from a stream of its own that all variants share.
    """
    spec = scenario.variant(variant)
    values = {name: parameter.value for name, parameter in scenario.file.parameters.items()}
    values = copy.deepcopy({**values, **spec.parameters})
    if seed != WRITTEN_SEED:
        for name, parameter in scenario.file.parameters.items():
            draw = spec.draws.get(name, parameter.draw)
            if draw is not None:
                values[name] = _drawn(draw, values[name], stream(scenario.id, seed, "parameters", name))
    return values


def _drawn(draw: Draw, written: Any, rng: random.Random) -> Any:
    """A value of `draw`; a whole number unless the written value or the draw's own are not."""
    if draw.choices is not None:
        return copy.deepcopy(rng.choice(draw.choices))
    assert draw.low is not None
    assert draw.high is not None
    # In decimals, so that steps of 0.1 give 0.3 and not 0.30000000000000004.
    low, high, step = (Decimal(repr(number)) for number in (draw.low, draw.high, draw.step))
    value = low + step * rng.randrange(int((high - low) / step) + 1)
    whole = not isinstance(written, float) and draw.low.is_integer() and draw.step.is_integer()
    return int(value) if whole else float(value)


def fill_file(scenario: Scenario, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> ScenarioFile:
    """scenario.yaml as `variant` has it: its own entry points, trial, gateway, facts and incidents, and the texts of those filled in."""
    file = scenario.file
    return file.model_copy(
        update={
            "incidents": fill_incidents(scenario, variant, params, public),
            "facts": fill_facts(scenario, variant, params, public),
            "entry_points": {name: entry for name, entry in file.entry_points.items() if entry.exists_in(variant)},
            "trial": file.trial if file.trial is not None and file.trial.exists_in(variant) else None,
            "gateway": file.gateway if file.gateway is not None and file.gateway.exists_in(variant) else None,
        }
    )


def fill(scenario: Scenario, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> FilledScenario:
    """People, facts and incidents of `variant`. Raises `ScenarioError` with the line of a text that cannot be filled in."""
    return FilledScenario(
        fill_people(scenario, variant, params, public),
        fill_facts(scenario, variant, params, public),
        fill_incidents(scenario, variant, params, public),
    )


def fill_people(scenario: Scenario, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> PeopleFile:
    """people.yaml for `variant`: who and what exists there, texts and gates with their values.

    `public` is ``world.public`` after `build`. Raises `ScenarioError` with the line of a text that cannot be filled in.
    """
    scenario.variant(variant)
    return _Filling(scenario.people_source, variant, params, public).people(scenario.people)


def fill_facts(scenario: Scenario, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> dict[str, FactSpec]:
    """The facts that exist in `variant`, with their texts filled in."""
    return {
        name: fact.model_copy(update={"text": _fill_text(scenario, ("facts", name, "text"), fact.text, params, public)})
        for name, fact in scenario.file.facts.items()
        if fact.exists_in(variant)
    }


def fill_incidents(scenario: Scenario, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> dict[str, IncidentSpec]:
    """The incidents that exist in `variant`, with their texts filled in."""
    return {
        name: incident.model_copy(update={"text": _fill_text(scenario, ("incidents", name, "text"), incident.text, params, public)})
        for name, incident in scenario.file.incidents.items()
        if incident.exists_in(variant)
    }


def fill_brief(scenario: Scenario, variant: str, level: Level, params: Mapping[str, Any], public: Mapping[str, Any]) -> str:
    """The text of `level` for `variant`. Raises `UsageError` where the level does not exist for it."""
    scenario.variant(variant)
    brief = scenario.briefs.get((level, variant))
    if brief is None:
        raise UsageError(f"{scenario.id}.{variant} has no brief {level}; it has {', '.join(scenario.levels(variant)) or 'none'}")
    try:
        return templates.render(brief.text, params, public)
    except TemplateProblem as problem:
        raise ScenarioError(str(Problem(brief.file, problem.line, "", problem.message))) from None


def render_tree(
    source: Path, target: Path, params: Mapping[str, Any], public: Mapping[str, Any], *, skip: Collection[str] = ("manifest.yaml",)
) -> None:
    """Lay the folder `source` over `target`: files that end in ``.j2`` are filled in and lose the suffix, others are copied byte by byte.

    `skip` names files of `source` (relative, forward slashes) that stay behind; so does bytecode. Execute permission is kept. Raises
    `ScenarioError` for a template that cannot be filled in, and for a link in either folder: nothing is ever written through one.
    """
    for path, name in _tree(source):
        if name in skip:
            continue
        laid = target / name.removesuffix(TEMPLATE_SUFFIX)
        _refuse_links(target, laid)
        if path.is_dir():
            (target / name).mkdir(parents=True, exist_ok=True)
            continue
        laid.parent.mkdir(parents=True, exist_ok=True)
        if laid.is_dir():
            raise ScenarioError(str(Problem(path, None, "", f"a file cannot be laid over the folder {name}")))
        laid.write_bytes(_rendered(path, params, public) if name.endswith(TEMPLATE_SUFFIX) else path.read_bytes())
        laid.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _rendered(file: Path, params: Mapping[str, Any], public: Mapping[str, Any]) -> bytes:
    try:
        return templates.render(file.read_bytes().decode("utf-8"), params, public).encode("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(str(Problem(file, None, "", "is not UTF-8 text, which a template has to be"))) from None
    except TemplateProblem as problem:
        raise ScenarioError(str(Problem(file, problem.line, "", problem.message))) from None


def _tree(source: Path) -> Iterator[tuple[Path, str]]:
    """Folders and files below `source`, folders first, without bytecode. Raises `ScenarioError` for what is neither."""
    for path in sorted(source.rglob("*")):
        if "__pycache__" in path.relative_to(source).parts or path.suffix == ".pyc":
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ScenarioError(str(Problem(path, None, "", "is a link or a special file; only files and folders can be laid down")))
        yield path, path.relative_to(source).as_posix()


def _refuse_links(target: Path, laid: Path) -> None:
    for place in (laid, *laid.parents):
        if place == target:
            return
        if place.is_symlink():
            raise ScenarioError(f"{place} is a link; nothing is written through it")


def _fill_text(scenario: Scenario, path: KeyPath, text: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> str:
    try:
        return templates.render(text, params, public)
    except TemplateProblem as problem:
        raise _error(scenario.file_source, path, problem) from None


def _error(source: YamlSource, path: KeyPath, problem: TemplateProblem) -> ScenarioError:
    return ScenarioError(str(source.problem(path, problem.message, line=source.text_line(path, problem.line))))


class _Filling:
    """One pass over people.yaml: takes out what the variant does not have and fills in what is left."""

    def __init__(self, source: YamlSource, variant: str, params: Mapping[str, Any], public: Mapping[str, Any]) -> None:
        self._source = source
        self._variant = variant
        self._params = params
        self._public = public

    def people(self, written: PeopleFile) -> PeopleFile:
        data = self._walk(self._source.data, written, ())
        # Steps of the expert may have moved up; what is computed, and may be wrong now, never lies in them: the lines hold.
        validated = validate(PeopleFile, replace(self._source, data=data))
        if validated.model is None or validated.problems:
            raise ScenarioError("\n".join(f"{problem}, with the values of {self._variant}" for problem in validated.problems))
        return validated.model

    def _walk(self, data: Any, written: Any, path: KeyPath) -> Any:
        if isinstance(data, dict):
            pairs = ((key, value, part_of(written, key)) for key, value in data.items())
            return {key: self._walk(value, inner, (*path, key)) for key, value, inner in pairs if self._exists(inner)}
        if isinstance(data, list):
            items = ((index, value, part_of(written, index)) for index, value in enumerate(data))
            return [self._walk(value, inner, (*path, index)) for index, value, inner in items if self._exists(inner)]
        return self._text(data, path) if isinstance(data, str) else data

    def _exists(self, part: Any) -> bool:
        return not isinstance(part, Limited) or part.exists_in(self._variant)

    def _text(self, text: str, path: KeyPath) -> Any:
        if not templates.is_template(text):
            return text
        native = path[-1] in _NATIVE or ("signoff", "scope") in pairwise(path)
        try:
            value = (templates.evaluate if native else templates.render)(text, self._params, self._public)
        except TemplateProblem as problem:
            raise _error(self._source, path, problem) from None
        is_pattern = path[-1] in _PATTERNS or (len(path) > 1 and path[-2] in _PATTERN_LISTS)
        if is_pattern and (wrong := pattern_error(value)) is not None:
            raise ScenarioError(str(self._source.problem(path, f"{value!r} is not a regular expression: {wrong}")))
        return value
