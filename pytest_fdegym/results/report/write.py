"""Writes a report to a file in one of its formats, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pytest_fdegym.errors import UsageError, nearest
from pytest_fdegym.results.files import staged, write_whole
from pytest_fdegym.results.report.build import in_order
from pytest_fdegym.results.report.details import details, share_of
from pytest_fdegym.results.report.html import page
from pytest_fdegym.results.report.markdown import markdown
from pytest_fdegym.results.report.model import Report
from pytest_fdegym.results.report.plotting import MISSING, is_installed, library
from pytest_fdegym.results.report.reading import Run
from pytest_fdegym.results.report.run_tables import needs_pyarrow, runs_csv, runs_parquet

Format = Literal["html", "markdown", "csv", "parquet", "json"]
SUFFIXES: Mapping[str, Format] = {".html": "html", ".md": "markdown", ".csv": "csv", ".parquet": "parquet", ".json": "json"}
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which a job of GitHub Actions appends Markdown."""


def format_of(path: Path, environment: Mapping[str, str]) -> Format:
    """The format that a file's name asks for. Raises UsageError."""
    if is_step_summary(path, environment):
        return "markdown"
    found = SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UsageError(
            f"a file that ends in {', '.join(SUFFIXES)} (or the one that ${STEP_SUMMARY} names) is expected, found {str(path)!r}."
            f"{nearest(path.suffix, SUFFIXES)}"
        )
    return found


def is_step_summary(path: Path, environment: Mapping[str, str]) -> bool:
    """Whether `path` is the summary of a job of GitHub Actions, which other steps write to as well."""
    summary = environment.get(STEP_SUMMARY)
    return bool(summary) and Path(summary or "") == path


def check(path: Path, kind: Format) -> None:
    """Raises UsageError for a place where nothing can be written, and for a format that needs a package which is missing."""
    if kind == "parquet":
        needs_pyarrow()
    if path.is_dir():
        raise UsageError(f"{path} is a folder; a file is expected.")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}.")


def caution(kinds: Iterable[Format]) -> str | None:
    """What whoever asks for these formats has to be told once, if anything: that a page's figures need a package which is missing."""
    return MISSING if "html" in kinds and not is_installed() else None


def write_report(report: Report, runs: Sequence[Run], path: Path, kind: Format, environment: Mapping[str, str]) -> None:
    """Write `report`, which was made of `runs`. Raises OSError when the disk does not take it, and UsageError for a missing package."""
    match kind:
        case "parquet":
            with staged(path, runs_parquet(report), shared=True) as ready:
                os.replace(ready, path)
        case "markdown" if is_step_summary(path, environment):
            with path.open("a", encoding="utf-8") as file:
                file.write(markdown(report) + "\n")
        case "html":
            write_whole(path, html(report, runs), shared=True)
        case _:
            write_whole(path, text(report, kind), shared=True)


def html(report: Report, runs: Sequence[Run]) -> str:
    """The page."""
    place = {id(run.record): run for run in runs}
    share = share_of(len(runs))
    return page(report, (details(place[id(record)], share) for record in in_order([run.record for run in runs])), library())


def text(report: Report, kind: Format) -> str:
    """The report in one of the formats that are plain text."""
    match kind:
        case "markdown":
            return markdown(report)
        case "csv":
            return runs_csv(report)
        case "json":
            return report.model_dump_json(indent=2) + "\n"
        case _:
            raise ValueError(kind)
