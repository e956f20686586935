"""What the options of this session come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from pytest_fdegym.limits import Limits
from pytest_fdegym.pytest_side import option_values, options
from pytest_fdegym.results.gate import Gate
from pytest_fdegym.scenario.worth import WORTH_SEED


@dataclass(frozen=True)
class Plan:
    """The session's settings. Either `agent` is given or `admission` is asked for, never both."""

    agent: str | None
    agent_directory: Path
    """What a relative path in `agent` starts from: the invocation directory, or the ini file's."""
    agent_options: Mapping[str, str]
    agent_version: str | None
    agent_network: Literal["none", "host"]
    agent_env: tuple[str, ...]
    """Names of variables that an agent that is a command gets too."""
    metering: bool
    admission: bool
    update_worth: bool
    """Whether admission writes worth.yaml."""
    tasks: tuple[Path, ...]
    """The folders of --fde-tasks; empty for the bundled tasks and those under the rootdir."""
    levels: tuple[str, ...]
    runs: int
    seeds: tuple[int, ...]
    """One, apart from admission."""
    gate: Gate
    baseline: Path | None
    update_baseline: bool
    margin: float
    """Of the baseline gate, in uplift units."""
    inconclusive_fails: bool
    reports: tuple[Path, ...]
    results: Path
    resume: bool
    limits: Limits
    budget_usd: float | None
    budget_minutes: float | None
    """Of the session."""
    min_coverage: float
    retries: int
    sandbox: str
    router: str
    router_directory: Path
    """What a relative path in `router` starts from."""
    gateway_model: str | None
    progress: float | None
    """Seconds between two lines about a run that is under way; None for no such lines."""


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
        agent_network=options.value(config, "fde_agent_network"),
        agent_env=tuple(dict.fromkeys(options.value(config, "fde_agent_env"))),
        metering=options.value(config, "fde_metering") != option_values.OFF,
        admission=admission,
        update_worth=_update_worth(config, admission, seeds),
        tasks=_folders(config),
        levels=tuple(options.value(config, "fde_levels")),
        runs=options.value(config, "fde_runs"),
        seeds=seeds,
        gate=Gate(options.value(config, "fde_gate")),
        baseline=_baseline(config, admission),
        update_baseline=not admission and bool(options.value(config, "fde_update_baseline")),
        margin=options.value(config, "fde_gate_margin"),
        inconclusive_fails=options.value(config, "fde_inconclusive") == "fail",
        reports=() if admission else tuple(_base(config, "fde_report") / file for file in options.value(config, "fde_report") or ()),
        results=_results(config),
        resume=not admission and bool(options.value(config, "fde_resume")),
        limits=_limits(config),
        budget_usd=_number(config, "fde_budget_usd"),
        budget_minutes=_number(config, "fde_budget_minutes"),
        min_coverage=options.value(config, "fde_min_coverage"),
        retries=options.value(config, "fde_retries"),
        sandbox=options.value(config, "fde_sandbox"),
        router=options.value(config, "fde_router"),
        router_directory=_base(config, "fde_router"),
        gateway_model=options.value(config, "fde_gateway_model"),
        progress=None if (seconds := options.value(config, "fde_progress")) == option_values.OFF else float(seconds),
    )


def _update_worth(config: pytest.Config, admission: bool, seeds: Sequence[int]) -> bool:
    if not options.value(config, "fde_update_worth"):
        return False
    if not admission and options.on_command_line(config, "fde_update_worth"):
        raise pytest.UsageError("--fde-update-worth: what facts are worth is measured by admission; give --fde-admission, too.")
    if admission and WORTH_SEED not in seeds:
        raise pytest.UsageError(
            f"--fde-update-worth: worth.yaml holds what is measured on seed {WORTH_SEED}, found --fde-seed={','.join(map(str, seeds))}."
        )
    return admission


def _baseline(config: pytest.Config, admission: bool) -> Path | None:
    given = options.value(config, "fde_baseline")
    if given is None and not admission:
        needs = [
            flag
            for flag, needed in (
                ("--fde-gate=baseline", options.value(config, "fde_gate") == "baseline"),
                ("--fde-update-baseline", options.value(config, "fde_update_baseline")),
            )
            if needed
        ]
        if needs:
            raise pytest.UsageError(f"{needs[0]}: the file is missing; name it with --fde-baseline=FILE.")
    return None if given is None else _base(config, "fde_baseline") / given


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
    turns, minutes, usd = (_number(config, f"fde_max_{name}") for name in ("turns", "minutes", "usd"))
    return Limits(turns=None if turns is None else int(turns), minutes=minutes, usd=usd)


def _number(config: pytest.Config, name: str) -> float | None:
    return None if (value := options.value(config, name)) == option_values.NO_LIMIT else float(value)
