"""The sandbox of bubblewrap (``bwrap``): a file system of its own, no other processes, no network, and the system-call filter."""

from __future__ import annotations

import itertools
import os
import platform
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fdegym.errors import InfrastructureFault, SandboxFault
from pytest_fdegym.sandbox import account, host_view, machine, process, seccomp
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, WayOut
from pytest_fdegym.sandbox.supervisor.tree import threads_of_this_user

_TEMPORARY_BYTES = 64 << 20
"""What fits in /tmp, and in /dev/shm, which both live in memory."""
_HOST_TEMPORARY_BYTES = 1 << 30
"""The same for each temporary folder of the host's view, where installers and compilers work."""
_PROGRAMS = Path("/run/python/bin")
_STARTS = 8
"""With the host's view, how often a start is tried: files and sockets of others come and go while the view is put together."""
_PASSWD_BYTES = 48 << 10
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
    way_out: WayOut = "socket"

    def __init__(self, program: Path, dropped: account.Account | None) -> None:
        """`program` is bwrap; `dropped` whom confined code runs as, None for the harness's own user."""
        self._program = program
        self._account = dropped
        self._interpreter = machine.interpreter()
        try:
            self._filter = seccomp.program()
            self._host_filter = seccomp.program(host_view=True)
        except LookupError as error:
            raise SandboxFault(str(error)) from error

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        """See base.Sandbox."""
        with self.start(command, layout, bounds) as running:
            return process.attend(running, bounds, stdin, end or threading.Event())

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.ConfinedProcess:
        """See base.Sandbox."""
        for left in reversed(range(_STARTS if layout.system == "host" else 1)):
            try:
                return process.start(self._job(command, layout, bounds))
            except InfrastructureFault:  # the command has not run
                if left == 0:
                    raise
        raise AssertionError

    def give(self, path: Path) -> None:
        """See base.Sandbox."""
        account.give(path, self._account)

    def _job(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.Job:
        environment = machine.environment(layout, _PROGRAMS, "/tmp")
        argv = [
            *(str(self._program), *self._namespaces(layout), "--hostname", "customer"),
            *(word for name, value in environment.items() if _for_the_linker(name) for word in ("--setenv", name, value)),
            *(self._host_file_system(layout) if layout.system == "host" else self._file_system(layout)),
            *("--chdir", "/", "--seccomp", "{fd:seccomp}", "--", *self._as_account()),
            *("/bin/sh", "-c", _SHELL, "sh", "{tell}", str(layout.workdir), str(self._processes(bounds)), *command),
        ]
        files = {**self._files(), "seccomp": self._filter} if layout.system == "strict" else self._host_files(layout)
        # Not as arguments, which every user of this machine can read while the command runs.
        inherited = {name: value for name, value in environment.items() if not _for_the_linker(name)}
        return process.Job(argv, inherited, bounds, told_by_command=True, limit_processes=False, files=files)

    def _processes(self, bounds: Bounds) -> int:
        """What to set as limit: since Linux 5.14 a namespace's processes are counted apart, before, all of the user's are."""
        release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
        return bounds.processes + (threads_of_this_user() if self._account is None and release < (5, 14) else 0)

    def _namespaces(self, layout: Layout) -> list[str]:
        words = [
            "--unshare-pid",
            *(() if layout.network == "host" else ("--unshare-net",)),
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

    def _host_file_system(self, layout: Layout) -> list[str]:
        """The machine's own, with places shown, emptied and covered.

        A harness that is root becomes the user without rights here too: what only root may read stays unread, and a home that only its
        owner may enter is made anew of what is in it.
        """
        view = host_view.places(
            layout,
            home=host_view.user_home(),
            path=host_view.user_path(os.environ),
            interpreter=self._interpreter.folders,
            mounts=host_view.mount_table(),
            sockets=host_view.listening_sockets(),
            closed=lambda folder: not account.may_pass(folder, self._account),
        )
        for grant in machine.grants(layout):
            account.require_open(grant.path, self._account, write=grant.writable, sockets=grant.path == layout.sockets)
        size = ["--perms", "1777", "--size", str(_HOST_TEMPORARY_BYTES), "--tmpfs"]
        shared_memory = ["--perms", "1777", "--size", str(_TEMPORARY_BYTES), "--tmpfs", "/dev/shm"]
        words = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", *shared_memory, "--remount-ro", "/dev"]
        if Path("/dev/mqueue").is_dir():
            words += ["--tmpfs", "/dev/mqueue", "--remount-ro", "/dev/mqueue"]
        for name in () if self._account is None else ("passwd", "group"):
            words += ["--perms", "0644", "--ro-bind-data", f"{{fd:{name}}}", f"/etc/{name}"]
        emptied, seen = list[Path](), dict[Path, host_view.Kind]()
        for place in (*view, host_view.Place(_PROGRAMS, "made")):
            path = str(place.path)
            words += _ways(place.path, seen)
            seen[place.path] = place.kind
            if place.kind == "scratch":
                words += [*size, path]
            elif place.kind == "empty":
                words += ["--perms", "0755", "--tmpfs", path]
                emptied.append(place.path)
            elif place.kind == "cover":
                words += ["--ro-bind", "/dev/null", path]
            elif place.kind == "link":
                words += ["--symlink", os.readlink(path), path]
            elif place.kind == "made":
                words += ["--perms", "0755", "--dir", path]
            else:
                words += ["--bind" if place.kind == "write" else "--ro-bind-try", path, path]
        for name in ("python3", "python"):
            words += ["--symlink", str(self._interpreter.program), str(_PROGRAMS / name)]
        return [*words, *(word for folder in emptied for word in ("--remount-ro", str(folder)))]

    def _host_files(self, layout: Layout) -> dict[str, bytes]:
        files = {"seccomp": self._host_filter}
        if self._account is not None:
            uid, home = self._account.uid, layout.environment.get("HOME", "/tmp")
            entries = {"passwd": f"customer:x:{uid}:{uid}:customer:{home}:/bin/sh\n", "group": f"customer:x:{uid}:\n"}
            files |= {name: _with_line(Path("/etc", name), line) for name, line in entries.items()}
        return files

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


def _for_the_linker(name: str) -> bool:
    """Whether a variable would change bwrap itself before it confines anything."""
    return name.startswith(("LD_", "GLIBC_"))


def _ways(path: Path, seen: Mapping[Path, host_view.Kind]) -> list[str]:
    """Make the folders that lead to a mount in what was emptied: passable for everybody, which they are not of themselves."""
    missing = list(itertools.takewhile(lambda folder: folder not in seen, path.parents))
    around = path.parents[len(missing)] if len(missing) < len(path.parents) else None
    if around is None or seen[around] not in ("scratch", "empty"):
        return []
    return [word for folder in reversed(missing) for word in ("--perms", "0755", "--dir", str(folder))]


def _with_line(path: Path, line: str) -> bytes:
    """A table of the machine's with a line more; of a very long one the beginning."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError:
        lines = []
    kept = line.encode()
    for each in lines:
        if len(kept) + len(each) > _PASSWD_BYTES:
            break
        kept += each
    return kept


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
