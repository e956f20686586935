"""References between people.yaml and scenario.yaml: every mistake names the line, what was found, and what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.mistakes import Edit, problems_after
from tests.support.tiny_scenario import edit

S, P = "scenario.yaml", "people.yaml"
OVERPAID = '{number: "{{ world.overpaid }}", within: 0.02, near: order|parcel}'
ITEM = "people.moss.topics.approval.evidence.items.overpaid"
KINDS = "exactly one of number, id, ids, document, phrase, fact, trial_report, all, any is expected"
LIMIT_ANSWER = "answer: Up to {{ limit }} g goes as a letter these days.\n"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            (P, "facts: [F_LIMIT]\n", "facts: [F_LIMIT, F_LIMITS]\n"),
            "people.yaml:42: people.pike.topics.limit.facts: 'F_LIMITS' is not a fact of scenario.yaml. Did you mean "
            "'F_LIMIT'? Known: F_LIMIT.",
        ),
        (
            (P, "requires: {facts: [F_LIMIT]", "requires: {facts: [LIMIT]"),
            "people.yaml:22: people.moss.topics.approval.requires.facts: 'LIMIT' is not a fact of scenario.yaml. "
            "Did you mean 'F_LIMIT'? Known: F_LIMIT.",
        ),
        (
            (P, "requires: {facts: [F_LIMIT]", "requires: {signoffs: [S_SHOP]"),
            "people.yaml:22: people.moss.topics.approval.requires.signoffs: 'S_SHOP' is not a sign-off of any topic. "
            "Did you mean 'S_SHIP'? Known: S_SHIP.",
        ),
        (
            (P, OVERPAID, "{fact: F_LIMI}"),
            f"people.yaml:20: {ITEM}.fact: 'F_LIMI' is not a fact of scenario.yaml. Did you mean 'F_LIMIT'? Known: F_LIMIT.",
        ),
        (
            (P, "    at: 2025-03-04 09:00:00\n", "    after_fact: F_X\n"),
            "people.yaml:48: inbox.welcome.after_fact: 'F_X' is not a fact of scenario.yaml. Known: F_LIMIT.",
        ),
        (
            (P, "    at: 2025-03-04 09:00:00\n", "    at: 2025-03-04 09:00:00\n    facts: [F_X]\n"),
            "people.yaml:49: inbox.welcome.facts: 'F_X' is not a fact of scenario.yaml. Known: F_LIMIT.",
        ),
        (
            (P, "    at: 2025-03-04 09:00:00\n", "    at: 2025-03-04 09:00:00\n    only_in: [v3]\n"),
            "people.yaml:49: inbox.welcome.only_in: 'v3' is not a variant of scenario.yaml. Known: v1, v2.",
        ),
        (
            (P, "    at: 2025-03-04 09:00:00\n", ""),
            "people.yaml:44: inbox.welcome: exactly one of at, after_fact, after_messages is expected; none is given",
        ),
        (
            (P, "    at: 2025-03-04 09:00:00\n", "    at: 2025-03-04 09:00:00\n    after_messages: 2\n"),
            "people.yaml:44: inbox.welcome: exactly one of at, after_fact, after_messages is expected; at, after_messages are given",
        ),
        (
            (P, "leaves: {at: 2025-03-14 12:00:00, ", "leaves: {"),
            "people.yaml:31: people.pike.leaves: exactly one of at, after_messages is expected; none is given",
        ),
        ((P, OVERPAID, "{near: order}"), f"people.yaml:20: {ITEM}: {KINDS}; none is given"),
        ((P, OVERPAID, "{id: A-1, phrase: order}"), f"people.yaml:20: {ITEM}: {KINDS}; id, phrase are given"),
        ((P, OVERPAID, "{id: A-1, within: 0.1}"), f"people.yaml:20: {ITEM}: 'within' belongs to 'number', which is not given"),
        ((P, OVERPAID, "{ids: [A, B], at_least: 3}"), f"people.yaml:20: {ITEM}.at_least: 3 of the ids are needed, but there are only 2"),
        ((P, OVERPAID, "{any: []}"), f"people.yaml:20: {ITEM}.any: at least one condition is expected; the list is empty"),
        ((P, OVERPAID, "{all: [{id: A}, {any: [{}]}]}"), f"people.yaml:20: {ITEM}.all[1].any[0]: {KINDS}; none is given"),
        (
            (P, OVERPAID, "{phrase: 'orders (late'}"),
            f"people.yaml:20: {ITEM}.phrase: 'orders (late' is not a regular expression: missing ), unterminated subpattern at position 7",
        ),
        (
            (P, OVERPAID, "{phrase: '[[a]'}"),
            f"people.yaml:20: {ITEM}.phrase: '[[a]' is not a regular expression: Possible nested set at position 1",
        ),
        (
            (P, "near: order|parcel", "near: '*order'"),
            f"people.yaml:20: {ITEM}.near: '*order' is not a regular expression: nothing to repeat at position 0",
        ),
        (
            (P, "'\\bgrams?\\b'", "'grams['"),
            "people.yaml:40: people.pike.topics.limit.triggers: 'grams[' is not a regular expression: unterminated character "
            "set at position 5",
        ),
        (
            (P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        never: [a, '(?P<x']\n"),
            "people.yaml:42: people.pike.topics.limit.never: '(?P<x' is not a regular expression: missing >, unterminated "
            "name at position 4",
        ),
        (
            (P, "          miss: How many", "          need: 2\n          miss: How many"),
            "people.yaml:21: people.moss.topics.approval.evidence.need: 2 of the items are needed, but there are only 1",
        ),
        (
            (P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        opens_when: {{left: pikes}}\n"),
            "people.yaml:42: people.pike.topics.limit.opens_when.left: 'pikes' is not a person of people.yaml. "
            "Did you mean 'pike'? Known: moss, pike.",
        ),
        (
            (P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        opens_when: {{left: moss}}\n"),
            "people.yaml:42: people.pike.topics.limit.opens_when.left: 'moss' never leaves: the person has no 'leaves'",
        ),
        (
            (P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        opens_when: {{}}\n"),
            "people.yaml:42: people.pike.topics.limit.opens_when: exactly one of left, at, fact is expected; none is given",
        ),
        (
            (P, LIMIT_ANSWER, f"{LIMIT_ANSWER}        exclusive: {{shown: {{}}}}\n"),
            f"people.yaml:42: people.pike.topics.limit.exclusive.shown: {KINDS}; none is given",
        ),
        (
            (P, "{ask: pike, say:", "{ask: spike, say:"),
            "people.yaml:50: expert[0].ask: 'spike' is not a person of people.yaml. Did you mean 'pike'? Known: moss, pike.",
        ),
        (
            (P, "{ask: pike, say:", "{ask: pike, wait_until: 2025-03-05 08:00:00, say:"),
            "people.yaml:50: expert[0]: exactly one of ask, wait_until, trial is expected; ask, wait_until are given",
        ),
        (
            (P, "  - ask: moss\n    say: |-\n", "  - ask: moss\n    only_in: [v1]\n  - wait_until: 2025-03-05 08:00:00\n    say: |-\n"),
            "people.yaml:51: expert[1]: 'ask' and 'say' belong together: who is asked, and what is said",
        ),
        (
            (S, "sponsor: moss", "sponsor: mosss"),
            "scenario.yaml:6: sponsor: 'mosss' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike.",
        ),
    ],
)
def test_a_reference_that_leads_nowhere(tiny: Path, change: Edit, problem: str) -> None:
    assert f"tiny_post/{problem}" in problems_after(tiny, change)


def test_what_a_variant_does_not_have_cannot_be_referred_to_there(tiny: Path) -> None:
    edit(tiny, P, "  pike:\n", "  pike:\n    not_in: [v2]\n")
    edit(tiny, S, "key: true}", "key: true, only_in: [v1]}")
    edit(tiny, P, "    sender: moss\n", "    sender: pike\n")
    found = problems_after(tiny, (S, "sponsor: moss", "sponsor: pike"))
    assert [line for line in found if "/solutions/" not in line] == [
        "tiny_post/people.yaml:22: people.moss.topics.approval.requires.facts: the fact 'F_LIMIT' does not exist in v2, "
        "where it is referred to",
        "tiny_post/people.yaml:46: inbox.welcome.sender: the person 'pike' does not exist in v2, where it is referred to",
        "tiny_post/people.yaml:51: expert[0].ask: the person 'pike' does not exist in v2, where it is referred to",
        "tiny_post/scenario.yaml:6: sponsor: the person 'pike' does not exist in v2, where it is referred to",
    ]
    assert [line for line in found if "/reference/" in line] == [
        "tiny_post/solutions/reference/manifest.yaml:3: granted_facts: the fact 'F_LIMIT' does not exist in v2, where it is granted; "
        "write {facts: [F_LIMIT], not_in: [v2]}"
    ]


def test_what_holds_a_reference_exists_where_all_that_holds_it_exists(tiny: Path) -> None:
    """Pike's topic names a fact of v1, and that is fine as long as Pike is there in v1 only."""
    edit(tiny, S, "facts:\n", 'facts:\n  F_OLD: {text: "It was 250 g.", only_in: [v1]}\n')
    found = problems_after(tiny, (P, "facts: [F_LIMIT]\n", "facts: [F_LIMIT, F_OLD]\n"))
    assert found == [
        "tiny_post/people.yaml:42: people.pike.topics.limit.facts: the fact 'F_OLD' does not exist in v2, where it is referred to"
    ]
    found = problems_after(tiny, (P, "  pike:\n", "  pike:\n    only_in: [v1]\n"))
    assert [line for line in found if "F_OLD" in line] == []


