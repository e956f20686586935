"""Days and months of a replay, as dates: day numbers are not for scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta


def days_from(start: date, count: int) -> Iterator[date]:
    """`count` days, the first of them `start`."""
    return (start + timedelta(days=number) for number in range(count))


def month_after(first: date, months: int = 1) -> date:
    """The first day of the month, that many months later (or, below zero, earlier)."""
    count = first.year * 12 + first.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)
