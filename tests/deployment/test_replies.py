"""Whatever comes over the pipe becomes bounded plain data or is refused."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.deployment.replies import NotAReply, one_line, parse, parse_error, weight

_SCALARS = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@given(_VALUES)
def test_values_survive(value: Any) -> None:
    assert parse(json.dumps(value).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=60))
def test_bytes_are_parsed_or_refused(line: bytes) -> None:
    for read in (parse, parse_error):
        with contextlib.suppress(NotAReply):
            read(line)


@given(st.lists(st.text(), min_size=4, max_size=4))
def test_a_described_exception_fits_on_a_score_card(fields: list[str]) -> None:
    raised, where = parse_error(json.dumps(fields).encode())
    assert raised.error
    assert len(raised.error) <= 100
    assert len(raised.message) <= 500
    assert len(raised.traceback) <= 4000
    assert "\n" not in where + raised.error


@pytest.mark.parametrize(
    "line", [b"NaN", b"-Infinity", b"1e400", b"9223372036854775808", b"-9223372036854775809", b"1" * 6000, b'"\\udc00"', b"\xff"]
)
def test_refused(line: bytes) -> None:
    with pytest.raises(NotAReply):
        parse(line)


@pytest.mark.parametrize("depth", [65, 500, 100_000])
def test_too_deep(depth: int) -> None:
    with pytest.raises(NotAReply):
        parse(b"[" * depth + b"]" * depth)
    with pytest.raises(NotAReply):
        parse(b'{"a":' * depth + b"1" + b"}" * depth)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert parse(b"[" + b"[]," * 1000 + b"[]]") == [[]] * 1001


def test_weight_counts_values_not_only_letters() -> None:
    assert weight(b"[" + b"[]," * 999 + b"[]]") > 64_000
    assert weight(b'"' + b"x" * 1000 + b'"') < 1100


def test_one_line_is_short_and_printable() -> None:
    assert one_line("a\n  b\x1b[31m at 0x7f00deadbeef " + "c" * 100, 40) == "a b?[31m at 0x... cccccccccccccccccccc..."[:37] + "..."
