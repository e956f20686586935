"""Starts the supervisor of one confined command, and talks to it: pipes, bounds on time and output, the end."""

from __future__ import annotations

import contextlib
import marshal
import os
import resource
import select
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox.base import Bound, Bounds, CommandResult

_START_SECONDS = 60.0
_END_SECONDS = 30.0
_CHUNK = 1 << 16
_LOOKS_UP_SECONDS = 0.2
"""How often somebody who waits for a command looks whether it is to end."""
_BOOT = "import sys; sys.path.append(sys.argv[2]); from supervisor.main import main; main(); import os; os._exit(0)"


@dataclass(frozen=True)
class Job:
    """What the supervisor does for one command."""

    argv: Sequence[str]
    """``{tell}`` and ``{fd:NAME}`` become descriptors: where "ok" is written once the command is about to run, and one of `files`."""
    environment: Mapping[str, str]
    bounds: Bounds
    cwd: str = "/"
    told_by_command: bool = False
    """Whether `argv` writes "ok" itself; otherwise a successful exec says so."""
    uid: int | None = None
    limit_processes: bool = True
    count_beside: bool = False
    """Whether the limit on processes would count what else this user runs."""
    landlock: Mapping[str, object] | None = None
    seccomp: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    cleanup: Callable[[], None] = lambda: None
    """Called when the tree is gone."""

    def _packed(self) -> bytes:
        return marshal.dumps(
            {
                "argv": list(self.argv),
                "environment": dict(self.environment),
                "cwd": self.cwd,
                "told_by_command": self.told_by_command,
                "uid": self.uid,
                "processes": self.bounds.processes if self.limit_processes else 0,
                "count_beside": self.count_beside,
                "limits": _limits(self.bounds),
                "tree_bytes": self.bounds.resident_bytes or 2 * self.bounds.memory_bytes,
                "landlock": dict(self.landlock) if self.landlock is not None else None,
                "seccomp": self.seccomp,
                "files": dict(self.files),
            }
        )


def _limits(bounds: Bounds) -> list[tuple[int, int]]:
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, bounds.cpu_seconds),
        (resource.RLIMIT_FSIZE, bounds.file_bytes),
        (resource.RLIMIT_NOFILE, bounds.open_files),
    ]
    if sys.platform == "linux":
        limits += [(resource.RLIMIT_AS, bounds.memory_bytes), (resource.RLIMIT_MEMLOCK, 64 << 10)]
        limits += [(resource.RLIMIT_MSGQUEUE, 0), (resource.RLIMIT_SIGPENDING, 1024)]
    return limits


