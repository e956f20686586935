"""Parameters that seeds other than 1 redraw, and the mistakes an author can make with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fdegym.scenario.fill import _drawn, fill_facts, parameters, render_tree
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.model import Draw
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.streams import stream
from pytest_fdegym.workspace.prepare import PreparedTasks
from tests.scenario.mistakes import problems_after
from tests.support.tiny_scenario import edit

S = "scenario.yaml"
LIMIT = "limit: {value: 500, about: Heaviest letter in grams.}"
V2 = "parameters: {limit: 700}"


def drawn(tiny: Path, draw: str, *, value: str = "500", v2: str = "draws: {limit: null}") -> Scenario:
    edit(tiny, S, LIMIT, f"limit: {{value: {value}, about: Heaviest letter in grams., draw: {draw}}}")
    edit(tiny, S, V2, f"{V2}\n    {v2}")
    return load(tiny)


def limits(scenario: Scenario, variant: str = "v1", seeds: range = range(2, 60)) -> list[Any]:
    return [parameters(scenario, variant, seed)["limit"] for seed in seeds]


def test_seed_1_has_the_value_that_is_written(tiny: Path) -> None:
    scenario = drawn(tiny, "{choices: [1, 2, 3]}")
    assert parameters(scenario, "v1", 1) == parameters(scenario, "v1") == {"limit": 500}


def test_other_seeds_draw_one_of_the_choices_whatever_they_are(tiny: Path) -> None:
    scenario = drawn(tiny, "{choices: [200, {limit: 3, basis: day}, [1, 2], none]}")
    found = limits(scenario)
    assert {str(each) for each in found} == {"200", "{'limit': 3, 'basis': 'day'}", "[1, 2]", "none"}
    written = str(found)
    assert str(limits(scenario)) == written, "the same for the same seed"
    for each in limits(scenario):
        if isinstance(each, list):
            each.append("changed by the caller")
    assert str(limits(scenario)) == written


def test_or_a_number_of_a_range(tiny: Path) -> None:
    found = limits(drawn(tiny, "{low: 300, high: 420, step: 50}"))
    assert set(found) == {300, 350, 400}
    assert all(isinstance(each, int) for each in found), "so that texts say 350 and not 350.0"


@pytest.mark.parametrize(
    ("draw", "value", "expected"),
    [
        ("{low: 0.1, high: 0.5, step: 0.1}", "0.3", {0.1, 0.2, 0.3, 0.4, 0.5}),
        ("{low: 1, high: 2, step: 0.5}", "1", {1.0, 1.5, 2.0}),
        ("{low: 1, high: 3}", "2.0", {1.0, 2.0, 3.0}),
        ("{low: -2, high: -2}", "-2", {-2}),
    ],
)
def test_steps_are_exact_decimals(tiny: Path, draw: str, value: str, expected: set[float]) -> None:
    assert set(limits(drawn(tiny, draw, value=value))) == expected


def test_a_variant_may_keep_its_value_or_draw_in_its_own_way(tiny: Path) -> None:
    assert set(limits(drawn(tiny, "{choices: [200, 300]}"), "v2")) == {700}
    edit(tiny, S, "draws: {limit: null}", "draws: {limit: {choices: [800, 900]}}")
    assert set(limits(load(tiny), "v2")) == {800, 900}


def test_variants_that_draw_in_the_same_way_draw_the_same(tiny: Path) -> None:
    edit(tiny, S, LIMIT, "limit: {value: 500, draw: {low: 300, high: 900}}")
    edit(tiny, S, f"    {V2}\n", "")
    scenario = load(tiny)
    assert limits(scenario, "v1") == limits(scenario, "v2")


def test_each_parameter_has_a_stream_of_its_own(tiny: Path) -> None:
    scenario = drawn(tiny, "{low: 0, high: 1000000}")
    alone = limits(scenario)
    edit(tiny, S, "parameters:\n  limit", "parameters:\n  another: {value: 1, draw: {low: 0, high: 1000000}}\n  limit")
    both = load(tiny)
    assert limits(both) == alone
    assert [parameters(both, "v1", seed)["another"] for seed in range(2, 60)] != alone


def test_what_is_drawn_reaches_world_people_facts_documents_briefs_and_solutions(tiny: Path, tmp_path: Path) -> None:
    scenario = drawn(tiny, "{low: 310, high: 890, step: 10}")
    with PreparedTasks() as tasks:
        for seed in (1, 2, 3):
            task = tasks.get(scenario, "v1", seed)
            limit = task.params["limit"]
            assert task.world.params["limit"] == limit
            assert f"Up to {limit} g goes" in task.people.people["pike"].topics["limit"].answer
            assert task.facts["F_LIMIT"].text == f"A letter may weigh up to {limit} g."
            assert f"up to {limit} g" in task.brief("L0")
            signoff = task.people.people["moss"].topics["approval"].signoff
            assert signoff is not None
            assert signoff.scope == {"grams": limit}
            target = tmp_path / f"laid{seed}"
            render_tree(scenario.solutions["reference"].folder, target, task.params, task.world.public)
            assert f"LETTER_LIMIT_GRAMS = {limit}\n" in (target / "system/shipping.py").read_text()
        assert len({tasks.get(scenario, "v1", seed).params["limit"] for seed in (1, 2, 3)}) == 3
    assert fill_facts(scenario, "v1", parameters(scenario, "v1", 1), {})["F_LIMIT"].text == "A letter may weigh up to 500 g."


@pytest.mark.parametrize(
    ("draw", "problem"),
    [
        ("{}", "exactly one of choices, or low and high, is expected"),
        ("{choices: [1], low: 1, high: 2}", "exactly one of choices, or low and high, is expected"),
        ("{choices: [1], step: 2}", "'step' belongs to low and high, which are not given"),
        ("{low: 1}", "low and high belong together"),
        ("{low: 2, high: 1}", "nothing lies from 2 to 1"),
    ],
)
def test_a_mistake_in_a_draw(tiny: Path, draw: str, problem: str) -> None:
    changed = (S, LIMIT, f"limit: {{value: 500, draw: {draw}}}"), (S, V2, f"{V2}\n    draws: {{limit: null}}")
    assert problems_after(tiny, *changed) == [f"tiny_post/scenario.yaml:17: parameters.limit.draw: {problem}"]


def test_an_empty_list_of_choices(tiny: Path) -> None:
    changed = (S, LIMIT, "limit: {value: 500, draw: {choices: []}}"), (S, V2, f"{V2}\n    draws: {{limit: {{low: 1}}}}")
    assert problems_after(tiny, *changed) == [
        "tiny_post/scenario.yaml:17: parameters.limit.draw.choices: at least one value is expected; the list is empty",
        "tiny_post/scenario.yaml:33: variants.v2.draws.limit: low and high belong together",
    ]


def test_draws_that_name_no_parameter(tiny: Path) -> None:
    assert problems_after(tiny, (S, V2, f"{V2}\n    draws: {{limits: null}}")) == [
        "tiny_post/scenario.yaml:33: variants.v2.draws.limits: 'limits' is not a parameter of scenario.yaml. Did you mean 'limit'? "
        "Known: limit."
    ]


def test_a_value_that_other_seeds_would_lose(tiny: Path) -> None:
    assert problems_after(tiny, (S, LIMIT, "limit: {value: 500, draw: {choices: [1]}}")) == [
        "tiny_post/scenario.yaml:32: variants.v2.parameters.limit: 'limit' is drawn under seeds other than 1, and this value would be "
        "lost; say in 'draws' what is drawn here (null: the value is the same under every seed)"
    ]


def test_streams_are_told_apart_by_every_part_of_their_name() -> None:
    names = [
        ("a", 1, "parameters", "b"),
        ("a", 1, "parameters", "c"),
        ("a", 2, "parameters", "b"),
        ("b", 1, "parameters", "b"),
        ("a", 1, "b"),
    ]
    assert len({stream(scenario, seed, *rest).random() for scenario, seed, *rest in names}) == len(names)  # type: ignore[arg-type]
    assert stream("a", 1, "trial", 2).random() == stream("a", 1, "trial", 2).random()


@settings(max_examples=50)
@given(st.integers(2, 10**6), st.integers(-1000, 1000), st.integers(0, 500), st.sampled_from([1, 2, 5, 7]))
def test_a_number_lies_on_a_step_within_the_range(seed: int, low: int, width: int, step: int) -> None:
    value = _drawn(Draw(low=low, high=low + width, step=step), low, stream("tiny_post", seed, "parameters", "limit"))
    assert low <= value <= low + width
    assert (value - low) % step == 0
