"""What grading the whole suite costs: do-nothing on every task with two workers, beside a plain pytest session with as many empty tests.

    python benchmarks/suite.py [--tasks tasks] [--workers 2] [--runs 3] [--no-replay]

A first session fills the caches (KPIs of baselines and references) and is not counted. Then sessions of both kinds take turns; medians are
printed. The replay time of each task is measured apart, in this process, from handover to the measured KPI (freezing, deployment, the
traffic, `measure`), with the yardstick known.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_fdegym.admission.actors import DoNothing
from pytest_fdegym.observer import Event
from pytest_fdegym.people.router import default_router
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.choose import choose
from pytest_fdegym.scenario.loader import load

ROOT = Path(__file__).parents[1]


def session(folder: Path, cache: Path, *arguments: str) -> float:
    """Wall seconds of one pytest session in `folder`. Raises CalledProcessError unless everything passed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYT")} | {"XDG_CACHE_HOME": str(cache)}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    return time.perf_counter() - started


def tasks_of(tasks: Path) -> list[tuple[Path, str]]:
    """Every task below `tasks`: the scenario's folder and the variant."""
    scenarios = [load(file.parent) for file in sorted(tasks.glob("*/scenario.yaml"))]
    return [(scenario.folder, variant) for scenario in scenarios for variant in scenario.variants]


class _Clock:
    """Notes when a run's events happen."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}

    def notify(self, event: Event) -> None:
        self.at[event.kind] = time.perf_counter()

    @property
    def replay(self) -> float:
        """Seconds from handover to the measured KPI."""
        return self.at["replay"] - self.at["handover"]


def replay_seconds(tasks: list[tuple[Path, str]], runs: int) -> dict[str, float]:
    """By task, the median replay time of do-nothing; the first run of each task, which measures the yardstick, is left out."""
    found = {}
    with Settings(sandbox=choose("auto"), router=default_router()) as settings:
        for folder, variant in tasks:
            case = Case(load(folder), variant, "L3")
            run(case, DoNothing(), settings)
            times = []
            for _ in range(runs):
                clock = _Clock()
                run(case, DoNothing(), settings, clock)
                times.append(clock.replay)
            found[case.task] = statistics.median(times)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=Path, default=ROOT / "tasks")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-replay", action="store_true", help="leave out the replay time of each task")
    options = parser.parse_args()
    tasks = tasks_of(options.tasks)
    workers = f"-n{options.workers}"
    with tempfile.TemporaryDirectory(prefix="fde-suite-") as name:
        folder = Path(name)
        (folder / "plain").mkdir()
        (folder / "plain" / "test_empty.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(len(tasks))))
        (folder / "graded").mkdir()
        (folder / "graded" / "pytest.ini").write_text("[pytest]\n")
        cache = folder / "cache"
        grading = ("--fde-agent=do-nothing", f"--fde-tasks={options.tasks.resolve()}", "--fde-gate=none", "--fde-results=results", workers)
        first = session(folder / "graded", cache, *grading)
        plain, graded = [], []
        for _ in range(options.runs):
            plain.append(session(folder / "plain", cache, workers))
            graded.append(session(folder / "graded", cache, *grading))
    ours, theirs = statistics.median(graded), statistics.median(plain)
    print(f"{len(tasks)} tasks, {options.workers} workers, medians of {options.runs} sessions")
    print(f"first session, which fills the caches  {first:8.2f} s")
    print(f"grading do-nothing                     {ours:8.2f} s, {ours / len(tasks):.3f} s a task")
    print(f"as many empty tests                    {theirs:8.2f} s, {theirs / len(tasks):.3f} s a test")
    print(f"ratio                                  {ours / theirs:8.2f}")
    if not options.no_replay:
        found = replay_seconds(tasks, options.runs)
        print("\nreplay, seconds")
        for task, seconds in found.items():
            print(f"{task:<32}{seconds:8.3f}")


if __name__ == "__main__":
    main()
