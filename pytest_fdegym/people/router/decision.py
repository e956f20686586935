"""What a router decided about one message, as it is stored: one JSON object, the same in event logs and in files of their own.

A decision is found again by its `key`: a digest of the router's id, the person, what of the scenario the question shows, the message, and
the context. A file of decisions has one on each line; in an event log they stand in ``entry.routing.decisions`` of the messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from pytest_fdegym.people.router.base import GateQuestion, RoutablePerson, RouterContext

Kind = Literal["topics", "gate"]
TopicVerdict = Literal["asked", "unsure", "no"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TopicsVerdict(_Model):
    """What a message asks for."""

    message: Literal["specific", "fishing", "off_topic"]
    topics: dict[str, TopicVerdict] = Field(description="In the order in which they are to be taken up; a topic left out is a no.")


class GateVerdict(_Model):
    """What a message shows."""

    shown: dict[str, tuple[str, ...]] = Field(description="By the letter of the condition in the question: what was found for it.")


class Decision(_Model):
    """One verdict and where it came from. Digests are SHA-256 in hexadecimal."""

    format: Literal[1] = 1
    key: str
    router: str
    kind: Kind
    person: str
    topic: str | None = Field(None, description="Whose gate it is.")
    subject: str = Field(description="Digest of what of the scenario the question shows: the person's topics, or the gate.")
    message: str = Field(description="Digest of the message.")
    prompt: str = Field(description="Digest of all that the model was sent.")
    answer: str = Field(description="What the model wrote.")
    answered_by: str | None = Field(None, description="The model's name, as its server gives it.")
    verdict: TopicsVerdict | GateVerdict


def digest(value: Any) -> str:
    """SHA-256 of `value` as canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode()).hexdigest()


class Question(Protocol):
    """What a decision answers."""

    @property
    def kind(self) -> Kind: ...
    @property
    def person(self) -> str: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def subject(self) -> Any:
        """JSON: what of the scenario the question shows."""
        ...

    @property
    def context(self) -> Any:
        """JSON: what was said before."""
        ...


@dataclass(frozen=True)
class AskedTopics:
    """Which of a person's topics a message asks about."""

    who: RoutablePerson
    message: str
    before: RouterContext
    kind: Kind = "topics"
    topic: None = None

    @property
    def person(self) -> str:
        return self.who.id

    @property
    def subject(self) -> Mapping[str, Any]:
        topics = self.who.topics.items()
        return {name: {"about": topic.about, "call_it": topic.call_it, "examples": list(topic.examples)} for name, topic in topics}

    @property
    def context(self) -> Mapping[str, Any]:
        return asdict(self.before)


@dataclass(frozen=True)
class AskedGate:
    """What a message shows of the conditions that are still open in one gate."""

    gate: GateQuestion
    kind: Kind = "gate"
    context: None = None

    @property
    def person(self) -> str:
        return self.gate.person

    @property
    def topic(self) -> str:
        return self.gate.topic

    @property
    def message(self) -> str:
        return self.gate.message

    @property
    def subject(self) -> Mapping[str, Any]:
        conditions = [condition.model_dump(mode="json", exclude_defaults=True) for condition in self.gate.open]
        return {"topic": self.gate.topic, "about": self.gate.about, "wanted": self.gate.wanted, "open": conditions}


def key_of(router: str, question: Question) -> str:
    """The key under which the decision of `router` about `question` is stored."""
    return digest([router, question.kind, question.person, question.subject, question.message, question.context])


def labels(n: int) -> list[str]:
    """The first `n` letters by which a gate's question calls its conditions: a to z, then aa, ab, ..."""
    letters = [chr(ord("a") + i) for i in range(26)]
    return (letters + [first + second for first in letters for second in letters])[:n]
