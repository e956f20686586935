"""What failed in a replay, as the score card tells it."""

from __future__ import annotations

import pytest

from pytest_fdegym.kit import CallLog, Died, Raised, Returned, TimedOut


def test_values_and_notes() -> None:
    log = CallLog({"decide": "those returns were refused", "letter": "no letter was sent"})
    assert log.value("decide", Returned({"fee": 1})) == {"fee": 1}
    assert log.value("decide", Returned(None)) is None
    assert log.value("decide", Raised("KeyError", "'fee'", "a traceback")) is None
    assert log.value("decide", TimedOut(2.0), failed="late") == "late"
    assert log.value("letter", Died("killed: out of memory")) is None
    log.odd("letter returned no text, and none was sent")
    for _ in range(1200):
        log.odd("decide returned a word that is none of the two, which was taken as a refusal")
    assert log.notes() == [
        "decide failed on 2 of 4 calls, those returns were refused (first: KeyError: 'fee')",
        "letter failed on 1 of 1 calls, no letter was sent (first: killed: out of memory)",
        "letter returned no text, and none was sent: once",
        "decide returned a word that is none of the two, which was taken as a refusal: 1,200 times",
    ]


def test_nothing_failed() -> None:
    log = CallLog({"decide": "those returns were refused"})
    log.value("decide", Returned("refund"))
    assert log.notes() == []


@pytest.mark.parametrize(
    ("outcome", "first"),
    [
        (TimedOut(0.5), "no answer within 0.5 s"),
        (Raised("X" * 300, "y"), "X" * 200),
        (Raised("ValueError", "half a character: \ud83d"), "ValueError: half a character: ?"),
    ],
)
def test_what_a_failure_is_called(outcome: Raised | TimedOut, first: str) -> None:
    log = CallLog({"decide": "those returns were refused"})
    log.value("decide", outcome)
    (note,) = log.notes()
    assert note == f"decide failed on 1 of 1 calls, those returns were refused (first: {first})"
    note.encode("utf-8")


def test_an_entry_point_without_a_meaning_is_the_authors_mistake() -> None:
    with pytest.raises(KeyError, match="decid"):
        CallLog({"decide": "those returns were refused"}).value("decid", Returned(1))
