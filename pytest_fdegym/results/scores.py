"""Reads the scores that a command is given: a baseline file, a results folder, or one agent's folder in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fdegym.results.baseline import Baseline, of_records, read_baseline
from pytest_fdegym.results.store import stored_runs


def read_scores(path: Path) -> Baseline:
    """The scores at `path`. Raises UsageError naming it."""
    return join_scores([path]) if path.is_dir() else read_baseline(path)


def join_scores(folders: Sequence[Path]) -> Baseline:
    """The runs of one agent, spread over several results folders. Raises UsageError, also for a run that two of them hold."""
    records = [record for folder in folders for _, record in stored_runs(folder)]
    return of_records(records, ", ".join(map(str, folders)), "each has a folder of its own in there, which can be named instead")
