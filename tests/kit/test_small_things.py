"""Dates, lists of words, and luck that belongs to a thing."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.kit import days_from, listed, month_after, share_of


def test_days() -> None:
    assert list(days_from(date(2024, 2, 28), 3)) == [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]


def test_months() -> None:
    assert [month_after(date(2024, 11, 1), n) for n in (0, 1, 2, 14, -11)] == [
        date(2024, 11, 1),
        date(2024, 12, 1),
        date(2025, 1, 1),
        date(2026, 1, 1),
        date(2023, 12, 1),
    ]
    assert month_after(date(2025, 1, 31)) == date(2025, 2, 1)


def test_lists_as_people_say_them() -> None:
    assert [listed(words) for words in ([], ["web"], ["web", "api"], ["web", "api", "auth"])] == [
        "none",
        "web",
        "web and api",
        "web, api and auth",
    ]
    assert listed((), "no service") == "no service"


def test_luck_is_the_same_everywhere() -> None:
    assert share_of("salt", "owner", "web") == share_of("salt", "owner", "web")
    assert share_of("owner", "web") == 0.0024892960870595005


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=3))
def test_luck_is_a_share(item: list[str]) -> None:
    assert 0 <= share_of(*item) < 1


def test_luck_is_spread_evenly() -> None:
    shares = [share_of("salt", str(n)) for n in range(2000)]
    assert abs(sum(share < 0.1 for share in shares) - 200) < 60
