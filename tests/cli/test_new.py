"""`fdegym new`: a scenario that passes admission as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pytest_fdegym.commands.new import scaffold
from pytest_fdegym.scenario.loader import load
from tests.cli.conftest import Fdegym


def test_new_says_what_to_do_next(fdegym: Fdegym, project: Path) -> None:
    code, out, err = fdegym("new", "boot_shop")
    assert (code, err) == (0, "")
    assert out == (
        "tasks/boot_shop is a scenario of a shop that refuses too many returns, and passes admission as it is.\n"
        "  fdegym admit tasks/boot_shop --fde-seed=1-3   checks its anchors\n"
        "  fdegym talk tasks/boot_shop fenn              talks to one of its people\n"
        "  fdegym routing tasks/boot_shop                measures how questions reach topics\n"
        "Next: put your customer's story in its place, file by file, starting with scenario.yaml.\n"
    )
    scenario = load(project / "tasks" / "boot_shop")
    assert (scenario.id, scenario.file.title, scenario.variants, scenario.warnings) == ("boot_shop", "Boot shop", ("v1", "v2"), ())


def test_the_new_scenario_passes_admission_as_it_is(demo: Path) -> None:
    """In a process of its own, as an author would do it: all anchors and lints, without a warning, on three seeds."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--fde-admission", "tasks/demo", "--fde-seed=1-3"]
    result = subprocess.run(command, cwd=demo.parents[1], env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "29 of 29 anchors hold" in result.stdout
    assert "warning" not in result.stdout


def test_it_shows_every_kind_of_file() -> None:
    files = scaffold("demo")
    tops = {path.split("/")[0] for path in files}
    yaml = {"scenario.yaml", "people.yaml", "questions.yaml", "worth.yaml"}
    assert tops == {*yaml, "briefs", "site", "site.v2", "world.py", "solutions", "README.md"}
    kinds = {path.split("/")[1] for path in files if path.startswith("solutions/")}
    assert kinds == {"reference", "literal", "shortcuts", "bypasses", "alternates", "ablations"}
    assert not [path for path, text in files.items() if "__ID__" in text or "__TITLE__" in text or not text.endswith("\n")]


def test_another_folder(fdegym: Fdegym, project: Path) -> None:
    code, out, _ = fdegym("new", "demo", "--into", "customers/shops")
    assert code == 0
    assert out.startswith("customers/shops/demo is a scenario")
    assert (project / "customers" / "shops" / "demo" / "world.py").is_file()


def test_nothing_is_overwritten(fdegym: Fdegym, demo: Path) -> None:
    (demo / "world.py").write_text("# mine\n")
    assert fdegym("new", "demo") == (2, "", "fdegym new: tasks/demo exists already; nothing was written\n")
    assert (demo / "world.py").read_text() == "# mine\n"


def test_a_name_that_is_no_id(fdegym: Fdegym, project: Path) -> None:
    assert fdegym("new", "My shop!") == (
        2,
        "",
        "fdegym new: 'My shop!' cannot be a scenario's id: at most 40 small letters, digits and _ are accepted, a letter first. "
        "Perhaps 'my_shop'?\n",
    )
    assert fdegym("new", "../up") == (
        2,
        "",
        "fdegym new: '../up' cannot be a scenario's id: at most 40 small letters, digits and _ are accepted, a letter first. "
        "Perhaps 'up'?\n",
    )
    assert list(project.iterdir()) == []
