"""Runs an engagement's commands in the sandbox, within its minutes; at handover those that still run are ended and no more are taken."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence

from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, Sandbox

LONGEST_COMMAND = 120_000
"""Bytes of all arguments together; the system takes 128 KiB of one argument."""
LONGEST_SECONDS = 24 * 3600.0
NOT_EXECUTABLE = 126
"""What a shell says of a command that it cannot run."""


class Commands:
    """The commands of one engagement; safe to use from several threads."""

    def __init__(self, sandbox: Sandbox, layout: Layout, tracker: LimitTracker) -> None:
        self._sandbox = sandbox
        self._layout = layout
        self._tracker = tracker
        self._end = threading.Event()
        self._idle = threading.Condition()
        self._running = 0

    def run(self, arguments: Sequence[str], seconds: float, *, output_bytes: int = 1 << 20, stdin: bytes = b"") -> CommandResult:
        """Run a command for at most `seconds` (and no longer than the engagement's minutes last).

        One that no system could run (too long, a NUL in it) ends with exit code 126, as in a shell. Raises ValueError for `seconds` that
        are no time, EngagementOver after handover, and InfrastructureFault if the sandbox itself fails.
        """
        if not (math.isfinite(seconds) and seconds > 0):
            raise ValueError(f"seconds is {seconds!r}; a number above 0 is expected")
        if (refusal := _unfit(arguments)) is not None:
            return CommandResult(NOT_EXECUTABLE, "", refusal)
        left = self._tracker.minutes_left
        wall = min(seconds, LONGEST_SECONDS if left is None else max(60 * left, 0.01))
        bounds = Bounds(wall_seconds=wall, cpu_seconds=max(1, int(wall) + 1), output_bytes=output_bytes)
        with self._idle:
            self.check_open()
            self._running += 1
        try:
            return self._sandbox.run(arguments, self._layout, bounds, stdin=stdin, end=self._end)
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def check_open(self) -> None:
        """Raise EngagementOver once the system was handed over."""
        if self._end.is_set():
            raise EngagementOver("the engagement is over: the system was handed over")

    def close(self) -> None:
        """End what runs, and return when it is gone; nothing runs any more afterwards."""
        self._end.set()
        with self._idle:
            self._idle.wait_for(lambda: self._running == 0)


def _unfit(arguments: Sequence[str]) -> str | None:
    """Why no system could run these arguments, or None."""
    if not arguments or not arguments[0]:
        return "there is no command"
    try:
        size = sum(len(os.fsencode(argument)) for argument in arguments)
    except UnicodeEncodeError:
        return "the command holds characters that are no text (lone surrogates)"
    if any("\0" in argument for argument in arguments):
        return "the command holds a NUL character"
    if size > LONGEST_COMMAND:
        return f"the command is too long ({size:,} bytes; at most {LONGEST_COMMAND:,} are taken); write it to a file first"
    return None
