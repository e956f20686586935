"""What has to be shown or obtained before a topic is answered."""

from __future__ import annotations

from pytest_fdegym.people.memory import FREE_READS

from .scripts import KeywordRouter, at, person, talk, topic

AMENDMENT = {"id": "Amendment 3"}
COUNT = {"number": 37, "near": "line"}
GATE = {"items": {"clause": AMENDMENT, "count": COUNT}, "miss": "Which clause, and how many lines?"}


def test_a_refusal_is_charged_and_takes_time() -> None:
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", facts=["F"], evidence=GATE)})}, facts="F")
    reply = chat.ask("gwen", "Your approval, please.")
    assert (reply.text, reply.kind, reply.answered_at) == ("Which clause, and how many lines?", "miss", at(4, 10))
    assert chat.ledger.contact_cost == 0.01
    assert chat.ledger.facts == frozenset()


def test_what_was_shown_earlier_counts_whatever_it_was_about() -> None:
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence=GATE), "lunch": topic("At noon.")})})
    chat.ask("gwen", "I read Amendment 3. When is lunch?")
    assert chat.ask("gwen", "37 lines are withdrawn. approval?").text == "Approved."


def test_what_was_shown_to_somebody_else_does_not_count() -> None:
    chat = talk({name: person(name, {"approval": topic("Approved.", evidence=GATE)}) for name in ("gwen", "ines")})
    chat.ask("ines", "approval? Amendment 3, 37 lines.")
    assert chat.ask("gwen", "approval?").kind == "miss"


def test_some_of_the_items_may_do() -> None:
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence={**GATE, "need": 1})})})
    assert chat.ask("gwen", "approval? It is 37 lines.").text == "Approved."


def test_a_missing_piece_asks_again_for_what_was_refused_even_if_the_router_finds_nothing() -> None:
    router = KeywordRouter()
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence=GATE), "lunch": topic("At noon.")})}, router=router)
    chat.ask("gwen", "approval?")
    assert chat.ask("gwen", "Here is what you wanted: Amendment 3.").text == "Which clause, and how many lines?"
    assert chat.ask("gwen", "When is lunch?").text == "At noon."
    assert chat.ask("gwen", "And the other half: 37 lines.").text == "Approved."
    assert chat.ask("gwen", "37 lines, as I said.").kind == "fallback"
    assert [context.pending for context in router.contexts] == [None, "approval", "approval", "approval", None]


def test_a_missing_piece_is_taken_up_beside_another_question_or_instead_of_asking_back() -> None:
    topics = {"approval": topic("Approved.", evidence={"items": {"count": COUNT}, "miss": "How many?"}), "lunch": topic("At noon.")}
    chat = talk({"gwen": person("Gwen", topics)})
    chat.ask("gwen", "approval?")
    assert chat.ask("gwen", "37 lines. When is lunch?").text == "Approved.\n\nAt noon."
    unsure = talk({"gwen": person("Gwen", topics)})
    unsure.ask("gwen", "approval?")
    assert unsure.ask("gwen", "37 lines, unclear(lunch 0.5,approval 0.4)").text == "Approved."


def test_evidence_without_a_refusal_before_asks_for_nothing() -> None:
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence=GATE)})})
    assert chat.ask("gwen", "Amendment 3, 37 lines.").kind == "fallback"


def test_a_required_fact_must_be_in_the_ledger_whatever_the_message_says() -> None:
    requires = {"requires": {"facts": ["F_ALLOW"], "miss": "Bring me the amendment."}}
    people = {
        "sam": person("Sam", {"rule": topic("Confirmed.", **requires)}),
        "renee": person("Renee", {"paper": topic("Ten hours.", facts=["F_ALLOW"])}),
    }
    chat = talk(people, facts="F_ALLOW")
    assert chat.ask("sam", "F_ALLOW: ten hours. rule?").text == "Bring me the amendment."
    chat.ask("renee", "paper?")
    assert chat.ask("sam", "rule?").text == "Confirmed."


