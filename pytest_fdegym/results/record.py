"""The record of one run: what is stored, reported and compared. Versioned; its JSON Schema is in ``schemas/``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Literal[1] = 1
"""Raised when a field changes its meaning or goes away."""

EndReason = Literal["handover", "agent_error", "agent_exit", "limit_turns", "limit_minutes", "limit_usd", "interrupted"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IncidentRecord(_Model):
    id: str
    text: str
    keys: tuple[str, ...] = Field(description="What it happened to; the first ones where there are many.")
    count: int


class KpiName(_Model):
    """What the customer's number is called, and counted in."""

    name: str
    unit: str


class Scores(_Model):
    """Section 3 of the design, unrounded. Charges and scores are in uplift units, KPIs in the customer's unit."""

    kpi: float
    kpi_baseline: float
    kpi_reference: float
    uplift: float
    uplift_adjusted: float
    contact_cost: Annotated[float, Field(ge=0)]
    score: float
    resolved: bool


class AgentIdentity(_Model):
    name: str
    version: str | None = None
    options: dict[str, str] = Field(default_factory=dict)


class Usage(_Model):
    """Model usage as far as it is known; None is unknown, never 0."""

    turns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    usd_at_least: float | None = Field(
        default=None, description="The part of the cost that is known, where usd is unknown because calls had no price."
    )


class Flag(_Model):
    """Something in a run that looks like an attempt to cheat; see `pytest_fdegym.audit`. It proves nothing and changes no score."""

    kind: str = Field(description="A kind of pytest_fdegym.audit.KINDS.")
    text: str = Field(description="What was seen, as a sentence without its end.")
    count: Annotated[int, Field(ge=1)]
    examples: tuple[str, ...] = Field(description="The first ones, shortened.")


class Engaged(_Model):
    """What the agent took of the customer's time, and got."""

    messages: int = 0
    trials: int = 0
    days_waited: int = 0
    facts: tuple[str, ...] = ()
    key_facts: tuple[str, ...] = ()
    """All key facts of the task, obtained or not."""
    worth: dict[str, float] = Field(
        default_factory=dict,
        description="What key facts are worth, as admission measures it on seed 1: 1 less U_adj of the best solution that lacks the fact. "
        "Those of which it is not known are missing.",
    )
    signoffs: tuple[str, ...] = ()


class RunLimits(_Model):
    """What a run was allowed to use; null is no limit."""

    turns: int | None
    minutes: float | None
    usd: float | None


class Regraded(_Model):
    """Of a run whose stored delivery was graded again: what was so when the agent worked."""

    at: datetime = Field(description="When it was graded again, last.")
    times: Annotated[int, Field(ge=1)]
    harness_version: str
    scoring_version: int
    digest: str
    world_digest: str | None
    score: float = Field(description="As it was graded first.")


class Record(_Model):
    """One agent on one task at one level, once."""

    schema_version: Literal[1] = SCHEMA_VERSION
    harness_version: str
    task: str
    scenario: str
    variant: str
    level: str
    sector: str
    run: Annotated[int, Field(ge=1)]
    seed: int
    agent: AgentIdentity
    status: Literal["graded", "void"]
    void_cause: str | None = None
    fault: str | None = Field(None, description="What ended or spoiled the run, as a row of docs/outcomes.md; null for a handover.")
    kpi: KpiName | None = Field(default=None, description="Null where the release that wrote the record did not say.")
    scores: Scores | None = None
    incidents: tuple[IncidentRecord, ...] = ()
    engaged: Engaged = Engaged()
    usage: Usage = Usage()
    end_reason: EndReason | None = None
    agent_error: str | None = Field(None, description="Traceback or last output of an agent that failed.")
    notes: tuple[str, ...] = Field((), description="Plain sentences: what failed in the delivery and what that meant.")
    audit: tuple[Flag, ...] = Field((), description="What looks like an attempt to cheat. It changes no score.")
    details: dict[str, Any] = Field(default_factory=dict, description="The scenario's own figures.")
    isolation: str
    router: str
    gateway: str | None = Field(
        None,
        description="What answered at the customer's LLM gateway: 'simulated', or a real model, with which a result cannot be compared to "
        "others. Null where the customer has no gateway.",
    )
    digest: str = Field(description="Content digest of the task (scenario, variant, seed) and of the harness's scoring.")
    world_digest: str | None = Field(
        None, description="Content digest of the scenario in this variant and of the seed, on which alone runs can be compared."
    )
    met_digest: str | None = Field(
        default=None,
        description="Content digest of what the agent met: its brief, people.yaml, the site and the parameters in their texts. It stays "
        "when the run is graded again. Null where the release that wrote the record did not say.",
    )
    scoring_version: Annotated[int, Field(ge=1)] = Field(1, description="Raised when the harness changes how a delivery is scored.")
    delivery_digest: str | None = None
    limits: RunLimits | None = Field(default=None, description="Null where the release that wrote the record did not say.")
    metered: bool | None = Field(default=None, description="Whether the metering proxy watched the agent's model calls; null as in limits.")
    regraded: Regraded | None = Field(default=None, description="Null for a run whose delivery was graded once, when it was handed over.")
    started_at: datetime
    wall_seconds: float
    harness_cpu_seconds: float = Field(description="CPU of the harness itself: without world building, replay, sandbox start and agent.")

    @property
    def key_facts_obtained(self) -> int:
        """How many key facts the agent got from people."""
        return len(set(self.engaged.facts) & set(self.engaged.key_facts))
