"""A message is split into sentences; what asks is told from what only gives context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.people.router.sentences import Sentence, normalise, split


def asks(message: str) -> list[str]:
    return [sentence.text for sentence in split(message) if sentence.role == "ask"]


def context(message: str) -> list[str]:
    return [sentence.text for sentence in split(message) if sentence.role == "context"]


def test_context_comes_before_the_question() -> None:
    message = "I have read both papers. They differ by eight hours. Which one holds?"
    assert context(message) == ["I have read both papers.", "They differ by eight hours."]
    assert asks(message) == ["Which one holds?"]


def test_greeting_signature_and_quoted_mail_are_no_part_of_it() -> None:
    message = """Dear Ms. Field,

Who counts the shelves?

Kind regards,
Ada Brown
Outside engineer

On Monday, Ms. Field wrote:
> When do prices change?
"""
    assert split(message) == (Sentence("Who counts the shelves?", "ask"),)


def test_a_question_in_the_first_line_is_no_greeting() -> None:
    assert asks("hi ada what should i know") == ["hi ada what should i know"]


@pytest.mark.parametrize(
    "text",
    [
        "See art. 7 of the contract, e.g. the part on hours vs. days",
        "Mr. Brown and Dr. Field agree on 10.5 h at 6 a.m. in rules.v2.yaml",
        "Delivered on Jan. 4 by Acme Inc. in full",
    ],
)
def test_abbreviations_numbers_and_file_names_end_no_sentence(text: str) -> None:
    assert [sentence.text for sentence in split(text)] == [text]


def test_a_request_asks_without_a_question_mark() -> None:
    message = "The count was on Friday. Please send me the list. I would like to know who counted."
    assert asks(message) == ["Please send me the list.", "I would like to know who counted."]


def test_a_question_asks_without_a_question_mark() -> None:
    assert asks("The list is long. who counted the shelves") == ["who counted the shelves"]


def test_bullets_below_a_request_ask() -> None:
    message = "I would appreciate your view on:\n(a) the accuracy of the count\n(b) the returns"
    assert asks(message)[1:] == ["the accuracy of the count", "the returns"]


def test_bullets_of_context_stay_context() -> None:
    message = "What I found\n- four shelves empty\n- two counted twice\n\nCould you explain that?"
    assert "four shelves empty" in context(message)
    assert asks(message)[-1] == "Could you explain that?"


def test_numbered_questions_in_one_line_are_split() -> None:
    assert asks("Two things: 1) who counts? 2) who accepts returns?")[-2:] == ["who counts?", "who accepts returns?"]


def test_lines_wrapped_by_a_mail_program_are_joined() -> None:
    message = "After I had compared the list of last year with the shelves as they\nstand today, which one of the two should I trust?"
    assert asks(message) == [message.replace("\n", " ")]


def test_a_wish_put_as_a_statement_asks_as_a_whole() -> None:
    assert asks("The shelves look half empty. Nobody seems to have counted them.") == [
        "The shelves look half empty.",
        "Nobody seems to have counted them.",
    ]


def test_what_is_expressly_not_asked_is_left_out() -> None:
    assert asks("I'm not asking about discounts; who counts the shelves?") == ["who counts the shelves?"]
    assert context("I already know the discounts. Who counts the shelves?") == []


def test_typographic_characters_are_made_plain() -> None:
    assert normalise("Who’s “counting”—ﬁrst\u00a0?") == 'Who\'s "counting"-first ?'


@given(st.text(max_size=300))
def test_any_text_is_split_and_something_asks_if_there_is_anything(text: str) -> None:
    sentences = split(text)
    assert all(sentence.text.strip() for sentence in sentences)
    assert not sentences or any(sentence.role == "ask" for sentence in sentences)
