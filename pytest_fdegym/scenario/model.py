"""The shape of what an author writes: scenario.yaml, people.yaml and a solution's manifest.yaml.

Any text may be a template (``{{ allow }}``, ``{{ world.suspended }}``). A model here serves twice: for the file as written, where a
number in an evidence condition may still be a template, and for the file with a variant's parameters filled in, where it is a number.
The JSON Schemas in ``schemas/`` are generated from these models.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
VariantId = Annotated[str, Field(pattern=r"^v[1-9][0-9]*$")]
Level = Literal["L0", "L1", "L2", "L3"]
LEVELS: tuple[Level, ...] = ("L0", "L1", "L2", "L3")
GATEWAY = "gateway"
"""What `inject` names beside the databases."""
Charge = Annotated[float, Field(ge=0, le=1)]
"""Uplift units."""
Template = Annotated[str, Field(pattern=r"\{\{.*\}\}")]


def _relative(path: str) -> str:
    if path.startswith("/") or "\\" in path or not path or ".." in PurePosixPath(path).parts:
        raise ValueError("a path inside the workspace, with forward slashes and without '..', is expected")
    return path


RelativePath = Annotated[str, AfterValidator(_relative)]


class Model(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limited(Model):
    """Something that may exist in some variants only."""

    only_in: tuple[VariantId, ...] | None = Field(default=None, description="The variants that have it; all when absent.")
    not_in: tuple[VariantId, ...] = Field(default=(), description="The variants that do not have it.")

    def exists_in(self, variant: str) -> bool:
        """Whether `variant` has this."""
        return (self.only_in is None or variant in self.only_in) and variant not in self.not_in


# --- scenario.yaml -----------------------------------------------------------


class Kpi(Model):
    """The customer's own number."""

    name: str
    unit: str
    minimum_gap: Annotated[float, Field(gt=0)] = Field(
        description="The least |kpi_reference - kpi_baseline| (in the KPI's unit) that makes the scenario worth grading."
    )


class Calendar(Model):
    """The simulated calendar of an engagement."""

    start: datetime = Field(description="When the engagement begins (a working moment).")
    day_starts: time = time(8, 0)
    day_ends: time = time(18, 0)
    weekdays: tuple[Annotated[int, Field(ge=1, le=7)], ...] = Field((1, 2, 3, 4, 5), description="ISO weekdays that are worked.")
    message_minutes: Annotated[int, Field(ge=1, le=600)] = Field(120, description="Simulated minutes that an answered message takes.")
    waited_day_charge: Charge = Field(0.0, description="Charge for each working day skipped by waiting.")


class IncidentSpec(Limited):
    text: str = Field(description="What happened, in the customer's words; shown on the score card.")


class Draw(Model):
    """Where a seed other than 1 takes a parameter's value from: `choices`, or the numbers from `low` to `high` in steps of `step`."""

    choices: tuple[Any, ...] | None = None
    low: float | None = None
    high: float | None = None
    step: Annotated[float, Field(gt=0)] = 1.0


class Parameter(Model):
    """A value of the world that variants may override.

    With `draw`, seeds other than 1 redraw it, so that a memorised value is worth nothing; a variant that overrides the value may override
    the draw as well (`draws`).
    """

    value: Any
    about: str = ""
    draw: Draw | None = None


class FactSpec(Limited):
    text: str = Field(description="The statement that an agent can learn.")
    key: bool = Field(False, description="To be obtained from people; its worth is measured by ablations.")


class EntryPoint(Limited):
    """A function of the delivered system that production calls."""

    file: RelativePath = Field(description="Python file in a deployed folder, relative to the workspace (system/npt/coder.py).")
    function: Identifier
    inject: Mapping[Identifier, Identifier] = Field(
        default_factory=dict, description="Keyword argument -> database (or `gateway`) that the host passes under that name."
    )
    seconds: Annotated[float, Field(gt=0, le=120)] = Field(10.0, description="Wall time that one call may take.")


class Database(Model):
    """A SQLite file of the customer's. Production has its own copy of it, as built; the delivery never brings one."""

    file: RelativePath
    protected: tuple[str, ...] = Field(description="Tables that only production writes.")
    may_create_tables: bool = Field(True, description="Whether the delivery may have tables of its own beside them.")


class Trial(Limited):
    """Trial runs of the workspace's system on shadow traffic, while the agent works."""

    runs: Annotated[int, Field(ge=1, le=20)] = Field(description="How many the customer allows.")
    charges: tuple[Charge, ...] = Field(min_length=1, description="Charge of each run; the last one repeats.")
    minutes: Annotated[int, Field(ge=0, le=6000)] = Field(0, description="Simulated working minutes that a run takes.")


