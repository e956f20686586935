"""The default router: verdicts, boundaries between people, determinism, caching by content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fdegym.people.bad_request import MAX_MESSAGE
from pytest_fdegym.people.router import Candidate, RoutablePerson, RouterContext, Routing, default_router
from pytest_fdegym.people.router.embedded import decide
from pytest_fdegym.people.router.weights import Thresholds
from tests.people.router.companies import BUYER, COUNT, MANAGER, PRICES, RETURNS

ROUTER = default_router()
THRESHOLDS = Thresholds(answer=0.4, release=0.6, despite_broad=0.8, ask_back=0.1)


def route(person: RoutablePerson, message: str) -> tuple[str, list[str]]:
    routing = ROUTER.route(person, message, RouterContext())
    return routing.verdict, [candidate.topic for candidate in routing.topics]


def test_the_default_router_has_a_fixed_id() -> None:
    assert default_router().id == "embedded-1"


def test_a_question_goes_to_its_topic() -> None:
    assert route(MANAGER, "When is the stock count?") == ("topics", ["count"])


def test_a_question_behind_much_context_goes_to_its_topic() -> None:
    message = """Hello,

    I am the outside engineer. I looked at 2,314 parcels of last year and the prices we paid for them. About a third came back to us.
    The list has a column for the shelf, which is mostly empty.

    Where are returned items stored?

    Best,
    Ada"""
    assert route(MANAGER, message) == ("topics", ["returns"])


def test_somebody_elses_question_is_rejected() -> None:
    assert route(MANAGER, "Who negotiates the purchase prices?") == ("miss", [])
    assert route(BUYER, "Who negotiates the purchase prices?") == ("topics", ["prices"])


@pytest.mark.parametrize(
    "message", ["How was your weekend?", "What is the wifi password?", "Please translate this into French.", "", "???", "12"]
)
def test_what_is_nobodys_topic_is_rejected(message: str) -> None:
    assert route(MANAGER, message) == ("miss", [])


def test_a_person_without_topics_misses_everything() -> None:
    assert route(RoutablePerson("nobody", {}), "When is the stock count?") == ("miss", [])


@pytest.mark.parametrize(
    ("probabilities", "broad", "routing"),
    [
        ({"a": 0.7, "b": 0.5}, False, Routing("topics", (Candidate("a", 0.7), Candidate("b", 0.5)))),
        ({"a": 0.5, "b": 0.7}, False, Routing("topics", (Candidate("b", 0.7),))),  # a carries facts and is not sure enough
        ({"a": 0.5, "b": 0.2}, False, Routing("unsure", (Candidate("a", 0.5), Candidate("b", 0.2)))),
        ({"a": 0.3, "b": 0.05}, False, Routing("unsure", (Candidate("a", 0.3),))),
        ({"a": 0.05, "b": 0.05}, False, Routing("miss")),
        ({"a": 0.7, "b": 0.3}, True, Routing("fishing")),
        ({"a": 0.9, "b": 0.7}, True, Routing("topics", (Candidate("a", 0.9),))),
        ({}, False, Routing("miss")),
        ({"p": 0.2, "q": 0.2, "r": 0.2, "s": 0.2}, False, Routing("unsure", tuple(Candidate(topic, 0.2) for topic in "pqr"))),
    ],
)
def test_a_verdict_follows_from_the_probabilities(probabilities: dict[str, float], broad: bool, routing: Routing) -> None:
    assert decide(probabilities, {"a"}, broad=broad, thresholds=THRESHOLDS) == routing


def test_what_an_author_changes_counts_at_once() -> None:
    router = default_router()
    changed = RoutablePerson(
        "manager", {**MANAGER.topics, "count": COUNT.model_copy(update={"triggers": (r"\bzebras\b",)})}, MANAGER.others
    )
    equal = RoutablePerson("manager", {"count": COUNT.model_copy(), "returns": RETURNS}, {"buyer/prices": PRICES})
    verdicts = [router.route(person, "How many zebras are there?", RouterContext()).verdict for person in (MANAGER, changed, equal)]
    assert verdicts == ["miss", "topics", "miss"]


def test_a_topic_that_is_closed_is_not_found() -> None:
    router = default_router()
    closed = RoutablePerson("manager", {"returns": RETURNS}, MANAGER.others)
    found = [router.route(person, "When is the stock count?", RouterContext()).topics for person in (MANAGER, closed)]
    assert [[candidate.topic for candidate in topics if candidate.topic == "count"] for topics in found] == [["count"], []]


def test_scores_are_the_same_in_another_process_whatever_its_hash_seed() -> None:
    program = (
        "from pytest_fdegym.people.router import RouterContext, default_router\n"
        "from tests.people.router.companies import MANAGER\n"
        "for text in ('Who counts, and what of returned parcels?', 'A difference on shelf 4 worries me.', 'Any returns?'):\n"
        "    print(default_router().route(MANAGER, text, RouterContext()))\n"
    )
    root = Path(__file__).parents[3]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=root, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert "Candidate" in outputs.pop()


VOCABULARY = "when is the stock count returns who accepts discounts tell me everything ? . ! - > 1) please shelf 4 the first one"
WORDS = st.sampled_from([*VOCABULARY.split(), "\n"])


@settings(max_examples=150)
@given(
    st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=25).map(" ".join)),
    st.sampled_from(
        [RouterContext(), RouterContext(recent=("count",)), RouterContext(pending="returns"), RouterContext(asked_back=("count",))]
    ),
)
def test_any_message_gets_a_verdict_in_order(message: str, context: RouterContext) -> None:
    routing = ROUTER.route(MANAGER, message, context)
    scores = [candidate.score for candidate in routing.topics]
    assert {candidate.topic for candidate in routing.topics} <= set(MANAGER.topics)
    assert len({candidate.topic for candidate in routing.topics}) == len(routing.topics)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert bool(routing.topics) == (routing.verdict in ("topics", "unsure"))
    assert default_router().route(MANAGER, message, context) == routing


@pytest.mark.parametrize("unit", ["a", "who? ", "(1) ", ". ", "\n", "- who counts\n", "please and ", "return ", "é\u200b", "> "])
def test_the_longest_message_gets_a_verdict(unit: str) -> None:
    message = (unit * MAX_MESSAGE)[:MAX_MESSAGE]
    assert ROUTER.route(MANAGER, message, RouterContext()).verdict in ("topics", "unsure", "miss", "fishing")


@pytest.mark.parametrize("question", ["When is the stock count?", "Who accepts returned goods?", "How was your weekend?"])
def test_courtesies_and_quoted_mail_change_nothing(question: str) -> None:
    dressed = f"Dear Ms. Field,\n\n{question}\n\nKind regards,\nAda Brown\n\n> Which discounts do we get?\n"
    assert ROUTER.route(MANAGER, dressed, RouterContext()) == ROUTER.route(MANAGER, question, RouterContext())
