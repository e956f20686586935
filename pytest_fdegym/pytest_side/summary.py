"""The summary at the end of a session: a table by task, means with intervals, coverage. Works from reports, so under pytest-xdist too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from pytest_fdegym.pytest_side.baseline_gate import BaselineGate
from pytest_fdegym.pytest_side.coverage import Coverage
from pytest_fdegym.pytest_side.header import NO_SANDBOX, NOT_COMPARABLE
from pytest_fdegym.pytest_side.nodes import AdmissionItem, CaseItem
from pytest_fdegym.pytest_side.resume import Resume
from pytest_fdegym.pytest_side.session import FdeSession
from pytest_fdegym.pytest_side.tables import admission_lines, left_out_lines, not_run_lines, result_lines
from pytest_fdegym.pytest_side.targets import SCENARIO_FILE
from pytest_fdegym.results.record import Record

FROM_WORKER = "fdegym"
"""Key of workeroutput: what the controller does not find in reports."""
INTERRUPTED = "interrupted: the same command with --fde-resume runs what is missing"


class SummarySection:
    """Hooks that gather what reports carry, and print it."""

    def __init__(self, session: FdeSession, gate: BaselineGate | None = None, resume: Resume | None = None) -> None:
        """`gate` is told how the session ended, and has the last word in it; `resume` knows what was not run again."""
        self._session = session
        self._gate = gate
        self._resume = resume
        self._ran = False
        self._planned: list[str] = []
        self._records: dict[str, Record] = {}
        self._verdicts: dict[str, dict[str, Any]] = {}
        self._skipped: dict[str, str] = {}
        self._left_out: dict[str, str] = {}
        """What the budget had no room for, and why."""
        self._crashed: set[str] = set()
        """What was under way when its worker died."""
        self._no_agent = False
        self._nothing = False
        self._interrupted = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        # Not for --fixtures, --collect-only or --setup-plan, which plan runs and have none.
        option = session.config.getoption
        self._ran = not (option("collectonly") or option("setupplan", default=False))
        return (yield)

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
        self._left_out.pop(report.nodeid, None)
        self._crashed.discard(report.nodeid)
        if data.get("not_run") is not None:
            self._left_out[report.nodeid] = data["not_run"]
        elif data.get("void") is not None and data.get("record") is None:
            self._crashed.add(report.nodeid)
        self._no_agent = self._no_agent or "no_agent" in data
        self._skipped.pop(report.nodeid, None)
        if report.skipped:
            self._skipped[report.nodeid] = _reason(report)
        if "check" in data and (report.when == "call" or report.failed):
            self._verdicts[report.nodeid] = data

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A session in which everything was skipped must not pass for one in which the agent did well."""
        workeroutput: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if workeroutput is not None:
            workeroutput[FROM_WORKER] = {"not_run": self._session.not_run, "refused": self._session.refused}
            return
        if self._session.refused is not None:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if self._ran and self._planned and self._gate is not None:
            self._gate.finish(session, self._records.values(), [each for each in self._planned if not self._is_graded(each)])
        if self._ran and self._short() is not None and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        graded = bool(self._verdicts) or any(record.status == "graded" for record in self._records.values())
        if not self._ran or not self._planned or graded:
            return
        if self._no_agent:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif exitstatus == pytest.ExitCode.OK:
            self._nothing = True
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_keyboard_interrupt(self) -> None:
        self._interrupted = True

    @property
    def records(self) -> list[Record]:
        """Of all runs so far."""
        return list(self._records.values())

    @property
    def planned(self) -> int:
        """How many runs there were to be."""
        return len(self._planned)

    def _short(self) -> str | None:
        """What the coverage falls short of."""
        if self._session.plan.admission:
            return None
        graded = sum(map(self._is_graded, self._planned))
        return Coverage(graded, len(self._planned)).short_of(self._session.plan.min_coverage)

    def _is_graded(self, nodeid: str) -> bool:
        return nodeid in self._records and self._records[nodeid].status == "graded"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told: dict[str, Any] = getattr(node, "workeroutput", {}).get(FROM_WORKER, {})
        self._session.not_run.update(told.get("not_run", {}))
        self._session.refused = self._session.refused or told.get("refused")

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        # Otherwise the summary says it.
        return [] if items else [f"fdegym: {text}" for text in self._session.not_run.values()]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._session.refused is not None:
            terminalreporter.write_line(f"ERROR: {self._session.refused}", red=True)
        if not self._ran or not self._planned:
            return
        terminalreporter.section("fdegym")
        if self._session.plan.admission:
            # In the order of collection, whichever worker was first.
            verdicts = [self._verdicts[nodeid] for nodeid in self._planned if nodeid in self._verdicts]
            lines = admission_lines(verdicts, len(self._planned))
        else:
            lines = result_lines(list(self._records.values()), len(self._planned), len(self._crashed))
            lines += left_out_lines(list(self._left_out.values()))
            lines += not_run_lines(self._session.not_run, self._planned)
            lines += self._resume.lines if self._resume is not None else []
            lines += [f"results: {self._session.plan.results}"] if self._records else []
            lines += [INTERRUPTED] if self._interrupted and self._records else []
        for line in lines:
            terminalreporter.write_line(line)
        for line, markup in self._gate.lines if self._gate is not None else ():
            terminalreporter.write_line(line, **markup)
        if (short := self._short()) is not None:
            terminalreporter.write_line(short, red=True)
        if self._nothing:
            reasons = "; ".join(f"{count} skipped ({reason})" for reason, count in Counter(self._skipped.values()).items())
            terminalreporter.write_line(f"nothing was graded: {reasons or 'no run took place'}. The session fails.", red=True)
        if (model := self._session.gateway_model) is not None:
            terminalreporter.write_line(NOT_COMPARABLE.format(model=model.id), yellow=True)
        if self._session.sandbox.name == "none":
            terminalreporter.write_line(NO_SANDBOX, yellow=True)


def _reason(report: pytest.TestReport) -> str:
    expected: str | None = getattr(report, "wasxfail", None)
    if expected is not None:
        return f"xfail: {expected.removeprefix('reason: ')}"
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
