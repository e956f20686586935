"""How late a limit ends agents that do not stop by themselves, and what is left of them: ``python -m benchmarks.limits [TIMES [LIMIT]]``.

Prints for each agent and limit the seconds from the limit to the frozen delivery (the longest of all times), and how often the ending
was the limit's with no process left.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from tests.runner import test_limits_hold as agents
from tests.support.settings import python_agent, session
from tests.support.tiny_scenario import write_tiny_scenario


class Clock:
    """An Observer that notes when the limit came, and the handover."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}

    def notify(self, event: Event) -> None:
        self.at.setdefault(event.kind, time.monotonic())


def deliverers(reason: str) -> dict[str, Callable[[], Deliverer]]:
    """The agents, by name."""
    found: dict[str, Callable[[], Deliverer]] = {}
    for agent in (*agents.INTERRUPTED, *agents.LEFT_BEHIND):
        found[agent.__name__] = lambda agent=agent: python_agent(agents.spending(agent, reason))  # type: ignore[misc]  # bound now
        found[f"{agent.__name__} (main thread)"] = lambda agent=agent: python_agent(  # type: ignore[misc]  # bound now
            agents.InTheMainThread(agents.spending(agent, reason))
        )
    if reason == "limit_minutes":
        found["a command"] = lambda: CommandAgent(
            AgentIdentity(name="cmd"), "(setsid sh -c 'while :; do :; done' &) ; exec tail -f /dev/null"
        )
    return found


def processes() -> set[int]:
    """What descends from this process."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    mine = {os.getpid()}
    while more := {int(pid) for pid, parent, name in rows if int(parent) in mine and name != "ps"} - mine:
        mine |= more
    return mine - {os.getpid()}


def measured(make: Callable[[], Deliverer], reason: str, case: Case, settings: Settings, times: int) -> tuple[int, float]:
    """How often it ended well, and the longest delay in seconds."""
    well, longest = 0, 0.0
    for _ in range(times):
        clock, before = Clock(), processes()
        record = run(case, make(), dataclasses.replace(settings, limits=agents.LIMITS[reason]), clock)
        well += record.end_reason == reason and record.status == "graded" and processes() <= before
        longest = max(longest, clock.at["handover"] - clock.at["limit"])
    return well, longest


def main(arguments: list[str]) -> int:
    """Print the table; the exit code is 1 if anything did not end well within two seconds."""
    times = int(arguments[0]) if arguments else 3
    wrong: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, session(Path(folder) / "results") as settings:
        case = Case(load(write_tiny_scenario(Path(folder) / "tiny_post")), "v1", "L3")
        for reason in arguments[1:] or agents.LIMITS:
            for name, make in deliverers(reason).items():
                well, longest = measured(make, reason, case, settings, times)
                print(f"{reason:14} {name:36} {well:3} of {times}   at most {longest:.2f} s late", flush=True)
                wrong += [name] if well < times or longest >= 2 else []
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
