"""Runs an author's ``world.py``: loaded by path, in isolation, with seeded randomness, its mistakes told in its own lines."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeVar

from pytest_fdegym.errors import FdeGymError, ScenarioError

from .fill import parameters
from .problems import Problem, unknown
from .scenario import Scenario
from .streams import stream
from .world import (
    DeployedSystem,
    Evidence,
    GatewayRequest,
    Heldout,
    Incident,
    Measurement,
    Operations,
    SignOff,
    TrialReport,
    World,
)

__all__ = ["WorldRunner", "stream"]

T = TypeVar("T")


class WorldRunner:
    """The functions of a scenario's ``world.py`` for one variant under one seed.

    Every method raises `ScenarioError` that names the line of world.py and carries the author's traceback when his code raises, and one
    that says what came back when it is not what was asked for. Errors of the harness that pass through the author's code (a sandbox that
    fails during `operate`) pass unchanged.
    """

    def __init__(self, scenario: Scenario, variant: str, seed: int) -> None:
        scenario.variant(variant)
        self._scenario = scenario
        self._variant = variant
        self._seed = seed
        self._folder = scenario.folder.absolute()
        self._file = self._folder / "world.py"
        self._module = self._load()

    def prepare(self, params: Mapping[str, Any] | None = None) -> World:
        """The world for `params` (the variant's own unless given)."""
        given = parameters(self._scenario, self._variant, self._seed) if params is None else params
        world = self._typed(World, "prepare", self._call("prepare", given, self._rng("prepare")))
        self._check_names(world.public, "prepare", "World.public")
        return world

    def build(self, site: Path, world: World) -> World:
        """Let the author write history and databases into the workspace; returns the world with the public values that `build` added."""
        added = self._call("build", site, world, self._rng("build"))
        if added is None:
            return world
        if not isinstance(added, Mapping):
            raise self._wrong("build", f"returned {_kind(added)}; a mapping of further public values, or None, is expected")
        self._check_names(added, "build", "what it returned")
        for name, value in added.items():
            if name in world.public and world.public[name] != value:
                raise self._wrong("build", f"returned {name!r}, which prepare had made public with another value")
        return replace(world, public={**world.public, **added})

    def heldout(self, world: World) -> Heldout:
        """The evaluation traffic with its truth."""
        return self._typed(Heldout, "heldout", self._call("heldout", world, self._rng("heldout")))

    def trial(self, system: DeployedSystem, n: int, world: World) -> TrialReport:
        """The `n`-th trial run (from 1) of the workspace's system, on shadow traffic from a stream of its own."""
        report = self._typed(TrialReport, "trial", self._call("trial", system, n, world, stream(self._scenario.id, self._seed, "trial", n)))
        for name, text in (("id", report.id), ("feedback", report.feedback)):
            if not isinstance(text, str) or not text.strip():
                raise self._wrong("trial", f"TrialReport.{name} is {text!r}; a text is expected")
        return TrialReport(report.id, report.feedback, self._json(report.values, "trial", "TrialReport.values"))

    def answer(self, request: GatewayRequest, world: World, heldout: Heldout | None) -> str:
        """What the simulated model behind the company's gateway says. `heldout` is None but in production."""
        found: Callable[..., Any] = self._module.answer
        try:  # Thousands of calls, in a thread of the gateway's: without what `_guard` sets for the whole process.
            text = found(request, world, heldout)
        except FdeGymError:
            raise
        except (Exception, SystemExit) as error:
            raise self._failure("answer", error) from None
        return self._typed(str, "answer", text)

    def operate(
        self, system: DeployedSystem, heldout: Heldout, world: World, signoffs: Sequence[SignOff], as_found: Operations | None
    ) -> Operations:
        """What the system did on the held-out traffic, as plain JSON."""
        result = self._typed(Operations, "operate", self._call("operate", system, heldout, world, signoffs, as_found))
        outputs = self._json(result.outputs, "operate", "Operations.outputs")
        notes = result.notes
        if isinstance(notes, str) or not all(isinstance(note, str) for note in notes):
            raise self._wrong("operate", "Operations.notes is not a list of sentences")
        return Operations(outputs, tuple(notes))

    def measure(self, operations: Operations, heldout: Heldout, world: World, evidence: Evidence) -> Measurement:
        """The KPI and the incidents."""
        result = self._typed(Measurement, "measure", self._call("measure", operations, heldout, world, evidence))
        kpi = result.kpi
        if isinstance(kpi, bool) or not isinstance(kpi, int | float) or not math.isfinite(kpi):
            raise self._wrong("measure", f"Measurement.kpi is {kpi!r}; a finite number is expected")
        known = [name for name, spec in self._scenario.file.incidents.items() if spec.exists_in(self._variant)]
        for incident in result.incidents:
            if not isinstance(incident, Incident):
                raise self._wrong("measure", f"Measurement.incidents holds {_kind(incident)}; Incident is expected")
            if incident.id not in known:
                raise self._wrong("measure", unknown(incident.id, f"an incident of scenario.yaml in {self._variant}", known))
        return Measurement(float(kpi), tuple(result.incidents), self._json(result.details, "measure", "Measurement.details"))

    def _rng(self, name: str) -> random.Random:
        return stream(self._scenario.id, self._seed, name)

    def _load(self) -> ModuleType:
        """Import world.py as a member of a package of its own, so that ``from .field import ...`` finds the files beside it.

        The package exists under a name that nobody else has and never joins ``sys.path``; a second load starts afresh.
        """
        package = f"_fdegym_world_{hashlib.sha256(str(self._folder.absolute()).encode()).hexdigest()[:16]}"
        for name in [each for each in sys.modules if each == package or each.startswith(f"{package}.")]:
            del sys.modules[name]
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(self._folder)]
        importlib.invalidate_caches()
        return self._guard("the import", lambda: importlib.import_module(f"{package}.world"))

    def _call(self, function: str, *args: Any) -> Any:
        found: Callable[..., Any] = getattr(self._module, function)
        return self._guard(function, lambda: found(*args))

    def _guard(self, function: str, call: Callable[[], T]) -> T:
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # an author's folder stays as it is, read-only too
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")  # the world does not depend on the filters of whoever runs pytest
                return call()
        except FdeGymError:
            raise
        except (Exception, SystemExit) as error:
            raise self._failure(function, error) from None
        finally:
            sys.dont_write_bytecode = before

    def _failure(self, function: str, error: BaseException) -> ScenarioError:
        """The author's traceback, from the first frame in the scenario's own files on; what lies before is ours."""
        frames = list(_frames(error.__traceback__))
        own = [frame for frame in frames if Path(frame.tb_frame.f_code.co_filename).parent == self._folder]
        file, line = (Path(own[-1].tb_frame.f_code.co_filename), own[-1].tb_lineno) if own else (self._file, None)
        if isinstance(error, SyntaxError) and error.filename and Path(error.filename).parent == self._folder:
            file, line = Path(error.filename), error.lineno
        text = "".join(traceback.format_exception(type(error), error, own[0] if own else None)).rstrip()
        message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return ScenarioError(f"{Problem(file, line, function, message)}\n{text}")

    def _typed(self, kind: type[T], function: str, value: Any) -> T:
        if not isinstance(value, kind):
            raise self._wrong(function, f"returned {_kind(value)}; {kind.__name__} is expected")
        return value

    def _check_names(self, values: Any, function: str, what: str) -> None:
        if not isinstance(values, Mapping):
            raise self._wrong(function, f"{what} is {_kind(values)}; a mapping is expected")
        for name in values:
            if not isinstance(name, str) or not name.isidentifier():
                raise self._wrong(function, f"{what} has the key {name!r}, which a text cannot name; letters, digits and _ are accepted")

    def _json(self, value: Any, function: str, what: str) -> dict[str, Any]:
        """Plain JSON, the same whether it is fresh or comes from a cache. Raises for what would be lost or changed on the way."""
        if not isinstance(value, Mapping):
            raise self._wrong(function, f"{what} is {_kind(value)}; a mapping is expected")
        if (found := _not_json(value, what)) is not None:
            raise self._wrong(function, found)
        plain: dict[str, Any] = json.loads(json.dumps(_as_json(value)))
        return plain

    def _wrong(self, function: str, message: str) -> ScenarioError:
        code = getattr(getattr(self._module, function, None), "__code__", None)
        return ScenarioError(str(Problem(self._file, code.co_firstlineno if code else None, function, message)))


def _frames(own: TracebackType | None) -> Iterator[TracebackType]:
    while own is not None:
        yield own
        own = own.tb_next


def _kind(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list | tuple) else value


def _not_json(value: Any, where: str, depth: int = 0) -> str | None:
    """Say what in `value` JSON cannot carry, with the place; None when all is well."""
    if depth > 60:
        return f"{where} is nested too deeply for JSON"
    if value is None or isinstance(value, str | bool | int):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{where} is {value!r}, which JSON does not know"
    if isinstance(value, Mapping):
        for key, each in value.items():
            if not isinstance(key, str):
                return f"{where} has the key {key!r} ({_kind(key)}); JSON knows text keys only"
            if (found := _not_json(each, f"{where}[{key!r}]", depth + 1)) is not None:
                return found
        return None
    if isinstance(value, list | tuple):
        return next((found for i, each in enumerate(value) if (found := _not_json(each, f"{where}[{i}]", depth + 1)) is not None), None)
    return f"{where} is {_kind(value)}, which JSON does not know"
