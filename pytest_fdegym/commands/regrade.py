"""Grades stored deliveries again after a change of the scenario or of the harness, without running any agent.

What was handed over and what people had approved by then is replayed on today's traffic; contacts and what they cost stay as they were.
Runs of which nothing was changed are left alone, and so are those whose brief, people.yaml, site or parameters were changed since, for an
agent would meet something else now. What world.py writes into the site is not looked at: where that was changed, run the agent again, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_fdegym.bundled import cache_folder
from pytest_fdegym.commands.find import SCENARIO_FILE, find_scenario
from pytest_fdegym.errors import FdeGymError, UsageError
from pytest_fdegym.people.router import default_router
from pytest_fdegym.regrading import is_current, is_of_this_world, regraded, why_not
from pytest_fdegym.results.claim import Claimed, claim
from pytest_fdegym.results.events import now
from pytest_fdegym.results.handover import opened
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import StoredRun, read_record, stored_runs, write_record
from pytest_fdegym.sandbox import choose
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.settings import Settings

CAUTION = (
    "caution: {count} {were} made in the scenario as it was before: if world.py writes something else into the site now, run the agent "
    "again (without --fde-resume)"
)
_SANDBOXES = ("auto", "bubblewrap", "landlock", "sandbox-exec", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("stores", nargs="+", type=Path, metavar="STORE", help="a results folder, or one agent's folder in it")
    parser.add_argument(
        "--tasks",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="a folder of scenario folders, looked at before ./tasks and the bundled ones (repeatable)",
    )
    parser.add_argument("--all", action="store_true", help="grade again also what nothing was changed of")
    parser.add_argument("--anyway", action="store_true", help="grade also runs whose agent would meet something else now")
    parser.add_argument("--dry-run", action="store_true", help="say what would be graded again, and change nothing")
    parser.add_argument("--sandbox", choices=_SANDBOXES, default="auto", help="what confines the deliveries (default: auto)")


def run(options: argparse.Namespace) -> int:
    """Grade, and print a line for each run that was graded or could not be; returns 1 if any could not. Raises UsageError."""
    files = [each for store in options.stores for each in stored_runs(store)]
    if not files:
        raise UsageError(f"{', '.join(map(str, options.stores))}: there is no record of a run.")
    scenarios = _Scenarios(options.tasks)
    again = left = changed = 0
    failed: list[str] = []
    with Settings(choose(options.sandbox), default_router(), cache=cache_folder() / "kpis") as settings:
        for stored, record in files:
            try:
                scenario = scenarios[record.scenario]
                if (reason := why_not(record, scenario, anyway=options.anyway or is_current(record, scenario))) is not None:
                    raise UsageError(reason)
                if is_current(record, scenario) and not options.all:
                    left += 1
                elif options.dry_run:
                    again += 1
                    changed += not is_of_this_world(record, scenario)
                    print(f"{_named(record)}: would be graded again")
                else:
                    print(_once(stored, scenario, settings), flush=True)
                    changed += not is_of_this_world(record, scenario)
                    again += 1
            except Claimed as holder:
                failed.append(f"{_named(record)}: {holder} is running it")
            except (FdeGymError, OSError) as error:
                failed.append(f"{_named(record)}: {error}")
    for text in failed:
        print(f"not graded again: {text}")
    if changed:
        print(CAUTION.format(count=changed, were="was" if changed == 1 else "were"))
    print(f"{'would be graded' if options.dry_run else 'graded'} again {again}, nothing changed {left}, not possible {len(failed)}")
    return int(bool(failed))


def _once(stored: StoredRun, scenario: Scenario, settings: Settings) -> str:
    with claim(stored.lock, wait=False):
        record = read_record(stored.record)  # once more: it may have been run again meanwhile
        with opened(stored.handover, record.delivery_digest) as (handover, frozen):
            new = regraded(record, handover, frozen, scenario, settings, now())
        write_record(stored.record, new)
    assert record.scores is not None
    assert new.scores is not None
    return f"{_named(record)}: score {new.scores.score:.3f}, was {record.scores.score:.3f}"


def _named(record: Record) -> str:
    seed = f", seed {record.seed}" if record.seed != 1 else ""
    return f"{record.task} at {record.level}, run {record.run}{seed}, agent {record.agent.name}"


class _Scenarios(Mapping[str, Scenario]):
    """Scenarios by id, loaded when they are asked for."""

    def __init__(self, folders: list[Path]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"--tasks: there is no folder {folder}")
        self._folders = folders
        self._loaded: dict[str, Scenario] = {}

    def __getitem__(self, name: str) -> Scenario:
        if name not in self._loaded:
            named = (folder / name for folder in self._folders if (folder / name / SCENARIO_FILE).is_file())
            self._loaded[name] = load(next(named, None) or find_scenario(name))
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
