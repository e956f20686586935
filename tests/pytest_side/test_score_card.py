"""The score card's text."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.pytest_side.score_card import number, score_card, signed
from pytest_fdegym.results.gate import Gate
from pytest_fdegym.results.record import EndReason, Engaged
from pytest_fdegym.results.store import Store
from pytest_fdegym.scenario.model import Kpi
from tests.support.records import graded

KPI = Kpi(name="undisputed NPT claims", unit="kUSD", minimum_gap=1)


def test_whole() -> None:
    record = graded(
        uplift=0.9,
        cost=0.05,
        incident=True,
        engaged=Engaged(
            messages=3, trials=1, days_waited=2, facts=("F_ALLOW", "F_OTHER"), key_facts=("F_ALLOW", "F_CAUSE", "F_HOLD", "F_SCOPE")
        ),
        notes=("code_event failed on 3 of 1,390 calls.",),
        agent_error="Traceback (most recent call last):\nRuntimeError: lost",
        end_reason="agent_error",
    )
    assert score_card(record, KPI, Gate("resolved"), Store(Path("/results"))) == dedent("""\
        RuntimeError: lost; score -0.050, asked for 0.8 without incident (oil_npt.v1 at L3)
        oil_npt.v1 at L3, run 1, seed 1, agent myagent

        undisputed NPT claims
          as found       0 kUSD
          delivered      0.9 kUSD
          reference      1 kUSD
        uplift U         0.900, counted as 0.000 because of incidents
        contact cost C   0.050
        score S = U - C  -0.050

        incidents
          - harm was done (harm)
        contacts         3 messages, 1 trial, 2 days waited
        key facts        1 of 4 obtained
        end              the agent raised an exception; what it left was graded

        the delivery in production
          - code_event failed on 3 of 1,390 calls.

        the agent's error
          Traceback (most recent call last):
          RuntimeError: lost

        record           /results/myagent/oil_npt.v1.L3.run1.json
        events           /results/myagent/oil_npt.v1.L3.run1.events.jsonl
        patch            /results/myagent/oil_npt.v1.L3.run1.patch""")


def test_missed_facts_are_not_named() -> None:
    record = graded(uplift=0.5, engaged=Engaged(key_facts=("F_ALLOW",)))
    card = score_card(record, KPI, Gate("min-score:0.6"), None)
    assert "F_ALLOW" not in card
    assert card.splitlines()[0] == "score 0.500, asked for 0.6 (oil_npt.v1 at L3)"


def first_line(error: str, reason: EndReason = "agent_error") -> str:
    card = score_card(graded(uplift=0.5, agent_error=error, end_reason=reason), KPI, Gate("none"), None)
    return card.splitlines()[0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 1, in b\n    c()\nValueError: one\ntwo', "ValueError: one; "),
        (
            "Traceback (most recent call last):\n  File ...\nKeyError: 1\n\nDuring handling of the above exception, another exception "
            "occurred:\n\nTraceback (most recent call last):\n  File ...\nlib.errors.Lost: 2",
            "lib.errors.Lost: 2; ",
        ),
        ("the engagement ended while the agent was at work", "the engagement ended while the agent was at work; "),
        (
            "Traceback (most recent call last):\n  File ...\nValueError: " + "many words " * 30,
            "ValueError: " + "many words " * 9 + "many...",
        ),
        ("", "; "),
    ],
)
def test_what_stopped_the_agent_comes_first(error: str, said: str) -> None:
    line = first_line(error)
    assert line.startswith(said)
    assert line.endswith("; score 0.500, asked for none (oil_npt.v1 at L3)")


def test_a_failed_command_comes_first_but_no_limit_does() -> None:
    error = "the agent's command ended with exit code 7\nno idea"
    assert first_line(error, "agent_exit") == ("the agent's command ended with exit code 7; score 0.500, asked for none (oil_npt.v1 at L3)")
    assert first_line("half a line", "limit_minutes") == "score 0.500, asked for none (oil_npt.v1 at L3)"


def test_a_record_that_was_not_stored_has_no_paths() -> None:
    note = "the record could not be stored: No space left on device (/results)"
    card = score_card(graded(uplift=0.5, notes=("ship failed on 3 calls.", note)), KPI, Gate("none"), Store(Path("/results")))
    assert card.splitlines()[-5:] == ["", "the delivery in production", "  - ship failed on 3 calls.", "", note]


def test_numbers() -> None:
    assert [number(value) for value in (0.0, 12.345678, -999.96, 1234.5, -1e6)] == ["0", "12.35", "-1000", "1,234", "-1,000,000"]
    assert [signed(value) for value in (0.44, -3.1, -0.0, -0.0001)] == ["0.440", "-3.100", "0.000", "0.000"]