def test_every_variant_needs_an_expert(tiny: Path) -> None:
    edit(tiny, P, "{ask: pike, say:", "{only_in: [v1], ask: pike, say:")
    assert problems_after(tiny, (P, "  - ask: moss", "  - only_in: [v1]\n    ask: moss")) == [
        "tiny_post/people.yaml:49: expert: no step exists in v2",
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            (P, "Up to {{ limit }} g", "Up to {{ limit + bonus }} g"),
            "people.yaml:41: people.pike.topics.limit.answer: 'bonus' is not defined. Known: limit, world.",
        ),
        (
            (P, "no more than {{ limit }} g.\n      Do", "no more than {{ limit }} g.\n\n      {{ lmit }} Do"),
            "people.yaml:55: expert[1].say: 'lmit' is not defined. Did you mean 'limit'? Known: limit, world.",
        ),
        (
            (P, "Up to {{ limit }} g", "'Up to {{ limit g'\n        #"),
            "people.yaml:41: people.pike.topics.limit.answer: the template cannot be read: expected token 'end of print "
            "statement', got 'g'",
        ),
        (
            (P, "Up to {{ limit }} g", "Up to {{ limit | roundish }} g"),
            "people.yaml:41: people.pike.topics.limit.answer: the template cannot be read: No filter named 'roundish'.",
        ),
        (
            (P, "Up to {{ limit }} g", "'{{ [1, 2] | random }} g'\n        #"),
            "people.yaml:41: people.pike.topics.limit.answer: the template cannot be read: No filter named 'random'.",
        ),
        (
            (S, "weigh up to {{ limit }} g", "weigh up to {{ grams }} g"),
            "scenario.yaml:19: facts.F_LIMIT.text: 'grams' is not defined. Known: limit, world.",
        ),
        (
            (S, "title: Letters and parcels", 'title: "Letters to {{ limit }} g"'),
            "scenario.yaml:2: title: templates are filled in in the texts of facts and incidents only",
        ),
        (("briefs/L0.md", "{{ limit }} g", "{{ max }} g"), "briefs/L0.md:1: 'max' is not defined. Known: limit, world."),
        (
            ("site/docs/post.md.j2", "{{ world.orders }}", "{{ orders }}"),
            "site/docs/post.md.j2:2: 'orders' is not defined. Known: limit, world.",
        ),
        (
            ("solutions/reference/system/shipping.py.j2", "{{ limit }}", "{{ limits }}"),
            "solutions/reference/system/shipping.py.j2:3: 'limits' is not defined. Did you mean 'limit'? Known: limit, world.",
        ),
    ],
)
def test_a_template_that_names_what_is_not_defined(tiny: Path, change: Edit, problem: str) -> None:
    assert problems_after(tiny, change) == [f"tiny_post/{problem}"]
