"""Runs an engagement's commands in the sandbox, within its minutes; at handover those that still run are ended and no more are taken."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from dataclasses import replace

from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.errors import InfrastructureFault
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
        self.layout = layout
        """What commands find, unless they are run with another one."""
        self._tracker = tracker
        self.over = threading.Event()
        """Set when no command is taken any more: at handover, at a limit, or when something broke."""
        self.fault: InfrastructureFault | None = None
        """What broke the sandbox under a command, though its caller may not care."""
        self._idle = threading.Condition()
        self._running = 0

    def run(
        self,
        arguments: Sequence[str],
        seconds: float,
        *,
        output_bytes: int = 1 << 20,
        stdin: bytes = b"",
        layout: Layout | None = None,
        bounds: Bounds | None = None,
    ) -> CommandResult:
        """Run a command for at most `seconds` (and no longer than the engagement's minutes last).

        `layout` and `bounds` (but for time and output) are used in place of the ordinary ones.

        One that no system could run (too long, a NUL in it) ends with exit code 126, as in a shell. Raises ValueError for `seconds` that
        are no time, EngagementOver after handover, and InfrastructureFault if the sandbox itself fails.
        """
        if not (math.isfinite(seconds) and seconds > 0):
            raise ValueError(f"seconds is {seconds!r}; a number above 0 is expected")
        if (refusal := _unfit(arguments)) is not None:
            return CommandResult(NOT_EXECUTABLE, "", refusal)
        left = self._tracker.minutes_left
        wall = min(seconds, LONGEST_SECONDS if left is None else max(60 * left, 0.01))
        used = replace(bounds or Bounds(), wall_seconds=wall, cpu_seconds=_cpu_seconds(wall, bounds), output_bytes=output_bytes)
        with self._idle:
            self.check_open()
            self._running += 1
        try:
            result = self._sandbox.run(arguments, layout or self.layout, used, stdin=stdin, end=self.over)
        except InfrastructureFault as fault:
            self.fault = self.fault or fault
            self.over.set()
            raise
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()
        out_of_time = result.stopped_by == "end" and self._tracker.reached == "minutes"
        return replace(result, stopped_by="wall") if out_of_time else result

    def check_open(self) -> None:
        """Raise EngagementOver once no command is taken any more, LimitReached where that is for a limit."""
        if self.over.is_set():
            self._tracker.check()
            raise EngagementOver("the engagement is over: the system was handed over")

    def end(self) -> None:
        """End what runs and take no more; does not wait."""
        self.over.set()

    def close(self) -> None:
        """End what runs, and return when it is gone; nothing runs any more afterwards."""
        self.over.set()
        with self._idle:
            self._idle.wait_for(lambda: self._running == 0)


def _cpu_seconds(wall: float, bounds: Bounds | None) -> int:
    """A program of the user's own may keep all processors busy for its whole time."""
    return max(1, int(wall) + 1) * (1 if bounds is None else os.cpu_count() or 1)


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
