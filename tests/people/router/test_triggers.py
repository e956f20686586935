"""An author's triggers speak for a topic, never speaks against it."""

from __future__ import annotations

import pytest

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.router import RoutablePerson, RouterContext, default_router
from pytest_fdegym.people.router.triggers import literal_words
from tests.people.router.companies import COUNT, MANAGER, RETURNS


def topics_of(message: str, person: RoutablePerson = MANAGER) -> list[str]:
    routing = default_router().route(person, message, RouterContext())
    return [candidate.topic for candidate in routing.topics] if routing.verdict == "topics" else []


def test_a_trigger_finds_words_that_no_example_has() -> None:
    assert topics_of("Is the inventory going to be on a Saturday?") == ["count"]
    untriggered = RoutablePerson("manager", {"count": COUNT.model_copy(update={"triggers": ()}), "returns": RETURNS}, MANAGER.others)
    assert topics_of("Is the inventory going to be on a Saturday?", untriggered) == []


def test_a_trigger_forgives_a_slip_of_the_pen() -> None:
    assert topics_of("when does the inventroy take place") == ["count"]


def test_never_wins_over_triggers_and_similarity() -> None:
    message = "When is the stock count, and can I count on a list of it?"
    assert topics_of(message) == []
    count = COUNT.model_copy(update={"never": ()})
    assert topics_of(message, RoutablePerson("manager", {"count": count, "returns": RETURNS}, MANAGER.others)) == ["count"]


def test_never_speaks_of_its_sentence_only() -> None:
    assert topics_of("Can I count on you? When is the stock count?") == ["count"]


def test_two_triggers_of_two_topics_route_to_both() -> None:
    assert sorted(topics_of("When is the stock count, and who accepts returned goods?")) == ["count", "returns"]


def test_the_words_of_a_trigger_are_known_to_the_spelling() -> None:
    assert literal_words(COUNT) >= {"stock", "inventory", "taking"}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("triggers", "manager.topics.count.triggers[0]: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("never", "manager.topics.count.never[0]: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ],
)
def test_a_pattern_that_is_none_names_its_key(key: str, message: str) -> None:
    person = RoutablePerson("manager", {"count": COUNT.model_copy(update={key: ("(",)})})
    with pytest.raises(ScenarioError) as caught:
        default_router().route(person, "When is the count?", RouterContext())
    assert str(caught.value) == message


def test_a_broken_pattern_of_somebody_else_names_theirs() -> None:
    person = RoutablePerson("buyer", MANAGER.topics, {"keeper/keys": COUNT.model_copy(update={"triggers": ("(",)})})
    with pytest.raises(ScenarioError, match=r"^keeper\.topics\.keys\.triggers\[0\]: "):
        default_router().route(person, "When is the count?", RouterContext())
