"""``--fde-update-worth``: writes the scenarios' worth.yaml at the end of an admission, by the process that has all reports."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from pytest_fdegym.admission.worth import update_worth
from pytest_fdegym.errors import ScenarioError, UsageError
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.problems import shown


class WorthUpdate:
    """Hooks that gather what admission measured, write it, and say so."""

    def __init__(self) -> None:
        self._measured: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        self._lines: list[tuple[str, bool]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = getattr(report, "fde", None)
        verdict = data.get("verdict") if isinstance(data, dict) else None
        if isinstance(data, dict) and verdict and verdict.get("kept_worth") is not None:
            self._measured[data["folder"]][data["variant"], verdict["fact"]] = verdict["kept_worth"]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for folder, measured in self._measured.items():
            try:
                file = update_worth(load(Path(folder)), measured)
            except (UsageError, ScenarioError) as error:
                self._lines.append((str(error), True))
                if session.exitstatus == pytest.ExitCode.OK:
                    session.exitstatus = pytest.ExitCode.TESTS_FAILED
            else:
                self._lines.append((f"worth: {shown(file)} written ({len(measured)} measured)", False))
        if not self._measured:
            self._lines.append(("--fde-update-worth: no ablation was run, nothing was written", True))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line, failed in self._lines:
            terminalreporter.write_line(line, red=failed)
