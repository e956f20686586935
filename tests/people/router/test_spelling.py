"""Slips of the pen in the company's own words are repaired; other words are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.people.router.spelling import Spelling, distance

SPELLING = Spelling(["amendment", "attribution", "repair", "suspended", "which", "credits", "delegation", "marked"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("the ammendment", "the amendment"),
        ("atribution", "attribution"),
        ("repiar hours", "repair hours"),
        ("suspnded", "suspended"),
        ("wich", "wich"),  # too short to be sure
        ("delagetion", "delegation"),  # two slips in a long word
    ],
)
def test_a_slip_is_repaired(written: str, meant: str) -> None:
    assert SPELLING.repair(written) == meant


@pytest.mark.parametrize("text", ["parked", "barked", "credit", "suspend", "repairs", "repairing", "amend", "zebra"])
def test_another_word_or_form_is_left_alone(text: str) -> None:
    assert SPELLING.repair(text) == text


def test_distance_counts_swapped_neighbours_once() -> None:
    assert (distance("repair", "repiar"), distance("repair", "repair"), distance("", "abc")) == (1, 0, 3)


@given(st.text("abcd", max_size=8), st.text("abcd", max_size=8))
def test_distance_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert distance(a, b) == distance(b, a)
    assert abs(len(a) - len(b)) <= distance(a, b) <= max(len(a), len(b))
    assert (distance(a, b) == 0) == (a == b)
