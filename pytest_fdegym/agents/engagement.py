"""What an agent in Python holds of an engagement: the brief, the workspace, the people and some tools."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.agents.files import OutsideWorkspace, WorkspaceFiles
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
from pytest_fdegym.observer import Event, Observer
from pytest_fdegym.sandbox.base import CommandResult, Sandbox
from pytest_fdegym.text import kept

__all__ = ["Engagement", "OutsideWorkspace"]


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
        self._socket = socket
        self._channel = ChannelClient(socket)
        self._files = WorkspaceFiles(workspace, sandbox.give, self._led_out)
        self._commands = commands
        self._observer = observer

    def _led_out(self, path: str) -> None:
        self._observer.notify(Event("refused", {"what": "outside", "text": kept(path, 300)}))

    def hang_up(self) -> None:
        """For the harness: whoever waits for an answer of the customer's waits no longer."""
        self._channel.hang_up()

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
        return self._files.list_files(folder)

    def list_folder(self, folder: str = ".") -> list[str]:
        """Names in one folder of the workspace, sorted, those of folders with a slash at the end. Raises OSError if it is none."""
        return self._files.list_folder(folder)

    def read_text(self, path: str, *, most_bytes: int | None = None) -> str:
        """The text of a regular file of the workspace (UTF-8, undecodable bytes replaced).

        Raises OSError for anything else, and for a file that has more than `most_bytes`.
        """
        return self._files.read_text(path, most_bytes=most_bytes)

    def write_text(self, path: str, text: str) -> None:
        """Write a regular file of the workspace, making its folders. Raises OSError where that cannot be done."""
        self._commands.check_open()
        self._files.write_text(path, text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one place where `old` stands in a file. Raises ValueError when it stands nowhere or more than once."""
        self._commands.check_open()
        self._files.edit(path, old, new)

    # --- for agents that are MCP clients ---

    def mcp_command(self, *, files: bool = False) -> list[str]:
        """The command line of an MCP server on standard input and output that serves this engagement: ``people``, ``ask``, ``inbox``,
        ``wait``, ``trial``, ``log`` and ``status``; with `files` also ``list_files``, ``read_file``, ``write_file`` and ``edit_file`` in
        the workspace, for agents that have no other way to change the system.

        Start it as a child process outside of the sandbox, with any environment and in any folder; needs ``pip install
        "pytest-fdegym[mcp]"``. It reaches nothing but the customer's socket and the workspace, and refuses when the engagement is over.
        """
        # -P: it may be started in the workspace, where no module is to be found that the agent wrote.
        command = [sys.executable, "-P", "-m", "pytest_fdegym.cli", "mcp", "--socket", str(self._socket)]
        return [*command, "--files", str(self.workspace)] if files else command

    # --- limits ---

    def status(self) -> StatusCard:
        """The customer's calendar and what is left of the limits; raises LimitReached when one is used up."""
        return self._channel.request("GET", "/status", StatusCard)

    def record_usage(self, *, turns: int = 0, input_tokens: int = 0, output_tokens: int = 0, usd: float | None = None) -> StatusCard:
        """Report model usage since the last report, so that limits hold and costs are known. Leave `usd` out when it is unknown."""
        report = UsageReport(turns=turns, input_tokens=input_tokens, output_tokens=output_tokens, usd=usd)
        return self._channel.request("POST", "/usage", StatusCard, report)
