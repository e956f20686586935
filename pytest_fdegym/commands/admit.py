"""Checks the anchors that a scenario must meet: `pytest --fde-admission` for short.

Everything from the first option on goes to pytest as it is: `fdegym admit tasks/demo --fde-seed=1-20 -n 4 -k "v2 and expert"`.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys

from pytest_fdegym.commands.find import find_scenario
from pytest_fdegym.scenario.problems import shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="a scenario's folder, or the id of a bundled one")
    parser.add_argument("pytest_options", nargs=argparse.REMAINDER, metavar="PYTEST OPTIONS", help="what pytest is told besides")


def run(options: argparse.Namespace) -> int:
    """Print the command that this stands for, and run it; returns pytest's exit code."""
    command = ["pytest", "--fde-admission", *(shown(find_scenario(name)) for name in options.scenarios), *options.pytest_options]
    print(shlex.join(command), flush=True)
    return subprocess.run([sys.executable, "-m", *command], check=False).returncode
