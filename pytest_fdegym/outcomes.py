"""What becomes of a run, whatever ends or spoils it: one table, of which docs/outcomes.md is made.

``python -m pytest_fdegym.outcomes --write | --check [FILE]``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Lands = Literal["graded", "void", "refused", "not run", "no record"]
"""``graded``: what was left counts, like any delivery. ``void``: left out of the means, counted in the coverage. ``refused``: nothing runs.
``not run``: this run did not begin. ``no record``: nothing is known of the run."""
Retried = Literal["no", "before the agent acted"]


@dataclass(frozen=True)
class Outcome:
    """A row: `id` is what a record's ``fault`` says."""

    id: str
    what: str
    lands: Lands
    shown: str
    retried: Retried = "no"


_GATE = "passed or failed by the gate, `<failure>`"
_ERROR = "failed by the gate (`<failure>`) unless the delivery passes; the card shows the agent's error"
_CUT = "failed by the gate (`<failure>`) unless the delivery passes; the card says which limit"
_VOID = "error `VOID` with its cause, `<error>`"

OUTCOMES = (
    # --- the agent's model ---
    Outcome("unreachable", "The model provider cannot be reached, or does not answer in time.", "void", _VOID, "before the agent acted"),
    Outcome("reset", "The connection to the model provider breaks in the middle of an answer.", "void", _VOID, "before the agent acted"),
    Outcome("provider_error", "The model provider fails: HTTP 5xx, overloaded.", "void", _VOID, "before the agent acted"),
    Outcome("rate_limit", "The model provider takes no more for the moment: HTTP 429.", "void", _VOID, "before the agent acted"),
    Outcome("quota", "The account's quota or credit is used up: HTTP 402, or 429 that says so.", "void", _VOID),
    Outcome("authentication", "The key is missing, wrong or has no right to the model: HTTP 401 or 403.", "void", _VOID),
    Outcome("context_overflow", "The agent sent more than the model's context holds.", "graded", _ERROR),
    Outcome("bad_request", "The agent sent what the provider refuses: HTTP 400, 404, 422 and the like.", "graded", _ERROR),
    Outcome("bad_tool_call", "The agent ends over a tool call of its model's that is none.", "graded", _ERROR),
    # --- the agent ---
    Outcome("agent_error", "The agent raises any other exception.", "graded", _ERROR),
    Outcome("agent_exit", "The agent calls sys.exit, or its command ends with another exit code than 0.", "graded", _ERROR),
    Outcome("limit_turns", "The limit of turns is used up.", "graded", _CUT),
    Outcome("limit_minutes", "The time limit is used up.", "graded", _CUT),
    Outcome("limit_usd", "The cost limit is used up.", "graded", _CUT),
    # --- the harness ---
    Outcome("sandbox_fault", "The sandbox fails: it does not start, or something kills it.", "void", _VOID, "before the agent acted"),
    Outcome("router_fault", "The router fails, or the model behind it after its own attempts.", "void", _VOID, "before the agent acted"),
    Outcome("gateway_model_fault", "The real model behind a customer's gateway fails.", "void", _VOID, "before the agent acted"),
    Outcome("harness_fault", "The harness fails: a disk that is full, descriptors that are used up.", "void", _VOID),
    Outcome("worker_crash", "The process that runs the item dies (a worker of pytest-xdist).", "void", _VOID),
    Outcome(
        "not_stored", "The results folder takes no record.", "graded", f"{_GATE}; the card and the summary say that nothing was stored"
    ),
    Outcome("interrupted", "Somebody presses Ctrl-C.", "no record", "the session ends, exit code 2"),
    # --- the session ---
    Outcome("budget", "The session's budget of USD or minutes has no room for another run.", "not run", "error `NOT RUN`, `<error>`"),
    Outcome(
        "under_way",
        "Another session makes the same run in the same results folder, and this one has no `--fde-resume`.",
        "not run",
        "error `NOT RUN`, `<error>`",
    ),
    Outcome("scenario_error", "The scenario's author made a mistake.", "no record", "error with file and line, `<error>`"),
    Outcome(
        "unusable", "An option names what does not exist, no sandbox works, the results folder cannot be written.", "refused", "exit code 4"
    ),
)
_BY_ID = {outcome.id: outcome for outcome in OUTCOMES}


