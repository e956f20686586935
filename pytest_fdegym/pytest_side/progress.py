"""Live progress: every so often a line for each run that is under way, written between the lines of pytest's own.

Workers of pytest-xdist have no terminal. Each keeps how its run stands in a file of its own, in a folder that the controller makes and
hands over with `workerinput`; the controller reads them. Where runs are in this process, the same is kept in memory.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import pytest
from pydantic import ValidationError

from pytest_fdegym.observer import Event
from pytest_fdegym.results.events import now
from pytest_fdegym.results.running import Running, follow

PLUGIN = "fdegym-progress"
"""The plugin's name in the plugin manager, in the controller and in workers."""
FOLDER = "fdegym_progress"
"""Key of workerinput."""


def register(config: pytest.Config, seconds: float | None) -> None:
    """Report what runs in this process; `seconds` None is off. A worker tells the controller, which prints unless ``-q`` was given."""
    workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
    if workerinput is not None:
        # No folder is handed over by a controller that prints nothing.
        if FOLDER in workerinput:
            config.pluginmanager.register(WorkerProgress(Path(workerinput[FOLDER]) / workerinput["workerid"]), PLUGIN)
    elif seconds is not None and config.getoption("verbose", 0) >= 0:
        progress = Progress(config, seconds)
        config.add_cleanup(progress.close)
        config.pluginmanager.register(progress, PLUGIN)


class _Followed:
    """The run in this process. Events come from several threads."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running: Running | None = None

    def hear(self, event: Event) -> Running | None:
        with self._lock:
            self._running = follow(self._running, event.kind, event.data, self._clock())
            return self._running

    def forget(self) -> None:
        with self._lock:
            self._running = None

    @property
    def running(self) -> Running | None:
        return self._running


class WorkerProgress:
    """Hooks of a worker: keeps how its run stands in a file. A file that cannot be written (a worker on another machine) is no progress."""

    def __init__(self, file: Path, clock: Callable[[], datetime] = now) -> None:
        self._file = file
        self._followed = _Followed(clock)
        self._writing = threading.Lock()

    def pytest_fdegym_event(self, event: Event) -> None:
        with self._writing:
            running = self._followed.hear(event)
            if running is None:
                self._remove()
                return
            new = self._file.with_name(f".{self._file.name}")
            with contextlib.suppress(OSError):
                new.write_text(running.model_dump_json(), encoding="utf-8", errors="backslashreplace")
                os.replace(new, self._file)

    def pytest_runtest_teardown(self) -> None:
        # Whatever ended the run; an event of it that comes later, from a thread that its agent left behind, starts nothing.
        with self._writing:
            self._followed.forget()
            self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


class Progress:
    """Hooks of the process with the terminal. `tick` prints; while runs take place, a thread calls it every `seconds`."""

    def __init__(self, config: pytest.Config, seconds: float, clock: Callable[[], datetime] = now) -> None:
        self._config, self._seconds, self._clock = config, seconds, clock
        self._followed = _Followed(clock)
        self._folder: Path | None = None
        self._stop = threading.Event()
        self._line = threading.Lock()
        """Held while pytest writes a line of its own, which takes it several steps, or we do."""
        self._split = False
        """Whether we wrote in the middle of a line, out of pytest's sight."""
        self._past_capture = _past_capture(config)

    def close(self) -> None:
        """Remove what was made for the workers."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._past_capture is not None:
            self._past_capture.close()

    # --- what runs ---

    def pytest_fdegym_event(self, event: Event) -> None:
        self._followed.hear(event)

    def pytest_runtest_teardown(self) -> None:
        self._followed.forget()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="fdegym-progress-"))
        node.workerinput[FOLDER] = str(self._folder)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if self._folder is not None:
            (self._folder / node.gateway.id).unlink(missing_ok=True)

    def _running(self) -> list[Running]:
        found = [] if self._followed.running is None else [self._followed.running]
        for file in sorted(self._folder.glob("[!.]*")) if self._folder is not None else ():
            with contextlib.suppress(OSError, ValidationError):  # gone meanwhile
                found.append(Running.model_validate_json(file.read_bytes()))
        return sorted(found, key=lambda each: (each.task, each.level, each.run, each.agent))

    # --- when and where it is printed ---

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        thread = threading.Thread(target=self._tick_now_and_then, name="fde-progress", daemon=True)
        thread.start()
        try:
            return (yield)
        finally:
            self._stop.set()
            thread.join()

    def _tick_now_and_then(self) -> None:
        while not self._stop.wait(min(self._seconds, threading.TIMEOUT_MAX)):
            try:
                self.tick()
            except OSError:  # a terminal that went away is pytest's to complain of
                return

    def tick(self) -> None:
        """Print a line for each run that is under way."""
        lines = [f"fdegym: {running.line(self._clock())}\n" for running in self._running()]
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if not lines or reporter is None:
            return
        with self._line:
            if self._past_capture is None:
                reporter.ensure_newline()
            # Of dots, the reporter does not know that they are a line that was begun.
            inside = self._config.get_terminal_writer().width_of_current_line > 0 and not self._split
            text = ("\n" if inside else "") + "".join(lines)
            if self._past_capture is None:
                reporter.write(text, flush=True)
            else:
                self._past_capture.write(text)
                self._past_capture.flush()
                self._split = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, object, object]:
        return (yield from self._undisturbed())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self) -> Generator[None, object, object]:
        return (yield from self._undisturbed())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self) -> Generator[None, object, object]:
        return (yield from self._undisturbed())

    def _undisturbed(self) -> Generator[None, object, object]:
        with self._line:
            if self._split:
                reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
                if reporter is not None:
                    reporter.currentfspath = None  # so that a verbose line begins with the item's name again
                self._split = False
            return (yield)


def _past_capture(config: pytest.Config) -> TextIO | None:
    """A way to the terminal for while an item runs, when pytest has put a file in the place of file descriptor 1; None if it has not.

    Not where workers run the items, nor where standard output is no file at all: the terminal reporter's own way is open then.
    """
    if config.getoption("capture", "no") != "fd" or config.getoption("dist", "no") != "no":
        return None
    try:
        handle = os.dup(sys.stdout.fileno())
    except (OSError, io.UnsupportedOperation):
        return None
    return open(handle, "w", encoding=sys.stdout.encoding, errors="backslashreplace")
