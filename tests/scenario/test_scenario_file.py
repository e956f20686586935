"""scenario.yaml against itself and against the files that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.mistakes import Edit, problems_after, problems_of
from tests.support.tiny_scenario import edit

S = "scenario.yaml"
START = "start: 2025-03-04 08:00:00"
PROTECTED = "orders: {file: data/orders.db, protected: [orders]}"
SHIPPING = "site/system/shipping.py"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            (S, START, "start: 2025-03-08 09:00:00"),
            "scenario.yaml:9: calendar.start: 2025-03-08 is a Saturday, which is not worked; weekdays: 1, 2, 3, 4, 5",
        ),
        ((S, START, "start: 2025-03-04 07:59:00"), "scenario.yaml:9: calendar.start: 07:59 is outside of working hours (08:00 to 18:00)"),
        ((S, START, "start: 2025-03-04 18:00:00"), "scenario.yaml:9: calendar.start: 18:00 is outside of working hours (08:00 to 18:00)"),
        ((S, START, "start: 2025-03-04"), "scenario.yaml:9: calendar.start: 00:00 is outside of working hours (08:00 to 18:00)"),
        (
            (S, START, f"{START}\n  day_ends: 06:00"),
            "scenario.yaml:10: calendar.day_ends: the working day ends (06:00) before it starts (08:00)",
        ),
        (
            (S, "parameters: {limit: 700}", "parameters: {limits: 700}"),
            "scenario.yaml:32: variants.v2.parameters.limits: 'limits' is not a parameter of scenario.yaml. Did you mean "
            "'limit'? Known: limit.",
        ),
        (
            (S, "parameters:\n  limit", "parameters:\n  world: {value: 1}\n  limit"),
            "scenario.yaml:17: parameters.world: 'world' is taken: texts name the world's public values by it",
        ),
        (
            (S, "key: true}", "key: true, not_in: [v4]}"),
            "scenario.yaml:19: facts.F_LIMIT.not_in: 'v4' is not a variant of scenario.yaml. Known: v1, v2.",
        ),
        (
            (S, "    text: The delivery changed", "    only_in: [v1, v3]\n    text: The delivery changed"),
            "scenario.yaml:15: incidents.orders_changed.only_in: 'v3' is not a variant of scenario.yaml. Known: v1, v2.",
        ),
        (
            (S, "entry_points:", "deployed: [system, sistem]\nentry_points:"),
            "scenario.yaml:20: deployed: 'sistem' is not a folder of site/. Did you mean 'system'? It has: docs, system.",
        ),
        (
            (S, "entry_points:", "deployed: [system, system]\nentry_points:"),
            "scenario.yaml:20: deployed: 'system' and 'system' are one inside the other; name the outer one",
        ),
        (
            (S, "entry_points:", "deployed: [docs]\nentry_points:"),
            "scenario.yaml:23: entry_points.ship.file: 'system/shipping.py' lies in no deployed folder; deployed: docs",
        ),
        (
            (S, "file: system/shipping.py", "file: system/shiping.py"),
            "scenario.yaml:22: entry_points.ship.file: 'system/shiping.py' is not a file of site/",
        ),
        (
            (S, "file: system/shipping.py", "file: system/ship.sh"),
            "scenario.yaml:22: entry_points.ship.file: 'system/ship.sh' is not a Python file; production calls a function of one",
        ),
        (
            (S, "function: ship", "function: shipp"),
            "scenario.yaml:23: entry_points.ship.function: 'shipp' is not a function at the top level of system/shipping.py. "
            "Did you mean 'ship'? It defines: ship.",
        ),
        (
            (S, "inject: {db: orders}", "inject: {connection: orders}"),
            "scenario.yaml:23: entry_points.ship.function: ship of system/shipping.py (line 6) has no parameter 'connection', "
            "under which it is given 'orders'; it has (order, *, db)",
        ),
        (
            (S, "inject: {db: orders}", "inject: {db: order}"),
            "scenario.yaml:24: entry_points.ship.inject.db: 'order' is not a database of scenario.yaml. "
            "Did you mean 'orders'? Known: gateway, orders.",
        ),
        (
            (S, PROTECTED, "orders: {file: system/orders.db, protected: [orders]}"),
            "scenario.yaml:27: databases.orders.file: 'system/orders.db' lies in the deployed folder 'system'; "
            "a production database is never part of the delivery",
        ),
        (
            (S, PROTECTED, f"{PROTECTED}\n  gateway: {{file: data/g.db, protected: []}}"),
            "scenario.yaml:28: databases.gateway: 'gateway' is taken: `inject` names the company's gateway by it",
        ),
        (
            (SHIPPING, "def ship(order, *, db):", "async def ship(order, *, db):"),
            "scenario.yaml:23: entry_points.ship.function: ship of system/shipping.py is async; production calls plain functions",
        ),
        (
            (SHIPPING, "def ship(order, *, db):", "def ship(order, *, db:"),
            "site/system/shipping.py:6: is not valid Python: '(' was never closed",
        ),
    ],
)
def test_a_mistake(tiny: Path, change: Edit, problem: str) -> None:
    (tiny / "site/system/ship.sh").write_text("echo letter\n")
    assert problems_after(tiny, change) == [f"tiny_post/{problem}"]


def test_v1_is_the_original(tiny: Path) -> None:
    for brief in ("L0", "L1", "L2"):
        (tiny / f"briefs/{brief}.md").unlink()
    edit(tiny, "solutions/shortcuts/hard_coded/manifest.yaml", "not_in: [v1]\n", "")
    assert problems_after(tiny, (S, "  v1: {title: As told}\n", "")) == [
        "tiny_post/scenario.yaml:28: variants: v1 is missing; it is the original"
    ]


@pytest.mark.parametrize(
    "signature", ["def ship(order, db):", "def ship(order, **connections):", "def ship(order, db=None, /, *, x=1, **more):"]
)
def test_signatures_that_take_what_is_injected(tiny: Path, signature: str) -> None:
    assert problems_after(tiny, (SHIPPING, "def ship(order, *, db):", signature)) == []


def test_an_entry_point_may_come_from_a_template_or_an_overlay(tiny: Path) -> None:
    shipping = tiny / SHIPPING
    (tiny / "site.v2/system").mkdir(parents=True)
    (tiny / "site.v2/system/shipping.py").write_bytes(shipping.read_bytes())
    shipping.rename(shipping.with_name("shipping.py.j2"))
    assert problems_of(tiny) == []


def test_an_entry_point_of_one_variant_only(tiny: Path) -> None:
    (tiny / "site.v2/system").mkdir(parents=True)
    (tiny / SHIPPING).rename(tiny / "site.v2/system/shipping.py")
    edit(tiny, "site.v2/system/shipping.py", "def ship(", "def post(")
    assert problems_of(tiny) == [
        "tiny_post/scenario.yaml:22: entry_points.ship.file: 'system/shipping.py' is not a file of site/ for v1",
        "tiny_post/scenario.yaml:23: entry_points.ship.function: 'ship' is not a function at the top level of system/shipping.py. "
        "It defines: post.",
    ]
