"""A router that is unsure makes the person ask back: free, and at most twice in a row."""

from __future__ import annotations

from .scripts import TUESDAY, KeywordRouter, person, talk, topic

TOPICS = {"tax": topic("Nine."), "rent": topic("Ten."), "fee": topic("Two.")}


def test_asking_back_names_the_candidates_is_free_and_takes_no_time() -> None:
    chat = talk({"ada": person("Ada", TOPICS)})
    reply = chat.ask("ada", "unclear(tax 0.5,rent 0.45,fee 0.4)")
    assert reply.text == "Which do you mean: the matter of Nine., the matter of Ten. or the matter of Two.?"
    assert (reply.kind, reply.answered_at) == ("ask_back", TUESDAY)
    assert (chat.ledger.contact_cost, chat.ledger.charged_replies) == (0.0, 0)


def test_a_person_asks_back_in_their_own_words() -> None:
    chat = talk({"ada": person("Ada", TOPICS, asks_back="{topics}, love? {Really}?", asks_back_one="Is it {topics}?")})
    assert chat.ask("ada", "unclear(tax 0.5,fee 0.4)").text == "the matter of Nine. or the matter of Two., love? {Really}?"
    assert chat.ask("ada", "unclear(tax 0.5)").text == "Is it the matter of Nine.?"


def test_the_router_hears_what_was_asked_back_until_something_else_is_said() -> None:
    router = KeywordRouter()
    chat = talk({"ada": person("Ada", TOPICS)}, router=router)
    for message in ("unclear(tax 0.5,rent 0.45)", "the first one: tax", "fee?"):
        chat.ask("ada", message)
    assert [context.asked_back for context in router.contexts] == [(), ("tax", "rent"), ()]


def test_the_third_unclear_message_in_a_row_is_a_charged_miss() -> None:
    chat = talk({"ada": person("Ada", TOPICS), "bob": person("Bob", {"pay": topic("Soon.")})})
    kinds = []
    for _ in range(2):
        kinds.append(chat.ask("ada", "unclear(tax 0.5,rent 0.45)").kind)
        chat.ask("bob", "pay?")
    kinds.append(chat.ask("ada", "unclear(tax 0.5,rent 0.45)").kind)
    kinds.append(chat.ask("ada", "unclear(tax 0.5,rent 0.45)").kind)
    assert kinds == ["ask_back", "ask_back", "fallback", "ask_back"]
    assert [entry.charge for entry in chat.ledger.entries if entry.person == "ada"] == [0.0, 0.0, 0.01, 0.0]


def test_after_two_questions_back_a_candidate_that_is_clearly_ahead_is_answered() -> None:
    chat = talk({"ada": person("Ada", TOPICS)})
    replies = [chat.ask("ada", "unclear(tax 0.6,rent 0.3)") for _ in range(3)]
    assert [reply.kind for reply in replies] == ["ask_back", "ask_back", "answer"]
    assert replies[-1].text == "Nine."


def test_an_answer_in_between_ends_the_row() -> None:
    chat = talk({"ada": person("Ada", TOPICS)})
    unclear = "unclear(tax 0.5,rent 0.45)"
    kinds = [chat.ask("ada", message).kind for message in (unclear, unclear, "fee?", unclear, unclear)]
    assert kinds == ["ask_back", "ask_back", "answer", "ask_back", "ask_back"]


def test_being_unsure_about_nothing_that_exists_is_a_miss() -> None:
    chat = talk({"ada": person("Ada", TOPICS)})
    assert chat.ask("ada", "unclear(gold 0.5)").kind == "fallback"
