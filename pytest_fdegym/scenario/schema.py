"""JSON Schemas of the files that authors and users meet: ``python -m pytest_fdegym.scenario.schema [--check] [FOLDER]``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from pytest_fdegym.results.baseline import Baseline
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.verdict import Verdict

from .model import PeopleFile, ScenarioFile, SolutionManifest

SCHEMAS: Mapping[str, tuple[type[BaseModel], str, str]] = {
    "scenario.schema.json": (ScenarioFile, "scenario.yaml", "Identity, KPI, parameters, facts, entry points and variants."),
    "people.schema.json": (PeopleFile, "people.yaml", "Who can be asked, what they say and under which conditions."),
    "manifest.schema.json": (SolutionManifest, "manifest.yaml", "What a folder of solutions/ is, and what it is granted."),
    "baseline.schema.json": (Baseline, "Baseline", "The scores of one agent, with which --fde-gate=baseline compares."),
    "verdict.schema.json": (Verdict, "Verdict", "What --fde-gate=baseline and fdegym gate find, and what it rests on."),
    "record.schema.json": (Record, "Record of a run", "What is stored of one run of one agent on one task."),
}
"""File name -> model, title, description."""


def schema_text(name: str) -> str:
    """The JSON Schema of one of `SCHEMAS`, as it is written to its file."""
    model, title, description = SCHEMAS[name]
    # Records and verdicts are read by others as we write them; the other files are for us to read.
    schema = model.model_json_schema(mode="serialization" if model in (Record, Verdict) else "validation")
    described: dict[str, Any] = {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": title, "description": description}
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def stale(folder: Path) -> list[str]:
    """The names of the schemas in `folder` that are missing or say something else than the models."""
    return [name for name in SCHEMAS if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != schema_text(name)]


def write(folder: Path) -> None:
    """Write all schemas into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (folder / name).write_text(schema_text(name), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the schemas, or with ``--check`` say which are stale; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pytest_fdegym.scenario.schema", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("schemas"), metavar="FOLDER", help="where they lie (default: schemas)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a schema is missing or stale")
    options = parser.parse_args(arguments)
    if not options.check:
        write(options.folder)
        return 0
    names = stale(options.folder)
    if names:
        print(f"missing or stale in {options.folder}: {', '.join(names)}; run python -m pytest_fdegym.scenario.schema", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
