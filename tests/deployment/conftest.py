"""The real sandboxes of this machine, one after the other, and a way to put a few lines of code into production."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.deployment.freeze import freeze
from pytest_fdegym.deployment.host import Deployment, ReplayBounds
from pytest_fdegym.deployment.moments import Moments
from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.sandbox.choose import choose
from pytest_fdegym.scenario.model import Database, EntryPoint, ScenarioFile
from pytest_fdegym.scenario.world import TableChange


@pytest.fixture(scope="session", params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        yield choose(request.param)
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))


def scenario(
    entry_points: Mapping[str, EntryPoint], databases: Mapping[str, Database], deployed: tuple[str, ...] = ("system",)
) -> ScenarioFile:
    """The parts of a scenario.yaml that matter in production."""
    return ScenarioFile.model_validate(
        {
            "id": "orchard",
            "title": "Crates of apples",
            "sector": "Agriculture",
            "country": "Austria",
            "customer": "Obsthof Lindner",
            "sponsor": "lindner",
            "kpi": {"name": "crates", "unit": "1", "minimum_gap": 1},
            "calendar": {"start": "2025-03-03T08:00:00"},
            "incidents": {},
            "parameters": {},
            "facts": {},
            "variants": {"v1": {"title": "As told"}},
            "deployed": deployed,
            "entry_points": {name: entry.model_dump() for name, entry in entry_points.items()},
            "databases": {name: spec.model_dump() for name, spec in databases.items()},
        }
    )


CRATES = """\
CREATE TABLE crates (id INTEGER PRIMARY KEY, grower TEXT NOT NULL, weight REAL);
CREATE TABLE prices (sort TEXT PRIMARY KEY, price REAL) WITHOUT ROWID;
CREATE TABLE labels (crate INTEGER, label TEXT);
CREATE INDEX crates_by_grower ON crates (grower);
CREATE TRIGGER price_of_nothing BEFORE INSERT ON prices WHEN new.price <= 0 BEGIN SELECT RAISE(ABORT, 'no price'); END;
INSERT INTO crates VALUES (1, 'Huber', 20.5), (2, 'Moser', 19.25), (3, 'Huber', 21.0);
INSERT INTO prices VALUES ('Elstar', 1.2), ('Gala', 1.4);
"""


@dataclass
class Production:
    """Puts code into production: ``with production.of("def f(x): return x") as system: system.call("f", 1)``."""

    folder: Path
    sandbox: Sandbox
    may_create_tables: bool = True
    count: int = 0
    extra_files: Mapping[str, str] = field(default_factory=dict)

    def of(
        self,
        code: str,
        *,
        functions: Mapping[str, float] | None = None,
        bounds: ReplayBounds = ReplayBounds(),  # noqa: B008  frozen
        files: Mapping[str, str] | None = None,
        entry_file: str = "system/packing.py",
        inject: bool = False,
        moments: Moments | None = None,
    ) -> AbstractContextManager[Deployment]:
        """`functions` are the entry points with their seconds (``f`` with plenty of them when absent); `inject` passes ``db``."""
        self.count += 1
        here = self.folder / str(self.count)
        for name, text in {entry_file: code, **(files or {})}.items():
            path = here / "workspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        databases = {"orchard": Database(file="data/orchard.db", protected=("crates", "prices"), may_create_tables=self.may_create_tables)}
        built = here / "orchard.db"
        connection = sqlite3.connect(built)
        connection.executescript(CRATES)
        connection.close()
        injected = {"db": "orchard"} if inject else {}
        entry_points = {
            name: EntryPoint(file=entry_file, function=name, seconds=seconds, inject=injected)
            for name, seconds in (functions or {"f": 60}).items()
        }
        frozen = freeze(here / "workspace", ["system"], here / "frozen")
        file = scenario(entry_points, databases)
        return Deployment(frozen.root, file, {"orchard": built}, self.sandbox, bounds=bounds, moments=moments)

    def changes(self, code: str, *, insert_after: bool = False) -> tuple[TableChange, ...]:
        """What is found after ``f(db)`` ran once, with or without rows of production's own coming later."""
        with self.of(code, inject=True) as system:
            system.call("f")
            if insert_after:
                system.insert("orchard", "crates", [{"id": 4, "grower": "Pichler", "weight": 18.0}])
        return system.table_changes()["orchard"]


@pytest.fixture
def production(tmp_path: Path, sandbox: Sandbox) -> Production:
    return Production(tmp_path, sandbox)
