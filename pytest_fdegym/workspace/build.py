"""Lays out what an agent finds: the customer's site, TASK.md and bin/."""

from __future__ import annotations

import platform
from datetime import timedelta
from pathlib import Path

from pytest_fdegym.channel import bin_client
from pytest_fdegym.channel.protocol import SOCKET_NAME
from pytest_fdegym.gateway.server import SOCKET_NAME as GATEWAY_SOCKET
from pytest_fdegym.scenario.model import Gateway, Level, ScenarioFile
from pytest_fdegym.workspace.prepare import PreparedTask

COMMANDS = ("ask", "inbox", "wait", "mcp")
TRIAL_COMMAND = "trial"

_ARRANGEMENTS = """\
## Working arrangements

You work in this folder. It is a copy of what {customer} uses, made for you.

- **People.** `bin/ask --who` lists the people you can write to. `bin/ask PERSON "MESSAGE"` sends a message and prints the answer
  (`bin/ask PERSON < file` takes it from a file); `bin/ask --log` shows the conversation so far. `bin/inbox` shows your mail.
- **Time.** It is {start}. The company's calendar moves on with each answer you get; `bin/wait DAYS` lets working days pass,
  `bin/wait until "{example}"` waits until then. People work {hours} on weekdays.
{trial}- **The machine.** Python {python} with its standard library, SQLite and the usual Unix tools. There is no network{gateway}.
- **Handover.** When you stop, {folders} {goes} into production exactly as {stands}. Nothing else of this folder is taken over, and
  nobody repairs it afterwards. Production calls:
{entry_points}
"""

_TRIAL = """\
- **Trial runs.** `bin/trial` lets {folders}, as {stands} at that moment, run beside the real system on live work. Nothing it decides is
  acted on. You get a report with what people noticed.
"""
_GATEWAY = """\
 but the company's
  LLM gateway (OpenAI protocol over a unix socket). `{client}` is a client for it; {models}"""


def working_arrangements(scenario: ScenarioFile) -> str:
    """The neutral part of TASK.md, the same at every level: how to reach people and what is taken over."""
    folders = [f"`{folder}/`" for folder in scenario.deployed]
    entry_points = [
        f"  - `{entry.function}` in `{entry.file}`"
        + (f", with {', '.join(f'`{name}`' for name in entry.inject)} passed by keyword" if entry.inject else "")
        for entry in scenario.entry_points.values()
    ]
    calendar = scenario.calendar
    stands = "it stands" if len(folders) == 1 else "they stand"
    return _ARRANGEMENTS.format(
        customer=scenario.customer,
        start=calendar.start.strftime("%A, %d %B %Y, %H:%M"),
        example=f"{calendar.start.date() + timedelta(days=1):%Y-%m-%d} {calendar.day_starts:%H:%M}",
        hours=f"{calendar.day_starts:%H:%M} to {calendar.day_ends:%H:%M}",
        python=platform.python_version(),
        folders=" and ".join(folders),
        goes="goes" if len(folders) == 1 else "go",
        stands=stands,
        trial="" if scenario.trial is None else _TRIAL.format(folders=" and ".join(folders), stands=stands),
        gateway="" if scenario.gateway is None else _gateway(scenario.gateway),
        entry_points="\n".join(entry_points),
    )


def _gateway(gateway: Gateway) -> str:
    names = [f"`{name}`" for name in gateway.models]
    return _GATEWAY.format(
        client=gateway.client, models=f"its model is {names[0]}" if len(names) == 1 else f"its models are {', '.join(names)}"
    )


def build_workspace(prepared: PreparedTask, level: Level, workspace: Path, sockets: Path) -> str:
    """Fill the folder `workspace` (which must not exist) for one engagement; returns the text of TASK.md.

    `sockets` is the folder in which the channel and the company's gateway will listen.
    """
    prepared.copy_site(workspace)
    task = prepared.brief(level).rstrip() + "\n\n" + working_arrangements(prepared.file)
    (workspace / "TASK.md").write_text(task, encoding="utf-8")
    folder = workspace / "bin"
    folder.mkdir(exist_ok=True)
    program = Path(bin_client.__file__).read_bytes()
    for name in (*COMMANDS, *([TRIAL_COMMAND] if prepared.file.trial is not None else [])):
        (folder / name).write_bytes(program)
        (folder / name).chmod(0o755)
    (folder / ".socket").write_text(f"{sockets / SOCKET_NAME}\n", encoding="utf-8")
    if prepared.file.gateway is not None:
        (folder / ".gateway").write_text(f"{sockets / GATEWAY_SOCKET}\n", encoding="utf-8")
    return task
