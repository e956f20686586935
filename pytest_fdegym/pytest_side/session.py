"""What the nodes and fixtures of one pytest session share."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from pytest_fdegym.bundled import cache_folder
from pytest_fdegym.people.router import Router, default_router
from pytest_fdegym.pytest_side.agent_source import AgentSource
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

    def identity(self, parameter_id: str | None) -> AgentIdentity:
        """Who runs are recorded for."""
        assert self.agent is not None
        return self.agent.identity(parameter_id)

    def folder_of(self, scenario: Scenario) -> Path:
        """The folder of the first scenario of this name that was collected."""
        return self._folders.setdefault(scenario.id, scenario.folder)

    @cached_property
    def sandbox(self) -> Sandbox:
        """Probed by a real launch. Raises SandboxUnavailable."""
        return choose(self.plan.sandbox)

    @cached_property
    def router(self) -> Router:
        """The router that --fde-router names."""
        return default_router()

    @cached_property
    def settings(self) -> Settings:
        """For the runner. Admission keeps no records."""
        store = None if self.plan.admission else Store(self.plan.results)
        return Settings(self.sandbox, self.router, store, cache_folder() / "kpis", self.plan.limits)

    def close(self) -> None:
        """Remove what runs left in temporary folders."""
        if "settings" in vars(self):
            self.settings.prepared.close()


SESSION = pytest.StashKey[FdeSession]()
