"""Follow the runs that are under way: a line for each, every so often, until none is left.

Reads the event logs that grow in a results folder (NAME.events.jsonl.part); a log that a killed session left behind shows when it last
grew. For every single event of a run: tail -f its log.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.events import PART, now
from pytest_fdegym.results.running import Running, follow

SILENT_MINUTES = 10
"""After so many minutes without an event, a line says since when there was none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The results folder, and how often."""
    parser.add_argument(
        "results", type=Path, nargs="?", default=Path(".fdegym", "results"), help="the results folder (default: .fdegym/results)"
    )
    parser.add_argument("--every", type=float, default=60.0, metavar="SECONDS", help="seconds between two looks (default: 60)")
    parser.add_argument("--once", action="store_true", help="look once")


def run(options: argparse.Namespace) -> int:
    """Print until nothing runs any more. Raises UsageError."""
    if not options.results.is_dir():
        raise UsageError(f"there is no folder {options.results}: the results folder of a session is expected.")
    if options.every <= 0:
        raise UsageError(f"--every: a number of seconds above 0 is expected, found {options.every:g}.")
    while True:
        lines = list(lines_about(options.results, now()))
        print("\n".join(lines) if lines else "no run is under way", flush=True)
        if options.once or not lines:
            return 0
        time.sleep(options.every)


def lines_about(results: Path, moment: datetime) -> Iterator[str]:
    """A line for each run that is under way, at a moment of the wall clock."""
    for part in sorted(results.glob(f"*/*.events.jsonl{PART}")):
        with contextlib.suppress(OSError):  # renamed meanwhile: the run is over
            running, last = read(part)
            if running is not None and last is not None:
                silent = int((moment - last).total_seconds() // 60)
                yield running.line(moment) + (f"; nothing for {silent} min" if silent >= SILENT_MINUTES else "")


def read(log: Path) -> tuple[Running | None, datetime | None]:
    """How the run of a growing log stands, and when its last event was. Lines that cannot be read are passed over. Raises OSError."""
    running: Running | None = None
    last: datetime | None = None
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                event = json.loads(line)
                moment = datetime.fromisoformat(event["time"]).astimezone(UTC)
                running = follow(running, event["kind"], event, moment)
                last = moment
    return running, last
