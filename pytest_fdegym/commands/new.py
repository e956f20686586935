"""Writes a small scenario that passes admission, with comments that say what each part is for.

Start from it: change the story piece by piece and keep `fdegym admit` green.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.scenario.problems import shown

SCAFFOLD = Path(__file__).with_name("scaffold.txt")
"""One file, since every file of a distribution with a pytest plugin costs each pytest session start-up time."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FILE = re.compile(r"^==> (\S+) <==\n", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="the scenario's id: small letters, digits and _")
    parser.add_argument("--into", type=Path, default=Path("tasks"), metavar="FOLDER", help="where its folder is made (default: tasks)")


def run(options: argparse.Namespace) -> int:
    """Write the folder and say what to do with it."""
    folder = write_scaffold(options.name, options.into)
    print(
        f"{shown(folder)} is a scenario of a shop that refuses too many returns, and passes admission as it is.\n"
        f"  fdegym admit {shown(folder)} --fde-seed=1-3   checks its anchors\n"
        f"  fdegym talk {shown(folder)} fenn              talks to one of its people\n"
        f"  fdegym routing {shown(folder)}                measures how questions reach topics\n"
        "Next: put your customer's story in its place, file by file, starting with scenario.yaml."
    )
    return 0


def scaffold(name: str) -> Mapping[str, str]:
    """The files of a new scenario called `name`, by path in its folder."""
    _, *parts = _FILE.split(SCAFFOLD.read_text(encoding="utf-8"))
    title = name.replace("_", " ").capitalize()
    return {path: text.replace("__ID__", name).replace("__TITLE__", title) for path, text in zip(parts[::2], parts[1::2], strict=True)}


def write_scaffold(name: str, into: Path) -> Path:
    """Write a new scenario into `into`/`name` and return that folder. Raises UsageError for a bad name and where something is already."""
    if not _NAME.fullmatch(name):
        usable = re.sub(r"\W+", "_", name.lower()).strip("_")
        hint = f" Perhaps {usable!r}?" if _NAME.fullmatch(usable) else ""
        raise UsageError(f"{name!r} cannot be a scenario's id: at most 40 small letters, digits and _ are accepted, a letter first.{hint}")
    folder = into / name
    if folder.exists():
        raise UsageError(f"{shown(folder)} exists already; nothing was written")
    for path, text in scaffold(name).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder
