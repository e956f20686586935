"""Texts of ours as reports' contents: whole where a failure is shown, their first line where pytest looks for its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Reason:
    """Where pytest has the place and the message of a crash."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Shown:
    """A report's ``longrepr`` with a ``reprcrash``, of which the short summary, ``--tb=line`` and JUnit's message are made. Of a plain
    text they take the whole on CI, its first 50 characters, and nothing in pytest 8.0."""

    text: str
    line_only: bool = False
    """Whether pytest writes the first line itself, as it does of failures with ``--tb=line``; errors are shown whole."""

    @property
    def reprcrash(self) -> Reason:
        return Reason(self.text.partition("\n")[0])

    def __str__(self) -> str:
        return self.text

    def toterminal(self, out: Any) -> None:
        if not self.line_only:
            out.line(self.text)


class Shorter:
    """Makes `Shown` of the texts in reports; where pytest-xdist sends a report, it is a text on the way."""

    def __init__(self, config: pytest.Config) -> None:
        self._line_only = config.getoption("tbstyle", default="auto") == "line"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "fde") and isinstance(report.longrepr, str):
            report.longrepr = Shown(report.longrepr, self._line_only and report.when == "call")  # type: ignore[assignment]  # has what is asked of one
