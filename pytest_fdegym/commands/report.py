"""Reports on the runs in results folders: a page to look at, Markdown, CSV, Parquet, JSON and JUnit XML.

Without a format it writes report.html. FILE may be - for the terminal, apart from --parquet. Several folders are reported on together:
the shards of one session, or several agents.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.events import now
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.gate import Gate
from pytest_fdegym.results.report.build import TITLE, make_report
from pytest_fdegym.results.report.junit import junit
from pytest_fdegym.results.report.reading import runs_in, verdicts_in
from pytest_fdegym.results.report.write import Format, caution, check, html, text, write_report

STDOUT = Path("-")
FORMATS: tuple[tuple[Format, str], ...] = (
    ("html", "one self-contained page; its figures need the extra 'report'"),
    ("markdown", "for a comment on a pull request; appended where FILE is the one that $GITHUB_STEP_SUMMARY names"),
    ("csv", "a row for each run"),
    ("parquet", "the same, typed; needs the extra 'report'"),
    ("json", "all figures, for programs"),
)


def gate(given: str) -> Gate:
    """``resolved``, ``min-score:X`` or ``none``."""
    kind, _, value = given.partition(":")
    if given not in ("resolved", "none") and not (kind == "min-score" and abs(float(value)) < 1000):
        raise ValueError
    return Gate(given)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("stores", nargs="+", type=Path, metavar="STORE", help="a results folder, or one agent's folder in it")
    for name, what in FORMATS:
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=what)
    parser.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML, a suite for each scenario; needs the extra 'report'")
    parser.add_argument(
        "--gate", type=gate, default=Gate("resolved"), metavar="GATE", help="what passes in JUnit: resolved (default), min-score:X or none"
    )
    parser.add_argument("--title", default=TITLE, help=f"of the report (default: {TITLE})")


def run(options: argparse.Namespace) -> int:
    """Write what is asked for; returns 0. Raises UsageError."""
    wanted: list[tuple[Format, Path]] = [(name, file) for name, _ in FORMATS if (file := getattr(options, name)) is not None]
    if not wanted and options.junit is None:
        wanted = [("html", Path("report.html"))]
    for name, file in wanted:
        if file != STDOUT:
            check(file, name)
        elif name == "parquet":
            raise UsageError("--parquet: a file is expected, found '-'.")
    runs = runs_in(options.stores)
    records = [each.record for each in runs]
    try:
        if wanted:
            report = make_report(records, made_at=now(), title=options.title, verdicts=verdicts_in(options.stores))
            for name, file in wanted:
                if file == STDOUT:
                    sys.stdout.write(html(report, runs) if name == "html" else text(report, name))
                else:
                    write_report(report, runs, file, name, os.environ)
                    print(f"{name}: {file}", file=sys.stderr)
            if (said := caution(name for name, _ in wanted)) is not None:
                print(said, file=sys.stderr)
        if options.junit is not None:
            _write_junit(junit(records, options.gate.passes, _asked(options.gate)), options.junit)
    except OSError as error:
        raise UsageError(f"the report could not be written: {error.strerror or error} ({error.filename}).") from None
    return 0


def _write_junit(xml: str, file: Path) -> None:
    if file == STDOUT:
        sys.stdout.write(xml + "\n")
        return
    write_whole(file, xml + "\n", shared=True)
    print(f"junit: {file}", file=sys.stderr)


def _asked(given: Gate) -> str:
    """As the score card says it."""
    return "none" if given.threshold is None else f"{given.threshold:g}" + (" without incident" if given.text == "resolved" else "")
