"""The one Protocol behind which code that is not ours runs: the agent's commands and the delivered system."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

Bound = Literal["wall", "output", "memory", "end"]
"""What ended a command before its time: wall time, output, memory of the whole process tree, or the caller."""

WayOut = Literal["socket", "port", "open", "nowhere"]
"""``socket``: by a Unix socket in `Layout.sockets` only, to which `agents.relay` leads from its own loopback; ``port``: at `Layout.port`;
``open``: nothing is in the way; ``nowhere``: the sandbox has no host's view and no way."""


@dataclass(frozen=True)
class Bounds:
    """What a process tree may use."""

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    memory_bytes: int = 1 << 30
    """Address space of one process; the resident memory of the whole tree may reach twice this."""
    processes: int = 128
    file_bytes: int = 64 << 20
    """Size of a single file."""
    output_bytes: int = 1 << 20
    """Standard output and error together; what is beyond is cut and ends the command."""
    open_files: int = 256
    resident_bytes: int | None = None
    """Resident memory of the whole tree; None for twice `memory_bytes`."""
    keep_end_of_output: bool = False
    """Keep the last `output_bytes` of each stream and let the command go on, instead of the first ones and an end."""


@dataclass(frozen=True)
class Layout:
    """What the sandboxed process finds. Paths are the same inside and outside, so that they can be talked about on both sides."""

    workdir: Path
    """Where it starts; readable, and writable if it is or lies in one of `writable`."""
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    """Beside the system's own libraries and the Python interpreter, which are always readable."""
    sockets: Path | None = None
    """A directory holding the only sockets that it may connect to (all given, or open to every user)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment apart from PATH, HOME, LANG and TMPDIR: nothing is inherited."""
    programs: Sequence[Path] = ()
    """Folders that come first on PATH."""
    system: Literal["strict", "host"] = "strict"
    """``strict`` shows the system's libraries and programs. ``host`` shows this machine as its user sees it, to read, but for `hidden`,
    temporary folders, and what may hold secrets of the user's (`host_view`); an own loopback is there. See `Sandbox.way_out`."""
    hidden: Sequence[Path] = ()
    """With ``host``: what is not there. What a grant opens inside of it is, and what is hidden inside of a grant is not."""
    network: Literal["none", "host"] = "none"
    """With the host's view, ``host`` gives the network of the machine."""
    port: int | None = None
    """A port of 127.0.0.1 that may be connected to where `Sandbox.way_out` is ``port``."""


@dataclass(frozen=True)
class CommandResult:
    """What a command left behind. Output is decoded as UTF-8 with replacement."""

    exit_code: int
    stdout: str
    stderr: str
    stopped_by: Bound | None = None
    """Set when a bound ended it; exit_code is then that of the kill."""


class SandboxedProcess(Protocol):
    """A running process tree with pipes; ``close`` leaves nothing of it behind."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        ...

    def stop(self) -> None:
        """Ask for the end of the whole tree, from any thread; whoever uses the process sees it end, and closes it."""
        ...

    def close(self) -> int:
        """Kill and reap the whole tree; returns the exit code. May be called twice."""
        ...


class Sandbox(Protocol):
    """One way to confine a process tree on this machine."""

    name: str
    """Recorded with every result: ``bubblewrap``, ``landlock``, ``sandbox-exec`` or ``none``."""
    way_out: WayOut
    """How a process with the host's view gets to a server of the harness."""

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        """Run to the end, to a bound, or until `end` is set; afterwards the process tree is gone.

        Raises InfrastructureFault if the sandbox itself fails.
        """
        ...

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        """Start with pipes. Wall time and output are the caller's to watch; memory, CPU, processes and files are bounded."""
        ...

    def give(self, path: Path) -> None:
        """Make a folder tree writable to the sandboxed user (when the harness is root, a user without rights)."""
        ...
