"""The baseline file: small, the same every time, read back or refused, and compared with the same worlds only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.baseline import (
    TaskKey,
    TaskScores,
    dumped,
    of_records,
    parse_baseline,
    read_baseline,
    refuse_different,
    write_baseline,
)
from pytest_fdegym.results.record import AgentIdentity, Record
from tests.support.records import graded, void
from tests.support.score_sheets import sheet

TEXT = """\
{
 "agent": {"name": "myagent", "options": {}, "version": "1.2"},
 "gateway": null,
 "harness_version": "0.1.0",
 "router": "embedded-1",
 "schema_version": 1,
 "scoring_version": 1,
 "tasks": {
  "oil_npt.v1 L0": {"incidents": ["harm"], "scores": {"1": -1.05, "2": 0.9}, "world": "eeeeeeeeeeeeeeee"},
  "oil_npt.v2 L3": {"scores": {"1": 0.333333}, "world": "eeeeeeeeeeeeeeee"},
  "oil_npt.v10 L3 seed 7": {"scores": {}, "void": [1], "world": "eeeeeeeeeeeeeeee"}
 }
}
"""
AGENT = AgentIdentity(name="myagent", version="1.2")
RECORDS = [
    void("oil_npt.v10", seed=7, agent=AGENT),
    graded("oil_npt.v1", level="L0", run=2, uplift=0.9, agent=AGENT),
    graded("oil_npt.v1", level="L0", uplift=-3.0, cost=0.05, incident=True, agent=AGENT),
    graded("oil_npt.v2", uplift=1 / 3, agent=AGENT),
]


def test_one_line_a_task_in_order_with_floored_scores() -> None:
    assert dumped(of_records(RECORDS, "the session")) == TEXT


def test_it_reads_back(tmp_path: Path) -> None:
    baseline = of_records(RECORDS, "the session")
    write_baseline(tmp_path / "main.json", baseline)
    assert read_baseline(tmp_path / "main.json") == baseline
    assert baseline.content == "myagent 1.2, 3 tasks, 3 runs"


@given(st.dictionaries(st.integers(1, 30), st.floats(-5, 5), min_size=1))
def test_any_scores_read_back_as_they_are_written(scores: dict[int, float]) -> None:
    baseline = sheet({"a.v1": TaskScores(scores=scores, world="w")})
    assert parse_baseline(dumped(baseline), Path("main.json")) == baseline


def test_the_order_of_records_does_not_matter() -> None:
    assert dumped(of_records(reversed(RECORDS), "the session")) == TEXT


def message(text: str, tmp_path: Path) -> str:
    file = tmp_path / "main.json"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_baseline(file)
    return str(caught.value).replace(str(file), "main.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "the baseline main.json is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "the baseline main.json is not one: the whole file: Input should be a valid dictionary or instance of Baseline"),
        ('{"schema_version": 2}', "the baseline main.json has schema version 2; this release reads 1. Make it again."),
        (TEXT.replace('"router": "embedded-1",', ""), "the baseline main.json is not one: router: Field required"),
        (
            TEXT.replace("v2 L3", "v2 L9"),
            "the baseline main.json is not one: the whole file: "
            "Value error, a task and a level such as 'oil_npt.v1 L3' are expected, found 'oil_npt.v2 L9'",
        ),
        (
            TEXT.replace("v2 L3", "v2 L3 seed 1"),
            "the baseline main.json is not one: the whole file: Value error, 'oil_npt.v2 L3' is expected, found 'oil_npt.v2 L3 seed 1'",
        ),
        (
            TEXT.replace("0.333333", "NaN"),
            "the baseline main.json is not one: tasks, oil_npt.v2 L3, scores, 1: Input should be a finite number",
        ),
    ],
)
def test_what_is_not_a_baseline(text: str, expected: str, tmp_path: Path) -> None:
    assert message(text, tmp_path) == expected


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_baseline(tmp_path / "main.json")
    assert str(caught.value) == (
        f"the baseline {tmp_path}/main.json cannot be read: No such file or directory. --fde-update-baseline makes one."
    )


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "main.json").mkdir()
    with pytest.raises(UsageError, match=r"^the baseline .*main\.json cannot be written: Is a directory$"):
        write_baseline(tmp_path / "main.json", sheet({}))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], "the store holds no record of a run."),
        (
            [graded(), graded(agent=AgentIdentity(name="other", version="2"))],
            "the store holds runs of 2 agents (myagent, other 2); those of one are expected.",
        ),
        (
            [graded(), graded("b.v1", router="llm:m")],
            "the store holds runs under 2 routers (embedded-1, llm:m), which are not compared.",
        ),
        (
            [graded(gateway="simulated"), graded("b.v1", gateway="large"), graded("c.v1")],
            "the store holds runs under 2 models behind the customers' LLM gateways (large, simulated), which are not compared.",
        ),
        (
            [graded(), graded("b.v1", scoring_version=2)],
            "the store holds runs under 2 scoring versions (1, 2), which are not compared.",
        ),
        (
            [graded(world_digest=None)],
            "the store holds a record of oil_npt.v1 L3 that does not say which world it was measured on: it is of an older release.",
        ),
        (
            [graded(), graded(run=2, world_digest="f" * 64)],
            "the store holds runs of oil_npt.v1 L3 from before and after a change of the scenario, which are not compared.",
        ),
        ([graded(), graded(uplift=0.3)], "the store holds run 1 of oil_npt.v1 L3 twice."),
    ],
)
def test_records_that_make_no_baseline(records: list[Record], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        of_records(records, "the store")
    assert str(caught.value) == expected


def test_the_same_record_in_two_stores_is_one() -> None:
    assert of_records([graded(), graded()], "the stores").runs == 1


# --- what is compared ---

WORLDS = {TaskKey("a.v1", "L3"): "e" * 64, TaskKey("b.v1", "L3"): "e" * 64}


def refused(tasks: dict[str, list[float]], worlds: dict[TaskKey, str] = WORLDS, **now: object) -> str:
    conditions: dict[str, object] = {"router": "embedded-1", "scoring_version": 1, **now}
    with pytest.raises(UsageError) as caught:
        refuse_different(sheet(tasks, gateway="simulated"), worlds=worlds, **conditions)  # type: ignore[arg-type]  # of several types
    return str(caught.value)


def test_the_same_is_compared() -> None:
    refuse_different(sheet({"a.v1": [1.0], "c.v1": [1.0]}), router="embedded-1", scoring_version=1, worlds=WORLDS, gateway="simulated")


def test_other_conditions_are_refused() -> None:
    tasks = {"a.v1": [1.0]}
    assert refused(tasks, scoring_version=2) == (
        "not comparable with the baseline: the scoring version was 1 there and is 2 here. Make the baseline again."
    )
    assert refused(tasks, router="llm:m") == (
        "not comparable with the baseline: the router was embedded-1 there and is llm:m here. Make the baseline again."
    )
    assert refused(tasks, gateway="large") == (
        "not comparable with the baseline: the model behind the customers' LLM gateways was simulated there and is large here. "
        "Make the baseline again."
    )


def test_another_world_is_refused_by_name() -> None:
    worlds = {TaskKey(f"a.v{n}", "L3"): "f" * 64 for n in range(1, 9)}
    assert refused({f"a.v{n}": [1.0] for n in range(1, 9)}, worlds) == (
        "not comparable with the baseline: the world is another one than there in "
        "a.v1 L3, a.v2 L3, a.v3 L3, a.v4 L3, a.v5 L3 and 3 more: the scenario was changed since. Make the baseline again."
    )


def test_other_levels_and_seeds_are_refused_by_name() -> None:
    assert refused({"a.v1 L0": [1.0], "a.v1 L1": [1.0], "b.v1 L0": [1.0]}) == (
        "not comparable with the baseline: a.v1 is at L0, L1 there and at L3 here; b.v1 is at L0 there and at L3 here. "
        "Run the same, or make the baseline again."
    )
    assert refused({"a.v1 L3 seed 7": [1.0], "b.v1 L3 seed 7": [1.0]}) == (
        "not comparable with the baseline: a.v1, b.v1 is at seed 7 there and at seed 1 here. Run the same, or make the baseline again."
    )


def test_some_levels_in_common_are_compared() -> None:
    refuse_different(sheet({"a.v1 L0": [1.0], "a.v1 L3": [1.0]}), router="embedded-1", scoring_version=1, worlds=WORLDS)


def test_nothing_in_common() -> None:
    assert refused({"c.v1": [1.0]}) == "nothing to compare: the baseline holds none of a.v1 L3, b.v1 L3."


def test_keys_are_sorted_by_number() -> None:
    keys = [TaskKey.parse(text) for text in ("a.v10 L3", "a.v9 L3 seed 12", "a.v9 L3", "a.v9 L0")]
    assert [str(key) for key in sorted(keys, key=lambda key: key.in_order)] == ["a.v9 L0", "a.v9 L3", "a.v9 L3 seed 12", "a.v10 L3"]


def test_the_file_is_json_with_sorted_keys() -> None:
    found = json.loads(TEXT)
    assert list(found) == sorted(found)
    assert all(list(task) == sorted(task) for task in found["tasks"].values())
