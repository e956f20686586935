"""Short messages are read in the light of what was said before."""

from __future__ import annotations

import pytest

from pytest_fdegym.people.router import RouterContext, default_router
from tests.people.router.companies import BUYER, MANAGER

ASKED_BACK = RouterContext(asked_back=("count", "returns"))


def route(message: str, context: RouterContext) -> tuple[str, list[str]]:
    routing = default_router().route(MANAGER, message, context)
    return routing.verdict, [candidate.topic for candidate in routing.topics]


@pytest.mark.parametrize("message", ["The first one, please.", "1", "the former", "First!", "one", "I meant the first question"])
def test_the_first_candidate_is_picked(message: str) -> None:
    assert route(message, ASKED_BACK) == ("topics", ["count"])


@pytest.mark.parametrize("message", ["The second.", "2", "the latter", "the last one", "the second one", "Sorry, the 2nd one"])
def test_the_second_candidate_is_picked(message: str) -> None:
    assert route(message, ASKED_BACK) == ("topics", ["returns"])


@pytest.mark.parametrize("message", ["Both, please", "all of them", "1 and 2", "Yes, both"])
def test_both_candidates_are_picked(message: str) -> None:
    assert route(message, ASKED_BACK) == ("topics", ["count", "returns"])


def test_a_candidate_is_picked_by_its_name() -> None:
    assert route("The returned goods.", ASKED_BACK) == ("topics", ["returns"])


@pytest.mark.parametrize("message", ["Neither, thanks.", "No", "none of them", "never mind"])
def test_all_candidates_are_declined(message: str) -> None:
    assert route(message, ASKED_BACK) == ("miss", [])


def test_yes_to_two_candidates_stays_unsure() -> None:
    assert route("Yes.", ASKED_BACK)[0] == "unsure"


@pytest.mark.parametrize("message", ["Yes.", "Yes, that's it", "exactly", "Yes please"])
def test_yes_to_the_only_candidate_picks_it(message: str) -> None:
    routing = default_router().route(BUYER, message, RouterContext(asked_back=("prices",)))
    assert (routing.verdict, [candidate.topic for candidate in routing.topics]) == ("topics", ["prices"])


def test_a_new_question_after_one_asked_back_is_read_as_such() -> None:
    assert route("Never mind that. When is the stock count of shelf 4?", RouterContext(asked_back=("returns",))) == ("topics", ["count"])


def test_a_candidate_that_is_gone_is_not_picked() -> None:
    assert route("The first one.", RouterContext(asked_back=("gone",))) == ("unsure", ["count"])


@pytest.mark.parametrize("message", ["And what about the others?", "And the second?", "Why is that?", "Until when?", "which ones?"])
def test_a_message_without_a_subject_goes_on_about_the_last_topic(message: str) -> None:
    assert route(message, RouterContext(recent=("returns",))) == ("topics", ["returns"])
    assert route(message, RouterContext())[0] in ("miss", "unsure")


def test_a_message_with_a_subject_does_not() -> None:
    assert route("And what about the stock count?", RouterContext(recent=("returns",))) == ("topics", ["count"])


@pytest.mark.parametrize("message", ["Anything else?", "Tell me more.", "What else?"])
def test_a_broad_request_is_no_follow_up(message: str) -> None:
    assert route(message, RouterContext(recent=("returns",)))[0] in ("fishing", "miss")


@pytest.mark.parametrize("message", ["It was 61 pieces on four shelves.", "Shelf 4: 12, shelf 7: 40.", "61"])
def test_what_was_missing_is_brought_to_the_topic_that_was_refused(message: str) -> None:
    assert route(message, RouterContext(pending="count")) == ("topics", ["count"])


def test_a_question_about_something_else_is_not_taken_for_what_was_missing() -> None:
    assert route("Where are the returns stored?", RouterContext(pending="count")) == ("topics", ["returns"])
