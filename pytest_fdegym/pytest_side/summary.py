"""The summary at the end of a session: a table by task, means with intervals, coverage. Works from reports, so under pytest-xdist too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fdegym.pytest_side.header import NO_SANDBOX
from pytest_fdegym.pytest_side.nodes import AdmissionItem, CaseItem
from pytest_fdegym.pytest_side.session import FdeSession
from pytest_fdegym.pytest_side.tables import admission_lines, result_lines
from pytest_fdegym.pytest_side.targets import SCENARIO_FILE
from pytest_fdegym.results.record import Record


class SummarySection:
    """Hooks that gather what reports carry, and print it."""

    def __init__(self, session: FdeSession) -> None:
        self._session = session
        self._planned: list[str] = []
        self._records: dict[str, Record] = {}
        self._verdicts: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._planned = [item.nodeid for item in session.items if isinstance(item, CaseItem | AdmissionItem)]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._planned = [nodeid for nodeid in ids if nodeid.partition("::")[0].rpartition("/")[2] == SCENARIO_FILE]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = getattr(report, "fde", None)
        if not isinstance(data, dict) or report.when == "teardown":
            return
        # By node id: the last one counts when a plugin runs an item again.
        if data.get("record") is not None:
            self._records[report.nodeid] = Record.model_validate(data["record"])
        if "check" in data and (report.when == "call" or report.failed):
            self._verdicts[report.nodeid] = data

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._records and not self._verdicts:
            return
        terminalreporter.section("fdegym")
        if self._verdicts:
            # In the order of collection, whichever worker was first.
            verdicts = [self._verdicts[nodeid] for nodeid in self._planned if nodeid in self._verdicts]
            lines = admission_lines(verdicts, len(self._planned))
        else:
            lines = [*result_lines(list(self._records.values()), len(self._planned)), f"results: {self._session.plan.results}"]
        for line in lines:
            terminalreporter.write_line(line)
        if self._session.sandbox.name == "none":
            terminalreporter.write_line(NO_SANDBOX, yellow=True)
