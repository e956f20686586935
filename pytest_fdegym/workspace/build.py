"""Lays out what an agent finds: the customer's site, TASK.md and bin/."""

from __future__ import annotations

import platform
from datetime import timedelta
from pathlib import Path

from pytest_fdegym.channel import bin_client
from pytest_fdegym.scenario.model import Level, ScenarioFile
from pytest_fdegym.workspace.prepare import PreparedTask

COMMANDS = ("ask", "inbox", "wait")

_ARRANGEMENTS = """\
## Working arrangements

You work in this folder. It is a copy of what {customer} uses, made for you.

- **People.** `bin/ask --who` lists the people you can write to. `bin/ask PERSON "MESSAGE"` sends a message and prints the answer
  (`bin/ask PERSON < file` takes it from a file); `bin/ask --log` shows the conversation so far. `bin/inbox` shows your mail.
- **Time.** It is {start}. The company's calendar moves on with each answer you get; `bin/wait DAYS` lets working days pass,
  `bin/wait until "{example}"` waits until then. People work {hours} on weekdays.
- **The machine.** Python {python} with its standard library, SQLite and the usual Unix tools. There is no network.
- **Handover.** When you stop, {folders} {goes} into production exactly as {stands}. Nothing else of this folder is taken over, and
  nobody repairs it afterwards. Production calls:
{entry_points}
"""


def working_arrangements(scenario: ScenarioFile) -> str:
    """The neutral part of TASK.md, the same at every level: how to reach people and what is taken over."""
    folders = [f"`{folder}/`" for folder in scenario.deployed]
    entry_points = [
        f"  - `{entry.function}` in `{entry.file}`"
        + (f", with {', '.join(f'`{name}`' for name in entry.inject)} passed by keyword" if entry.inject else "")
        for entry in scenario.entry_points.values()
    ]
    calendar = scenario.calendar
    return _ARRANGEMENTS.format(
        customer=scenario.customer,
        start=calendar.start.strftime("%A, %d %B %Y, %H:%M"),
        example=f"{calendar.start.date() + timedelta(days=1):%Y-%m-%d} {calendar.day_starts:%H:%M}",
        hours=f"{calendar.day_starts:%H:%M} to {calendar.day_ends:%H:%M}",
        python=platform.python_version(),
        folders=" and ".join(folders),
        goes="goes" if len(folders) == 1 else "go",
        stands="it stands" if len(folders) == 1 else "they stand",
        entry_points="\n".join(entry_points),
    )


def build_workspace(prepared: PreparedTask, level: Level, workspace: Path, socket: Path) -> str:
    """Fill the folder `workspace` (which must not exist) for one engagement; returns the text of TASK.md.

    `socket` is where the channel will listen.
    """
    prepared.copy_site(workspace)
    task = prepared.brief(level).rstrip() + "\n\n" + working_arrangements(prepared.scenario.file)
    (workspace / "TASK.md").write_text(task, encoding="utf-8")
    folder = workspace / "bin"
    folder.mkdir(exist_ok=True)
    program = Path(bin_client.__file__).read_bytes()
    for name in COMMANDS:
        (folder / name).write_bytes(program)
        (folder / name).chmod(0o755)
    (folder / ".socket").write_text(f"{socket}\n", encoding="utf-8")
    return task
