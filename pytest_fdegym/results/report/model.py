"""What a report says, in figures: the same for the page, Markdown, tables and programs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.verdict import Verdict

SCHEMA_VERSION: Literal[1] = 1
"""Raised when a field changes its meaning or goes away."""

Outcome = Literal["resolved", "not resolved", "below do-nothing", "incident", "void"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentSummary(_Model):
    """One agent over all its runs. Means are over tasks (at a level), each weighing the same; scores are floored as averages demand."""

    agent: str = Field(description="Its name in this report, with version and options where the name alone does not tell it from others.")
    identity: AgentIdentity
    planned: int = Field(description="Runs that were asked for, as far as that is known; else those that have a record.")
    graded: int
    void: int
    tasks: int = Field(description="Tasks (at a level) with a graded run.")
    resolved: int = Field(description="Runs.")
    incidents: int = Field(description="Graded runs with at least one incident.")
    mean_score: float | None
    low_by_task: float | None = Field(description="Of the mean score: the 95 % bootstrap interval over tasks; null where there is none.")
    high_by_task: float | None
    low_by_scenario: float | None = Field(description="The same, clustered by scenario.")
    high_by_scenario: float | None
    mean_uplift: float | None
    mean_contact_cost: float | None
    mean_usd: float | None = Field(description="Model cost of a run, over the runs of which it is known.")
    usd_known: int
    resolved_share: float | None = Field(description="Of tasks (at a level): of a task's runs first, then over tasks.")
    resolved_low: float | None = Field(description="Its 95 % interval (Wilson).")
    resolved_high: float | None


class TaskRow(_Model):
    """One agent on one task at one level: its runs together."""

    agent: str
    task: str
    scenario: str
    variant: str
    level: str
    sector: str
    runs: int
    void: int
    resolved: int
    score: float | None = Field(description="Mean over the graded runs of max(U_adj, -1) - C.")
    uplift: float | None
    uplift_adjusted: float | None = Field(description="Mean over the graded runs of max(U_adj, -1).")
    contact_cost: float | None
    key_facts: float | None = Field(description="Mean share of the key facts that people told; null where a task has none.")
    usd: float | None = Field(description="Mean over the runs of which it is known.")
    incidents: tuple[str, ...]


class RunRow(_Model):
    """One run. Scores and charges are in uplift units, KPIs in the customer's unit."""

    agent: str
    task: str
    scenario: str
    variant: str
    level: str
    sector: str
    run: int
    seed: int
    outcome: Outcome
    score: float | None
    floored_score: float | None = Field(description="The run's part in averages: max(U_adj, -1) - C.")
    uplift: float | None
    uplift_adjusted: float | None
    contact_cost: float | None
    kpi_name: str | None = Field(description="What the customer's number is called; null where the record does not say.")
    kpi_unit: str | None
    kpi: float | None
    kpi_baseline: float | None
    kpi_reference: float | None
    messages: int
    trials: int
    days_waited: int
    key_facts_obtained: int
    key_facts: int
    incidents: str = Field(description="Their ids, separated by spaces.")
    audit: str = Field(description="Kinds of what looks like an attempt to cheat, separated by spaces; it changes no score.")
    regraded: int = Field(description="How often the stored delivery was graded again.")
    end_reason: str | None
    fault: str | None
    turns: int | None
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    usd_at_least: float | None
    wall_seconds: float
    isolation: str
    router: str
    gateway: str | None
    scoring_version: int
    harness_version: str
    world_digest: str | None
    digest: str
    started_at: str = Field(description="ISO 8601, UTC.")


class LevelPoint(_Model):
    """The mean score of an agent at a level, with its interval over tasks."""

    agent: str
    level: str
    tasks: int
    score: float
    low: float | None
    high: float | None


class KeyFactsPoint(_Model):
    """The mean adjusted uplift (at least -1) of runs that were told a like share of the key facts."""

    agent: str
    share: str = Field(description="none, under half, half or more, or all")
    told: float = Field(description="The mean share of the key facts that people told.")
    runs: int
    tasks: int
    uplift: float = Field(description="Mean over tasks (at a level), of a task's runs of this kind first.")


class CostPoint(_Model):
    """What an agent cost, and what it scored."""

    agent: str
    usd: float | None = Field(description="Mean model cost of a run; null where it is not known of any.")
    contact_cost: float
    score: float
    low: float | None
    high: float | None


class BandShare(_Model):
    """The share of an agent's runs whose score is in a band; of a task's runs first, then over tasks."""

    agent: str
    band: str
    share: float


class ScenarioCell(_Model):
    """The mean score of an agent over a scenario's tasks (at a level)."""

    agent: str
    scenario: str
    tasks: int
    score: float


class BelowDoNothing(_Model):
    """How often an agent left the customer worse off than if it had done nothing: the share of runs with a score below 0."""

    agent: str
    share: float
    low: float | None = Field(description="The 95 % interval (Wilson), with as many trials as tasks.")
    high: float | None
    tasks: int


class Figures(_Model):
    """What the figures show, row by row."""

    score_by_level: tuple[LevelPoint, ...]
    key_facts_uplift: tuple[KeyFactsPoint, ...]
    cost_score: tuple[CostPoint, ...]
    score_bands: tuple[BandShare, ...]
    scenario_agent: tuple[ScenarioCell, ...]
    below_do_nothing: tuple[BelowDoNothing, ...]


class Report(_Model):
    """All figures of a report."""

    schema_version: Literal[1] = SCHEMA_VERSION
    harness_version: str
    title: str
    made_at: str = Field(description="ISO 8601, UTC.")
    cautions: tuple[str, ...] = Field(description="Sentences on what must not be compared, or is not known.")
    verdicts: tuple[Verdict, ...] = Field(description="Verdicts of the baseline gate that were found beside the runs.")
    agents: tuple[AgentSummary, ...]
    tasks: tuple[TaskRow, ...]
    figures: Figures
    runs: tuple[RunRow, ...]
