"""A script that could not be played is refused before anybody speaks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_fdegym.errors import ScenarioError

from .scripts import person, talk, topic

ZONED = datetime(2025, 3, 7, 8, tzinfo=UTC)
STAMP = "2025-03-07T08:00:00+00:00 has a time zone; a local time without one is expected."


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (
            {"tax": topic("9", facts=["F_TAXX"])},
            "people.yaml: ada/tax.facts: there is no fact 'F_TAXX' in this variant. Did you mean 'F_TAX'?",
        ),
        (
            {"tax": topic("9", requires={"signoffs": ["S_Q"], "miss": "-"})},
            "people.yaml: ada/tax.requires.signoffs: there is no sign-off 'S_Q' in this variant.",
        ),
        (
            {"tax": topic("9", opens_when={"left": "bob"})},
            "people.yaml: ada/tax.opens_when.left: there is no person 'bob' in this variant.",
        ),
        (
            {"tax": topic("9", evidence={"items": {"rows": {"number": "{{ n }}"}}, "miss": "-"})},
            "people.yaml: ada/tax.evidence.rows: number is still the template '{{ n }}'; a filled-in value is expected.",
        ),
        (
            {"tax": topic("9", evidence={"items": {"said": {"any": [{"fact": "F_TAZ"}]}}, "miss": "-"})},
            "people.yaml: ada/tax.evidence: there is no fact 'F_TAZ' in this variant. Did you mean 'F_TAX'?",
        ),
        (
            {"tax": topic("9", exclusive={"shown": {"phrase": "("}})},
            "people.yaml: ada/tax.exclusive.shown: '(' is not a regular expression: missing ), unterminated subpattern at position 0.",
        ),
        ({"tax": topic("9", available_at=ZONED)}, f"people.yaml: ada/tax.available_at: {STAMP}"),
    ],
)
def test_topics(topics: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        talk({"ada": person("Ada", topics)}, facts="F_TAX")
    assert str(error.value) == message


def test_people_and_mail() -> None:
    with pytest.raises(ScenarioError) as error:
        talk({"ada": person("Ada", {}, away={"until": ZONED, "reply": "-"})})
    assert str(error.value) == f"people.yaml: ada.away.until: {STAMP}"
    with pytest.raises(ScenarioError) as error:
        talk({"ada": person("Ada", {})}, {"news": {"sender": "ada", "subject": "-", "text": "-", "after_fact": "F"}})
    assert str(error.value) == "people.yaml: inbox news.after_fact: there is no fact 'F' in this variant."
