"""Runs an agent that is a Python callable: sync or async, in this process."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable
from typing import Any

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.session import LIMIT_REASONS, Ending, Session
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.errors import InfrastructureFault, LimitReached
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity

Agent = Callable[[Engagement], Any]


def own_traceback(error: BaseException) -> str:
    """The traceback of an agent's exception, without the frames of this package that lead to and from the agent's code."""
    kept = error.__traceback__
    while kept is not None and kept.tb_frame.f_globals.get("__name__", "").startswith("pytest_fdegym."):
        kept = kept.tb_next
    return "".join(traceback.format_exception(type(error), error, kept or error.__traceback__)).rstrip()


class PythonAgent:
    """A Deliverer around a callable that takes an Engagement; returning is the handover."""

    def __init__(self, identity: AgentIdentity, agent: Agent) -> None:
        self.identity = identity
        self._agent = agent

    def deliver(self, session: Session) -> Ending:
        engagement = Engagement(
            brief=session.brief,
            workspace=session.workspace,
            socket=session.socket,
            sandbox=session.sandbox,
            commands=session.commands,
            observer=session.observer,
        )
        try:
            result = self._agent(engagement)
            if inspect.isawaitable(result):
                asyncio.run(_finish(result))
        except InfrastructureFault:
            raise
        except LimitReached as error:
            return Ending(LIMIT_REASONS[error.reason])
        except EngagementOver:
            # Only a fault of the customer's side closes the channel while the agent still works; the runner knows of it.
            return Ending("agent_error", "the engagement ended while the agent was at work")
        except SystemExit as error:
            return Ending("agent_exit", f"the agent called sys.exit({error.code!r})")
        except (Exception, asyncio.CancelledError) as error:
            text = own_traceback(error)
            session.observer.notify(Event("agent_error", {"traceback": text}))
            return Ending("agent_error", text)
        return Ending("handover")


async def _finish(result: Any) -> Any:
    return await result
