"""Where records, event logs and delivery patches stand on disk; each is written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from pytest_fdegym._version import __version__
from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.claim import claim
from pytest_fdegym.results.events import PART, EventLog
from pytest_fdegym.results.files import prefix_of, staged, write_whole
from pytest_fdegym.results.record import SCHEMA_VERSION, AgentIdentity, Record

VERDICT_FILE = "verdict.json"
"""In the results folder of the session that was judged: beside the agents' folders, and not a record."""
LONGEST_NAME = 40
"""Characters of an agent's name in the name of its folder."""


def folder_name(agent: str) -> str:
    """A short folder name for an agent's name, which may be a whole shell command; different names never share a folder."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip("-.")[:LONGEST_NAME].rstrip("-.")
    if plain == agent:
        return plain
    return f"{plain or 'agent'}-{hashlib.sha256(agent.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def _whole_name(agent: AgentIdentity) -> str:
    """A command's name is cut, so that two commands may share it; the whole one is among its options."""
    return f"cmd:{agent.options['command']}" if agent.name.startswith("cmd:") and "command" in agent.options else agent.name


class Keyed(Protocol):
    """What tells one run from others: a Record has it, and so has a `RunKey` before there is one."""

    @property
    def agent(self) -> AgentIdentity: ...
    @property
    def task(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def run(self) -> int: ...
    @property
    def seed(self) -> int: ...


@dataclass(frozen=True)
class RunKey:
    """A run that has no record yet."""

    agent: AgentIdentity
    task: str
    level: str
    run: int = 1
    seed: int = 1


@dataclass(frozen=True)
class StoredRun:
    """The files of one run; the others are written before the record that makes them count."""

    record: Path
    events: Path
    """While the run lasts, the log grows under this name with ``.part`` at its end."""
    patch: Path
    handover: Path
    """What grading it again needs (`pytest_fdegym.results.handover`); missing where nothing was graded or it would be too large."""

    @property
    def growing(self) -> Path:
        """The log while the run lasts, or what a killed session left of it."""
        return self.events.with_name(self.events.name + PART)

    @property
    def lock(self) -> Path:
        """See `Store.claim`."""
        return self.record.with_name(f".{self.record.stem}.lock")

    @classmethod
    def of(cls, record: Path) -> StoredRun:
        """The files beside a record."""
        stem = record.name.removesuffix(".json")
        return cls(record, *(record.with_name(stem + end) for end in (".events.jsonl", ".patch", ".handover.tar.gz")))


class Store:
    """A directory of runs, keyed by agent, task, level and run; a newer run takes the place of an older one.

    The directory ignores itself in git, since records hold what agents must not see.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def paths(self, key: Keyed) -> StoredRun:
        """Where the files of a run are (to be) found."""
        agent = folder_name(_whole_name(key.agent))
        stem = f"{key.task}.{key.level}.run{key.run}"
        if key.seed != 1:
            stem += f".seed{key.seed}"
        return StoredRun.of(self.directory / agent / f"{stem}.json")

    def find(self, key: Keyed) -> Record | None:
        """The record that is in the place of a run: of the same agent's name, task, level, run and seed. Raises UsageError for a file
        that is not a record, or one of another release's."""
        path = self.paths(key).record
        return read_record(path) if path.exists() else None

    def claim(self, key: Keyed, *, wait: bool) -> AbstractContextManager[None]:
        """Keep other sessions from this run; see `claim`. Raises Claimed."""
        return claim(self.paths(key).lock, wait=wait)

    def tidy(self, key: Keyed) -> None:
        """Remove what a killed session left of a run that is claimed."""
        paths = self.paths(key)
        with contextlib.suppress(OSError):
            paths.growing.unlink(missing_ok=True)
            for path in (paths.record, paths.events, paths.patch, paths.handover):
                for left in path.parent.glob(f"{prefix_of(path)}????????"):
                    left.unlink(missing_ok=True)

    def open_log(self, key: Keyed) -> EventLog:
        """The log of a run that begins: a context manager, and an Observer inside. What a killed session left of the same run goes away.

        Raises nothing: where nothing can be written, `save` says so.
        """
        with contextlib.suppress(OSError):
            self.ignore_itself()
        return EventLog(self.paths(key).events)

    def save(self, record: Record, log: EventLog, patch: str, handover: bytes | None = None) -> StoredRun:
        """Store a run whose log is open. Raises OSError when the disk does not take it.

        A process that is killed here leaves the old run, or none, or the new one: never a record with another run's files.
        """
        paths = self.paths(record)
        self.ignore_itself()
        files: dict[Path, str | bytes] = {paths.patch: patch}
        if handover is not None:
            files[paths.handover] = handover
        files[paths.record] = _text(record)
        with ExitStack() as stack:
            ready = {path: stack.enter_context(staged(path, content)) for path, content in files.items()}
            paths.record.unlink(missing_ok=True)
            log.finish()
            if handover is None:
                paths.handover.unlink(missing_ok=True)
            for path, new in ready.items():  # the record last
                os.replace(new, path)
        return paths

    def ignore_itself(self) -> None:
        """Keep the directory out of git. Raises OSError."""
        ignore = self.directory / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, "*\n")

    def records(self) -> list[Record]:
        """All records in the directory, sorted by path. Raises UsageError for a file that is not one."""
        return [record for _, record in _runs_in(self.directory)]


def stored_runs(folder: Path) -> list[tuple[StoredRun, Record]]:
    """The runs of a results folder, or of one agent's folder in it, sorted by path. Raises UsageError for a folder that is none, and
    naming the file that is not a record."""
    if not folder.is_dir():
        raise UsageError(f"there is no results folder {folder}.")
    return _runs_in(folder)


def _runs_in(folder: Path) -> list[tuple[StoredRun, Record]]:
    files = sorted(folder.glob("*/*.json")) or sorted(file for file in folder.glob("*.json") if file.name != VERDICT_FILE)
    return [(StoredRun.of(file), read_record(file)) for file in files]


def _text(record: Record) -> str:
    return record.model_dump_json(indent=2) + "\n"


def write_record(path: Path, record: Record) -> None:
    """Put a record in the place of the one that was made of the same run's files. Raises OSError."""
    write_whole(path, _text(record))


def read_record(path: Path) -> Record:
    """A record from its file. Raises UsageError naming the file and what is wrong with it."""
    try:
        data = path.read_bytes()
        found = json.loads(data)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not the record of a run: {error}") from None
    version = found.get("schema_version") if isinstance(found, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise UsageError(
            f"{path} has schema version {version}; this release reads {SCHEMA_VERSION}. Use the release that wrote it"
            f"{_written_by(found)}, or another results folder."
        )
    try:
        return Record.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ", ".join(map(str, first["loc"])) or "the whole file"
        newer = f"{_written_by(found)}; this is {__version__}" if first["type"] == "extra_forbidden" else ""
        raise UsageError(f"{path} is not the record of a run: {where}: {first['msg']}{newer}") from None


def _written_by(found: dict[str, object]) -> str:
    return f" (pytest-fdegym {found['harness_version']})" if "harness_version" in found else ""
