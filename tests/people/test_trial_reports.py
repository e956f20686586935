"""Evidence that is a trial report: the ledger knows the ids, a message has to name one of them."""

from __future__ import annotations

import pytest

from pytest_fdegym.people import Conversation

from .scripts import at, person, talk, topic


def customer(**more: object) -> Conversation:
    gate = {"items": {"tried": {"trial_report": True, **more}}, "miss": "Have you tried it? I want to see a report."}
    topics = {"approval": topic("Approved.", evidence=gate), "lunch": topic("At noon.")}
    return talk({name: person(name.title(), topics) for name in ("gwen", "ines")})


@pytest.mark.parametrize(
    "message", ["See TR-1. approval?", "approval, as in report tr 1", "approval?\n\n**Trial report TR1**: fine", "TR_1 approval"]
)
def test_naming_a_report_of_this_engagement_is_enough(message: str) -> None:
    chat = customer()
    chat.record_trial("TR-1", "2 of 3 went as letters.", 0.01)
    assert chat.ask("gwen", message).text == "Approved."


@pytest.mark.parametrize(
    "message", ["approval?", "We made a trial run and it went fine. approval?", "approval? See TR-2.", "approval? TR-11"]
)
def test_a_report_that_is_not_named_or_does_not_exist_is_not(message: str) -> None:
    chat = customer()
    chat.record_trial("TR-1", "2 of 3 went as letters.", 0.01)
    assert chat.ask("gwen", message).kind == "miss"


def test_naming_it_before_it_exists_shows_nothing_later() -> None:
    chat = customer()
    assert chat.ask("gwen", "approval? See TR-1.").kind == "miss"
    chat.record_trial("TR-1", "fine", 0.01)
    assert chat.ask("gwen", "approval?").kind == "miss"
    assert chat.ask("gwen", "It is TR-1.").text == "Approved.", "which is the piece that was missing"


def test_each_person_has_to_be_shown_it() -> None:
    chat = customer()
    chat.record_trial("TR-1", "fine", 0.01)
    chat.ask("gwen", "approval? TR-1")
    assert chat.ask("ines", "approval?").kind == "miss"


def test_a_list_of_all_that_there_could_be_counts_for_nothing() -> None:
    chat = customer()
    chat.record_trial("TR-4", "fine", 0.01)
    assert chat.ask("gwen", "approval? " + ", ".join(f"TR-{number}" for number in range(1, 31))).kind == "miss"
    assert chat.ask("gwen", "approval? TR-3 or TR-4").text == "Approved."


def test_it_may_have_to_stand_near_something() -> None:
    chat = customer(near="2 of 3")
    chat.record_trial("TR-1", "2 of 3 went as letters.", 0.01)
    assert chat.ask("gwen", "approval? TR-1").kind == "miss"
    assert chat.ask("gwen", "2 of 3 went as letters in TR-1.").text == "Approved."


def test_the_ledger_has_the_reports() -> None:
    chat = customer()
    chat.record_trial("TR-1", "fine", 0.01, minutes=60)
    chat.record_trial("TR-2", "better", 0.02)
    assert (chat.ledger.trial_reports, chat.ledger.trials, chat.ledger.contact_cost, chat.now) == (("TR-1", "TR-2"), 2, 0.03, at(4, 9))
    assert chat.ledger.charged_replies == 0, "a trial run uses up nobody's patience"
