"""What the options of this session come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fdegym.limits import Limits
from pytest_fdegym.pytest_side import options
from pytest_fdegym.pytest_side.gate import Gate


@dataclass(frozen=True)
class Plan:
    """The session's settings. Either `agent` is given or `admission` is asked for, never both."""

    agent: str | None
    agent_directory: Path
    """What a relative path in `agent` starts from: the invocation directory, or the ini file's."""
    agent_options: Mapping[str, str]
    agent_version: str | None
    admission: bool
    tasks: tuple[Path, ...]
    """The folders of --fde-tasks; empty for the bundled tasks and those under the rootdir."""
    levels: tuple[str, ...]
    runs: int
    seeds: tuple[int, ...]
    """One, apart from admission."""
    gate: Gate
    results: Path
    limits: Limits
    sandbox: str
    router: str
    router_directory: Path
    """What a relative path in `router` starts from."""
    gateway_model: str | None


def read_plan(config: pytest.Config) -> Plan:
    """Put the options together. Raises pytest.UsageError for those that do not go together."""
    agent, admission = options.value(config, "fde_agent"), bool(options.value(config, "fde_admission"))
    if agent and admission:
        typed = [options.on_command_line(config, name) for name in ("fde_agent", "fde_admission")]
        if typed[0] == typed[1]:
            raise pytest.UsageError(
                "--fde-agent and --fde-admission exclude each other: one grades an agent, the other checks the scenarios."
            )
        agent, admission = (agent, False) if typed[0] else (None, True)
    seeds = tuple(options.value(config, "fde_seed"))
    if len(seeds) > 1 and not admission:
        raise pytest.UsageError(
            f"--fde-seed: one seed is expected, found {len(seeds)}; a list or range is accepted with --fde-admission only."
        )
    return Plan(
        agent=agent,
        agent_directory=_base(config, "fde_agent"),
        agent_options=_agent_options(options.value(config, "fde_agent_opt")),
        agent_version=options.value(config, "fde_agent_version"),
        admission=admission,
        tasks=_folders(config),
        levels=tuple(options.value(config, "fde_levels")),
        runs=options.value(config, "fde_runs"),
        seeds=seeds,
        gate=Gate(options.value(config, "fde_gate")),
        results=_results(config),
        limits=_limits(config),
        sandbox=options.value(config, "fde_sandbox"),
        router=options.value(config, "fde_router"),
        router_directory=_base(config, "fde_router"),
        gateway_model=options.value(config, "fde_gateway_model"),
    )


def _results(config: pytest.Config) -> Path:
    folder = _base(config, "fde_results") / (options.value(config, "fde_results") or config.rootpath / ".fdegym" / "results")
    return folder.resolve() if ".." in folder.parts else folder


def _base(config: pytest.Config, name: str) -> Path:
    """What a relative path given for the option starts from."""
    if options.on_command_line(config, name) or config.inipath is None:
        return config.invocation_params.dir
    return config.inipath.parent


def _agent_options(given: Sequence[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for text in given:
        key, _, value = text.partition("=")
        if key in result:
            raise pytest.UsageError(f"--fde-agent-opt: {key!r} is given twice ({result[key]!r} and {value!r}).")
        result[key] = value
    return result


def _folders(config: pytest.Config) -> tuple[Path, ...]:
    folders = tuple(_base(config, "fde_tasks") / folder for folder in options.value(config, "fde_tasks"))
    for folder in folders:
        if not folder.is_dir():
            raise pytest.UsageError(f"--fde-tasks: there is no folder {folder}")
    return folders


def _limits(config: pytest.Config) -> Limits:
    turns, minutes, usd = (
        None if (value := options.value(config, f"fde_max_{name}")) == options.NO_LIMIT else float(value)
        for name in ("turns", "minutes", "usd")
    )
    return Limits(turns=None if turns is None else int(turns), minutes=minutes, usd=usd)