def outcome(row: str) -> Outcome:
    """The row of that id. Raises KeyError."""
    return _BY_ID[row]


def voids(row: str) -> bool:
    """Whether a run that ended so is void."""
    return outcome(row).lands == "void"


_INTRODUCTION = """\
# What becomes of a run

*Generated from `pytest_fdegym/outcomes.py`: `python -m pytest_fdegym.outcomes --write`.*

A run is **graded** when it says something about the agent, and **void** when something spoiled it that says nothing about it. The line
between the two is drawn by cause, never by result:

- What the agent did to itself is graded: its exceptions, its limits, and errors that the same agent would meet again under the same
  conditions (a context that overflows, a request that is refused, a tool call that is none).
- What happened to the agent is void: a provider that is down, a rate limit, a key that is refused, a sandbox that fails. A run that had
  delivered good work by then is void all the same. If good work counted and bad work was excused, an outage would raise the average of
  whoever it hit; and whether work is good is known only after the line has been drawn.
- A void run is a pytest *error* (JUnit `<error>`), so no session passes because of one. It is left out of the means and counted in the
  coverage (graded / planned), which `--fde-min-coverage` can demand.
- In doubt a run is graded: an exception makes a run void only if it comes from a model client that is known (openai, anthropic, httpx below
  them, ...) or if the metering proxy saw the last model call fail so. Other network errors are the agent's own.

A run is **retried** only before the agent has acted: no message, wait, trial run or command, no changed file, no model call that
succeeded. It starts again in a fresh workspace, at most `--fde-retries` times (2 unless told otherwise); each time is an event of the
log. Once it has acted, another attempt would be another run, with luck that the others did not have. Beside that, model clients retry
single calls themselves.

| `fault` in the record | what happens | the run is | retried | pytest and JUnit show |
|---|---|---|---|---|
"""

_NOTES = """
A limit ends a run whatever the agent makes of it: people, trial runs and the company's gateway stop answering, commands end with
everything they started, child processes that a Python agent started are killed, and the delivery is graded as it stands. A Python
agent is cancelled (async) or interrupted by an exception that is no `Exception` (`agents/interrupt.py`). A thread that cannot be
interrupted, since it waits inside C code (`time.sleep`, a socket, a lock), is named in the record's notes and in the score card and not
waited for; what it does later finds the engagement over.

An agent works in a thread of its own, so that limits and Ctrl-C always work. What is bound to the main thread (sqlite3 connections that
a fixture made, signal handlers, Playwright's sync API) breaks there: let the agent say `fde_main_thread = True` (an attribute of the
callable) to be called in the main thread. At a limit it is then interrupted by a signal (SIGUSR2), for which even `time.sleep`
returns; but an agent that swallows every exception, or waits in C code that ignores signals, holds up the session.
"""


def markdown() -> str:
    """The text of docs/outcomes.md."""
    rows = "".join(f"| `{each.id}` | {each.what} | {each.lands} | {each.retried} | {each.shown} |\n" for each in OUTCOMES)
    return _INTRODUCTION + rows + _NOTES


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the document, or say whether it is stale; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pytest_fdegym.outcomes", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=Path("docs/outcomes.md"), metavar="FILE", help="default: docs/outcomes.md")
    parser.add_argument("--write", action="store_true", help="write the file")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file is missing or stale")
    options = parser.parse_args(arguments)
    if options.write == options.check:
        parser.error("either --write or --check is expected")
    if options.write:
        options.file.write_text(markdown(), encoding="utf-8")
    elif not options.file.is_file() or options.file.read_text(encoding="utf-8") != markdown():
        print(f"{options.file} is missing or stale; run python -m pytest_fdegym.outcomes --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
