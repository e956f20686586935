"""--fde-report: a report on the session, written at its end by the process that has all records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pytest_fdegym.errors import UsageError
from pytest_fdegym.pytest_side.baseline_gate import BaselineGate
from pytest_fdegym.pytest_side.summary import SummarySection
from pytest_fdegym.results.events import now
from pytest_fdegym.results.report.build import make_report
from pytest_fdegym.results.report.reading import runs_of
from pytest_fdegym.results.report.write import Format, caution, check, format_of, write_report
from pytest_fdegym.results.store import Store


class SessionReport:
    """Hooks that write the files when the session is over, and say so."""

    def __init__(
        self, paths: Sequence[Path], results: Path, summary: SummarySection, gate: BaselineGate | None, environment: Mapping[str, str]
    ) -> None:
        """Raises UsageError for a file whose format is not known, or which cannot be written: before an agent costs money."""
        self._environment = environment
        self._files = [(path, _checked(path, environment)) for path in paths]
        self._results = results
        self._summary = summary
        self._gate = gate
        self._lines: list[tuple[str, bool]] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # The summary comes first: it has the gate judge.
        records = self._summary.records
        if not records:
            return
        runs = runs_of(records, Store(self._results))
        verdict = self._gate.verdict if self._gate is not None else None
        report = make_report(records, made_at=now(), planned=self._summary.planned, verdicts=() if verdict is None else (verdict,))
        for path, kind in self._files:
            try:
                write_report(report, runs, path, kind, self._environment)
            except OSError as error:
                self._lines.append((f"the report could not be written: {error.strerror or error} ({path})", True))
                if session.exitstatus == pytest.ExitCode.OK:
                    session.exitstatus = pytest.ExitCode.TESTS_FAILED
            else:
                self._lines.append((f"report: {path}", False))
        if (said := caution(kind for _, kind in self._files)) is not None:
            self._lines.append((said, False))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line, failed in self._lines:
            terminalreporter.write_line(line, red=failed)


def _checked(path: Path, environment: Mapping[str, str]) -> Format:
    try:
        kind = format_of(path, environment)
        check(path, kind)
    except UsageError as error:
        raise UsageError(f"--fde-report: {error}") from None
    return kind
