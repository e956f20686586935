"""The seam between what an agent writes and what it means: the Router and Judge protocols and the data they exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from pytest_fdegym.scenario.model import Condition, Topic

Decisions = tuple[Mapping[str, Any], ...]
"""JSON: how a router came to a verdict, where running it again would not tell; kept in the event log."""


@dataclass(frozen=True)
class Candidate:
    """A topic and the calibrated probability (0 to 1) that the message asks for it."""

    topic: str
    score: float


@dataclass(frozen=True)
class Routing:
    """What a message asks for.

    ``topics``: asked for, most certain first. ``unsure``: `topics` are what the person should ask back about. ``miss``: clearly none of
    this person's topics. ``fishing``: a broad question that matches nothing on purpose.
    """

    verdict: Literal["topics", "unsure", "miss", "fishing"]
    topics: tuple[Candidate, ...] = ()
    decisions: Decisions = ()


@dataclass(frozen=True)
class RouterContext:
    """What was said before between the agent and this person."""

    recent: tuple[str, ...] = ()
    """Topics this person last spoke about ("and what about the others?")."""
    pending: str | None = None
    """The topic this person last refused for want of evidence or of something required, and has not answered since."""
    asked_back: tuple[str, ...] = ()
    """Candidates of a question that this person has just asked back ("yes, the first one")."""


@dataclass(frozen=True)
class RoutablePerson:
    """A person with the topics that exist now, texts filled in."""

    id: str
    topics: Mapping[str, Topic]
    others: Mapping[str, Topic] = field(default_factory=dict)
    """The topics of everybody else that exist now, as ``person/topic``: a background that tells what is not this person's to answer."""


class Router(Protocol):
    """Decides which topics of the addressed person a message asks about. Deterministic for tests; never changes its arguments."""

    @property
    def id(self) -> str:
        """Names behaviour (``embedded-1``): it goes into every record and changes whenever behaviour does."""
        ...

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        """Route one message. An exception leaves the conversation as it was (nothing charged, no time passed)."""
        ...


@dataclass(frozen=True)
class GateQuestion:
    """Does a message show what a person still wants to see?"""

    person: str
    topic: str
    about: str
    """What the topic is about."""
    wanted: str
    """What the person says while it is not shown; empty where nothing is said."""
    open: tuple[Condition, ...]
    """Conditions that look into messages and that the patterns do not find met; none twice."""
    message: str


@dataclass(frozen=True)
class Judgement:
    """What a message shows of the open conditions, as `pytest_fdegym.people.gates.find` says it; nothing for one it does not show."""

    found: Mapping[Condition, frozenset[str]]
    decisions: Decisions = ()


@runtime_checkable
class Judge(Protocol):
    """A router that can also say whether a message shows evidence which no pattern finds in it."""

    def judge(self, question: GateQuestion) -> Judgement:
        """Judge one gate. An exception leaves the conversation as it was."""
        ...
