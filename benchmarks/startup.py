"""What an unrelated pytest session pays for having the plugin installed: two throwaway virtual environments, interleaved runs, medians.

    python benchmarks/startup.py [--runs 40] [--pytest 9.2.0]

Exits with 1 if the plugin costs more than 10 ms and 5 %, or if something of ours was collected or loaded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_MS = 10.0
MOST_RATIO = 1.05
HEAVY = ("pydantic", "yaml", "jinja2", "pytest_fdegym.pytest_side.activation")
TEST = f"""\
import sys

def test_unrelated():
    assert not [name for name in {HEAVY!r} if name in sys.modules]
"""


def make_environment(folder: Path, *packages: str) -> Path:
    """A virtual environment with `packages`; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def seconds(python: Path, project: Path) -> float:
    """Wall time of one session. Raises CalledProcessError if its only test does not pass."""
    # A user has bytecode written, and none of our settings.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYT")}
    started = time.perf_counter()
    result = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=project, env=environment, check=True, capture_output=True, text=True
    )
    taken = time.perf_counter() - started
    assert "1 passed" in result.stdout, result.stdout
    return taken


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--pytest", default="")
    options = parser.parse_args()
    requirement = f"pytest=={options.pytest}" if options.pytest else "pytest"
    with tempfile.TemporaryDirectory(prefix="fde-startup-") as name:
        folder = Path(name)
        project = folder / "project"
        (project / "tasks" / "unrelated").mkdir(parents=True)
        (project / "test_unrelated.py").write_text(TEST)
        # A scenario's folder in the project must be left alone as well.
        (project / "tasks" / "unrelated" / "scenario.yaml").write_text("id: unrelated\n")
        (project / "tasks" / "unrelated" / "world.py").write_text("")
        bare = make_environment(folder / "bare", requirement)
        ours = make_environment(folder / "ours", requirement, str(build_wheel(folder / "wheel")))
        for python in (bare, ours):
            seconds(python, project)  # bytecode is written once
        without: list[float] = []
        with_plugin: list[float] = []
        for number in range(options.runs):
            pair = [(bare, without), (ours, with_plugin)]
            for python, times in pair if number % 2 else reversed(pair):
                times.append(seconds(python, project))
    before, after = 1000 * statistics.median(without), 1000 * statistics.median(with_plugin)
    paired = 1000 * statistics.median(b - a for a, b in zip(without, with_plugin, strict=True))
    ratio = after / before
    print(f"without the plugin  {before:7.1f} ms (median of {options.runs})")
    print(f"with the plugin     {after:7.1f} ms")
    print(f"difference          {after - before:+7.1f} ms, ratio {ratio:.3f} (median of paired differences {paired:+.1f} ms)")
    print(f"target              at most {MOST_MS:.0f} ms and a ratio of {MOST_RATIO}")
    return 0 if after - before <= MOST_MS and ratio <= MOST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
