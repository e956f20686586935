"""What the options take: a function for each that reads a text, or refuses it with what is accepted and the nearest match.

Parsed values are builtins, because pytest-xdist sends the options to its workers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

LEVELS = ("L0", "L1", "L2", "L3")
ROUTERS = ("embedded", "llm:MODEL", "replay:PATH")
GATES = ("resolved", "baseline", "none")
NO_LIMIT = "none"
OFF = "off"
MOST_SEEDS = 1000


def _refuse(name: str, text: str, accepted: str, known: Iterable[str] = ()) -> pytest.UsageError:
    from pytest_fdegym.errors import nearest  # noqa: PLC0415  (difflib is loaded for an error only)

    known = tuple(known)
    other_case = next((word for word in known if word.lower() == text.lower()), None)
    hint = nearest(text, known) if other_case is None else f" Did you mean {other_case!r}?"
    return pytest.UsageError(f"{name}: {accepted} is expected, found {text!r}.{hint}")


def one_of(name: str, known: tuple[str, ...]) -> Callable[[str], str]:
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


def limit(name: str, pattern: str, accepted: str) -> Callable[[str], float | str]:
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
