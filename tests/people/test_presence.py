"""People who are away, have left, are not to be contacted, and topics that come up later."""

from __future__ import annotations

from .scripts import TUESDAY, at, person, talk, topic

TAX = {"tax": topic("Nine.", facts=["F"])}


def test_somebody_away_answers_automatically_until_the_moment_of_return() -> None:
    chat = talk({"gwen": person("Gwen", TAX, away={"until": at(7, 8), "reply": "Back on Friday."})}, facts="F")
    reply = chat.ask("gwen", "tax?")
    assert (reply.text, reply.kind, reply.answered_at, chat.now) == ("Back on Friday.", "automatic", TUESDAY, TUESDAY)
    assert (chat.ledger.contact_cost, chat.ledger.messages, chat.ledger.charged_replies) == (0.0, 1, 0)
    chat.wait_until(at(7, 8))
    assert chat.ask("gwen", "tax?").text == "Nine."


def test_somebody_who_leaves_on_a_time() -> None:
    chat = talk({"pike": person("Pike", TAX, leaves={"at": at(4, 10), "reply": "Pike has left."})}, facts="F")
    assert chat.ask("pike", "tax?").text == "Nine."
    assert chat.ask("pike", "tax?").kind == "automatic"


def test_somebody_who_leaves_after_two_messages_still_answers_the_second() -> None:
    leaves = {"after_messages": 2, "reply": "Weems has left."}
    chat = talk({"weems": person("Weems", TAX, leaves=leaves), "nair": person("Nair", {"pay": topic("Parked.")})}, facts="F")
    chat.ask("nair", "pay?")
    assert chat.ask("weems", "tax?").text == "Nine."
    assert chat.ask("weems", "tax?").text == "Weems has left."
    assert chat.ask("nair", "pay?").text == "Parked."


def test_only_charged_replies_make_somebody_leave() -> None:
    leaves = {"after_messages": 1, "reply": "Weems has left."}
    people = {
        "weems": person("Weems", TAX, leaves=leaves),
        "gwen": person("Gwen", {"a": topic("A.")}, away={"until": at(7, 8), "reply": "Away."}),
        "gao": person("Gao", {"b": topic("B.", stalls={"working_days": 1, "says": "Wait."})}),
    }
    chat = talk(people, facts="F")
    chat.ask("gwen", "a?")
    chat.ask("gao", "b?")
    chat.ask("gao", "unclear(b 0.4)")
    assert chat.ask("weems", "tax?").text == "Nine."


def test_a_restricted_contact_is_charged_its_own_charge_whatever_is_asked() -> None:
    chat = talk({"hodge": person("Hodge", TAX, restricted={"charge": 0.1, "reply": "I told our counsel."}, patience=1)}, facts="F")
    for _ in range(2):
        reply = chat.ask("hodge", "tax?")
        assert (reply.text, reply.kind) == ("I told our counsel.", "restricted")
    assert chat.ledger.contact_cost == 0.2
    assert chat.ledger.facts == frozenset()
    assert chat.now == at(4, 12)


def test_a_restricted_contact_may_still_answer() -> None:
    restricted = {"charge": 0.1, "reply": "-", "still_answers": True}
    chat = talk({"hodge": person("Hodge", TAX, restricted=restricted)}, facts="F")
    assert chat.ask("hodge", "tax?").text == "Nine."
    assert chat.ask("hodge", "unclear(tax 0.4)").kind == "ask_back"
    assert [entry.charge for entry in chat.ledger.entries] == [0.1, 0.1]


def test_a_topic_opens_when_somebody_has_left_on_a_time_or_after_a_fact() -> None:
    people = {
        "callum": person("Callum", TAX, leaves={"at": at(5, 18), "reply": "Gone."}),
        "imogen": person(
            "Imogen",
            {
                "handover": topic("I have his notes.", opens_when={"left": "callum"}),
                "meeting": topic("It was long.", opens_when={"at": at(6, 12)}),
                "details": topic("As he said.", opens_when={"fact": "F"}),
            },
        ),
    }
    chat = talk(people, facts="F")
    for name in ("handover", "meeting", "details"):
        assert chat.ask("imogen", f"{name}?").kind == "fallback"
    chat.ask("callum", "tax?")
    assert chat.ask("imogen", "details?").text == "As he said."
    chat.wait_until(at(5, 18))
    assert chat.ask("imogen", "handover?").text == "I have his notes."
    chat.wait_until(at(6, 12))
    assert chat.ask("imogen", "meeting?").text == "It was long."


def test_somebody_with_nothing_to_say_yet_gives_the_fallback() -> None:
    chat = talk({"eve": person("Eve", {"tax": topic("Nine.", opens_when={"at": at(10, 8)})})})
    assert chat.ask("eve", "tax?").kind == "fallback"
