"""Which evidence is put before a judge: gates that are still open, and in them what the patterns leave open and the bounds allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fdegym.people.gates import Shown, complete, figures_of, holds, merged, stuffed
from pytest_fdegym.people.memory import Memory
from pytest_fdegym.people.reading import Reading
from pytest_fdegym.people.router.base import Decisions, GateQuestion, Judge, Judgement
from pytest_fdegym.scenario.model import Condition, Topic


def judged(
    judge: Judge,
    person: str,
    topics: Mapping[str, Topic],
    memory: Memory,
    hits: Shown,
    facts: frozenset[str],
    message: str,
    reading: Reading,
) -> Judgement:
    """Put every open condition of `topics` that `hits` leave unmet before `judge`, one at a time.

    What the ledger decides, what was shown to the person before, and what a message is stuffed with is never put. What the answer to one
    question shows counts for the next.
    """
    found: dict[Condition, frozenset[str]] = {}
    decisions: Decisions = ()
    for name, topic in topics.items():
        for condition, wanted in _looked_for(topic):
            shown, item = merged(memory.shown, merged(hits, found)), figures_of(condition)
            if wanted is not None and (name in memory.passed or (topic.evidence and complete(topic.evidence, shown, facts))):
                continue
            still_open = tuple(
                dict.fromkeys(leaf for leaf in _unmet(condition, shown, facts) if not stuffed(leaf, reading, item, memory.named))
            )
            if still_open:
                judgement = judge.judge(GateQuestion(person, name, topic.about, wanted or "", still_open, message))
                found = merged(found, {leaf: names for leaf, names in judgement.found.items() if leaf in still_open and names})
                decisions += judgement.decisions
    return Judgement(found, decisions)


def _looked_for(topic: Topic) -> Iterator[tuple[Condition, str | None]]:
    """The conditions of `topic`, and what the person says for want of them; None for one that only changes the answer."""
    if topic.evidence is not None:
        for item in topic.evidence.items.values():
            yield item, topic.evidence.miss
    if topic.exclusive is not None and topic.exclusive.shown is not None:
        yield topic.exclusive.shown, None


def _unmet(condition: Condition, shown: Shown, facts: frozenset[str]) -> Iterator[Condition]:
    """The conditions in `condition` that look into messages and could still make it hold."""
    if holds(condition, shown, facts):
        return
    inner = (*(condition.all or ()), *(condition.any or ()))
    for one in inner:
        yield from _unmet(one, shown, facts)
    if not inner and condition.fact is None and condition.trial_report is None:
        yield condition
