"""The seam between what an agent writes and the topic it asks about: the Router protocol and the data it exchanges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pytest_fdegym.scenario.model import Topic


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
