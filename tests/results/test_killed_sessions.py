"""Sessions that are killed at any moment, and resumed: no half record, nothing finished is run again, and the table is the same in the end.

The moment is drawn, and counted rather than timed: the n-th thing that happens in the results folder (a file that is opened, renamed or
removed, an event of a run), so that each step of storing is hit, and a failure can be repeated.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fdegym.results.handover import opened
from pytest_fdegym.results.store import StoredRun, read_record
from tests.support.tiny_scenario import write_tiny_scenario

MOMENTS = """
import atexit, os, signal, sys
from pathlib import Path

results, happened, fatal = str(Path(".fdegym/results").absolute()), 0, int(os.environ["KILL_AT"])

def happens():
    global happened
    happened += 1
    if happened == fatal:
        os.kill(os.getpid(), signal.SIGKILL)

def audited(event, arguments):
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate") and results in str(arguments[0]):
        happens()

def pytest_fdegym_event(item, event):
    if event.kind == "start":
        with open("begun", "a") as begun:
            begun.write(item.nodeid + "\\n")
    happens()

sys.addaudithook(audited)
atexit.register(lambda: Path("happened").write_text(str(happened)))
"""
MOST_KILLS = 4
"""Of one store, before its session may end."""


class Project:
    """A project with a tiny task, in which whole sessions are started."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.results = folder / ".fdegym/results"
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TMPDIR": str(folder / "tmp")}
        (folder / "tmp").mkdir(parents=True)
        write_tiny_scenario(folder / "tasks/tiny_post")
        (folder / "pytest.ini").write_text("[pytest]\naddopts = --fde-tasks=tasks -p no:cacheprovider\n")
        (folder / "conftest.py").write_text(MOMENTS)

    def session(self, kill_at: int = 0) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", "--fde-agent=expert", "--fde-levels=all", "--fde-runs=2", "--fde-resume"]
        environment = {**self._environment, "KILL_AT": str(kill_at)}
        result = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode in (0, -signal.SIGKILL), result.stdout + result.stderr
        return result.returncode, result.stdout

    @property
    def moments(self) -> int:
        """How many there were in the last session."""
        return int((self.folder / "happened").read_text())

    def begun(self) -> list[str]:
        """The ids of the items whose runs began in the last session."""
        file = self.folder / "begun"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def finished(self) -> dict[str, bytes]:
        """The finished runs by item, each whole."""
        found = {}
        for path in self.results.glob("*/*.json"):
            record, stored = read_record(path), StoredRun.of(path)
            assert stored.events.read_text().endswith("}\n")
            assert stored.patch.read_text().startswith("--- a/system/shipping.py")
            with opened(stored.handover, record.delivery_digest) as (handover, _):
                assert len(handover.contacts) == record.engaged.messages == 2
            found[f"tasks/tiny_post/scenario.yaml::{record.variant}::{record.level}-run{record.run}"] = path.read_bytes()
        return found


def table(out: str) -> list[str]:
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("task  "))
    return [line for line in lines[start:-1] if not line.startswith(("resume: ", "results: "))]


def finished_and_unchanged(project: Project, before: Mapping[str, bytes]) -> dict[str, bytes]:
    after = project.finished()
    assert {name: after.get(name) for name in before} == before
    assert not set(project.begun()) & set(before), "what was finished is not begun again"
    return after


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_and_resumed(tmp_path: Path, kills: int) -> None:
    undisturbed = Project(tmp_path / "undisturbed", tmp_path / "cache")
    expected, moments = table(undisturbed.session()[1]), undisturbed.moments
    assert len(undisturbed.finished()) == 10
    drawn = random.Random(kills)
    done = number = 0
    while done < kills:
        number += 1
        project = Project(tmp_path / str(number), tmp_path / "cache")
        finished: dict[str, bytes] = {}
        for attempt in range(MOST_KILLS + 1):
            wanted = drawn.randint(1, moments) if attempt < MOST_KILLS and done < kills else 0
            code, out = project.session(wanted)
            finished = finished_and_unchanged(project, finished)
            if code == 0:
                break
            done += 1
        assert (table(out), len(finished)) == (expected, 10)
        left = [
            path.name for path in project.results.rglob("*") if path.is_file() and path.suffix not in (".json", ".jsonl", ".patch", ".gz")
        ]
        assert left == [".gitignore"], "nothing half is left"
