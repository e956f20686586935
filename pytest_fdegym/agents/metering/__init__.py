"""The metering proxy: stands between agents and their models, holds the keys, counts turns, tokens and USD, and cuts off at a limit."""

from pytest_fdegym.agents.metering.account import Account
from pytest_fdegym.agents.metering.faults import ProviderFault
from pytest_fdegym.agents.metering.meter import Meter
from pytest_fdegym.agents.metering.upstream import Upstream, upstreams

__all__ = ["Account", "Meter", "ProviderFault", "Upstream", "upstreams"]
