"""What ``world.py`` of a scenario exchanges with the harness: plain data and two protocols.

Authors import these names from :mod:`pytest_fdegym.kit`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

#: What travels between the harness and a delivered system: JSON, nothing else.
Json = Any


@dataclass(frozen=True)
class World:
    """What history, traffic, people and briefs share.

    `public` may be named in texts and evidence gates (``{{ world.suspended }}``); `truth` never leaves ``world.py``.
    """

    params: Mapping[str, Any]
    public: Mapping[str, Any] = field(default_factory=dict)
    truth: Any = None


@dataclass(frozen=True)
class Heldout:
    """The evaluation traffic and, apart from it, its truth."""

    traffic: Any
    truth: Any = None


@dataclass(frozen=True)
class SignOff:
    """An approval that a person gave.

    `scope` is the scenario's own payload (classes, sites, amount); `reference` is what the person quoted. `given_at` and the validity are
    simulated times; ``None`` means unbounded.
    """

    id: str
    person: str
    reference: str
    scope: Mapping[str, Any] = field(default_factory=dict)
    given_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    def in_force(self, at: datetime) -> bool:
        """Whether the approval covers the simulated moment `at`."""
        return (self.valid_from is None or self.valid_from <= at) and (self.valid_until is None or at <= self.valid_until)


@dataclass(frozen=True)
class Returned:
    """The call came back with a JSON value."""

    value: Json


@dataclass(frozen=True)
class Raised:
    """The delivered code raised, or returned what JSON cannot carry (``error`` is then ``"NotJSON"``)."""

    error: str
    message: str
    traceback: str = ""


@dataclass(frozen=True)
class TimedOut:
    """The call did not come back within its time (`seconds`, wall clock)."""

    seconds: float


@dataclass(frozen=True)
class Died:
    """The process that held the delivered system ended, or could not be started (import error, memory, missing file)."""

    reason: str


Outcome = Returned | Raised | TimedOut | Died


class DeployedSystem(Protocol):
    """A system in production, as ``operate`` sees it."""

    def call(self, entry_point: str, *args: Json) -> Outcome:
        """Call an entry point of scenario.yaml; connections are injected by the host. Never raises for what the delivery does."""
        ...

    def calls(self, entry_point: str, many: Iterable[Sequence[Json]]) -> list[Outcome]:
        """The same for calls whose arguments do not depend on each other's outcomes; made in order, faster than one by one."""
        ...

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Json]]) -> None:
        """Let production insert its traffic into one of its databases (the mirror gets the same rows)."""
        ...

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes | None:
        """The bytes of a delivered file (``system/release.json``), or None if it is missing, not a regular file, or too large."""
        ...


@dataclass(frozen=True)
class Operations:
    """What the system did during the replay: JSON only, because the baseline's is cached."""

    outputs: Mapping[str, Json]
    notes: Sequence[str] = ()
    """Plain sentences for the score card: calls that failed and what that meant for the customer."""


@dataclass(frozen=True)
class Incident:
    """A predefined operational incident (`id` from scenario.yaml) and the key of what it happened to."""

    id: str
    key: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Measurement:
    """The customer's own number, and what went wrong."""

    kpi: float
    incidents: Sequence[Incident] = ()
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class TableChange:
    """How a table of a production database differs from the mirror that got the same inserts."""

    table: str
    kind: str
    """``rows`` (contents differ), ``schema`` (definition differs), ``missing``, ``new``, ``trigger``, ``unreadable``."""
    detail: str = ""


@dataclass(frozen=True)
class GatewayRequest:
    """One call of the company's LLM gateway. `stage` is ``work`` (the agent at work), ``trial`` or ``production``."""

    stage: str
    model: str
    messages: Sequence[Mapping[str, str]]
    """As in an OpenAI chat completion: `role` and `content`, text only."""

    @property
    def text(self) -> str:
        """All contents, in order, separated by blank lines."""
        return "\n\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True)
class GatewayCall:
    """A call as it was logged. `call` numbers the entry point call (from 0, in the order of the replay) during which it was made."""

    stage: str
    text: str
    answer: str
    usd: float
    call: int | None = None


@dataclass(frozen=True)
class Evidence:
    """What ``measure`` may compare beside the operations themselves."""

    as_found: Operations | None
    """Operations of the system as found on the same traffic; None while that system itself is measured."""
    table_changes: Mapping[str, Sequence[TableChange]] = field(default_factory=dict)
    """Per database: what the delivered system changed beyond production's own inserts."""
    signoffs: Sequence[SignOff] = ()
    contacts: Sequence[Mapping[str, Json]] = ()
    """The ledger's entries (person, text, reply, charge, at), for incidents that lie in what was said to whom."""
    facts: frozenset[str] = frozenset()
    gateway: Sequence[GatewayCall] = ()
    """Calls of the company's LLM gateway in production; what they cost is the KPI's to say."""


@dataclass(frozen=True)
class TrialReport:
    """What the customer's people noticed during a trial run; never the answer key."""

    id: str
    feedback: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values that gates may ask to be cited."""


class WorldModule(Protocol):
    """The functions a ``world.py`` defines (`trial` and `answer` only where scenario.yaml declares a trial or a gateway).

    ``trial(system, n, world, rng) -> TrialReport``: the n-th trial run (from 1), on shadow traffic drawn from `rng`, a stream of its own.
    `system` is the workspace's system as it stands, deployed as in production. What the customer's people noticed, never the answer key.

    ``answer(request, world, heldout) -> str``: the simulated model behind the gateway. `heldout` is None but in production. Deterministic,
    and its errors belong to the item that is asked about, not to the wording or the number of calls.
    """

    def prepare(self, params: Mapping[str, Any], rng: random.Random) -> World: ...

    def build(self, site: Path, world: World, rng: random.Random) -> Mapping[str, Any] | None:
        """Write history and databases into the workspace; may return further public values (they join ``world.public``)."""
        ...

    def heldout(self, world: World, rng: random.Random) -> Heldout: ...

    def operate(
        self,
        system: DeployedSystem,
        heldout: Heldout,
        world: World,
        signoffs: Sequence[SignOff],
        as_found: Operations | None,
    ) -> Operations: ...

    def measure(self, operations: Operations, heldout: Heldout, world: World, evidence: Evidence) -> Measurement: ...
