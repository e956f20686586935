"""The process tree of a confined command: who belongs to it, what it uses, and its end."""

from __future__ import annotations

import os
import resource
import select
import sys

_SIGKILL = 9
_SIGSTOP = 19 if sys.platform == "linux" else 17
_PAGE = resource.getpagesize()
_LINUX = sys.platform == "linux"


class Tree:
    """All descendants of this process: the command, what it started, and the orphans that came back to this subreaper."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.status: int | None = None
        self._childless = False
        self._seen: set[int] = {first}
        """Where no subreaper exists: a process once seen in the tree still belongs to it after its parent has gone."""

    def reap(self) -> None:
        try:
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                if process == self.first:
                    self.status = status
        except ChildProcessError:
            self._childless = True

    def wait_for_first(self) -> None:
        if self.status is None:
            _, self.status = os.waitpid(self.first, 0)

    def end(self) -> None:
        """Kill and reap until nothing is left.

        All are stopped first: what forks faster than it can be killed runs into its limit on processes, for the stopped ones still count.
        """
        self.reap()
        pause = select.poll()
        stopped: set[int] = set()
        while not self._childless or not _LINUX:
            alive = {process for process, _ in self._descendants()}
            if not alive and self._childless:
                return
            if alive <= stopped:
                _signal(alive, _SIGKILL)
                stopped = set()
                pause.poll(1)
                self.reap()
            else:
                _signal(alive - stopped, _SIGSTOP)
                stopped |= alive

    def resident_bytes(self, shared_once: bool = False) -> int:
        """Resident memory of the tree; pages that several processes share count for each, or once."""
        return sum(
            _proportional_bytes(process) or pages * _PAGE if shared_once else pages * _PAGE for process, pages in self._descendants()
        )

    def _descendants(self) -> list[tuple[int, int]]:
        """Process ids and resident pages."""
        children: dict[int, list[tuple[int, int]]] = {}
        for process, parent, pages in _processes():
            children.setdefault(parent, []).append((process, pages))
            if not _LINUX and process in self._seen and parent == 1:
                children.setdefault(os.getpid(), []).append((process, pages))
        found: list[tuple[int, int]] = []
        pending = [os.getpid()]
        while pending:
            for process, pages in children.get(pending.pop(), ()):
                found.append((process, pages))
                pending.append(process)
        self._seen.update(process for process, _ in found)
        return found


def _signal(processes: set[int], number: int) -> None:
    for process in processes:
        try:  # noqa: SIM105 - contextlib takes long to import
            os.kill(process, number)
        except OSError:
            pass  # gone meanwhile


def _processes() -> list[tuple[int, int, int]]:
    """(process, parent, resident pages) of everything that runs."""
    if not _LINUX:
        return _processes_from_ps()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            found.append((int(name), int(fields[1]), int(fields[21])))
    return found


def _processes_from_ps() -> list[tuple[int, int, int]]:
    reader, writer = os.pipe()
    lister = os.fork()
    if lister == 0:
        os.dup2(writer, 1)
        os.execv("/bin/ps", ["ps", "-axo", "pid=,ppid=,rss="])
    os.close(writer)
    with open(reader, "rb") as file:
        rows = [line.split() for line in file]
    os.waitpid(lister, 0)
    return [(int(row[0]), int(row[1]), int(row[2]) * 1024 // _PAGE) for row in rows if len(row) == 3 and int(row[0]) != lister]


def _proportional_bytes(process: int) -> int:
    """The process's share of what it has resident (shared pages divided among those that share them), 0 if it cannot be had."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # gone, or a kernel that does not tell
    return 0


def threads_of_this_user() -> int:
    """Where the limit on processes counts all that a user runs, this is what must be added to it."""
    me, threads = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == me:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        threads += int(file.read().rpartition(b")")[2].split()[17])
            except OSError:
                continue
    return threads
