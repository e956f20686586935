"""Whether the harness is as it was: its processes, files, sockets, mounts, caches, and its own Python."""

from __future__ import annotations

import atexit
import builtins
import ctypes
import gc
import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path

from tests.redteam.project import Project

_CAP_SYS_ADMIN = 21
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
_FUNCTIONS = {
    "builtins": (builtins, ("open", "sum", "len", "isinstance", "print", "__import__", "sorted", "max", "min")),
    "json": (json, ("loads", "dumps", "load", "dump", "JSONDecoder", "JSONEncoder")),
    "sqlite3": (sqlite3, ("connect", "Connection")),
    "os": (os, ("write", "read", "open", "getpid", "fork")),
    "time": (time, ("time", "monotonic")),
    "random": (random, ("Random", "random")),
    "tempfile": (tempfile, ("mkdtemp",)),
}


@contextmanager
def orphans_become_ours() -> Iterator[None]:
    """Whatever a run leaves behind becomes a child of this process, so that it is found."""
    libc, before = ctypes.CDLL(None), ctypes.c_int()
    libc.prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(_SET_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_SUBREAPER, before.value, 0, 0, 0)


def is_whole_root() -> bool:
    """Whether this is root with the right to change the machine (CAP_SYS_ADMIN), which root in a container has not."""
    rights = next((line.split()[1] for line in _lines("/proc/self/status") if line.startswith("CapEff:")), "0")
    return os.geteuid() == 0 and bool(int(rights, 16) >> _CAP_SYS_ADMIN & 1)


@dataclass(frozen=True)
class State:
    """What must be the same before and after a run, each as a set of texts."""

    processes: frozenset[str]
    threads: frozenset[str]
    files: frozenset[str]
    temporary: frozenset[str]
    shared: frozenset[str]
    mounts: frozenset[str]
    sockets: frozenset[str]
    descriptors: frozenset[str]
    python: frozenset[str]

    @staticmethod
    def of(project: Project) -> State:
        """As it is now."""
        return State(
            processes=_processes(project),
            threads=frozenset(f"the thread {each.name}" for each in threading.enumerate()),
            files=_files(project),
            temporary=frozenset(f"{path} in the harness's temporary folder" for path in os.listdir(project.temporary)),
            shared=frozenset(f"{path} on the machine" for path in left_on_machine(project.token)),
            mounts=frozenset(line.split()[4] for line in _lines("/proc/self/mountinfo") if str(project.root) in line),
            sockets=frozenset(f"the socket {line.split()[-1]}" for line in _lines("/proc/net/unix") if str(project.root) in line),
            descriptors=_descriptors(),
            python=_python(),
        )

    def changed(self, later: State) -> list[str]:
        """How `later` differs, as short sentences."""
        found = []
        for each in fields(self):
            was, is_ = getattr(self, each.name), getattr(later, each.name)
            found += [f"{each.name}: {text} is new" for text in sorted(is_ - was)] + [
                f"{each.name}: {text} is gone" for text in sorted(was - is_)
            ]
        return found[:8]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _processes(project: Project) -> frozenset[str]:
    """What runs that began here: what descends from this process (what loses its parent becomes ours, see `orphans_become_ours`), has the
    project's token in its command line, or works in the project. Not by user, and not by the project's folder in a command line: other
    harnesses on this machine have processes, too, and name whatever there is to cover when they give an agent a view of the machine.
    """
    table = dict(_process_table())
    found = set()
    for number, (parent, command, folder) in table.items():
        ancestors, above = set[int](), parent
        while above in table and above not in ancestors:
            ancestors.add(above)
            above = table[above][0]
        inside = folder is not None and Path(folder).is_relative_to(project.root)
        if number != os.getpid() and (os.getpid() in ancestors or project.token in command or inside):
            found.add(f"process {command[:80]}")
    return frozenset(found)


def _process_table() -> Iterator[tuple[int, tuple[int, str, str | None]]]:
    """Parent, command line and working directory (None where it cannot be seen) of each process that there is."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            command = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            status = dict(line.split(":", 1) for line in _lines(f"/proc/{name}/status") if ":" in line)
            parent = int(status["PPid"])
        except (OSError, KeyError, ValueError):
            continue
        folder = None
        with suppress(OSError):
            folder = os.readlink(f"/proc/{name}/cwd")
        yield int(name), (parent, command or status["Name"].strip(), folder)


def _files(project: Project) -> frozenset[str]:
    """Content of all that is planted, and of what the harness keeps; new records are what runs are for."""
    found = set()
    for place in (project.folder, project.home, project.cache, project.temporary / "fdeother", project.root / "etc", *_prepared(project)):
        for folder, folders, names in os.walk(place):
            folders[:] = [name for name in folders if name != "__pycache__"]
            if Path(folder).name.startswith("redteam-"):
                continue  # records of the attacks themselves
            for name in names:
                path = Path(folder, name)
                if path == project.results / ".gitignore":
                    continue  # comes with the first record
                if path.is_file() and not path.is_symlink():
                    digest = hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()
                    found.add(f"{path.relative_to(project.root)} ({digest})")
    return frozenset(found)


def _prepared(project: Project) -> list[Path]:
    return list(project.temporary.glob("fdeprep*"))


def left_on_machine(token: str) -> list[str]:
    """Things left in places that outlive a run, with the token that every attack writes into its names."""
    found = []
    programs = os.path.dirname(os.path.realpath(sys.executable))
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/etc/cron.d", "/etc/ld.so.conf.d", os.path.dirname(os.__file__), programs):
        if os.path.isdir(place):
            found += [os.path.join(place, name) for name in os.listdir(place) if token in name]
    return found


def _descriptors() -> frozenset[str]:
    gc.collect()  # what only waits to be collected is no leak
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"descriptor {name}: {os.readlink(f'/proc/self/fd/{name}').split(':')[0]}")
        except OSError:
            continue
    return frozenset(found)


def _python() -> frozenset[str]:
    names = {f"{module}.{name} is {id(getattr(where, name)):x}" for module, (where, all_) in _FUNCTIONS.items() for name in all_}
    names |= {f"the signal handler of {number.name} is {signal.getsignal(number)!r:.60}" for number in (signal.SIGTERM, signal.SIGALRM)}
    names |= {f"the environment has {name}" for name in os.environ if name != "PYTEST_CURRENT_TEST"}
    names.add(f"the working directory is {os.getcwd()}")
    names.add(f"sys.path is {hash(tuple(sys.path)):x}")
    names.add(f"{atexit._ncallbacks()} functions are called at exit")
    names.add(f"the limit of recursion is {sys.getrecursionlimit()}")
    return frozenset(names)
