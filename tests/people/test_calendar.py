"""The simulated calendar: working hours, what an answer takes, what a wait skips."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.calendar import check_calendar, days_skipped, finished_at, is_working_time, working_morning
from pytest_fdegym.scenario.model import Calendar

from .scripts import TUESDAY, at


def calendar(**more: object) -> Calendar:
    return Calendar.model_validate({"start": TUESDAY, **more})


PLAIN = calendar()
moments = st.datetimes(datetime(2025, 3, 1), datetime(2025, 4, 1))


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (at(4, 8), at(4, 10)),
        (at(4, 16), at(4, 18)),
        (at(4, 16, 1), at(5, 8)),
        (at(4, 18), at(5, 8)),
        (at(4, 23), at(5, 8)),
        (at(5, 6), at(5, 8)),
        (at(7, 17), at(10, 8)),
        (at(8, 12), at(10, 8)),
    ],
)
def test_an_answer_takes_two_hours_or_comes_the_next_working_morning(sent: datetime, answered: datetime) -> None:
    assert finished_at(PLAIN, sent, 120) == answered


def test_what_is_longer_than_a_day_is_there_the_next_morning() -> None:
    short = calendar(day_ends=time(12))
    assert finished_at(short, at(4, 8), 600) == at(5, 8)


@pytest.mark.parametrize(
    ("begun", "ended", "days"),
    [
        (at(4, 12), at(7, 8), 3),
        (at(4, 16), at(7, 8), 3),
        (at(4, 9), at(4, 17, 59), 0),
        (at(4, 9), at(4, 18), 1),
        (at(4, 18), at(5, 8), 0),
        (at(7, 12), at(10, 8), 1),
        (at(7, 12), at(9, 12), 1),
        (at(8, 0), at(10, 8), 0),
        (at(3, 8), at(10, 8), 5),
        (at(4, 8), at(4, 8), 0),
    ],
)
def test_a_working_day_counts_when_the_wait_crosses_its_end(begun: datetime, ended: datetime, days: int) -> None:
    assert days_skipped(PLAIN, begun, ended) == days


@given(moments, moments, moments)
def test_splitting_a_wait_changes_nothing(a: datetime, b: datetime, c: datetime) -> None:
    first, middle, last = sorted((a, b, c))
    assert days_skipped(PLAIN, first, last) == days_skipped(PLAIN, first, middle) + days_skipped(PLAIN, middle, last)


@given(moments, st.integers(1, 600))
def test_an_answer_comes_later_and_in_working_time(sent: datetime, minutes: int) -> None:
    answered = finished_at(PLAIN, sent, minutes)
    assert answered > sent
    assert is_working_time(PLAIN, answered)


@given(moments, st.integers(1, 20))
def test_the_nth_working_morning(after: datetime, n: int) -> None:
    morning = working_morning(PLAIN, after, n)
    assert morning.time() == time(8)
    assert morning.isoweekday() <= 5
    between = [after.date() + timedelta(days=i) for i in range((morning.date() - after.date()).days + 1)]
    mornings = [day for day in between if day.isoweekday() <= 5 and datetime.combine(day, time(8)) > after]
    assert len(mornings) == n


def test_saturday_can_be_worked() -> None:
    six = calendar(weekdays=(1, 2, 3, 4, 5, 6))
    assert working_morning(six, at(7, 9)) == at(8, 8)
    assert days_skipped(six, at(7, 9), at(10, 8)) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"weekdays": ()}, "scenario.yaml: calendar.weekdays is empty; at least one ISO weekday (1 to 7) is expected."),
        ({"day_ends": time(8)}, "scenario.yaml: calendar.day_starts 08:00:00 is not before day_ends 08:00:00."),
        ({"start": at(8, 9)}, "scenario.yaml: calendar.start 2025-03-08T09:00:00 is outside working hours."),
    ],
)
def test_a_calendar_in_which_nobody_works_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        check_calendar(calendar(**wrong))
    assert str(error.value) == message
