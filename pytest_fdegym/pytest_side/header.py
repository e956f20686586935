"""The lines of the session's header: everything that a result depends on."""

from __future__ import annotations

import pytest

from pytest_fdegym.errors import FdeGymError
from pytest_fdegym.people.router import Router
from pytest_fdegym.people.router.decided import DecidedRouter
from pytest_fdegym.pytest_side import command_agent, metering
from pytest_fdegym.pytest_side.collection import Collecting
from pytest_fdegym.pytest_side.session import FdeSession

NO_SANDBOX = "WARNING: no sandbox: the agent's commands and the delivered code can do whatever you can do on this machine"
NOT_COMPARABLE = (
    "WARNING: {model} answers at the customers' LLM gateways: results of customers that have one cannot be compared with others"
)


class Header:
    """Hooks of the header."""

    def __init__(self, session: FdeSession, collecting: Collecting) -> None:
        self._session = session
        self._collecting = collecting

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        plan = self._session.plan
        seeds = ", ".join(map(str, plan.seeds))
        if plan.admission:
            what = [f"admission, seeds {seeds}"]
        else:
            assert self._session.agent is not None
            reference = self._session.agent.reference
            runs = f", {plan.runs} runs each" if plan.runs > 1 else ""
            what = [
                f"agent {reference.name} ({reference.kind})",
                f"levels {', '.join(plan.levels)}{runs}",
                f"seed {seeds}",
                f"gate {plan.gate.text}",
            ]
        # Collecting alone needs neither sandbox nor router, and so must not fail for want of one.
        alone = config.getoption("collectonly")
        sandbox = plan.sandbox if alone else self._session.sandbox.name
        where = [f"sandbox {sandbox}", f"router {plan.router if alone else _shown(self._session.router)}"]
        try:
            folders = ", ".join(map(str, self._collecting.shown_folders)) or "as named"
        except FdeGymError as error:
            folders = str(error)
        lines = [f"fdegym: {', '.join(what)}", f"fdegym: {', '.join(where)}, tasks {folders}"]
        if not alone and (unreached := command_agent.without_model(self._session)) is not None:
            lines.append(f"fdegym: {unreached}")
        elif self._session.agent is not None and (metered := metering.shown(plan, self._session.agent.reference)) is not None:
            lines.append(f"fdegym: {metered}")
        if (model := self._session.gateway_model) is not None:
            lines.append(f"fdegym: {NOT_COMPARABLE.format(model=model.id)}")
        return [*lines, f"fdegym: {NO_SANDBOX}"] if sandbox == "none" else lines


def _shown(router: Router) -> str:
    return f"{router.id} ({router.source})" if isinstance(router, DecidedRouter) else router.id
