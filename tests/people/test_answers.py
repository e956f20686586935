"""What one message gets: answers, the fallback, four topics at most, and what it costs."""

from __future__ import annotations

import pytest

from pytest_fdegym.errors import RouterFault
from pytest_fdegym.people.router.base import Candidate, Routing
from pytest_fdegym.people.wording import TOO_MUCH

from .scripts import TUESDAY, KeywordRouter, at, person, talk, topic


def test_the_directory_holds_nothing_but_what_a_directory_says() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")})})
    (card,) = chat.directory()
    assert vars(card) == {"id": "ada", "name": "Ada", "role": "clerk", "directory": "Ada of the works"}


def test_an_answer_releases_its_facts_is_charged_and_takes_two_hours() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.", facts=["F_TAX"])})}, facts="F_TAX")
    reply = chat.ask("ada", "What is the tax?")
    assert (reply.person, reply.text, reply.kind, reply.sent_at, reply.answered_at) == ("ada", "Nine.", "answer", TUESDAY, at(4, 10))
    assert chat.now == at(4, 10)
    assert chat.ledger.facts == {"F_TAX"}
    assert chat.ledger.contact_cost == 0.01


def test_a_clear_miss_and_fishing_get_the_fallback_charged() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")})})
    for message in ("What about lunch?", "Tell me everything about tax."):
        reply = chat.ask("ada", message)
        assert (reply.text, reply.kind) == ("Not my business.", "fallback")
    assert chat.ledger.contact_cost == 0.02
    assert chat.now == at(4, 12)


def test_several_topics_are_one_message_and_one_charge() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.", facts=["A"]), "rent": topic("Ten.", facts=["B"])})}, facts="A B")
    assert chat.ask("ada", "rent, and tax?").text == "Ten.\n\nNine."
    assert chat.ledger.contact_cost == 0.01
    assert chat.ledger.facts == {"A", "B"}


def test_four_topics_are_answered_and_the_rest_has_to_wait() -> None:
    topics = {name: topic(f"{name} it is.", facts=[name.upper()]) for name in ("one", "two", "three", "four", "five")}
    chat = talk({"ada": person("Ada", topics)}, facts="ONE TWO THREE FOUR FIVE")
    reply = chat.ask("ada", "five, four, three, two, one?")
    assert reply.text == f"five it is.\n\nfour it is.\n\nthree it is.\n\ntwo it is.\n\n{TOO_MUCH}"
    assert "ONE" not in chat.ledger.facts


def test_the_same_words_are_said_once() -> None:
    blocked = {"requires": {"facts": ["F"], "miss": "Ask the office first."}}
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.", **blocked), "rent": topic("Ten.", **blocked)})}, facts="F")
    assert chat.ask("ada", "tax and rent?").text == "Ask the office first."


def test_a_repeated_question_is_answered_and_charged_again() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")})})
    assert chat.ask("ada", "tax?").text == chat.ask("ada", "tax?").text
    assert chat.ledger.contact_cost == 0.02


def test_beyond_patience_a_reply_costs_the_factor_per_person() -> None:
    chat = talk({name: person(name, {"tax": topic("Nine.")}, patience=2, impatience_factor=3.0) for name in ("ada", "bob")})
    for name in ("ada", "bob", "ada", "ada", "bob", "ada"):
        chat.ask(name, "tax?")
    assert [entry.charge for entry in chat.ledger.entries] == [0.01, 0.01, 0.01, 0.03, 0.01, 0.03]


def test_a_rate_of_nothing_still_counts_as_a_charged_reply() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")}, rate=0, patience=1)})
    chat.ask("ada", "tax?")
    assert (chat.ledger.contact_cost, chat.ledger.charged_replies, chat.now) == (0.0, 1, at(4, 10))


def test_an_exclusive_answer_replaces_everything_else_once_its_condition_was_shown() -> None:
    shown = {"shown": {"id": "Amendment 3"}}
    topics = {"allowance": topic("Always 24.", misconception=True, exclusive=shown), "rigs": topic("IB-104.", facts=["F_RIG"])}
    chat = talk({"leo": person("Leo", topics)}, facts="F_RIG")
    assert chat.ask("leo", "rigs and allowance?").text == "IB-104.\n\nAlways 24."
    assert chat.ask("leo", "Amendment 3 changed it. rigs?").text == "IB-104."
    assert chat.ask("leo", "rigs and allowance?").text == "Always 24."
    assert [entry.facts for entry in chat.ledger.entries] == [("F_RIG",), ("F_RIG",), ()]


def test_an_exclusive_topic_that_is_refused_replaces_nothing() -> None:
    topics = {
        "risk": topic("Then wait.", exclusive={}, evidence={"items": {"n": {"number": 37}}, "miss": "How many?"}),
        "goal": topic("Faster."),
    }
    chat = talk({"goh": person("Goh", topics)})
    assert chat.ask("goh", "goal and risk?").text == "Faster.\n\nHow many?"
    assert chat.ask("goh", "goal and risk, 37 of them?").text == "Then wait."


def test_the_router_sees_open_topics_only_and_what_was_said_before() -> None:
    router = KeywordRouter()
    topics = {"tax": topic("Nine."), "later": topic("Now.", opens_when={"at": at(10, 8)})}
    chat = talk({"ada": person("Ada", topics), "bob": person("Bob", {"rent": topic("Ten.")})}, router=router)
    chat.ask("ada", "tax and later?")
    chat.ask("ada", "and the others?")
    assert [list(seen.topics) for seen in router.people] == [["tax"], ["tax"]]
    assert list(router.people[0].others) == ["bob/rent"]
    assert [context.recent for context in router.contexts] == [(), ("tax",)]


def test_a_router_that_fails_leaves_the_conversation_as_it_was() -> None:
    class Broken(KeywordRouter):
        def route(self, *_: object) -> Routing:
            raise RuntimeError("no model")

    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")})}, router=Broken())
    with pytest.raises(RouterFault, match="RuntimeError: no model"):
        chat.ask("ada", "tax?")
    assert (chat.now, chat.ledger.entries) == (TUESDAY, ())


def test_topics_that_a_router_makes_up_are_a_miss() -> None:
    class Inventive(KeywordRouter):
        def route(self, *_: object) -> Routing:
            return Routing("topics", (Candidate("gold", 0.9),))

    chat = talk({"ada": person("Ada", {"tax": topic("Nine.")})}, router=Inventive())
    assert chat.ask("ada", "gold?").kind == "fallback"
