"""Reads the scores that a command is given: a baseline file, a results folder, or one agent's folder in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.baseline import Baseline, of_records, read_baseline
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import read_record
from pytest_fdegym.results.verdict import VERDICT_FILE


def read_scores(path: Path) -> Baseline:
    """The scores at `path`. Raises UsageError naming it."""
    return join_scores([path]) if path.is_dir() else read_baseline(path)


def join_scores(folders: Sequence[Path]) -> Baseline:
    """The runs of one agent, spread over several results folders. Raises UsageError, also for a run that two of them hold."""
    records = [record for folder in folders for record in records_in(folder)]
    return of_records(records, ", ".join(map(str, folders)), "each has a folder of its own in there, which can be named instead")


def records_in(folder: Path) -> list[Record]:
    """The records of a results folder, or of one agent's folder in it. Raises UsageError naming the file that is not one."""
    return [record for _, record in record_files(folder)]


def record_files(folder: Path) -> list[tuple[Path, Record]]:
    """As `records_in`, each with its file; its event log and its patch stand beside it."""
    if not folder.is_dir():
        raise UsageError(f"there is no results folder {folder}.")
    records = []
    for path in sorted(folder.glob("*/*.json")) or sorted(folder.glob("*.json")):
        if path.name == VERDICT_FILE:
            continue
        records.append((path, read_record(path)))
    return records