class ConfinedProcess:
    """A running confined command (SandboxedProcess)."""

    def __init__(self, job: Job, supervisor: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.stdin = cast(BinaryIO, supervisor.stdin)
        self.stdout = cast(BinaryIO, supervisor.stdout)
        self.stderr = cast(BinaryIO, supervisor.stderr)
        self.exit_code: int | None = None
        self.stopped_by: Bound | None = None
        self._job = job
        self._supervisor = supervisor
        self._control = control
        self._heard = b""
        self._lock = threading.RLock()
        self._gone = False
        self._failed: str | None = None
        """What the supervisor died of; there is nobody to ask afterwards."""

    def poll(self) -> int | None:
        """The exit code once the whole tree is gone, or None. Raises InfrastructureFault if the supervisor died."""
        return self.wait(0)

    def wait(self, seconds: float) -> int | None:
        """As `poll`, but wait up to `seconds`."""
        with self._lock:
            if self._failed is not None:
                raise SandboxFault(self._failed)
            if self.exit_code is None:
                line = self._hear(seconds)
                if line is not None:
                    self._ended(line)
            return self.exit_code

    def stop(self) -> None:
        """Ask for the end of the tree; `wait` tells when it has come."""
        with self._lock, contextlib.suppress(OSError):
            self._control.sendall(b"end\n")

    def close(self) -> int:
        """Kill and reap the whole tree; returns the exit code. May be called twice."""
        with self._lock:
            try:
                if self.exit_code is None:
                    self.stop()
                    if self.wait(_END_SECONDS) is None:
                        raise SandboxFault(f"the sandbox's processes did not end within {_END_SECONDS:.0f} s of being killed")
            finally:
                self._release()
            assert self.exit_code is not None
            return self.exit_code

    def __enter__(self) -> ConfinedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def await_start(self) -> None:
        """Return once the command runs. Raises InfrastructureFault with the tool's words if the sandbox could not start it."""
        line = self._hear(_START_SECONDS)
        if line == "started":
            return
        text = "it gave no sign of life" if line is None else line.removeprefix("fault ")
        self._release(keep_errors=True)
        said = _what_is_left(self.stderr)
        self.stderr.close()
        raise SandboxFault(f"the sandbox could not start {self._job.argv[0]}: {text}{': ' + said if said else ''}")

    def _ended(self, line: str) -> None:
        kind, _, rest = line.partition(" ")
        if kind != "exit":
            self._failed = f"the sandbox's supervisor failed: {rest or line}"
            self._release()
            raise SandboxFault(self._failed)
        code, bound = rest.split()
        self.exit_code = int(code)
        self.stopped_by = "memory" if bound == "memory" else None

    def _hear(self, seconds: float) -> str | None:
        """Return the supervisor's next line, or None after `seconds`."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._heard:
            poll = select.poll()  # not select(): descriptors may be beyond 1023 in a large session
            poll.register(self._control, select.POLLIN)
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return None
            try:
                more = self._control.recv(4096)
            except OSError:
                more = b""
            if not more:
                return f"fault it ended on its own (exit code {self._supervisor.wait()})"
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _release(self, *, keep_errors: bool = False) -> None:
        if self._gone:
            return
        self._gone = True
        self._control.close()  # whatever state it is in, the supervisor ends its tree on this
        try:
            self._supervisor.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        for pipe in (self.stdin, self.stdout, *(() if keep_errors else (self.stderr,))):
            with contextlib.suppress(OSError, ValueError):  # what was buffered for a process that is gone
                pipe.close()
        self._job.cleanup()


def start(job: Job) -> ConfinedProcess:
    """Start `job` and return once its command runs. Raises InfrastructureFault if the sandbox cannot start it."""
    ours, theirs = socket.socketpair()
    boot = [sys.executable, "-I", "-S", "-c", _BOOT, str(theirs.fileno()), str(Path(__file__).parent)]
    # A shared libpython may be found by this variable only; the command itself does not get it.
    inherited = {"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"]} if "LD_LIBRARY_PATH" in os.environ else {}
    try:
        supervisor = subprocess.Popen(
            boot,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=inherited,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # an interrupt at the terminal is the harness's to handle
        )
    except OSError as error:
        ours.close()
        job.cleanup()
        raise SandboxFault(f"the sandbox's supervisor could not be started: {error}") from error
    finally:
        theirs.close()
    process = ConfinedProcess(job, supervisor, ours)
    packed = job._packed()
    try:
        with contextlib.suppress(OSError):  # a supervisor that is gone is heard of below
            ours.sendall(len(packed).to_bytes(4, "big") + packed)
        process.await_start()
    except BaseException:
        process._release()
        raise
    return process


def run(job: Job, *, stdin: bytes = b"", end: threading.Event | None = None) -> CommandResult:
    """Run `job` to its end, to a bound, or until `end` is set; the process tree is gone on return.

    Raises InfrastructureFault if the sandbox fails.
    """
    with start(job) as process:
        return attend(process, job.bounds, stdin, end or threading.Event())


def attend(process: ConfinedProcess, bounds: Bounds, stdin: bytes, end: threading.Event) -> CommandResult:
    """Feed and hear a started process to its end, to a bound, or until `end` is set; its tree is gone on return."""
    deadline = time.monotonic() + bounds.wall_seconds
    kept: dict[Any, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    total, unsent, stopped_by = 0, memoryview(stdin), cast(Bound | None, None)
    with selectors.DefaultSelector() as selector:
        for pipe in kept:
            selector.register(pipe, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(min(_LOOKS_UP_SECONDS, max(0.0, deadline - time.monotonic())))
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    unsent = _send(process.stdin, unsent)
                    if not unsent:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                if bounds.keep_end_of_output:
                    kept[key.fileobj] += data
                    if len(kept[key.fileobj]) > 2 * bounds.output_bytes:
                        del kept[key.fileobj][: -bounds.output_bytes]
                    continue
                kept[key.fileobj] += data[: max(0, bounds.output_bytes - total)]
                total += len(data)
            over: Bound | None = "output" if total > bounds.output_bytes else "wall" if not ready and time.monotonic() >= deadline else None
            if over is not None or end.is_set():
                stopped_by = over or "end"
                break
    while stopped_by is None and process.wait(min(_LOOKS_UP_SECONDS, max(0.0, deadline - time.monotonic()))) is None:
        stopped_by = "end" if end.is_set() else "wall" if time.monotonic() >= deadline else None
    code = process.close()
    out, err = (bytes(kept[pipe][-bounds.output_bytes :]).decode("utf-8", "replace") for pipe in (process.stdout, process.stderr))
    return CommandResult(code, out, err, process.stopped_by or stopped_by)


def _send(pipe: BinaryIO, unsent: memoryview) -> memoryview:
    try:
        return unsent[os.write(pipe.fileno(), unsent[:_CHUNK]) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:  # it does not read what it was given, which is its affair
        return unsent[:0]


def _what_is_left(pipe: BinaryIO) -> str:
    os.set_blocking(pipe.fileno(), False)
    with contextlib.suppress(OSError):
        return (pipe.read(_CHUNK) or b"").decode("utf-8", "replace").strip()
    return ""
