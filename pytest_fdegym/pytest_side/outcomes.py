"""What a run's reports say: texts instead of our tracebacks, void runs, structured data for whoever reads the reports."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_fdegym.errors import FdeGymError, InfrastructureFault
from pytest_fdegym.pytest_side.budget import NotRun
from pytest_fdegym.pytest_side.fixtures import VoidRun
from pytest_fdegym.pytest_side.nodes import AdmissionItem, CaseItem
from pytest_fdegym.pytest_side.session import SESSION
from pytest_fdegym.pytest_side.targets import SCENARIO_FILE

_VOID = "An infrastructure fault spoiled the run. It says nothing about the agent and is left out of the averages."


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if isinstance(item, CaseItem):
        item.record = item.output = None  # of the time before, when a plugin runs an item again


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not isinstance(item, CaseItem | AdmissionItem):
        return report
    data = _data(item)
    if call.excinfo is not None and call.when == "setup":
        error = call.excinfo.value
        if isinstance(error, VoidRun | InfrastructureFault):
            data["void"] = str(error)
            report.longrepr = f"VOID: {error}\n\n{_VOID}"
        elif isinstance(error, NotRun):
            data["not_run"] = str(error)
            report.longrepr = f"NOT RUN: {error}"
        elif isinstance(error, FdeGymError):
            report.longrepr = str(error)
        elif isinstance(error, pytest.FixtureLookupError) and (sentence := _no_such_agent(item, error)) is not None:
            report.longrepr = data["no_agent"] = sentence
            item.session.shouldfail = "there is no such agent"  # and the next item would say the same
    if isinstance(item, CaseItem) and item.output and (report.failed or call.when == "call"):
        _show_output(item, item.output, report)
    # Builtins only: pytest-xdist sends reports from its workers.
    report.fde = data  # type: ignore[attr-defined]  # reports take further attributes
    return report


def _data(item: CaseItem | AdmissionItem) -> dict[str, Any]:
    if isinstance(item, AdmissionItem):
        check = item.check
        return {
            "scenario": check.scenario.id,
            "folder": str(check.scenario.folder),
            "variant": check.variant,
            "check": check.name,
            "verdict": item.verdict,
        }
    record = item.record.model_dump(mode="json") if item.record is not None else None
    case = item.case
    return {
        "scenario": case.scenario.id,
        "variant": case.variant,
        "level": case.level,
        "run": case.run,
        "seed": case.seed,
        "record": record,
        "standing": None if item.standing is None else list(item.standing),
    }


def _no_such_agent(item: pytest.Item, error: pytest.FixtureLookupError) -> str | None:
    source = item.config.stash[SESSION].agent
    return None if source is None or error.argname != source.fixture else source.not_a_fixture()


def _show_output(item: CaseItem, output: str, report: pytest.TestReport) -> None:
    """What the agent's command printed, unless the card tells it: that of a command that failed is its error."""
    told = item.record.agent_error if item.record is not None else None
    if told is None or output.rstrip() not in told:
        report.sections.append(("Captured agent output", output))


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str] | None:
    data = getattr(report, "fde", {})
    if report.failed and data.get("void") is not None:
        return "error", "V", "VOID"
    if report.failed and data.get("not_run") is not None:
        # Not among the errors, which are shown one by one: the summary says it once.
        return "not run", "N", "NOT RUN"
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport) -> None:
    """A worker of pytest-xdist died in the middle of an item."""
    if crashitem.partition("::")[0].rpartition("/")[2] == SCENARIO_FILE:
        cause = f"the process that ran it died ({report.longrepr})"
        report.longrepr = f"VOID: {cause}\n\n{_VOID}"
        report.fde = {"void": cause}  # type: ignore[attr-defined]  # reports take further attributes
