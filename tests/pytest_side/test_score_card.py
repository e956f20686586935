"""The score card's text."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from pytest_fdegym.pytest_side.gate import Gate
from pytest_fdegym.pytest_side.score_card import number, score_card, signed
from pytest_fdegym.results.record import Engaged
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
        score -0.050, asked for 0.8 without incident
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
        contacts         3 messages, 1 trials, 2 days waited
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
    assert card.splitlines()[0] == "score 0.500, asked for 0.6"


def test_numbers() -> None:
    assert [number(value) for value in (0.0, 12.345678, -999.96, 1234.5, -1e6)] == ["0", "12.35", "-1000", "1,234", "-1,000,000"]
    assert [signed(value) for value in (0.44, -3.1, -0.0, -0.0001)] == ["0.440", "-3.100", "0.000", "0.000"]
