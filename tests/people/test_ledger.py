"""The ledger: exact sums, what it counts, and how it is written down."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.people.ledger import Entry, Ledger

from .scripts import at, person, talk, topic


def test_ten_charges_of_a_tenth_are_one() -> None:
    ledger = Ledger()
    for _ in range(10):
        ledger = ledger.added(Entry(0, "message", at(4, 8), at(4, 10), person="ada", charge=0.1, charged=True))
    assert ledger.contact_cost == 1.0
    assert sum(entry.charge for entry in ledger.entries) != 1.0


@given(st.lists(st.integers(0, 10_000)))
def test_charges_in_thousandths_add_up_exactly(thousandths: list[int]) -> None:
    ledger = Ledger()
    for n in thousandths:
        ledger = ledger.added(Entry(0, "trial", at(4, 8), at(4, 8), charge=n / 1000))
    assert ledger.contact_cost == sum(thousandths) / 1000


def test_a_charge_beyond_patience_is_the_decimal_product() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Tax is nine.")}, rate=0.07, patience=1)})
    chat.ask("ada", "tax?")
    chat.ask("ada", "tax?")
    assert [entry.charge for entry in chat.ledger.entries] == [0.07, 0.21]


def test_an_earlier_ledger_stays_as_it_was() -> None:
    chat = talk({"ada": person("Ada", {"tax": topic("Tax is nine.")})})
    before = chat.ledger
    chat.ask("ada", "tax?")
    assert before.entries == ()
    assert chat.ledger.messages == 1


def test_it_is_json_with_iso_times() -> None:
    signoff = {"id": "S_TAX", "reference": "T-1", "scope": {"rates": [9], "until": at(31, 18)}, "valid_from": at(6, 8)}
    chat = talk({"ada": person("Ada", {"tax": topic("Nine.", facts=["F_TAX"], signoff=signoff)})}, facts="F_TAX")
    chat.ask("ada", "tax?")
    chat.wait_until(at(6, 8))
    written = json.loads(json.dumps(chat.ledger.to_json()))
    assert {key: value for key, value in written.items() if key != "entries"} == {
        "contact_cost": 0.034,
        "messages": 1,
        "charged_replies": 1,
        "trials": 0,
        "days_waited": 2,
        "facts": ["F_TAX"],
        "signoffs": [
            {
                "id": "S_TAX",
                "person": "ada",
                "reference": "T-1",
                "scope": {"rates": [9], "until": "2025-03-31T18:00:00"},
                "given_at": "2025-03-04T10:00:00",
                "valid_from": "2025-03-06T08:00:00",
                "valid_until": None,
            }
        ],
    }
    message, wait = written["entries"]
    assert message == {
        "number": 1,
        "kind": "message",
        "sent_at": "2025-03-04T08:00:00",
        "answered_at": "2025-03-04T10:00:00",
        "person": "ada",
        "sent": "tax?",
        "reply": "Nine.",
        "reply_kind": "answer",
        "topics": ["tax"],
        "charge": 0.01,
        "charged": True,
        "facts": ["F_TAX"],
        "signoffs": ["S_TAX"],
        "days": 0,
        "routing": {
            "router": "keywords-for-tests",
            "verdict": "topics",
            "candidates": [{"topic": "tax", "score": 1.0}],
            "followed_up": [],
            "parts": [{"topic": "tax", "outcome": "answer"}],
            "left_over": False,
        },
    }
    assert (wait["kind"], wait["charge"], wait["days"], wait["answered_at"]) == ("wait", 0.024, 2, "2025-03-06T08:00:00")
