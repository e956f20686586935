"""Where records, event logs and delivery patches stand on disk; each is written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_fdegym.results.events import EventLog
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import AgentIdentity, Record

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
    """The three files of one run; the log and the patch are written before the record that makes them count."""

    record: Path
    events: Path
    """While the run lasts, the log grows under this name with ``.part`` at its end."""
    patch: Path


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
        folder = self.directory / agent
        return StoredRun(folder / f"{stem}.json", folder / f"{stem}.events.jsonl", folder / f"{stem}.patch")

    def open_log(self, key: Keyed) -> EventLog:
        """The log of a run that begins: a context manager, and an Observer inside. What a killed session left of the same run goes away.

        Raises nothing: where nothing can be written, `save` says so.
        """
        with contextlib.suppress(OSError):
            self._ignore_itself()
        return EventLog(self.paths(key).events)

    def save(self, record: Record, log: EventLog, patch: str) -> StoredRun:
        """Store a run whose log is open. Raises OSError when the disk does not take it."""
        paths = self.paths(record)
        self._ignore_itself()
        log.finish()
        write_whole(paths.patch, patch)
        write_whole(paths.record, record.model_dump_json(indent=2) + "\n")
        return paths

    def _ignore_itself(self) -> None:
        ignore = self.directory / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, "*\n")

    def records(self) -> list[Record]:
        """All records in the directory, sorted by path. Raises pydantic.ValidationError for a file that is not one."""
        return [Record.model_validate_json(path.read_bytes()) for path in sorted(self.directory.glob("*/*.json"))]
