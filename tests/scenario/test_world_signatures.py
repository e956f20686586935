"""world.py is checked without being run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.mistakes import problems_after, problems_of

W = "world.py"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "def prepare(params, rng)",
            "def prepare(parameters, rng)",
            "8: prepare: has the parameters (parameters, rng); prepare(params, rng) is expected",
        ),
        (
            "def prepare(params, rng)",
            "def prepare(params, *, rng)",
            "8: prepare: has the parameters (params, *, rng); prepare(params, rng) is expected",
        ),
        (
            "def build(site, world, rng)",
            "def build(site, *rest, **more)",
            "15: build: has the parameters (site, *rest, **more); build(site, world, rng) is expected",
        ),
        ("def heldout(world, rng)", "def held_out(world, rng)", "heldout: is missing; heldout(world, rng) is expected"),
        (
            "def operate(system",
            "async def operate(system",
            "34: operate: is async; a plain function operate(system, heldout, world, signoffs, as_found) is expected",
        ),
        (
            "def measure(operations, heldout, world, evidence)",
            "def measure(operations, heldout, world)",
            "46: measure: has the parameters (operations, heldout, world); measure(operations, heldout, world, evidence) is expected",
        ),
        (
            'Incident("orders_changed"',
            'Incident("order_changed"',
            "52: Incident: 'order_changed' is not an incident of scenario.yaml. Did you mean 'orders_changed'? Known: "
            "orders_changed, unapproved_change.",
        ),
        (
            'Incident("orders_changed", change.table)',
            'Incident(key=change.table, id="x")',
            "52: Incident: 'x' is not an incident of scenario.yaml. Known: orders_changed, unapproved_change.",
        ),
        ("return Heldout(orders, truth)", "return Heldout(orders, truth", "31: is not valid Python: '(' was never closed"),
    ],
)
def test_a_mistake(tiny: Path, old: str, new: str, problem: str) -> None:
    place = "tiny_post/world.py:" if problem[0].isdigit() else "tiny_post/world.py: "
    assert problems_after(tiny, (W, old, new)) == [place + problem]


def test_files_beside_it_are_read_as_well(tiny: Path) -> None:
    (tiny / "desk.py").write_text("from pytest_fdegym.kit import Incident\n\nLATE = Incident('orders_late')\n")
    (tiny / "field.py").write_text("def f(:\n")
    assert problems_of(tiny) == [
        "tiny_post/desk.py:3: Incident: 'orders_late' is not an incident of scenario.yaml. "
        "Did you mean 'orders_changed'? Known: orders_changed, unapproved_change.",
        "tiny_post/field.py:1: is not valid Python: invalid syntax",
    ]


def test_nothing_is_run(tiny: Path) -> None:
    assert problems_after(tiny, (W, "import sqlite3\n", "import sqlite3\n\nraise SystemExit('I was run')\n")) == []
