"""The bundled tasks meet every anchor: on many seeds in a slow sweep, on a sample of them in every run of the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fdegym.scenario.loader import peek

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(file.parent for file in (ROOT / "tasks").glob("*/scenario.yaml"))
TASKS = [(folder.name, variant.id) for folder in FOLDERS for variant in peek(folder).variants]
FEWEST = 13
"""Checks of a variant: two lints, the canaries, do-nothing, the reference, the expert, the literal, and what the author
measured beside them."""

each_task = pytest.mark.parametrize(("scenario", "variant"), TASKS)


def admit(scenario: str, variant: str, seeds: str, cache: Path, *selection: str) -> None:
    """Run admission as an author does, and hold up what it printed unless all anchors hold."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {"XDG_CACHE_HOME": str(cache)}
    # By its id, for the name of a variant is part of solutions' names (v1_by_heart).
    arguments = ["--fde-admission", f"tasks/{scenario}/scenario.yaml::{variant}", f"--fde-seed={seeds}", *selection]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    held = re.search(r"^(\d+) of (\d+) anchors hold$", result.stdout, re.MULTILINE)
    assert held is not None, said
    assert int(held[1]) == int(held[2]) >= FEWEST - bool(selection), said


@each_task
def test_on_a_sample_of_seeds(scenario: str, variant: str, tmp_path: Path) -> None:
    """Three seeds of the original; of every other variant one of these, without canaries, for most files are the original's."""
    if variant == "v1":
        admit(scenario, variant, "1-3", tmp_path)
    else:
        admit(scenario, variant, str((int(variant.removeprefix("v")) - 1) % 3 + 1), tmp_path, "-k", "not canaries")


@pytest.mark.slow
@each_task
def test_on_twenty_seeds(scenario: str, variant: str, tmp_path: Path) -> None:
    admit(scenario, variant, "1-20", tmp_path)
