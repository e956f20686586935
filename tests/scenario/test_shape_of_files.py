"""What is said about a file that does not have the shape of its model."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.problems import ScenarioProblems
from tests.scenario.mistakes import Edit, problems_after, problems_of
from tests.support.tiny_scenario import edit

S, P = "scenario.yaml", "people.yaml"
START = "start: 2025-03-04 08:00:00"


def test_the_tiny_scenario_is_valid(tiny: Path) -> None:
    assert problems_of(tiny) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ((S, "sector: Retail", "sector: 24"), "scenario.yaml:3: sector: 24 (a number) is not accepted; expected: text"),
        (
            (S, "country: Ireland", "country: no"),
            "scenario.yaml:4: country: false (YAML reads yes, no, on and off so; put a word in quotes) is not accepted; expected: text",
        ),
        ((S, "country: Ireland", "country:"), "scenario.yaml:4: country: nothing is not accepted; expected: text"),
        ((P, "rate: 0.02", "rate: cheap"), "people.yaml:28: people.pike.rate: 'cheap' (text) is not accepted; expected: a number"),
        ((P, "rate: 0.02", "rate: 2"), "people.yaml:28: people.pike.rate: 2 (a number) is not accepted; expected: at most 1"),
        (
            (P, "rate: 0.02", "rate: yes"),
            "people.yaml:28: people.pike.rate: true (YAML reads yes, no, on and off so; put a word in quotes) is not accepted; "
            "expected: a number",
        ),
        ((P, "rate: 0.02", "rate: -0.1"), "people.yaml:28: people.pike.rate: -0.1 (a number) is not accepted; expected: at least 0"),
        (
            (P, "leaves: {at: 2025-03-14 12:00:00", "leaves: {after_messages: 1.5"),
            "people.yaml:31: people.pike.leaves.after_messages: 1.5 (a number) is not accepted; expected: a whole number",
        ),
        (
            (S, START, "start: 20250304"),
            "scenario.yaml:9: calendar.start: 20250304 (a number) is not accepted; expected: a date and time (2025-03-04 08:00:00)",
        ),
        (
            (S, START, "start: tomorrow"),
            "scenario.yaml:9: calendar.start: 'tomorrow' (text) is not accepted; expected: a date and time (2025-03-04 08:00:00)",
        ),
        (
            (S, START, "start: 2025-03-04T08:00:00+01:00"),
            "scenario.yaml:9: calendar.start: 2025-03-04 08:00:00+01:00 (a date and time) is not accepted: "
            "times are the customer's own, without a time zone",
        ),
        (
            (S, START, f"{START}\n  day_ends: 18"),
            "scenario.yaml:10: calendar.day_ends: 18 (a number) is not accepted; expected: a time of day (08:00)",
        ),
        (
            (S, START, f"{START}\n  day_ends: late"),
            "scenario.yaml:10: calendar.day_ends: 'late' (text) is not accepted; expected: a time of day (08:00)",
        ),
        (
            (S, "key: true", "key: 1"),
            "scenario.yaml:19: facts.F_LIMIT.key: 1 (a number) is not accepted; expected: true or false",
        ),
        ((S, "  v2:\n", "  w2:\n"), "scenario.yaml:30: variants.w2: the key 'w2' is not accepted; expected: v1, v2, ..."),
        (
            (S, "  v2:\n", "  no:\n"),
            "scenario.yaml:30: variants.False: the key false (YAML reads yes, no, on and off so; put a word in quotes) is "
            "not accepted; expected: a name",
        ),
        (
            (S, "id: tiny_post", "id: Tiny-Post"),
            "scenario.yaml:1: id: 'Tiny-Post' (text) is not accepted; expected: a name of small letters, digits and _ that "
            "begins with a letter",
        ),
        (
            (S, "file: system/shipping.py", "file: ../system/shipping.py"),
            "scenario.yaml:22: entry_points.ship.file: '../system/shipping.py' (text) is not accepted; "
            "expected: a path inside the workspace, with forward slashes and without '..'",
        ),
        (
            (P, '{number: "{{ world.overpaid }}"', "{number: many"),
            "people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.number: 'many' (text) is not accepted; "
            "expected: a number or a text with {{ ... }}",
        ),
        (
            (P, "- How heavy may a letter be?", "#"),
            "people.yaml:36: people.pike.topics.limit.examples: a list of 2 is not accepted; expected: at least 3 of them",
        ),
        (
            (P, "facts: [F_LIMIT]\n", "facts: F_LIMIT\n"),
            "people.yaml:42: people.pike.topics.limit.facts: 'F_LIMIT' (text) is not accepted; expected: a list",
        ),
        ((P, "leaves: {at", "leaves: later #"), "people.yaml:31: people.pike.leaves: 'later' (text) is not accepted; expected: a mapping"),
        (
            (P, "    sender: moss\n", "    sender: moss\n    sendr: moss\n"),
            "people.yaml:46: inbox.welcome.sendr: unknown key. Did you mean 'sender'? "
            "Accepted: after_fact, after_messages, at, facts, not_in, only_in, sender, subject, text.",
        ),
        (
            ("solutions/literal/manifest.yaml", "what:", "granted_signoffs: [{topic: moss}]\nwhat:"),
            "solutions/literal/manifest.yaml:1: granted_signoffs[0].topic: 'moss' (text) is not accepted; expected: person/topic",
        ),
        ((P, "    subject: Welcome\n", ""), "people.yaml:44: inbox.welcome.subject: is missing"),
    ],
)
def test_what_was_found_and_what_is_expected(tiny: Path, change: Edit, problem: str) -> None:
    assert problems_after(tiny, change) == [f"tiny_post/{problem}"]


def test_all_mistakes_of_all_files_are_told_at_once_and_none_twice(tiny: Path) -> None:
    edit(tiny, S, "customer: Fernhill Seeds", "custmer: Fernhill Seeds")
    edit(tiny, S, "sponsor: moss", "sponsor: mos")
    edit(tiny, S, "function: ship", "function: shipp")
    edit(tiny, P, "patience: 3\n    fallback: I only", "patience: 0\n    fallback: I only")
    edit(tiny, P, "facts: [F_LIMIT]\n", "facts: [F_LIMIT, F_CAUZE]\n")
    edit(tiny, P, '"{{ world.overpaid }}", within', '"{{ wurld.overpaid }}", within')
    edit(tiny, "solutions/literal/manifest.yaml", "what: ", "wat: ")
    edit(tiny, "world.py", "def heldout(world, rng)", "def heldout(world)")
    (tiny / "briefs/L3.md").unlink()
    assert problems_of(tiny) == [
        "tiny_post/briefs/L3.md: is missing; L3 exists for every variant, and v1, v2 would be without",
        "tiny_post/people.yaml:20: people.moss.topics.approval.evidence.items.overpaid.number: 'wurld' is not defined. "
        "Did you mean 'world'? Known: limit, world.",
        "tiny_post/people.yaml:29: people.pike.patience: 0 (a number) is not accepted; expected: at least 1",
        "tiny_post/scenario.yaml:1: customer: is missing",
        "tiny_post/scenario.yaml:5: custmer: unknown key. Did you mean 'customer'? Accepted: calendar, country, customer, databases, "
        "deployed, entry_points, facts, gateway, id, incidents, kpi, parameters, sector, sponsor, title, trial, variants.",
        "tiny_post/scenario.yaml:6: sponsor: 'mos' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike.",
        "tiny_post/scenario.yaml:23: entry_points.ship.function: 'shipp' is not a function at the top level of system/shipping.py. "
        "Did you mean 'ship'? It defines: ship.",
        "tiny_post/solutions/literal/manifest.yaml:1: wat: unknown key. Did you mean 'what'? Accepted: based_on, expect, granted_facts, "
        "granted_signoffs, not_in, only_in, remove, right_in, script, what.",
        "tiny_post/solutions/literal/manifest.yaml:1: what: is missing",
        "tiny_post/world.py:26: heldout: has the parameters (world); heldout(world, rng) is expected",
    ]


def test_a_person_who_cannot_be_read_hides_no_mistakes_elsewhere(tiny: Path) -> None:
    edit(tiny, P, "    role: Post room\n", "")
    edit(tiny, P, "ask: moss", "ask: boss")
    assert problems_of(tiny) == [
        "tiny_post/people.yaml:24: people.pike.role: is missing",
        "tiny_post/people.yaml:50: expert[1].ask: 'boss' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike.",
    ]


def test_an_item_that_cannot_be_read_does_not_move_the_lines_of_the_others(tiny: Path) -> None:
    edit(tiny, P, "{ask: pike, say:", "{ask: pike, sya: x, say:")
    edit(tiny, P, "ask: moss", "ask: boss")
    assert problems_of(tiny) == [
        "tiny_post/people.yaml:50: expert[0].sya: unknown key. Did you mean 'say'? Accepted: ask, not_in, only_in, say, trial, wait_until.",
        "tiny_post/people.yaml:51: expert[1].ask: 'boss' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike.",
    ]


def test_a_list_item_that_cannot_be_read_at_all(tiny: Path) -> None:
    edit(tiny, P, "{ask: pike, say:", "5\n  - {ask: pike, say:")
    edit(tiny, P, "ask: moss", "ask: boss")
    assert problems_of(tiny) == [
        "tiny_post/people.yaml:50: expert: 5 (a number) is not accepted; expected: a mapping",
        "tiny_post/people.yaml:52: expert[2].ask: 'boss' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike.",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "people.yaml: is empty; keys are expected"),
        ("- a\n- b\n", "people.yaml:1: holds a list of 2; keys are expected"),
        ("people: [\n", "people.yaml:2: is not valid YAML: did not find expected node content (while parsing a flow node)"),
        ("people: 3\nexpert: 4\n", "people.yaml:1: people: 3 (a number) is not accepted; expected: a mapping"),
        ("people: {}\nexpert: []\n", "people.yaml:1: people: a mapping of 0 is not accepted; expected: at least 1 of them"),
    ],
)
def test_a_file_of_another_kind(tiny: Path, text: str, problem: str) -> None:
    (tiny / P).write_text(text)
    assert f"tiny_post/{problem}" in problems_of(tiny)


def test_a_scenario_without_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny_post").mkdir()
    assert problems_of(tmp_path / "tiny_post") == [
        "tiny_post/people.yaml: is missing",
        "tiny_post/scenario.yaml: is missing",
        "tiny_post/site: is missing; it holds what the customer hands over",
        "tiny_post/solutions/literal: is missing; every scenario has a reference and a literal solution",
        "tiny_post/solutions/reference: is missing; every scenario has a reference and a literal solution",
        "tiny_post/world.py: is missing; it defines prepare, build, heldout, operate, measure",
    ]


def test_a_folder_that_is_none(tiny: Path) -> None:
    with pytest.raises(ScenarioProblems) as caught:
        load(tiny / "scenario.yaml")
    assert str(caught.value) == (
        "1 problem in the scenario tiny_post/scenario.yaml:\ntiny_post/scenario.yaml: is not a folder; one that holds a "
        "scenario.yaml is expected"
    )
