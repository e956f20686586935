"""A broad request is told from a question about something."""

from __future__ import annotations

import pytest

from pytest_fdegym.people.router import RouterContext, default_router
from pytest_fdegym.people.router.fishing import is_broad
from tests.people.router.companies import MANAGER


@pytest.mark.parametrize(
    "text",
    [
        "Tell me everything.",
        "What should I know?",
        "Anything I should know before I begin?",
        "Any advice for somebody new?",
        "Could you share whatever background you consider relevant?",
        "Is there something I am missing?",
        "What else is there?",
        "Thoughts?",
        "If you were in my place, what would you worry about?",
        "What are the hidden pitfalls here?",
    ],
)
def test_broad(text: str) -> None:
    assert is_broad(text)
    assert default_router().route(MANAGER, text, RouterContext()).verdict == "fishing"


@pytest.mark.parametrize(
    "text",
    [
        "Who counts the shelves, and what do they look at?",
        "Could you send me all the signed lists of the stock count?",
        "What would you change in the way returns are stored?",
        "Any returns this week?",
        "Do you know anything about the difference on shelf 4?",
        "I have a hunch that you look at something else when you count.",
    ],
)
def test_about_something(text: str) -> None:
    assert not is_broad(text)


@pytest.mark.parametrize("text", ["Tell me everything. And when is the stock count?", "Any advice? Also: who does the stock count?"])
def test_a_broad_request_with_a_question_of_its_own_is_answered_that_question_only(text: str) -> None:
    routing = default_router().route(MANAGER, text, RouterContext())
    assert (routing.verdict, [candidate.topic for candidate in routing.topics]) == ("topics", ["count"])
