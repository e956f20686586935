"""A sandbox whose processes can be told to end all at once, from another thread than the one that uses it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, Sandbox, SandboxedProcess


class EndingSandbox:
    """Wraps a Sandbox. After `end`, what it had started is ending (its user reaps it, as always) and it starts nothing more."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self.way_out = sandbox.way_out
        self._sandbox = sandbox
        self._end = threading.Event()
        self._lock = threading.Lock()
        self._started: list[SandboxedProcess] = []

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._end.is_set()

    def end(self) -> None:
        """Tell what runs to end; does not wait for it."""
        self._end.set()
        with self._lock:
            started, self._started = self._started, []
        for process in started:
            process.stop()

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        """As the Sandbox does; `end` is the caller's, beside ours. Raises SandboxFault once it was ended."""
        self._check()
        return self._sandbox.run(command, layout, bounds, stdin=stdin, end=end or self._end)

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        """As the Sandbox does. Raises SandboxFault once it was ended."""
        self._check()
        process = self._sandbox.start(command, layout, bounds)
        with self._lock:
            self._started.append(process)
        if self._end.is_set():
            process.stop()
        return process

    def give(self, path: Path) -> None:
        """As the Sandbox does."""
        self._sandbox.give(path)

    def _check(self) -> None:
        if self._end.is_set():
            raise SandboxFault("the sandbox was ended")