def test_a_fact_released_in_the_same_reply_is_not_yet_obtained() -> None:
    topics = {
        "paper": topic("Ten hours.", facts=["F_ALLOW"]),
        "rule": topic("Confirmed.", requires={"facts": ["F_ALLOW"], "miss": "Read the paper first."}),
    }
    chat = talk({"sam": person("Sam", topics)}, facts="F_ALLOW")
    assert chat.ask("sam", "paper and rule?").text == "Ten hours.\n\nRead the paper first."


def test_a_required_signoff_must_be_in_force() -> None:
    sign = {"signoff": {"id": "S_A", "reference": "A-1", "valid_from": at(6, 8), "valid_until": at(7, 12)}}
    people = {
        "gwen": person("Gwen", {"approval": topic("From Thursday.", **sign)}),
        "ops": person("Ops", {"release": topic("Released.", requires={"signoffs": ["S_A"], "miss": "Not signed."})}),
    }
    chat = talk(people)
    assert chat.ask("ops", "release?").text == "Not signed."
    chat.ask("gwen", "approval?")
    (signed,) = chat.ledger.signoffs
    assert (signed.person, signed.reference, signed.given_at) == ("gwen", "A-1", at(4, 12))
    assert chat.ask("ops", "release?").text == "Not signed."
    chat.wait_until(at(6, 8))
    assert chat.ask("ops", "release?").text == "Released."
    chat.wait_until(at(10, 8))
    assert chat.ask("ops", "release?").text == "Not signed."


def test_a_signoff_given_again_stays_as_first_given() -> None:
    chat = talk({"gwen": person("Gwen", {"approval": topic("Fine.", signoff={"id": "S_A", "reference": "A-1"})})})
    chat.ask("gwen", "approval?")
    chat.ask("gwen", "approval?")
    assert [signed.given_at for signed in chat.ledger.signoffs] == [at(4, 10)]


def test_nothing_can_be_tried_out_on_free_replies() -> None:
    topics = {
        "tax": topic("Nine.", stalls={"working_days": 5, "says": "Let me look."}),
        "approval": topic("Approved.", evidence={"items": {"count": COUNT}, "miss": "How many?"}),
    }
    chat = talk({"gwen": person("Gwen", topics)})
    for n in range(FREE_READS):
        assert chat.ask("gwen", f"tax? {n + 100} lines").kind == "stall"
    assert chat.ask("gwen", "tax? 37 lines").kind == "stall"
    assert chat.ask("gwen", "approval?").text == "How many?"
    assert chat.ask("gwen", "approval? 37 lines").text == "Approved."


def test_a_message_that_nobody_read_shows_nothing() -> None:
    away = {"until": at(7, 8), "reply": "Back on Friday."}
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence=GATE)}, away=away)})
    chat.ask("gwen", "approval? Amendment 3, 37 lines.")
    chat.wait_until(at(7, 8))
    assert chat.ask("gwen", "approval?").kind == "miss"


def test_a_question_back_counts_among_the_free_replies() -> None:
    topics = {
        "tax": topic("Nine.", stalls={"working_days": 5, "says": "Let me look."}),
        "approval": topic("Approved.", evidence={"items": {"count": COUNT}, "miss": "How many?"}),
    }
    chat = talk({"gwen": person("Gwen", topics)})
    assert chat.ask("gwen", "unclear(tax 0.5)").kind == "ask_back"
    assert chat.ask("gwen", "tax?").kind == "stall"
    assert chat.ask("gwen", "unclear(tax 0.5) 37 lines").kind == "ask_back"
    assert chat.ask("gwen", "approval?").text == "How many?"


def test_evidence_that_led_to_a_stall_stands_even_if_it_came_after_other_free_replies() -> None:
    stall = {"stalls": {"working_days": 1, "says": "Tomorrow."}}
    topics = {
        "tax": topic("Nine.", **stall),
        "approval": topic("Approved.", evidence={"items": {"count": COUNT}, "miss": "How many?"}, **stall),
    }
    chat = talk({"gwen": person("Gwen", topics)})
    for _ in range(FREE_READS):
        chat.ask("gwen", "tax?")
    assert chat.ask("gwen", "approval? 37 lines").kind == "stall"
    chat.wait_days(1)
    assert chat.ask("gwen", "approval?").text == "Approved."
