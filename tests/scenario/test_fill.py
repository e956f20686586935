"""A variant's values in people, facts, incidents and briefs; and what the variant does not have is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import ScenarioError, UsageError
from pytest_fdegym.scenario.fill import fill, fill_brief, fill_facts, fill_people, parameters
from pytest_fdegym.scenario.loader import Scenario, load
from pytest_fdegym.scenario.model import Condition
from tests.support.tiny_scenario import edit, write_tiny_scenario

S, P = "scenario.yaml", "people.yaml"
PUBLIC = {"overpaid": 25, "heaviest": 990, "orders": 60, "parcels": 40, "late": ["N1", "N2"]}
OVERPAID = '{number: "{{ world.overpaid }}", within: 0.02, near: order|parcel}'


def evidence(tiny: Path, condition: str, public: dict[str, Any] | None = None) -> Condition:
    """The condition, filled in."""
    edit(tiny, P, OVERPAID, condition)
    scenario = load(tiny)
    people = fill_people(scenario, "v1", parameters(scenario, "v1"), public or PUBLIC)
    found = people.people["moss"].topics["approval"].evidence
    assert found is not None
    return found.items["overpaid"]


def test_texts_get_the_variant_s_parameters_and_the_world_s_values(scenario: Scenario) -> None:
    people = fill_people(scenario, "v2", parameters(scenario, "v2"), PUBLIC)
    assert people.people["pike"].topics["limit"].answer == "Up to 700 g goes as a letter these days."
    assert people.expert[1].say == (
        "25 orders went as parcels although they weigh no more than 700 g.\nDo you approve a new shipping rule that sends them as letters?"
    )
    assert people.inbox["welcome"].text.endswith("heaviest order, 990 g!")
    facts = fill_facts(scenario, "v2", parameters(scenario, "v2"), PUBLIC)
    assert {name: fact.text for name, fact in facts.items()} == {"F_LIMIT": "A letter may weigh up to 700 g."}
    assert facts["F_LIMIT"].key


def test_the_scenario_itself_stays_as_written(scenario: Scenario) -> None:
    params = parameters(scenario, "v2")
    fill(scenario, "v2", params, PUBLIC)
    params["limit"] = 1
    assert parameters(scenario, "v1") == {"limit": 500}
    assert parameters(scenario, "v2") == {"limit": 700}
    assert scenario.people.people["pike"].topics["limit"].answer == "Up to {{ limit }} g goes as a letter these days."


def test_computed_numbers_and_lists_stay_numbers_and_lists(tiny: Path) -> None:
    condition = evidence(
        tiny, '{any: [{number: "{{ world.overpaid / 2 }}"}, {ids: "{{ world.late }}", at_least: 2}, {number: "{{- limit -}}"}]}'
    )
    assert condition.any is not None
    assert [each.number for each in condition.any] == [12.5, None, 500.0]
    assert condition.any[1].ids == ("N1", "N2")


def test_a_set_becomes_a_list_in_a_fixed_order(tiny: Path) -> None:
    assert evidence(tiny, '{ids: "{{ world.rigs }}"}', {**PUBLIC, "rigs": {"B", "C", "A"}}).ids == ("A", "B", "C")


def test_the_scope_of_a_sign_off_is_computed_too(scenario: Scenario) -> None:
    people = fill_people(scenario, "v1", parameters(scenario, "v1"), PUBLIC)
    signoff = people.people["moss"].topics["approval"].signoff
    assert signoff is not None
    assert signoff.scope == {"grams": 500}


def test_texts_stay_texts_even_if_they_look_like_numbers(tiny: Path) -> None:
    edit(tiny, P, "answer: Up to {{ limit }} g goes as a letter these days.", 'answer: "{{ limit }}"')
    scenario = load(tiny)
    assert fill_people(scenario, "v1", {"limit": 500}, PUBLIC).people["pike"].topics["limit"].answer == "500"


def test_nothing_is_escaped(tiny: Path) -> None:
    edit(tiny, S, "value: 500", "value: '<5 & \"6\"'")
    scenario = load(tiny)
    assert fill_facts(scenario, "v1", parameters(scenario, "v1"), PUBLIC)["F_LIMIT"].text == 'A letter may weigh up to <5 & "6" g.'


def test_what_the_variant_does_not_have_is_gone(tiny: Path) -> None:
    edit(
        tiny,
        P,
        "      limit:\n",
        "      tariff:\n        only_in: [v1]\n        about: a\n        call_it: b\n        examples: [c, d, e]\n"
        "        answer: f\n      limit:\n",
    )
    edit(
        tiny,
        P,
        "inbox:\n",
        "  finch:\n    not_in: [v2]\n    name: F. Finch\n    role: Clerk\n    directory: Files\n    rate: 0\n    patience: 1\n"
        "    fallback: No.\n    topics: {}\ninbox:\n  late: {only_in: [v2], sender: A friend, subject: Hi, text: Hello, "
        "after_messages: 2}\n",
    )
    edit(tiny, P, "expert:\n", "expert:\n  - {only_in: [v1], wait_until: 2025-03-05 08:00:00}\n")
    edit(tiny, S, "facts:\n", 'facts:\n  F_OLD: {text: "It was 250 g.", only_in: [v1]}\n')
    edit(tiny, S, "  orders_changed:\n", "  orders_changed:\n    not_in: [v2]\n")
    scenario = load(tiny)
    first, second = (fill(scenario, variant, parameters(scenario, variant), PUBLIC) for variant in ("v1", "v2"))
    assert (set(first.people.people), set(second.people.people)) == ({"moss", "pike", "finch"}, {"moss", "pike"})
    assert (set(first.people.people["pike"].topics), set(second.people.people["pike"].topics)) == ({"tariff", "limit"}, {"limit"})
    assert (set(first.people.inbox), set(second.people.inbox)) == ({"welcome"}, {"welcome", "late"})
    assert (len(first.people.expert), len(second.people.expert)) == (3, 2)
    assert (set(first.facts), set(second.facts)) == ({"F_OLD", "F_LIMIT"}, {"F_LIMIT"})
    assert (set(first.incidents), set(second.incidents)) == ({"unapproved_change", "orders_changed"}, {"unapproved_change"})


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (P, "world.overpaid }}\", within", "world.overpayed }}\", within",
         "people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.number: 'world.overpayed' is not defined: "
         "neither prepare nor "
         "build planted it. Did you mean 'overpaid'? Known: heaviest, late, orders, overpaid, parcels."),
        (P, "Do you approve a new shipping rule that", "{{ world.rigs | length }} that",
         "people.yaml:54: expert[1].say: 'world.rigs' is not defined: neither prepare nor build planted it. "
         "Known: heaviest, late, orders, overpaid, parcels."),
        (P, "Up to {{ limit }} g", "Up to {{ limit.grams }} g",
         "people.yaml:41: people.pike.topics.limit.answer: the template cannot be filled in: 'int object' has no attribute 'grams'"),
        (P, "Up to {{ limit }} g", "Up to {{ limit / (limit - 500) }} g",
         "people.yaml:41: people.pike.topics.limit.answer: the template cannot be filled in: ZeroDivisionError: division by zero"),
        (P, OVERPAID, '{number: "{{ world.late }}"}',
         "people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.number: a list of 2 is not accepted; "
         "expected: a number or text, with the values of v1"),
        (P, OVERPAID, '{ids: "{{ world.overpaid }}"}',
         "people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.ids: 25 (a number) is not accepted; "
         "expected: a list or text, with the values of v1"),
        (P, OVERPAID, "{phrase: '{{ limit }}('}",
         "people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.phrase: '500(' is not a regular expression: "
         "missing ), unterminated subpattern at position 3"),
        (S, "weigh up to {{ limit }} g", "weigh up to {{ world.grams }} g",
         "scenario.yaml:19: facts.F_LIMIT.text: 'world.grams' is not defined: neither prepare nor build planted it. "
         "Known: heaviest, late, orders, overpaid, parcels."),
        (P, "Up to {{ limit }} g", "Up to {{ world.clear() }} g",
         "people.yaml:41: people.pike.topics.limit.answer: the template cannot be filled in: SecurityError: "
         "access to attribute 'clear' of 'dict' object is unsafe."),
    ],
)  # fmt: skip  # one message below its cause
def test_what_cannot_be_filled_in_names_its_line(tiny: Path, name: str, old: str, new: str, message: str) -> None:
    edit(tiny, name, old, new)
    scenario = load(tiny)
    with pytest.raises(ScenarioError) as caught:
        fill(scenario, "v1", parameters(scenario, "v1"), PUBLIC)
    assert str(caught.value) == f"tiny_post/{message}"


def test_lines_hold_behind_an_expert_step_that_the_variant_does_not_have(tiny: Path) -> None:
    edit(tiny, P, "expert:\n", "expert:\n  - {only_in: [v1], wait_until: 2025-03-05 08:00:00}\n")
    edit(tiny, P, "Do you approve a new shipping rule that", "{{ world.rigs }} that")
    scenario = load(tiny)
    with pytest.raises(ScenarioError, match=r"^tiny_post/people\.yaml:55: expert\[2\]\.say: 'world\.rigs' is not defined"):
        fill(scenario, "v2", parameters(scenario, "v2"), PUBLIC)


def test_names_of_methods_are_values_when_they_were_planted(tiny: Path) -> None:
    edit(tiny, P, "Up to {{ limit }} g", "Up to {{ world.items }}, {{ world.values | sum }} g")
    scenario = load(tiny)
    people = fill_people(scenario, "v1", parameters(scenario, "v1"), {**PUBLIC, "items": 3, "values": [1, 2]})
    assert people.people["pike"].topics["limit"].answer == "Up to 3, 3 g goes as a letter these days."


def test_briefs(tiny: Path) -> None:
    (tiny / "briefs/L3.v2.md").write_text("{% if limit > 600 %}Heavy: {{ limit }} g{% endif %}\n")
    scenario = load(tiny)
    params = parameters(scenario, "v2")
    assert fill_brief(scenario, "v1", "L3", params, PUBLIC) == "Our labels look dull. Please give them a friendlier line. Ada Moss\n"
    assert fill_brief(scenario, "v2", "L3", params, PUBLIC) == "Heavy: 700 g\n"
    with pytest.raises(UsageError) as missing:
        fill_brief(scenario, "v2", "L0", params, PUBLIC)
    assert str(missing.value) == "tiny_post.v2 has no brief L0; it has L3"
    (tiny / "briefs/L3.v2.md").write_text("Heavy:\n{{ world.grams }}\n")
    with pytest.raises(ScenarioError) as undefined:
        fill_brief(load(tiny), "v2", "L3", params, PUBLIC)
    assert str(undefined.value) == (
        "tiny_post/briefs/L3.v2.md:2: 'world.grams' is not defined: neither prepare nor build planted it. "
        "Known: heaviest, late, orders, overpaid, parcels."
    )


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    return load(write_tiny_scenario(tmp_path_factory.mktemp("loaded")))


@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30))
def test_any_value_reaches_a_text_unchanged(loaded: Scenario, value: str) -> None:
    """Values are data, not templates: braces, quotes and markup in them are left alone."""
    people = fill_people(loaded, "v1", {"limit": value}, PUBLIC)
    assert people.people["pike"].topics["limit"].answer == f"Up to {value} g goes as a letter these days."
    signoff = people.people["moss"].topics["approval"].signoff
    assert signoff is not None
    assert signoff.scope == {"grams": value}
