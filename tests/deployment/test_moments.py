"""The moments at which the databases are compared during a replay: a handful, one early, one late, and none to be foreseen."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.deployment.moments import Moments


def drawn(key: str, steps: str, expected: int | None) -> list[int]:
    """The steps (from 1) at which the databases are compared in a replay of calls (``c``) and inserts (``i``)."""
    moments = Moments(key, expected)
    return [at for at, step in enumerate(steps, 1) if (moments.after_call() if step == "c" else moments.before_insert())]


KEYS = [str(key) for key in range(200)]
CALLS = "c" * 1000
DAYS = ("i" * 3 + "c" * 7) * 100


@pytest.mark.parametrize("replay", [CALLS, "c" + DAYS[1:]], ids=["calls", "days"])
def test_there_are_a_handful_one_of_them_early_and_one_late(replay: str) -> None:
    found = [drawn(key, replay, 1000) for key in KEYS]
    assert 4 <= sum(map(len, found)) / len(KEYS) <= 7
    assert max(map(len, found)) <= 16
    assert all(moments[0] <= 60 for moments in found)
    assert all(moments[-1] >= 850 for moments in found)


@pytest.mark.parametrize("replay", [CALLS, "c" + DAYS[1:]], ids=["calls", "days"])
def test_a_change_that_lasts_for_half_of_the_replay_meets_one(replay: str) -> None:
    for key in KEYS:
        moments = [0, *drawn(key, replay, 1000), 1000]
        assert max(after - before for before, after in itertools.pairwise(moments)) <= 0.4 * 1000 + 10


def test_half_of_them_come_before_production_writes() -> None:
    found = [DAYS[at - 1] for key in KEYS for at in drawn(key, DAYS, 1000)]
    assert 0.4 <= found.count("i") / len(found) <= 0.75


def test_nobody_waits_for_production_to_write_where_it_never_does() -> None:
    assert all(drawn(key, "c" * 20, 20) for key in KEYS)


@pytest.mark.parametrize("length", [1, 2, 5, 50, 5000])
def test_a_replay_of_unknown_length_has_one_at_once_and_few_more(length: int) -> None:
    found = [drawn(key, "c" * length, None) for key in KEYS[:50]]
    assert all(moments[0] == 1 for moments in found)
    assert max(map(len, found)) <= 40


def test_a_replay_much_longer_than_expected_is_compared_to_its_end_but_not_all_the_time() -> None:
    found = [drawn(key, "c" * 5000, 50) for key in KEYS]
    assert all(moments[-1] >= 0.6 * 5000 for moments in found)
    assert sum(map(len, found)) / len(KEYS) <= 40


@given(st.text(), st.text("ci", max_size=300), st.none() | st.integers(0, 400))
def test_the_same_key_gives_the_same_moments(key: str, replay: str, expected: int | None) -> None:
    assert drawn(key, replay, expected) == drawn(key, replay, expected)


def test_another_key_gives_others() -> None:
    assert len({tuple(drawn(key, CALLS, 1000)) for key in KEYS}) == len(KEYS)


def test_when_one_has_been_the_next_may_come_at_any_time() -> None:
    """A delivery that notices a comparison does not know that it is safe for a while."""
    gaps = [after - before for key in KEYS for before, after in itertools.pairwise(drawn(key, CALLS, 1000))]
    assert sum(gap <= 50 for gap in gaps) / len(gaps) > 0.1
