"""A store as JUnit XML: a suite for each scenario and agent with its means as properties, a case for each run, named as by pytest."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.agents import by_agent
from pytest_fdegym.results.properties import properties
from pytest_fdegym.results.record import Record, Scores
from pytest_fdegym.results.report.build import in_order
from pytest_fdegym.results.statistics import summarise

FOLDER = "tasks"
"""What pytest calls the folder of scenarios where it is below the rootdir; records do not tell."""
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""


def junit(records: Sequence[Record], passes: Callable[[Scores], bool], asked: str) -> str:
    """The XML: runs that do not pass are failures, void ones errors. `asked` is what a run had to reach, for their messages.

    Raises UsageError without the package junitparser.
    """
    try:
        from junitparser import JUnitXml  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UsageError("JUnit XML needs junitparser: pip install 'pytest-fdegym[report]'.") from None
    agents = by_agent(records)
    xml = JUnitXml("pytest-fdegym")
    for agent, its in agents.items():
        scenarios: dict[str, list[Record]] = defaultdict(list)
        for record in in_order(its):
            scenarios[record.scenario].append(record)
        repeated = any(record.run > 1 for record in its)
        seeds = len({record.seed for record in its}) > 1
        for scenario, runs in scenarios.items():
            name = f"{scenario} ({agent})" if len(agents) > 1 else scenario
            xml.add_testsuite(_suite(name, runs, repeated, seeds, passes, asked))
    xml.update_statistics()  # type: ignore[no-untyped-call]  # junitparser types a part of itself
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]  # the same
    return text.decode()


def _suite(name: str, records: Sequence[Record], repeated: bool, seeds: bool, passes: Callable[[Scores], bool], asked: str) -> Any:
    from junitparser import TestSuite  # noqa: PLC0415  (an extra)

    suite = TestSuite(_xml(name))
    suite.timestamp = min(record.started_at for record in records).isoformat()
    for key, value in _suite_properties(records).items():
        suite.add_property(key, _xml(str(value)))
    for record in records:
        suite.add_testcase(_case(record, repeated, seeds, passes, asked))
    return suite


def _suite_properties(records: Sequence[Record]) -> dict[str, object]:
    """What is not known is an empty text, as in a run's properties."""
    first, summary = records[0], summarise(records)
    values = {
        "agent": first.agent.name,
        "agent_version": first.agent.version,
        "scenario": first.scenario,
        "sector": first.sector,
        "mean_score": summary.mean_score,
        "mean_score_low": summary.by_task.low,
        "mean_score_high": summary.by_task.high,
        "mean_uplift": summary.mean_uplift,
        "mean_contact_cost": summary.mean_contact_cost,
        "mean_usd": summary.mean_usd,
        "resolved": summary.resolved,
        "incidents": summary.incidents,
        "void": summary.void,
        "graded": summary.graded,
        "planned": summary.planned,
    }
    return {f"fde.{name}": "" if value is None else value for name, value in values.items()}


def _case(record: Record, repeated: bool, seeds: bool, passes: Callable[[Scores], bool], asked: str) -> Any:
    from junitparser import Error, Failure  # noqa: PLC0415  (an extra)
    from junitparser.xunit2 import TestCase  # noqa: PLC0415  (an extra; the plain one has no properties)

    name = (f"{record.level}-run{record.run}" if repeated else record.level) + (f"-seed{record.seed}" if seeds else "")
    time = record.wall_seconds if math.isfinite(record.wall_seconds) else 0.0
    case = TestCase(name, classname=f"{FOLDER}.{record.scenario}.scenario.yaml.{record.variant}", time=round(time, 3))
    for key, value in properties(record).items():
        case.add_property(key, _xml(str(value)))
    if record.scores is None:
        error = Error(_xml(f"VOID: {record.void_cause or 'unknown'}".partition("\n")[0]))
        error.text = _xml(record.void_cause or "unknown")
        case.result = [error]
    elif not passes(record.scores):
        failure = Failure(_xml(f"score {record.scores.score:.3f}, asked for {asked} ({record.task} at {record.level})"))
        failure.text = _xml(
            "\n".join([*(f"{each.text} ({each.id})" for each in record.incidents), *record.notes, record.agent_error or ""])
        )
        case.result = [failure]
    return case


def _xml(text: str) -> str:
    """As pytest writes what XML cannot hold: ``#x00``."""
    return _NOT_XML.sub(lambda found: f"#x{ord(found[0]):02X}", text)
