"""The simulated calendar: how long an answer takes, what waiting skips, and when the n-th working morning is.

All times are naive local times of the customer. A *working morning* is `day_starts` of a worked weekday; working time is from
`day_starts` to `day_ends`, both included.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.model import Calendar

_DAY = timedelta(days=1)


def check_calendar(calendar: Calendar) -> None:
    """Raise ScenarioError for a calendar in which nobody ever works or whose start is no working moment."""
    if not calendar.weekdays:
        raise ScenarioError("scenario.yaml: calendar.weekdays is empty; at least one ISO weekday (1 to 7) is expected.")
    if calendar.day_starts.tzinfo or calendar.day_ends.tzinfo or calendar.start.tzinfo:
        raise ScenarioError("scenario.yaml: calendar has a time with a time zone; local times without one are expected.")
    if calendar.day_starts >= calendar.day_ends:
        raise ScenarioError(f"scenario.yaml: calendar.day_starts {calendar.day_starts} is not before day_ends {calendar.day_ends}.")
    if not is_working_time(calendar, calendar.start):
        raise ScenarioError(f"scenario.yaml: calendar.start {calendar.start.isoformat()} is outside working hours.")


def is_working_day(calendar: Calendar, day: date) -> bool:
    """Whether `day` is worked."""
    return day.isoweekday() in calendar.weekdays


def is_working_time(calendar: Calendar, moment: datetime) -> bool:
    """Whether `moment` lies in working time."""
    return is_working_day(calendar, moment.date()) and calendar.day_starts <= moment.time() <= calendar.day_ends


def working_morning(calendar: Calendar, after: datetime, n: int = 1) -> datetime:
    """The n-th working morning later than `after`: from Tuesday 12:00 the first is Wednesday's, from Tuesday 06:00 it is Tuesday's."""
    day = after.date()
    while True:
        morning = datetime.combine(day, calendar.day_starts)
        if morning > after and is_working_day(calendar, day):
            n -= 1
            if n == 0:
                return morning
        day += _DAY


def finished_at(calendar: Calendar, begun: datetime, minutes: int) -> datetime:
    """When something that takes `minutes` and is handed in at `begun` is done.

    It is done the same day where it fits before `day_ends`. What does not fit, or is handed in outside of working time, is there the
    next working morning at `day_starts` (people see to it first thing).
    """
    if minutes <= 0:
        return begun
    done = begun + timedelta(minutes=minutes)
    if is_working_time(calendar, begun) and done <= datetime.combine(begun.date(), calendar.day_ends):
        return done
    return working_morning(calendar, begun)


def days_skipped(calendar: Calendar, begun: datetime, ended: datetime) -> int:
    """How many working days a wait skips: those whose end (`day_ends`) lies after `begun` and not after `ended`.

    So Tuesday 12:00 to Friday 08:00 is 3 (Tuesday, Wednesday, Thursday), Friday 12:00 to Monday 08:00 is 1, a wait within one day or
    over free days is 0, and splitting a wait changes nothing.
    """
    days = 0
    day = begun.date()
    while (close := datetime.combine(day, calendar.day_ends)) <= ended:
        days += close > begun and is_working_day(calendar, day)
        day += _DAY
    return days
