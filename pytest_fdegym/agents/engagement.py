"""What an agent in Python holds of an engagement: the brief, the workspace, the people and some tools."""

from __future__ import annotations

import errno
import io
import os
import shlex
import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.channel.client import ChannelClient
from pytest_fdegym.channel.protocol import (
    AskRequest,
    LogCard,
    MailCard,
    PersonCard,
    ReplyCard,
    StatusCard,
    TrialCard,
    TrialRequest,
    UsageReport,
    WaitCard,
    WaitRequest,
)
from pytest_fdegym.errors import FdeGymError
from pytest_fdegym.observer import Event, Observer
from pytest_fdegym.sandbox.base import CommandResult, Sandbox
from pytest_fdegym.text import kept


class OutsideWorkspace(FdeGymError):
    """A file tool was asked for a path that leads out of the workspace."""


class Engagement:
    """A customer, as an agent meets it.

    People are reached over the same socket that serves ``bin/ask``; this object holds no conversation, no charges and no truth.
    Every method that talks to people raises RequestRefused (nothing was charged), LimitReached, or EngagementOver after handover.
    """

    def __init__(self, *, brief: str, workspace: Path, socket: Path, sandbox: Sandbox, commands: Commands, observer: Observer) -> None:
        self.brief = brief
        """The instruction and the working arrangements, as in TASK.md."""
        self.workspace = workspace
        """The customer's files; what stands in the delivered folders at handover is deployed."""
        self._channel = ChannelClient(socket)
        self._sandbox = sandbox
        self._commands = commands
        self._observer = observer

    # --- people ---

    def people(self) -> list[PersonCard]:
        """The staff directory."""
        return self._channel.request("GET", "/people", list[PersonCard])

    def ask(self, person: str, message: str) -> ReplyCard:
        """Write to a person (by id) and read the answer; the customer's calendar moves on."""
        return self._channel.request("POST", "/ask", ReplyCard, AskRequest(person=person, message=message))

    def inbox(self) -> list[MailCard]:
        """The mail that has arrived so far."""
        return self._channel.request("GET", "/inbox", list[MailCard])

    def wait(self, *, days: int | None = None, until: datetime | None = None) -> WaitCard:
        """Let working days pass, or time until a moment of the customer's calendar."""
        return self._channel.request("POST", "/wait", WaitCard, WaitRequest(days=days, until=until))

    def trial(self) -> TrialCard:
        """Let the system, as it stands in the workspace now, run beside the real one, and read what people noticed.

        Raises RequestRefused where the customer can arrange none, or no further one.
        """
        return self._channel.request("POST", "/trial", TrialCard, TrialRequest())

    def log(self) -> list[LogCard]:
        """What was asked and answered so far."""
        return self._channel.request("GET", "/log", list[LogCard])

    # --- tools ---

    def run(self, command: str | Sequence[str], *, seconds: float = 60.0) -> CommandResult:
        """Run a command in the workspace, inside the sandbox: a shell command line, or a list of arguments.

        `seconds` is wall time, never more than the engagement's minutes last; what the command started is gone when this returns. The
        machine has Python's standard library, SQLite and the usual Unix tools, and no network. A command that no system could run (too
        long, a NUL in it) ends with exit code 126.
        """
        arguments = ["sh", "-c", command] if isinstance(command, str) else list(command)
        self.status()  # raises when the engagement is over
        result = self._commands.run(arguments, seconds)
        shown = kept(command if isinstance(command, str) else shlex.join(arguments))
        self._observer.notify(Event("command", {"command": shown, "exit_code": result.exit_code, "stopped_by": result.stopped_by}))
        return result

    def list_files(self, folder: str = ".") -> list[str]:
        """Paths of the regular files below a folder of the workspace, sorted, relative to the workspace."""
        root = self._inside(folder)
        return sorted(str(path.relative_to(self.workspace)) for path in root.rglob("*") if path.is_file() and not path.is_symlink())

    def read_text(self, path: str) -> str:
        """The text of a regular file of the workspace (UTF-8, undecodable bytes replaced). Raises OSError for anything else."""
        with _opened(self._inside(path), os.O_RDONLY) as file:
            return file.read().decode("utf-8", "replace")

    def write_text(self, path: str, text: str) -> None:
        """Write a regular file of the workspace, making its folders. Raises OSError where that cannot be done."""
        self._commands.check_open()
        target = self._inside(path)
        made = [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        with _opened(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        self._sandbox.give(made[-1] if made else target)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one place where `old` stands in a file. Raises ValueError when it stands nowhere or more than once."""
        text = self.read_text(path)
        if (count := text.count(old)) != 1:
            raise ValueError(f"{path}: the text to replace stands there {count} times; exactly once is expected")
        self.write_text(path, text.replace(old, new))

    def _inside(self, path: str) -> Path:
        target = (self.workspace / path).resolve()
        if not target.is_relative_to(self.workspace.resolve()):
            raise OutsideWorkspace(f"{path!r} leads out of the workspace")
        return target

    # --- limits ---

    def status(self) -> StatusCard:
        """The customer's calendar and what is left of the limits; raises LimitReached when one is used up."""
        return self._channel.request("GET", "/status", StatusCard)

    def record_usage(self, *, turns: int = 0, input_tokens: int = 0, output_tokens: int = 0, usd: float | None = None) -> StatusCard:
        """Report model usage since the last report, so that limits hold and costs are known. Leave `usd` out when it is unknown."""
        report = UsageReport(turns=turns, input_tokens=input_tokens, output_tokens=output_tokens, usd=usd)
        return self._channel.request("POST", "/usage", StatusCard, report)


def _opened(path: Path, flags: int) -> io.FileIO:
    """Open a regular file and nothing else: no link at its name, and a pipe or a device that waits for somebody is refused at once."""
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return io.FileIO(handle, "r" if flags == os.O_RDONLY else "w")
