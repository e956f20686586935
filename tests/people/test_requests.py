"""Requests that nobody at the customer's gets to see: no charge, no time, and a line that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from pytest_fdegym.people import MAX_MESSAGE, BadRequest, Conversation

from .scripts import TUESDAY, at, person, talk, topic

CASES: list[tuple[Callable[[Conversation], object], str]] = [
    (lambda chat: chat.ask("castilo", "Hello?"), "there is nobody with the id 'castilo'. Did you mean 'castillo'?"),
    (lambda chat: chat.ask("renee castillo", "Hello?"), "there is nobody with the id 'renee castillo'. Did you mean 'castillo'?"),
    (lambda chat: chat.ask("x", "Hello?"), "there is nobody with the id 'x'. The directory has: castillo, nair."),
    (lambda chat: chat.ask("nair", " \n\u200b"), "the message is empty."),
    (lambda chat: chat.ask("nair", "a" * (MAX_MESSAGE + 1)), "the message has 16001 characters; at most 16000 are accepted."),
    (
        lambda chat: chat.ask("nair", "ab\x1b[2J"),
        "the message holds the control character U+001B at position 2; plain text is expected.",
    ),
    (
        lambda chat: chat.ask("nair", "a\ud800"),
        "the message holds the control character U+D800 at position 1; plain text is expected.",
    ),
    (lambda chat: chat.wait_until(at(4, 7)), "2025-03-04T07:00:00 is past; it is 2025-03-04T08:00:00 now."),
    (
        lambda chat: chat.wait_until(TUESDAY + timedelta(days=60, minutes=1)),
        "2025-05-03T08:01:00 is more than 60 days away; it is 2025-03-04T08:00:00 now.",
    ),
    (
        lambda chat: chat.wait_until(datetime(2025, 3, 5, tzinfo=UTC)),
        "2025-03-05T00:00:00+00:00 has a time zone; the customer's local time is expected, such as 2025-03-04T08:00:00.",
    ),
    (lambda chat: chat.wait_days(0), "cannot wait 0 days; a whole number from 1 to 60 is expected."),
    (lambda chat: chat.wait_days(61), "cannot wait 61 days; a whole number from 1 to 60 is expected."),
    (lambda chat: chat.wait_days(True), "cannot wait True days; a whole number from 1 to 60 is expected."),
]


@pytest.mark.parametrize(("request_it", "message"), CASES)
def test_a_bad_request_says_why_and_leaves_no_trace(request_it: Callable[[Conversation], object], message: str) -> None:
    chat = talk({"castillo": person("Renee Castillo", {"tax": topic("Nine.")}), "nair": person("Priya Nair", {"tax": topic("Nine.")})})
    with pytest.raises(BadRequest) as error:
        request_it(chat)
    assert str(error.value) == message
    assert chat.now == TUESDAY
    assert chat.ledger.entries == ()


def test_a_message_may_be_as_long_as_the_limit_and_have_lines_and_tabs() -> None:
    chat = talk({"nair": person("Priya Nair", {"tax": topic("Nine.")})})
    text = "tax\r\n\t?".ljust(MAX_MESSAGE, ".")
    assert chat.ask("nair", text).text == "Nine."
    assert chat.ledger.entries[0].sent == text
