"""The JSON Schemas in schemas/ are those of the models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fdegym.scenario.schema import SCHEMAS, main, stale

COMMITTED = Path(__file__).parents[2] / "schemas"


def test_the_committed_schemas_are_current() -> None:
    assert stale(COMMITTED) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_has_a_title_and_no_address(name: str) -> None:
    schema = json.loads((COMMITTED / name).read_text())
    assert schema["title"] == SCHEMAS[name][1]
    assert schema["additionalProperties"] is False
    assert "$id" not in schema


def test_check_names_what_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    assert main(["--check"]) == 0
    (tmp_path / "schemas/people.schema.json").unlink()
    (tmp_path / "schemas/record.schema.json").write_text("{}")
    assert main(["--check", "schemas"]) == 1
    assert capsys.readouterr().err == (
        "missing or stale in schemas: people.schema.json, record.schema.json; run python -m pytest_fdegym.scenario.schema\n"
    )


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest_fdegym.scenario.schema", str(tmp_path / "new")]
    subprocess.run(command, check=True, cwd=COMMITTED.parent)
    assert stale(tmp_path / "new") == []