class Gateway(Limited):
    """The company's LLM gateway: OpenAI-compatible, answered by ``answer`` in world.py unless a real model is put behind it."""

    models: tuple[str, ...] = Field(min_length=1, description="Names under which it serves; any of them reaches the same model.")
    usd_per_call: Annotated[float, Field(ge=0)] = Field(description="What a call costs the customer.")
    work_calls: Annotated[int, Field(ge=0)] = Field(description="Calls that an engineer may make while working.")
    client: RelativePath = Field("system/gateway.py", description="Where the small client is laid into the workspace.")


class VariantSpec(Model):
    title: str
    parameters: Mapping[Identifier, Any] = Field(default_factory=dict, description="Overrides of `parameters`.")
    draws: Mapping[Identifier, Draw | None] = Field(
        default_factory=dict, description="Overrides of a parameter's `draw`; null: this variant's value is the same under every seed."
    )
    sponsor_right: bool = Field(False, description="The instruction taken literally is right here (literal >= 0.95).")


class ScenarioFile(Model):
    """scenario.yaml"""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
    title: str
    sector: str
    country: str
    customer: str
    sponsor: Identifier
    kpi: Kpi
    calendar: Calendar
    incidents: Mapping[Identifier, IncidentSpec]
    parameters: Mapping[Identifier, Parameter]
    facts: Mapping[Identifier, FactSpec]
    deployed: tuple[RelativePath, ...] = Field(("system",), min_length=1, description="Folders of the workspace that are the delivery.")
    entry_points: Mapping[Identifier, EntryPoint] = Field(min_length=1)
    databases: Mapping[Identifier, Database] = Field(default_factory=dict)
    trial: Trial | None = None
    gateway: Gateway | None = None
    variants: Mapping[VariantId, VariantSpec] = Field(min_length=1)


# --- people.yaml -------------------------------------------------------------


class Condition(Model):
    """One thing to be shown to a person; exactly one of the kinds below is given.

    A number matches with a tolerance (`within` relative, `plus_minus` absolute); `near` is a pattern that must stand within 60
    characters of the match. `all` and `any` nest. `fact` looks in the ledger, never in the message.
    """

    number: float | Template | None = None
    within: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    plus_minus: Annotated[float, Field(ge=0)] = 0.0
    id: str | None = Field(None, description="An identifier, separators and case aside (Amendment 3, INV-2024-0077).")
    ids: tuple[str, ...] | Template | None = Field(None, description="A set of identifiers, often computed ({{ world.suspended_rigs }}).")
    at_least: Annotated[int, Field(ge=1)] = Field(1, description="How many of `ids` are to be named.")
    document: str | None = Field(None, description="A file name of the workspace; its words in order suffice.")
    phrase: str | None = Field(None, description="A regular expression, case aside.")
    fact: Identifier | None = Field(None, description="A fact that somebody released to the agent (in the ledger).")
    trial_report: Literal[True] | None = Field(None, description="The id of a trial report of this engagement (the ledger knows them).")
    near: str | None = None
    all: tuple[Condition, ...] | None = None
    any: tuple[Condition, ...] | None = None


class Evidence(Model):
    """What has to be shown before a topic is answered; what was shown to this person earlier counts."""

    items: Mapping[Identifier, Condition] = Field(min_length=1)
    need: Annotated[int, Field(ge=1)] | None = Field(None, description="How many of the items; all when absent.")
    miss: str = Field(description="What the person says (and is charged) while it is not shown.")


class Requires(Model):
    """What the agent must already have obtained (the ledger decides; a brief does not count)."""

    facts: tuple[Identifier, ...] = ()
    signoffs: tuple[Identifier, ...] = ()
    miss: str


class Exclusive(Model):
    """When it holds, this topic's answer replaces whatever else the reply would say."""

    shown: Condition | None = Field(None, description="Holds once this was shown to the person; always when absent.")


class SignOffSpec(Model):
    """The approval that an answer gives."""

    id: Identifier
    reference: str
    scope: Mapping[str, Any] = Field(default_factory=dict)
    valid_from: datetime | None = None
    valid_until: datetime | None = None


class Stall(Model):
    """The person needs time first; asking again after it gets the answer. A stall is free."""

    working_days: Annotated[int, Field(ge=1, le=30)]
    says: str


class OpensWhen(Model):
    """The topic exists only from then on."""

    left: Identifier | None = Field(None, description="That person has left.")
    at: datetime | None = None
    fact: Identifier | None = None


class Topic(Limited):
    """What a person can speak about."""

    about: str = Field(description="What it is about, in plain words; read by the router.")
    call_it: str = Field(description="How the person names it when asking back: 'Do you mean X, or Y?'")
    examples: tuple[str, ...] = Field(min_length=3, description="Questions that ask for it.")
    triggers: tuple[str, ...] = Field((), description="Regular expressions, case aside, any of which speaks for the topic.")
    never: tuple[str, ...] = Field((), description="Regular expressions that speak against it.")
    answer: str
    facts: tuple[Identifier, ...] = Field((), description="Released with the answer.")
    misconception: bool = Field(False, description="The person believes it, and is wrong.")
    evidence: Evidence | None = None
    requires: Requires | None = None
    stalls: Stall | None = None
    available_at: datetime | None = Field(None, description="Before this the person has nothing to say about it yet.")
    not_yet: str = Field("I don't have that yet.", description="What is said before `available_at`; free.")
    exclusive: Exclusive | None = None
    signoff: SignOffSpec | None = None
    opens_when: OpensWhen | None = None


