"""Runs an agent that is a Python callable: sync or async, in this process."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

from pytest_fdegym.agents.children import Children
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.faults import fault_of
from pytest_fdegym.agents.interrupt import Coroutine, Runs, in_a_thread, in_the_main_thread
from pytest_fdegym.agents.session import LIMIT_REASONS, Ending, Session
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.errors import InfrastructureFault, LimitReached
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity

Agent = Callable[[Engagement], Any]

MAIN_THREAD = "fde_main_thread"
"""An attribute by which an agent asks to be called in the main thread."""
STUCK = "the agent could not be stopped: "
"""How the note begins that a run has whose agent goes on."""
_STUCK_NOTE = (
    f"{STUCK}its thread did not react to being interrupted and was left behind (it waits in C code, or swallows every exception). "
    "It can no longer reach the customer."
)
NOT_THE_AGENTS = ("pytest_fdegym", "asyncio", "threading")
"""Packages whose frames lead to an agent's code."""


def own_traceback(error: BaseException) -> str:
    """The traceback of an agent's exception, without the frames that lead to and from the agent's code."""
    kept = error.__traceback__
    while kept is not None and kept.tb_frame.f_globals.get("__name__", "").partition(".")[0] in NOT_THE_AGENTS:
        kept = kept.tb_next
    return "".join(traceback.format_exception(type(error), error, kept or error.__traceback__)).rstrip()


def _as_it_is(error: BaseException) -> BaseException:
    return error


class PythonAgent:
    """A Deliverer around a callable that takes an Engagement; returning is the handover."""

    def __init__(self, identity: AgentIdentity, agent: Agent, reworded: Callable[[BaseException], BaseException] = _as_it_is) -> None:
        """`reworded` may put another exception in the place of the agent's."""
        self.identity = identity
        self._agent = agent
        self._reworded = reworded

    def deliver(self, session: Session) -> Ending:
        engagement = Engagement(
            brief=session.brief,
            workspace=session.workspace,
            socket=session.socket,
            sandbox=session.sandbox,
            commands=session.commands,
            observer=session.observer,
        )
        coroutine, children = Coroutine(), Children()

        def work() -> None:
            result = self._agent(engagement)
            if inspect.isawaitable(result):
                coroutine.run(result)

        def clear() -> None:
            # What the harness does for the agent ends properly before anything is interrupted.
            session.commands.close()
            engagement.hang_up()
            children.kill()

        runs: Runs = in_the_main_thread if getattr(self._agent, MAIN_THREAD, False) else in_a_thread
        with children.marked():
            stopped = runs(work, coroutine, session.commands.over, clear)
        if not stopped.in_time:
            reached = session.tracker.reached
            # Without a limit something broke, and the runner knows of it.
            reason = "agent_error" if reached is None else LIMIT_REASONS[reached]
            return Ending(reason, notes=(_STUCK_NOTE,) if stopped.stuck else ())
        return Ending() if stopped.error is None else self._failed(stopped.error, session)

    def _failed(self, error: BaseException, session: Session) -> Ending:
        error = self._reworded(error)
        if isinstance(error, InfrastructureFault | KeyboardInterrupt):
            raise error
        if isinstance(error, LimitReached):
            return Ending(LIMIT_REASONS[error.reason])
        if (reached := session.tracker.reached) is not None:
            return Ending(LIMIT_REASONS[reached])
        if isinstance(error, EngagementOver):
            # Only a fault of the customer's side closes the channel while the agent still works; the runner knows of it.
            return Ending("agent_error", "the engagement ended while the agent was at work")
        if isinstance(error, SystemExit):
            return Ending("agent_exit", f"the agent called sys.exit({error.code!r})")
        text = own_traceback(error)
        session.observer.notify(Event("agent_error", {"traceback": text}))
        fault = fault_of(error)
        return Ending("agent_error", text, fault=None if fault is None else fault.row, cause=None if fault is None else fault.text)
