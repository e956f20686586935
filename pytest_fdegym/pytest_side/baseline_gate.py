"""--fde-gate=baseline and --fde-update-baseline: one verdict for the whole session, or the file that others are held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_fdegym.digests import combined
from pytest_fdegym.errors import UsageError
from pytest_fdegym.pytest_side.nodes import CaseItem
from pytest_fdegym.pytest_side.refusal import refuse
from pytest_fdegym.pytest_side.session import FdeSession
from pytest_fdegym.results.baseline import (
    Baseline,
    TaskKey,
    dumped,
    named,
    of_records,
    parse_baseline,
    read_baseline,
    refuse_different,
    write_baseline,
)
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import VERDICT_FILE
from pytest_fdegym.results.verdict import Verdict, judge
from pytest_fdegym.results.verdict_text import verdict_lines
from pytest_fdegym.scoring.uplift import SCORING_VERSION

FOR_WORKERS = "fdegym_baseline"
"""Key of workerinput: the baseline's text, since a worker may be on another machine."""
HERE = "this session"


class BaselineGate:
    """Hooks that refuse early what cannot be compared, and the end of the session: verdict, exit code, files, suite properties."""

    def __init__(self, config: pytest.Config, session: FdeSession) -> None:
        """Reads the file. Raises UsageError for one that cannot be read or compared with, or (when it is to be written) be written."""
        assert session.plan.baseline is not None
        self._config = config
        self._session = session
        self._path = session.plan.baseline
        self._update = session.plan.update_baseline
        self._there = self._read()
        self._lines: list[tuple[str, dict[str, bool]]] = []
        self.verdict: Verdict | None = None
        """Once the session is over, and where it could be judged."""
        if self._there is not None and not self._update and not config.getoption("collectonly"):
            refuse_different(self._there, router=session.router.id, scoring_version=SCORING_VERSION, worlds={})

    def _read(self) -> Baseline | None:
        workerinput: dict[str, Any] | None = getattr(self._config, "workerinput", None)
        if workerinput is not None:
            text = workerinput.get(FOR_WORKERS)
            return None if text is None else parse_baseline(text, self._path)
        if not self._update:
            return read_baseline(self._path)
        if self._path.is_dir() or not self._path.parent.is_dir():
            reason = "it is a folder" if self._path.is_dir() else f"there is no folder {self._path.parent}"
            raise UsageError(f"--fde-update-baseline: the baseline {self._path} cannot be written: {reason}.")
        return read_baseline(self._path) if self._path.exists() else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._there is not None:
            node.workerinput[FOR_WORKERS] = dumped(self._there)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before an agent costs money."""
        cases = [item for item in items if isinstance(item, CaseItem)]
        if not cases:
            return
        agents = {self._session.identity(item.parameter_id).name for item in cases}
        if len(agents) > 1:
            refuse(self._config, items, f"{self._flag}: one agent is expected, found {len(agents)} ({', '.join(sorted(agents))}).")
        elif self._there is not None:
            try:
                self._check(self._there, cases)
            except UsageError as error:
                refuse(self._config, items, str(error))

    @property
    def _flag(self) -> str:
        return "--fde-update-baseline" if self._update else "--fde-gate=baseline"

    def _check(self, there: Baseline, cases: Sequence[CaseItem]) -> None:
        worlds: dict[TaskKey, str] = {}
        for item in cases:
            case = item.case
            key = TaskKey(f"{case.scenario.id}.{case.variant}", case.level, case.seed)
            if key not in worlds:
                worlds[key] = "" if self._update else combined(item.load().scenario.digest(case.variant), case.seed)
        if not self._update:
            refuse_different(there, router=there.router, scoring_version=there.scoring_version, worlds=worlds)
        elif lost := [key for key in there.by_key if key not in worlds]:
            raise UsageError(
                f"--fde-update-baseline: {self._path} holds what this session does not run: {named(lost)}. "
                "Run all of it, or delete the file."
            )

    def finish(self, session: pytest.Session, records: Iterable[Record], not_graded: Sequence[str]) -> None:
        """End a session on the process that has all reports; `not_graded` are the ids of planned runs without a graded record."""
        records = list(records)
        passes = self._write(records, not_graded) if self._update else self._judge(session, records)
        if not passes and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def lines(self) -> list[tuple[str, dict[str, bool]]]:
        """What the summary prints, with the markup of each line."""
        return self._lines

    def _say(self, text: str, **markup: bool) -> None:
        self._lines.append((text, markup))

    def _write(self, records: Sequence[Record], not_graded: Sequence[str]) -> bool:
        try:
            if not_graded:
                raise UsageError(f"not graded: {named(not_graded)}; everything that was asked for has to be")
            baseline = of_records(records, HERE)
            write_baseline(self._path, baseline)
        except UsageError as error:
            self._say(f"the baseline {self._path} was not written: {str(error).rstrip('.')}.", red=True)
            return False
        self._say(f"baseline: {self._path} written ({baseline.content})")
        return True

    def _judge(self, session: pytest.Session, records: Sequence[Record]) -> bool:
        if not any(record.status == "graded" for record in records):
            return True  # the summary says so, and fails the session
        assert self._there is not None
        plan = self._session.plan
        try:
            verdict = judge(self._there, of_records(records, HERE), margin=plan.margin)
        except UsageError as error:
            self._say(f"ERROR: {error}", red=True)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return False
        self.verdict = verdict
        fails = verdict.verdict == "regression" or (verdict.verdict == "inconclusive" and plan.inconclusive_fails)
        *before, last = verdict_lines(verdict, f"the baseline {self._path} ({self._there.content})")
        for line in before:
            self._say(line)
        self._store(verdict)
        self._say(last, red=fails, yellow=verdict.verdict == "inconclusive" and not fails, green=verdict.verdict == "no_regression")
        if fails and verdict.verdict == "inconclusive":
            self._say("--fde-inconclusive=fail: the session fails.", red=True)
        for name, value in suite_properties(verdict).items():
            _add_suite_property(self._config, name, value)
        return not fails

    def _store(self, verdict: Verdict) -> None:
        file = self._session.plan.results / VERDICT_FILE
        try:
            write_whole(file, verdict.model_dump_json(indent=2) + "\n", shared=True)
        except OSError as error:
            self._say(f"the verdict could not be stored: {error.strerror or error} ({file})", red=True)
        else:
            self._say(f"verdict: {file}")


def suite_properties(verdict: Verdict) -> dict[str, str]:
    """What JUnit is told of the session. What is not known is an empty text."""
    values = {
        "verdict": verdict.verdict,
        "change": verdict.change,
        "low": verdict.low,
        "high": verdict.high,
        "detectable_drop": verdict.detectable_drop,
        "margin": verdict.margin,
        "compared": verdict.compared,
        "of": verdict.of,
        "new_incidents": len(verdict.new_incidents),
    }
    return {f"fde.gate.{name}": "" if value is None else str(value) for name, value in values.items()}


def _add_suite_property(config: pytest.Config, name: str, value: str) -> None:
    """As the fixture ``record_testsuite_property`` does, which no process has that writes the file for workers of pytest-xdist."""
    for plugin in config.pluginmanager.get_plugins():
        add = getattr(plugin, "add_global_property", None)
        if callable(add):
            add(name, value)


def needed(session: FdeSession) -> bool:
    """Whether the options ask for any of this."""
    plan = session.plan
    return not plan.admission and (plan.update_baseline or plan.gate.text == "baseline")
