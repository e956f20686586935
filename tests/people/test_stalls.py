"""Answers that need time: stalls, and topics that are not there yet."""

from __future__ import annotations

from .scripts import TUESDAY, at, person, talk, topic

STALL = {"stalls": {"working_days": 1, "says": "Ask me tomorrow."}}


def test_a_stall_is_free_and_the_answer_is_there_the_next_working_morning() -> None:
    chat = talk({"gao": person("Gao", {"revert": topic("At once.", facts=["F"], **STALL)})}, facts="F")
    reply = chat.ask("gao", "revert?")
    assert (reply.text, reply.kind, reply.answered_at) == ("Ask me tomorrow.", "stall", TUESDAY)
    chat.wait_until(at(4, 17))
    assert chat.ask("gao", "revert?").text == "Ask me tomorrow."
    assert (chat.ledger.contact_cost, chat.ledger.charged_replies, chat.ledger.facts) == (0.0, 0, frozenset())
    chat.wait_days(1)
    assert chat.ask("gao", "revert?").text == "At once."
    assert chat.ledger.facts == {"F"}
    assert chat.ask("gao", "revert?").text == "At once."


def test_asking_again_too_early_does_not_put_it_off() -> None:
    chat = talk({"gao": person("Gao", {"revert": topic("At once.", stalls={"working_days": 2, "says": "Wait."})})})
    chat.ask("gao", "revert?")
    chat.wait_until(at(5, 12))
    chat.ask("gao", "revert?")
    chat.wait_until(at(6, 8))
    assert chat.ask("gao", "revert?").text == "At once."


def test_time_begins_to_run_when_the_evidence_is_complete_and_it_need_not_be_shown_again() -> None:
    gated = topic("Signed.", evidence={"items": {"n": {"number": 37}}, "miss": "How many?"}, **STALL)
    chat = talk({"lian": person("Lian", {"cut": gated})})
    assert chat.ask("lian", "cut?").kind == "miss"
    chat.wait_days(3)
    assert chat.ask("lian", "cut? 37.").kind == "stall"
    chat.wait_days(1)
    assert chat.ask("lian", "cut?").text == "Signed."


def test_a_stall_beside_an_answer_is_paid_with_it() -> None:
    chat = talk({"gao": person("Gao", {"revert": topic("At once.", **STALL), "price": topic("Ten.")})})
    assert chat.ask("gao", "price and revert?").text == "Ten.\n\nAsk me tomorrow."
    assert chat.ledger.contact_cost == 0.01


def test_what_is_not_there_yet_is_said_free_of_charge() -> None:
    chat = talk({"gao": person("Gao", {"report": topic("Here it is.", available_at=at(5, 12), not_yet="Tomorrow noon.")})})
    reply = chat.ask("gao", "report?")
    assert (reply.text, reply.kind, chat.now, chat.ledger.contact_cost) == ("Tomorrow noon.", "stall", TUESDAY, 0.0)
    chat.wait_until(at(5, 12))
    assert chat.ask("gao", "report?").text == "Here it is."
