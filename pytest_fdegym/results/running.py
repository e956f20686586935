"""How a run that is not over stands, as its events tell it: pure, and the same for whoever hears them or reads the growing log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_fdegym.observer import EventKind
from pytest_fdegym.results.record import Usage

SHOWN_AGENT = 30
"""Characters of an agent's name in a line of progress."""


class Running(BaseModel):
    """A run between its start and its grade. `usage` is what is known so far; None in it is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str
    task: str
    level: str
    run: int
    started: datetime
    handed_over: bool = False
    messages: int = 0
    trials: int = 0
    usage: Usage = Usage()

    def line(self, now: datetime) -> str:
        """One line for people: task, level, run, agent, minutes, turns, messages, trials, USD. What is unknown is a question mark."""
        minutes = max(0, int((now - self.started).total_seconds() // 60))
        agent = " ".join(self.agent.split())
        if len(agent) > SHOWN_AGENT:
            agent = agent[: SHOWN_AGENT - 3] + "..."
        figures = [
            f"{minutes} min",
            _count(self.usage.turns, "turn"),
            _count(self.messages, "message"),
            _count(self.trials, "trial"),
            _cost(self.usage),
        ]
        text = f"{self.task} at {self.level}, run {self.run}, agent {agent}: {', '.join(figures)}"
        return f"{text}; handed over, being graded" if self.handed_over else text


def follow(running: Running | None, kind: EventKind | str, data: Mapping[str, Any], time: datetime) -> Running | None:
    """The run after an event that happened at `time`; None where there is none (yet, or any more)."""
    if kind == "start":
        return Running(agent=data["agent"], task=data["task"], level=data["level"], run=data["run"], started=time)
    if running is None or kind in ("grade", "void"):
        return None
    changes: dict[str, Any] = {}
    if "so_far" in data:
        try:
            changes["usage"] = Usage.model_validate(data["so_far"])
        except ValidationError:  # the log of another version
            changes["usage"] = Usage()
    if kind == "message":
        changes["messages"] = running.messages + 1
    elif kind == "trial":
        changes["trials"] = running.trials + 1
    elif kind == "handover":
        changes["handed_over"] = True
    return running.model_copy(update=changes) if changes else running


def _count(number: int | None, what: str) -> str:
    return f"{'?' if number is None else number} {what}{'' if number == 1 else 's'}"


def _cost(usage: Usage) -> str:
    if usage.usd is not None:
        return f"USD {_up(usage.usd)}"
    return "USD ?" if usage.usd_at_least is None else f"USD {_up(usage.usd_at_least)} or more"


def _up(usd: float) -> str:
    """In cents, rounded up: what cost something is not shown as nothing."""
    return f"{math.ceil(round(usd * 100, 6)) / 100:.2f}"
