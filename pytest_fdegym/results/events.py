"""The event log of one run. It grows while the run lasts, so that it can be followed (``tail -f``): a line of JSON for each event.

A line is an object with ``kind`` (see `pytest_fdegym.observer.EventKind`), ``time`` (wall clock, UTC, ISO 8601), ``at`` (the customer's
calendar, or null where an event has no place in it), and the event's own data. Readers ignore keys that they do not know.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from pytest_fdegym.observer import Event
from pytest_fdegym.results.files import write_whole

PART = ".part"
"""What the name of a log ends in until its record is written."""


def now() -> datetime:
    """The wall clock, in UTC."""
    return datetime.now(UTC)


def event_line(event: Event, time: datetime) -> str:
    """An event as one line of JSON, without the line's end."""
    line = {"kind": event.kind, "time": time.isoformat(), "at": event.at.isoformat() if event.at else None, **event.data}
    text = json.dumps(line, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, from a name or an output that is not UTF-8
        return json.dumps(line, default=str)
    return text


class EventLog:
    """An Observer that appends each event to ``NAME.part`` and gives the file its NAME when the run is stored.

    Following is a convenience: a disk that takes no more, a folder that is closed, or another session that works on the same run never
    cost an event, for the lines are kept and the log is written whole in the end. A context manager; safe to use from several threads.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime] = now) -> None:
        self.path = path
        """Of the finished log."""
        self.part = path.with_name(path.name + PART)
        self._clock = clock
        self._lines: list[str] = []
        self._lock = threading.Lock()
        self._file: FileIO | None = None
        self._sound = False
        """Whether the part file holds every line so far."""
        self._closed = False

    def __enter__(self) -> EventLog:
        with contextlib.suppress(OSError):
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self.part.unlink(missing_ok=True)  # of a session that was killed; whoever still follows it is not confused by ours
            self._file = FileIO(os.open(self.part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666), "w")
            self._sound = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()

    def notify(self, event: Event) -> None:
        """Append a line. One that comes when the run is over, from a thread that its agent left behind, is dropped."""
        with self._lock:
            if self._closed:
                return
            line = event_line(event, self._clock()) + "\n"
            self._lines.append(line)
            if self._sound:
                self._sound = self._append(line.encode())

    def _append(self, line: bytes) -> bool:
        assert self._file is not None
        whole = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(line) == len(line):
                return True
            self._file.truncate(whole)  # a reader must not find half a line
        except OSError:
            pass
        return False

    def finish(self) -> None:
        """Give the log its name; later events are dropped. Raises OSError when the disk does not take it."""
        with self._lock:
            self._closed = True
            ours = self._is_in_place()
            if ours and self._sound:
                assert self._file is not None
                os.fsync(self._file.fileno())
                os.replace(self.part, self.path)
                return
            write_whole(self.path, "".join(self._lines))
            if ours:
                self.part.unlink()

    def _is_in_place(self) -> bool:
        """Whether the part file is the one that was opened: another session may have begun the same run."""
        try:
            return self._file is not None and os.path.samestat(os.fstat(self._file.fileno()), os.lstat(self.part))
        except OSError:
            return False
