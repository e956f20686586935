"""The sandbox of macOS: a profile for ``sandbox-exec``, with the supervisor's bounds around it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.sandbox import account, machine, process
from pytest_fdegym.sandbox.bare_python import BarePython, temporary_folder
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout
from pytest_fdegym.scratch import remove_tree

PROGRAM = Path("/usr/bin/sandbox-exec")
_SHELL = 'printf ok >&$1; eval "exec $1>&-"; shift; exec "$@"'
_READABLE = (
    *("/usr/lib", "/usr/bin", "/usr/share", "/bin", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/System/Cryptexes"),
    *("/Library/Apple", "/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/localtime"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/fd", "/dev/dtracehelper")


class SandboxExec:
    """Sandbox of macOS. Paths reach the profile as parameters, so that no name can become part of it."""

    name = "sandbox-exec"

    def __init__(self, dropped: account.Account | None) -> None:
        """`dropped` is whom confined code runs as, None for the harness's own user. Raises InfrastructureFault without the program."""
        if not PROGRAM.exists():
            raise InfrastructureFault(f"there is no {PROGRAM}; it is part of macOS")
        self._account = dropped
        self._python = BarePython(dropped)

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        """See base.Sandbox."""
        return process.run(self._job(command, layout, bounds), stdin=stdin, end=end)

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.ConfinedProcess:
        """See base.Sandbox."""
        return process.start(self._job(command, layout, bounds))

    def give(self, path: Path) -> None:
        """See base.Sandbox."""
        account.give(path, self._account)

    def _job(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.Job:
        temporary = temporary_folder("fdegym-tmp-", self._account)
        account.give(temporary, self._account)
        text, parameters = profile(layout, self._python.folders, temporary)
        definitions = [word for name, value in parameters.items() for word in ("-D", f"{name}={value}")]
        return process.Job(
            argv=[str(PROGRAM), *definitions, "-p", text, "/bin/sh", "-c", _SHELL, "sh", "{tell}", *command],
            environment=machine.environment(layout, self._python.programs, str(temporary), self._python.environment),
            bounds=bounds,
            cwd=str(layout.workdir),
            told_by_command=True,
            uid=self._account.uid if self._account else None,
            limit_processes=self._account is not None,
            cleanup=partial(remove_tree, temporary),
        )


def profile(layout: Layout, interpreter: Sequence[Path], temporary: Path) -> tuple[str, dict[str, str]]:
    """Return the profile in the sandbox profile language, and the parameters it names. The last rule that matches an operation decides."""
    parameters: dict[str, str] = {}

    def named(path: Path) -> str:
        name = f"P{len(parameters)}"
        parameters[name] = os.path.realpath(path)  # the kernel compares resolved paths: /tmp is /private/tmp
        return f'(subpath (param "{name}"))'

    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow file-read-metadata)",
        '(allow file-read-data (literal "/"))',
        f"(allow file-read* {' '.join(named(path) for path in (*map(Path, _READABLE), *interpreter))})",
        '(deny file-read-data (regex #"/(site|dist)-packages(/|$)"))',
        f"(allow file-read* file-write-data file-ioctl {' '.join(named(Path(path)) for path in _DEVICES)})",
        f"(allow file-read* file-write* {named(temporary)})",
    ]
    for grant in machine.grants(layout):
        lines.append(f"(allow file-read* {'file-write* ' if grant.writable else ''}{named(grant.path)})")
        if not grant.writable:
            lines.append(f"(deny file-write* {named(grant.path)})")
    lines.append("(deny network*)")
    if layout.sockets is not None:
        lines.append(f"(allow network-outbound (remote unix-socket {named(layout.sockets)}))")
    lines.append("(allow system-socket (socket-domain 1))")  # AF_UNIX
    return "\n".join(lines), parameters
