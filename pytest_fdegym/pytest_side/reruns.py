"""Items that a plugin runs again: only what the last attempt says is reported as a property."""

from __future__ import annotations

import pytest


class Reruns:
    """Takes the properties from the reports of attempts that do not count; JUnit would list the score of each."""

    def __init__(self) -> None:
        self._again: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not hasattr(report, "fde"):
            return
        outcome: str = report.outcome  # pytest-rerunfailures has one of its own
        if outcome == "rerun":
            self._again.add(report.nodeid)
        elif report.when == "setup":
            # The next attempt; releases of pytest-rerunfailures differ in whether they report the teardown of the one before.
            self._again.discard(report.nodeid)
        elif report.when == "teardown" and report.nodeid in self._again:
            self._again.remove(report.nodeid)
            report.user_properties = []
