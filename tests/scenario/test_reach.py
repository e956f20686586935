"""What can be had from the people at all, in every variant."""

from __future__ import annotations

from pathlib import Path

from tests.scenario.mistakes import problems_after
from tests.support.tiny_scenario import edit

S, P = "scenario.yaml", "people.yaml"
LIMIT_ANSWER = "answer: Up to {{ limit }} g goes as a letter these days.\n"
WELCOME_AT = "    at: 2025-03-04 09:00:00\n"


def needs(tiny: Path, condition: str) -> None:
    """Let Pike's topic, which releases F_LIMIT, depend on something."""
    edit(tiny, P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        {condition}\n")


def test_a_fact_that_nobody_releases(tiny: Path) -> None:
    assert problems_after(tiny, (P, "facts: [F_LIMIT]\n", "facts: []\n")) == [
        "tiny_post/scenario.yaml:19: facts.F_LIMIT: the key fact 'F_LIMIT' is released by no topic and no inbox message (in v1, v2)",
    ]


def test_a_fact_that_is_no_key_fact_is_told_where_it_is_needed(tiny: Path) -> None:
    edit(tiny, P, "requires: {facts: [F_LIMIT]", "requires: {facts: [F_OPEN]")
    assert problems_after(tiny, (S, "facts:\n", 'facts:\n  F_OPEN: {text: "Ada is in."}\n')) == [
        "tiny_post/people.yaml:10: people.moss.topics.approval: 'F_OPEN' is needed before this is answered, but nobody "
        "gives it (in v1, v2)",
    ]


def test_a_fact_that_one_variant_does_not_release(tiny: Path) -> None:
    assert problems_after(tiny, (P, "      limit:\n", "      limit:\n        not_in: [v2]\n")) == [
        "tiny_post/scenario.yaml:19: facts.F_LIMIT: the key fact 'F_LIMIT' is released by no topic and no inbox message (in v2)",
    ]


def test_an_inbox_message_releases_as_well(tiny: Path) -> None:
    edit(tiny, P, "      limit:\n", "      limit:\n        not_in: [v2]\n")
    assert problems_after(tiny, (P, WELCOME_AT, f"{WELCOME_AT}    facts: [F_LIMIT]\n")) == []


def test_an_inbox_message_that_waits_for_its_own_fact(tiny: Path) -> None:
    edit(tiny, P, "facts: [F_LIMIT]\n", "facts: []\n")
    assert problems_after(tiny, (P, WELCOME_AT, "    after_fact: F_LIMIT\n    facts: [F_LIMIT]\n")) == [
        "tiny_post/people.yaml:44: inbox.welcome: these wait for each other: inbox/welcome -> inbox/welcome (in v1, v2)",
    ]


def test_topics_that_wait_for_each_other(tiny: Path) -> None:
    needs(tiny, "requires: {signoffs: [S_SHIP], miss: Ask Ada first.}")
    assert problems_after(tiny) == [
        "tiny_post/people.yaml:10: people.moss.topics.approval: these wait for each other: "
        "moss/approval -> pike/limit -> moss/approval (in v1, v2)",
    ]


def test_a_way_around_breaks_the_circle(tiny: Path) -> None:
    needs(tiny, "requires: {signoffs: [S_SHIP], miss: Ask Ada first.}")
    edit(tiny, P, "requires: {facts: [F_LIMIT]", "requires: {facts: [F_OPEN]")
    edit(tiny, S, "facts:\n", 'facts:\n  F_OPEN: {text: "Ada is in."}\n')
    assert problems_after(tiny, (P, WELCOME_AT, f"{WELCOME_AT}    facts: [F_OPEN]\n")) == []


def test_facts_asked_for_in_evidence_and_openings_count(tiny: Path) -> None:
    needs(tiny, "opens_when: {fact: F_OPEN}")
    edit(tiny, S, "facts:\n", 'facts:\n  F_OPEN: {text: "Ada is in."}\n')
    edit(tiny, P, "        signoff: {id", "        facts: [F_OPEN]\n        signoff: {id")
    edit(
        tiny,
        P,
        '{number: "{{ world.overpaid }}", within: 0.02, near: order|parcel}',
        "{any: [{fact: F_LIMIT}, {all: [{fact: F_LIMIT}, {id: A}]}]}",
    )
    edit(tiny, P, "requires: {facts: [F_LIMIT], miss: Talk to Jonas in the post room first.}", "misconception: false")
    assert problems_after(tiny) == [
        "tiny_post/people.yaml:10: people.moss.topics.approval: these wait for each other: "
        "moss/approval -> pike/limit -> moss/approval (in v1, v2)",
    ]


def test_evidence_that_suffices_without_the_fact_does_not_wait_for_it(tiny: Path) -> None:
    edit(tiny, P, "requires: {facts: [F_LIMIT], miss: Talk to Jonas in the post room first.}", "misconception: false")
    needs(tiny, "requires: {signoffs: [S_SHIP], miss: Ask Ada first.}")
    edit(tiny, P, "            overpaid: {number", "            known: {fact: F_LIMIT}\n            overpaid: {number")
    assert problems_after(tiny, (P, "          miss: How many", "          need: 1\n          miss: How many")) == []


def test_whoever_never_answers_releases_nothing(tiny: Path) -> None:
    edit(tiny, P, "    leaves: {at", "    restricted: {charge: 0.1, reply: Contact the owner.}\n    leaves: {at")
    assert problems_after(tiny) == [
        "tiny_post/scenario.yaml:19: facts.F_LIMIT: the key fact 'F_LIMIT' is released by no topic and no inbox message (in v1, v2)",
    ]
