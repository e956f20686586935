"""What has to hold of a trial, a gateway and entry points of some variants only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.mistakes import Edit, problems_after, problems_of
from tests.support.tiny_gateway import write_tiny_gateway
from tests.support.tiny_scenario import edit

S, P, W = "scenario.yaml", "people.yaml", "world.py"
TRIAL = "trial: {runs: 2, charges: [0.01, 0.03], minutes: 60}\n"
GATEWAY = "gateway: {models: [post-small, post-large], usd_per_call: 0.25, work_calls: 3}\n"
GATE = "people.moss.topics.approval.evidence.items.tried.trial_report"
SHIP = "  ship:\n    file: system/shipping.py\n"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_tiny_gateway(tmp_path / "tiny_post")


def test_the_scenario_is_right_as_it_is(tiny: Path) -> None:
    assert problems_of(tiny) == []


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        (
            [(S, TRIAL, "")],
            [
                f"people.yaml:21: {GATE}: scenario.yaml declares no trial",
                "people.yaml:52: expert[1].trial: scenario.yaml declares no trial",
            ],
        ),
        (
            [(S, TRIAL, TRIAL.replace("{", "{only_in: [v2, v3], "))],
            [
                f"people.yaml:21: {GATE}: there is no trial in v1, where it is referred to",
                "people.yaml:52: expert[1].trial: there is no trial in v1, where it is referred to",
                "scenario.yaml:28: trial.only_in: 'v3' is not a variant of scenario.yaml. Known: v1, v2.",
            ],
        ),
        (
            [(S, TRIAL, "trial: {runs: 0, charges: []}\n")],
            [
                "scenario.yaml:28: trial.charges: a list of 0 is not accepted; expected: at least 1 of them",
                "scenario.yaml:28: trial.runs: 0 (a number) is not accepted; expected: at least 1",
            ],
        ),
        (
            [(S, GATEWAY, "")],
            ["scenario.yaml:24: entry_points.ship.inject.gateway: scenario.yaml declares no gateway"],
        ),
        (
            [(S, GATEWAY, GATEWAY.replace("}", ", client: docs/gateway.py}"))],
            ["scenario.yaml:29: gateway.client: 'docs/gateway.py' lies in no deployed folder; deployed: system"],
        ),
        (
            [(S, GATEWAY, GATEWAY.replace("}", ", client: system/gateway}"))],
            ["scenario.yaml:29: gateway.client: 'system/gateway' is not a Python file"],
        ),
        (
            [(S, GATEWAY, GATEWAY.replace("}", ", client: system/labels.py}"))],
            ["scenario.yaml:29: gateway.client: 'system/labels.py' is a file of site/ already; the client is laid there"],
        ),
        (
            [(S, GATEWAY, GATEWAY.replace("{", "{not_in: [v2, v4], "))],
            [
                "scenario.yaml:24: entry_points.ship.inject.gateway: there is no gateway in v2, where it is referred to",
                "scenario.yaml:29: gateway.not_in: 'v4' is not a variant of scenario.yaml. Known: v1, v2.",
            ],
        ),
        (
            [(W, "def answer(request, world, heldout)", "def answer(request, world)")],
            ["world.py:67: answer: has the parameters (request, world); answer(request, world, heldout) is expected"],
        ),
        (
            [(W, "def answer(", "def answers(")],
            ["world.py: answer: is missing; answer(request, world, heldout) is expected, since scenario.yaml declares a gateway"],
        ),
        (
            [(W, "def trial(", "def _trial(")],
            ["world.py: trial: is missing; trial(system, n, world, rng) is expected, since scenario.yaml declares a trial"],
        ),
        (
            [(S, SHIP, f"{SHIP}    only_in: [v1]\n")],
            ["scenario.yaml:20: entry_points: none exists in v2"],
        ),
        (
            [(S, SHIP, f"{SHIP}    not_in: [v2, v5]\n")],
            [
                "scenario.yaml:20: entry_points: none exists in v2",
                "scenario.yaml:23: entry_points.ship.not_in: 'v5' is not a variant of scenario.yaml. Known: v1, v2.",
            ],
        ),
        (
            [(P, "- {trial: true}", "- {trial: false}")],
            [
                "people.yaml:52: expert[1].trial: false (YAML reads yes, no, on and off so; put a word in quotes) is not accepted; "
                "expected: True"
            ],
        ),
    ],
)
def test_a_mistake(tiny: Path, changes: list[Edit], problems: list[str]) -> None:
    assert problems_after(tiny, *changes) == [f"tiny_post/{problem}" for problem in problems]


def test_an_entry_points_file_is_looked_for_in_its_variants_only(tiny: Path) -> None:
    (tiny / "site.v2/system").mkdir(parents=True)
    (tiny / "site.v2/system/returns.py").write_text("def take_back(order):\n    return True\n")
    more = "  take_back:\n    file: system/returns.py\n    function: take_back\n    only_in: [v2]\n"
    assert problems_after(tiny, (S, SHIP, more + SHIP)) == []
    edit(tiny, S, "    only_in: [v2]\n", "")
    assert problems_of(tiny) == [
        "tiny_post/scenario.yaml:22: entry_points.take_back.file: 'system/returns.py' is not a file of site/ for v1"
    ]
