"""What the nodes and fixtures of one pytest session share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pytest

from pytest_fdegym.agents.metering import Meter
from pytest_fdegym.bundled import cache_folder, shipped_tasks
from pytest_fdegym.gateway.models import Model
from pytest_fdegym.people.router import Router, router_named
from pytest_fdegym.pytest_side.agent_source import AgentSource
from pytest_fdegym.pytest_side.budget import SessionBudget
from pytest_fdegym.pytest_side.in_order import InOrder
from pytest_fdegym.pytest_side.option_values import LEVELS
from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Settings
from pytest_fdegym.sandbox import Sandbox, choose
from pytest_fdegym.scenario.loader import Outline, Scenario, load, peek


class FdeSession:
    """The plan, the agent (None in admission), and what runs share; made in every process that runs items."""

    def __init__(
        self,
        plan: Plan,
        hidden: Callable[[Iterable[Path]], tuple[Path, ...]] = lambda _: (),
        kept: tuple[Path, ...] = (),
        environment: Mapping[str, str] = os.environ,
        meter: Meter | None = None,
    ) -> None:
        """`hidden` says what holds truth, given the scenarios' folders, and `kept` what is not to be written, by an agent that is a
        command. `environment` is the user's own, whatever the meter makes of it for agents."""
        self.plan = plan
        self._environment = environment
        self._meter = meter
        self._hidden, self._kept = hidden, kept
        self.agent = None if plan.admission else AgentSource(plan)
        self._folders: dict[str, Path] = {}
        self._scenarios: dict[Path, Scenario] = {}
        self._in_order = InOrder(cache_folder() / "in_order")
        self.budget: SessionBudget | None = None
        """What the whole session may spend."""
        self.refused: str | None = None
        """A usage error that a worker of pytest-xdist came upon."""
        self.not_run: dict[str, str] = {}
        """Tasks without one of the levels that were asked for, and what is said of them."""

    @property
    def is_command(self) -> bool:
        """Whether the agent is a shell command."""
        return self.agent is not None and self.agent.reference.kind == "command"

    def identity(self, parameter_id: str | None) -> AgentIdentity:
        """Who runs are recorded for."""
        assert self.agent is not None
        return self.agent.identity(parameter_id)

    def outline(self, folder: Path) -> Outline:
        """What collecting has to know of a scenario's folder. Raises ScenarioError for a mistake in any of its files.

        A folder that shipped with this package, or was found in order before, is not read whole; admission needs all of it.
        """
        outline = peek(folder)
        known_good = self._shipped in folder.parents or self._in_order.holds(folder)
        if self.plan.admission or outline.problems or not known_good:
            self.scenario(folder)
            self._in_order.note(folder)
        return outline

    def scenario(self, folder: Path) -> Scenario:
        """The scenario in `folder`, loaded once. Raises ScenarioError."""
        if folder not in self._scenarios:
            self._scenarios[folder] = load(folder)
        return self._scenarios[folder]

    @cached_property
    def _shipped(self) -> Path | None:
        return shipped_tasks()

    def folder_of(self, scenario: Outline) -> Path:
        """The folder of the first scenario of this name that was collected."""
        return self._folders.setdefault(scenario.id, scenario.folder)

    def levels_of(self, task: str, levels: Sequence[str]) -> None:
        """Note the levels that a task has; with ``all``, those are what was asked for."""
        missing = [level for level in self.plan.levels if level not in levels]
        if not missing or self.plan.levels == LEVELS:
            return
        if len(missing) == len(self.plan.levels):
            self.not_run[task] = f"{task} has only {', '.join(levels)}: not run"
        else:
            self.not_run[task] = f"{task} has no {', '.join(missing)}: not run there"

    @cached_property
    def sandbox(self) -> Sandbox:
        """Probed by a real launch. Raises SandboxUnavailable."""
        return choose(self.plan.sandbox)

    @cached_property
    def router(self) -> Router:
        """The router that --fde-router names. Raises UsageError."""
        return router_named(self.plan.router, self.plan.router_directory, self._environment)

    @cached_property
    def gateway_model(self) -> Model | None:
        """The real model that --fde-gateway-model names. Raises UsageError."""
        if self.plan.gateway_model is None:
            return None
        from pytest_fdegym.gateway.real import real_model  # noqa: PLC0415  (brings an HTTP client)

        return real_model(self.plan.gateway_model, self._environment)

    @cached_property
    def settings(self) -> Settings:
        """For the runner. Admission keeps no records."""
        store = None if self.plan.admission else Store(self.plan.results)
        return Settings(
            self.sandbox,
            self.router,
            store,
            cache_folder() / "kpis",
            self.plan.limits,
            gateway_model=self.gateway_model,
            meter=self._meter,
            agent_network=self.plan.agent_network if self.is_command else "none",
            hidden=self._hidden(self._folders.values()) if self.is_command else (),
            kept=self._kept,
            retries=self.plan.retries,
        )

    def close(self) -> None:
        """Remove what runs left in temporary folders."""
        if "settings" in vars(self):
            self.settings.prepared.close()


SESSION = pytest.StashKey[FdeSession]()
