"""``--fde-metering``: the proxy of this process, started before anything of the agent's is loaded, with the environment pointing to it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping

import pytest

from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.agents.resolve import FIVE_TOOLS, Reference, installed_agents, parse
from pytest_fdegym.errors import UsageError
from pytest_fdegym.pytest_side.plan import Plan

ON = "model calls are metered"
UNPRICED = f"{ON}, but what they cost is unknown: genai-prices is not installed (pip install 'pytest-fdegym[prices]')"
NOT_METERED = "model calls are not metered: limits and figures are what the agent reports itself"


def start(config: pytest.Config, plan: Plan, environment: Mapping[str, str]) -> Meter | None:
    """The proxy, open until the session ends; None where it is off, where the agent calls no model, and where nothing is run.

    `environment` is the user's own; ``os.environ`` leads to the proxy from now on. Raises UsageError for addresses or keys that cannot be
    used.
    """
    if not (plan.metering and _runs_items(config) and plan.agent is not None and calls_models(_named(plan.agent))):
        return None
    meter = Meter(upstreams(environment), os.environ)
    meter.__enter__()
    config.add_cleanup(lambda: meter.__exit__(None, None, None))
    return meter


def shown(plan: Plan, reference: Reference) -> str | None:
    """The header's line; None for agents that call no model."""
    if not calls_models(reference):
        return None
    if not plan.metering:
        return NOT_METERED
    return ON if importlib.util.find_spec("genai_prices") is not None else UNPRICED


def calls_models(reference: Reference | None) -> bool:
    """Whether the agent could: of the built-in ones, only the five-tool agent does."""
    return reference is not None and (reference.kind != "builtin" or reference.target == FIVE_TOOLS)


def _named(agent: str) -> Reference | None:
    try:
        return parse(agent, installed_agents())
    except UsageError:
        return None  # Whoever loads the agent tells.


def _runs_items(config: pytest.Config) -> bool:
    """Not the controller of pytest-xdist, whose workers would inherit its environment."""
    if config.getoption("collectonly") or config.getoption("setupplan", default=False):
        return False
    return hasattr(config, "workerinput") or config.getoption("dist", "no") == "no"
