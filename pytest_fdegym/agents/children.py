"""The processes that an agent started in this process while it worked, to be ended with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_VARIABLE = "FDEGYM_ENGAGEMENT"
"""Inherited by whatever the agent starts: so that what detached itself from its parent is found, too (on Linux)."""
_END_SECONDS = 0.5
_TICK = 0.02


@dataclass(frozen=True)
class _Process:
    parent: int
    started: str
    dead: bool


class Children:
    """Knows which processes existed before the agent began: those, and what they start, are not the agent's."""

    def __init__(self) -> None:
        self._cookie = f"{_VARIABLE}={uuid.uuid4().hex}"
        self._before = _identities(_table())

    @contextmanager
    def marked(self) -> Iterator[None]:
        """What is started in here is recognised, whoever its parent is."""
        before = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = self._cookie.partition("=")[2]
        try:
            yield
        finally:
            if before is None:
                os.environ.pop(_VARIABLE, None)
            else:
                os.environ[_VARIABLE] = before

    def kill(self) -> None:
        """Kill what the agent started, and what those started, and reap it; gives up on what does not die within half a second."""
        deadline = time.monotonic() + _END_SECONDS
        while found := self._found():
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                break
            time.sleep(_TICK)
        self._reap()

    def _found(self) -> list[int]:
        table = _table()
        mine = [pid for pid in _descendants(table, os.getpid(), self._before) if not table[pid].dead]
        marked = [pid for pid, process in table.items() if not process.dead and pid not in mine and self._is_marked(pid)]
        return mine + marked

    def _is_marked(self, pid: int) -> bool:
        if pid == os.getpid():
            return False
        try:
            return self._cookie.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:  # gone, or somebody else's, or there is no /proc
            return False

    def _reap(self) -> None:
        """What nobody waited for; a Popen object that is asked later copes with it."""
        table = _table()
        for pid, process in table.items():
            if process.parent == os.getpid() and process.dead and (pid, process.started) not in self._before:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def _identities(table: Mapping[int, _Process]) -> frozenset[tuple[int, str]]:
    return frozenset((pid, process.started) for pid, process in table.items())


def _descendants(table: Mapping[int, _Process], root: int, without: frozenset[tuple[int, str]]) -> list[int]:
    """What descends from `root`, without those of `without` and what descends from them."""
    found, level = [], [root]
    while level:
        level = [pid for pid, each in table.items() if each.parent in level and (pid, each.started) not in without]
        found += level
    return found


def _table() -> dict[int, _Process]:
    """Every process of the machine that can be seen."""
    if not Path("/proc/self/stat").exists():
        return _asked_of_ps()
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = Path(f"/proc/{name}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        table[int(name)] = _Process(int(fields[1]), fields[19], fields[0] in "ZX")
    return table


def _asked_of_ps() -> dict[int, _Process]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="], capture_output=True, text=True, check=False).stdout
    table = {}
    for line in listed.splitlines():
        pid, parent, state, started = line.split(None, 3)
        table[int(pid)] = _Process(int(parent), started, state.startswith("Z"))
    return table
