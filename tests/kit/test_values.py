"""Reading a delivery's answers: whatever JSON carries, nothing raises and nothing unusable gets through."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.kit import json_object, plain_number, plain_text, texts_in

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(ANY_JSON)
def test_a_number_is_finite_and_within_its_bounds(value: Any) -> None:
    number = plain_number(value, 0, 744)
    assert number is None or (isinstance(number, float) and 0 <= number <= 744)
    capped = plain_number(value, 0, 744, cap=True)
    assert capped is None or 0 <= capped <= 744
    unbounded = plain_number(value)
    assert unbounded is None or math.isfinite(unbounded)


@pytest.mark.parametrize(
    ("value", "strict", "capped"),
    [
        (12, 12.0, 12.0),
        (0, 0.0, 0.0),
        (744.0, 744.0, 744.0),
        (744.5, None, 744.0),
        (-1, None, None),
        (1e308, None, 744.0),
        (10**400, None, 744.0),
        (math.nan, None, None),
        (math.inf, None, None),
        (-math.inf, None, None),
        (True, None, None),
        ("12", None, None),
        (None, None, None),
        ([12], None, None),
    ],
)
def test_numbers(value: Any, strict: float | None, capped: float | None) -> None:
    assert plain_number(value, 0, 744) == strict
    assert plain_number(value, 0, 744, cap=True) == capped


def test_a_whole_number_beyond_any_float() -> None:
    assert plain_number(10**400) is None


@given(st.text(st.characters(codec=None)), st.integers(0, 20))
def test_a_text_can_be_written_to_a_file(text: str, limit: int) -> None:
    plain = plain_text(text, limit)
    assert len(plain) <= limit
    assert json.loads(json.dumps(plain).encode("utf-8")) == plain
    plain.encode("utf-8")


def test_texts_at_any_depth() -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert sorted(texts_in({"a": ["b", {"c": 1, "d": deep}], "e": None})) == ["a", "b", "bottom", "c", "d", "e"]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b'{"rule": "A"}', {"rule": "A"}),
        (None, {}),
        (b"", {}),
        (b"[1]", {}),
        (b"{", {}),
        (b"\xff\xfe", {}),
        (b"[" * 100_000, {}),
    ],
)
def test_the_object_in_a_file(raw: bytes | None, found: dict[str, Any]) -> None:
    assert json_object(raw) == found
