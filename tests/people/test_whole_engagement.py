"""One engagement from the first message to the approval: the shape of the oil scenario's expert path, charge by charge."""

from __future__ import annotations

from typing import Any

from pytest_fdegym.people import Conversation

from .scripts import at, person, talk, topic

FACTS = "F_SCOPE F_ALLOW F_CAUSE F_HOLD F_APPROVAL"
AMENDMENT = {"any": [{"id": "Amendment 3"}, {"number": 10, "near": r"\bh\b|hours?|allowance"}]}


def sabine() -> Conversation:
    people: dict[str, Any] = {
        "whitcomb": person(
            "Dale Whitcomb",
            {
                "rules": topic(
                    "Fix the rules; Gwen must approve.",
                    facts=["F_SCOPE"],
                    evidence={
                        "items": {"loss": {"number": 151, "within": 0.06, "near": "suspend|contest|rig-month"}},
                        "miss": "Please stick to the e-mail.",
                    },
                )
            },
            rate=0.015,
            patience=2,
        ),
        "castillo": person("Renee Castillo", {"amendments": topic("Ten hours per rig and month.", facts=["F_ALLOW"])}),
        "okafor": person(
            "Samuel Okafor",
            {
                "cause": topic(
                    "Confirmed.",
                    facts=["F_CAUSE"],
                    requires={"facts": ["F_ALLOW"], "miss": "Bring me the amendment."},
                    evidence={"items": {"paper": AMENDMENT}, "miss": "Bring me the amendment."},
                ),
                "disagreeing": topic("To me, under CE-3.", facts=["F_HOLD"]),
            },
            patience=4,
        ),
        "halvorsen": person(
            "Gwen Halvorsen",
            {
                "request": topic(
                    "Approved as MOC-D-0417.",
                    facts=["F_APPROVAL"],
                    requires={"facts": ["F_SCOPE", "F_CAUSE"], "miss": "Who confirmed it?"},
                    evidence={
                        "items": {"clause": AMENDMENT, "back_test": {"number": 412, "within": 0.1, "near": "line|event|withdraw"}},
                        "miss": "Which clause, and what would last quarter have looked like?",
                    },
                    signoff={"id": "S_APPROVAL", "reference": "MOC-D-0417"},
                )
            },
            rate=0.018,
            patience=2,
            away={"until": at(7, 8), "reply": "Out of office until Friday."},
        ),
    }
    inbox = {"back": {"sender": "halvorsen", "subject": "Back", "text": "I am back.", "at": at(7, 8, 5)}}
    return talk(people, inbox, facts=FACTS)


REQUEST = "Change request: Amendment 3, 10 h; confirmed by S. Okafor; back-test of last quarter: the new rules withdraw 398 lines."


def test_the_expert_path_costs_what_the_blueprint_says() -> None:
    chat = sabine()
    chat.ask("castillo", "Which amendments are in force, and what repair allowance do they set?")
    chat.ask("whitcomb", "Last year 150 rig-months' credits were suspended by a contested line. May I correct the rules?")
    chat.ask("okafor", "Under Amendment 3 (10 h per rig-month), do furnishing party and cause decide?")
    chat.ask("okafor", "Where do lines with disagreeing shift remarks go?")
    assert chat.now == at(4, 16)
    assert chat.wait_until(at(7, 8)).working_days == 3
    reply = chat.ask("halvorsen", REQUEST)
    assert (reply.text, reply.answered_at) == ("Approved as MOC-D-0417.", at(7, 10))
    assert chat.ledger.contact_cost == 0.099
    assert chat.ledger.facts == set(FACTS.split())
    assert [(given.id, given.person, given.given_at) for given in chat.ledger.signoffs] == [("S_APPROVAL", "halvorsen", at(7, 10))]
    assert [m.subject for m in chat.inbox()] == ["Back"]


def test_asking_too_early_without_proof_or_out_of_turn_gets_nothing() -> None:
    chat = sabine()
    assert chat.ask("whitcomb", "May I correct the rules?").text == "Please stick to the e-mail."
    assert chat.ask("okafor", "Amendment 3: does the cause decide?").text == "Bring me the amendment."
    assert chat.ask("halvorsen", REQUEST).text == "Out of office until Friday."
    chat.wait_until(at(7, 8))
    assert chat.ask("halvorsen", REQUEST).text == "Who confirmed it?"
    assert chat.ledger.facts == frozenset()
    assert chat.ledger.signoffs == ()
