"""The command itself: help, names of scenarios, exit codes."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from pytest_fdegym.cli import main
from pytest_fdegym.commands import COMMANDS
from tests.cli.conftest import Fdegym


def test_the_console_script_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="fdegym")
    assert script.load() is main


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert command.__doc__
        assert f"    {name} " in text


def test_a_scenario_that_does_not_exist(fdegym: Fdegym, demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    monkeypatch.setattr("pytest_fdegym.commands.find.bundled_tasks", lambda: tmp_path / "bundle")
    assert fdegym("routing", "demmo") == (
        2,
        "",
        "fdegym routing: there is no scenario 'demmo'. Did you mean 'demo'? A folder, or one of these, is expected: demo.\n",
    )
    assert fdegym("routing", "tasks") == (
        2,
        "",
        "fdegym routing: the folder tasks holds no scenario.yaml. A folder, or one of these, is expected: demo.\n",
    )


@pytest.mark.parametrize("name", ["demo", "tasks/demo", "tasks/demo/", "tasks/demo/scenario.yaml"])
def test_ways_to_name_a_scenario(fdegym: Fdegym, demo: Path, name: str) -> None:
    code, out, _ = fdegym("routing", name)
    assert code == 0
    assert out.startswith("demo.v1, 10 questions, router embedded-1\n")


def test_an_authors_mistake_is_told_with_its_line(fdegym: Fdegym, demo: Path) -> None:
    text = (demo / "people.yaml").read_text()
    (demo / "people.yaml").write_text(text.replace("patience: 3", "patience: some", 1))
    code, out, err = fdegym("talk", "demo", "fenn")
    line = text[: text.index("patience: 3")].count("\n") + 1
    assert (code, out) == (1, "")
    assert err == (
        f"1 problem in the scenario tasks/demo:\ntasks/demo/people.yaml:{line}: people.marsh.patience: "
        "'some' (text) is not accepted; expected: a whole number\n"
    )


def test_admit_prints_what_it_stands_for_and_passes_options_on(demo: Path) -> None:
    command = [sys.executable, "-m", "pytest_fdegym.cli", "admit", "demo", "--fde-seed=2", "-k", "v2 and literal", "-p", "no:cacheprovider"]
    result = subprocess.run(command, cwd=demo.parents[1], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith("pytest --fde-admission tasks/demo --fde-seed=2 -k 'v2 and literal' -p no:cacheprovider\n")
    assert "1 of 1 anchors hold" in result.stdout


def test_admit_fails_as_pytest_does(demo: Path) -> None:
    (demo / "scenario.yaml").write_text((demo / "scenario.yaml").read_text().replace("minimum_gap: 20", "minimum_gap: 99"))
    command = [sys.executable, "-m", "pytest_fdegym.cli", "admit", "demo", "-q", "-k", "v1 and reference", "-p", "no:cacheprovider"]
    result = subprocess.run(command, cwd=demo.parents[1], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "seed 1: reference: gains 30.83 % over the system as found; scenario.yaml states at least 99" in result.stdout
