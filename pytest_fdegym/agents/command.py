"""Runs an agent that is a shell command: in the workspace, inside the sandbox, without network."""

from __future__ import annotations

from pytest_fdegym.agents.commands import LONGEST_SECONDS
from pytest_fdegym.agents.session import Ending, Session
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity

SHOWN_OUTPUT = 4000
"""Characters of a failed command's last output that the record keeps."""
OUTPUT_BYTES = 32 << 20


class CommandAgent:
    """A Deliverer around ``sh -c COMMAND``. The task is in TASK.md and on standard input; people are reached by bin/ask."""

    def __init__(self, identity: AgentIdentity, command: str) -> None:
        self.identity = identity
        self._command = command

    def deliver(self, session: Session) -> Ending:
        seconds = LONGEST_SECONDS if session.tracker.minutes_left is None else 60 * session.tracker.minutes_left
        result = session.commands.run(["sh", "-c", self._command], seconds, output_bytes=OUTPUT_BYTES, stdin=session.brief.encode())
        output = (result.stdout + result.stderr)[-SHOWN_OUTPUT:]
        session.observer.notify(
            Event("command", {"command": self._command, "exit_code": result.exit_code, "stopped_by": result.stopped_by, "output": output})
        )
        if result.stopped_by == "wall":
            return Ending("limit_minutes", output or None)
        if result.stopped_by is not None:
            return Ending("agent_exit", f"the agent's command was stopped: too much {result.stopped_by}\n{output}")
        if result.exit_code != 0:
            return Ending("agent_exit", f"the agent's command ended with exit code {result.exit_code}\n{output}".rstrip())
        return Ending("handover")
