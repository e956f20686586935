"""Finds what a report is made from: records, with their logs and patches, and verdicts, in results folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import VERDICT_FILE, Store, stored_runs
from pytest_fdegym.results.verdict import Verdict


@dataclass(frozen=True)
class Run:
    """A record, and where the rest of its run is (if it is there)."""

    record: Record
    events: Path
    patch: Path


def runs_in(folders: Sequence[Path]) -> list[Run]:
    """The runs of several results folders (or agents' folders in them). The same record in two of them counts once.

    Raises UsageError for a folder that is none, a file that is not a record, no record at all, and for two different records of one run.
    """
    found: dict[tuple[str, str, str, int, int], tuple[Run, Path]] = {}
    for folder in folders:
        for stored, record in stored_runs(folder):
            key = (record.agent.model_dump_json(), record.task, record.level, record.run, record.seed)
            run = Run(record, stored.events, stored.patch)
            other, at = found.setdefault(key, (run, stored.record))
            if other.record != record:
                raise UsageError(
                    f"{at} and {stored.record} are two records of one run: {record.task} at {record.level}, run {record.run}, by "
                    f"{record.agent.name}. Report on them apart, or tell the agents apart with --fde-agent-version."
                )
    if not found:
        raise UsageError(f"{', '.join(map(str, folders))}: there is no record of a run.")
    return [run for run, _ in found.values()]


def runs_of(records: Iterable[Record], store: Store) -> list[Run]:
    """Records that a session just made, with the files that it stored beside them."""
    return [Run(record, paths.events, paths.patch) for record in records for paths in (store.paths(record),)]


def verdicts_in(folders: Sequence[Path]) -> list[Verdict]:
    """The verdict files of the folders. Raises UsageError for one that is not one."""
    verdicts = []
    for file in (folder / VERDICT_FILE for folder in folders):
        if file.is_file():
            try:
                verdicts.append(Verdict.model_validate_json(file.read_bytes()))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                where = ", ".join(map(str, first["loc"])) or "the whole file"
                raise UsageError(f"{file} is not a verdict: {where}: {first['msg']}") from None
    return verdicts
