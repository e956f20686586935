"""What the runner hands to whoever makes the delivery, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.observer import Observer
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.results.record import AgentIdentity, EndReason
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.workspace.prepare import PreparedTask

if TYPE_CHECKING:
    from pytest_fdegym.agents.metering.account import Account  # most runs need no HTTP

LIMIT_REASONS: dict[str, EndReason] = {"turns": "limit_turns", "minutes": "limit_minutes", "usd": "limit_usd"}
"""The ending for each limit."""


@dataclass(frozen=True)
class Surroundings:
    """What is around the workspace of an agent that is a command."""

    network: Literal["none", "host"] = "none"
    hidden: tuple[Path, ...] = ()
    """Places that hold truth, out of its sight."""
    kept: tuple[Path, ...] = ()
    """Places that it must not write, even in a home that it may write."""


@dataclass(frozen=True)
class Session:
    """One engagement, open. Agents are shown `brief`, `workspace` and `socket` only; the rest serves their adapters and the
    privileged actors of admission."""

    brief: str
    workspace: Path
    socket: Path
    sandbox: Sandbox
    commands: Commands
    """Runs the agent's commands."""
    tracker: LimitTracker
    observer: Observer
    prepared: PreparedTask
    conversation: Conversation
    account: Account | None = None
    """The run's account with the metering proxy, where there is one."""
    surroundings: Surroundings = Surroundings()
    """What a command that is the agent finds around its workspace."""


@dataclass(frozen=True)
class Ending:
    """How the engagement ended; `error` is the agent's own traceback or last output."""

    reason: EndReason = "handover"
    error: str | None = None
    fault: str | None = None
    """What it was, as a row of `pytest_fdegym.outcomes`, where the adapter knows more than `reason` says."""
    cause: str | None = None
    """A line about `fault`."""
    notes: tuple[str, ...] = ()
    """Plain sentences for the record."""
    granted_signoffs: tuple[str, ...] = ()
    """Topics (``person/topic``) whose sign-off a solution is granted; agents obtain theirs in conversation."""
    granted_facts: tuple[str, ...] = ()


class Deliverer(Protocol):
    """Turns a built workspace into a delivery: an agent through its adapter, or an actor of admission."""

    identity: AgentIdentity

    def deliver(self, session: Session) -> Ending:
        """Work in the session's workspace; returning is the handover. What an agent does wrong is returned, not raised;
        InfrastructureFault makes the run void."""
        ...
