"""What may stand behind the gateway: the simulated model of a scenario's ``world.py``, or a real one."""

from __future__ import annotations

from typing import Protocol

from pytest_fdegym.scenario.world import GatewayRequest, Heldout, World
from pytest_fdegym.scenario.world_module import WorldRunner

SIMULATED = "simulated"
"""The id of every scenario's own model."""


class Model(Protocol):
    """Answers one request at a time."""

    @property
    def id(self) -> str:
        """What the record says of it."""
        ...

    def answer(self, request: GatewayRequest) -> str:
        """The answer. Raises ScenarioError (the author's mistake), InfrastructureFault, or Refused (the caller's)."""
        ...


class SimulatedModel:
    """The scenario's own model; `heldout` is given in production only."""

    id = SIMULATED

    def __init__(self, worlds: WorldRunner, world: World, heldout: Heldout | None) -> None:
        self._worlds, self._world, self._heldout = worlds, world, heldout

    def answer(self, request: GatewayRequest) -> str:
        return self._worlds.answer(request, self._world, self._heldout)
