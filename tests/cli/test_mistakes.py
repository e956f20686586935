"""Ten typical mistakes of an author: each gives one clear message, and docs/authoring.md shows it as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.admission.anchors import plan
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_scenario import edit

GUIDE = Path(__file__).parents[2] / "docs" / "authoring.md"

PEOPLE, SCENARIO = "people.yaml", "scenario.yaml"
TOLD = "        facts: [F_WINDOW]\n"
ANSWER = 'answer: "{{ window }} days. The thirty in the leaflet are from before the leather changed."'
RETURN = '    return Measurement(100 * right / len(decided), incidents, {"refunds": refunds, "returns": len(decided)})'

MISTAKES = [
    (PEOPLE, TOLD, TOLD.replace("WINDOW", "WINDWO")),
    (PEOPLE, ANSWER, "answer: {{ window }} days."),
    (PEOPLE, ANSWER, 'answer: "{{ windows }} days."'),
    (PEOPLE, TOLD, ""),
    (PEOPLE, TOLD, f"{TOLD}        requires: {{signoffs: [S_RETURNS], miss: Ask Nora first.}}\n"),
    (SCENARIO, "    draws:\n      window: {low: 56, high: 64}\n", ""),
    ("solutions/shortcuts/wide_guess/manifest.yaml", "marsh/approval", "marsh/worry"),
    ("world.py", RETURN, "    return 100 * right / len(decided)"),
    (PEOPLE, "- Is it still thirty days?", "- From which day on is it thirty days?"),
    ("site/docs/handover.md.j2", "- Table `decisions`", "- Refunds: returns within {{ window }} days.\n- Table `decisions`"),
]


def shown_messages() -> list[str]:
    """The messages of the guide's section on mistakes, in order."""
    section = GUIDE.read_text(encoding="utf-8").partition("## 8. Ten common mistakes")[2].partition("\n## ")[0]
    return [line.strip() for line in section.splitlines() if line.strip().startswith("tasks/demo/")]


def messages(folder: Path, results: Path) -> list[str]:
    """What an author is told by loading the scenario and, if it loads, by the first checks of admission."""
    try:
        scenario = load(folder)
        with session(results, store=None) as settings:
            verdicts = [check.run(settings, [1]) for check in plan(scenario, "v1")[:5]]
    except ScenarioError as error:
        return [line for line in str(error).splitlines() if line.startswith("tasks/demo/")]
    return [text for verdict in verdicts for text in (*verdict.problems, *verdict.warnings)]


@pytest.mark.parametrize("number", range(10))
def test_one_mistake_one_message(demo: Path, tmp_path: Path, number: int) -> None:
    edit(demo, *MISTAKES[number])
    assert messages(demo, tmp_path / "unused") == [shown_messages()[number]]


def test_the_guide_shows_ten(demo: Path, tmp_path: Path) -> None:
    assert len(shown_messages()) == len(MISTAKES) == 10
    assert messages(demo, tmp_path / "unused") == []
