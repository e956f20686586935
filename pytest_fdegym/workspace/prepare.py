"""One task's world under one seed, made once and used by every run on it: built site, people, facts, traffic."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.gateway import client as gateway_client
from pytest_fdegym.gateway.models import Model, SimulatedModel
from pytest_fdegym.gateway.service import REPLAY_CALLS, Service, Stage
from pytest_fdegym.scenario.fill import fill_brief, fill_file, fill_people, parameters, render_tree
from pytest_fdegym.scenario.model import FactSpec, Level, PeopleFile, ScenarioFile
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.world import GatewayCall, Heldout, World
from pytest_fdegym.scenario.world_module import WorldRunner

KEPT = 24
"""Prepared tasks kept at a time: a task under the twenty seeds of an admission; a session goes through its tasks one after another."""


@dataclass(frozen=True)
class PreparedTask:
    """A scenario in one variant under one seed."""

    scenario: Scenario
    variant: str
    seed: int
    params: Mapping[str, Any]
    world: World
    file: ScenarioFile
    """scenario.yaml as this variant has it, its texts filled in."""
    people: PeopleFile
    directory: Path
    """The harness's own; the agent never sees it. Holds the site as built and the system as found."""
    worlds: WorldRunner
    digest: str
    """Content digest of the scenario in this variant, as it was when the task was prepared."""

    @property
    def id(self) -> str:
        """``oil_npt.v1``"""
        return f"{self.scenario.id}.{self.variant}"

    @property
    def facts(self) -> Mapping[str, FactSpec]:
        """The facts of this variant."""
        return self.file.facts

    @property
    def site(self) -> Path:
        """The workspace as the customer hands it over, before TASK.md and bin/ are added."""
        return self.directory / "site"

    @property
    def databases(self) -> dict[str, Path]:
        """The customer's databases as built."""
        return {name: self.site / spec.file for name, spec in self.scenario.file.databases.items()}

    @property
    def key_facts(self) -> tuple[str, ...]:
        """Ids of the facts to be obtained from people in this variant."""
        return self.scenario.key_facts(self.variant)

    def copy_site(self, workspace: Path) -> None:
        """Copy the site to `workspace`, which must not exist yet."""
        shutil.copytree(self.site, workspace)

    @cached_property
    def as_found(self) -> Frozen:
        """The system as found, as a delivery."""
        return freeze(self.site, self.scenario.file.deployed, self.directory / "as_found")

    @cached_property
    def heldout(self) -> Heldout:
        """The evaluation traffic; drawn when grading starts, from a stream of its own, and kept in memory only."""
        return self.worlds.heldout(self.world)

    def gateway(
        self, stage: Stage, real: Model | None, *, told: Callable[[GatewayCall], None] | None = None, heldout: Heldout | None = None
    ) -> Service | None:
        """The company's gateway at one stage, where the customer has one: answered by `real`, or else by the scenario's own model.

        `heldout` belongs to production only; `told` hears of each call.
        """
        spec = self.file.gateway
        if spec is None:
            return None
        model = real if real is not None else SimulatedModel(self.worlds, self.world, heldout)
        return Service(spec, model, stage, most_calls=spec.work_calls if stage == "work" else REPLAY_CALLS, told=told)

    def brief(self, level: Level) -> str:
        """The text of a level."""
        return fill_brief(self.scenario, self.variant, level, self.params, self.world.public)


def prepare_task(scenario: Scenario, variant: str, seed: int, directory: Path) -> PreparedTask:
    """Draw the world, lay the site into `directory` and fill in people and facts. Raises ScenarioError for an author's mistake."""
    digest = scenario.digest(variant)  # first: what is loaded from here on is what it stands for, or is found to have changed
    worlds = WorldRunner(scenario, variant, seed)
    params = parameters(scenario, variant, seed)
    world = worlds.prepare(params)
    site = directory / "site"
    for source in scenario.site_folders(variant):
        render_tree(source, site, params, world.public)
    world = worlds.build(site, world)
    file = fill_file(scenario, variant, params, world.public)
    if file.gateway is not None:
        _lay_client(site / file.gateway.client, file.gateway.client)
    return PreparedTask(
        scenario=scenario,
        variant=variant,
        seed=seed,
        params=params,
        world=world,
        file=file,
        people=fill_people(scenario, variant, params, world.public),
        directory=directory,
        worlds=worlds,
        digest=digest,
    )


def _lay_client(place: Path, name: str) -> None:
    """Lay the gateway's client, the same for every customer, into the site."""
    if place.exists():
        raise ScenarioError(f"scenario.yaml: gateway.client: {name!r} is a file of the site already; the gateway's client is laid there")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(gateway_client.__file__, place)


class PreparedTasks:
    """Keeps the last few prepared tasks; a context manager that removes their folders."""

    def __init__(self) -> None:
        self._root: Path | None = None
        self._tasks: OrderedDict[tuple[Path, str, int], PreparedTask] = OrderedDict()
        self._count = 0

    def get(self, scenario: Scenario, variant: str, seed: int) -> PreparedTask:
        """The prepared task, made now if need be. Raises ScenarioError."""
        key = (scenario.folder, variant, seed)
        if key not in self._tasks:
            if self._root is None:
                self._root = Path(tempfile.mkdtemp(prefix="fdeprep"))
            self._count += 1
            directory = self._root / str(self._count)
            directory.mkdir()
            while len(self._tasks) >= KEPT:
                _, oldest = self._tasks.popitem(last=False)
                shutil.rmtree(oldest.directory, ignore_errors=True)
            self._tasks[key] = prepare_task(scenario, variant, seed, directory)
        self._tasks.move_to_end(key)
        return self._tasks[key]

    def close(self) -> None:
        """Remove every folder; the object may be used again."""
        self._tasks.clear()
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root = None

    def __enter__(self) -> PreparedTasks:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
