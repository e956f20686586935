"""Where records, event logs and delivery patches stand on disk; each is written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity, Record

LONGEST_NAME = 40
"""Characters of an agent's name in the name of its folder."""


def write_whole(path: Path, text: str) -> None:
    """Write `text` so that a reader finds the old file or the new one, never a part. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def event_line(event: Event) -> str:
    """An event as one line of JSON: kind, simulated time where there is one, data."""
    line = {"kind": event.kind, "at": event.at.isoformat() if event.at else None, **event.data}
    text = json.dumps(line, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, from a name or an output that is not UTF-8
        return json.dumps(line, default=str)
    return text


def folder_name(agent: str) -> str:
    """A short folder name for an agent's name, which may be a whole shell command; different names never share a folder."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", agent).strip("-.")[:LONGEST_NAME].rstrip("-.")
    if plain == agent:
        return plain
    return f"{plain or 'agent'}-{hashlib.sha256(agent.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def _whole_name(agent: AgentIdentity) -> str:
    """A command's name is cut, so that two commands may share it; the whole one is among its options."""
    return f"cmd:{agent.options['command']}" if agent.name.startswith("cmd:") and "command" in agent.options else agent.name


@dataclass(frozen=True)
class StoredRun:
    """The three files of one run; the log and the patch are written before the record that makes them count."""

    record: Path
    events: Path
    patch: Path


class Store:
    """A directory of runs, keyed by agent, task, level and run; a newer run takes the place of an older one.

    The directory ignores itself in git, since records hold what agents must not see.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def paths(self, record: Record) -> StoredRun:
        """Where the files of `record` are (to be) found."""
        agent = folder_name(_whole_name(record.agent))
        stem = f"{record.task}.{record.level}.run{record.run}"
        if record.seed != 1:
            stem += f".seed{record.seed}"
        folder = self.directory / agent
        return StoredRun(folder / f"{stem}.json", folder / f"{stem}.events.jsonl", folder / f"{stem}.patch")

    def save(self, record: Record, events: Sequence[Event], patch: str) -> StoredRun:
        """Write one run. Raises OSError when the disk does not take it."""
        paths = self.paths(record)
        ignore = self.directory / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, "*\n")
        write_whole(paths.events, "".join(event_line(event) + "\n" for event in events))
        write_whole(paths.patch, patch)
        write_whole(paths.record, record.model_dump_json(indent=2) + "\n")
        return paths

    def records(self) -> list[Record]:
        """All records in the directory, sorted by path. Raises pydantic.ValidationError for a file that is not one."""
        return [Record.model_validate_json(path.read_bytes()) for path in sorted(self.directory.glob("*/*.json"))]
