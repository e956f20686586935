"""The command line options and their ini twins: declared, parsed and read. Imports nothing beyond the standard library and pytest.

Parsed values are builtins, because pytest-xdist sends the options to its workers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import pytest

LEVELS = ("L0", "L1", "L2", "L3")
SANDBOXES = ("auto", "bubblewrap", "landlock", "sandbox-exec", "none")
NETWORKS = ("none", "host")
ROUTERS = ("embedded", "llm:MODEL", "replay:PATH")
GATES = ("resolved", "baseline", "none")
NO_LIMIT = "none"
OFF = "off"
MOST_SEEDS = 1000

Action = Literal["store", "append", "store_true"]
IniType = Literal["string", "paths", "linelist", "bool"]


def _refuse(name: str, text: str, accepted: str, known: Iterable[str] = ()) -> pytest.UsageError:
    from pytest_fdegym.errors import nearest  # noqa: PLC0415  (difflib is loaded for an error only)

    known = tuple(known)
    other_case = next((word for word in known if word.lower() == text.lower()), None)
    hint = nearest(text, known) if other_case is None else f" Did you mean {other_case!r}?"
    return pytest.UsageError(f"{name}: {accepted} is expected, found {text!r}.{hint}")


def _one_of(name: str, known: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in known:
            raise _refuse(name, text, " or ".join(known), known)
        return text

    return parse


def parse_agent(text: str) -> str:
    """The value as given; what it means is decided by `pytest_fdegym.agents.resolve`."""
    if not text.strip():
        raise pytest.UsageError("--fde-agent: the name of an agent is expected, found nothing.")
    return text


def parse_report(text: str) -> str:
    """The file's name; what its ending means is decided by `pytest_fdegym.results.report.write`."""
    if not text.strip():
        raise pytest.UsageError("--fde-report: the name of a file is expected, found nothing.")
    return text


def parse_router(text: str) -> str:
    """``embedded``, ``llm:MODEL`` or ``replay:PATH``, unchanged; whether it can be had is decided by `router_named`."""
    kind, _, rest = text.partition(":")
    if text == "embedded" or (kind == "replay" and rest.strip()) or (kind == "llm" and re.fullmatch(r"[!-~]{1,200}", rest)):
        return text
    raise _refuse("--fde-router", text, f"{', '.join(ROUTERS[:-1])} or {ROUTERS[-1]}", ("embedded",))


def parse_gateway_model(text: str) -> str:
    """The name of a model, unchanged; where it is found is decided by `real_model`."""
    if not re.fullmatch(r"[!-~]{1,200}", text):
        raise _refuse("--fde-gateway-model", text, "the name of a model")
    return text


def parse_agent_opt(text: str) -> str:
    """``K=V``, unchanged; K is a name as Python writes them."""
    key, equals, _ = text.partition("=")
    if not equals or not key.isidentifier():
        raise _refuse("--fde-agent-opt", text, "K=V with a name K")
    return text


def parse_agent_env(text: str) -> str:
    """The name of an environment variable, none of pytest's."""
    if not text.isidentifier() or not text.isascii():
        raise _refuse("--fde-agent-env", text, "the name of an environment variable")
    if text.startswith("PYTEST_"):
        raise pytest.UsageError(f"--fde-agent-env: variables of pytest are kept from agents, found {text!r}.")
    return text


def parse_levels(text: str) -> list[str]:
    """``L3``, ``L0,L3`` or ``all``: the levels, in order, each once."""
    if text.strip() == "all":
        return list(LEVELS)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in LEVELS:
            raise _refuse("--fde-levels", name, f"all, or a list of {', '.join(LEVELS)} with commas", (*LEVELS, "all"))
    return sorted(set(names))


def parse_runs(text: str) -> int:
    """A whole number from 1."""
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise _refuse("--fde-runs", text, "a whole number from 1")
    return int(text)


def parse_seeds(text: str) -> list[int]:
    """``7``, ``1-20`` or ``1,4,9-12``: the seeds, in the order given, each once."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last - first >= MOST_SEEDS:
            raise _refuse("--fde-seed", part.strip(), "a whole number (with --fde-admission also a list or a range such as 1-20)")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return list(seeds)


def parse_gate(text: str) -> str:
    """``resolved``, ``baseline``, ``none`` or ``min-score:X`` with a finite number X."""
    name, _, number = text.partition(":")
    if text in GATES or (name == "min-score" and re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]+)?", number)):
        return text
    raise _refuse("--fde-gate", text, "resolved, min-score:X (a number such as 0.6), baseline or none", GATES)


def parse_baseline(text: str) -> str:
    """The name of a file, unchanged."""
    if not text.strip():
        raise pytest.UsageError("--fde-baseline: the name of a file is expected, found nothing.")
    return text


def parse_margin(text: str) -> float:
    """Uplift units, above 0."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]+)?", text) or float(text) <= 0:
        raise _refuse("--fde-gate-margin", text, "a number above 0 such as 0.1")
    return float(text)


def _limit(name: str, pattern: str, accepted: str) -> Callable[[str], float | str]:
    def parse(text: str) -> float | str:
        if text == NO_LIMIT:
            return NO_LIMIT
        if not re.fullmatch(pattern, text) or float(text) <= 0:
            raise _refuse(name, text, f"{accepted} above 0, or {NO_LIMIT},")
        return float(text)

    return parse


def parse_progress(text: str) -> float | str:
    """Seconds above 0, or ``off``."""
    if text == OFF:
        return OFF
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text) or float(text) <= 0:
        raise _refuse("--fde-progress", text, f"a number of seconds above 0, or {OFF},")
    return float(text)


def parse_share(text: str) -> float:
    """A number from 0 to 1."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text) or not 0 <= float(text) <= 1:
        raise _refuse("--fde-min-coverage", text, "a number from 0 to 1")
    return float(text)


def parse_retries(text: str) -> int:
    """A whole number from 0 to 9."""
    if not re.fullmatch(r"[0-9]", text):
        raise _refuse("--fde-retries", text, "a whole number from 0 to 9")
    return int(text)


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
        _one_of("--fde-agent-network", NETWORKS),
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
        _one_of("--fde-metering", ("on", OFF)),
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
        _one_of("--fde-inconclusive", ("pass", "fail")),
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
        _limit("--fde-max-turns", r"[0-9]{1,9}", "a whole number"),
        "N",
        default="200",
    ),
    Option(
        "--fde-max-minutes",
        "wall-clock minutes that a run may take, or none (default: 150)",
        _limit("--fde-max-minutes", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "N",
        default="150",
    ),
    Option(
        "--fde-max-usd",
        "model cost in USD that a run may cause, or none (default: 8)",
        _limit("--fde-max-usd", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "USD",
        default="8",
    ),
    Option(
        "--fde-budget-usd",
        "model cost in USD that the whole session may cause: no run begins for which there is no room, going by the dearest one so far; "
        "what is not run is an error of its own kind (default: none)",
        _limit("--fde-budget-usd", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
        "USD",
        default=NO_LIMIT,
    ),
    Option(
        "--fde-budget-minutes",
        "wall-clock minutes of the session after which no run begins any more (default: none)",
        _limit("--fde-budget-minutes", r"[0-9]{1,9}(\.[0-9]+)?", "a number"),
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
        _one_of("--fde-sandbox", SANDBOXES),
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
