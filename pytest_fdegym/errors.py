"""The exceptions that cross rooms, each named after who has to act on it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FdeGymError(Exception):
    """Base of all errors that this package raises on purpose."""


class ScenarioError(FdeGymError):
    """A scenario's author must act: what was written or what ``world.py`` did is wrong."""


class UsageError(FdeGymError):
    """The person who typed the command must act: an option names what does not exist."""


class AgentNotFound(UsageError):
    """The agent that was named cannot be had."""


class SandboxUnavailable(FdeGymError):
    """No sandbox works on this machine, and none was waived."""


class InfrastructureFault(FdeGymError):
    """Something broke that says nothing about the agent; the run becomes *void*. `row` is the one of `pytest_fdegym.outcomes`."""

    row = "harness_fault"


class SandboxFault(InfrastructureFault):
    """The sandbox failed."""

    row = "sandbox_fault"


class RouterFault(InfrastructureFault):
    """The router failed, or the model behind it."""

    row = "router_fault"


class GatewayModelFault(InfrastructureFault):
    """The model behind a customer's gateway failed."""

    row = "gateway_model_fault"


class ModelFault(InfrastructureFault):
    """The agent's model provider failed; `row` says how."""

    def __init__(self, row: str, text: str) -> None:
        super().__init__(text)
        self.row = row


class LimitReached(FdeGymError):
    """A limit of the engagement (turns, minutes, USD) is used up; ``reason`` names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"limit reached: {reason}")
        self.reason = reason


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest of `known`, or an empty string."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {found[0]!r}?" if found else ""
