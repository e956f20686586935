"""Naming everything there is, in one message or over a conversation: what of it counts, and how honest messages still get through."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.people.figures import GUESSED, MIN_FIGURES, chance_of_a_message, chance_of_one, figures_allowed
from pytest_fdegym.people.gates import Named, Shown, figures_of, holds, look, merged, satisfied
from pytest_fdegym.people.memory import FREE_READS
from pytest_fdegym.people.offers import CORRECTIONS, MAX_ENTRIES
from pytest_fdegym.people.reading import read
from pytest_fdegym.scenario.model import Condition
from tests.people.scripts import person, talk, topic

COUNT = {"number": 212, "within": 0.05, "near": "line"}
GATE = {"items": {"count": COUNT}, "miss": "How many lines?"}


def condition(shape: dict[str, Any]) -> Condition:
    return Condition.model_validate(shape)


def passes(shape: dict[str, Any], *messages: str) -> bool:
    """Whether messages to one person, one after the other, meet a condition."""
    wanted = condition(shape)
    shown: Shown = {}
    named: Named = {}
    for message in messages:
        found = look([wanted], read(message), (), named)
        shown, named = merged(shown, found.shown), merged(named, found.others)
    return holds(wanted, shown, frozenset())


def lines(*numbers: float) -> str:
    return "; ".join(f"{number:g} lines" for number in numbers)


# --- figures -----------------------------------------------------------------


def test_the_whole_the_part_and_what_is_left() -> None:
    assert passes(COUNT, "Of 400 lines 212 would go, 110 of them at once, and 188 stay; that is on 36 rigs.")


def test_more_figures_than_one_message_has_show_none_and_the_right_one_alone_does() -> None:
    heap = lines(130, 160, 190, 212, 250, 300)
    assert not passes(COUNT, heap)
    assert passes(COUNT, heap, lines(212))


def test_somebody_may_correct_himself() -> None:
    assert passes(COUNT, lines(150), lines(180), lines(240, 212))


def test_figures_are_counted_over_the_conversation_and_then_only_one_by_one_believed() -> None:
    before = [lines(110, 120, 130), lines(140, 150, 160)]
    assert passes(COUNT, before[0], lines(170, 212))
    assert not passes(COUNT, *before, lines(170, 212))
    assert passes(COUNT, *before, lines(170, 212), lines(212))


def test_what_was_shown_stays_shown() -> None:
    assert passes(COUNT, lines(212), *[lines(number) for number in range(110, 200, 10)])


def test_figures_that_meet_another_condition_are_no_rivals() -> None:
    years = {"any": [{"number": number, "within": 0.01, "near": "line"} for number in (212, 160, 190, 240, 300, 330)]}
    assert passes(years, lines(212, 160, 190, 240, 300, 330))
    assert not passes(years, lines(130, 145, 170, 203, 250, 212))


def test_numbers_that_nobody_would_take_for_it_are_no_rivals() -> None:
    assert passes(COUNT, lines(3, 7, 12, 30, 61, 212, 900, 1800, 4000))


@pytest.mark.parametrize(
    ("shape", "chance"),
    [
        ({"number": 10}, 1 / 16),  # whole numbers from 5 to 20
        ({"number": 212, "within": 0.02}, math.log(1.02 / 0.98) / math.log(4)),
        ({"number": 1.9, "plus_minus": 0.4}, math.log(2.3 / 1.5) / math.log(4)),
        ({"number": 0}, 1.0),
        ({"any": [{"number": 100, "within": 0.02}, {"number": 150, "within": 0.02}]}, (5 + 7) / 151),  # whole numbers from 50 to 200
        ({"any": [{"number": 100, "within": 0.02}, {"number": 101, "within": 0.02}]}, 6 / 151),
        ({"any": [{"number": 100, "within": 0.02}, {"number": 900, "within": 0.02}]}, 5 / 151),
    ],
)
def test_the_chance_of_a_guess(shape: dict[str, Any], chance: float) -> None:
    item = figures_of(condition(shape))
    assert chance_of_one(item[0], item) == pytest.approx(chance, rel=0.05)


@given(st.floats(30, 5000), st.floats(0.001, 0.4), st.integers(0, 2**32))
def test_a_message_of_guesses_passes_no_more_often_than_is_said(expected: float, within: float, seed: int) -> None:
    rng = random.Random(seed)
    leaf = condition({"number": expected, "within": within, "near": "line"})
    item, tries = (leaf,), 40
    count = figures_allowed(leaf, item)
    grids = [[expected / 2 * 4 ** ((place + rng.random()) / count) for place in range(count)] for _ in range(tries)]
    passed = sum(satisfied(leaf, lines(*grid)) for grid in grids)
    chance = chance_of_a_message(leaf, item)
    assert chance <= max(GUESSED, MIN_FIGURES * chance_of_one(leaf, item))
    assert passed <= tries * chance + 5 * math.sqrt(tries * chance) + 1


def test_a_price_list_of_guesses_over_a_conversation() -> None:
    """After a few messages each further guess costs a message, however many it names."""
    guesses = [106 * 1.05**step for step in range(29)]  # 212 is among them, within 5 %
    chat = talk({"gwen": person("Gwen", {"approval": topic("Approved.", evidence=GATE)}, patience=2, impatience_factor=3)})
    replies = [chat.ask("gwen", f"approval? {lines(*guesses[start : start + 3])}") for start in range(0, 27, 3)]
    assert {reply.kind for reply in replies} == {"miss"}
    assert chat.ledger.contact_cost > 0.2


def test_a_refused_topic_is_not_asked_for_again_by_free_messages() -> None:
    topics = {
        "tax": topic("Nine.", stalls={"working_days": 5, "says": "Let me look."}),
        "approval": topic("Approved.", evidence=GATE),
    }
    chat = talk({"gwen": person("Gwen", topics)})
    chat.ask("gwen", "approval?")
    for number in range(FREE_READS):
        assert chat.ask("gwen", f"tax? {120 + number} lines").kind == "stall"
    assert chat.ask("gwen", "tax? 212 lines").text == "Let me look."
    assert chat.ask("gwen", "approval? 212 lines").text == "Approved."


# --- identifiers and phrases ---------------------------------------------------

AMENDMENT = {"id": "Amendment 3"}
CODES = {"ids": ["T-1004", "T-1010", "T-1019"], "at_least": 2}
PHRASE = {"phrase": r"amendment\s+(?:no\.?\s*)?(?:3|three|iii)\b|\bthird amendment\b"}


@pytest.mark.parametrize("shape", [AMENDMENT, PHRASE], ids=["id", "phrase"])
@pytest.mark.parametrize(
    ("messages", "shown"),
    [
        (["Amendment III"], True),
        (["the third amendment, which follows Amendment 1 and Amendment 2"], True),
        (["Amendment 1, Amendment 2, Amendment 3, Amendment 4"], False),
        (["Amendment one", "amendment no. 2", "the 4th amendment", "amendment v", "Amendment 6 or Amendment 3"], False),
        (["Amendment one", "amendment no. 2", "the 4th amendment", "amendment v", "Amendment 3"], True),
        (["I rely on the amendment that I have read."], False),
    ],
)
def test_a_phrase_that_stands_for_an_identifier_is_bound_as_one(shape: dict[str, Any], messages: list[str], shown: bool) -> None:
    assert passes(shape, *messages) is shown


def test_codes_are_counted_over_the_conversation() -> None:
    def tickets(begin: int, end: int) -> str:
        return ", ".join(f"T-{number}" for number in range(begin, end))

    assert passes(CODES, "T-1004 and T-1019 went to two teams, T-1005 did not.")
    assert not passes(CODES, tickets(1000, 1009), tickets(1009, 1018))
    assert passes(CODES, tickets(1000, 1009), tickets(1009, 1018), "T-1010")
    assert passes(CODES, tickets(1000, 1009), "T-1019")


KEYWORDS = ["owner", "tariff", "sensor", "meter", "driver", "refund", "firmware", "contract", "paper", "amount"]
assert len(KEYWORDS) > MAX_ENTRIES >= CORRECTIONS


@pytest.mark.parametrize("between", [", ", "; ", "\n", " / ", "\n- ", " or ", " | "])
def test_a_list_of_keywords_says_nothing(between: str) -> None:
    seen = {"phrase": "plugged|occupied"}
    assert not passes(seen, between.join([*KEYWORDS[:5], "occupied", *KEYWORDS[5:]]))
    assert not passes({"document": "docs/tariff_notes.md"}, between.join([*KEYWORDS, "tariff notes"]))
    assert passes(seen, between.join(KEYWORDS) + between + "and the connector stayed occupied for ten minutes after that")


def test_a_list_of_names_beside_a_word_is_no_list_of_words() -> None:
    tickets = ", ".join(f"T-{number}" for number in range(1000, 1020))
    assert passes({"phrase": "rerouted"}, f"{tickets} rerouted")
    assert passes({"phrase": "rerouted"}, "Owner, team, tickets: all rerouted.")
