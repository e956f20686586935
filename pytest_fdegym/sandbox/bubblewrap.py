"""The sandbox of bubblewrap (``bwrap``): a file system of its own, no other processes, no network, and the system-call filter."""

from __future__ import annotations

import os
import platform
import re
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.sandbox import account, machine, process, seccomp
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout
from pytest_fdegym.sandbox.supervisor.tree import threads_of_this_user

_TEMPORARY_BYTES = 64 << 20
"""What fits in /tmp, and in /dev/shm, which both live in memory."""
_PROGRAMS = Path("/run/python/bin")
_SHELL = """\
cd -- "$2" && printf ok >&$1 || exit
unset OLDPWD PWD
eval "exec $1>&-"
ulimit -u $3 2>/dev/null || ulimit -p $3
shift 3
exec "$@"
"""
"""Run inside just before the command. Here, because limits on processes are counted by user namespace, and because only here is
it known that the sandbox stands: what fails before is the sandbox's fault, what fails later the command's."""


class Bubblewrap:
    """Sandbox over one ``bwrap`` program, version 0.8 or later.

    As root it sets the mounts up with root's own rights (so that nothing need be readable for others) and becomes another user
    inside; as an ordinary user it does so in a user namespace, inside which no further ones can be made.
    """

    name = "bubblewrap"

    def __init__(self, program: Path, dropped: account.Account | None) -> None:
        """`program` is bwrap; `dropped` whom confined code runs as, None for the harness's own user."""
        self._program = program
        self._account = dropped
        self._interpreter = machine.interpreter()
        try:
            self._filter = seccomp.program()
        except LookupError as error:
            raise InfrastructureFault(str(error)) from error

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
        environment = machine.environment(layout, _PROGRAMS, "/tmp")
        argv = [
            *(str(self._program), *self._namespaces(), "--clearenv", "--hostname", "customer"),
            *(word for name, value in environment.items() for word in ("--setenv", name, value)),
            *self._file_system(layout),
            *("--chdir", "/", "--seccomp", "{fd:seccomp}", "--", *self._as_account()),
            *("/bin/sh", "-c", _SHELL, "sh", "{tell}", str(layout.workdir), str(self._processes(bounds)), *command),
        ]
        files = {**self._files(), "seccomp": self._filter}
        return process.Job(argv, {"PATH": "/usr/bin:/bin"}, bounds, told_by_command=True, limit_processes=False, files=files)

    def _processes(self, bounds: Bounds) -> int:
        """What to set as limit: since Linux 5.14 a namespace's processes are counted apart, before, all of the user's are."""
        release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
        return bounds.processes + (threads_of_this_user() if self._account is None and release < (5, 14) else 0)

    def _namespaces(self) -> list[str]:
        words = [
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent",
            "--new-session",
        ]
        if self._account is None:
            return [*words, "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
        return [*words, "--cap-drop", "ALL", *(word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}"))]

    def _as_account(self) -> list[str]:
        if self._account is None:
            return []
        uid = str(self._account.uid)
        return [
            "/usr/bin/setpriv",
            "--reuid",
            uid,
            "--regid",
            uid,
            "--clear-groups",
            "--inh-caps=-all",
            "--ambient-caps=-all",
            "--bounding-set=-all",
        ]

    def _file_system(self, layout: Layout) -> list[str]:
        size = ["--perms", "1777", "--size", str(_TEMPORARY_BYTES)]
        view = _View()
        view.mount([*size, "--tmpfs", "/tmp"], Path("/tmp"))  # before all else, for much of what follows may lie in it
        view.system()
        for name in ("passwd", "group", "hosts", "nsswitch.conf"):
            view.mount(["--perms", "0644", "--file", f"{{fd:{name}}}", f"/etc/{name}"], Path("/etc", name))
        view.mount(["--proc", "/proc"], Path("/proc"))
        view.mount(["--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"], Path("/dev"))
        for folder in self._interpreter.folders:
            view.bind(folder, writable=False)
        for folder in machine.package_folders((*machine.SYSTEM, *self._interpreter.folders)):
            view.mount(["--tmpfs", str(folder), "--remount-ro", str(folder)], folder)
        for name in ("python3", "python"):
            view.mount(["--symlink", str(self._interpreter.program), str(_PROGRAMS / name)], _PROGRAMS / name)
        for grant in machine.grants(layout):
            account.require_open(grant.path, self._account, write=grant.writable, sockets=grant.path == layout.sockets)
            view.bind(grant.path, writable=grant.writable)
        return [*view.words, "--remount-ro", "/"]

    def _files(self) -> dict[str, bytes]:
        uid = os.geteuid() if self._account is None else self._account.uid
        gid = os.getegid() if self._account is None else self._account.uid
        passwd = f"customer:x:{uid}:{gid}:customer:/tmp:/bin/sh\n"
        group = f"customer:x:{gid}:\n"
        return {
            "passwd": passwd.encode(),
            "group": group.encode(),
            "hosts": b"127.0.0.1 localhost customer\n",
            "nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
        }


class _View:
    """The file system inside, as bwrap's arguments; folders on the way to a mount are made passable for everybody."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._mounted: list[Path] = []
        self._made = {Path("/")}

    def mount(self, words: Sequence[str], place: Path) -> None:
        for folder in reversed(place.parents):
            if folder not in self._made and not any(
                mounted == folder or mounted in folder.parents for mounted in self._mounted if mounted != Path("/tmp")
            ):
                self.words += ["--perms", "0755", "--dir", str(folder)]
                self._made.add(folder)
        self.words += words
        self._mounted.append(place)
        self._made.add(place)

    def bind(self, path: Path, *, writable: bool) -> None:
        self.mount(["--bind" if writable else "--ro-bind", str(path), str(path)], path)

    def system(self) -> None:
        for folder in machine.SYSTEM:
            if folder.is_symlink():
                self.mount(["--symlink", str(folder.readlink()), str(folder)], folder)
            elif folder.is_dir():
                self.bind(folder, writable=False)
        for path in machine.SETTINGS:
            if path.exists():
                self.bind(path, writable=False)
