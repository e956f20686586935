"""Whatever a model writes, a verdict names only what was asked about, and shows only what stands in the message."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.people.mentions import key_of
from pytest_fdegym.people.router.answers import Unusable, verdict_of
from pytest_fdegym.people.router.base import GateQuestion, RoutablePerson, RouterContext
from pytest_fdegym.people.router.decision import AskedGate, AskedTopics, GateVerdict, TopicsVerdict, labels
from pytest_fdegym.scenario.model import Condition, Topic
from tests.people.scripts import topic

MESSAGE = "By the third amendment 150 lines go, half of the rest too. Rigs 104 and 109."
OPEN = tuple(
    Condition.model_validate(condition)
    for condition in (
        {"number": 212, "within": 0.1},
        {"id": "Amendment 3"},
        {"ids": ["IB-104", "IB-109", "IB-117"]},
        {"document": "docs/contract.md"},
        {"phrase": "paper"},
    )
)
QUESTION = AskedGate(GateQuestion("gwen", "approval", "approval", "", OPEN, MESSAGE))
TOPICS = AskedTopics(
    RoutablePerson("gwen", {name: Topic.model_validate(topic(name)) for name in ("pay", "leave")}), MESSAGE, RouterContext()
)

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["asked", "unsure", "no", "IB-104"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "pay", "quote", "x"]), inner, max_size=3),
    max_leaves=8,
)
quotes = st.text(max_size=6) | st.sampled_from(["150 lines", "half of the rest", "Rigs 104 and 109", "third amendment", "the"])
claims = st.fixed_dictionaries(
    {"quote": quotes | anything},
    optional={"value": anything | st.just(212), "named": anything | st.lists(st.sampled_from(["IB-104", "IB-109", "IB-117", "IB-1"]))},
)


@given(st.text() | anything.map(json.dumps))
def test_any_text_is_a_verdict_or_unusable(answer: str) -> None:
    for question in (TOPICS, QUESTION):
        with contextlib.suppress(Unusable):
            verdict_of(question, answer)


@given(st.dictionaries(st.sampled_from(["pay", "leave", "root", "Pay", ""]), st.sampled_from(["asked", "unsure", "no"]) | anything))
def test_only_topics_that_exist(topics: dict[str, Any]) -> None:
    try:
        verdict = verdict_of(TOPICS, json.dumps({"message": "specific", "topics": topics}))
    except Unusable:
        return
    assert isinstance(verdict, TopicsVerdict)
    assert verdict.topics == {name: said for name, said in topics.items() if name in ("pay", "leave")}


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e", "f", "A"]), claims | anything))
def test_only_what_the_message_bears_out(shown: dict[str, Any]) -> None:
    try:
        verdict = verdict_of(QUESTION, json.dumps({"shown": shown}))
    except Unusable:
        return
    assert isinstance(verdict, GateVerdict)
    possible = {
        "a": {"number"},
        "b": {key_of("Amendment 3")},
        "c": {key_of("IB-104"), key_of("IB-109")},
        "d": {"document"},
        "e": {"phrase"},
    }
    assert all(set(names) <= possible[letter] for letter, names in verdict.shown.items())
    assert all(shown[letter]["quote"].strip().lower() in MESSAGE.lower() for letter in verdict.shown)
    assert "a" not in verdict.shown  # "half of the rest" may be 212; whether it is, only who counted can tell


def test_letters_go_on_after_z() -> None:
    assert labels(3) == ["a", "b", "c"]
    assert labels(54)[24:30] == ["y", "z", "aa", "ab", "ac", "ad"]
    assert len(set(labels(702))) == 702
