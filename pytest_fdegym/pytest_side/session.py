"""What the nodes and fixtures of one pytest session share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import pytest

from pytest_fdegym.bundled import cache_folder
from pytest_fdegym.gateway.models import Model
from pytest_fdegym.people.router import Router, router_named
from pytest_fdegym.pytest_side.agent_source import AgentSource
from pytest_fdegym.pytest_side.options import LEVELS
from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Settings
from pytest_fdegym.sandbox import Sandbox, choose
from pytest_fdegym.scenario.loader import Scenario


class FdeSession:
    """The plan, the agent (None in admission), and what runs share; made in every process that runs items."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.agent = None if plan.admission else AgentSource(plan)
        self._folders: dict[str, Path] = {}
        self.refused: str | None = None
        """A usage error that a worker of pytest-xdist came upon."""
        self.not_run: dict[str, str] = {}
        """Tasks without one of the levels that were asked for, and what is said of them."""

    def identity(self, parameter_id: str | None) -> AgentIdentity:
        """Who runs are recorded for."""
        assert self.agent is not None
        return self.agent.identity(parameter_id)

    def folder_of(self, scenario: Scenario) -> Path:
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
        return router_named(self.plan.router, self.plan.router_directory, os.environ)

    @cached_property
    def gateway_model(self) -> Model | None:
        """The real model that --fde-gateway-model names. Raises UsageError."""
        if self.plan.gateway_model is None:
            return None
        from pytest_fdegym.gateway.real import real_model  # noqa: PLC0415  (brings an HTTP client)

        return real_model(self.plan.gateway_model, os.environ)

    @cached_property
    def settings(self) -> Settings:
        """For the runner. Admission keeps no records."""
        store = None if self.plan.admission else Store(self.plan.results)
        return Settings(self.sandbox, self.router, store, cache_folder() / "kpis", self.plan.limits, gateway_model=self.gateway_model)

    def close(self) -> None:
        """Remove what runs left in temporary folders."""
        if "settings" in vars(self):
            self.settings.prepared.close()


SESSION = pytest.StashKey[FdeSession]()
