"""The sandbox of macOS: a profile for ``sandbox-exec``, with the supervisor's bounds around it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox import account, host_view, machine, process
from pytest_fdegym.sandbox.bare_python import BarePython, temporary_folder
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, WayOut
from pytest_fdegym.scratch import remove_tree

PROGRAM = Path("/usr/bin/sandbox-exec")
_SHELL = 'printf ok >&$1; eval "exec $1>&-"; shift; exec "$@"'
_READABLE = (
    *("/usr/lib", "/usr/bin", "/usr/share", "/bin", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/System/Cryptexes"),
    *("/Library/Apple", "/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/localtime"),
)
_NETWORK_SERVICES = ("com.apple.dnssd.service", "com.apple.trustd", "com.apple.SystemConfiguration.configd")
"""Names, certificates and the state of the network: what a client asks before it connects."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/fd", "/dev/dtracehelper")


class SandboxExec:
    """Sandbox of macOS. Paths reach the profile as parameters, so that no name can become part of it."""

    name = "sandbox-exec"
    way_out: WayOut = "port"

    def __init__(self, dropped: account.Account | None) -> None:
        """`dropped` is whom confined code runs as, None for the harness's own user. Raises InfrastructureFault without the program."""
        if not PROGRAM.exists():
            raise SandboxFault(f"there is no {PROGRAM}; it is part of macOS")
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
    if layout.system == "host":
        lines += _host_rules(layout, interpreter, temporary, named)
    for grant in () if layout.system == "host" else machine.grants(layout):
        lines.append(f"(allow file-read* {'file-write* ' if grant.writable else ''}{named(grant.path)})")
        if not grant.writable:
            lines.append(f"(deny file-write* {named(grant.path)})")
    lines.append("(deny network*)" if layout.network == "none" else "(allow network*)")
    if layout.port is not None and layout.network == "none":
        lines += [f'(allow network-outbound (remote ip "localhost:{layout.port}"))', "(allow system-socket (socket-domain 2))"]  # AF_INET
    if layout.sockets is not None:
        lines.append(f"(allow network-outbound (remote unix-socket {named(layout.sockets)}))")
    lines.append("(allow system-socket (socket-domain 1))")  # AF_UNIX
    if layout.network == "host":
        services = [f'(global-name "{name}")' for name in _NETWORK_SERVICES]
        lines += ["(allow system-socket)", f"(allow mach-lookup {' '.join(services)})"]
    return "\n".join(lines), parameters


def _host_rules(layout: Layout, interpreter: Sequence[Path], temporary: Path, named: Callable[[Path], str]) -> list[str]:
    """The machine as its user sees it, as rules in the order in which places lie in each other. There are no namespaces here, so that
    nothing is private but `temporary`, and Unix sockets are refused by the rules on the network."""
    view = host_view.places(layout, home=host_view.user_home(), path=host_view.user_path(os.environ), interpreter=interpreter)
    lines = ["(allow file-read*)"]
    for place in view:
        if place.kind in ("scratch", "empty", "cover"):
            lines.append(f"(deny file-read* file-write* {named(place.path)})")
        elif place.kind == "show":
            lines += [f"(allow file-read* {named(place.path)})", f"(deny file-write* {named(place.path)})"]
        elif place.kind == "write":
            lines.append(f"(allow file-read* file-write* {named(place.path)})")
    return [*lines, f"(allow file-read* file-write* {named(temporary)})", "(allow file-read-metadata)"]
