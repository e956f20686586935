"""``--fde-resume``: says what is run and why, before it is run and in the summary; refuses a store that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fdegym.errors import UsageError
from pytest_fdegym.pytest_side.nodes import CaseItem
from pytest_fdegym.pytest_side.refusal import refuse
from pytest_fdegym.results.resume import Standing, told


class Resume:
    """Hooks that look before agents cost money, and `lines` for the summary, from reports, so under pytest-xdist too."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._before: dict[str, Standing] = {}
        self._found: dict[str, tuple[str, Standing]] = {}
        """By node id: which run, and what was in its place when its turn came."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._config.getoption("collectonly") or self._config.getoption("setupplan", default=False):
            return
        cases = [item for item in items if isinstance(item, CaseItem)]
        try:
            self._before = {item.nodeid: item.place.look()[0] for item in cases}
        except UsageError as error:
            refuse(self._config, items, f"--fde-resume: {error}")

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        planned = [(item, self._before[item.nodeid]) for item in items if item.nodeid in self._before]
        lines = told([each for _, each in planned], over=False) if planned else []
        if self._config.getoption("verbose", 0) > 0:
            lines += [f"resume: {named(item)}: {each.text}" for item, each in planned if isinstance(item, CaseItem)]
        return [f"fdegym: {line}" for line in lines]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = getattr(report, "fde", None)
        if isinstance(data, dict) and data.get("standing") is not None and report.when != "teardown":
            run = f"{data['scenario']}.{data['variant']} at {data['level']}, run {data['run']}"
            self._found[report.nodeid] = run, Standing(*data["standing"])

    @property
    def lines(self) -> list[str]:
        """For the summary: counts by reason, and with -v each run that was not told of before (under pytest-xdist all of them)."""
        if not self._found:
            return []
        lines = told([each for _, each in self._found.values()], over=True)
        if self._config.getoption("verbose", 0) > 0:
            lines += [f"resume: {run}: {each.text}" for nodeid, (run, each) in self._found.items() if self._before.get(nodeid) != each]
        return lines


def named(item: CaseItem) -> str:
    """``oil_npt.v1 at L3, run 1``"""
    return f"{item.case.scenario.id}.{item.case.variant} at {item.case.level}, run {item.case.run}"
