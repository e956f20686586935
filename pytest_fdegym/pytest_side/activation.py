"""Turns a pytest session into one that grades an agent or admits scenarios: everything that an ordinary session does not load."""

from __future__ import annotations

import os
from functools import partial

import pytest

from pytest_fdegym.errors import SandboxUnavailable, UsageError
from pytest_fdegym.pytest_side import command_agent, fixtures, metering, outcomes, progress
from pytest_fdegym.pytest_side.baseline_gate import BaselineGate
from pytest_fdegym.pytest_side.baseline_gate import needed as baseline_gate_needed
from pytest_fdegym.pytest_side.budget import open_budget
from pytest_fdegym.pytest_side.collection import Collecting
from pytest_fdegym.pytest_side.header import Header
from pytest_fdegym.pytest_side.hidden import hidden_places, kept_places
from pytest_fdegym.pytest_side.option_values import LEVELS
from pytest_fdegym.pytest_side.plan import read_plan
from pytest_fdegym.pytest_side.reruns import Reruns
from pytest_fdegym.pytest_side.results_folder import check_results_folder
from pytest_fdegym.pytest_side.resume import Resume
from pytest_fdegym.pytest_side.session import SESSION, FdeSession
from pytest_fdegym.pytest_side.shown import Shorter
from pytest_fdegym.pytest_side.summary import SummarySection

_MARKER = "fde(scenario, variant, level, sector, run): a run of an agent on a task, collected by pytest-fdegym"


def activate(config: pytest.Config) -> None:
    """Read the options, resolve the agent, find a sandbox, and register the hooks.

    Raises pytest.UsageError for what the person who typed the command has to change, before any test runs.
    """
    plan = read_plan(config)
    environment = dict(os.environ)
    try:
        # Before the agent is loaded, which may make its client at once.
        meter = metering.start(config, plan, environment)
        session = FdeSession(plan, partial(hidden_places, config, plan), kept_places(config), environment, meter)
        _ = session.gateway_model
        if not config.getoption("collectonly"):
            _ = session.sandbox
            _ = session.router
            if not (plan.admission or config.getoption("setupplan", default=False) or hasattr(config, "workerinput")):
                check_results_folder(plan.results)
        command_agent.check(config, session, environment)
        gate = BaselineGate(config, session) if baseline_gate_needed(session) else None
    except (UsageError, SandboxUnavailable) as error:
        raise pytest.UsageError(str(error)) from None
    reports = plan.reports and not (config.getoption("collectonly") or hasattr(config, "workerinput"))
    config.stash[SESSION] = session
    if not (plan.admission or config.getoption("collectonly")):
        session.budget = open_budget(config, plan)
    config.addinivalue_line("markers", _MARKER)
    for level in LEVELS:
        config.addinivalue_line("markers", f"{level}: tasks of pytest-fdegym at this level")
    config.add_cleanup(session.close)
    collecting = Collecting(config, plan)
    manager = config.pluginmanager
    manager.register(collecting, "fdegym-collection")
    manager.register(fixtures, "fdegym-fixtures")
    manager.register(outcomes, "fdegym-outcomes")
    manager.register(Header(session, collecting), "fdegym-header")
    manager.register(Reruns(), "fdegym-reruns")
    manager.register(Shorter(config), "fdegym-shown")
    if gate is not None:
        manager.register(gate, "fdegym-baseline")
    resume = Resume(config) if plan.resume else None
    if resume is not None:
        manager.register(resume, "fdegym-resume")
    summary = SummarySection(session, gate, resume)
    manager.register(summary, "fdegym-summary")
    if reports:
        from pytest_fdegym.pytest_side.report import SessionReport  # noqa: PLC0415  (only when asked for)

        try:
            manager.register(SessionReport(plan.reports, plan.results, summary, gate, environment), "fdegym-report")
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
    if plan.update_worth and not (config.getoption("collectonly") or hasattr(config, "workerinput")):
        from pytest_fdegym.pytest_side.worth_update import WorthUpdate  # noqa: PLC0415  (the same)

        manager.register(WorthUpdate(), "fdegym-worth")
    if not plan.admission:
        progress.register(config, plan.progress)