class Restricted(Model):
    """Contact with this person is not the agent's to make."""

    charge: Charge
    reply: str
    still_answers: bool = False


class Away(Limited):
    until: datetime
    reply: str


class Leaves(Limited):
    """The person leaves at a time, or after the agent has had N charged replies in all (from anybody)."""

    at: datetime | None = None
    after_messages: Annotated[int, Field(ge=1)] | None = None
    reply: str = Field(description="The automatic reply afterwards; free.")


class Person(Limited):
    name: str
    role: str
    directory: str = Field(description="The line in the staff directory.")
    rate: Charge = Field(description="Charge of a reply; the agent is never told.")
    patience: Annotated[int, Field(ge=1)] = Field(description="Charged replies at the plain rate.")
    impatience_factor: Annotated[float, Field(ge=1)] = 3.0
    fallback: str = Field(description="Said, and charged, when the question is clearly none of this person's topics.")
    asks_back: str = Field("Which do you mean: {topics}?", description="{topics} stands for the candidates, as `call_it` names them.")
    asks_back_one: str = Field("Do you mean {topics}?", description="The same where there is a single candidate.")
    restricted: Restricted | None = None
    away: Away | None = None
    leaves: Leaves | None = None
    topics: Mapping[Identifier, Topic]


class InboxMessage(Limited):
    """Arrives on a time, after a fact was released, or after N charged replies; reading is free."""

    sender: str = Field(description="A person's id, or a name from outside.")
    subject: str
    text: str
    at: datetime | None = None
    after_fact: Identifier | None = None
    after_messages: Annotated[int, Field(ge=1)] | None = None
    facts: tuple[Identifier, ...] = ()


class ExpertStep(Limited):
    """One step of the expert path: a message to somebody, a wait, or a trial run of the reference solution."""

    ask: Identifier | None = None
    say: str | None = None
    wait_until: datetime | None = None
    trial: Literal[True] | None = Field(None, description="A trial run of the reference; what is said later may name its report's id.")


class PeopleFile(Model):
    """people.yaml"""

    people: Mapping[Identifier, Person] = Field(min_length=1)
    inbox: Mapping[Identifier, InboxMessage] = Field(default_factory=dict)
    expert: tuple[ExpertStep, ...] = Field(min_length=1)


# --- solutions/**/manifest.yaml ----------------------------------------------


class GrantedSignOff(Limited):
    """A sign-off that an overlay is granted, since it holds no conversation: by topic, as ``person/topic`` of people.yaml."""

    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+/[A-Za-z0-9_]+$")]


class GrantedFacts(Limited):
    """Facts that an overlay is granted in some of its variants only."""

    facts: tuple[Identifier, ...] = Field(min_length=1)


class SolutionManifest(Limited):
    """manifest.yaml of a folder in solutions/; the rest of the folder is laid over the workspace.

    Files that end in ``.j2`` are templates and lose the suffix.
    """

    what: str = Field(description="What it does, in a sentence.")
    based_on: str | None = Field(None, description="Another solution (reference, shortcuts/owner_only) that is laid down first.")
    remove: tuple[RelativePath, ...] = Field((), description="Paths of the workspace that are taken away first.")
    script: RelativePath | None = Field(
        None, description="A Python script run in the workspace, where an overlay cannot say it; not delivered."
    )
    granted_signoffs: tuple[GrantedSignOff, ...] = Field(
        (), description="The topic must exist in all of the solution's variants, or in those to which the grant is limited."
    )
    granted_facts: tuple[Identifier | GrantedFacts, ...] = Field(
        (), description="Facts of all of the solution's variants, by name; others as {facts: [...], only_in: [...]} or with not_in."
    )
    right_in: tuple[VariantId, ...] = Field((), description="Variants in which it is as good as the reference.")
    expect: tuple[float, float] | None = Field(None, description="The range of U_adj that the author saw; reported when left.")

    def signoffs_granted_in(self, variant: str) -> tuple[str, ...]:
        """The topics (``person/topic``) whose sign-offs are granted in `variant`."""
        return tuple(each.topic for each in self.granted_signoffs if each.exists_in(variant))

    def facts_granted_in(self, variant: str) -> frozenset[str]:
        """The facts that are granted in `variant`."""
        groups = (GrantedFacts(facts=(each,)) if isinstance(each, str) else each for each in self.granted_facts)
        return frozenset(fact for group in groups if group.exists_in(variant) for fact in group.facts)
