"""The command line options and their ini twins: declared and read. Imports nothing beyond the standard library and pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pytest

from pytest_fdegym.pytest_side.option_values import (
    NO_LIMIT,
    OFF,
    limit,
    one_of,
    parse_agent,
    parse_agent_env,
    parse_agent_opt,
    parse_baseline,
    parse_gate,
    parse_gateway_model,
    parse_levels,
    parse_margin,
    parse_progress,
    parse_report,
    parse_retries,
    parse_router,
    parse_runs,
    parse_seeds,
    parse_share,
)

SANDBOXES = ("auto", "bubblewrap", "landlock", "sandbox-exec", "none")
NETWORKS = ("none", "host")

Action = Literal["store", "append", "store_true"]
IniType = Literal["string", "paths", "linelist", "bool"]


class Option(NamedTuple):  # an ordinary session pays for this class, and a dataclass takes seven times as long to make
    """One option. The ini twin's name is the option's with underscores; the command line wins."""

    flag: str
    help: str
    parse: Callable[[str], Any] | None = None
    metavar: str | None = None
    action: Action = "store"
    ini_type: IniType = "string"
    default: str | None = None
    """As a user would type it."""

    @property
    def name(self) -> str:
        """``fde_agent``: destination and ini name."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option(
        "--fde-agent",
        "the agent to grade: a built-in (do-nothing, literal, reference, expert, five-tools, solution:NAME), an installed agent, "
        "package.module:callable, path/to/agent.py[:callable], 'cmd:SHELL COMMAND' or the name of a fixture. Without a path on the "
        "command line the bundled tasks and the scenario folders under the rootdir are collected, and no other tests.",
        parse_agent,
        "AGENT",
    ),
    Option(
        "--fde-agent-opt",
        "an option for the agent, given to it as a keyword argument, or to a fixture that is the agent in the dict that it gets from the "
        "fixture fde_agent_options (repeatable)",
        parse_agent_opt,
        "K=V",
        "append",
        "linelist",
    ),
    Option(
        "--fde-agent-network",
        "for an agent that is a command: none (default; it reaches the customer's people, and models by the metering proxy) or host (this "
        "machine's network and the home of its user, for programs that need their own login; recorded)",
        one_of("--fde-agent-network", NETWORKS),
        "NETWORK",
        default="none",
    ),
    Option(
        "--fde-agent-env",
        "for an agent that is a command: a variable of your environment that it gets too (repeatable); values are never recorded",
        parse_agent_env,
        "NAME",
        "append",
        "linelist",
    ),
    Option(
        "--fde-metering",
        "on (default; OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the keys beside them lead agents to a proxy on this machine, which holds the "
        "real keys, counts turns, tokens and, with the extra pytest-fdegym[prices], USD, and cuts off at a run's limits) or off",
        one_of("--fde-metering", ("on", OFF)),
        "on|off",
        default="on",
    ),
    Option("--fde-agent-version", "the agent's version, for the records", str, "VERSION"),
    Option(
        "--fde-tasks",
        "a folder of scenario folders to collect instead of the bundled ones and those under the rootdir (repeatable)",
        str,
        "FOLDER",
        "append",
        "paths",
    ),
    Option("--fde-levels", "levels to run: a list such as L0,L3, or all (default: L3)", parse_levels, "LEVELS", default="L3"),
    Option("--fde-runs", "how often to run each task at each level (default: 1)", parse_runs, "N", default="1"),
    Option(
        "--fde-seed",
        "the seed from which the worlds are drawn (default: 1); a list or range such as 1-20 with --fde-admission",
        parse_seeds,
        "SEED",
        default="1",
    ),
    Option(
        "--fde-gate",
        "what a run must reach to pass: resolved (default), min-score:X or none; or baseline: every graded run passes, and the session "
        "fails if the agent got worse than --fde-baseline",
        parse_gate,
        "GATE",
        default="resolved",
    ),
    Option("--fde-baseline", "the file of scores that --fde-gate=baseline compares with", parse_baseline, "FILE"),
    Option(
        "--fde-update-baseline",
        "write the scores of this session to --fde-baseline, if everything that was asked for was graded, and compare with nothing",
        action="store_true",
        ini_type="bool",
    ),
    Option(
        "--fde-gate-margin",
        "the drop of the mean score that --fde-gate=baseline has to exclude to say 'no regression' (default: 0.1)",
        parse_margin,
        "X",
        default="0.1",
    ),
    Option(
        "--fde-inconclusive",
        "whether a session that --fde-gate=baseline finds inconclusive passes (default) or fails",
        one_of("--fde-inconclusive", ("pass", "fail")),
        "pass|fail",
        default="pass",
    ),
    Option(
        "--fde-report",
        "a file for a report on the session, written at its end: FILE.html (a page), .md, .csv, .json or .parquet; to the one that "
        "$GITHUB_STEP_SUMMARY names, Markdown is appended (repeatable)",
        parse_report,
        "FILE",
        "append",
        "linelist",
    ),
    Option(
        "--fde-resume",
        "run only what is missing in the results folder, void, or stale (made under other conditions), and say what and why; what is up to "
        "date counts as it is stored, and its agent is not run",
        action="store_true",
        ini_type="bool",
    ),
    Option("--fde-results", "where records, event logs and patches are kept (default: .fdegym/results under the rootdir)", str, "DIR"),
    Option(
        "--fde-max-turns",
        "model turns that a run may take, or none (default: 200)",
        limit("--fde-max-turns", r"[0-9]{1,9}", "a whole number"),
        "N",
        default="200",
    ),
    Option(
        "--fde-max-minutes",
        "wall-clock minutes that a run may take, or none (default: 150)",
        limit("--fde-max-minutes", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "N",
        default="150",
    ),
    Option(
        "--fde-max-usd",
        "model cost in USD that a run may cause, or none (default: 8)",
        limit("--fde-max-usd", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "USD",
        default="8",
    ),
    Option(
        "--fde-budget-usd",
        "model cost in USD that the whole session may cause: no run begins for which there is no room, going by the dearest one so far; "
        "what is not run is an error of its own kind (default: none)",
        limit("--fde-budget-usd", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "USD",
        default=NO_LIMIT,
    ),
    Option(
        "--fde-budget-minutes",
        "wall-clock minutes of the session after which no run begins any more (default: none)",
        limit("--fde-budget-minutes", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "N",
        default=NO_LIMIT,
    ),
    Option(
        "--fde-min-coverage",
        "the share of the planned runs that must be graded, from 0 to 1: the session fails where void runs, or a budget, leave fewer "
        "(default: 0)",
        parse_share,
        "X",
        default="0",
    ),
    Option(
        "--fde-retries",
        "how often a run is begun again that an infrastructure fault spoiled before the agent had acted (default: 2)",
        parse_retries,
        "N",
        default="2",
    ),
    Option(
        "--fde-sandbox",
        "what confines the agent's commands and the delivered code: auto (default), bubblewrap, landlock, sandbox-exec, or none",
        one_of("--fde-sandbox", SANDBOXES),
        "NAME",
        default="auto",
    ),
    Option(
        "--fde-router",
        "what decides which topics a message asks about, and what it shows: embedded (default; no model), llm:MODEL (a model behind an "
        "OpenAI-compatible endpoint: FDEGYM_ROUTER_BASE_URL and FDEGYM_ROUTER_API_KEY, else OPENAI_BASE_URL and OPENAI_API_KEY), or "
        "replay:PATH (what such a model decided before, from event logs in a results folder or one of its files)",
        parse_router,
        "ROUTER",
        default="embedded",
    ),
    Option(
        "--fde-gateway-model",
        "a real model behind the customers' LLM gateways, for experiments: a model's name at an OpenAI-compatible endpoint "
        "(FDEGYM_GATEWAY_BASE_URL and FDEGYM_GATEWAY_API_KEY, else OPENAI_BASE_URL and OPENAI_API_KEY). Results of customers that have a "
        "gateway cannot be compared with others then. Default: the scenarios' own simulated models",
        parse_gateway_model,
        "MODEL",
    ),
    Option(
        "--fde-progress",
        "how often to print a line for each run that is under way, in seconds, or off (default: 60; -q prints none)",
        parse_progress,
        "SECONDS",
        default="60",
    ),
    Option(
        "--fde-admission", "check the anchors that scenarios must meet, instead of grading an agent", action="store_true", ini_type="bool"
    ),
    Option(
        "--fde-update-worth",
        "with --fde-admission: write what each key fact is worth into the scenarios' worth.yaml, for reports, and compare with nothing",
        action="store_true",
        ini_type="bool",
    ),
)
_BY_NAME = {option.name: option for option in OPTIONS}


def register(parser: pytest.Parser) -> None:
    """Add every option and its ini twin."""
    group = parser.getgroup("fde", "deliveries of AI agents (pytest-fdegym)")
    for option in OPTIONS:
        if option.action == "store_true":
            group.addoption(option.flag, action="store_true", default=None, help=option.help)
        else:
            group.addoption(option.flag, action=option.action, type=option.parse, metavar=option.metavar, default=None, help=option.help)
        default: Any = False if option.ini_type == "bool" else "" if option.ini_type == "string" else []
        parser.addini(option.name, f"{option.help} (see {option.flag})", type=option.ini_type, default=default)


def on_command_line(config: pytest.Config, name: str) -> bool:
    """Whether the option was given there (or in addopts); otherwise its value is the ini twin's or the default."""
    return config.getoption(name) is not None


def value(config: pytest.Config, name: str) -> Any:
    """The parsed value: of the command line, else of the ini twin, else the default (None, or empty, where there is none).

    Raises pytest.UsageError for an ini value that does not parse.
    """
    given = config.getoption(name)
    if given is not None:
        return given
    option, ini = _BY_NAME[name], config.getini(name)
    if option.ini_type == "paths":
        return [str(path) for path in ini]
    if option.ini_type == "bool":
        return bool(ini)
    if option.ini_type == "linelist":
        return [_from_ini(option, line) for line in ini]
    text = ini or option.default
    return _from_ini(option, text) if text else None


def _from_ini(option: Option, text: str) -> Any:
    assert option.parse is not None
    try:
        return option.parse(text)
    except pytest.UsageError as error:
        raise pytest.UsageError(str(error).replace(option.flag, f"ini option {option.name}", 1)) from None
