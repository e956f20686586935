"""world.py at run time: seeded, isolated, its results checked, its mistakes told in its author's lines."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import InfrastructureFault, ScenarioError
from pytest_fdegym.scenario.fill import parameters
from pytest_fdegym.scenario.loader import Scenario, load
from pytest_fdegym.scenario.world import Evidence, Heldout, Incident, Operations, Outcome, Returned, World
from pytest_fdegym.scenario.world_module import WorldRunner, stream
from tests.support.tiny_scenario import edit

W = "world.py"


class Letters:
    """A system that sends everything as a letter."""

    def call(self, entry_point: str, *args: Any) -> Outcome:
        assert (entry_point, len(args)) == ("ship", 1)
        return Returned("letter")

    def calls(self, entry_point: str, many: Any) -> list[Outcome]:
        return [self.call(entry_point, *args) for args in many]

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        assert (database, table, len(rows)) == ("orders", "orders", 200)

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes | None:
        raise InfrastructureFault(f"the sandbox is gone ({path}, {max_bytes})")


def runner(tiny: Path, *edits: tuple[str, str], seed: int = 1, variant: str = "v1") -> WorldRunner:
    for old, new in edits:
        edit(tiny, W, old, new)
    return WorldRunner(load(tiny), variant, seed)


def message(call: Callable[[], object]) -> str:
    with pytest.raises(ScenarioError) as caught:
        call()
    return str(caught.value)


def test_a_world_from_end_to_end(tiny: Path) -> None:
    worlds = runner(tiny, variant="v2")
    world = worlds.prepare()
    assert world.params == {"limit": 700}
    site = tiny.parent / "site"
    site.mkdir()
    built = worlds.build(site, world)
    assert set(built.public) - set(world.public) == {"heaviest"}
    assert (site / "data/orders.db").is_file()
    heldout = worlds.heldout(built)
    operations = worlds.operate(Letters(), heldout, built, (), None)
    measured = worlds.measure(operations, heldout, built, Evidence(None))
    assert (measured.kpi, measured.incidents, measured.details) == (70.0, (), {"letters": 200})


def test_the_same_seed_gives_the_same_world_and_another_seed_another(tiny: Path) -> None:
    def drawn(seed: int) -> tuple[Any, Any]:
        worlds = runner(tiny, seed=seed)
        world = worlds.prepare()
        return world, worlds.heldout(world)

    assert drawn(1) == drawn(1)
    assert drawn(1)[0] != drawn(2)[0]
    assert drawn(1)[1] != drawn(2)[1]


def test_a_stream_does_not_depend_on_what_another_one_drew(tiny: Path) -> None:
    worlds = runner(tiny)
    world = worlds.prepare()
    before = worlds.heldout(world)
    worlds.prepare()
    worlds.heldout(world)
    assert worlds.heldout(world) == before


def test_streams_are_the_same_on_every_machine() -> None:
    assert [stream("tiny_post", 1, name).randrange(10**9) for name in ("prepare", "build", "heldout")] == [853776777, 811267706, 425002926]


@given(
    st.tuples(st.text(max_size=5), st.integers(), st.text(max_size=5)), st.tuples(st.text(max_size=5), st.integers(), st.text(max_size=5))
)
def test_streams_of_different_names_differ(one: tuple[str, int, str], other: tuple[str, int, str]) -> None:
    assert (stream(*one).random() == stream(*other).random()) == (one == other)


def test_parameters_given_by_the_caller_replace_the_variant_s(tiny: Path) -> None:
    assert runner(tiny).prepare({"limit": 1000}).params == {"limit": 1000}


def test_files_beside_world_py_are_imported_relatively_and_nothing_is_left_behind(tiny: Path) -> None:
    (tiny / "desk.py").write_text("from dataclasses import dataclass\n\n\n@dataclass\nclass Desk:\n    size: int = 60\n")
    edit(tiny, W, "def prepare(params, rng):\n", "def prepare(params, rng):\n    from .desk import Desk\n    assert Desk().size == 60\n")
    before = list(sys.path)
    runner(tiny).prepare()
    assert sys.path == before
    assert not {"world", "desk"} & set(sys.modules)
    assert list(tiny.rglob("__pycache__")) == []
    (tiny / "desk.py").write_text("class Desk:\n    size = 60\n")
    runner(tiny).prepare()  # the file as it is now


def test_two_scenarios_do_not_share_their_module(tiny: Path) -> None:
    first = runner(tiny)
    (tiny.parent / "copy").mkdir()
    for file in tiny.rglob("*"):
        target = tiny.parent / "copy" / file.relative_to(tiny)
        if file.is_dir():
            target.mkdir()
        else:
            target.write_bytes(file.read_bytes())
    second = runner(tiny.parent / "copy", ("range(60)", "range(6)"))
    assert (first.prepare().public["orders"], second.prepare().public["orders"]) == (60, 6)


def test_an_exception_of_the_author_is_told_with_his_traceback(tiny: Path) -> None:
    found = message(runner(tiny, ('params["limit"] for grams', 'params["limits"] for grams')).prepare)
    assert [line for line in found.splitlines() if line.strip(" ^~")] == [  # Python versions differ in what they underline
        "tiny_post/world.py:10: prepare: KeyError: 'limits'",
        "Traceback (most recent call last):",
        f'  File "{tiny}/world.py", line 10, in prepare',
        '    overpaid = sum(100 < grams <= params["limits"] for grams in weights)',
        f'  File "{tiny}/world.py", line 10, in <genexpr>',
        '    overpaid = sum(100 < grams <= params["limits"] for grams in weights)',
        "KeyError: 'limits'",
    ]


def test_an_exception_deep_in_a_library_names_the_author_s_last_line(tiny: Path) -> None:
    text = message(runner(tiny, ("rng.randrange(1, 1001)", "rng.choice([])")).prepare)
    assert text.startswith("tiny_post/world.py:9: prepare: IndexError: ")
    assert "world_module.py" not in text


def test_an_exception_in_a_file_beside_it(tiny: Path) -> None:
    (tiny / "desk.py").write_text("def desk():\n    raise LookupError\n")
    found = message(
        runner(tiny, ("def prepare(params, rng):\n", "def prepare(params, rng):\n    from .desk import desk\n    desk()\n")).prepare
    )
    assert found.splitlines()[0] == "tiny_post/desk.py:2: prepare: LookupError"


def test_leaving_is_a_mistake_as_well(tiny: Path) -> None:
    found = message(runner(tiny, ("    overpaid = sum", "    raise SystemExit(3)\n    overpaid = sum")).prepare)
    assert found.splitlines()[0] == "tiny_post/world.py:10: prepare: SystemExit: 3"


def test_a_warning_is_no_error_whatever_the_session_s_filters_say(tiny: Path) -> None:
    edit(tiny, W, "    overpaid = sum", "    import warnings\n    warnings.warn('old', DeprecationWarning)\n    overpaid = sum")
    edit(tiny, W, "import sqlite3\n", "import sqlite3\n\nPATTERN = '\\d'\n")
    scenario = load(tiny)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        assert WorldRunner(scenario, "v1", 1).prepare().public["orders"] == 60
    assert "old" in [str(each.message) for each in told]


def test_an_import_that_fails(tiny: Path) -> None:
    edit(tiny, W, "import sqlite3\n", "import sqlite4\n")
    assert message(lambda: WorldRunner(load(tiny), "v1", 1)).splitlines()[0] == (
        "tiny_post/world.py:3: the import: ModuleNotFoundError: No module named 'sqlite4'"
    )


def test_a_file_that_broke_since_it_was_loaded(tiny: Path) -> None:
    scenario = load(tiny)
    edit(tiny, W, "return Heldout(orders, truth)", "return Heldout(orders, truth")
    assert message(lambda: WorldRunner(scenario, "v1", 1)).splitlines()[0] == (
        "tiny_post/world.py:31: the import: SyntaxError: '(' was never closed (world.py, line 31)"
    )


def test_a_fault_of_the_harness_passes_through_the_author_s_code(tiny: Path) -> None:
    worlds = runner(tiny, ("    sent, failed = {}, 0\n", "    sent, failed = {}, 0\n    system.read('system/labels.py')\n"))
    world = worlds.prepare()
    with pytest.raises(InfrastructureFault, match="the sandbox is gone"):
        worlds.operate(Letters(), worlds.heldout(world), world, (), None)


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("None", "returned None; World is expected"),
        ("{}", "returned a dict; World is expected"),
        ("World(params, public=[1])", "World.public is a list; a mapping is expected"),
        (
            "World(params, public={'the rigs': 1})",
            "World.public has the key 'the rigs', which a text cannot name; letters, digits and _ are accepted",
        ),
    ],
)
def test_what_prepare_returns(tiny: Path, returned: str, problem: str) -> None:
    worlds = runner(tiny, ("    overpaid = sum", f"    return {returned}\n    overpaid = sum"))
    assert message(worlds.prepare) == f"tiny_post/world.py:8: prepare: {problem}"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("3", "returned an int; a mapping of further public values, or None, is expected"),
        ("{1: 2}", "what it returned has the key 1, which a text cannot name; letters, digits and _ are accepted"),
        ("{'orders': 61}", "returned 'orders', which prepare had made public with another value"),
        ("{'orders': 60}", None),
        ("None", None),
    ],
)
def test_what_build_returns(tiny: Path, returned: str, problem: str | None) -> None:
    worlds = runner(tiny, ('    (site / "data").mkdir()\n', f"    return {returned}\n"))
    world = worlds.prepare()
    if problem is None:
        assert worlds.build(tiny, world).public == world.public
    else:
        assert message(lambda: worlds.build(tiny, world)) == f"tiny_post/world.py:15: build: {problem}"


def test_what_heldout_returns(tiny: Path) -> None:
    worlds = runner(tiny, ("return Heldout(orders, truth)", "return orders, truth"))
    assert message(lambda: worlds.heldout(worlds.prepare())) == "tiny_post/world.py:26: heldout: returned a tuple; Heldout is expected"


def operated(tiny: Path, outputs: str, notes: str = "()") -> Operations:
    worlds = runner(tiny, ("    sent, failed = {}, 0\n", f"    return Operations({outputs}, {notes})\n"))
    return worlds.operate(Letters(), Heldout([{"id": "N"}] * 200), World({}), (), None)


def test_outputs_are_what_a_cache_would_give_back(tiny: Path) -> None:
    assert operated(tiny, "{'a': (1, 2.5, None, True, {'b': ('c',)})}", "['d']") == Operations(
        {"a": [1, 2.5, None, True, {"b": ["c"]}]}, ("d",)
    )


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        ("[]", "Operations.outputs is a list; a mapping is expected"),
        ("{'a': {1, 2}}", "Operations.outputs['a'] is a set, which JSON does not know"),
        ("{'a': [1, b'x']}", "Operations.outputs['a'][1] is a bytes, which JSON does not know"),
        ("{'a': {1: 2}}", "Operations.outputs['a'] has the key 1 (an int); JSON knows text keys only"),
        ("{'a': float('nan')}", "Operations.outputs['a'] is nan, which JSON does not know"),
        ("{'a': [float('-inf')]}", "Operations.outputs['a'][0] is -inf, which JSON does not know"),
    ],
)
def test_outputs_that_json_cannot_carry(tiny: Path, outputs: str, problem: str) -> None:
    assert message(lambda: operated(tiny, outputs)) == f"tiny_post/world.py:34: operate: {problem}"


def test_outputs_that_contain_themselves(tiny: Path) -> None:
    edit(tiny, W, "def operate(", "LOOP = []\nLOOP.append(LOOP)\n\n\ndef operate(")
    assert message(lambda: operated(tiny, "{'a': LOOP}")).endswith("is nested too deeply for JSON")


@pytest.mark.parametrize("notes", ["'a sentence'", "[1]"])
def test_notes_are_sentences(tiny: Path, notes: str) -> None:
    assert message(lambda: operated(tiny, "{}", notes)) == "tiny_post/world.py:34: operate: Operations.notes is not a list of sentences"


def measured(tiny: Path, returned: str, variant: str = "v1") -> Any:
    worlds = runner(tiny, ('    sent = operations.outputs["sent"]\n', f"    return {returned}\n"), variant=variant)
    return worlds.measure(Operations({}), Heldout([]), World({}), Evidence(None))


def test_a_whole_number_is_a_kpi(tiny: Path) -> None:
    result = measured(tiny, "Measurement(3, [Incident('orders_changed', 'orders')], {'a': (1,)})")
    assert (result.kpi, type(result.kpi), result.incidents, result.details) == (
        3.0,
        float,
        (Incident("orders_changed", "orders"),),
        {"a": [1]},
    )


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("3.0", "returned a float; Measurement is expected"),
        ("Measurement(float('nan'))", "Measurement.kpi is nan; a finite number is expected"),
        ("Measurement(float('inf'))", "Measurement.kpi is inf; a finite number is expected"),
        ("Measurement(True)", "Measurement.kpi is True; a finite number is expected"),
        ("Measurement('3')", "Measurement.kpi is '3'; a finite number is expected"),
        ("Measurement(None)", "Measurement.kpi is None; a finite number is expected"),
        ("Measurement(1, ['orders_changed'])", "Measurement.incidents holds a str; Incident is expected"),
        (
            "Measurement(1, [Incident(id='order' + '_changed')])",
            "'order_changed' is not an incident of scenario.yaml in v1. Did you mean 'orders_changed'? Known: "
            "orders_changed, unapproved_change.",
        ),
        ("Measurement(1, (), {'a': {2}})", "Measurement.details['a'] is a set, which JSON does not know"),
    ],
)
def test_what_measure_returns(tiny: Path, returned: str, problem: str) -> None:
    returned = returned.replace("Incident(id=", "Incident(*[").replace("'_changed')", "'_changed'])")
    assert message(lambda: measured(tiny, returned)) == f"tiny_post/world.py:46: measure: {problem}"


def test_an_incident_that_the_variant_does_not_have(tiny: Path) -> None:
    edit(tiny, "scenario.yaml", "  orders_changed:\n", "  orders_changed:\n    only_in: [v1]\n")
    assert message(lambda: measured(tiny, "Measurement(1, [Incident('orders_changed')])", "v2")) == (
        "tiny_post/world.py:46: measure: 'orders_changed' is not an incident of scenario.yaml in v2. Known: unapproved_change."
    )


def test_the_author_s_parameters_are_his_own_copy(scenario: Scenario) -> None:
    params = parameters(scenario, "v1")
    params["limit"] = 3
    assert WorldRunner(scenario, "v1", 1).prepare().params == {"limit": 500}
