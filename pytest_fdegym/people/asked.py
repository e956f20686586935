"""From what the router makes of a message to what the person takes up: topics, a question back, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_fdegym.people.gates import Shown, adds_a_piece
from pytest_fdegym.people.memory import Memory
from pytest_fdegym.people.router.base import Candidate, Routing
from pytest_fdegym.scenario.model import Topic

MAX_TOPICS = 4
"""Topics answered (or asked back about) in one reply."""
MAX_ASK_BACKS = 2
"""Questions back in a row, per person; the next unclear message is a miss."""
CLEAR_LEAD = 0.25
"""How far the first candidate must be ahead of the second (or of 0) to be answered after `MAX_ASK_BACKS`."""


@dataclass(frozen=True)
class Asked:
    """What the person takes up: topics to speak about, or candidates to ask back about; neither is a miss."""

    topics: tuple[str, ...] = ()
    ask_back: tuple[str, ...] = ()
    left_over: bool = False
    """More topics were asked for than one reply takes."""


def follow_ups(topics: Mapping[str, Topic], memory: Memory, hits: Shown, facts: frozenset[str]) -> tuple[str, ...]:
    """Topics refused before for which this message shows a missing piece: it asks for them again, whatever the router finds."""
    return tuple(
        name
        for name in reversed(memory.refused)
        if (topic := topics.get(name)) is not None
        and topic.evidence is not None
        and adds_a_piece(topic.evidence, memory.shown, hits, facts)
    )


def trusted(routing: Routing, topics: Mapping[str, Topic]) -> Routing:
    """`routing` without unknown or repeated topics, most certain first; with no topic left it is a miss."""
    if routing.verdict not in ("topics", "unsure"):
        return Routing(routing.verdict)
    best: dict[str, Candidate] = {}
    for candidate in sorted(routing.topics, key=lambda candidate: -candidate.score):
        if candidate.topic in topics:
            best.setdefault(candidate.topic, candidate)
    return replace(routing, topics=tuple(best.values())) if best else Routing("miss")


def taken_up(routing: Routing, again: tuple[str, ...], memory: Memory) -> Asked:
    """Decide from a `trusted` routing and the follow-ups, which are certain and come first.

    An unsure router makes the person ask back, at most `MAX_ASK_BACKS` times in a row; after that the message is a miss unless one
    candidate is clearly ahead, which is then answered. Where a follow-up is certain nothing is asked back.
    """
    found = [candidate.topic for candidate in routing.topics]
    if routing.verdict == "unsure":
        if again:
            found = []
        elif memory.asked_back_in_a_row < MAX_ASK_BACKS:
            return Asked(ask_back=tuple(found[:MAX_TOPICS]))
        else:
            second = routing.topics[1].score if len(routing.topics) > 1 else 0.0
            found = found[:1] if routing.topics[0].score - second >= CLEAR_LEAD else []
    wanted = tuple(dict.fromkeys((*again, *found)))
    return Asked(topics=wanted[:MAX_TOPICS], left_over=len(wanted) > MAX_TOPICS)
