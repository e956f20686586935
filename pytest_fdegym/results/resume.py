"""Whether a stored run still stands for what would be run now, and if not, why: pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_fdegym.results.record import AgentIdentity, Record, RunLimits

State = Literal["up to date", "missing", "void", "stale"]
SCENARIO = "the scenario was changed"
SCORING = "the harness scores differently now"
HARNESS = "the harness or its Python was changed"
_REGRADE = " (fdegym regrade grades such deliveries again, without the agent)"
NOTHING_TAKEN = "resume: no run is up to date"


@dataclass(frozen=True)
class Conditions:
    """All that a run's outcome depends on beside luck, as its record says it."""

    agent: AgentIdentity
    digest: str
    world_digest: str
    scoring_version: int
    isolation: str
    router: str
    gateway: str | None
    limits: RunLimits
    metered: bool


class Standing(NamedTuple):
    """What a run's record is worth. `why` is empty for one that is up to date."""

    state: State
    why: str = ""

    @property
    def text(self) -> str:
        """``stale: the scenario was changed``"""
        return f"{self.state}: {self.why}" if self.why else self.state


def missing(*, interrupted: bool) -> Standing:
    """Where there is no record; `interrupted` says that there is the log of a run that did not end."""
    return Standing("missing", "interrupted" if interrupted else "")


def standing(record: Record, now: Conditions) -> Standing:
    """What the record in a run's place is worth under the conditions of `now`. What an older release did not record is not compared."""
    if record.status == "void":
        return Standing("void")
    changes = list(_changes(record, now))
    return Standing("stale", ", ".join(changes)) if changes else Standing("up to date")


def _changes(record: Record, now: Conditions) -> Iterable[str]:
    if record.agent != now.agent:
        yield _agent(record.agent, now.agent)
    if record.world_digest != now.world_digest:
        yield SCENARIO
    elif record.scoring_version != now.scoring_version:
        yield SCORING
    elif record.digest != now.digest:
        yield HARNESS
    for name, then, here in (
        ("the router", record.router, now.router),
        ("the model behind the gateway", record.gateway, now.gateway),
        ("the sandbox", record.isolation, now.isolation),
    ):
        if then != here:
            yield f"{name} was {then or 'none'}, now {here or 'none'}"
    if record.limits is not None:
        for name, most, limit in (
            ("turns", record.limits.turns, now.limits.turns),
            ("minutes", record.limits.minutes, now.limits.minutes),
            ("USD", record.limits.usd, now.limits.usd),
        ):
            if most != limit:
                yield f"the limit of {name} was {_limit(most)}, now {_limit(limit)}"
    if record.metered is not None and record.metered != now.metered:
        yield f"metering was {_on(record.metered)}, now {_on(now.metered)}"


def _agent(then: AgentIdentity, now: AgentIdentity) -> str:
    if then.name != now.name:
        return f"the agent was {then.name}, now {now.name}"
    if then.version != now.version:
        return f"the agent's version was {then.version or 'none'}, now {now.version or 'none'}"
    names = sorted(name for name in {*then.options, *now.options} if then.options.get(name) != now.options.get(name))
    return f"the agent's options were others ({', '.join(names)})"


def _limit(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _on(value: bool) -> str:
    return "on" if value else "off"


def told(standings: Iterable[Standing], *, over: bool) -> list[str]:
    """A line for what is up to date, and one for each reason to run the rest, with counts; `over` says that the session has ended."""
    counts = Counter(standings)
    planned, good = sum(counts.values()), counts.pop(Standing("up to date"), 0)
    was, taken = ("were", "taken from the store") if over else ("are", "not run again")
    lines = [f"resume: {good} of {planned} runs {was} up to date, {taken}"] if good else [NOTHING_TAKEN]
    for each, count in sorted(counts.items(), key=lambda pair: (_ORDER.index(pair[0].state), -pair[1], pair[0].why)):
        lines.append(f"resume: {count} {each.text}{_REGRADE if each.why in (SCENARIO, SCORING, HARNESS) else ''}")
    return lines


_ORDER: tuple[State, ...] = ("missing", "void", "stale", "up to date")
