"""What is run, and what the runs of one session share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_fdegym.gateway.models import Model
from pytest_fdegym.grading import Grader
from pytest_fdegym.limits import Limits
from pytest_fdegym.people.router.base import Router
from pytest_fdegym.results.store import Store
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.workspace.prepare import PreparedTasks

if TYPE_CHECKING:
    from pytest_fdegym.agents.metering.meter import Meter  # most sessions need no HTTP


@dataclass(frozen=True)
class Case:
    """A task at a level, to be run once under a seed."""

    scenario: Scenario
    variant: str
    level: Level
    run: int = 1
    seed: int = 1

    @property
    def task(self) -> str:
        """``oil_npt.v1``"""
        return f"{self.scenario.id}.{self.variant}"


@dataclass
class Settings:
    """What the runs of one session share. A context manager; leaving it removes the prepared tasks' folders."""

    sandbox: Sandbox
    router: Router
    store: Store | None = None
    cache: Path | None = None
    """Folder for the KPIs of baselines and references; None measures them in every session."""
    limits: Limits = Limits()
    prepared: PreparedTasks = field(default_factory=PreparedTasks)
    gateway_model: Model | None = None
    """A real model behind the customers' LLM gateways; None for the simulated ones."""
    meter: Meter | None = None
    """The metering proxy; None where agents' model calls are not watched."""

    agent_network: Literal["none", "host"] = "none"
    """``host`` gives an agent that is a command the network of the machine, and the home of its user."""
    hidden: tuple[Path, ...] = ()
    """Places that hold truth, beside those that a run itself knows of: out of the sight of an agent that is a command."""
    kept: tuple[Path, ...] = ()
    """Places that such an agent must not write, even in its user's home."""

    retries: int = 2
    """How often an engagement is begun again that something spoiled before the agent had acted."""
    sleep: Callable[[float], None] = time.sleep
    """Waits so many seconds before that."""

    def __post_init__(self) -> None:
        self.grader = Grader(self.sandbox, self.cache, self.gateway_model)

    def __enter__(self) -> Settings:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.prepared.close()
