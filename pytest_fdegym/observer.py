"""How the core tells what happens, without knowing who listens (the event log, pytest's hooks, a terminal)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

EventKind = Literal[
    "start",
    "message",
    "inbox",
    "wait",
    "trial",
    "gateway",
    "command",
    "refused",
    "usage",
    "limit",
    "agent_error",
    "handover",
    "replay",
    "grade",
    "void",
    "retry",
]


@dataclass(frozen=True)
class Event:
    """Something that happened in a run. `at` is the simulated time where there is one; `data` is JSON."""

    kind: EventKind
    data: Mapping[str, Any] = field(default_factory=dict)
    at: datetime | None = None


class Observer(Protocol):
    """Listens to one run's events, in order, from the thread in which they happen."""

    def notify(self, event: Event) -> None: ...


class Observers:
    """Several observers as one."""

    def __init__(self, members: Iterable[Observer]) -> None:
        self._members = tuple(members)

    def notify(self, event: Event) -> None:
        for member in self._members:
            member.notify(event)
