"""Runs an agent that is a shell command: in the workspace, in a sandbox that shows it the user's machine without what holds truth."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from pytest_fdegym.agents import relay
from pytest_fdegym.agents.command_environment import environment, redacted
from pytest_fdegym.agents.commands import LONGEST_SECONDS
from pytest_fdegym.agents.placeholders import VARIABLES, filled
from pytest_fdegym.agents.session import LIMIT_REASONS, Ending, Session
from pytest_fdegym.errors import LimitReached, SandboxFault
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.sandbox.base import Bounds, Layout
from pytest_fdegym.sandbox.host_view import user_home, user_path

SHOWN_OUTPUT = 4000
"""Characters of a failed command's last output that the record keeps."""
OUTPUT_BYTES = 1 << 20
"""Of each stream, its end: an agent may say as much as it likes."""
PYTHON = "/run/python/bin/python3"
"""The harness's own, in the sandbox."""
PORT = 8377
"""Where the relay listens, on the loopback that the sandbox has for itself."""
BOUNDS = Bounds(memory_bytes=1 << 46, resident_bytes=8 << 30, processes=2048, file_bytes=4 << 30, open_files=8192, keep_end_of_output=True)
"""Programs of the user's own: runtimes reserve far more address space than they use, and start a thread for each processor and more."""


@dataclass(frozen=True)
class _Start:
    arguments: Sequence[str]
    layout: Layout


class CommandAgent:
    """A Deliverer around ``sh -c COMMAND``. The task is in TASK.md and on standard input; people are reached by bin/ask."""

    def __init__(self, identity: AgentIdentity, command: str, variables: Sequence[str] = ()) -> None:
        """`variables` are names of the environment's that the command gets too."""
        self.identity = identity
        self._command = command
        self._variables = tuple(variables)

    def deliver(self, session: Session) -> Ending:
        """See session.Deliverer."""
        seconds = LONGEST_SECONDS if session.tracker.minutes_left is None else max(60 * session.tracker.minutes_left, 0.01)
        with contextlib.ExitStack() as open_ways:
            start = self._start(session, open_ways)
            try:
                result = session.commands.run(
                    start.arguments, seconds, output_bytes=OUTPUT_BYTES, stdin=session.brief.encode(), layout=start.layout, bounds=BOUNDS
                )
            except LimitReached as limit:  # before it had begun
                return Ending(LIMIT_REASONS[limit.reason])
        output = redacted(result.stdout + result.stderr, os.environ, self._variables)[-SHOWN_OUTPUT:]
        session.observer.notify(
            Event("command", {"command": self._command, "exit_code": result.exit_code, "stopped_by": result.stopped_by, "output": output})
        )
        if (reached := session.tracker.reached) is not None:
            return Ending(LIMIT_REASONS[reached], output or None)
        if result.stopped_by == "wall":
            return Ending("limit_minutes", output or None)
        if result.stopped_by is not None:
            return Ending("agent_exit", f"the agent's command was stopped: too much {result.stopped_by}\n{output}")
        if result.exit_code != 0:
            return Ending("agent_exit", f"the agent's command ended with exit code {result.exit_code}\n{output}".rstrip())
        return Ending("handover")

    def _start(self, session: Session, open_ways: contextlib.ExitStack) -> _Start:
        shell = ["sh", "-c", filled(self._command)]
        workspace, around, strict = session.workspace, session.surroundings, session.commands.layout
        variables = {
            **strict.environment,
            **environment(os.environ, self._variables, network=around.network == "host"),
            VARIABLES["workspace"]: str(workspace),
            VARIABLES["task_file"]: str(workspace / "TASK.md"),
            VARIABLES["task"]: session.brief,
        }
        if session.sandbox.way_out == "nowhere":
            return _Start(shell, replace(strict, environment=variables, programs=[workspace / "bin"]))
        home = _home(session)
        layout = replace(
            strict,
            writable=[*strict.writable, home],
            readable=[*strict.readable, *(_kept(around.kept, home) if home == _own_home() else ())],
            programs=[workspace / "bin", *user_path(os.environ)],
            system="host",
            hidden=around.hidden,
            network=around.network,
        )
        variables["HOME"] = str(home)
        if session.account is None:
            return _Start(shell, replace(layout, environment=variables))
        if session.sandbox.way_out == "socket" and around.network == "none":
            assert strict.sockets is not None
            socket = open_ways.enter_context(session.account.socket_in(strict.sockets))
            variables |= session.account.environment_at(f"127.0.0.1:{PORT}")
            source = Path(relay.__file__).read_text(encoding="utf-8")
            # Its text, for its file may lie where nothing is shown.
            shell = [PYTHON, "-I", "-c", source, str(PORT), str(socket), "--", *shell]
            layout = replace(layout, environment=variables)
            tried = session.sandbox.run([PYTHON, "-I", "-c", "import socket"], layout, Bounds())
            if tried.exit_code != 0:  # which the agent could do nothing about
                raise SandboxFault(f"python3 does not run in the sandbox with this machine's view: {tried.stderr.strip()}")
            return _Start(shell, layout)
        variables |= session.account.environment
        return _Start(shell, replace(layout, environment=_not_by_proxy(variables), port=_port(session.account.environment)))


def _home(session: Session) -> Path:
    """The user's own where the agent may use the network and is the user; otherwise a fresh folder, which goes away with the run."""
    if session.surroundings.network == "host" and (os.geteuid() != 0 or session.sandbox.way_out == "open"):
        return _own_home()
    home = session.workspace.with_name("home")
    home.mkdir(mode=0o700, exist_ok=True)
    session.sandbox.give(home)
    return home


def _own_home() -> Path:
    return Path(os.path.realpath(user_home()))


def _kept(named: Sequence[Path], home: Path) -> list[Path]:
    """What runs the harness and lies in a home that the agent may write: the agent must not change it."""
    folders = [*named, *map(Path, (sys.prefix, sys.base_prefix, *filter(None, sys.path)))]
    inside = {Path(os.path.realpath(folder)) for folder in folders}
    return sorted(place for place in inside if place.is_dir() and place != home and home in place.parents)


def _not_by_proxy(variables: Mapping[str, str]) -> dict[str, str]:
    """The harness's own server is on this machine, whatever proxy leads out of it."""
    spelled = [variables[name] for name in ("NO_PROXY", "no_proxy") if variables.get(name)]
    exceptions = ",".join([*spelled[:1], "127.0.0.1", "localhost"])
    return {**variables, "NO_PROXY": exceptions, "no_proxy": exceptions}


def _port(variables: Mapping[str, str]) -> int | None:
    return next((urlsplit(value).port for name, value in variables.items() if name.endswith("_BASE_URL")), None)
