"""No sandbox: bounds on time, memory, processes and output, and nothing kept from the code that runs. Only if asked for."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_fdegym.sandbox import account, machine, process
from pytest_fdegym.sandbox.bare_python import BarePython, temporary_folder
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, WayOut
from pytest_fdegym.scratch import remove_tree


class Unconfined:
    """Runs everything with all rights of the harness; results so obtained say so."""

    name = "none"
    way_out: WayOut = "open"

    def __init__(self) -> None:
        self._python = BarePython(None)

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
        account.give(path, None)

    def _job(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.Job:
        machine.grants(layout)  # the same layouts are refused as under any other sandbox
        temporary = temporary_folder("fdegym-tmp-", None)
        return process.Job(
            argv=command,
            environment=machine.environment(layout, self._python.programs, str(temporary)),
            bounds=bounds,
            cwd=str(layout.workdir),
            limit_processes=sys.platform == "linux",
            count_beside=os.geteuid() != 0,  # root's processes are not limited by number at all
            cleanup=partial(remove_tree, temporary),
        )
