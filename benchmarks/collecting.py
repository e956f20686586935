"""What collecting a large private suite costs: copies of a scenario under other ids, alone and by workers, beside as many empty tests.

    python benchmarks/collecting.py [--scenario tasks/oncall_incident] [--copies 19] [--workers 2] [--runs 5]

The first session knows nothing of the folders and checks them whole; the later ones are what an author or a CI with a cache meets.
Medians of the sessions after the first are printed, in seconds, and how much of it is the plugin's.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_fdegym.scenario.loader import peek

ROOT = Path(__file__).parents[1]
NO_TESTS_RAN = 5


def copies(scenario: Path, count: int, target: Path) -> int:
    """Put `count` copies of a scenario's folder into `target`, each under an id of its own; returns how many tasks that makes."""
    for number in range(count):
        folder = target / f"suite_{number}"
        shutil.copytree(scenario, folder, ignore=shutil.ignore_patterns("__pycache__"))
        file = folder / "scenario.yaml"
        file.write_text(re.sub(r"^id: .*$", f"id: {folder.name}", file.read_text(), count=1, flags=re.MULTILINE))
    return count * len(peek(scenario).variants)


def session(folder: Path, cache: Path, *arguments: str) -> float:
    """Wall seconds of one pytest session that runs nothing. Raises RuntimeError when something could not be collected."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYT")} | {"XDG_CACHE_HOME": str(cache)}
    started = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    taken = time.perf_counter() - started
    if result.returncode not in (0, NO_TESTS_RAN) or "error" in result.stdout:
        raise RuntimeError(result.stdout + result.stderr)
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", type=Path, default=ROOT / "tasks" / "oncall_incident")
    parser.add_argument("--copies", type=int, default=19)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    # Workers do not collect for --collect-only, so there everything is deselected.
    ways = {"alone": ("--collect-only",), f"-n {options.workers}": (f"-n{options.workers}", "-k", "nothing_is_called_so")}
    with tempfile.TemporaryDirectory(prefix="fde-collecting-") as name:
        root = Path(name)
        (root / "project").mkdir()
        (root / "project" / "pytest.ini").write_text("[pytest]\n")
        (root / "empty").mkdir()
        tasks = copies(options.scenario, options.copies, root / "tasks")
        (root / "empty" / "test_empty.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(tasks)))
        print(f"{tasks} tasks in {options.copies} folders, medians of {options.runs} sessions")
        print(f"{'':<12}{'first':>8}{'later':>8}{'as many empty tests':>22}{'difference':>13}")
        for way, arguments in ways.items():
            grading = ("--fde-agent=do-nothing", f"--fde-tasks={root / 'tasks'}", "--fde-results=results", *arguments)
            cache = root / f"cache{way}"
            first = session(root / "project", cache, *grading)
            later, empty = [], []
            for _ in range(options.runs):
                later.append(session(root / "project", cache, *grading))
                empty.append(session(root / "empty", cache, *arguments))
            ours, theirs = statistics.median(later), statistics.median(empty)
            print(f"{way:<12}{first:>8.2f}{ours:>8.2f}{theirs:>22.2f}{ours - theirs:>13.2f}")


if __name__ == "__main__":
    main()
